"""The search: pieces, blocks, candidates, cases, in one straight walk."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from hrcase.cases import HRCase
from hrcase.claim import Claim, make_claim
from hrcase.domain import DEFAULT_SCAN, Piece, Removed, Rule, removed, split
from hrcase.engine import Counts
from hrcase.engine import cpu as cpu_engine
from hrcase.errors import HrcaseError, InputError
from hrcase.plan import PlannedBlock, Tuning, next_block, plan
from hrcase.refine import Refiner
from hrcase.spec import SearchSpec

DEFAULT_METHOD = "regular"
DEFAULT_MOST_CASES = 10**7
BYTES_A_ROW = 140
SECONDS_A_CASE = 1e-4
SECONDS_A_DOMAIN = 1.5e-7
IN_FLIGHT = 3
"""Blocks handed to each thread at a time."""


@dataclass
class Statistics:
    """What a search did, for its summary.

    Attributes:
        pieces, arguments: how many by rule.
        counts: the kernels' counters, summed.
        rejected: candidates that turned out to be too far from a breakpoint.
        exact: exact cases and exact midpoints met.
        expected: cases that the law 2w predicts over the searched pieces.
        found_searched: cases found in searched pieces.
        seconds: by stage (kernels: summed over threads).
    """

    pieces: Counter[str] = field(default_factory=Counter)
    arguments: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    exact: int = 0
    expected: float = 0.0
    found_searched: int = 0
    seconds: Counter[str] = field(default_factory=Counter)


@dataclass
class SearchResult:
    """A complete answer.

    Attributes:
        cases: sorted by x.
        settled: the settled pieces, ascending.
        exact: ordinals of the exact cases and exact midpoints that were met.
    """

    spec: SearchSpec
    cases: list[HRCase]
    settled: list[Piece]
    removed: list[Removed]
    exact: list[int]
    statistics: Statistics

    @property
    def claim(self) -> Claim:
        """What the result says."""
        return make_claim(
            self.spec, self.settled, self.removed, len(self.cases), len(self.exact)
        )


class Stopped(HrcaseError):
    """The search was interrupted; nothing of its result is kept.

    Attributes:
        finished, remaining: ranges of ordinals, half open, ascending.
    """

    exit_code = 4

    def __init__(self, finished: list[tuple[int, int]], remaining: list[tuple[int, int]]) -> None:
        super().__init__("stopped before the end")
        self.finished, self.remaining = finished, remaining


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is: work done and in all (in domain tests), candidates found so far."""

    done: float
    total: float
    candidates: int


Watcher = Callable[[Progress], None]


def search(
    spec: SearchSpec,
    method: str = DEFAULT_METHOD,
    threads: int | None = None,
    tuning: Tuning | None = None,
    most_cases: int = DEFAULT_MOST_CASES,
    watch: Watcher | None = None,
) -> SearchResult:
    """Find every case that the spec asks for.

    Args:
        method: "regular" or "lefevre"; it never changes the result.
        threads: worker threads, default all processors.
        tuning: choices that a test may fix.
        most_cases: refuse when more cases than this are expected.
        watch: called with the progress, a few times a second.

    Raises:
        InputError: more cases than most_cases are expected.
        Stopped: after KeyboardInterrupt, with what was finished and what remains.
        ToolchainError: no compiler.
        SelfTestFailed: the two evaluators contradict each other.
    """
    tuning = tuning or Tuning()
    run = _Run(spec, method, threads or os.cpu_count() or 1, tuning, watch)
    return run.result(most_cases)


class _Run:
    """The state of one search while it runs."""

    def __init__(
        self, spec: SearchSpec, method: str, threads: int, tuning: Tuning, watch: Watcher | None
    ) -> None:
        self.spec, self.method, self.threads, self.tuning = spec, method, threads, tuning
        self.watch = watch
        self.statistics = Statistics()
        self.done: list[tuple[int, int]] = []
        self.work_done = 0.0
        self.work_total = 0.0
        self.candidates: list[int] = []
        self.pieces: list[Piece] = []

    def result(self, most_cases: int) -> SearchResult:
        """Run it."""
        spec, statistics = self.spec, self.statistics
        outside = removed(spec)
        with self._timed("splitting"):
            scan = DEFAULT_SCAN if self.tuning.scan is None else self.tuning.scan
            pieces = self.pieces = list(split(spec, scan))
        self._count(pieces)
        weights = self._weigh(pieces)
        self._refuse_floods(pieces, most_cases)
        self.work_total = sum(weights)
        with Refiner(spec, self.threads) as refiner:
            try:
                scanned = self._search_pieces(pieces, refiner)
                with self._timed("refinement"):
                    searched = refiner.refine(self.candidates)
                    evaluated = refiner.refine_ranges(scanned)
            except KeyboardInterrupt:
                raise self._stopped() from None
        statistics.rejected = searched.rejected
        statistics.found_searched = len(searched.cases)
        exact = sorted(searched.exact + evaluated.exact)
        statistics.exact = len(exact)
        cases = sorted(searched.cases + evaluated.cases, key=lambda case: case.x)
        settled = [piece for piece in pieces if piece.rule is Rule.SETTLED]
        return SearchResult(spec, cases, settled, outside, exact, statistics)

    def _count(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self.statistics.pieces[piece.rule] += 1
            self.statistics.arguments[piece.rule] += piece.count
            if piece.rule is Rule.SEARCHED:
                share = 2 * float(self.spec.window(piece.key))
                self.statistics.expected += share * piece.count

    def _weigh(self, pieces: list[Piece]) -> list[float]:
        """The work in each piece, in domain tests, from the block at its start."""
        weights = []
        with self._timed("planning"):
            for piece in pieces:
                weight = 0.0
                if piece.rule is Rule.SEARCHED:
                    block = next_block(self.spec, piece, piece.lo, self.tuning)
                    weight = _weight(block) * piece.count / block.count
                weights.append(weight)
        return weights

    def _refuse_floods(self, pieces: list[Piece], most_cases: int) -> None:
        scanned = self.statistics.arguments[Rule.SCANNED]
        cases = self.statistics.expected + (scanned if scanned > most_cases else 0)
        if cases <= most_cases:
            return
        size, seconds = cases * BYTES_A_ROW, cases * SECONDS_A_CASE
        raise InputError(
            f"this search would give about {cases:.3g} cases, {size:.3g} bytes, and take at least "
            f"{seconds:.3g} seconds for them alone; ask for more --bits, or allow it with "
            f"--max-cases {int(cases * 1.1)}"
        )

    def _search_pieces(self, pieces: list[Piece], refiner: Refiner) -> list[tuple[int, int]]:
        """Run all blocks; return the ranges that must be evaluated one by one."""
        scanned: list[tuple[int, int]] = []
        with ThreadPoolExecutor(self.threads) as pool:
            flying: dict[Future[Counts], PlannedBlock] = {}
            try:
                for block in self._blocks(pieces, scanned):
                    flying[pool.submit(self._run_block, block)] = block
                    while len(flying) >= IN_FLIGHT * self.threads:
                        self._land(flying)
                while flying:
                    self._land(flying)
            except BaseException:
                for future in flying:
                    future.cancel()
                raise
        return scanned

    def _blocks(
        self, pieces: Iterable[Piece], scanned: list[tuple[int, int]]
    ) -> Iterator[PlannedBlock]:
        for piece in pieces:
            if piece.rule is Rule.SETTLED:
                self.done.append((piece.lo, piece.hi))
            elif piece.rule is Rule.SCANNED:
                scanned.append((piece.lo, piece.hi))
            else:
                yield from self._searched_blocks(piece, scanned)

    def _searched_blocks(
        self, piece: Piece, scanned: list[tuple[int, int]]
    ) -> Iterator[PlannedBlock]:
        blocks = plan(self.spec, piece, self.tuning)
        while True:
            with self._timed("polynomials"):
                block = next(blocks, None)
            if block is None:
                return
            if block.block is not None:
                yield block
            else:
                self.statistics.arguments[Rule.SEARCHED] -= block.count
                self.statistics.arguments[Rule.SCANNED] += block.count
                scanned.append((block.first, block.first + block.count))

    def _run_block(self, planned: PlannedBlock) -> Counts:
        assert planned.block is not None
        started = time.perf_counter()
        method = self.method if planned.domains else "scan"
        found, counts = cpu_engine.run(planned.block, method)
        self.candidates.extend(planned.ordinal(int(u)) for u in found)
        self.statistics.seconds["kernels, all threads"] += time.perf_counter() - started
        return counts

    def _land(self, flying: dict[Future[Counts], PlannedBlock]) -> None:
        """Wait for a block, count it, say how far the search is."""
        finished, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in finished:
            planned = flying.pop(future)
            for name, value in vars(future.result()).items():
                self.statistics.counts[name] += value
            if not planned.domains:
                self.statistics.counts["scanned_blocks"] += 1
            else:
                self.statistics.counts["tested_arguments"] += planned.count
            self.done.append((planned.first, planned.first + planned.count))
            self.work_done += _weight(planned)
        if self.watch is not None:
            self.watch(Progress(self.work_done, self.work_total, len(self.candidates)))

    def _stopped(self) -> Stopped:
        finished = _joined(sorted(self.done))
        remaining = []
        for lo, hi in _joined([(piece.lo, piece.hi) for piece in self.pieces]):
            for a, b in finished:
                if lo < min(a, hi):
                    remaining.append((lo, min(a, hi)))
                lo = max(lo, min(b, hi))
            if lo < hi:
                remaining.append((lo, hi))
        return Stopped(finished, remaining)

    def _timed(self, stage: str) -> _Stopwatch:
        return _Stopwatch(self.statistics.seconds, stage)


class _Stopwatch:
    def __init__(self, seconds: Counter[str], stage: str) -> None:
        self.seconds, self.stage = seconds, stage

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.stage] += time.perf_counter() - self.started


def _weight(planned: PlannedBlock) -> float:
    """Work in domain tests; a scanned argument counts as a hundredth of one."""
    if planned.block is None or not planned.domains:
        return planned.count / 100
    return planned.count / (1 << planned.block.domain_log2)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for lo, hi in ranges:
        if joined and joined[-1][1] == lo:
            joined[-1] = (joined[-1][0], hi)
        else:
            joined.append((lo, hi))
    return joined
