"""Many candidates at once: in this process when few, in worker processes when many.

python-flint's precision is global to a process and its calls hold the interpreter's lock, so
threads would neither help nor be safe.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from hrcase.cases import HRCase
from hrcase.spec import SearchSpec
from hrcase.ziv import Rejection, refine

CHUNK = 1 << 12
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


class Refiner:
    """Ziv's refinement for one search, with its pool of processes."""

    def __init__(self, spec: SearchSpec, processes: int) -> None:
        self.spec, self.processes = spec, processes
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Refiner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def refine(self, ordinals: list[int]) -> Refined:
        """Decide a list of arguments."""
        chunks = [ordinals[i : i + CHUNK] for i in range(0, len(ordinals), CHUNK)]
        return self._all(chunks, len(ordinals))

    def refine_ranges(self, ranges: list[tuple[int, int]]) -> Refined:
        """Decide every argument of half-open ranges of ordinals."""
        chunks = chain.from_iterable(_chunks(lo, hi) for lo, hi in ranges)
        return self._all(chunks, sum(hi - lo for lo, hi in ranges))

    def _all(self, chunks: Iterable[Iterable[int]], count: int) -> Refined:
        work = partial(refine_chunk, self.spec)
        total = Refined()
        results = (
            map(work, chunks)
            if count < FEW or self.processes == 1
            else (self._workers().map(work, chunks))
        )
        for part in results:
            total.cases += part.cases
            total.exact += part.exact
            total.rejected += part.rejected
        return total

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, mp_context=context)
        return self._pool


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
