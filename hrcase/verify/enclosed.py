"""Settled and left-out ranges of expressions, of which no entry says where they are monotone.

A range is cut until each part is shown to be what its piece says: by bounds of f over the part, by
comparisons at its ends where balls show the sign of f' (or f' - r, r = +-2^s), or as one argument.
How the search cut it does not matter. docs/expressions.md has the theorems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain

import gmpy2
from flint import arb
from flint import ctx as flint_context
from gmpy2 import mpfr, mpq

from hrcase.enclosure import OutOfReach, lower_bound, upper_bound
from hrcase.formats import binade_end, floor_log2, scale
from hrcase.functions import Expression
from hrcase.functions.around_zero import around_zero
from hrcase.functions.balls import ball_value
from hrcase.functions.brackets import bracket, directed
from hrcase.functions.rounding import as_rational, exactly
from hrcase.functions.undefined import NotDefined, Undecided
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis, axis_at, axis_of, is_free, told_side
from hrcase.verify.balls import coefficients, hull, precision
from hrcase.verify.document import Piece, Range
from hrcase.verify.findings import Contradiction, at, within
from hrcase.verify.line import Line
from hrcase.verify.monotone import binade_parts, one_axis

MOST_PARTS = 1 << 15
"""Of a piece, before the verifier gives up."""

MOST_GAPS = 8
"""Breakpoints that are passed on a part of a piece of kind (a); else it is cut."""

RANGE_PRECISION = 128
MORE_BITS = 256
SLOPE_PRECISIONS = (128, 512, 4096)
TERMS_AT_0 = 8
NEARLY = mpq(1, 16)

Shown = Callable[[int, int], bool]


def check_enclosed(spec: SearchSpec, piece: Piece) -> None:
    """Prove what a settled piece of an expression says.

    Raises:
        Contradiction: it was not proved.
    """
    if piece.which or piece.kind not in "abd" or (piece.kind == "a" and piece.near is not None):
        stated = piece.kind, piece.which, str(piece.near)
        where = within(spec.inp, piece.lo, piece.hi)
        raise Contradiction("settled", f"no theorem settles {where} as {stated}")
    shown: dict[str, Shown] = {
        "a": partial(_no_case, spec),
        "b": partial(_all_cases, spec, piece.near),
        "d": partial(_not_told, spec, piece.near),
    }
    _everywhere(spec, (piece.lo, piece.hi), shown[piece.kind], "settled", f"kind ({piece.kind})")


def require_undefined(spec: SearchSpec, lo: int, hi: int) -> None:
    """Prove that an expression has no value on a half-open range, or none that B bits show.

    Raises:
        Contradiction: it has one, or it was not proved.
    """
    _everywhere(spec, (lo, hi), partial(_no_value, spec), "domain", "left out as undefined")


def _everywhere(spec: SearchSpec, whole: Range, shown: Shown, check: str, said: str) -> None:
    """Cut a range until something is shown of each part, which has one sign."""
    lo, hi = whole
    signs = ((lo, min(hi, 0)), (max(lo, 0), min(hi, 1)), (max(lo, 1), hi))
    parts = [(first, end) for first, end in signs if first < end]
    looked_at = 0
    while parts:
        first, end = parts.pop()
        looked_at += 1
        if shown(first, end):
            continue
        if end - first == 1 or looked_at > MOST_PARTS:
            raise Contradiction(
                check,
                f"{within(spec.inp, *whole)} is {said}, which was not proved of "
                f"{within(spec.inp, first, end)}, the last of {looked_at} parts looked at",
            )
        middle = (first + end) // 2
        edge = binade_end(spec.inp, middle)
        cut = edge if edge < end else middle
        parts += [(cut, end), (first, cut)]


def _expression(spec: SearchSpec) -> Expression:
    assert isinstance(spec.function, Expression)
    return spec.function


def _no_case(spec: SearchSpec, lo: int, hi: int) -> bool:
    """No argument is a case, by bounds, or by theorem 6 with slope 0 or r."""
    if any(is_free(spec, *values) for values in _bounds(spec, lo, hi)):
        return True
    line = _along(spec, lo, hi)
    if line is not None:
        return line.first_near(lo, hi, MOST_GAPS) is None
    return _is_monotone(spec, lo, hi, mpq(0)) and all(
        _are_beyond(spec, first, end)
        if axis is None
        else Line(spec, axis, 0).first_near(first, end, MOST_GAPS) is None
        for first, end, axis in binade_parts(spec, lo, hi)
    )


def _are_beyond(spec: SearchSpec, lo: int, hi: int) -> bool:
    """f is monotone, and both ends lie beyond all breakpoints on one side."""
    limit = scale(1, spec.out.emax + 1)
    sides = {
        (told_side(spec, i, limit, RANGE_PRECISION), told_side(spec, i, -limit, RANGE_PRECISION))
        for i in (lo, hi - 1)
    }
    return sides in ({(1, 1)}, {(-1, -1)})


def _all_cases(spec: SearchSpec, near: mpq | None, lo: int, hi: int) -> bool:
    """Every argument is a case: near one breakpoint, or the one next to a multiple of x."""
    if near is None:
        return _all_along(spec, lo, hi)
    if any(_is_close(spec, near, *values) for values in _bounds(spec, lo, hi, near)):
        return True
    return _is_monotone(spec, lo, hi, mpq(0)) and all(
        axis is not None
        and (k := _breakpoint(axis, near)) is not None
        and Line(spec, axis, 0).are_near(first, end, k)
        for first, end, axis in binade_parts(spec, lo, hi)
    )


def _breakpoint(axis: Axis, near: mpq) -> int | None:
    """The integer that stands for it, if it is one."""
    position = axis.position(near)
    is_one = position.denominator == 1 and axis.is_breakpoint(int(position))
    return int(position) if is_one else None


def _is_close(spec: SearchSpec, near: mpq, low: mpq, high: mpq) -> bool:
    """Whether all values between bounds lie within the window of a breakpoint, on one side."""
    axis = axis_at(spec, low)
    if axis is None or axis != axis_at(spec, high) or _breakpoint(axis, near) is None:
        return False
    reach = axis.window * axis.spacing
    return near - reach < low and high < near + reach and not low <= near <= high


def _all_along(spec: SearchSpec, lo: int, hi: int) -> bool:
    """Along r x; of one argument, near any breakpoint: f may rise there by other than r."""
    line = _along(spec, lo, hi)
    if line is not None and line.axis.high <= scale(1, spec.out.emax):  # so all lines count
        return line.are_near(lo, hi, line.nearest(lo))
    if hi - lo > 1 or (axis := axis_of(spec, lo)) is None:
        return False
    single = Line(spec, axis, 0)
    k = single.nearest(lo)
    return axis.is_breakpoint(k) and single.are_near(lo, hi, k)


def _not_told(spec: SearchSpec, near: mpq | None, lo: int, hi: int) -> bool:
    """Bits do not tell f from one number, or from a level along r x: half of B are asked."""
    if near is not None:
        axis, bits = axis_at(spec, near), _expression(spec).decided_bits
        reach = scale(axis.spacing, -bits // 2) if axis is not None else mpq(0)
        for low, high in _bounds(spec, lo, hi, near):
            if near - reach < low and high < near + reach:
                return True
        return _is_monotone(spec, lo, hi, mpq(0)) and _are_untold(spec, lo, hi, lambda i: near)
    line = _along(spec, lo, hi)
    if line is None:
        return False
    k = line.nearest(lo)
    levels = (k - line.axis.window, mpq(k), k + line.axis.window)
    return any(_are_untold(spec, lo, hi, partial(line.level, position=at)) for at in levels)


def _are_untold(spec: SearchSpec, lo: int, hi: int, level: Callable[[int], mpq]) -> bool:
    """f, or f - r x, is monotone, and at both ends bits do not tell it from a level."""
    most = _expression(spec).decided_bits // 2
    return all(told_side(spec, i, level(i), most) in (None, 0) for i in (lo, hi - 1))


def _no_value(spec: SearchSpec, lo: int, hi: int) -> bool:
    """Whether f is shown to have no value on a range; one argument may also be undecided."""
    f = _expression(spec)
    if hi - lo == 1:
        return not f.contains(spec.inp.value(lo))
    ends = exactly(spec.inp.value(lo)), exactly(spec.inp.value(hi - 1))
    try:
        bracket(f.node, directed(RANGE_PRECISION), ends)
    except NotDefined:
        return True
    except Undecided:
        return _has_no_ball(spec, lo, hi)
    raise Contradiction("domain", f"{f.formula} has a value at {at(spec.inp, lo)}, left out")


def _has_no_ball(spec: SearchSpec, lo: int, hi: int) -> bool:
    try:
        with precision(RANGE_PRECISION):
            ball_value(_expression(spec).node, hull(spec.inp, lo, hi))
    except NotDefined:
        return True
    except Undecided:
        pass
    return False


def _bounds(
    spec: SearchSpec, lo: int, hi: int, near: mpq | None = None
) -> Iterator[tuple[mpq, mpq]]:
    """Bounds of f between the ends of a range, cut off beyond all breakpoints.

    By intervals and by the mean value theorem; where that does not tell f from a number, by
    intervals of more than B bits.
    """
    f, is_untold = _expression(spec), False
    for low, high in chain(
        _by_intervals(spec, lo, hi, RANGE_PRECISION), _by_mean_value(spec, lo, hi)
    ):
        yield low, high
        if near is not None and low <= near <= high:  # as near as 1 + t is to 1
            is_untold |= high - low <= scale(max(1, abs(near)), -RANGE_PRECISION // 2)
    if is_untold:
        yield from _by_intervals(spec, lo, hi, f.decided_bits + MORE_BITS)


def _by_mean_value(spec: SearchSpec, lo: int, hi: int) -> Iterator[tuple[mpq, mpq]]:
    with precision(RANGE_PRECISION):
        ball = hull(spec.inp, lo, hi)
        slope = coefficients(spec.function, ball, 1)[1]
        value = spec.function.arb(ball.mid()) + slope * (ball - ball.mid())
    if value.is_finite():
        with suppress(OutOfReach):
            yield lower_bound(value), upper_bound(value)


def _by_intervals(spec: SearchSpec, lo: int, hi: int, bits: int) -> Iterator[tuple[mpq, mpq]]:
    ends = exactly(spec.inp.value(lo)), exactly(spec.inp.value(hi - 1))
    limit = scale(1, spec.out.emax + 4)
    with suppress(NotDefined, Undecided):
        low, high = bracket(_expression(spec).node, directed(bits), ends)
        yield _number(low, limit), _number(high, limit)


def _number(end: mpfr, limit: mpq) -> mpq:
    if not gmpy2.is_finite(end) or gmpy2.get_exp(end) > floor_log2(limit):
        return limit if end > 0 else -limit
    return as_rational(end)


def _along(spec: SearchSpec, lo: int, hi: int) -> Line | None:
    """The line of f - r x where r = +-2^s is next to f', r x is a multiple of the spacing, and
    f - r x is shown to be monotone; in one binade of x and one of f(x)."""
    f, inp = _expression(spec), spec.inp
    exponent = inp.parts(lo)[1]
    if exponent != inp.parts(hi - 1)[1]:
        return None
    with precision(RANGE_PRECISION):
        slope = coefficients(f, arb(inp.parts((lo + hi) // 2)), 1)[1]
    if not _has_sign(slope):
        return None
    try:
        about = lower_bound(slope)
    except OutOfReach:
        return None
    r = scale(1 if about > 0 else -1, floor_log2(abs(about) * mpq(4, 3)))
    if abs(about - r) > NEARLY * abs(r):
        return None
    try:
        axis = one_axis(spec, lo, hi)
    except Contradiction:  # two binades of f(x): cut
        return None
    is_multiple = scale(r, exponent) % axis.spacing == 0
    return Line(spec, axis, r) if is_multiple and _is_monotone(spec, lo, hi, r) else None


def _is_monotone(spec: SearchSpec, lo: int, hi: int, r: mpq) -> bool:
    """Whether f - r x is shown to be strictly monotone on the reals of a range, and defined there.

    By the sign of f' - r over a ball, or by theorem E1.
    """
    f = _expression(spec)
    if hi - lo == 1:
        return True
    slope = arb((int(r.numerator), 1 - int(r.denominator.bit_length())))
    for bits in SLOPE_PRECISIONS if r else SLOPE_PRECISIONS[:1]:
        with precision(bits):
            # A wide f'' makes narrow_series enclose all coefficients by Taylor's theorem.
            if _has_sign(coefficients(f, hull(spec.inp, lo, hi), 2)[1] - slope):
                return True
    return _by_series_at_0(spec, hi - 1 if lo > 0 else lo, slope)


def _has_sign(excess: arb) -> bool:
    return bool(excess.is_finite() and not excess.contains(0))


def _by_series_at_0(spec: SearchSpec, ordinal: int, slope: arb) -> bool:
    """Whether f' - slope is shown to have a sign between 0 and a number, that included."""
    if abs(spec.inp.value(ordinal)) > 1:
        return False
    cap, flint_context.cap = flint_context.cap, TERMS_AT_0 + 1
    try:
        with precision(RANGE_PRECISION):
            ball = arb(spec.inp.parts(ordinal)).union(arb(0))
            return around_zero(_expression(spec).node, ball, TERMS_AT_0).slope_sign(slope) != 0
    except Undecided:
        return False
    finally:
        flint_context.cap = cap
