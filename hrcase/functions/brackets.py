"""The values of expressions between two numbers, by MPFR with directed rounding.

Interval arithmetic: every operation rounds its lower end down and its upper end up. It shares
nothing with hrcase.functions.balls but the critical points of the registry.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import gmpy2
from flint import ctx as flint_context
from gmpy2 import mpfr, mpq

from hrcase.formats import scale
from hrcase.functions.base import Function, no_poles, nowhere
from hrcase.functions.exactly import reason_outside
from hrcase.functions.rounding import Bracket, as_rational, round_rational
from hrcase.functions.tree import Binary, Call, Constant, Negative, Node, Number, Power, Variable
from hrcase.functions.undefined import NotDefined, Undecided

MOST_EXPONENT = 1 << 20
"""Ends beyond 2^(+-this) become 0, or the largest number and infinity."""

TURNING_AT_1 = ("sin", "cos", "sinpi", "cospi")
"""Functions whose values at critical points are 1 and -1."""


class Directed(NamedTuple):
    """Contexts of one precision, rounding down and up."""

    down: gmpy2.context
    up: gmpy2.context


@lru_cache(maxsize=256)
def directed(precision: int) -> Directed:
    """The contexts of a precision."""
    ends = {"emin": -MOST_EXPONENT, "emax": MOST_EXPONENT}
    return Directed(
        gmpy2.context(precision=precision, round=gmpy2.RoundDown, **ends),
        gmpy2.context(precision=precision, round=gmpy2.RoundUp, **ends),
    )


def bracket(node: Node, at: Directed, x: Bracket) -> Bracket:
    """Numbers lo <= f(y) <= hi for all y between the ends of x.

    Raises:
        NotDefined: f is defined nowhere between them.
        Undecided: it may be undefined somewhere, or there are no bounds with this precision.
    """
    match node:
        case Number(value):
            return _number(at, value)
        case Constant(name):
            if name == "pi":
                return at.down.const_pi(), at.up.const_pi()
            return at.down.exp(mpfr(1)), at.up.exp(mpfr(1))
        case Variable():
            return x
        case Negative(of):
            low, high = bracket(of, at, x)
            return at.down.minus(high), at.up.minus(low)
        case Binary(operator, left, right):
            return _operation(operator, at, bracket(left, at, x), bracket(right, at, x))
        case Power(base, exponent):
            return _power(at, bracket(base, at, x), exponent)
        case Call(function, of):
            return _applied(function, at, bracket(of, at, x))


def _number(at: Directed, value: mpq) -> Bracket:
    return round_rational(at.down, value), round_rational(at.up, value)


def _operation(operator: str, at: Directed, left: Bracket, right: Bracket) -> Bracket:
    match operator:
        case "+":
            return _known(at.down.add(left[0], right[0]), at.up.add(left[1], right[1]))
        case "-":
            return _known(at.down.sub(left[0], right[1]), at.up.sub(left[1], right[0]))
        case "*":
            pairs = list(product(left, right))
            lows = [at.down.mul(a, b) for a, b in pairs]
            return _hull(lows, [at.up.mul(a, b) for a, b in pairs])
    _require_divisor(right)
    pairs = list(product(left, right))
    return _hull([at.down.div(a, b) for a, b in pairs], [at.up.div(a, b) for a, b in pairs])


def _power(at: Directed, base: Bracket, exponent: int) -> Bracket:
    if exponent < 0:
        _require_divisor(base)
    lows = [at.down.pow(end, exponent) for end in base]
    highs = [at.up.pow(end, exponent) for end in base]
    if base[0] < 0 < base[1] and exponent >= 0:  # a power turns at 0, if anywhere
        lows.append(mpfr(0**exponent))
    return _hull(lows, highs)


def _require_divisor(y: Bracket) -> None:
    if y[0] <= 0 <= y[1]:
        if y[0] == y[1]:
            raise NotDefined("a division by 0")
        raise Undecided


def _known(low: mpfr, high: mpfr) -> Bracket:
    if gmpy2.is_nan(low) or gmpy2.is_nan(high):
        raise Undecided
    return low, high


def _hull(lows: list[mpfr], highs: list[mpfr]) -> Bracket:
    if any(gmpy2.is_nan(end) for end in (*lows, *highs)):
        raise Undecided
    return min(lows), max(highs)


def _applied(function: Function, at: Directed, y: Bracket) -> Bracket:
    """f of an interval: of its ends, as f is monotone between critical points, poles and 0."""
    if not (gmpy2.is_finite(y[0]) and gmpy2.is_finite(y[1])):
        raise Undecided
    _require_inside(function, y)
    points = [y[0]] if y[0] == y[1] else [*y]
    if y[0] < 0 < y[1]:
        points.append(mpfr(0))
    lows = [function.mpfr(at.down, point) for point in points]
    highs = [function.mpfr(at.up, point) for point in points]
    if y[0] != y[1] and _may_turn(function, at, y):
        if function.name not in TURNING_AT_1 or y[1] - y[0] > 0.25:
            raise Undecided
        (lows if lows[0] < 0 else highs).append(mpfr(-1 if lows[0] < 0 else 1))
    return _hull(lows, highs)


def _require_inside(function: Function, y: Bracket) -> None:
    """Raises NotDefined where f is defined nowhere on y, Undecided where only on a part."""
    ends = [_is_inside(function, end) for end in y]
    if y[1] < function.lo or y[0] > function.hi or (y[0] == y[1] and not ends[0]):
        raise NotDefined(reason_outside(function))
    if not all(ends):
        raise Undecided
    if function.poles is no_poles:
        return
    if next(function.poles(as_rational(y[0]), as_rational(y[1])), None) is not None:
        if y[0] == y[1]:
            raise NotDefined(reason_outside(function))
        raise Undecided


def _is_inside(function: Function, end: mpfr) -> bool:
    if function.closed:
        return bool(function.lo <= end <= function.hi)
    return bool(function.lo < end < function.hi)


def _may_turn(function: Function, at: Directed, y: Bracket) -> bool:
    """Whether a critical point may lie between the ends."""
    if function.critical_points is nowhere:
        return False
    previous, flint_context.prec = flint_context.prec, at.down.precision + 32
    try:
        low, high = as_rational(y[0]), as_rational(y[1])
        for point in function.critical_points(low, high):
            ball = point()
            first, last = (scale(*map(int, end.man_exp())) for end in (ball.lower(), ball.upper()))
            if first <= high and last >= low:
                return True
        return False
    finally:
        flint_context.prec = previous
