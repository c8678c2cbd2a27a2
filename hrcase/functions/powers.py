"""pown, rootn and compound: families of functions, one for each integer N."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpfr, mpq

from hrcase.formats import Format, floor_log2, scale
from hrcase.functions.base import Function, Tail, no_poles, no_tails, zero_if_between
from hrcase.functions.roots import rational_root
from hrcase.functions.rounding import (
    Bracket,
    Directed,
    as_rational,
    correctly_rounded,
    exactly,
)

MOST_N = 1 << 10
"""Largest |N|: exact values have up to N times the bits of x, and are written out."""

MOST_EXPONENT = 1 << 20
"""Powers beyond 2^+-this are not written out: they are beyond every format."""


def _power(x: mpq, n: int) -> mpq | None:
    """x^n; None where it is not defined, or far beyond every format."""
    if x == 0:
        return mpq(0) if n > 0 else None
    return None if abs(n * floor_log2(abs(x))) > MOST_EXPONENT else x**n


def _power_series(n: int, x: arb_series) -> arb_series:
    if x[0] < 0:
        return -_power_series(n, -x) if n % 2 else _power_series(n, -x)
    return x**n


def _pown(name: str, n: int) -> Function:
    return Function(
        name=name,
        formula=f"x^{n}",
        mpfr=lambda context, x: context.pow(x, n),
        arb=lambda x: x**n,
        series=partial(_power_series, n),
        exact=lambda x: _power(x, n),
        exact_rule=(
            f"x^{n} is dyadic for every x: a number, or a midpoint, where the odd part of x to the "
            f"power {n} has few enough bits"
            if n > 0
            else f"x^{n} is rational; it is dyadic for the powers of two, and their negatives, only"
        ),
        exponent=(n, 1) if n > 0 else None,
        poles=no_poles if n > 0 else zero_if_between,
        poles_in_words="" if n > 0 else "0",
        monotone=f"pown' = {n} x^{n - 1} has one sign on each side of 0",
        symmetry="odd" if n % 2 else "even",
        evaluators="MPFR's pow_z; Arb's power",
    )


def _root(x: mpq, n: int) -> mpq | None:
    """x^(1/n) where it is rational."""
    if (x < 0 and n % 2 == 0) or (x == 0 and n < 0):
        return None
    root = rational_root(abs(x), abs(n))
    if root is None:
        return None
    signed = root if x >= 0 else -root
    return signed if n > 0 else 1 / signed


def _root_arb(n: int, x: arb) -> arb:
    root = -((-x).root(abs(n))) if x < 0 else x.root(abs(n))
    return root if n > 0 else 1 / root


def _root_series(n: int, x: arb_series) -> arb_series:
    return -_root_series(n, -x) if x[0] < 0 else (x.log() / n).exp()


def _reciprocal_root(n: int, at: Directed, x: mpfr) -> Bracket:
    """1 over the n-th root, n > 0: on each side of 0 it falls as the root grows."""
    return at.down.div(1, at.up.rootn(x, n)), at.up.div(1, at.down.rootn(x, n))


def _rootn(name: str, n: int) -> Function:
    exact = partial(_root, n=n)
    is_odd = n % 2 == 1
    return Function(
        name=name,
        formula=f"x^({'-' if n < 0 else ''}1/{abs(n)})",
        mpfr=(
            (lambda context, x: context.rootn(x, n))
            if n > 0
            else correctly_rounded(partial(_reciprocal_root, -n), exact)
        ),
        arb=partial(_root_arb, n),
        series=partial(_root_series, n),
        lo=float("-inf") if is_odd else mpq(0),
        closed=n > 0 and not is_odd,
        outside="" if is_odd else f"{name} is not defined for x {'<' if n > 0 else '<='} 0",
        exact=exact,
        exact_rule=(
            "a rational in lowest terms has a rational root exactly when its numerator and its "
            "denominator are powers; "
            + ("that root of a dyadic number is dyadic" if n > 0 else "1 over it is dyadic for 2^k")
        ),
        exponent=(1, n) if n > 0 else None,
        poles=zero_if_between if n < 0 and is_odd else no_poles,
        poles_in_words="0" if n < 0 and is_odd else "",
        monotone="rootn' = x^(1/N - 1)/N has one sign on each side of 0",
        symmetry="odd" if is_odd else "",
        evaluators=(
            "MPFR's rootn; Arb's root"
            if n > 0
            else "1 over MPFR's rootn, bracketed by directed rounding; 1 over Arb's root"
        ),
    )


def _like_powers(n: int, inp: Format, out: Format, bits: int, rounding: str) -> list[Tail]:
    """Large x, where (1 + x)^n lies above x^n by less than all that matters is a multiple of.

    With 2^l >= n, x^n < 2^(e+p)n a multiple of 2^(n e), and d = (1 + x)^n - x^n < 2n x^(n-1):
    d < 2^(n e) from x = 2^(n p + 1 + l) on, and d < 2^-M ulp(x^n) from 2^(M + p' + 1 + l) on
    (docs/functions.md, section 3).
    """
    del rounding
    spread = (n - 1).bit_length()
    first = max(n * inp.precision + 1 + spread, bits + out.precision + 1 + spread)
    end = -(-(out.emax + 1) // n)
    if first >= end:
        return []
    reason = (
        f"(1 + x)^{n} is so little above x^{n} that exactly the x are cases for which x^{n} is a "
        f"breakpoint, less than 2^-{bits} ulp above one, or at most 2^-{bits} ulp below one"
    )
    return [Tail(scale(1, first), scale(1, end), "c", reason, "powers")]


def _compound(name: str, n: int) -> Function:
    def rounded(context: gmpy2.context, x: mpfr) -> mpfr:
        base = 1 + as_rational(x)
        return context.pow(exactly(base), n) if base >= 0 else mpfr("nan")

    return Function(
        name=name,
        formula=f"(1 + x)^{n}",
        mpfr=rounded,
        arb=lambda x: (1 + x) ** n,
        series=lambda x: _power_series(n, 1 + x),
        lo=mpq(-1),
        closed=n > 0,
        outside=f"{name} is not defined for x {'<' if n > 0 else '<='} -1",
        exact=lambda x: _power(1 + x, n) if x >= -1 else None,
        exact_rule=(
            f"(1 + x)^{n} is dyadic for every x: a number, or a midpoint, where the odd part of "
            f"1 + x to the power {n} has few enough bits"
            if n > 0
            else f"(1 + x)^{n} is rational; it is dyadic where 1 + x is a power of two only"
        ),
        monotone=f"compound' = {n} (1 + x)^{n - 1} has one sign for x > -1",
        tails=partial(_like_powers, n) if n > 0 else no_tails,
        tails_in_words=(
            f"x >= 2^max({n} p + k, M + p' + k), k = {1 + (n - 1).bit_length()}: cases are the x "
            f"whose x^{n} is a breakpoint, or near one"
            if n > 0
            else ""
        ),
        evaluators="MPFR's pow_z of the exact 1 + x; Arb's power of 1 + x",
    )


@dataclass(frozen=True, slots=True)
class Family:
    """Functions that differ in an integer.

    Attributes:
        name: what stands before the colon.
        formula: of all of them.
        entry: the entry from its whole name and N.
    """

    name: str
    formula: str
    entry: Callable[[str, int], Function]


FAMILIES = {
    family.name: family
    for family in (
        Family("pown", "x^N", _pown),
        Family("rootn", "x^(1/N)", _rootn),
        Family("compound", "(1 + x)^N", _compound),
    )
}


@lru_cache(maxsize=256)
def member(family: str, n: int) -> Function:
    """The entry of a family's function."""
    return FAMILIES[family].entry(f"{family}:{n}", n)
