"""Arguments at a given distance from a breakpoint, by Newton's method along f.

Nothing here proves anything: what is found is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, by_mpfr
from hrcase.formats import Format, floor_log2, scale
from hrcase.lattice import Lattice, key_of, overflow_key
from hrcase.spec import SearchSpec

NEWTON_STEPS = 8

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Curve:
    """F around an argument, on the axis on which breakpoints are the integers (hrcase.lattice)."""

    spec: SearchSpec
    axis: Lattice

    @classmethod
    def at(cls, spec: SearchSpec, ordinal: int) -> Curve | None:
        """The axis of f's output binade there; None where f is beyond all of them."""
        y = _value(spec, ordinal)
        if y is None or abs(key := key_of(spec.out, y)) >= overflow_key(spec.out):
            return None
        return cls(spec, spec.lattice(key))

    def position(self, ordinal: int) -> mpq | None:
        """F, to far below the distances asked for; None where f is not defined, or out of reach."""
        y = _value(self.spec, ordinal)
        return None if y is None else self.axis.position(y)

    def slope(self, ordinal: int) -> mpq | None:
        """F of the next argument less F, modulo 1."""
        here, there = self.position(ordinal), self.position(ordinal + 1)
        return None if here is None or there is None else _centred(there - here)


def _value(spec: SearchSpec, ordinal: int) -> mpq | None:
    """About f(x)."""
    if abs(ordinal) > spec.inp.max_ordinal:
        return None
    precision = 2 * (spec.inp.precision + spec.out.precision) + spec.bits
    try:
        return by_mpfr(spec.function, *spec.inp.parts(ordinal), precision)[0]
    except OutOfReach:
        return None


def _centred(value: mpq) -> mpq:
    """value modulo 1, from -1/2 on."""
    return (value + mpq(1, 2)) % 1 - mpq(1, 2)


def is_flat(spec: SearchSpec, window: Range) -> bool:
    """Whether f passes no breakpoint in a window, or moves as x does, to first order."""
    lo, hi = window
    curve = Curve.at(spec, lo)
    slope = None if curve is None else curve.slope(lo)
    return slope is None or abs(slope) * (hi - lo) < 1


def solve(curve: Curve, ordinal: int, distance: mpq) -> int | None:
    """An argument near this one whose F is about so far from an integer, by Newton's method."""
    for _ in range(NEWTON_STEPS):
        here, slope = curve.position(ordinal), curve.slope(ordinal)
        if here is None or not slope:
            return None
        step = round(_centred(distance - here) / slope)
        if step == 0:
            return ordinal
        ordinal = int(ordinal + step)
    return None


def binade(inp: Format, ordinal: int) -> Range:
    """The input binade that holds an ordinal; 0 is its own."""
    if ordinal == 0:
        return 0, 1
    exponent = floor_log2(abs(inp.value(ordinal)))
    lo, hi = (inp.ceil_ordinal(scale(1, e)) for e in (exponent, exponent + 1))
    return (lo, hi) if ordinal > 0 else (1 - hi, 1 - lo)
