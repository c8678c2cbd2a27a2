"""f(x) between two exact rationals, twice: by MPFR and by Arb."""

from __future__ import annotations

from functools import lru_cache

import gmpy2
from flint import arb
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase.formats import scale
from hrcase.functions.base import Function

Interval = tuple[mpq, mpq]


MOST_EXPONENT = 1 << 20
"""Values beyond 2^(+-this) overflow and underflow: no format in use comes near."""

OVERFLOWS = MOST_EXPONENT // 2
"""|f(x)| without an upper bound, and above 2^this, is beyond all numbers of such formats too."""


class OutOfReach(ArithmeticError):
    """|f(x)| is beyond 2^(+-MOST_EXPONENT)."""

    def __init__(self, vanishes: bool) -> None:
        super().__init__(f"|f(x)| is beyond 2^(+-{MOST_EXPONENT})")
        self.vanishes = vanishes


class TooWide(ArithmeticError):
    """Interval arithmetic gives no finite bounds with this precision."""


@lru_cache(maxsize=1024)
def _context(precision: int, direction: int) -> gmpy2.context:
    return gmpy2.context(
        precision=precision, round=direction, emin=-MOST_EXPONENT, emax=MOST_EXPONENT
    )


def _as_mpfr(m: int, e: int) -> gmpy2.mpfr:
    """m 2^e, exactly."""
    width = max(m.bit_length(), 2)
    context, significand = _context(width, gmpy2.RoundToNearest), gmpy2.mpfr(m, width)
    return context.mul_2exp(significand, e) if e >= 0 else context.div_2exp(significand, -e)


def exact_value(y: gmpy2.mpfr) -> mpq:
    """A finite mpfr as a rational (mpq(mpfr) would give the simplest rational near it)."""
    return scale(*map(int, y.as_mantissa_exp()))


def rounded(f: Function, m: int, e: int, precision: int, direction: int) -> gmpy2.mpfr:
    """f(m 2^e), correctly rounded by MPFR to a precision in a direction."""
    return f.mpfr(_context(precision, direction), _as_mpfr(m, e))


def at_least(f: Function, m: int, e: int, bound: mpq) -> bool:
    """Whether f(m 2^e) >= bound, a dyadic rational: exactly.

    The precision is enough to represent the bound, and rounding down is monotone, so that the
    rounded value is >= bound exactly when f(x) is.
    """
    return bool(rounded(f, m, e, _width(bound), gmpy2.RoundDown) >= bound)


def above(f: Function, m: int, e: int, bound: mpq) -> bool:
    """Whether f(m 2^e) > bound, a dyadic rational: exactly (as at_least, rounding up)."""
    return bool(rounded(f, m, e, _width(bound), gmpy2.RoundUp) > bound)


def _width(bound: mpq) -> int:
    return max(int(bound.numerator.bit_length()), 2)


def by_mpfr(f: Function, m: int, e: int, precision: int) -> Interval:
    """An enclosure of f(m 2^e) of relative width 2^-precision; wider for an expression.

    MPFR rounds correctly, so that f(x) lies within half an ulp of the rounded value y,
    2^(E-precision-1) for 2^(E-1) <= |y| < 2^E (also when y = 2^(E-1): below it the error of a
    value that rounds up to y is at most a quarter of that ulp).

    Raises:
        OutOfReach: f(x) overflows or underflows MOST_EXPONENT.
        TooWide: the interval arithmetic of an expression gives no bounds.
    """
    if f.bracket is not None:
        return _bounds(*f.bracket(precision, _as_mpfr(m, e)))
    y = rounded(f, m, e, precision, gmpy2.RoundToNearest)
    if not gmpy2.is_finite(y) or y == 0:
        raise OutOfReach(vanishes=y == 0)
    if gmpy2.get_exp(y) <= 1 - MOST_EXPONENT:  # rounded up to the least number: no half ulp
        raise OutOfReach(vanishes=True)
    value, error = exact_value(y), scale(1, gmpy2.get_exp(y) - precision - 1)
    return value - error, value + error


def _bounds(low: gmpy2.mpfr, high: gmpy2.mpfr) -> Interval:
    """The ends of a bracket as rationals."""
    if gmpy2.is_nan(low) or gmpy2.is_nan(high):
        raise TooWide("no bounds with this precision")
    if not (gmpy2.is_finite(low) and gmpy2.is_finite(high)):
        least = low if low > 0 else high  # in magnitude, unless 0 lies between them
        if low * high > 0 and gmpy2.is_finite(least) and gmpy2.get_exp(least) > OVERFLOWS:
            raise OutOfReach(vanishes=False)
        raise TooWide("no bounds with this precision")
    return exact_value(low), exact_value(high)


def by_arb(f: Function, m: int, e: int, precision: int) -> Interval:
    """An enclosure of f(m 2^e) by ball arithmetic; the width is what the ball has.

    Raises:
        OutOfReach: the ball is not finite, or too far out to be written as a rational.
    """
    previous, flint_context.prec = flint_context.prec, precision
    try:
        ball = f.arb(arb((m, e)))
        if not ball.is_finite():
            raise OutOfReach(vanishes=False)
        return lower_bound(ball), upper_bound(ball)
    finally:
        flint_context.prec = previous


def lower_bound(ball: arb) -> mpq:
    """The lower end of a finite ball, rounded down."""
    return _dyadic(ball.lower())


def upper_bound(ball: arb) -> mpq:
    """The upper end of a finite ball, rounded up."""
    return _dyadic(ball.upper())


def _dyadic(point: arb) -> mpq:
    m, e = (int(part) for part in point.man_exp())
    if abs(e) > MOST_EXPONENT:
        raise OutOfReach(vanishes=e < 0)
    return scale(m, e)
