"""Breakpoints of the output format, as the integers of a scaled axis.

In one output binade the breakpoints that a rounding choice asks for are equally spaced:

    all       numbers and midpoints   every half ulp        (k) ulp/2
    directed  numbers                 every ulp             (k) ulp
    nearest   midpoints               every ulp, shifted    (k + 1/2) ulp

so that with F = value / spacing - offset they are the integers. Everything between the
polynomials and the candidates works on F modulo 1 and knows nothing else of formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gmpy2 import mpq

from hrcase.formats import Format, floor_log2, scale

ROUNDINGS = ("all", "nearest", "directed")


@dataclass(frozen=True, slots=True)
class Lattice:
    """The breakpoints of one output binade: (k + offset) 2^spacing_exponent, k an integer.

    Attributes:
        spacing_exponent: log2 of the distance of two breakpoints.
        offset: 0, or 1/2 where only midpoints count.
        ulp_exponent: log2 of the ulp of the binade.
    """

    spacing_exponent: int
    offset: mpq
    ulp_exponent: int

    def position(self, value: mpq) -> mpq:
        """F of a value: breakpoints are the integers."""
        return scale(value, -self.spacing_exponent) - self.offset

    def value(self, position: mpq | int) -> mpq:
        """The value at a position F."""
        return scale(position + self.offset, self.spacing_exponent)

    def window(self, bits: int) -> mpq:
        """2^-bits ulp in units of the spacing."""
        return scale(1, self.ulp_exponent - bits - self.spacing_exponent)


def binade_key(out: Format, exponent: int | None, negative: bool) -> int:
    """Which output binade a value lies in, as an integer that grows with the value.

    0 is everything below 2^emin in magnitude (subnormals and zero share one lattice);
    +-k is [2^(emin+k-1), 2^(emin+k)); +-(emax-emin+2) is everything from 2^(emax+1) on.

    Args:
        out: the output format.
        exponent: floor(log2 |value|), None for zero.
    """
    if exponent is None or exponent < out.emin:
        return 0
    key = min(exponent, out.emax + 1) - out.emin + 1
    return -key if negative else key


def overflow_key(out: Format) -> int:
    """The key of magnitudes >= 2^(emax+1), where no breakpoint is near."""
    return out.emax - out.emin + 2


def key_of(out: Format, value: mpq) -> int:
    """binade_key of an exact value."""
    return binade_key(out, floor_log2(abs(value)) if value else None, value < 0)


@lru_cache(maxsize=4096)
def lattice(out: Format, key: int, rounding: str) -> Lattice:
    """The lattice of the output binade with this key."""
    ulp = out.ulp_exponent(out.emin + abs(key) - 1)
    if rounding == "all":
        return Lattice(ulp - 1, mpq(0), ulp)
    return Lattice(ulp, mpq(1, 2) if rounding == "nearest" else mpq(0), ulp)


def largest_breakpoint(out: Format, rounding: str) -> mpq:
    """The overflow midpoint 2^emax (2 - 2^-p), or the largest number under "directed"."""
    half_ulp = scale(1, out.emax - out.precision)
    return out.max_value + (0 if rounding == "directed" else half_ulp)
