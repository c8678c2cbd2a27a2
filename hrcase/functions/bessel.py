"""The Bessel functions j0, j1, y0 and y1 (POSIX names; C23 leaves them to POSIX)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from math import ceil, factorial, floor

from flint import arb, arb_series
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase.functions.base import NONE_KNOWN, Function, RealPoint, never, only_at
from hrcase.functions.bisection import sign_at, zero_between
from hrcase.functions.series import tightened

BOUND = 2**11
"""Largest |x|: as for sin, beyond it every half wave holds few arguments."""

LOST_BITS = 16
"""Fewer than so many bits are no reason to evaluate again."""

LEAST_SIZE = arb((1, -6))
"""Of the waves of y0 and y1 up to BOUND, about: next to a zero the error is compared with it."""

Evaluator = Callable[[arb], arb]
Pair = Callable[[arb], tuple[arb, arb]]
"""C0 and C1 at a number or a ball, C = J or Y."""


def _j(order: int, x: arb) -> arb:
    return x.bessel_j(arb(order))


def _j0_and_j1(x: arb) -> tuple[arb, arb]:
    return _j(0, x), _j(1, x)


def _y(order: int, x: arb) -> arb:
    """At a number. Arb loses up to some 1.5 x bits, until an asymptotic series takes over."""
    wanted = flint_context.prec
    try:
        while True:
            y = x.bessel_y(arb(order))
            is_sharp = y.rad() < (abs(y) + LEAST_SIZE) * arb((1, LOST_BITS - wanted))
            if is_sharp or flint_context.prec > 8 * wanted:
                return y
            flint_context.prec *= 2
    finally:
        flint_context.prec = wanted


def y0_and_y1(x: arb) -> tuple[arb, arb]:
    """Enclosures of both: at a ball by the mean value theorem.

    J^2 + Y^2 =: M^2 falls for x > 0 (Nicholson), so that |Y0'| = |Y1| <= M1 and
    |Y1'| = |Y0 - Y1/x| <= M0 + M1/x on the ball, both taken at its lower end.
    """
    low, radius = x.lower(), x.rad()
    if radius == 0 or not low > 0:
        return _y(0, x), _y(1, x)
    centre = x.mid()
    m0, m1 = ((_j(order, low) ** 2 + _y(order, low) ** 2).sqrt() for order in (0, 1))
    errors = ((radius * slope).upper() for slope in (m1, m0 + m1 / low))
    return _y(0, centre) + arb(0, next(errors)), _y(1, centre) + arb(0, next(errors))


def _slopes(c0: arb, c1: arb, x: arb) -> tuple[arb, arb]:
    """C0' = -C1 and C1' = C0 - C1/x."""
    return -c1, c0 - c1 / x


def _by_recurrence(pair: Pair, order: int, x: arb_series) -> arb_series:
    """The solution C of x^2 C'' + x C' + (x^2 - order^2) C = 0, coefficient by coefficient.

    With C(x + t) = sum of c_k t^k, the coefficient of t^k in the equation is x^2 (k+1)(k+2) c_(k+2)
    + x (k+1)(2k+1) c_(k+1) + (x^2 + k^2 - order^2) c_k + 2x c_(k-1) + c_(k-2).
    """
    at = x[0]
    both = pair(at)
    c = [both[order], _slopes(*both, at)[order]]
    for k in range(x.prec - 2):
        rest = at * ((k + 1) * (2 * k + 1)) * c[k + 1] + (at * at + (k * k - order * order)) * c[k]
        rest += 2 * at * c[k - 1] if k >= 1 else 0
        rest += c[k - 2] if k >= 2 else 0
        c.append(-rest / (at * at * ((k + 1) * (k + 2))))
    return arb_series(c[: x.prec], prec=x.prec)


def _y_over(order: int, x: arb) -> arb:
    return _y(order, x) if x.rad() == 0 else y0_and_y1(x)[order]


def _j_at_0(order: int, terms: int) -> arb_series:
    """The sum of (-1)^i / (i! (i + order)!) (t/2)^(2i + order)."""
    coefficients = [arb(0)] * terms
    for i, k in enumerate(range(order, terms, 2)):
        coefficients[k] = arb((-1) ** i) / (factorial(i) * factorial(i + order) << k)
    return arb_series(coefficients, prec=terms)


def _j_series(order: int, x: arb_series) -> arb_series:
    """By the recurrence at the centre c of the ball, of radius r, and the mean value theorem.

    J is an integral of cos(order a - x sin a), so all its derivatives are at most 1 in magnitude:
    on the ball c_k is within r (k + 1)/(k + 1)! = r/k! of its value at c, and |c_k| <= 1/k!.
    """
    centre, radius = x[0].mid(), x[0].rad()
    at_centre = (
        _by_recurrence(_j0_and_j1, order, arb_series([centre, 1], prec=x.prec))
        if centre != 0
        else _j_at_0(order, x.prec)
    )
    coefficients = []
    for k in range(x.prec):
        most = 1 / arb(factorial(k))
        c = at_centre[k] + arb(0, radius * most)
        is_narrow = c.is_finite() and c.rad() < most
        coefficients.append(c if is_narrow else arb(0, most))
    return arb_series(coefficients, prec=x.prec)


def _y_series(order: int, x: arb_series) -> arb_series:
    return tightened(partial(_by_recurrence, y0_and_y1, order), x)


@lru_cache(maxsize=8)
def _cells(slope: Evaluator) -> list[int]:
    """The k >= 1 with a critical point in (k, k + 1): there the slope changes its sign.

    docs/functions.md, section 3: none lies below 1, and two are more than 2 apart.
    """
    signs = [sign_at(slope, k) for k in range(1, BOUND + 2)]
    return [k for k in range(1, BOUND + 1) if signs[k - 1] != signs[k]]


def _turns(slope: Evaluator) -> Callable[[mpq, mpq], Iterator[RealPoint]]:
    """The zeros of an odd or even function's slope, from its sign at the integers."""

    def at(k: int) -> arb:
        rises = sign_at(slope, k) < 0
        return zero_between(slope, k, rises, flint_context.prec)

    def mirrored(k: int) -> arb:
        return -at(k)

    def between(lo: mpq, hi: mpq) -> Iterator[RealPoint]:
        cells = _cells(slope)
        for k in reversed(cells):
            if floor(lo) <= -k and -k - 1 <= ceil(hi):
                yield partial(mirrored, k)
        for k in cells:
            if floor(lo) <= k + 1 and k <= ceil(hi):
                yield partial(at, k)

    return between


BEYOND = "{} is searched for |x| < 2^11 only"
NOT_POSITIVE = "{} is not defined for x <= 0"
UPPER = "{} is not defined for x <= 0, and searched for x < 2^11 only"
SIEGEL = "at algebraic x != 0 the values of J0 and J1 are transcendental (Siegel)"
OF_TURNS = "{0}' has no zero in 0 < x <= 1; beyond, its zeros are more than 2 apart"
OF_ZEROS = (
    "{0}0' = -{0}1, which has no zero in 0 < x <= 1; neighbouring zeros are more than 2 apart"
)


def _slope_of_j0(x: arb) -> arb:
    return -_j(1, x)


def _slope_of_j1(x: arb) -> arb:
    return _j(0, x) - _j(1, x) / x


def _slope_of_y0(x: arb) -> arb:
    return -_y(1, x)


def _slope_of_y1(x: arb) -> arb:
    return _y(0, x) - _y(1, x) / x


J0 = Function(
    name="j0",
    formula="J0(x)",
    mpfr=lambda context, x: context.j0(x),
    arb=partial(_j, 0),
    series=partial(_j_series, 0),
    lo=mpq(-BOUND),
    hi=mpq(BOUND),
    outside=BEYOND.format("j0"),
    outside_is_error=True,
    critical_points=_turns(_slope_of_j0),
    exact=only_at(0, 1),
    exact_rule=f"j0(0) = 1; {SIEGEL}",
    monotone=OF_ZEROS.format("J"),
    symmetry="even",
    evaluators="MPFR's j0; Arb's bessel_j",
)

J1 = Function(
    name="j1",
    formula="J1(x)",
    mpfr=lambda context, x: context.j1(x),
    arb=partial(_j, 1),
    series=partial(_j_series, 1),
    lo=mpq(-BOUND),
    hi=mpq(BOUND),
    outside=BEYOND.format("j1"),
    outside_is_error=True,
    critical_points=_turns(_slope_of_j1),
    exact=only_at(0, 0),
    exact_rule=f"j1(0) = 0; {SIEGEL}",
    monotone=OF_TURNS.format("J1"),
    symmetry="odd",
    identity_below=mpq(1),
    identity_reason="(j1 x - x/2)' = -3 x^2/16 + 5 x^4/384 - ... < 0 for 0 < |x| < 1",
    slope_log2=-1,
    evaluators="MPFR's j1; Arb's bessel_j",
)

Y0 = Function(
    name="y0",
    formula="Y0(x)",
    mpfr=lambda context, x: context.y0(x),
    arb=partial(_y_over, 0),
    series=partial(_y_series, 0),
    lo=mpq(0),
    hi=mpq(BOUND),
    outside=UPPER.format("y0"),
    outside_is_error=True,
    critical_points=_turns(_slope_of_y0),
    exact=never,
    exact_rule=NONE_KNOWN,
    monotone=OF_ZEROS.format("Y"),
    evaluators="MPFR's y0; Arb's bessel_y",
)

Y1 = Function(
    name="y1",
    formula="Y1(x)",
    mpfr=lambda context, x: context.y1(x),
    arb=partial(_y_over, 1),
    series=partial(_y_series, 1),
    lo=mpq(0),
    hi=mpq(BOUND),
    outside=UPPER.format("y1"),
    outside_is_error=True,
    critical_points=_turns(_slope_of_y1),
    exact=never,
    exact_rule=NONE_KNOWN,
    monotone=OF_TURNS.format("Y1"),
    evaluators="MPFR's y1; Arb's bessel_y",
)

BESSEL = (J0, J1, Y0, Y1)
