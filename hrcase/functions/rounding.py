"""Functions that MPFR, or gmpy2, lacks: composed with directed rounding, and correctly rounded.

A *bracket* is a pair lo <= f(x) <= hi of dyadic numbers. Where f(x) is not dyadic itself, both
are strict, and f(x) lies in the open interval (lo, hi). If that interval holds no number of n
bits, RD_n(f(x)) is the greatest number of n bits <= lo, and RU_n(f(x)) is the next one: all
roundings are known. Otherwise the bracket is computed again with twice the guard bits. Since f(x)
is not dyadic, this ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import gmpy2
from gmpy2 import mpfr, mpq

from hrcase.formats import scale

Bracket = tuple[mpfr, mpfr]
Bracketing = Callable[["Directed", mpfr], Bracket]

GUARD_BITS = 32
MOST_GUARD_BITS = 1 << 18
WIDE = 1 << 40
"""Exponents of intermediate results: so wide that nothing overflows or underflows before f does."""


class Directed:
    """Contexts of one precision, rounding down and up, and constants between two numbers."""

    def __init__(self, precision: int) -> None:
        self.down = gmpy2.context(precision=precision, round=gmpy2.RoundDown, emin=-WIDE, emax=WIDE)
        self.up = gmpy2.context(precision=precision, round=gmpy2.RoundUp, emin=-WIDE, emax=WIDE)
        self.pi = self.down.const_pi(), self.up.const_pi()
        self.log2 = self.down.log(mpfr(2)), self.up.log(mpfr(2))
        self.log10 = self.down.log(mpfr(10)), self.up.log(mpfr(10))

    def times(self, x: mpfr, constant: Bracket) -> Bracket:
        """A bracket of x c, c > 0."""
        low, high = constant if x > 0 else (constant[1], constant[0])
        return self.down.mul(x, low), self.up.mul(x, high)

    def over(self, y: Bracket, constant: Bracket) -> Bracket:
        """A bracket of y/c, c > 0."""
        low = self.down.div(y[0], constant[1] if y[0] > 0 else constant[0])
        return low, self.up.div(y[1], constant[0] if y[1] > 0 else constant[1])


@lru_cache(maxsize=256)
def _directed(precision: int) -> Directed:
    return Directed(precision)


@lru_cache(maxsize=256)
def _towards(precision: int, direction: int) -> gmpy2.context:
    return gmpy2.context(precision=precision, round=direction, emin=-WIDE, emax=WIDE)


def correctly_rounded(
    bracket: Bracketing, exact: Callable[[mpq], mpq | None]
) -> Callable[[gmpy2.context, mpfr], mpfr]:
    """f rounded as a context says, from brackets of any precision; NaN where it is not defined.

    Args:
        bracket: bounds of f(x) that are as near to it as the precision allows.
        exact: f(x) where it is dyadic, or known to be another rational number.
    """

    def rounded(context: gmpy2.context, x: mpfr) -> mpfr:
        value = exact(as_rational(x))
        if value is not None:
            return context.div(value.numerator, value.denominator)
        # To nearest, one more bit tells on which side of the midpoint f(x) lies.
        precision = context.precision + (context.round == gmpy2.RoundToNearest)
        guard = GUARD_BITS
        while guard <= MOST_GUARD_BITS:
            low, high = bracket(_directed(precision + guard), x)
            if gmpy2.is_nan(low) or _overflows(context, low):
                return context.plus(low)
            below = _towards(precision, gmpy2.RoundDown).plus(low)
            above = _towards(precision, gmpy2.RoundUp).next_above(below)
            if high <= above:
                return _between(context, below, above)
            guard *= 2
        raise ArithmeticError(f"no bracket of f({x}) is narrow enough; its exact cases are wrong")

    return rounded


def _overflows(context: gmpy2.context, low: mpfr) -> bool:
    """Whether f(x) >= low is beyond the context's numbers: too large to be told apart."""
    return bool(gmpy2.is_finite(low)) and low > 0 and gmpy2.get_exp(low) > context.emax


def _between(context: gmpy2.context, below: mpfr, above: mpfr) -> mpfr:
    """The rounding of a number strictly between two neighbours; of one bit more, to nearest."""
    direction = context.round
    if direction == gmpy2.RoundToNearest:
        short = _towards(context.precision, gmpy2.RoundDown).plus(below)
        return context.plus(below if short == below else above)
    is_positive = above > 0
    upwards = {
        gmpy2.RoundDown: False,
        gmpy2.RoundUp: True,
        gmpy2.RoundToZero: not is_positive,
        gmpy2.RoundAwayZero: is_positive,
    }[direction]
    return context.plus(above if upwards else below)


def as_rational(x: mpfr) -> mpq:
    """A finite mpfr, exactly."""
    return scale(*map(int, x.as_mantissa_exp()))


def round_dyadic(context: gmpy2.context, value: mpq) -> mpfr:
    """A dyadic rational, rounded as a context says."""
    significand = mpfr(value.numerator, _width(value))
    return context.div_2exp(significand, value.denominator.bit_length() - 1)


def round_rational(context: gmpy2.context, value: mpq) -> mpfr:
    """Any rational, rounded as a context says."""
    parts = (int(value.numerator), int(value.denominator))
    numerator, denominator = (mpfr(part, max(part.bit_length(), 2)) for part in parts)
    return context.div(numerator, denominator)


def exactly(value: mpq) -> mpfr:
    """A dyadic rational as an mpfr."""
    return round_dyadic(_towards(_width(value), gmpy2.RoundToNearest), value)


def _width(value: mpq) -> int:
    return max(int(value.numerator.bit_length()), 2)
