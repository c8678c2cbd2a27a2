"""The registry: one complete entry a function, one file a family."""

from __future__ import annotations

import difflib
import re
from functools import lru_cache

from hrcase.errors import InputError
from hrcase.functions.base import Function
from hrcase.functions.bessel import BESSEL
from hrcase.functions.exponential import EXPONENTIALS
from hrcase.functions.expression import EXPRESSION, Expression, expression_by_name
from hrcase.functions.half_turns import HALF_TURNS
from hrcase.functions.hyperbolic import HYPERBOLIC
from hrcase.functions.logarithm import LOGARITHMS
from hrcase.functions.powers import FAMILIES, MOST_N, Family, member
from hrcase.functions.roots import ROOTS
from hrcase.functions.special import SPECIAL
from hrcase.functions.trigonometric import TRIGONOMETRIC

REGISTRY: dict[str, Function] = {
    f.name: f
    for f in (
        *EXPONENTIALS,
        *LOGARITHMS,
        *ROOTS,
        *TRIGONOMETRIC,
        *HALF_TURNS,
        *HYPERBOLIC,
        *SPECIAL,
        *BESSEL,
    )
}


INTEGER = re.compile(r"-?[1-9][0-9]{0,3}")
PARAMETER = f"an integer N from -{MOST_N} to {MOST_N}, 0 and 1 left out"


def function_by_name(name: str) -> Function:
    """The entry of a function: of the registry, FAMILY:N, or what `expr:TEXT` names.

    Raises:
        InputError: there is no such function; the nearest name is offered.
        ExpressionError: TEXT is no expression.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    if name.startswith(EXPRESSION):
        return _expression(name)
    family, _, parameter = name.partition(":")
    if family in FAMILIES:
        return _member(FAMILIES[family], name, parameter)
    names = [*REGISTRY, *(f"{family}:N" for family in FAMILIES)]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    offer = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"unknown function {name!r}; {offer}the functions are {', '.join(names)}")


def _member(family: Family, name: str, parameter: str) -> Function:
    """The function of a family for an N as it was typed, which must be the one way to write it."""
    if INTEGER.fullmatch(parameter):
        n = int(parameter)
        if n != 1 and abs(n) <= MOST_N:
            return member(family.name, n)
    raise InputError(
        f"{name!r} is no function: {family.name}:N is {family.formula} for {PARAMETER}, in plain "
        f"digits; give {family.name}:3, say"
    )


@lru_cache(maxsize=256)
def _expression(name: str) -> Expression:
    return expression_by_name(name, REGISTRY)


__all__ = [
    "EXPRESSION",
    "FAMILIES",
    "PARAMETER",
    "REGISTRY",
    "Expression",
    "Family",
    "Function",
    "function_by_name",
]
