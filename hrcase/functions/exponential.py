"""exp, exp2 and exp10, and each of them minus 1."""

from __future__ import annotations

from flint import arb, arb_series
from gmpy2 import mpfr, mpq

from hrcase.formats import scale
from hrcase.functions.base import Function, only_at
from hrcase.functions.rounding import Bracket, Directed, correctly_rounded
from hrcase.functions.series import with_constant

MOST_EXACT_POWER = 1 << 20
"""Exact powers of two beyond 2^+-this, and powers of ten beyond a quarter of it, are not written
out: they are beyond every format."""


def _exp2_exact(x: mpq) -> mpq | None:
    if x.denominator != 1 or abs(x) > MOST_EXACT_POWER:
        return None
    return scale(1, int(x))


def _exp10_exact(x: mpq) -> mpq | None:
    if x.denominator != 1 or not 0 <= x <= MOST_EXACT_POWER // 4:
        return None
    return mpq(10) ** int(x)


def _exp2m1_exact(x: mpq) -> mpq | None:
    power = _exp2_exact(x)
    return None if power is None else power - 1


def _exp10m1_exact(x: mpq) -> mpq | None:
    power = _exp10_exact(x)
    return None if power is None else power - 1


def _expm1_series(x: arb_series) -> arb_series:
    return with_constant(x.exp(), x[0].expm1())


def _exp2m1_bracket(at: Directed, x: mpfr) -> Bracket:
    low, high = at.times(x, at.log2)
    return at.down.expm1(low), at.up.expm1(high)


def _exp10m1_bracket(at: Directed, x: mpfr) -> Bracket:
    low, high = at.times(x, at.log10)
    return at.down.expm1(low), at.up.expm1(high)


EXP = Function(
    name="exp",
    formula="e^x",
    mpfr=lambda context, x: context.exp(x),
    arb=lambda x: x.exp(),
    series=lambda x: x.exp(),
    exact=only_at(0, 1),
    exact_rule="exp(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="exp' = exp > 0",
    known_cases=(
        ("-0x1.ed318efb627eap-27", -60.142),
        ("0x1.83d4bcdebb3f4p+2", -58.879),
        ("-0x1.12d31a20fb38bp+5", -59.254),
    ),
)

EXPM1 = Function(
    name="expm1",
    formula="e^x - 1",
    mpfr=lambda context, x: context.expm1(x),
    arb=lambda x: x.expm1(),
    series=_expm1_series,
    exact=only_at(0, 0),
    exact_rule="e^x is rational for rational x only at x = 0 (Lindemann)",
    monotone="expm1' = exp > 0",
    identity_below=mpq(1, 2),
    identity_reason="(expm1 x - x)' = e^x - 1 has the sign of x",
    known_cases=(("0x1.274bbf1efb1a2p-10", -59.857),),
)

EXP2 = Function(
    name="exp2",
    formula="2^x",
    mpfr=lambda context, x: context.exp2(x),
    arb=lambda x: (x * arb.const_log2()).exp(),
    series=lambda x: (x * arb.const_log2()).exp(),
    exact=_exp2_exact,
    exact_rule=(
        "2^(a/b) with a, b coprime and b > 1 is irrational (its b-th power is 2^a), so a dyadic "
        "x gives a rational 2^x only when it is an integer"
    ),
    monotone="exp2' = log(2) exp2 > 0",
    copies_from=mpq(2),
    copies="2^(x + n) = 2^n 2^x for integers n",
    evaluators="MPFR's exp2; Arb's exp(x log 2)",
    known_cases=(("0x1.e4596526bf94dp-10", -60.538), ("0x1.bfbbde44edfc5p-25", -60.433)),
)

EXP2M1 = Function(
    name="exp2m1",
    formula="2^x - 1",
    mpfr=correctly_rounded(_exp2m1_bracket, _exp2m1_exact),
    arb=lambda x: (x * arb.const_log2()).expm1(),
    series=lambda x: _expm1_series(x * arb.const_log2()),
    exact=_exp2m1_exact,
    exact_rule="2^x is rational for dyadic x only when x is an integer (as for exp2)",
    monotone="exp2m1' = log(2) exp2 > 0",
    evaluators="MPFR's expm1(x log 2), bracketed by directed rounding; Arb's expm1(x log 2)",
)

EXP10 = Function(
    name="exp10",
    formula="10^x",
    mpfr=lambda context, x: context.exp10(x),
    arb=lambda x: (x * arb.const_log10()).exp(),
    series=lambda x: (x * arb.const_log10()).exp(),
    exact=_exp10_exact,
    exact_rule=(
        "10^(a/b) with a, b coprime and b > 1 is irrational (its b-th power is 10^a), and "
        "10^-n is not dyadic: so 10^x is dyadic for the integers x >= 0 only"
    ),
    monotone="exp10' = log(10) exp10 > 0",
    evaluators="MPFR's exp10; Arb's exp(x log 10)",
    known_cases=(("-0x1.1416c72a588a6p-1", -66.236), ("0x1.a83b1cf77989p-26", -61.566)),
)

EXP10M1 = Function(
    name="exp10m1",
    formula="10^x - 1",
    mpfr=correctly_rounded(_exp10m1_bracket, _exp10m1_exact),
    arb=lambda x: (x * arb.const_log10()).expm1(),
    series=lambda x: _expm1_series(x * arb.const_log10()),
    exact=_exp10m1_exact,
    exact_rule="10^x is dyadic for the integers x >= 0 only (as for exp10)",
    monotone="exp10m1' = log(10) exp10 > 0",
    evaluators="MPFR's expm1(x log 10), bracketed by directed rounding; Arb's expm1(x log 10)",
)

EXPONENTIALS = (EXP, EXPM1, EXP2, EXP2M1, EXP10, EXP10M1)
