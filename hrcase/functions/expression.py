"""Expressions as functions: `expr:exp(-x*x)/2`, made of the registry's functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpfr, mpq

from hrcase.errors import ExpressionError, InputError
from hrcase.functions.balls import ball_value
from hrcase.functions.base import Function
from hrcase.functions.brackets import MOST_EXPONENT, bracket, directed
from hrcase.functions.exactly import rational_value
from hrcase.functions.grammar import parse
from hrcase.functions.narrow import narrow_series
from hrcase.functions.rounding import Bracket, as_rational, exactly, round_rational
from hrcase.functions.tree import Node, has_variable, spell
from hrcase.functions.undefined import NotDefined, Undecided
from hrcase.hexfloat import to_hex

EXPRESSION = "expr:"
"""What the name of an expression begins with."""

DECIDED_BITS = 1 << 12
"""B: where f(x) agrees with a breakpoint in an evaluation with so many bits, it may be exact."""

LEAST_PRECISION = 128

EXACT_RULE = (
    f"f(x) is called exact where rational arithmetic and the exact cases of the functions in it "
    f"give it, or where {DECIDED_BITS} bits do not tell it from a breakpoint"
)
MONOTONE = "between the points that ball arithmetic finds (hrcase/isolation.py)"
EVALUATORS = "interval arithmetic by MPFR with directed rounding; ball arithmetic by Arb"


@dataclass(frozen=True)
class Expression(Function):
    """A function of which nothing is known beforehand but its syntax tree.

    `hrcase.isolation` finds where it is defined, and where it is monotone.
    """

    tree: Node | None = None

    def contains(self, x: mpq) -> bool:
        """Whether f is known to be defined at x, a dyadic number."""
        try:
            self.require_defined(x)
        except (NotDefined, Undecided):
            return False
        return True

    def require_defined(self, x: mpq) -> None:
        """Returns where f has a value at x, a dyadic number.

        Raises:
            NotDefined: it has none.
            Undecided: DECIDED_BITS bits do not tell.
        """
        if rational_value(self.node, x) is not None:
            return
        point, precision = exactly(x), LEAST_PRECISION
        while precision <= DECIDED_BITS:
            try:
                bracket(self.node, directed(precision), (point, point))
                return
            except Undecided:
                precision *= 2
        raise Undecided

    @property
    def node(self) -> Node:
        """The syntax tree."""
        assert self.tree is not None
        return self.tree


def expression_by_name(name: str, functions: Mapping[str, Function]) -> Expression:
    """The function that `expr:TEXT` names.

    Raises:
        ExpressionError: TEXT is no expression in x.
    """
    text = name.removeprefix(EXPRESSION)
    tree = parse(text, functions)
    if not has_variable(tree):
        raise ExpressionError("the expression has no x", text, 0, "write, say, exp(-x*x)/2")
    return _expression(tree)


def _expression(tree: Node) -> Expression:
    text = spell(tree)
    exact, around = partial(_exact, tree), partial(_bracket, tree)
    return Expression(
        name=EXPRESSION + text,
        formula=text,
        mpfr=partial(_rounded, tree),
        bracket=around,
        decided_bits=DECIDED_BITS,
        arb=partial(_arb, tree),
        series=partial(_series, tree),
        exact=exact,
        exact_rule=EXACT_RULE,
        monotone=MONOTONE,
        outside=f"{text} is not defined, or one of its functions not searched, there",
        evaluators=EVALUATORS,
        tree=tree,
    )


def _exact(tree: Node, x: mpq) -> mpq | None:
    try:
        return rational_value(tree, x)
    except NotDefined:
        return None


def _bracket(tree: Node, precision: int, x: mpfr) -> Bracket:
    """Bounds of f(x); NaN where there are none."""
    try:
        return bracket(tree, directed(precision), (x, x))
    except (NotDefined, Undecided):
        return mpfr("nan"), mpfr("nan")


def _rounded(tree: Node, context: gmpy2.context, x: mpfr) -> mpfr:
    """f(x) as a context rounds it: so are both ends of a bracket; NaN where f has no value.

    Values beyond 2^(MOST_EXPONENT/2) may come out as a smaller number beyond it.

    Raises:
        InputError: DECIDED_BITS bits do not tell how it is rounded.
    """
    value = _exact(tree, as_rational(x))
    if value is not None:
        return round_rational(context, value)
    precision = max(LEAST_PRECISION, context.precision)
    low, high = mpfr("nan"), mpfr("nan")
    while precision <= DECIDED_BITS:
        low, high = _limited(*_bracket(tree, precision, x))
        ends = context.plus(low), context.plus(high)
        if ends[0] == ends[1]:
            return ends[0]
        precision *= 2
    if gmpy2.is_nan(low):
        return low
    raise InputError(
        f"{DECIDED_BITS} bits do not tell how {spell(tree)} is rounded at "
        f"{to_hex(as_rational(x))}: it may be exact; leave this x out"
    )


def _limited(low: mpfr, high: mpfr) -> Bracket:
    """Bounds of the same sign that are beyond every format, but for one that is infinite."""
    for near, far in ((low, high), (high, low)):
        if gmpy2.is_infinite(far) and gmpy2.get_exp(near) > MOST_EXPONENT // 2 and near * far > 0:
            return near, near
    return low, high


def _arb(tree: Node, x: arb) -> arb:
    try:
        return ball_value(tree, x)
    except (NotDefined, Undecided):
        return arb("nan")


def _series(tree: Node, x: arb_series) -> arb_series:
    try:
        return narrow_series(tree, x)
    except (NotDefined, Undecided):
        return arb_series([arb("nan")] * x.prec, prec=x.prec)
