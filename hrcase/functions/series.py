"""Power series that flint lacks, or encloses badly, from those that it has."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

from flint import arb, arb_series
from flint import ctx as flint_context

EXTRA_TERMS = 10


def with_constant(series: arb_series, value: arb) -> arb_series:
    """The series with another constant term."""
    return arb_series([value, *(series[j] for j in range(1, series.prec))], prec=series.prec)


def from_derivative(derivative: arb_series, value: arb) -> arb_series:
    """The series with this derivative and constant term."""
    integral = derivative.integral()
    coefficients = [integral[j] for j in range(1, derivative.prec)]
    return arb_series([value, *coefficients], prec=derivative.prec)


def parameter(x: arb_series) -> arb_series:
    """t of the series x + t."""
    return arb_series([0, 1], prec=x.prec)


def tightened(
    series: Callable[[arb_series], arb_series],
    x: arb_series,
    term: Callable[[arb, int], arb] | None = None,
) -> arb_series:
    """A series at a ball of radius r around c, where flint's own enclosure is far too wide.

    With a_k the coefficients at c and b those at the ball, Taylor's theorem for the j-th one gives
    sum over j <= k < K of comb(k, j) a_k s^(k-j), plus comb(K, j) b_K s^(K-j), |s| <= r.

    Args:
        term: b_K at a ball, if there is a better way to it than the series.
    """
    centre, radius = x[0].mid(), x[0].rad()
    if radius == 0:
        return series(x)
    terms, most = x.prec, x.prec + EXTRA_TERMS
    previous, flint_context.cap = flint_context.cap, most + 2
    try:
        at_centre = series(arb_series([centre, 1], prec=most))
        if term is None:
            at_ball = series(arb_series([x[0], 1], prec=most + 1))[most]
        else:
            at_ball = term(x[0], most)
    finally:
        flint_context.cap = previous
    offset = arb(0, radius)
    coefficients = []
    for j in range(terms):  # by Horner's scheme
        total = at_ball * comb(most, j)
        for k in reversed(range(j, most)):
            total = at_centre[k] * comb(k, j) + offset * total
        coefficients.append(total)
    return arb_series(coefficients, prec=terms)
