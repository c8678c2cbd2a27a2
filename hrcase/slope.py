"""Arguments at a given distance from a breakpoint, by Newton's method along f.

Nothing here proves anything: what is found is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, TooWide, by_mpfr
from hrcase.formats import Format, floor_log2, scale
from hrcase.lattice import Lattice, key_of, overflow_key
from hrcase.spec import SearchSpec

NEWTON_STEPS = 8

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tangent:
    """F at an argument and its slope, on the axis on which breakpoints are the integers.

    Attributes:
        axis: that of f's output binade at the argument where the tangents began.
        position: F, to far below the distances asked for.
        slope: F of the next argument less F, modulo 1: from -1/2 to 1/2.
    """

    spec: SearchSpec
    axis: Lattice
    ordinal: int
    position: mpq
    slope: mpq

    @classmethod
    def at(cls, spec: SearchSpec, ordinal: int, axis: Lattice | None = None) -> Tangent | None:
        """None where f is not defined here or next, or is beyond all breakpoints."""
        here, there = _value(spec, ordinal), _value(spec, ordinal + 1)
        if here is None or there is None:
            return None
        if axis is None:
            key = key_of(spec.out, here)
            if abs(key) >= overflow_key(spec.out):
                return None
            axis = spec.lattice(key)
        position = axis.position(here)
        return cls(spec, axis, ordinal, position, _centred(axis.position(there) - position))

    def is_flat(self, count: int) -> bool:
        """Whether f passes no breakpoint in so many arguments, or moves as x does."""
        return bool(abs(self.slope) * count < 1)

    def solve(self, distance: mpq, within: Range) -> int | None:
        """An argument whose F is about so far from an integer, by Newton's method.

        None where it leads out of the range, or to nothing.
        """
        here: Tangent | None = self
        for _ in range(NEWTON_STEPS):
            if here is None or here.slope == 0:
                return None
            step = int((_centred(distance - here.position) / here.slope + mpq(1, 2)) // 1)
            ordinal = here.ordinal + step
            if step == 0:
                return ordinal
            if not within[0] <= ordinal < within[1]:
                return None
            here = Tangent.at(self.spec, ordinal, self.axis)
        return None


def _value(spec: SearchSpec, ordinal: int) -> mpq | None:
    """About f(x)."""
    if abs(ordinal) > spec.inp.max_ordinal:
        return None
    precision = 2 * (spec.inp.precision + spec.out.precision) + spec.bits
    try:
        return by_mpfr(spec.function, *spec.inp.parts(ordinal), precision)[0]
    except (OutOfReach, TooWide):
        return None


def _centred(value: mpq) -> mpq:
    """value modulo 1, from -1/2 on."""
    return (value + mpq(1, 2)) % 1 - mpq(1, 2)


def binade(inp: Format, ordinal: int) -> Range:
    """The input binade that holds an ordinal; 0 is its own."""
    if ordinal == 0:
        return 0, 1
    exponent = floor_log2(abs(inp.value(ordinal)))
    lo, hi = (inp.ceil_ordinal(scale(1, e)) for e in (exponent, exponent + 1))
    return (lo, hi) if ordinal > 0 else (1 - hi, 1 - lo)
