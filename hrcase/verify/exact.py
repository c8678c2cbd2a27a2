"""Exact results in closed form: counted again for each unit, and some of them evaluated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from hrcase.exact_powers import ExactPowers, exact_powers
from hrcase.formats import floor_log2
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis
from hrcase.verify.document import Piece, Unit
from hrcase.verify.findings import Contradiction, at

EVALUATED = 4
"""Of each unit, so many at most."""


class ClosedForms:
    """Those of searched pieces, by the closed form of the entry."""

    def __init__(self, spec: SearchSpec, pieces: Sequence[Piece], axes: Mapping[int, Axis]) -> None:
        self._spec, self._axes = spec, axes
        self._searched = [piece for piece in pieces if piece.rule == "searched"]

    def within(self, lo: int, hi: int) -> ExactPowers | None:
        """Those of a range in one piece; None if it is not searched, or there is no closed form."""
        place = bisect_right(self._searched, lo, key=lambda piece: piece.lo) - 1
        if place < 0 or hi > self._searched[place].hi:
            return None
        spacing = self._axes[self._searched[place].lo].spacing
        return exact_powers(self._spec, lo, hi, floor_log2(spacing))


def some_of_unit(spec: SearchSpec, unit: Unit, forms: ClosedForms) -> list[int]:
    """Exact results of a unit to evaluate, after a look at how many there are.

    Raises:
        Contradiction: the number stated is not that of the closed form, or some are listed, too.
    """
    exact = forms.within(unit.lo, unit.hi)
    count = 0 if exact is None else len(exact)
    if unit.in_closed_form != count:
        raise Contradiction(
            "counts",
            f"the unit at {at(spec.inp, unit.lo)} states {unit.in_closed_form} exact results in "
            f"closed form, and has {count}",
        )
    if exact is None:
        return []
    if unit.exact:
        raise Contradiction(
            "cases", f"{at(spec.inp, unit.exact[0])} is listed, where exact results are counted"
        )
    return list(exact.some(EVALUATED))
