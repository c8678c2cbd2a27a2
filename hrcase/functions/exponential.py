"""exp and exp2."""

from __future__ import annotations

from flint import arb, arb_series
from gmpy2 import mpq

from hrcase.formats import scale
from hrcase.functions.base import Function

MAX_EXACT_EXPONENT = 1 << 20
"""exp2 of integers beyond this is not written out: it is beyond every format."""


def _exp_exact(x: mpq) -> mpq | None:
    return mpq(1) if x == 0 else None


def _exp2_exact(x: mpq) -> mpq | None:
    if x.denominator != 1 or abs(x) > MAX_EXACT_EXPONENT:
        return None
    return scale(1, int(x))


def _exp2_series(x: arb_series) -> arb_series:
    return (x * arb.const_log2()).exp()


EXP = Function(
    name="exp",
    mpfr=lambda context, x: context.exp(x),
    arb=lambda x: x.exp(),
    series=lambda x: x.exp(),
    exact=_exp_exact,
    exact_rule="exp(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="exp' = exp > 0",
    known_cases=(
        ("-0x1.ed318efb627eap-27", -60.142),
        ("0x1.83d4bcdebb3f4p+2", -58.879),
        ("-0x1.12d31a20fb38bp+5", -59.254),
    ),
)

EXP2 = Function(
    name="exp2",
    mpfr=lambda context, x: context.exp2(x),
    arb=lambda x: (x * arb.const_log2()).exp(),
    series=_exp2_series,
    exact=_exp2_exact,
    exact_rule=(
        "2^(a/b) with a, b coprime and b > 1 is irrational (its b-th power is 2^a), so a dyadic "
        "x gives a rational 2^x only when it is an integer"
    ),
    monotone="exp2' = log(2) exp2 > 0",
    known_cases=(("0x1.e4596526bf94dp-10", -60.538), ("0x1.bfbbde44edfc5p-25", -60.433)),
)
