"""sinh, cosh and tanh, and their inverses."""

from __future__ import annotations

from flint import arb_series
from gmpy2 import mpq

from hrcase.functions.base import Function, only_at
from hrcase.functions.series import from_derivative, parameter, with_constant
from hrcase.functions.trigonometric import OUTSIDE_OF_1


def _of_parameter(x: arb_series) -> tuple[arb_series, arb_series]:
    """sinh t and cosh t."""
    t = parameter(x)
    grows, falls = t.exp(), (-t).exp()
    return (grows - falls) / 2, (grows + falls) / 2


def _sinh_series(x: arb_series) -> arb_series:
    """sinh(x + t) = sinh x cosh t + cosh x sinh t: no differences."""
    sinh, cosh = _of_parameter(x)
    return x[0].sinh() * cosh + x[0].cosh() * sinh


def _cosh_series(x: arb_series) -> arb_series:
    sinh, cosh = _of_parameter(x)
    return x[0].cosh() * cosh + x[0].sinh() * sinh


def _tanh_series(x: arb_series) -> arb_series:
    """tanh x = 1 - 2/(e^(2 x) + 1), whose derivatives lose no digits where it is flat."""
    return with_constant(-2 * ((2 * x).exp() + 1).inv(), x[0].tanh())


def _asinh_series(x: arb_series) -> arb_series:
    return from_derivative((1 + x * x).rsqrt(), x[0].asinh())


def _acosh_series(x: arb_series) -> arb_series:
    return from_derivative(((x - 1) * (x + 1)).rsqrt(), x[0].acosh())


def _atanh_series(x: arb_series) -> arb_series:
    return from_derivative(((1 - x) * (1 + x)).inv(), x[0].atanh())


SINH = Function(
    name="sinh",
    formula="sinh x",
    mpfr=lambda context, x: context.sinh(x),
    arb=lambda x: x.sinh(),
    series=_sinh_series,
    exact=only_at(0, 0),
    exact_rule="sinh(x) = r would make e^x algebraic, which it is only at x = 0 (Lindemann)",
    monotone="sinh' = cosh > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(sinh x - x)' = cosh x - 1 > 0 for x != 0",
    known_cases=(("0x1.897374d74de2ap-13", -57.470),),
)

COSH = Function(
    name="cosh",
    formula="cosh x",
    mpfr=lambda context, x: context.cosh(x),
    arb=lambda x: x.cosh(),
    series=_cosh_series,
    exact=only_at(0, 1),
    exact_rule="cosh(x) = r would make e^x algebraic, which it is only at x = 0 (Lindemann)",
    monotone="cosh' = sinh has no zero but 0",
    symmetry="even",
    known_cases=(("0x1.ea5f2f2e4b0c5p+1", -58.126),),
)

TANH = Function(
    name="tanh",
    formula="tanh x",
    mpfr=lambda context, x: context.tanh(x),
    arb=lambda x: x.tanh(),
    series=_tanh_series,
    exact=only_at(0, 0),
    exact_rule="tanh(x) = r would make e^(2 x) rational, which it is only at x = 0 (Lindemann)",
    monotone="tanh' = 1/cosh^2 > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(tanh x - x)' = -tanh(x)^2 < 0 for x != 0",
    known_cases=(("0x1.ac343b179fec4p-3", -60.438),),
)

ASINH = Function(
    name="asinh",
    formula="asinh x",
    mpfr=lambda context, x: context.asinh(x),
    arb=lambda x: x.asinh(),
    series=_asinh_series,
    exact=only_at(0, 0),
    exact_rule="asinh(x) = r != 0, rational, would make x = sinh(r) transcendental (Lindemann)",
    monotone="asinh' = (1 + x^2)^(-1/2) > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(asinh x - x)' = (1 + x^2)^(-1/2) - 1 < 0 for x != 0",
)

ACOSH = Function(
    name="acosh",
    formula="acosh x",
    mpfr=lambda context, x: context.acosh(x),
    arb=lambda x: x.acosh(),
    series=_acosh_series,
    lo=mpq(1),
    closed=True,
    outside="acosh is not defined for x < 1",
    exact=only_at(1, 0),
    exact_rule="acosh(x) = r != 0, rational, would make x = cosh(r) transcendental (Lindemann)",
    monotone="acosh' = (x^2 - 1)^(-1/2) > 0",
)

ATANH = Function(
    name="atanh",
    formula="atanh x",
    mpfr=lambda context, x: context.atanh(x),
    arb=lambda x: x.atanh(),
    series=_atanh_series,
    lo=mpq(-1),
    hi=mpq(1),
    outside=OUTSIDE_OF_1.format("atanh").replace("|x| >", "|x| >="),
    exact=only_at(0, 0),
    exact_rule="atanh(x) = r != 0, rational, would make x = tanh(r) transcendental (Lindemann)",
    monotone="atanh' = 1/(1 - x^2) > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(atanh x - x)' = x^2/(1 - x^2) > 0 for 0 < |x| < 1",
    known_cases=(("0x1.447027c857b99p-12", -56.857),),
)

HYPERBOLIC = (SINH, COSH, TANH, ASINH, ACOSH, ATANH)
