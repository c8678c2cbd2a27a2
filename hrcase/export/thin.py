"""Short lists for test suites: the hardest cases of a list, over all or of each binade."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from hrcase.cases import Row
from hrcase.claim import Claim

X, DISTANCE = 0, 5


@dataclass(frozen=True, slots=True)
class Thinning:
    """How many of the hardest cases to keep.

    Hardest means nearest to its breakpoint by the printed distance in ulps; of equals the first.

    Attributes:
        count: how many.
        per_binade: of each input binade 2^e <= |x| < 2^(e+1), of each sign, instead of all.
    """

    count: int
    per_binade: bool

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Those to keep, in their order; of each group, `count` are in memory at a time."""
        groups = groupby(rows, key=_binade_of) if self.per_binade else [(None, rows)]
        for _, group in groups:
            nearest = heapq.nsmallest(self.count, enumerate(group), key=_distance)
            yield from (row for _, row in sorted(nearest))

    def claim(self, claim: Claim, kept: int) -> Claim:
        """What the short list says: that it is not complete.

        Args:
            claim: of the whole list.
            kept: how many cases are left.
        """
        words = f"The {self.count} hardest"
        if self.per_binade:
            words += " of each input binade, or fewer where there are not so many"
        sentence = (
            f"{words}, {kept} of {claim.cases} cases: not complete. The whole list says: "
            f"{claim.sentence}"
        )
        return replace(claim, complete=False, sentence=sentence, cases=kept)


def _binade_of(row: Row) -> tuple[bool, str]:
    """Its sign, and its exponent as it is printed, with a leading 1 (hrcase.hexfloat.to_hex)."""
    return row[X].startswith("-"), row[X].partition("p")[2]


def _distance(numbered: tuple[int, Row]) -> float:
    return float(numbered[1][DISTANCE])
