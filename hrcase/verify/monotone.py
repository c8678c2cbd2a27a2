"""Where f is monotone, and where all its values lie in one output binade."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from hrcase.enclosure import OutOfReach, lower_bound, upper_bound
from hrcase.formats import first_ordinal_where
from hrcase.functions.base import RealPoint
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis, axis_of, is_on
from hrcase.verify.balls import coefficients, hull, precision
from hrcase.verify.findings import Contradiction, at, within

MOST_PARTS = 1 << 12
"""Of a piece that is cut to see where f lies, before the verifier gives up."""


def monotone_parts(spec: SearchSpec, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """Cut ordinals at 0, at critical points and at poles, between which the entry says that f is
    strictly monotone."""
    f, inp = spec.function, spec.inp
    ends = inp.value(lo), inp.value(hi - 1)
    cuts = {0, 1} | {_first_from(spec, point) for point in f.critical_points(*ends)}
    for pole in f.poles(*ends):
        cuts |= {inp.ceil_ordinal(pole), inp.ceil_ordinal(pole) + 1}
    yield from pairwise([lo, *sorted(cut for cut in cuts if lo < cut < hi), hi])


def _first_from(spec: SearchSpec, point: RealPoint) -> int:
    """Ordinal of the first number that is not below a point."""
    bits = 2 * spec.inp.precision
    while True:
        with precision(bits):
            ball = point()
        low, high = (spec.inp.ceil_ordinal(end(ball)) for end in (lower_bound, upper_bound))
        if low == high:
            return low
        bits *= 2


def binade_parts(spec: SearchSpec, lo: int, hi: int) -> Iterator[tuple[int, int, Axis | None]]:
    """Cut a range on which f is monotone where f leaves an output binade."""
    while lo < hi:
        axis = axis_of(spec, lo)
        if axis is None:
            yield lo, hi, None
            return
        end = first_ordinal_where(lo + 1, hi, partial(_leaves, spec, axis))
        yield lo, end, axis
        lo = end


def _leaves(spec: SearchSpec, axis: Axis, ordinal: int) -> bool:
    return not is_on(spec, axis, ordinal)


def one_axis(spec: SearchSpec, lo: int, hi: int) -> Axis:
    """The axis of all values on a range.

    Proved by ball arithmetic, cutting the range where it does not tell: a part's values lie in the
    binade, or f' has no zero on the part and the values at its ends do.

    Raises:
        Contradiction: there is none, or it was not proved.
    """
    axis = axis_of(spec, lo)
    if axis is None:
        raise Contradiction("binade", f"f lies beyond all breakpoints at {at(spec.inp, lo)}")
    parts, looked_at = [(lo, hi)], 0
    while parts:
        first, end = parts.pop()
        looked_at += 1
        if _values_within(spec, first, end, axis):
            continue
        for ordinal in (first, end - 1):
            if not is_on(spec, axis, ordinal):
                raise Contradiction(
                    "binade",
                    f"f leaves its output binade within {within(spec.inp, lo, hi)}, at "
                    f"{at(spec.inp, ordinal)}",
                )
        if end - first <= 2 or _has_slope(spec, first, end):
            continue
        if looked_at > MOST_PARTS:
            raise Contradiction(
                "binade",
                f"{looked_at} parts of {within(spec.inp, lo, hi)} do not show that f stays in one "
                "output binade",
            )
        middle = (first + end) // 2
        parts += [(middle, end), (first, middle)]
    return axis


def _values_within(spec: SearchSpec, lo: int, hi: int, axis: Axis) -> bool:
    """Whether ball arithmetic shows that all values lie inside of the binade."""
    with precision(128):
        ball = spec.function.arb(hull(spec.inp, lo, hi))
        if not ball.is_finite():
            return False
        try:
            low, high = lower_bound(ball), upper_bound(ball)
        except OutOfReach:
            return False
    least, most = axis.ends
    return bool(least < low and high < most)


def _has_slope(spec: SearchSpec, lo: int, hi: int) -> bool:
    """Whether ball arithmetic shows that f' has no zero."""
    with precision(128):
        slope = coefficients(spec.function, hull(spec.inp, lo, hi), 1)[1]
        return bool(slope.is_finite() and (slope > 0 or slope < 0))
