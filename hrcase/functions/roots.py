"""cbrt."""

from __future__ import annotations

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpq, mpz

from hrcase.functions.base import Function


def _cbrt_exact(x: mpq) -> mpq | None:
    numerator, numerator_exact = gmpy2.iroot(abs(x.numerator), 3)
    denominator, denominator_exact = gmpy2.iroot(mpz(x.denominator), 3)
    if not (numerator_exact and denominator_exact):
        return None
    return mpq(numerator, denominator) * (1 if x >= 0 else -1)


def _positive_root(x: arb) -> arb:
    return x.root(3)


def _cbrt_arb(x: arb) -> arb:
    return -_positive_root(-x) if x < 0 else _positive_root(x)


def _cbrt_series(x: arb_series) -> arb_series:
    if x[0] < 0:
        return -_cbrt_series(-x)
    return (x.log() / 3).exp()


CBRT = Function(
    name="cbrt",
    mpfr=lambda context, x: context.cbrt(x),
    arb=_cbrt_arb,
    series=_cbrt_series,
    exact=_cbrt_exact,
    exact_rule=(
        "a rational in lowest terms has a rational cube root exactly when its numerator and "
        "its denominator are cubes; the root of a dyadic number is then dyadic"
    ),
    monotone="cbrt' = x^(-2/3)/3 > 0 on each side of 0",
)
