"""sin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import ceil, floor, pi

from flint import arb
from gmpy2 import mpq

from hrcase.formats import Infinite
from hrcase.functions.base import Function, RealPoint

ARGUMENT_BOUND = mpq(2**11)
"""Largest |x| for sin. Beyond it every period holds few arguments of any use to a search."""


def _sin_exact(x: mpq) -> mpq | None:
    return mpq(0) if x == 0 else None


def _quarter_turns(count: int) -> arb:
    return arb.pi() * count / 2


def _odd_quarter_turns(lo: mpq | Infinite, hi: mpq | Infinite) -> Iterator[RealPoint]:
    """(k + 1/2) pi between two bounds of at most ARGUMENT_BOUND, and one more at either end.

    The floats only choose k; one k too many at an end does no harm, since callers place
    each point rigorously.
    """
    first, last = floor(float(lo) / pi - 0.5) - 1, ceil(float(hi) / pi - 0.5) + 1
    for k in range(first, last + 1):
        yield partial(_quarter_turns, 2 * k + 1)


SIN = Function(
    name="sin",
    mpfr=lambda context, x: context.sin(x),
    arb=lambda x: x.sin(),
    series=lambda x: x.sin(),
    lo=-ARGUMENT_BOUND,
    hi=ARGUMENT_BOUND,
    outside="sin is searched for |x| < 2^11 only",
    outside_is_error=True,
    critical_points=_odd_quarter_turns,
    exact=_sin_exact,
    exact_rule="sin(x) is rational for rational x only at x = 0 (Lindemann)",
    monotone="sin' = cos has no zero between neighbours of the points (k + 1/2) pi",
    identity_below=mpq(1),
    identity_reason="(sin x - x)' = cos x - 1 < 0 for 0 < |x| < 1",
    known_cases=(("0x1.6c6cbc45dc8dep+5", -68.973), ("0x1.598bae9e632f6p-7", -60.057)),
)
