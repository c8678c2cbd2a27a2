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
    verdicts = [_by(spec, ordinal, evaluator) for evaluator in (by_mpfr, by_arb)]
    told = {verdict for verdict in verdicts if verdict is not None}
    if len(told) == 2:
        raise Contradiction(
            "evaluators",
            f"{at(spec.inp, ordinal)} is {verdicts[0]} by MPFR, and {verdicts[1]} by Arb",
        )
    return verdicts[0] if len(told) == 1 and None not in verdicts else None


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


def _by(spec: SearchSpec, ordinal: int, evaluator: Evaluator) -> str | None:
    """The verdict of one evaluator, with as many bits as it takes."""
    precision = spec.out.precision + spec.bits + 64
    while precision <= MOST_PRECISION:
        try:
            low, high = evaluator(spec.function, *spec.inp.parts(ordinal), precision)
        except OutOfReach as error:
            return CASE if error.vanishes and spec.rounding != "nearest" else FAR
        verdict = _verdict(spec, low, high)
        if verdict is not None:
            return verdict
        precision *= 2
    return None


def _verdict(spec: SearchSpec, low: mpq, high: mpq) -> str | None:
    """What holds of all values of an enclosure, none of which is a breakpoint; None if nothing."""
    axis, last = axis_at(spec, low), axis_at(spec, high)
    if axis != last:
        return None
    if axis is None:
        return FAR
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
