"""The values of expressions in rational arithmetic, where that gives them."""

from __future__ import annotations

from gmpy2 import mpq

from hrcase.functions.base import Function
from hrcase.functions.tree import Binary, Call, Negative, Node, Number, Power, Variable
from hrcase.functions.undefined import NotDefined

MOST_BITS = 1 << 16
"""Larger numerators and denominators are not worked out: the value counts as not known."""


def rational_value(node: Node, x: mpq) -> mpq | None:
    """The value at x if rational operations and the exact cases of functions give it, else None.

    Raises:
        NotDefined: it has none, for a division by 0 or an argument outside of a domain.
    """
    value = _value(node, x)
    return None if value is None or _bits(value) > MOST_BITS else value


def _value(node: Node, x: mpq) -> mpq | None:
    match node:
        case Number(value):
            return value
        case Variable():
            return x
        case Negative(of):
            value = rational_value(of, x)
            return None if value is None else -value
        case Binary(operator, left, right):
            return _operation(operator, rational_value(left, x), rational_value(right, x))
        case Power(base, exponent):
            value = rational_value(base, x)
            return None if value is None else _power(value, exponent)
        case Call(function, of):
            value = rational_value(of, x)
            return None if value is None else _applied(function, value)
    return None


def _operation(operator: str, left: mpq | None, right: mpq | None) -> mpq | None:
    if operator == "/" and right == 0:
        raise NotDefined("a division by 0")
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right


def _power(base: mpq, exponent: int) -> mpq | None:
    if base == 0 and exponent < 0:
        raise NotDefined("a negative power of 0")
    return base**exponent if _bits(base) * abs(exponent) <= MOST_BITS else None


def _applied(function: Function, y: mpq) -> mpq | None:
    if not function.contains(y):
        raise NotDefined(reason_outside(function))
    # The rules of the registry speak of dyadic arguments only.
    return function.exact(y) if y.denominator.bit_count() == 1 else None


def reason_outside(function: Function) -> str:
    """Why a function has no value at an argument that it does not contain."""
    poles = f"{function.name} has poles at {function.poles_in_words}"
    reasons = [function.outside] if function.outside else []
    return "; ".join([*reasons, poles] if function.poles_in_words else reasons)


def _bits(value: mpq) -> int:
    return max(int(value.numerator.bit_length()), int(value.denominator.bit_length()))
