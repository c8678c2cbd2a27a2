"""Nearest breakpoints, cases, and the two self-checks of the refinement.

The reference is brute force over all breakpoints of toy formats, in Python's fractions.
"""

from __future__ import annotations

import bisect
import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from gmpy2 import mpq

from hrcase import argument, ziv
from hrcase.cases import HRCase
from hrcase.enclosure import Interval, by_arb
from hrcase.errors import SelfTestFailed
from hrcase.formats import FORMATS, Format, floor_log2, scale
from hrcase.functions import REGISTRY, Function
from hrcase.hexfloat import parse_number
from hrcase.lattice import ROUNDINGS
from hrcase.spec import SearchSpec, everything
from hrcase.ziv import Rejection, decimal, describe, nearest_breakpoint, refine

BINARY16, BINARY64 = FORMATS["binary16"], FORMATS["binary64"]
TOY = Format("toy", 4, -3, 3)
FLUSHED = Format("flushed", 4, -3, 3, subnormals=False)


def exact(value: float | Fraction) -> mpq:
    return mpq(*value.as_integer_ratio())


def spec(
    name: str, out: Format = BINARY64, rounding: str = "all", bits: int = 44, inp: Format = BINARY64
) -> SearchSpec:
    return SearchSpec(name, inp, out, bits, rounding, everything(inp))


def breakpoints(out: Format, rounding: str) -> list[tuple[Fraction, str]]:
    """All breakpoints >= 0, by the definition of the format; the overflow midpoint is the last."""
    least = 0 if out.subnormals else 1 << (out.precision - 1)
    ulp = Fraction(2) ** (out.emin - out.precision + 1)
    numbers = {Fraction(0)} | {m * ulp for m in range(least, 1 << out.precision)}
    for e in range(out.emin, out.emax + 1):
        ulp = Fraction(2) ** (e - out.precision + 1)
        numbers |= {m * ulp for m in range(1 << (out.precision - 1), 1 << out.precision)}
    ends = [*sorted(numbers), Fraction(2) ** (out.emax + 1)]
    midpoints = [((a + b) / 2, "midpoint") for a, b in pairwise(ends)]
    wanted = {"all": (True, True), "nearest": (False, True), "directed": (True, False)}[rounding]
    found = [(value, "number") for value in numbers] if wanted[0] else []
    return sorted(found + (midpoints if wanted[1] else []))


def ulp_of(out: Format, value: Fraction) -> Fraction:
    exponent = math.floor(math.log2(value)) if value else out.emin
    ulp = Fraction(2) ** (max(exponent, out.emin) - out.precision + 1)
    return ulp if out.subnormals or exponent >= out.emin else Fraction(2) ** out.emin


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("out", [TOY, FLUSHED])
def test_nearest_breakpoint_is_the_nearest_of_all(out: Format, rounding: str) -> None:
    """Of 1/8 ulp and more other midpoints may be as near, below a power of two: no case has M < 3.

    Without subnormals a value below 2^emin has an ulp of 2^emin, wide enough for the midpoints
    above 2^emin: they are out of the question here.
    """
    every = breakpoints(out, rounding)
    values = [value for value, _ in every]
    draw = random.Random(9)
    close = 0
    for _ in range(1500):
        around = draw.choice([*values, Fraction(2) ** (out.emax + 1)])
        y = abs(around + Fraction(draw.randint(-1000, 1000), 1 << draw.randint(9, 40)))
        if not out.subnormals and rounding == "nearest" and y < Fraction(2) ** out.emin:
            continue
        at = bisect.bisect_left(values, y)
        value, kind = min(every[max(at - 1, 0) : at + 1], key=lambda point: abs(point[0] - y))
        distance = abs(y - value) / ulp_of(out, y)
        for sign in (1, -1):
            point = nearest_breakpoint(out, rounding, (exact(sign * y), exact(sign * y)))
            assert point is not None
            assert point.low == point.high
            if distance >= Fraction(1, 8):
                assert point.low >= mpq(1, 8)
                continue
            close += 1
            assert point.value == exact(sign * value)
            assert point.is_midpoint == (kind == "midpoint")
            assert point.low == exact(distance)
            assert point.is_above == (sign * y > sign * value)
    assert close > 200


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_nearest_breakpoint_holds_for_the_whole_enclosure(rounding: str) -> None:
    draw = random.Random(10)
    decided = 0
    for _ in range(2000):
        middle = exact(Fraction(draw.randint(-(1 << 16), 1 << 16), 1 << 12))
        radius = mpq(1, 1 << draw.randint(4, 30))
        point = nearest_breakpoint(TOY, rounding, (middle - radius, middle + radius))
        if point is None:
            continue
        decided += 1
        for step in range(-4, 5):
            inner = middle + radius * step / 4
            at = nearest_breakpoint(TOY, rounding, (inner, inner))
            assert at is not None
            assert at.value == point.value
            assert point.low <= at.low <= point.high
            if point.low > 0:
                assert at.is_above == point.is_above
    assert decided > 1000


def test_an_enclosure_across_a_decision_is_too_wide() -> None:
    tiny = mpq(1, 1 << 40)
    for edge in (mpq(1), mpq(1) + mpq(1, 32)):  # a power of two; half way to the first midpoint
        assert nearest_breakpoint(TOY, "all", (edge - tiny, edge + tiny)) is None
    point = nearest_breakpoint(TOY, "all", (mpq(9, 8) - tiny, mpq(9, 8) + tiny))
    assert point is not None
    assert point.low == 0


def described(out: Format, y: Interval) -> HRCase | None:
    point = nearest_breakpoint(out, "all", y)
    assert point is not None
    return describe(out, mpq(5), point, y)


def test_describe_counts_identical_bits() -> None:
    """k identical bits after the round bit: 2^-(k+2) < distance <= 2^-(k+1)."""
    draw = random.Random(13)
    for _ in range(300):
        distance = exact(Fraction(draw.randint(1, 1 << 20), 1 << draw.randint(24, 90)))
        side = draw.choice((1, -1))
        y = 3 + side * scale(distance, -TOY.precision + 2)  # the ulp in [2, 4) is 2^-2
        case = described(TOY, (y, y))
        assert case is not None
        assert (case.x, case.breakpoint, case.y_nearest) == (5, "number", 3)
        assert case.side == ("above" if side > 0 else "below")
        assert scale(1, -case.identical_bits - 2) < distance <= scale(1, -case.identical_bits - 1)


def test_describe_waits_until_the_digits_are_certain() -> None:
    y, error = 3 + mpq(1, 1 << 30) / 3, mpq(1, 1 << 90)
    assert described(TOY, (y - error, y + error)) == described(TOY, (y, y))
    error = mpq(1, 1 << 60)
    assert described(TOY, (y - error, y + error)) is None


def check_case(out: Format, text: str, rounding: str) -> HRCase | Rejection:
    return refine(spec("exp", out, rounding, bits=12), BINARY64.ordinal(parse_number(text)))


def test_the_overflow_midpoint_is_a_breakpoint_and_the_next_power_of_two_is_none() -> None:
    log_65520, log_65536 = math.log(65520.0), math.log(65536.0)
    for rounding in ("all", "nearest"):
        case = check_case(BINARY16, log_65520.hex(), rounding)
        assert isinstance(case, HRCase)
        assert case.breakpoint == "midpoint"
        assert case.y_nearest == (math.inf if case.side == "above" else 65504)
        assert check_case(BINARY16, log_65536.hex(), rounding) is Rejection.TOO_FAR
    for x in (log_65520, log_65536):
        assert check_case(BINARY16, x.hex(), "directed") is Rejection.TOO_FAR
    neighbours = [math.nextafter(log_65520, end) for end in (0.0, 99.0)]
    cases = [check_case(BINARY16, x.hex(), "all") for x in neighbours]
    assert [case.side for case in cases if isinstance(case, HRCase)] == ["below", "above"]


def test_half_the_smallest_subnormal_is_a_breakpoint() -> None:
    x = math.log(2.0**-25)
    for rounding in ("all", "nearest"):
        case = check_case(BINARY16, x.hex(), rounding)
        assert isinstance(case, HRCase)
        assert case.breakpoint == "midpoint"
        assert case.y_nearest == (scale(1, -24) if case.side == "above" else 0)
    assert check_case(BINARY16, x.hex(), "directed") is Rejection.TOO_FAR


def test_exp2_near_zero_has_ties_in_its_logarithms() -> None:
    """2^(-2047/16) lies 2^(-2047/16 + 24) = 2^-103.9375 ulp above 0."""
    ordinal = BINARY16.ordinal(mpq(-2047, 16))
    case = refine(spec("exp2", BINARY16, bits=6, inp=BINARY16), ordinal)
    assert isinstance(case, HRCase)
    assert (case.log2_distance, case.identical_bits) == ("-103.938", 102)
    assert (case.y_nearest, case.breakpoint, case.side) == (0, "number", "above")


@pytest.mark.parametrize("name", [name for name, f in REGISTRY.items() if f.known_cases])
def test_known_cases_and_their_neighbours(name: str) -> None:
    for text, log2_distance in REGISTRY[name].known_cases:
        ordinal = BINARY64.ordinal(parse_number(text))
        case = refine(spec(name), ordinal)
        assert isinstance(case, HRCase)
        assert case.x == parse_number(text)
        assert abs(float(case.log2_distance) - log2_distance) < 2e-3
        assert refine(spec(name, bits=floor_bits(case) + 1), ordinal) is Rejection.TOO_FAR
        assert refine(spec(name, bits=floor_bits(case)), ordinal) == case


def floor_bits(case: HRCase) -> int:
    """The largest M with distance < 2^-M."""
    return case.identical_bits + 1


def test_exact_results_are_no_cases() -> None:
    def verdict(name: str, x: int, rounding: str) -> HRCase | Rejection:
        return refine(spec(name, BINARY16, rounding, 3, BINARY16), BINARY16.ordinal(mpq(x)))

    for name, x in (("exp", 0), ("exp2", -3), ("log", 1), ("sin", 0), ("cbrt", -27)):
        assert verdict(name, x, "all") is Rejection.EXACT
        assert verdict(name, x, "nearest") is Rejection.TOO_FAR
    assert verdict("exp2", -25, "nearest") is Rejection.EXACT
    assert verdict("exp2", -25, "directed") is Rejection.TOO_FAR
    assert verdict("exp2", 16, "all") is Rejection.TOO_FAR
    far = verdict("exp2", -30, "directed")  # exact, but off every breakpoint: 2^-6 ulp above 0
    assert isinstance(far, HRCase)
    assert (far.log2_distance, far.identical_bits) == ("-6.000", 5)


KNOWN = BINARY64.ordinal(parse_number("0x1.83d4bcdebb3f4p+2"))


def test_refine_fails_when_arb_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(f: Function, m: int, e: int, precision: int) -> Interval:
        low, high = by_arb(f, m, e, precision)
        return low * (1 + scale(1, -115)), high * (1 + scale(1, -115))

    monkeypatch.setattr(ziv, "by_arb", shifted)
    with pytest.raises(SelfTestFailed, match=r"disagree on exp at .*\*2\^"):
        refine(spec("exp"), KNOWN)
    with pytest.raises(SelfTestFailed, match="disagree"):
        argument.check(REGISTRY["exp"], BINARY64, BINARY64, BINARY64.value(KNOWN))


def test_refine_fails_when_arb_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ziv, "by_arb", lambda *_: (mpq(0), mpq(1000)))
    with pytest.raises(SelfTestFailed, match="no verdict on exp"):
        refine(spec("exp"), KNOWN)


def test_refine_fails_when_an_exact_case_is_missing_from_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(REGISTRY, "exp2", replace(REGISTRY["exp2"], exact=lambda x: None))
    with pytest.raises(SelfTestFailed, match="the rule in hrcase/functions is wrong"):
        refine(spec("exp2"), BINARY64.ordinal(mpq(1)))


def test_distances_of_exp_are_those_of_its_series() -> None:
    """The distance is near 2^-10.6, and the series is cut at a term below 2^-260."""
    case = refine(spec("exp", bits=10), BINARY64.ordinal(mpq(1, 1 << 20)))
    assert isinstance(case, HRCase)
    x = Fraction(1, 1 << 20)
    y = sum((x**k / math.factorial(k) for k in range(12)), Fraction(0))
    position = y * 2**53  # half ulps of [1, 2)
    distance = abs(position - round(position)) / 2
    assert case.distance_ulp == decimal(exact(distance))
    assert -case.identical_bits - 2 == floor_log2(exact(distance))
