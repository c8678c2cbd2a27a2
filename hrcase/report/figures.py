"""What a report says of a job, in numbers: one pass over its file, in bounded memory."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from hrcase import law
from hrcase.claim import Claim, range_text, settled_words
from hrcase.job.directory import reading
from hrcase.job.export import claim_of
from hrcase.job.store import Session, Store
from hrcase.job.units import expected_cases
from hrcase.pieces import Piece, Rule
from hrcase.report.tally import Binade, Range, Tally, binade_of, binades_of, ranges_of
from hrcase.spec import SearchSpec

HARDEST = 10
"""Cases of each kind that a page names."""

SCANNED = "every argument was evaluated"

Row = tuple[str, ...]
"""A case in the columns of the CSV list from x on."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A complete job in numbers.

    Attributes:
        ranges: ascending in x; those with arguments that are searched or evaluated.
        total: over all of them.
        lawful_bits, other_bits: cases by identical bits, where the law applies and elsewhere.
        hardest: the HARDEST cases by the kind of the breakpoint, and by whether the law applies
            to the piece that they lie in; hardest first.
        settled: (where, arguments, kind, what that means, theorem) of each settled range.
        removed: (where, reason) of what is not covered.
        seconds: of the kernels by device, summed over threads and lanes.
    """

    spec: SearchSpec
    claim: Claim
    ranges: list[Range]
    total: Tally
    lawful_bits: Counter[int]
    other_bits: Counter[int]
    hardest: dict[tuple[str, bool], list[Row]]
    settled: list[tuple[str, int, str, str, str]]
    removed: list[tuple[str, str]]
    seconds: dict[str, float]
    sessions: list[Session]

    def needed_bits(self, most: int | None) -> int:
        """m, so that whatever is at most 2^-m ulp from f(x) is on its side of each breakpoint.

        A case with k identical bits is more than 2^-(k+2) ulp from its breakpoint, and an argument
        that is no case at least 2^-M ulp from each, so that 2^-(M+1) will do (docs/formats.md).

        Args:
            most: identical bits of the cases, for a kind of breakpoint that was asked for; None
                where there is no case.
        """
        return self.spec.bits + 1 if most is None else max(most + 2, self.spec.bits + 1)

    def expected_at(self, bits: int) -> float:
        """Cases with so many identical bits by the law: each bit more has half of the rest."""
        return self.total.expected * 0.5 ** (bits - self.spec.bits + 2)


def figures_of(directory: Path) -> Figures:
    """Read a job.

    Raises:
        InputError: there is none.
        Interrupted: it is not complete, or a part of a search.
        CorruptState: it is damaged.
    """
    with reading(directory) as store:
        return _figures(store, claim_of(store))


def _figures(store: Store, claim: Claim) -> Figures:
    inp = store.spec.inp
    searched = _Searched(store)
    bits_where: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    hardest: defaultdict[tuple[str, bool], _Hardest] = defaultdict(_Hardest)
    seconds: defaultdict[str, float] = defaultdict(float)
    for done, rows in store.results():
        if done.device:
            seconds[done.device] += done.seconds
        is_lawful = searched.is_lawful(store.units[done.unit].piece)
        for row in rows:
            x, _, kind, _, _, _, bits = row
            searched.tallies[binade_of(x)].see(kind, int(bits), is_lawful)
            bits_where[is_lawful][int(bits)] += 1
            hardest[kind, is_lawful].see(row)
    total = Tally()
    for tally in searched.tallies.values():
        total.add(tally)
    return Figures(
        spec=store.spec,
        claim=claim,
        ranges=ranges_of(searched.tallies),
        total=total,
        lawful_bits=bits_where[True],
        other_bits=bits_where[False],
        hardest={which: found.rows() for which, found in hardest.items()},
        settled=[settled_words(inp, piece) for piece in store.pieces if piece.settlement],
        removed=[(range_text(inp, r.lo, r.hi), r.reason) for r in store.outside],
        seconds=dict(seconds),
        sessions=store.sessions(),
    )


class _Searched:
    """The pieces that have rows: where the law applies to them, and counts by binade."""

    def __init__(self, store: Store) -> None:
        self.pieces = [piece for piece in store.pieces if piece.rule is not Rule.SETTLED]
        self._starts = [piece.lo for piece in self.pieces]
        self._is_lawful: list[bool] = []
        self.tallies: defaultdict[Binade, Tally] = defaultdict(Tally)
        for piece in self.pieces:
            is_scanned = piece.rule is Rule.SCANNED
            reason = SCANNED if is_scanned else law.exception(store.spec, piece)
            self._is_lawful.append(reason is None)
            for binade, arguments in binades_of(store.spec.inp, piece):
                tally = self.tallies[binade]
                tally.arguments += arguments
                if reason is not None:
                    tally.reasons.add(reason)
                else:
                    tally.expected += expected_cases(store.spec, [piece])

    def is_lawful(self, part: Piece) -> bool:
        """Whether the law applies to the piece that a unit is a part of."""
        return self._is_lawful[bisect_right(self._starts, part.lo) - 1]


class _Hardest:
    """The HARDEST of the rows seen, the first ones of those that are alike."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, float, int, Row]] = []
        self._seen = 0

    def see(self, row: Row) -> None:
        self._seen += 1
        log2_distance, distance = row[4:6]
        entry = (-float(log2_distance), -float(distance), -self._seen, row)
        (heapq.heappush if len(self._heap) < HARDEST else heapq.heappushpop)(self._heap, entry)

    def rows(self) -> list[Row]:
        """Hardest first."""
        return [row for *_, row in sorted(self._heap, reverse=True)]
