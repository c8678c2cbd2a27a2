"""f against breakpoints, in exact arithmetic: the verifier's own answers to the method's questions.

The lattice of an output binade, lemmas 1 and 2 of docs/method.md, is built here anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

import gmpy2
from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, TooWide, above, at_least, by_arb, by_mpfr, rounded
from hrcase.formats import floor_log2, scale
from hrcase.functions.base import Function
from hrcase.spec import SearchSpec
from hrcase.verify.findings import Contradiction, at

FEW_BITS = 128
"""Of Arb, for comparisons; where four times as many do not tell, MPFR's directed roundings do."""

MOST_PRECISION = 1 << 14
"""Bits of Arb to see about where f(x) is."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The breakpoints next to values of one output binade: (k + offset) spacing, k an integer.

    Attributes:
        low, high: the values, low <= |y| < high; low is 0 below the least normal number, where both
            signs share the lattice.
        sign: of the values; 0 for both.
        ulp: of the binade.
        window: 2^-M ulp in units of the spacing.
        last: no breakpoint is larger than this.
    """

    low: mpq
    high: mpq
    sign: int
    ulp: mpq
    spacing: mpq
    offset: mpq
    window: mpq
    last: mpq

    def position(self, value: mpq) -> mpq:
        """Of a value: breakpoints are the integers."""
        return value / self.spacing - self.offset

    def value(self, position: mpq | int) -> mpq:
        """At a position."""
        return (position + self.offset) * self.spacing

    def is_breakpoint(self, k: int) -> bool:
        """Whether integer k stands for a breakpoint that there is."""
        return bool(abs(self.value(k)) <= self.last)

    def is_free(self, low: mpq, high: mpq) -> bool:
        """Whether no value from low to high lies within the window of a breakpoint."""
        first, final = self.position(low), self.position(high)
        k = int(first // 1)
        after, before = (self.window if self.is_breakpoint(i) else 0 for i in (k, k + 1))
        return bool(k + after <= first and final <= k + 1 - before)

    @property
    def ends(self) -> tuple[mpq, mpq]:
        """Where the binade begins and ends, in ascending order."""
        return (
            -self.high if self.sign <= 0 else self.low,
            self.high if self.sign >= 0 else -self.low,
        )


def axis_at(spec: SearchSpec, y: mpq) -> Axis | None:
    """The axis for values in the binade of y; None from 2^(emax+1) on, where there are no cases."""
    out = spec.out
    exponent = max(floor_log2(abs(y)), out.emin - 1) if y else out.emin - 1
    if exponent > out.emax:
        return None
    is_low = exponent < out.emin
    if is_low and not out.subnormals:
        ulp = scale(1, out.emin)
    else:
        ulp = scale(1, max(exponent, out.emin) - out.precision + 1)
    spacing = ulp / 2 if spec.rounding == "all" else ulp
    top = scale(1, out.emax - out.precision + 1)
    return Axis(
        low=mpq(0) if is_low else scale(1, exponent),
        high=scale(1, exponent + 1),
        sign=0 if is_low else (1 if y > 0 else -1),
        ulp=ulp,
        spacing=spacing,
        offset=mpq(1, 2) if spec.rounding == "nearest" else mpq(0),
        window=ulp / spacing / (1 << spec.bits),
        last=scale(1, out.emax + 1) - (top if spec.rounding == "directed" else top / 2),
    )


def is_free(spec: SearchSpec, low: mpq, high: mpq) -> bool:
    """Whether no value from low to high is a case, or exact; they lie in two binades at most."""
    axis, last = axis_at(spec, low), axis_at(spec, high)
    if axis == last:
        return bool(low * high > 0) if axis is None else axis.is_free(low, high)
    limit = scale(1, spec.out.emax + 1)
    top, bottom = axis.ends[1] if axis else -limit, last.ends[0] if last else limit
    return (
        top == bottom
        and (axis is None or axis.is_free(low, top))
        and (last is None or last.is_free(bottom, high))
    )


def enclosures(spec: SearchSpec, ordinal: int, precision: int = 256) -> Iterator[tuple[mpq, mpq]]:
    """f at an argument between rationals, by Arb, with more and more bits: expressions may cancel.

    There are none where these would be out of reach.
    """
    while precision <= MOST_PRECISION:
        with suppress(OutOfReach):
            yield by_arb(spec.function, *spec.inp.parts(ordinal), precision)
        precision *= 4


def side(spec: SearchSpec, ordinal: int, level: mpq) -> int:
    """The sign of f(x) - level, a dyadic rational: exactly.

    Raises:
        Contradiction: f is an expression, and B bits do not tell.
    """
    f, parts = spec.function, spec.inp.parts(ordinal)
    if f.decided_bits:
        sign = told_side(spec, ordinal, level, f.decided_bits)
        if sign is None:
            raise Contradiction(
                "undecided",
                f"{f.decided_bits} bits do not tell f from a level at {at(spec.inp, ordinal)}, in "
                "a range where they should",
            )
        return sign
    for low, high in islice(enclosures(spec, ordinal, FEW_BITS), 2):
        if low > level or high < level:
            return 1 if low > level else -1
    if not at_least(f, *parts, level):
        return -1
    return 1 if above(f, *parts, level) else 0


def told_side(spec: SearchSpec, ordinal: int, level: mpq, most: int) -> int | None:
    """The sign of f(x) - level of an expression by MPFR; None where so many bits do not tell."""
    f, precision = spec.function, FEW_BITS
    while True:
        low, high = _by_intervals(f, *spec.inp.parts(ordinal), min(precision, most))
        if low > level or high < level:
            return 1 if low > level else -1
        if precision == FEW_BITS:
            exact = f.exact(spec.inp.value(ordinal))
            if exact is not None:
                return int(exact > level) - int(exact < level)
        if precision >= most:
            return None
        precision *= 4


BEYOND = scale(1, 1 << 19)
"""Far beyond every level."""


def _by_intervals(f: Function, m: int, e: int, precision: int) -> tuple[mpq, mpq]:
    """Bounds of an expression, perhaps of no use."""
    try:
        return by_mpfr(f, m, e, precision)
    except TooWide:
        return -BEYOND, BEYOND
    except OutOfReach:
        end = BEYOND if rounded(f, m, e, precision, gmpy2.RoundToZero) > 0 else -BEYOND
        return end, end


def is_on(spec: SearchSpec, axis: Axis, ordinal: int) -> bool:
    """Whether f(x) lies in the binade of an axis: exactly."""
    if axis.sign == 0:
        return side(spec, ordinal, axis.high) < 0 < side(spec, ordinal, -axis.high)
    if axis.sign > 0:
        return side(spec, ordinal, axis.low) >= 0 > side(spec, ordinal, axis.high)
    return side(spec, ordinal, -axis.low) <= 0 < side(spec, ordinal, -axis.high)


def axis_of(spec: SearchSpec, ordinal: int) -> Axis | None:
    """The axis of f(x); None where |f(x)| is beyond all breakpoints."""
    known = mpq(0), scale(1, spec.out.emax + 2)
    for ends in chain(enclosures(spec, ordinal), [known]):
        axes = [axis_at(spec, y) for y in ends]
        if axes == [None, None] and ends[0] * ends[1] > 0:
            return None
        for axis in axes:
            if axis is not None and is_on(spec, axis, ordinal):
                return axis
    return None
