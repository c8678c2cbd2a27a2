"""The registry: one complete entry a function, one file a family."""

from __future__ import annotations

import difflib
from functools import lru_cache

from hrcase.errors import InputError
from hrcase.functions.base import Function
from hrcase.functions.exponential import EXPONENTIALS
from hrcase.functions.expression import EXPRESSION, Expression, expression_by_name
from hrcase.functions.half_turns import HALF_TURNS
from hrcase.functions.hyperbolic import HYPERBOLIC
from hrcase.functions.logarithm import LOGARITHMS
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
    )
}


def function_by_name(name: str) -> Function:
    """The entry of a function, or what `expr:TEXT` names.

    Raises:
        InputError: the registry has no such function; the nearest name is offered.
        ExpressionError: TEXT is no expression.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    if name.startswith(EXPRESSION):
        return _expression(name)
    near = difflib.get_close_matches(name, REGISTRY, n=1, cutoff=0.5)
    offer = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"unknown function {name!r}; {offer}the functions are {', '.join(REGISTRY)}")


@lru_cache(maxsize=256)
def _expression(name: str) -> Expression:
    return expression_by_name(name, REGISTRY)


__all__ = ["EXPRESSION", "REGISTRY", "Expression", "Function", "function_by_name"]
