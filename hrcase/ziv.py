"""From a candidate to a case: precision grows until everything that is printed is certain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

import gmpy2
from gmpy2 import mpq

from hrcase.cases import HRCase
from hrcase.enclosure import Interval, OutOfReach, TooWide, by_arb, by_mpfr, exact_value
from hrcase.errors import SelfTestFailed
from hrcase.formats import Format, Infinite, floor_log2, scale
from hrcase.functions.base import Function
from hrcase.hexfloat import to_hex
from hrcase.lattice import Lattice, key_of, largest_breakpoint, lattice, overflow_key
from hrcase.spec import SearchSpec

DISTANCE_DIGITS = 10
LOG2_DECIMALS = 3
LOG2_PRECISIONS = (64, 512)
"""The first one decides nearly all distances."""

TIE = scale(1, -128)

EVALUATORS = {"MPFR": by_mpfr, "Arb": by_arb}

MOST_PRECISION = 1 << 16
"""Bits after which a function whose exact cases are all known is said to misbehave."""


def most_precision(f: Function) -> int:
    """Bits after which f(x) is not told from a breakpoint any more."""
    return f.decided_bits or MOST_PRECISION


class Vanishes(SelfTestFailed):
    """0 < |f(x)| is beyond MPFR's exponents: nearer to 0 than any threshold."""


class Rejection(Enum):
    """Why a candidate is not a case."""

    TOO_FAR = auto()
    EXACT = auto()
    """Also for an expression that f.decided_bits bits do not tell from a breakpoint."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The breakpoint nearest to f(x).

    Attributes:
        value: the breakpoint.
        is_midpoint: whether it is a midpoint of two numbers.
        is_above: whether f(x) is known to lie above it (it lies below, or on it, otherwise).
        low, high: bounds of |f(x) - value|, in ulps of f(x)'s binade; low is 0 where the
            side is not certain.
    """

    value: mpq
    is_midpoint: bool
    is_above: bool
    low: mpq
    high: mpq


def refine(spec: SearchSpec, ordinal: int) -> HRCase | Rejection:
    """Decide one argument, and say all about it if it is a case.

    Raises:
        SelfTestFailed: MPFR and Arb contradict each other, or no precision settles a value
            that the function's rule calls inexact.
        Vanishes: the nearest breakpoint is 0, and the distance is beyond MPFR's exponents.
    """
    f, x = spec.function, spec.inp.value(ordinal)
    exact = f.exact(x)
    m, e = spec.inp.parts(ordinal)
    if exact is not None:
        exact_verdict = _exact_verdict(spec, x, exact)
        evaluators = ("MPFR", "Arb") if isinstance(exact_verdict, HRCase) else ("MPFR",)
        require_exact(f, m, e, exact, spec.out.precision + spec.bits + 64, evaluators)
        return exact_verdict
    precision = spec.out.precision + spec.bits + 64
    y: Interval | None = None
    while precision <= most_precision(f):
        try:
            y = by_mpfr(f, m, e, precision)
        except TooWide:
            precision *= 2
            continue
        except OutOfReach as error:
            if not error.vanishes or spec.rounding == "nearest":
                return Rejection.TOO_FAR
            raise Vanishes(
                f"0 < |{f.name}({to_hex(x)})| is beyond MPFR's exponents, next to a zero of the "
                "function: such arguments should have been settled; please report it"
            ) from None
        verdict = _verdict(spec, x, y)
        if verdict is Rejection.TOO_FAR:
            return verdict
        if verdict is not None:
            confirm(f, m, e, precision, lambda ball: _verdict(spec, x, ball), verdict, y)
            return verdict
        precision *= 2
    if f.decided_bits:
        return Rejection.TOO_FAR if y and _is_far(spec, y) else Rejection.EXACT
    raise SelfTestFailed(
        f"{f.name}({x}) could not be told from a breakpoint with {MOST_PRECISION} bits, and the "
        "function's rule does not call it exact; the rule in hrcase/functions is wrong"
    )


def confirm(
    f: Function,
    m: int,
    e: int,
    precision: int,
    verdict_of: Callable[[Interval], object | None],
    expected: object,
    shown_by: Interval,
) -> None:
    """Check a verdict reached with MPFR against Arb.

    A verdict says something of every value inside the enclosure that shows it, so that it holds of
    each part of that enclosure too: where Arb's lies within MPFR's it need not be reached again.
    (Only at an end may it be wrong, where the distance is a power of two: see identical_bits. An
    end is half an ulp from what MPFR gave, and f(x) is no such number, or it would be exact.)

    Args:
        shown_by: MPFR's enclosure, verdict_of which is `expected`.

    Raises:
        SelfTestFailed: Arb's enclosure gives another verdict.
    """
    while precision <= 2 * MOST_PRECISION:
        try:
            ball = by_arb(f, m, e, precision + 32)
        except OutOfReach:  # too few bits for an expression, to say that it is finite
            verdict = None
        else:
            if shown_by[0] <= ball[0] and ball[1] <= shown_by[1]:
                return
            verdict = verdict_of(ball)
        if verdict is not None:
            if verdict != expected:
                raise SelfTestFailed(
                    f"MPFR and Arb disagree on {f.name} at {m}*2^{e}: {expected} against "
                    f"{verdict}; please report this input and the versions of both libraries"
                )
            return
        precision *= 2
    raise SelfTestFailed(f"Arb gives no verdict on {f.name} at {m}*2^{e} with {precision} bits")


def require_exact(
    f: Function,
    m: int,
    e: int,
    exact: mpq,
    precision: int,
    evaluators: Iterable[str] = ("MPFR", "Arb"),
) -> None:
    """Check a value that a function's rule gives against evaluations: a wrong rule loses cases.

    Raises:
        SelfTestFailed: an enclosure does not hold the value.
    """
    for evaluator in evaluators:
        try:
            low, high = EVALUATORS[evaluator](f, m, e, precision)
        except (OutOfReach, TooWide):  # f(x) is 0, or beyond every exponent in use
            return
        if not low <= exact <= high:
            raise SelfTestFailed(
                f"the rule of {f.name} says that its value at {m}*2^{e} is {exact}, and "
                f"{evaluator} says that it is not; please report this input"
            )


def _exact_verdict(spec: SearchSpec, x: mpq, y: mpq) -> HRCase | Rejection:
    point = nearest_breakpoint(spec.out, spec.rounding, (y, y))
    if point is not None and point.high == 0:
        return Rejection.EXACT
    verdict = _verdict(spec, x, (y, y))
    if verdict is None:
        raise SelfTestFailed(f"the exact value {y} of {spec.function.name}({x}) gave no verdict")
    return verdict


def _verdict(spec: SearchSpec, x: mpq, y: Interval) -> HRCase | Rejection | None:
    """The case that an enclosure of f(x) shows, TOO_FAR, or None where it is too wide."""
    point = nearest_breakpoint(spec.out, spec.rounding, y)
    if point is None or point.low <= 0:
        return None
    if point.low >= spec.threshold:
        return Rejection.TOO_FAR
    if point.high >= spec.threshold:
        return None
    return describe(spec.out, x, point, y)


def _is_far(spec: SearchSpec, y: Interval) -> bool:
    """Whether all of an enclosure is beyond the threshold, also where two breakpoints are nearest.

    That is so where f(x) is half-way between them, or an end of a binade under "nearest". The
    distance from breakpoints changes no more than y does, and an ulp at most by a factor of two.
    """
    ends = [nearest_breakpoint(spec.out, spec.rounding, (end, end)) for end in y]
    keys = {key_of(spec.out, end) for end in y}
    ulp = max(lattice(spec.out, key, spec.rounding).ulp_exponent for key in keys)
    width = scale(y[1] - y[0], -ulp)
    least = min(mpq(0) if end is None else end.low for end in ends)
    return bool(least / len(keys) - width >= spec.threshold)


def describe(out: Format, x: mpq, point: Nearest, y: Interval) -> HRCase | None:
    """The record of an argument whose distance is not 0; None where its digits are not certain.

    Args:
        point: the breakpoint nearest to the enclosure y of f(x), with point.low > 0.
    """
    texts = [decimal(d) for d in (point.low, point.high)]
    rounded = [round_to(out, end, "nearest") for end in y]
    log2_distance, bits = log2_decimal(point.low, point.high), identical_bits(point)
    if texts[0] != texts[1] or rounded[0] != rounded[1] or log2_distance is None or bits is None:
        return None
    return HRCase(
        x=x,
        y_nearest=rounded[0],
        breakpoint="midpoint" if point.is_midpoint else "number",
        side="above" if point.is_above else "below",
        log2_distance=log2_distance,
        distance_ulp=texts[0],
        identical_bits=bits,
    )


def identical_bits(point: Nearest) -> int | None:
    """k = floor(-log2(distance in ulps)) - 1, of a distance > 0; None where it is not certain."""
    floor = floor_log2(point.low)
    if floor != floor_log2(point.high):
        return None
    is_power_of_two = point.low == point.high == scale(1, floor)
    return -floor - (1 if is_power_of_two else 2)


def nearest_breakpoint(out: Format, rounding: str, y: Interval) -> Nearest | None:
    """The breakpoint nearest to every value of an enclosure; None where it is too wide.

    Breakpoints end at the overflow midpoint: for |y| beyond it that one is the nearest.
    """
    key = key_of(out, y[0])
    if key != key_of(out, y[1]):
        return None
    last = largest_breakpoint(out, rounding)
    top = overflow_key(out) - 1
    axis = lattice(out, min(abs(key), top), rounding)
    if abs(key) > top:
        return _distances(axis, last if key > 0 else -last, y)
    k = _nearest_integer(axis.position(y[0]))
    if k != _nearest_integer(axis.position(y[1])):
        return None
    return _distances(axis, max(-last, min(last, axis.value(k))), y)


def _distances(axis: Lattice, value: mpq, y: Interval) -> Nearest:
    low, high = (scale(end - value, -axis.ulp_exponent) for end in y)
    midpoint = is_midpoint(axis, value)
    if low <= 0 <= high:
        return Nearest(value, midpoint, False, mpq(0), max(-low, high))
    return Nearest(value, midpoint, low > 0, min(abs(low), abs(high)), max(abs(low), abs(high)))


def is_midpoint(axis: Lattice, value: mpq) -> bool:
    """Whether a breakpoint is not a multiple of the ulp of its binade."""
    return bool(scale(value, -axis.ulp_exponent).denominator != 1)


def _nearest_integer(position: mpq) -> int:
    return int((2 * position + 1) // 2)


def round_to(out: Format, y: mpq, mode: str) -> mpq | Infinite:
    """Round an exact value: "nearest" (ties to even), "up", "down", "zero"."""
    if y < 0:
        mirrored = {"up": "down", "down": "up"}.get(mode, mode)
        return -round_to(out, -y, mirrored)
    down, nearest, up = out.round_magnitude(y)
    ordinal = {"nearest": nearest, "up": up}.get(mode, down)
    return out.value(ordinal) if ordinal <= out.max_ordinal else float("inf")


def decimal(value: mpq) -> str:
    """A positive rational with DISTANCE_DIGITS significant digits, correctly rounded."""
    exponent = floor_log10(value)
    digits = _nearest_integer(value * _power_of_ten(DISTANCE_DIGITS - 1 - exponent))
    if digits >= 10**DISTANCE_DIGITS:
        digits, exponent = digits // 10, exponent + 1
    text = str(digits)
    return f"{text[0]}.{text[1:]}e{exponent:+03d}"


def floor_log10(value: mpq) -> int:
    """floor(log10(value)) of an exact value > 0."""
    guess = int(floor_log2(value) * 0.30102999566398120)
    while value >= _power_of_ten(guess + 1):
        guess += 1
    while value < _power_of_ten(guess):
        guess -= 1
    return guess


@lru_cache(maxsize=1024)
def _power_of_ten(exponent: int) -> mpq:
    return mpq(10) ** exponent


def log2_decimal(low: mpq, high: mpq) -> str | None:
    """log2 of every value of [low, high] with LOG2_DECIMALS decimals; None where they differ.

    Rounded to nearest. exp2 near 0 is 2^x off a breakpoint, so that ties do occur, and no
    enclosure tells a tie from its neighbourhood: what is within TIE of one goes away from zero.
    """
    for precision in LOG2_PRECISIONS:
        thousandths = _log2_thousandths(low, high, precision)
        if thousandths is not None:
            break
    else:
        return None
    unit = 10**LOG2_DECIMALS
    whole, rest = divmod(abs(thousandths), unit)
    return f"{'-' if thousandths < 0 else ''}{whole}.{rest:0{LOG2_DECIMALS}d}"


def _log2_thousandths(low: mpq, high: mpq, precision: int) -> int | None:
    """log2_decimal as an integer; None where so many bits do not tell."""
    ends = []
    for value, direction in ((low, gmpy2.RoundDown), (high, gmpy2.RoundUp)):
        context = gmpy2.context(precision=precision, round=direction)
        log2 = context.log2(context.div(value.numerator, value.denominator))
        ends.append(exact_value(log2) * 10**LOG2_DECIMALS)
    thousandths = _nearest_integer(ends[0])
    tie = mpq(int(ends[0] // 1)) + mpq(1, 2)
    near = [abs(end - tie) < TIE for end in ends]
    if all(near):
        return int(tie + mpq(1, 2) * (1 if tie > 0 else -1))
    return None if any(near) or thousandths != _nearest_integer(ends[1]) else thousandths
