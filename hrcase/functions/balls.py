"""The values and power series of expressions in ball arithmetic (Arb).

Every enclosure is that of all x of a ball. Where it is too wide to say whether f is defined there,
`Undecided` is raised: the caller takes a smaller ball, or more precision.
"""

from __future__ import annotations

from functools import lru_cache

from flint import arb, arb_series, fmpq
from gmpy2 import mpq

from hrcase.formats import scale
from hrcase.functions.base import Function, no_poles
from hrcase.functions.exactly import reason_outside
from hrcase.functions.series import with_constant
from hrcase.functions.tree import Binary, Call, Constant, Negative, Node, Number, Power, Variable
from hrcase.functions.undefined import NotDefined, Undecided

MOST_POLE_EXPONENT = 1 << 16
"""Ends of balls beyond 2^+-this are not written out as rationals to look for poles."""

WIDE_EXPONENT = 0.25
"""The ball of e^y is taken from the ends of y where its radius is larger."""


def ball_value(node: Node, x: arb) -> arb:
    """An enclosure of f over a ball.

    Raises:
        NotDefined: f is defined nowhere on the ball.
        Undecided: f may be undefined somewhere on it.
    """
    match node:
        case Number() | Constant():
            return constant_value(node)
        case Variable():
            return x
        case Negative(of):
            return -ball_value(of, x)
        case Binary("/", left, right):
            numerator, divisor = ball_value(left, x), ball_value(right, x)
            return _finite(numerator / nonzero(divisor))
        case Binary(operator, left, right):
            first, second = ball_value(left, x), ball_value(right, x)
            if operator == "*":
                return first * second
            return first + second if operator == "+" else first - second
        case Power(base, exponent):
            value = ball_value(base, x)
            return _finite((value if exponent >= 0 else nonzero(value)) ** exponent)
        case Call(function, of):
            return _finite(_applied(function, _argument(function, ball_value(of, x))))


def ball_series(node: Node, x: arb_series) -> arb_series:
    """The power series of f of the series x + t, x a ball: its coefficients enclose f^(j)/j!.

    Raises: as ball_value.
    """
    match node:
        case Number() | Constant():
            return arb_series([constant_value(node)], prec=x.prec)
        case Variable():
            return x
        case Negative(of):
            return -ball_series(of, x)
        case Binary("/", left, right):
            numerator, divisor = ball_series(left, x), ball_series(right, x)
            nonzero(divisor[0])
            return numerator * divisor.inv()
        case Binary(operator, left, right):
            first, second = ball_series(left, x), ball_series(right, x)
            if operator == "*":
                return first * second
            return first + second if operator == "+" else first - second
        case Power(base, exponent):
            return power_series(ball_series(base, x), exponent)
        case Call(function, of):
            return applied_series(function, ball_series(of, x))


def applied_series(function: Function, inner: arb_series) -> arb_series:
    """A function of the registry, of a series."""
    at = _argument(function, inner[0])
    if _is_wide_exp(function, at):  # e^(at + t) = e^at e^t
        outer = arb_series([0, 1], prec=inner.prec).exp() * _applied(function, at)
    else:
        outer = function.series(arb_series([at, 1], prec=inner.prec))
    _finite(outer[0])
    rest = [inner[j] for j in range(1, inner.prec)]
    if all(coefficient == 0 for coefficient in rest):  # flint composes with no such series
        return arb_series([outer[0]], prec=inner.prec)
    if rest[0] == 1 and all(coefficient == 0 for coefficient in rest[1:]):
        return outer
    return outer(with_constant(inner, arb(0)))


def _applied(function: Function, y: arb) -> arb:
    if _is_wide_exp(function, y):
        return function.arb(y.lower()).union(function.arb(y.upper()))
    return function.arb(y)


def _is_wide_exp(function: Function, y: arb) -> bool:
    """Whether Arb's own ball for e^y would reach below 0: that of the ends does so much later."""
    return function.name == "exp" and bool(y.rad() > WIDE_EXPONENT)


def power_series(base: arb_series, exponent: int) -> arb_series:
    """A power of a series; raises as ball_value."""
    if exponent < 0:
        nonzero(base[0])
        base, exponent = base.inv(), -exponent
    result = arb_series([1], prec=base.prec)
    for digit in f"{exponent:b}":
        result = result * result
        if digit == "1":
            result = result * base
    return result


@lru_cache(maxsize=256)
def _fmpq(value: mpq) -> fmpq:
    return fmpq(int(value.numerator), int(value.denominator))


def _number(value: mpq) -> arb:
    return arb(_fmpq(value))


def constant_value(node: Number | Constant) -> arb:
    """An enclosure of a constant."""
    if isinstance(node, Number):
        return _number(node.value)
    return arb.pi() if node.name == "pi" else arb.const_e()


def nonzero(y: arb) -> arb:
    """y, if it may be divided by; raises as ball_value."""
    if y.contains(0):
        if y == 0:
            raise NotDefined("a division by 0")
        raise Undecided
    return y


def _finite(y: arb) -> arb:
    if not y.is_finite():
        raise Undecided
    return y


def _argument(function: Function, y: arb) -> arb:
    """y, if all of it lies in the domain.

    Raises:
        NotDefined: nothing of it does.
        Undecided: it may reach beyond.
    """
    lo, hi = _bound(function.lo), _bound(function.hi)
    if function.closed:
        is_inside, is_outside = y >= lo and y <= hi, y < lo or y > hi
    else:
        is_inside, is_outside = y > lo and y < hi, y <= lo or y >= hi
    if is_outside:
        raise NotDefined(reason_outside(function))
    if not is_inside or not y.is_finite():
        raise Undecided
    if function.poles is not no_poles:
        low, high = _end(y.lower()), _end(y.upper())
        if next(function.poles(low, high), None) is not None:
            if low == high:
                raise NotDefined(reason_outside(function))
            raise Undecided
    return y


def _end(point: arb) -> mpq:
    m, e = (int(part) for part in point.man_exp())
    if abs(e) > MOST_POLE_EXPONENT:
        raise Undecided
    return scale(m, e)


@lru_cache(maxsize=256)
def _bound(value: mpq | float) -> arb:
    return arb(value) if isinstance(value, float) else _number(value)
