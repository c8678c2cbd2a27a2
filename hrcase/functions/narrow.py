"""Power series of expressions whose plain enclosures by balls are far too wide."""

from __future__ import annotations

from flint import arb, arb_series
from flint import ctx as flint_context

from hrcase.functions.around_zero import around_zero
from hrcase.functions.balls import ball_series
from hrcase.functions.series import tightened
from hrcase.functions.tree import Node
from hrcase.functions.undefined import Undecided

LOST_BITS = 64
"""Coefficients at a point that lost more bits than this are computed again with more."""

MOST_PRECISION = 1 << 13
"""Bits that they get at most, unless that is less than was asked for."""

WIDE = 0.25
"""A coefficient with a larger radius, relative to its middle, is enclosed again."""

NEAR_0 = 2.0**-7
"""For |x| below this, the ball that holds 0 and x serves too."""

MOST_ORDER = 8
"""Divisions cancel powers of x up to about this."""


def narrow_series(node: Node, x: arb_series) -> arb_series:
    """As ball_series; with more precision at points, by other theorems at balls where it is wide.

    These are Taylor's theorem (`series.tightened`) and, next to 0, removable singularities: each
    gives enclosures, and of each coefficient the narrowest is taken.
    """
    if x[0].rad() == 0:
        return _accurate(node, x)
    series = ball_series(node, x)
    if not _is_narrow(series):
        series = _narrower(series, tightened(lambda y: _plain(node, y), x))
    if not _is_narrow(series) and abs(x[0]) < NEAR_0:
        series = _narrower(series, _around_zero(node, x))
    return series


def _plain(node: Node, x: arb_series) -> arb_series:
    """What Taylor's theorem needs: accurate at points, plain at balls."""
    return _accurate(node, x) if x[0].rad() == 0 else ball_series(node, x)


def _around_zero(node: Node, x: arb_series) -> arb_series:
    """The coefficients over the ball that holds 0 and x; not finite where there are none."""
    terms = x.prec + MOST_ORDER
    cap, flint_context.cap = flint_context.cap, terms + 1
    try:
        over = around_zero(node, x[0].union(arb(0)), terms).over
    except Undecided:
        return arb_series([arb("nan")] * x.prec, prec=x.prec)
    finally:
        flint_context.cap = cap
    found = [over[j] if j < over.prec else arb("nan") for j in range(x.prec)]
    return arb_series(found, prec=x.prec)


def _narrower(one: arb_series, other: arb_series) -> arb_series:
    chosen = [min(one[j], other[j], key=_radius) for j in range(one.prec)]
    return arb_series(chosen, prec=one.prec)


def _radius(coefficient: arb) -> arb:
    return coefficient.rad() if coefficient.is_finite() else arb("inf")


def _is_narrow(series: arb_series) -> bool:
    coefficients = (series[j] for j in range(series.prec))
    return all(c.rad() <= WIDE * abs(c.mid()) or c == 0 for c in coefficients)


def _accurate(node: Node, x: arb_series) -> arb_series:
    """At a point: cancellation is made up for by precision, as far as that goes."""
    wanted = flint_context.prec
    try:
        while True:
            is_last = 2 * flint_context.prec > MOST_PRECISION
            try:
                series = ball_series(node, x)
                if is_last or _is_accurate(series, x[0], wanted):
                    return series
            except Undecided:
                if is_last:
                    raise
            flint_context.prec *= 2
    finally:
        flint_context.prec = wanted


def _is_accurate(series: arb_series, x: arb, wanted: int) -> bool:
    """Whether errors are small: of each coefficient, or where it counts next to the first one."""
    power = allowed = abs(series[0]).mid() * arb((1, LOST_BITS - wanted))
    for j in range(series.prec):
        error = series[j].rad()
        if error > 0 and series[j].rel_accuracy_bits() < wanted - LOST_BITS:
            power = abs(x) ** j
            if not error * power <= allowed:
                return False
    return True
