"""log, log2 and log10, and each of them of 1 + x."""

from __future__ import annotations

from flint import arb, arb_series
from gmpy2 import mpfr, mpq

from hrcase.functions.base import Function, only_at
from hrcase.functions.rounding import Bracket, Directed, correctly_rounded
from hrcase.functions.series import from_derivative

NOT_POSITIVE = "{} is not defined for x <= 0"
NOT_ABOVE_MINUS_1 = "{} is not defined for x <= -1"


def _log2_exact(x: mpq) -> mpq | None:
    exponent = int(x.numerator.bit_length() - x.denominator.bit_length())
    is_power = mpq(2) ** exponent == x
    return mpq(exponent) if is_power else None


def _log10_exact(x: mpq) -> mpq | None:
    if x < 1 or x.denominator != 1:
        return None
    exponent = len(str(x.numerator)) - 1
    return mpq(exponent) if x == mpq(10) ** exponent else None


def _log1p_series(x: arb_series) -> arb_series:
    return from_derivative((1 + x).inv(), x[0].log1p())


def _log_series(x: arb_series) -> arb_series:
    return from_derivative(x.inv(), x[0].log())


def _log2p1_bracket(at: Directed, x: mpfr) -> Bracket:
    return at.over((at.down.log1p(x), at.up.log1p(x)), at.log2)


def _log10p1_bracket(at: Directed, x: mpfr) -> Bracket:
    return at.over((at.down.log1p(x), at.up.log1p(x)), at.log10)


LOG = Function(
    name="log",
    formula="log x",
    mpfr=lambda context, x: context.log(x),
    arb=lambda x: x.log(),
    series=_log_series,
    lo=mpq(0),
    outside=NOT_POSITIVE.format("log"),
    exact=only_at(1, 0),
    exact_rule="log(x) is rational for rational x only at x = 1 (Lindemann)",
    monotone="log' = 1/x > 0",
    known_cases=(("0x1.62a88613629b6p+678", -65.151), ("0x1.fd15daa6ce332p+732", -62.027)),
)

LOG1P = Function(
    name="log1p",
    formula="log(1 + x)",
    mpfr=lambda context, x: context.log1p(x),
    arb=lambda x: x.log1p(),
    series=_log1p_series,
    lo=mpq(-1),
    outside=NOT_ABOVE_MINUS_1.format("log1p"),
    exact=only_at(0, 0),
    exact_rule="log(1 + x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="log1p' = 1/(1 + x) > 0",
    identity_below=mpq(1, 2),
    identity_reason="(log1p x - x)' = -x/(1 + x) has the sign of -x",
)

LOG2 = Function(
    name="log2",
    formula="log x / log 2",
    mpfr=lambda context, x: context.log2(x),
    arb=lambda x: x.log() / arb.const_log2(),
    series=lambda x: _log_series(x) / arb.const_log2(),
    lo=mpq(0),
    outside=NOT_POSITIVE.format("log2"),
    exact=_log2_exact,
    exact_rule=(
        "if log2(x) = a/b in lowest terms, then x = 2^(a/b), which is rational only for b = 1: "
        "the powers of two"
    ),
    monotone="log2' = 1/(x log 2) > 0",
    evaluators="MPFR's log2; Arb's log x / log 2",
)

LOG2P1 = Function(
    name="log2p1",
    formula="log(1 + x) / log 2",
    mpfr=correctly_rounded(_log2p1_bracket, lambda x: _log2_exact(1 + x)),
    arb=lambda x: x.log1p() / arb.const_log2(),
    series=lambda x: _log1p_series(x) / arb.const_log2(),
    lo=mpq(-1),
    outside=NOT_ABOVE_MINUS_1.format("log2p1"),
    exact=lambda x: _log2_exact(1 + x),
    exact_rule="log2(1 + x) is rational only where 1 + x is a power of two (as for log2)",
    monotone="log2p1' = 1/((1 + x) log 2) > 0",
    evaluators="MPFR's log1p(x)/log 2, bracketed by directed rounding; Arb's log1p(x)/log 2",
)

LOG10 = Function(
    name="log10",
    formula="log x / log 10",
    mpfr=lambda context, x: context.log10(x),
    arb=lambda x: x.log() / arb.const_log10(),
    series=lambda x: _log_series(x) / arb.const_log10(),
    lo=mpq(0),
    outside=NOT_POSITIVE.format("log10"),
    exact=_log10_exact,
    exact_rule=(
        "if log10(x) = a/b in lowest terms, then x = 10^(a/b), which is rational only for b = 1, "
        "and 10^-n is not dyadic: the powers of ten from 1 on"
    ),
    monotone="log10' = 1/(x log 10) > 0",
    evaluators="MPFR's log10; Arb's log x / log 10",
    known_cases=(("0x1.e12d66744ff81p+429", -69.767),),
)

LOG10P1 = Function(
    name="log10p1",
    formula="log(1 + x) / log 10",
    mpfr=correctly_rounded(_log10p1_bracket, lambda x: _log10_exact(1 + x)),
    arb=lambda x: x.log1p() / arb.const_log10(),
    series=lambda x: _log1p_series(x) / arb.const_log10(),
    lo=mpq(-1),
    outside=NOT_ABOVE_MINUS_1.format("log10p1"),
    exact=lambda x: _log10_exact(1 + x),
    exact_rule="log10(1 + x) is rational only where 1 + x = 10^n, n >= 0 (as for log10)",
    monotone="log10p1' = 1/((1 + x) log 10) > 0",
    evaluators="MPFR's log1p(x)/log 10, bracketed by directed rounding; Arb's log1p(x)/log 10",
)

LOGARITHMS = (LOG, LOG1P, LOG2, LOG2P1, LOG10, LOG10P1)
