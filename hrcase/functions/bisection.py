"""A zero between two integers, enclosed by bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import count

from flint import arb
from flint import ctx as flint_context

GUARD_BITS = 32
COARSE = 64
"""Bits of a first look."""


@lru_cache(maxsize=1 << 13)
def zero_between(f: Callable[[arb], arb], n: int, rises: bool, precision: int) -> arb:
    """The one zero of a function in (n, n + 1), to 2^-precision where its sign can be told.

    Args:
        f: an enclosure of a continuous function, whose sign changes once between n and n + 1.
        rises: from negative to positive.
        precision: bits after the point.
    """
    low, high = n << precision, (n + 1) << precision
    while high - low > 1:
        middle = (low + high) // 2
        sign = _sign(f, arb((middle, -precision)), (COARSE, precision + GUARD_BITS))
        if sign == 0:
            break
        low, high = (low, middle) if (sign > 0) == rises else (middle, high)
    return arb((low + high, -precision - 1), arb((high - low, -precision - 1)))


def _sign(f: Callable[[arb], arb], x: arb, precisions: Iterable[int]) -> int:
    """The sign of f(x); 0 where none of these precisions tells it."""
    previous = flint_context.prec
    try:
        for precision in precisions:
            flint_context.prec = precision
            value = f(x)
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
        return 0
    finally:
        flint_context.prec = previous


def sign_at(f: Callable[[arb], arb], x: int) -> int:
    """1 or -1: the sign of a function at an integer that is no zero of it."""
    return _sign(f, arb(x), (COARSE << i for i in count()))
