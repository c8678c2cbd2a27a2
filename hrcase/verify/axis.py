"""f against breakpoints, in exact arithmetic: the verifier's own answers to the method's questions.

The lattice of an output binade, lemmas 1 and 2 of docs/method.md, is built here anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, above, at_least, by_arb
from hrcase.formats import floor_log2, scale
from hrcase.spec import SearchSpec

PRECISIONS = (128, 512)
"""Bits of Arb; where they do not tell, MPFR's directed roundings do."""


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


def enclosed(spec: SearchSpec, ordinal: int, precision: int = 256) -> tuple[mpq, mpq] | None:
    """f at an argument between two rationals, by Arb; None where they would be out of reach."""
    try:
        return by_arb(spec.function, *spec.inp.parts(ordinal), precision)
    except OutOfReach:
        return None


def side(spec: SearchSpec, ordinal: int, level: mpq) -> int:
    """The sign of f(x) - level, a dyadic rational: exactly."""
    f, parts = spec.function, spec.inp.parts(ordinal)
    for precision in PRECISIONS:
        found = enclosed(spec, ordinal, precision)
        if found is not None and (found[0] > level or found[1] < level):
            return 1 if found[0] > level else -1
    if not at_least(f, *parts, level):
        return -1
    return 1 if above(f, *parts, level) else 0


def is_on(spec: SearchSpec, axis: Axis, ordinal: int) -> bool:
    """Whether f(x) lies in the binade of an axis: exactly."""
    if axis.sign == 0:
        return side(spec, ordinal, axis.high) < 0 < side(spec, ordinal, -axis.high)
    if axis.sign > 0:
        return side(spec, ordinal, axis.low) >= 0 > side(spec, ordinal, axis.high)
    return side(spec, ordinal, -axis.low) <= 0 < side(spec, ordinal, -axis.high)


def axis_of(spec: SearchSpec, ordinal: int) -> Axis | None:
    """The axis of f(x); None where |f(x)| is beyond all breakpoints."""
    found = enclosed(spec, ordinal)
    ends = found if found is not None else (mpq(0), scale(1, spec.out.emax + 2))
    for y in ends:
        axis = axis_at(spec, y)
        if axis is not None and is_on(spec, axis, ordinal):
            return axis
    return None
