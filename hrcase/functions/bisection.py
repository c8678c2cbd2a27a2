"""A zero between two integers, enclosed by bisection."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from flint import arb
from flint import ctx as flint_context

GUARD_BITS = 32


@lru_cache(maxsize=1 << 13)
def zero_between(f: Callable[[arb], arb], n: int, rises: bool, precision: int) -> arb:
    """The one zero of a function in (n, n + 1), to 2^-precision where its sign can be told.

    Args:
        f: an enclosure of a continuous function, whose sign changes once between n and n + 1.
        rises: from negative to positive.
        precision: bits after the point.
    """
    low, high = n << precision, (n + 1) << precision
    previous, flint_context.prec = flint_context.prec, precision + GUARD_BITS
    try:
        while high - low > 1:
            middle = (low + high) // 2
            value = f(arb((middle, -precision)))
            if value > 0:
                is_beyond = rises
            elif value < 0:
                is_beyond = not rises
            else:
                break
            low, high = (low, middle) if is_beyond else (middle, high)
        return arb((low + high, -precision - 1), arb((high - low, -precision - 1)))
    finally:
        flint_context.prec = previous


def sign_at(f: Callable[[arb], arb], x: int) -> int:
    """1 or -1: the sign of a function at an integer that is no zero of it."""
    previous = flint_context.prec
    try:
        flint_context.prec = 64
        while True:
            value = f(arb(x))
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
            flint_context.prec *= 2
    finally:
        flint_context.prec = previous
