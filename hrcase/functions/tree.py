"""Expressions as syntax trees, and the one spelling that names them."""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.functions.base import Function
from hrcase.hexfloat import to_hex


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational constant, not negative, as it was written."""

    value: mpq


@dataclass(frozen=True, slots=True)
class Constant:
    """pi or e."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """x."""


@dataclass(frozen=True, slots=True)
class Negative:
    """-of."""

    of: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """left operator right; the operator is one of + - * /."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Power:
    """base^exponent, by multiplication."""

    base: Node
    exponent: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the registry, applied."""

    function: Function
    of: Node


Node = Number | Constant | Variable | Negative | Binary | Power | Call

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
UNARY, POWER, ATOM = 3, 4, 5
MOST_ZEROS = 4
"""After the point, before the first other digit; else numbers are spelled with an exponent."""

MOST_DIGITS = 20
"""About so many decimal digits; longer numbers are spelled in hexadecimal, if they are dyadic."""


def spell(node: Node) -> str:
    """The canonical text: no blanks, no parentheses that are not needed, `^` for powers.

    The grammar reads it back as the same tree.
    """
    match node:
        case Number(value):
            return _spell_number(value)
        case Constant(name):
            return name
        case Variable():
            return "x"
        case Negative(of):
            return f"-{_within(of, UNARY)}"
        case Binary(operator, left, right):
            here = PRECEDENCE[operator]
            return f"{_within(left, here)}{operator}{_within(right, here + 1)}"
        case Power(base, exponent):
            return f"{_within(base, ATOM)}^{exponent}"
        case Call(function, of):
            return f"{function.name}({spell(of)})"


def _within(node: Node, precedence: int) -> str:
    text = spell(node)
    return text if _precedence(node) >= precedence else f"({text})"


def _precedence(node: Node) -> int:
    match node:
        case Binary(operator, _, _):
            return PRECEDENCE[operator]
        case Negative():
            return UNARY
        case Power():
            return POWER
    return ATOM


def _spell_number(value: mpq) -> str:
    """Decimal, or hexadecimal where that is far shorter: exactly, either way."""
    places, is_dyadic = _decimal_places(value), value.denominator.bit_count() == 1
    if is_dyadic and places > MOST_DIGITS:
        return to_hex(value)
    digits = str(int(value * mpq(10) ** places))
    if places == 0 and len(digits) > MOST_DIGITS:
        short = digits.rstrip("0")
        return f"{short}e{len(digits) - len(short)}" if len(short) < MOST_DIGITS else to_hex(value)
    if places == 0:
        return digits
    if places <= len(digits) + MOST_ZEROS:
        padded = digits.zfill(places + 1)
        return f"{padded[:-places]}.{padded[-places:]}"
    return f"{digits}e-{places}"


def _decimal_places(value: mpq) -> int:
    """The least k for which value 10^k is an integer; there is one for every literal."""
    twos, odd = _valuation(int(value.denominator), 2)
    fives, _ = _valuation(odd, 5)
    return max(twos, fives)


def _valuation(n: int, prime: int) -> tuple[int, int]:
    """(k, m) with n = prime^k m."""
    k = 0
    while n % prime == 0:
        n //= prime
        k += 1
    return k, n


def functions_in(node: Node) -> list[Function]:
    """The functions that occur, in their order, some perhaps more than once."""
    match node:
        case Call(function, of):
            return [function, *functions_in(of)]
        case Negative(of) | Power(of, _):
            return functions_in(of)
        case Binary(_, left, right):
            return [*functions_in(left), *functions_in(right)]
    return []


def has_variable(node: Node) -> bool:
    """Whether x occurs."""
    match node:
        case Variable():
            return True
        case Negative(of) | Call(_, of) | Power(of, _):
            return has_variable(of)
        case Binary(_, left, right):
            return has_variable(left) or has_variable(right)
    return False
