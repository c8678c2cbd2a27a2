"""One argument: a case, an exact case or neither, by two evaluators."""

from __future__ import annotations

from collections.abc import Callable

from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, TooWide, by_arb, by_mpfr
from hrcase.functions.base import Function
from hrcase.spec import SearchSpec
from hrcase.verify.axis import axis_at, is_free
from hrcase.verify.findings import Contradiction, at

CASE, EXACT, FAR = "a case", "an exact case", "no case"
UNTOLD = "not told from an exact case"
"""Of an expression: MPFR's interval with B bits holds a breakpoint, or the end of a window."""

MOST_PRECISION = 1 << 14
MOST_CONFIRMING = 1 << 17
"""Bits of Arb, which may need more than MPFR does."""

Evaluator = Callable[[Function, int, int, int], tuple[mpq, mpq]]


def classify(spec: SearchSpec, ordinal: int, most: int | None = None) -> str | None:
    """CASE, EXACT, FAR, or, of an expression, UNTOLD; None where both evaluators give nothing.

    Args:
        most: bits of MPFR; default MOST_PRECISION, B of an expression.

    Raises:
        Contradiction: MPFR and Arb say different things, or the rule for exact values is wrong.
    """
    f = spec.function
    exact = f.exact(spec.inp.value(ordinal))
    if exact is not None:
        return _of_exact(spec, ordinal, exact)
    most = most or f.decided_bits or MOST_PRECISION
    least = spec.out.precision + spec.bits + 64
    try:
        verdict, precision = _by(spec, ordinal, by_mpfr, least, most)
    except OutOfReach as error:
        return CASE if error.vanishes and spec.rounding != "nearest" else FAR
    if verdict is None:
        return UNTOLD if f.decided_bits else None
    limit = MOST_CONFIRMING if f.decided_bits else MOST_PRECISION
    other, _ = _by(spec, ordinal, _by_balls, precision, limit)
    if other is None:
        return None
    if verdict != other:
        raise Contradiction(
            "evaluators", f"{at(spec.inp, ordinal)} is {verdict} by MPFR, and {other} by Arb"
        )
    return verdict


def is_exact(spec: SearchSpec, ordinal: int, verdict: str | None) -> bool:
    """Whether an argument with this verdict may be listed among the exact cases.

    Of an expression: also where B bits do not tell, or do so with digits too few for a row; half of
    them are asked then. The claim names these arguments.
    """
    bits = spec.function.decided_bits
    if verdict in (EXACT, UNTOLD) or not bits:
        return verdict in (EXACT, UNTOLD)
    return classify(spec, ordinal, bits // 2) == UNTOLD


def _of_exact(spec: SearchSpec, ordinal: int, exact: mpq) -> str:
    precision = spec.out.precision + spec.bits + 64
    try:
        low, high = by_arb(spec.function, *spec.inp.parts(ordinal), precision)
    except OutOfReach:
        low = high = exact
    if not (low <= exact <= high):
        raise Contradiction(
            "evaluators",
            f"at {at(spec.inp, ordinal)} the entry's rule gives {exact}, and Arb another value",
        )
    axis = axis_at(spec, exact)
    if axis is None:
        return FAR
    position = axis.position(exact)
    k = int((2 * position + 1) // 2)
    if not axis.is_breakpoint(k) or abs(position - k) >= axis.window:
        return FAR
    return EXACT if position == k else CASE


def _by(
    spec: SearchSpec, ordinal: int, evaluator: Evaluator, precision: int, most: int
) -> tuple[str | None, int]:
    """The verdict of one evaluator, with as many bits as it takes, and how many these were."""
    while precision <= most:
        try:
            verdict = _verdict(spec, *evaluator(spec.function, *spec.inp.parts(ordinal), precision))
        except TooWide:
            verdict = None
        if verdict is not None:
            return verdict, precision
        precision *= 2
    return None, precision


def _by_balls(f: Function, m: int, e: int, precision: int) -> tuple[mpq, mpq]:
    try:
        return by_arb(f, m, e, precision)
    except OutOfReach as error:  # perhaps for want of bits
        raise TooWide from error


def _verdict(spec: SearchSpec, low: mpq, high: mpq) -> str | None:
    """What holds of all values of an enclosure, none of which is a breakpoint; None if nothing."""
    if is_free(spec, low, high):
        return FAR
    axis = axis_at(spec, low)
    if axis is None or axis != axis_at(spec, high):
        return None
    ends = axis.position(low), axis.position(high)
    k = int((2 * ends[0] + 1) // 2)
    inside = all(abs(end - k) < axis.window for end in ends) and axis.is_breakpoint(k)
    return CASE if inside and not ends[0] <= k <= ends[1] else None
