"""One argument: a case, an exact case or neither, by two evaluators."""

from __future__ import annotations

from collections.abc import Callable

from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, by_arb, by_mpfr
from hrcase.functions.base import Function
from hrcase.spec import SearchSpec
from hrcase.verify.axis import axis_at
from hrcase.verify.findings import Contradiction, at

CASE, EXACT, FAR = "a case", "an exact case", "no case"
MOST_PRECISION = 1 << 14

Evaluator = Callable[[Function, int, int, int], tuple[mpq, mpq]]


def classify(spec: SearchSpec, ordinal: int) -> str | None:
    """CASE, EXACT or FAR; None where MOST_PRECISION bits do not tell.

    Raises:
        Contradiction: MPFR and Arb say different things, or the rule for exact values is wrong.
    """
    exact = spec.function.exact(spec.inp.value(ordinal))
    if exact is not None:
        return _of_exact(spec, ordinal, exact)
    try:
        verdict, precision = _by(spec, ordinal, by_mpfr, spec.out.precision + spec.bits + 64)
    except OutOfReach as error:
        return CASE if error.vanishes and spec.rounding != "nearest" else FAR
    try:
        other, _ = _by(spec, ordinal, by_arb, precision)
    except OutOfReach:
        return None
    if verdict is None or other is None:
        return None
    if verdict != other:
        raise Contradiction(
            "evaluators", f"{at(spec.inp, ordinal)} is {verdict} by MPFR, and {other} by Arb"
        )
    return verdict


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
    spec: SearchSpec, ordinal: int, evaluator: Evaluator, precision: int
) -> tuple[str | None, int]:
    """The verdict of one evaluator, with as many bits as it takes, and how many these were."""
    while precision <= MOST_PRECISION:
        verdict = _verdict(spec, *evaluator(spec.function, *spec.inp.parts(ordinal), precision))
        if verdict is not None:
            return verdict, precision
        precision *= 2
    return None, precision


def _verdict(spec: SearchSpec, low: mpq, high: mpq) -> str | None:
    """What holds of all values of an enclosure, none of which is a breakpoint; None if nothing."""
    axis, last = axis_at(spec, low), axis_at(spec, high)
    if axis != last:
        return None
    if axis is None:
        return FAR if low * high > 0 else None
    ends = axis.position(low), axis.position(high)
    k = int((2 * ends[0] + 1) // 2)
    if k != int((2 * ends[1] + 1) // 2):
        return None
    if not axis.is_breakpoint(k):
        return FAR
    distances = sorted(abs(end - k) for end in ends)
    if not ends[0] <= k <= ends[1] and distances[1] < axis.window:
        return CASE
    is_far = not ends[0] < k < ends[1] and distances[0] >= axis.window
    return FAR if is_far else None
