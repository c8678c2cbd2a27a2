"""erf and erfc, tgamma, lgamma and digamma."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import ceil, floor

import gmpy2
from flint import arb, arb_series
from flint import ctx as flint_context
from gmpy2 import mpfr, mpq

from hrcase.formats import Format, floor_log2
from hrcase.functions.base import NONE_KNOWN, Function, RealPoint, Tail, never, only_at
from hrcase.functions.bisection import zero_between
from hrcase.functions.series import from_derivative, tightened

MOST_EXACT_FACTORIAL = 1 << 12
"""Beyond, factorials are beyond every format with a use, and are not written out."""

ARGUMENT_BOUND = mpq(2**11)
"""lgamma and digamma are searched for x > -2^11: below, few arguments lie between two poles."""

BEYOND = "{} is searched for x > -2^11 only"

UNPROVED = (
    "; no other dyadic x with a dyadic value is known, none is proved not to exist, and a search "
    "that met one would stop with an error"
)


def _gauss(x: arb_series) -> arb_series:
    """2 pi^(-1/2) e^(-x^2), the derivative of erf."""
    return (-(x * x)).exp() * (2 / arb.pi().sqrt())


def _erf_series(x: arb_series) -> arb_series:
    return from_derivative(_gauss(x), x[0].erf())


def _erfc_series(x: arb_series) -> arb_series:
    return from_derivative(-_gauss(x), x[0].erfc())


def _tgamma_exact(x: mpq) -> mpq | None:
    if x.denominator != 1 or not 1 <= x <= MOST_EXACT_FACTORIAL:
        return None
    return mpq(gmpy2.fac(int(x) - 1))


def _tgamma_series(x: arb_series) -> arb_series:
    return tightened(lambda series: series.gamma(), x)


def _lgamma_mpfr(context: gmpy2.context, x: mpfr) -> mpfr:
    return context.lgamma(x)[0]


def _lgamma_arb(x: arb) -> arb:
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _lgamma_series(x: arb_series) -> arb_series:
    if x[0] > 0:
        return tightened(lambda series: series.lgamma(), x)
    return tightened(_reflected, x)


def _reflected(x: arb_series) -> arb_series:
    """log |Gamma(x)| = log pi - log |sin(pi x)| - log Gamma(1 - x)."""
    sine = x.sin_pi()
    if sine[0] < 0:
        sine = -sine
    return arb.pi().log() - sine.log() - (1 - x).lgamma()


def _digamma_series(x: arb_series) -> arb_series:
    return tightened(_slope_of_lgamma, x, _digamma_term)


def _slope_of_lgamma(x: arb_series) -> arb_series:
    """digamma(x + t), which needs one term more of log |Gamma(x + t)|."""
    longer = arb_series([x[0], 1], prec=x.prec + 1)
    return (longer.lgamma() if x[0] > 0 else _reflected(longer)).derivative()


def _digamma_term(x: arb, k: int) -> arb:
    """digamma^(k)/k! = (-1)^(k+1) sum over n >= 0 of (x + n)^-(k+1), k >= 1, which falls for x > 0.

    For x < 0 by digamma(x) = digamma(1 - x) - pi cot(pi x).
    """
    if x < 0:
        mirrored, cotangent = _digamma_term(1 - x, k), arb_series([x, 1], prec=k + 1).cot_pi()[k]
        return (-mirrored if k % 2 else mirrored) - arb.pi() * cotangent
    most, least = (arb(k + 1).zeta(end) for end in (x.lower(), x.upper()))
    term: arb = most.union(least)
    return term if k % 2 else -term


def _integers_to_0(lo: mpq, hi: mpq) -> Iterator[mpq]:
    for n in range(ceil(lo), min(0, floor(hi)) + 1):
        yield mpq(n)


def _zeros_of_digamma(lo: mpq, hi: mpq) -> Iterator[RealPoint]:
    """One between neighbouring poles each, and one in (1, 2)."""
    for n in range(floor(lo), min(-1, floor(hi)) + 1):
        yield partial(_zero_of_digamma, n)
    if hi > 1:
        yield partial(_zero_of_digamma, 1)


def _zero_of_digamma(n: int) -> arb:
    """The zero in (n, n + 1), where digamma grows: from -inf, or from -0.58 at 1."""
    return zero_between(arb.digamma, n, True, flint_context.prec)


def _vanishing_gamma(inp: Format, out: Format, bits: int, rounding: str) -> list[Tail]:
    """x <= -n, where |tgamma(x)| is below 2^-M ulp of the least output binade.

    For x = -k - d, 0 < d < 1, k >= n >= 1: tgamma(x) is tgamma(1 - d) over k + 1 factors that
    are at least d, 1, ..., k, and tgamma(1 - d) = tgamma(2 - d)/(1 - d) <= 1/(1 - d). Now
    d (1 - d) >= min(d, 1 - d)/2, which is at least half the distance 2^(1-p) of neighbouring
    numbers from 1 on: |tgamma(x)| <= 2^p/n!.
    """
    wanted = bits + out.precision - 1 - out.emin + inp.precision
    n, factorial = 1, mpq(1)
    while floor_log2(factorial) <= wanted:
        n += 1
        factorial *= n
    least = f"0 < |tgamma(x)| < 2^-{wanted - inp.precision}"
    if rounding == "nearest":
        reason = f"{least}: far below the least midpoint; integers are poles"
        return [Tail(float("-inf"), mpq(-n), "a", reason)]
    reason = f"{least}: exactly the x that are no integers, near 0; integers are poles"
    return [Tail(float("-inf"), mpq(-n), "c", reason, "poles")]


ERF = Function(
    name="erf",
    formula="erf x",
    mpfr=lambda context, x: context.erf(x),
    arb=lambda x: x.erf(),
    series=_erf_series,
    exact=only_at(0, 0),
    exact_rule="erf(0) = 0" + UNPROVED,
    monotone="erf' = 2 pi^(-1/2) e^(-x^2) > 0",
    symmetry="odd",
)

ERFC = Function(
    name="erfc",
    formula="1 - erf x",
    mpfr=lambda context, x: context.erfc(x),
    arb=lambda x: x.erfc(),
    series=_erfc_series,
    exact=only_at(0, 1),
    exact_rule="erfc(0) = 1" + UNPROVED,
    monotone="erfc' = -2 pi^(-1/2) e^(-x^2) < 0",
)

TGAMMA = Function(
    name="tgamma",
    formula="Gamma(x)",
    mpfr=lambda context, x: context.gamma(x),
    arb=lambda x: x.gamma(),
    series=_tgamma_series,
    poles=_integers_to_0,
    poles_in_words="0 and the negative integers",
    critical_points=_zeros_of_digamma,
    exact=_tgamma_exact,
    exact_rule="tgamma(n) = (n - 1)! for integers n >= 1" + UNPROVED,
    monotone=(
        "tgamma' = tgamma digamma; digamma' > 0, so that it has one zero between neighbouring "
        "poles and one above 0, in (1, 2)"
    ),
    tails=_vanishing_gamma,
    tails_in_words="x <= -n, 2^p/n! being below 2^-M of the least ulp: near 0; integers are poles",
)

LGAMMA = Function(
    name="lgamma",
    formula="log |Gamma(x)|",
    mpfr=_lgamma_mpfr,
    arb=_lgamma_arb,
    series=_lgamma_series,
    lo=-ARGUMENT_BOUND,
    outside=BEYOND.format("lgamma"),
    outside_is_error=True,
    poles=_integers_to_0,
    poles_in_words="0 and the negative integers",
    critical_points=_zeros_of_digamma,
    exact=lambda x: mpq(0) if x in (1, 2) else None,
    exact_rule="lgamma(1) = lgamma(2) = 0" + UNPROVED,
    monotone=(
        "lgamma' = digamma; digamma' > 0, so that it has one zero between neighbouring poles "
        "and one above 0, in (1, 2)"
    ),
    evaluators="MPFR's lgamma; Arb's lgamma, and log |gamma(x)| for x < 0",
)

DIGAMMA = Function(
    name="digamma",
    formula="(log Gamma)'(x)",
    mpfr=lambda context, x: context.digamma(x),
    arb=lambda x: x.digamma(),
    series=_digamma_series,
    lo=-ARGUMENT_BOUND,
    outside=BEYOND.format("digamma"),
    outside_is_error=True,
    poles=_integers_to_0,
    poles_in_words="0 and the negative integers",
    exact=never,
    exact_rule=NONE_KNOWN,
    monotone="digamma' = sum over k >= 0 of (x + k)^-2 > 0 between neighbouring poles",
    evaluators="MPFR's digamma; Arb's digamma",
)

SPECIAL = (ERF, ERFC, TGAMMA, LGAMMA, DIGAMMA)
