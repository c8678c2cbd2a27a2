"""The registry: one complete entry a function, one file a family."""

from __future__ import annotations

import difflib

from hrcase.errors import InputError
from hrcase.functions.base import Function
from hrcase.functions.exponential import EXP, EXP2
from hrcase.functions.logarithm import LOG
from hrcase.functions.roots import CBRT
from hrcase.functions.trigonometric import SIN

REGISTRY: dict[str, Function] = {f.name: f for f in (EXP, EXP2, LOG, SIN, CBRT)}


def function_by_name(name: str) -> Function:
    """The entry of a function.

    Raises:
        InputError: the registry has no such function; the nearest name is offered.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    near = difflib.get_close_matches(name, REGISTRY, n=1, cutoff=0.5)
    offer = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"unknown function {name!r}; {offer}the functions are {', '.join(REGISTRY)}")


__all__ = ["REGISTRY", "Function", "function_by_name"]
