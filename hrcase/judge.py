"""Deciding the entries of lists that others wrote: their distances are computed, not believed."""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.cases import HRCase
from hrcase.errors import InputError
from hrcase.export.reader import CaseList, Entry
from hrcase.formats import format_by_name
from hrcase.hexfloat import parse_number
from hrcase.spec import SearchSpec, everything
from hrcase.ziv import Rejection, Vanishes, refine

PRINTED = mpq(1, 10**6)
"""Relative error that a stated distance may have: BaCSeL prints ten digits of doubles."""


@dataclass(frozen=True, slots=True)
class Misstated:
    """An entry whose stated distance is wrong, and what it is, in words."""

    cases: CaseList
    entry: Entry
    distance: str


class Judge:
    """Decides entries by Ziv's loop, with MPFR and Arb; notes distances that are stated wrongly.

    Attributes:
        misstated: in the order in which they were met.
    """

    def __init__(self, spec: SearchSpec) -> None:
        self.spec = spec
        self.misstated: list[Misstated] = []

    def __call__(self, cases: CaseList, entry: Entry) -> bool:
        """Whether f(x) lies within 2^-M ulp of a breakpoint, and not on it.

        Raises:
            InputError: x is no number of the format, or f is not defined there.
            SelfTestFailed: MPFR and Arb contradict each other.
        """
        spec = self.spec
        try:
            ordinal = spec.inp.ordinal(entry.x)
        except InputError:
            raise self._refused(
                cases, entry, f"x is no {spec.inp.name} number; give its --format"
            ) from None
        if not spec.function.contains(entry.x):
            what = f"{spec.function_name} is not defined, or not searched, at x"
            raise self._refused(cases, entry, f"{what}; give the right --function")
        try:
            verdict = refine(spec, ordinal)
        except Vanishes:
            if entry.distance is not None and entry.distance >= spec.threshold:
                self.misstated.append(Misstated(cases, entry, "next to 0"))
            return True
        if entry.distance is not None and not self._agrees(entry.distance, verdict):
            self.misstated.append(Misstated(cases, entry, self._in_words(verdict)))
        return isinstance(verdict, HRCase)

    def _agrees(self, stated: mpq, verdict: HRCase | Rejection) -> bool:
        if not isinstance(verdict, HRCase):
            least = (1 - PRINTED) * self.spec.threshold
            return bool(stated >= least if verdict is Rejection.TOO_FAR else stated == 0)
        distance = parse_number(verdict.distance_ulp)
        return bool(abs(stated - distance) <= PRINTED * distance)

    def _in_words(self, verdict: HRCase | Rejection) -> str:
        if isinstance(verdict, HRCase):
            return f"{verdict.distance_ulp} ulp"
        return f"2^-{self.spec.bits} ulp or more" if verdict is Rejection.TOO_FAR else "0"

    @staticmethod
    def _refused(cases: CaseList, entry: Entry, why: str) -> InputError:
        return InputError(f"{cases.path}:{entry.line}: cannot decide this entry; {why}")


def judge_for(
    lists: tuple[CaseList, CaseList], bits: int, function: str | None, form: str | None
) -> Judge | None:
    """Who decides what is below 2^-bits ulp in lists that are not ours; None for nobody.

    Args:
        function: whose lists they are. None: what one of our lists says, if another list states
            distances of its own.
        form: format of x and of f(x). None: what one of our lists says, else binary64.

    Raises:
        InputError: there is no such function or format, or `bits` is out of range.
    """
    foreign = any(cases.states_distances and not cases.is_ours for cases in lists)
    if function is None and foreign:
        function = next((cases.function for cases in lists if cases.function), None)
    if function is None:
        return None
    named = form or next((cases.format_name for cases in lists if cases.format_name), "binary64")
    inp = format_by_name(named)
    return Judge(SearchSpec(function, inp, inp, bits, "all", everything(inp)))
