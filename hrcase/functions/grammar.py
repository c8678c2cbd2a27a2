"""From the text of an expression to its tree: a recursive-descent parser.

    sum     = product { ("+" | "-") product }
    product = unary { ("*" | "/") unary }
    unary   = { "-" | "+" } power
    power   = atom [ ("^" | "**") integer ]
    integer = [ "-" | "+" ] digits | "(" [ "-" | "+" ] digits ")"
    atom    = number | "x" | "pi" | "e" | function "(" sum ")" | "(" sum ")"

Numbers are exact: decimal (0.25001, 1e-3) or hexadecimal (0x1.8p-3). Nothing is evaluated as code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.errors import ExpressionError, InputError
from hrcase.functions.base import Function
from hrcase.functions.tree import Binary, Call, Constant, Negative, Node, Number, Power, Variable
from hrcase.hexfloat import parse_number

MOST_CHARACTERS = 2000
MOST_DEPTH = 50
MOST_OPERATIONS = 100
MOST_POWER = 1000
MOST_CONSTANT_EXPONENT = 14_000
"""Constants are below 2^this in size and have denominators below it."""

_TOKEN = re.compile(
    r"(?P<hex>0[xX]\.?[0-9a-fA-F][0-9a-fA-F.]*(?:[pP][+-]?[0-9]+)?)"
    r"|(?P<number>\.?[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|[-+*/^()])",
    re.ASCII,
)
_BLANK = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text.

    Attributes:
        kind: "number", "name", "operator" or "end".
        at: where it begins, from 0.
    """

    kind: str
    text: str
    at: int


def parse(text: str, functions: Mapping[str, Function]) -> Node:
    """The tree of an expression in x over some functions.

    Raises:
        ExpressionError: it is none; the error points at the character.
    """
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters, more than {MOST_CHARACTERS} are refused",
            text,
            MOST_CHARACTERS,
            "write a shorter one",
        )
    parser = _Parser(text, functions)
    tree = parser.sum(0)
    parser.require_end()
    return tree


class _Parser:
    def __init__(self, text: str, functions: Mapping[str, Function]) -> None:
        self.text, self.functions = text, functions
        self.tokens = _tokens(text)
        self.next = self.operations = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def takes(self, *operators: str) -> str:
        """The next token, if it is one of these operators; else ""."""
        token = self.token
        if token.kind != "operator" or token.text not in operators:
            return ""
        self.next += 1
        return token.text

    def error(self, what: str, way_out: str, token: Token | None = None) -> ExpressionError:
        return ExpressionError(what, self.text, (token or self.token).at, way_out)

    def require_end(self) -> None:
        token = self.token
        if token.kind == "end":
            return
        if token.text == ")":
            raise self.error("a closing parenthesis has no opening one", "remove it")
        if token.text in ("^", "**"):
            raise self.error("powers of powers need parentheses", "write (x^2)^3 or x^6")
        raise self.error(f"an operator is missing before {token.text!r}", "write, say, 2*x")

    def count_operation(self) -> None:
        """Chains of operators make trees that are as deep as they are long."""
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            raise self.error(
                f"there are more than {MOST_OPERATIONS} operators + - * /", "write a simpler one"
            )

    def sum(self, depth: int) -> Node:
        if depth > MOST_DEPTH:
            raise self.error(
                f"the expression is nested more than {MOST_DEPTH} deep", "write a simpler one"
            )
        tree = self.product(depth)
        while operator := self.takes("+", "-"):
            self.count_operation()
            tree = Binary(operator, tree, self.product(depth))
        return tree

    def product(self, depth: int) -> Node:
        tree = self.unary(depth)
        while operator := self.takes("*", "/"):
            self.count_operation()
            tree = Binary(operator, tree, self.unary(depth))
        return tree

    def unary(self, depth: int) -> Node:
        sign = self.takes("-", "+")
        if not sign:
            return self.power(depth)
        if depth > MOST_DEPTH:
            raise self.error(f"more than {MOST_DEPTH} signs or brackets", "write a simpler one")
        of = self.unary(depth + 1)
        return Negative(of) if sign == "-" else of

    def power(self, depth: int) -> Node:
        base = self.atom(depth)
        if self.takes("^", "**"):
            return Power(base, self.exponent())
        return base

    def exponent(self) -> int:
        first = self.token
        in_brackets = bool(self.takes("("))
        sign = -1 if self.takes("-", "+") == "-" else 1
        token = self.token
        if token.kind != "number" or not token.text.isdigit():
            raise self.error(
                "an exponent is an integer constant",
                "write x^3 or x^-2, exp2(y) for 2^y, exp(y*log(x)) for other powers",
            )
        if len(token.text.lstrip("0")) > 4 or int(token.text) > MOST_POWER:
            raise self.error(f"exponents beyond {MOST_POWER} are refused", "write a smaller one")
        self.next += 1
        if in_brackets and not self.takes(")"):
            raise self.error(
                "an exponent in parentheses is one integer", "write x^(-2), say", first
            )
        return sign * int(token.text)

    def atom(self, depth: int) -> Node:
        token = self.token
        if token.kind == "number":
            self.next += 1
            return Number(self.number(token))
        if token.kind == "name":
            self.next += 1
            return self.name(token, depth)
        if self.takes("("):
            return self.bracket(token, depth)
        if token.kind == "end":
            where = "is empty" if self.next == 0 else "ends where a number, x or f(...) should be"
            raise self.error(f"the expression {where}", "write, say, exp(-x*x)/2")
        raise self.error(
            f"{token.text!r} stands where a number, x or f(...) should be", "change it"
        )

    def bracket(self, opening: Token, depth: int) -> Node:
        tree = self.sum(depth + 1)
        if not self.takes(")"):
            if self.token.kind != "end":
                self.require_end()
            raise self.error("this parenthesis is not closed", "write the closing one", opening)
        return tree

    def name(self, token: Token, depth: int) -> Node:
        name, opening = token.text, self.token
        is_call = opening.kind == "operator" and opening.text == "("
        if name == "x" and not is_call:
            return Variable()
        if name in ("pi", "e") and not is_call:
            return Constant(name)
        function = self.functions.get(name)
        if function is None:
            raise self.unknown(token)
        if not self.takes("("):
            raise self.error(
                f"{name} is a function, and has no argument", f"write {name}(x)", token
            )
        return Call(function, self.bracket(opening, depth))

    def unknown(self, token: Token) -> ExpressionError:
        if token.text in ("x", "pi", "e"):
            return self.error(f"{token.text} is no function", f"write {token.text}*(...)", token)
        names = [*self.functions, "x", "pi", "e"]
        near = difflib.get_close_matches(token.text.lower(), names, n=1, cutoff=0.5)
        offer = f"did you mean {near[0]}? " if near else ""
        return self.error(
            f"unknown name {token.text[:40]!r}",
            f"{offer}hrcase functions lists the functions; the variable is x",
            token,
        )

    def number(self, token: Token) -> mpq:
        """The exact value; exponents are looked at before any power is computed."""
        exponent = re.search(
            r"[pP]([+-]?[0-9]+)$" if token.text[:2] in ("0x", "0X") else r"[eE]([+-]?[0-9]+)$",
            token.text,
        )
        size = exponent[1].lstrip("+-0") if exponent else ""
        if len(size) <= len(str(MOST_CONSTANT_EXPONENT)):
            try:
                value = parse_number(token.text)
            except InputError:
                raise self.error(
                    f"{token.text[:40]!r} is no number",
                    "write it like 0.25001, 1e-3 or 0x1.8p-3",
                    token,
                ) from None
            bits = max(value.numerator.bit_length(), value.denominator.bit_length())
            if bits <= MOST_CONSTANT_EXPONENT:
                return value
        raise self.error(
            f"the constant is beyond 2^{MOST_CONSTANT_EXPONENT}", "write one nearer to 1", token
        )


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        assert blank is not None
        at = blank.end()
        if at == len(text):
            return [*tokens, Token("end", "", at)]
        found = _TOKEN.match(text, at)
        if found is None:
            shown = text[at] if text[at].isprintable() else f"U+{ord(text[at]):04X}"
            raise ExpressionError(
                f"the character {shown!r} has no meaning here",
                text,
                at,
                "write x, pi, e, numbers, functions, + - * / ^ and parentheses",
            )
        kind = str(found.lastgroup)
        tokens.append(Token("number" if kind == "hex" else kind, found[0], at))
        at = found.end()
