"""The text of an expression, read a second time by Python's own grammar.

Search and verifier share `hrcase.functions.grammar`: whatever it makes of a text, both take for f.
Python has the same precedences, if `^` is written `**`, so that its tree must be the same.
"""

from __future__ import annotations

import ast
import re

from hrcase.functions import EXPRESSION, REGISTRY, Expression
from hrcase.functions.tree import Binary, Call, Constant, Negative, Node, Number, Power, Variable
from hrcase.hexfloat import parse_number
from hrcase.spec import SearchSpec
from hrcase.verify.findings import Contradiction

_WORD = re.compile(
    r"(?P<name>[A-Za-z]\w*)"
    r"|(?P<number>0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|[0-9.]+(?:[eE][+-]?\d+)?)"
)
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def check_text(spec: SearchSpec) -> None:
    """Raises Contradiction where the text of an expression means something else to Python."""
    f = spec.function
    if not isinstance(f, Expression):
        return
    text = spec.function_name.removeprefix(EXPRESSION)
    if _Reader(text).tree() != f.node:
        raise Contradiction("asked", f"Python reads {text!r} as another expression than {f.name}")


class _Reader:
    """Numbers stand as names in what Python reads: its own are no exact rationals."""

    def __init__(self, text: str) -> None:
        self.numbers: list[Number] = []
        self.text = _WORD.sub(self._word, text.strip().replace("^", "**"))

    def _word(self, match: re.Match[str]) -> str:
        if match["name"]:
            return match[0]
        self.numbers.append(Number(parse_number(match[0])))
        return f"_{len(self.numbers) - 1}"

    def tree(self) -> Node | None:
        """The tree; None where it is none of an expression."""
        return self._node(ast.parse(self.text, mode="eval").body)

    def _node(self, node: ast.expr) -> Node | None:
        match node:
            case ast.Name(name) if name.startswith("_"):
                return self.numbers[int(name[1:])]
            case ast.Name("x"):
                return Variable()
            case ast.Name(name):
                return Constant(name)
            case ast.UnaryOp(ast.USub(), of):
                inner = self._node(of)
                return Negative(inner) if inner else None
            case ast.UnaryOp(ast.UAdd(), of):
                return self._node(of)
            case ast.BinOp(base, ast.Pow(), exponent):
                return self._power(self._node(base), self._node(exponent))
            case ast.BinOp(left, operator, right):
                ends = self._node(left), self._node(right)
                if ends[0] and ends[1]:
                    return Binary(_OPERATORS[type(operator)], ends[0], ends[1])
            case ast.Call(ast.Name(name), [of], []):
                inner = self._node(of)
                return Call(REGISTRY[name], inner) if inner else None
        return None

    @staticmethod
    def _power(base: Node | None, exponent: Node | None) -> Node | None:
        match exponent:
            case Number(value) if base:
                return Power(base, int(value))
            case Negative(Number(value)) if base:
                return Power(base, -int(value))
        return None
