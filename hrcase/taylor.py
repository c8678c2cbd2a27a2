"""Taylor polynomials of F on a stretch of arguments, with a remainder proved by ball arithmetic.

An argument is X = (centre + u) 2^e, u an integer with |u| <= h. With
c_j = f^(j)(X_c)/j! 2^(e j) / spacing (and the offset of the breakpoints taken from c_0), Taylor's
theorem with Lagrange's remainder gives, for some xi of the stretch,

    |F(X) - sum_{j <= d} c_j u^j| <= |f^(d+1)(xi)/(d+1)!| 2^(e (d+1)) / spacing  h^(d+1).

The power series of f at a *ball* that holds the stretch encloses f^(d+1)(xi)/(d+1)! for every xi
in it, so the bound is proved, whatever f is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from flint import arb, arb_series
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase.enclosure import MOST_EXPONENT, Interval, OutOfReach, lower_bound, upper_bound
from hrcase.errors import SelfTestFailed
from hrcase.formats import scale
from hrcase.functions.base import Function
from hrcase.lattice import Lattice

UNBOUNDED = scale(1, 1 << 20)
"""Stands for a derivative without a bound: no polynomial has a use with such a remainder."""

NEGLIGIBLE = scale(1, -MOST_EXPONENT // 2)
"""Beyond every end of a ball that is too near to 0 to be written out: erf' at 1000."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Arguments (centre + u) 2^exponent, lo <= u < hi, of one input and one output binade."""

    centre: int
    exponent: int
    lo: int
    hi: int

    @property
    def half_length(self) -> int:
        """h: |u| <= h on the stretch."""
        return max(abs(self.lo), abs(self.hi))


@dataclass(frozen=True, slots=True)
class TaylorModel:
    """A polynomial in u that is close to F on a stretch.

    Attributes:
        coefficients: enclosures of c_0 .. c_d, in units of the breakpoints' spacing.
        remainder: proved bound of |F - polynomial| on the stretch, same unit.
    """

    coefficients: tuple[Interval, ...]
    remainder: mpq


def taylor_model(
    f: Function, axis: Lattice, stretch: Stretch, degree: int, precision: int
) -> TaylorModel:
    """The Taylor polynomial of F around the centre of a stretch.

    Args:
        precision: bits of the ball arithmetic; the coefficients come out about as precise
            as that, relative to c_0.

    Raises:
        SelfTestFailed: the series of f is not finite at the centre.
    """
    with flint_precision(precision):
        at_centre = _series(f, arb((stretch.centre, stretch.exponent)), degree)
        centre = [_scaled(c, axis, stretch, j) for j, c in enumerate(at_centre)]
    centre[0] = (centre[0][0] - axis.offset, centre[0][1] - axis.offset)
    remainder = derivative_bound(f, axis, stretch, degree + 1) * stretch.half_length ** (degree + 1)
    return TaylorModel(tuple(centre), remainder)


def derivative_bound(f: Function, axis: Lattice, stretch: Stretch, order: int) -> mpq:
    """Upper bound of |f^(order)/order!| 2^(e order)/spacing on a stretch.

    UNBOUNDED where the ball that holds the stretch reaches a singularity.
    """
    return derivative_bounds(f, axis, stretch, [order])[0]


def derivative_bounds(
    f: Function, axis: Lattice, stretch: Stretch, orders: Sequence[int]
) -> list[mpq]:
    """derivative_bound of several orders."""
    with flint_precision(128):
        ball = arb((stretch.centre, stretch.exponent)) + arb(
            0, arb((stretch.half_length, stretch.exponent))
        )
        coefficients = coefficients_at(f, ball, max(orders))
        return [_magnitude(coefficients[order], axis, stretch, order) for order in orders]


def _magnitude(coefficient: arb, axis: Lattice, stretch: Stretch, order: int) -> mpq:
    if not coefficient.is_finite():
        return UNBOUNDED
    try:
        low, high = _scaled(coefficient, axis, stretch, order)
    except OutOfReach:
        return UNBOUNDED
    return max(abs(low), abs(high))


def derivative_sign(f: Function, m: int, e: int) -> int:
    """The sign of f' at m 2^e, 0 where ball arithmetic does not tell."""
    # exp of a large x loses as many bits as x has before the point; erf squares it
    with flint_precision(512 + 2 * max(0, m.bit_length() + e)):
        slope = coefficients_at(f, arb((m, e)), 1)[1]
        return int(slope > 0) - int(slope < 0)


def _series(f: Function, x: arb, degree: int) -> list[arb]:
    coefficients = coefficients_at(f, x, degree)
    if not all(c.is_finite() for c in coefficients):
        raise SelfTestFailed(f"the series of {f.name} is not finite near {x}; please report it")
    return coefficients


def coefficients_at(f: Function, x: arb, degree: int) -> list[arb]:
    """f^(j)(x)/j! for j = 0 .. degree, at flint's precision; not finite at a singularity."""
    # flint cuts every series at its cap, 10 by default, and calls what lies beyond 0.
    previous, flint_context.cap = flint_context.cap, degree + 2
    try:
        series = f.series(arb_series([x, 1], prec=degree + 1))
    finally:
        flint_context.cap = previous
    return [series[j] for j in range(degree + 1)]


def _scaled(c: arb, axis: Lattice, stretch: Stretch, order: int) -> Interval:
    shift = stretch.exponent * order - axis.spacing_exponent
    low, high = _end(c, lower_bound, -NEGLIGIBLE), _end(c, upper_bound, NEGLIGIBLE)
    return scale(low, shift), scale(high, shift)


def _end(c: arb, bound: Callable[[arb], mpq], outwards: mpq) -> mpq:
    """An end of a ball; another number outwards of it where it is too near to 0."""
    try:
        return bound(c)
    except OutOfReach as error:
        if not error.vanishes:
            raise
        return outwards


@contextmanager
def flint_precision(bits: int) -> Iterator[None]:
    """flint's working precision, restored afterwards (it is global to the process)."""
    previous, flint_context.prec = flint_context.prec, bits
    try:
        yield
    finally:
        flint_context.prec = previous
