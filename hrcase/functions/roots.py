"""sqrt, rsqrt and cbrt."""

from __future__ import annotations

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpq, mpz

from hrcase.functions.base import Function


def rational_root(x: mpq, n: int) -> mpq | None:
    """The n-th root of x >= 0 where it is rational."""
    numerator, numerator_exact = gmpy2.iroot(x.numerator, n)
    denominator, denominator_exact = gmpy2.iroot(mpz(x.denominator), n)
    if not (numerator_exact and denominator_exact):
        return None
    return mpq(numerator, denominator)


def _cbrt_exact(x: mpq) -> mpq | None:
    root = rational_root(abs(x), 3)
    return root if root is None or x >= 0 else -root


def _rsqrt_exact(x: mpq) -> mpq | None:
    root = rational_root(x, 2)
    return None if root is None or root == 0 else 1 / root


def _cbrt_arb(x: arb) -> arb:
    return -((-x).root(3)) if x < 0 else x.root(3)


def _cbrt_series(x: arb_series) -> arb_series:
    if x[0] < 0:
        return -_cbrt_series(-x)
    return (x.log() / 3).exp()


SQRT = Function(
    name="sqrt",
    formula="x^(1/2)",
    mpfr=lambda context, x: context.sqrt(x),
    arb=lambda x: x.sqrt(),
    series=lambda x: x.sqrt(),
    lo=mpq(0),
    closed=True,
    outside="sqrt is not defined for x < 0",
    exact=lambda x: rational_root(x, 2),
    exact_rule=(
        "a rational in lowest terms has a rational square root exactly when its numerator and "
        "its denominator are squares; the root of a dyadic number is then dyadic"
    ),
    exponent=(1, 2),
    monotone="sqrt' = x^(-1/2)/2 > 0",
)

RSQRT = Function(
    name="rsqrt",
    formula="x^(-1/2)",
    mpfr=lambda context, x: context.rec_sqrt(x),
    arb=lambda x: x.rsqrt(),
    series=lambda x: x.rsqrt(),
    lo=mpq(0),
    outside="rsqrt is not defined for x <= 0",
    exact=_rsqrt_exact,
    exact_rule=(
        "x^(-1/2) is dyadic only if x^(1/2) is rational, hence dyadic, and has a dyadic "
        "reciprocal: the powers of four"
    ),
    monotone="rsqrt' = -x^(-3/2)/2 < 0",
)

CBRT = Function(
    name="cbrt",
    formula="x^(1/3)",
    mpfr=lambda context, x: context.cbrt(x),
    arb=_cbrt_arb,
    series=_cbrt_series,
    exact=_cbrt_exact,
    exact_rule=(
        "a rational in lowest terms has a rational cube root exactly when its numerator and "
        "its denominator are cubes; the root of a dyadic number is then dyadic"
    ),
    exponent=(1, 3),
    monotone="cbrt' = x^(-2/3)/3 > 0 on each side of 0",
    symmetry="odd",
)

ROOTS = (SQRT, RSQRT, CBRT)
