"""Many candidates at once: in this process when few, in worker processes when many."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from hrcase.cases import HRCase
from hrcase.spec import SearchSpec
from hrcase.workers import Workers
from hrcase.ziv import Rejection, refine

CHUNK = 1 << 11
FEW = 1 << 14
"""Below so many arguments a pool would cost more than it saves."""


@dataclass
class Refined:
    """What became of some arguments.

    Attributes:
        exact: ordinals of those whose result lies on a breakpoint.
        rejected: how many were too far from one.
    """

    cases: list[HRCase] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)
    rejected: int = 0

    def __iadd__(self, other: Refined) -> Refined:
        self.cases += other.cases
        self.exact += other.exact
        self.rejected += other.rejected
        return self


class Refiner:
    """Ziv's refinement for one search."""

    def __init__(self, spec: SearchSpec, workers: Workers) -> None:
        self.spec, self.workers = spec, workers
        self._begun: list[Future[Refined]] = []

    def begin(self, ordinals: list[int]) -> None:
        """Start on the whole chunks of a list that still grows, if there are processes for it."""
        while self.workers.are_running and len(ordinals) >= (len(self._begun) + 1) * CHUNK:
            chunk = ordinals[len(self._begun) * CHUNK :][:CHUNK]
            self._begun.append(self.workers.submit(partial(refine_chunk, self.spec), chunk))

    def refine(self, ordinals: list[int]) -> Refined:
        """Decide a list of arguments: the one that was begun with, if there was one."""
        rest = ordinals[len(self._begun) * CHUNK :]
        chunks = (rest[i : i + CHUNK] for i in range(0, len(rest), CHUNK))
        total = self._all(chunks, len(rest))
        for begun in self._begun:
            total += begun.result()
        return total

    def refine_ranges(self, ranges: list[tuple[int, int]]) -> Refined:
        """Decide every argument of half-open ranges of ordinals."""
        chunks = chain.from_iterable(_chunks(lo, hi) for lo, hi in ranges)
        return self._all(chunks, sum(hi - lo for lo, hi in ranges))

    def _all(self, chunks: Iterable[Iterable[int]], count: int) -> Refined:
        work = partial(refine_chunk, self.spec)
        few = count < FEW or self.workers.processes == 1
        total = Refined()
        for part in map(work, chunks) if few else self.workers.ordered(work, chunks):
            total += part
        return total


def refine_chunk(spec: SearchSpec, ordinals: Iterable[int]) -> Refined:
    """Decide some arguments, in this process."""
    part = Refined()
    for ordinal in ordinals:
        verdict = refine(spec, ordinal)
        if isinstance(verdict, HRCase):
            part.cases.append(verdict)
        elif verdict is Rejection.EXACT:
            part.exact.append(ordinal)
        else:
            part.rejected += 1
    return part


def _chunks(lo: int, hi: int) -> Iterable[range]:
    return (range(i, min(i + CHUNK, hi)) for i in range(lo, hi, CHUNK))
