"""f(x) correctly rounded in the four rounding modes, down to the signs of zeros."""

from __future__ import annotations

from typing import NamedTuple

import gmpy2
from gmpy2 import mpq

from hrcase.enclosure import exact_value, rounded
from hrcase.formats import Format, scale
from hrcase.functions.base import Function
from hrcase.hexfloat import to_hex

MODES = ("RN", "RU", "RD", "RZ")
"""To nearest, ties to even; up; down; to zero."""


class Number(NamedTuple):
    """A number of a format, with what its ordinal leaves out: the sign of zero, and infinity.

    Attributes:
        negative: the sign bit.
        magnitude: the ordinal of |value|; max_ordinal + 1 is infinity.
    """

    negative: bool
    magnitude: int

    def text(self, form: Format) -> str:
        """C's hexadecimal spelling, with the sign of zero; `inf`, `-inf`."""
        is_infinite = self.magnitude > form.max_ordinal
        unsigned = "inf" if is_infinite else to_hex(form.value(self.magnitude))
        return ("-" if self.negative else "") + unsigned


def number_of(form: Format, value: mpq) -> Number:
    """An exact number of the format; raises InputError for any other value."""
    ordinal = form.ordinal(value)
    return Number(ordinal < 0, abs(ordinal))


def roundings(f: Function, inp: Format, out: Format, x: Number) -> tuple[Number, ...] | None:
    """f(x) in each of MODES; None where f is not defined, or has a pole.

    With q = p + 1 bits, a = RD_q(f(x)) and b = RU_q(f(x)) by MPFR, which rounds correctly. Every
    breakpoint is a number of at most q bits. So either a = b = f(x); or f(x) lies strictly
    between the neighbours a and b, no breakpoint does, and their middle is rounded as f(x) is. (So
    it is where a or b lies beyond 2^(+-MOST_EXPONENT): below all numbers, or above.)

    Raises:
        InputError: f is an expression, and its B bits do not tell a or b.
    """
    m, e = inp.parts(x.magnitude)
    m = -m if x.negative else m
    value = scale(m, e)
    if next(f.poles(value, value), None) is not None:
        return None
    low, high = (
        rounded(f, m, e, out.precision + 1, direction)
        for direction in (gmpy2.RoundDown, gmpy2.RoundUp)
    )
    # MPFR has values also at arguments that hrcase does not search, and NaN where there is none.
    if gmpy2.is_nan(low) or (gmpy2.is_infinite(low) and low == high):
        return None
    if low == high == 0:
        return (Number(_zero_is_negative(f, value, x.negative), 0),) * len(MODES)
    finite = [exact_value(end) for end in (low, high) if gmpy2.is_finite(end)]
    return _in_modes(out, sum(finite, mpq(0)) / len(finite))


def _in_modes(out: Format, y: mpq) -> tuple[Number, ...]:
    """An exact value in each of MODES."""
    down, nearest, up = out.round_magnitude(abs(y))
    negative = y < 0
    ordinals = (nearest, down, up, down) if negative else (nearest, up, down, down)
    return tuple(Number(negative, ordinal) for ordinal in ordinals)


def _zero_is_negative(f: Function, x: mpq, x_is_negative: bool) -> bool:
    """The sign of f(x) = 0, as C23's annex F has it: +0, but for odd functions that of x.

    log1p and its like are not odd, and keep the sign of a zero too. tanpi is odd, and also turns
    its sign from one half turn to the next. A zero of an expression is +0.
    """
    if f.bracket is not None:
        return False
    if x == 0:
        return x_is_negative and f.symmetry != "even"
    if f.symmetry != "odd":
        return False
    is_turned = f.name == "tanpi" and x.numerator % 2 == 1
    return x_is_negative != is_turned
