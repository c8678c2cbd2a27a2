"""sin, cos and tan, and their inverses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, floor, pi

from flint import arb, arb_series
from gmpy2 import mpq

from hrcase.functions.base import Function, RealPoint, only_at
from hrcase.functions.series import from_derivative, with_constant

ARGUMENT_BOUND = mpq(2**11)
"""Largest |x| for sin, cos and tan. Beyond it every period holds few arguments."""

BEYOND = "{} is searched for |x| < 2^11 only"
OUTSIDE_OF_1 = "{} is not defined for |x| > 1"


def _quarter_turns(count: int) -> arb:
    return arb.pi() * count / 2


def _turns(odd: int) -> Callable[[mpq, mpq], Iterator[RealPoint]]:
    """The multiples (2 k + odd) pi/2 between two bounds, and one more at either end.

    The floats only choose k; one k too many at an end does no harm, since callers place
    each point rigorously.
    """

    def between(lo: mpq, hi: mpq) -> Iterator[RealPoint]:
        first = floor(float(lo) / pi - odd / 2) - 1
        last = ceil(float(hi) / pi - odd / 2) + 1
        for k in range(first, last + 1):
            yield partial(_quarter_turns, 2 * k + odd)

    return between


def _tan_series(x: arb_series) -> arb_series:
    return with_constant(x.tan(), x[0].tan())


def _sine_slope(x: arb_series) -> arb_series:
    """(1 - x^2)^(-1/2), the derivative of asin."""
    return ((1 - x) * (1 + x)).rsqrt()


def asin_series(x: arb_series) -> arb_series:
    """asin of a series."""
    return from_derivative(_sine_slope(x), x[0].asin())


def acos_series(x: arb_series) -> arb_series:
    """acos of a series."""
    return from_derivative(-_sine_slope(x), x[0].acos())


def atan_series(x: arb_series) -> arb_series:
    """atan of a series."""
    return from_derivative((1 + x * x).inv(), x[0].atan())


SIN = Function(
    name="sin",
    formula="sin x",
    mpfr=lambda context, x: context.sin(x),
    arb=lambda x: x.sin(),
    series=lambda x: x.sin(),
    lo=-ARGUMENT_BOUND,
    hi=ARGUMENT_BOUND,
    outside=BEYOND.format("sin"),
    outside_is_error=True,
    critical_points=_turns(1),
    exact=only_at(0, 0),
    exact_rule="sin(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="sin' = cos has no zero between neighbours of the points (k + 1/2) pi",
    symmetry="odd",
    identity_below=mpq(1),
    identity_reason="(sin x - x)' = cos x - 1 < 0 for 0 < |x| < 1",
    known_cases=(("0x1.6c6cbc45dc8dep+5", -68.973), ("0x1.598bae9e632f6p-7", -60.057)),
)

COS = Function(
    name="cos",
    formula="cos x",
    mpfr=lambda context, x: context.cos(x),
    arb=lambda x: x.cos(),
    series=lambda x: x.cos(),
    lo=-ARGUMENT_BOUND,
    hi=ARGUMENT_BOUND,
    outside=BEYOND.format("cos"),
    outside_is_error=True,
    critical_points=_turns(0),
    exact=only_at(0, 1),
    exact_rule="cos(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="cos' = -sin has no zero between neighbours of the points k pi",
    symmetry="even",
    known_cases=(("0x1.6c6cbc45dc8dep+6", -66.973), ("0x1.34ec2f9fc9cp+1", -59.779)),
)

TAN = Function(
    name="tan",
    formula="tan x",
    mpfr=lambda context, x: context.tan(x),
    arb=lambda x: x.tan(),
    series=_tan_series,
    lo=-ARGUMENT_BOUND,
    hi=ARGUMENT_BOUND,
    outside=BEYOND.format("tan"),
    outside_is_error=True,
    critical_points=_turns(1),
    exact=only_at(0, 0),
    exact_rule="tan(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="tan' = 1/cos^2 > 0 between neighbours of the poles (k + 1/2) pi, no arguments",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(tan x - x)' = tan(x)^2 > 0 for 0 < |x| < 1",
    known_cases=(("0x1.50486b2f87014p-5", -58.795),),
)

ASIN = Function(
    name="asin",
    formula="asin x",
    mpfr=lambda context, x: context.asin(x),
    arb=lambda x: x.asin(),
    series=asin_series,
    lo=mpq(-1),
    hi=mpq(1),
    closed=True,
    outside=OUTSIDE_OF_1.format("asin"),
    exact=only_at(0, 0),
    exact_rule="asin(x) = r != 0, rational, would make x = sin(r) transcendental (Lindemann)",
    monotone="asin' = (1 - x^2)^(-1/2) > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(asin x - x)' = (1 - x^2)^(-1/2) - 1 > 0 for 0 < |x| < 1",
    known_cases=(("0x1.e9950730c4696p-2", -65.880),),
)

ACOS = Function(
    name="acos",
    formula="acos x",
    mpfr=lambda context, x: context.acos(x),
    arb=lambda x: x.acos(),
    series=acos_series,
    lo=mpq(-1),
    hi=mpq(1),
    closed=True,
    outside=OUTSIDE_OF_1.format("acos"),
    exact=only_at(1, 0),
    exact_rule="acos(x) = r != 0, rational, would make x = cos(r) transcendental (Lindemann)",
    monotone="acos' = -(1 - x^2)^(-1/2) < 0",
    known_cases=(("0x1.fd737be914578p-11", -63.228),),
)

ATAN = Function(
    name="atan",
    formula="atan x",
    mpfr=lambda context, x: context.atan(x),
    arb=lambda x: x.atan(),
    series=atan_series,
    exact=only_at(0, 0),
    exact_rule="atan(x) = r != 0, rational, would make x = tan(r) transcendental (Lindemann)",
    monotone="atan' = 1/(1 + x^2) > 0",
    symmetry="odd",
    identity_below=mpq(1, 2),
    identity_reason="(atan x - x)' = -x^2/(1 + x^2) < 0 for x != 0",
    known_cases=(("0x1.6298b5896ed3cp+1", -64.238),),
)

TRIGONOMETRIC = (SIN, COS, TAN, ASIN, ACOS, ATAN)
