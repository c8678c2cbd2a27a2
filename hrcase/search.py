"""The search: pieces, blocks, candidates, cases, in one straight walk."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial

from hrcase.cases import HRCase
from hrcase.claim import Claim, make_claim
from hrcase.domain import DEFAULT_SCAN, Piece, Removed, Rule, removed, split
from hrcase.engine import Counts, Engine
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import HrcaseError, InputError
from hrcase.plan import PlannedBlock, Tuning, next_block, parcels, plan_parcel
from hrcase.refine import Refiner, refine_chunk
from hrcase.spec import SearchSpec
from hrcase.workers import Workers

DEFAULT_METHOD = "farey"
DEFAULT_MOST_CASES = 10**7
BYTES_A_ROW = 140
SECONDS_A_CASE = 1e-4
SECONDS_A_DOMAIN = 1.5e-7
IN_FLIGHT = 3
"""Slices handed to each worker of the engine at a time."""

MANY_BLOCKS = 2048
"""From so many blocks on, worker processes are worth their start."""

MOST_CASES_ON_STOP = 10_000
"""A stopped search refines what it has found so far if it is no more than this."""


@dataclass
class Statistics:
    """What a search did, for its summary.

    Attributes:
        method: by which blocks were searched, where a scan of their cubics did not cost less.
        pieces, arguments: how many by rule.
        counts: the kernels' counters, summed.
        rejected: candidates that turned out to be too far from a breakpoint.
        exact: exact cases and exact midpoints met.
        expected: cases that the law 2w predicts over the searched pieces.
        found_searched: cases found in searched pieces.
        seconds: by stage (kernels: summed over the engine's workers).
    """

    method: str
    pieces: Counter[str] = field(default_factory=Counter)
    arguments: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    exact: int = 0
    expected: float = 0.0
    found_searched: int = 0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


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
        return make_claim(self.spec, self.settled, self.removed, len(self.cases), len(self.exact))


class Stopped(HrcaseError):
    """The search was interrupted.

    Attributes:
        finished, remaining: ranges of ordinals, half open, ascending.
        ranges: the settled pieces of kind "b" and "c" among the finished ones: their cases are no
            rows.
        cases: those found in the finished ranges; None where there are more candidates than
            MOST_CASES_ON_STOP.
    """

    exit_code = 4

    def __init__(
        self,
        finished: list[tuple[int, int]],
        remaining: list[tuple[int, int]],
        ranges: list[Piece],
        cases: list[HRCase] | None,
    ) -> None:
        super().__init__("stopped before the end")
        self.finished, self.remaining = finished, remaining
        self.ranges, self.cases = ranges, cases


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
    engine: Engine | None = None,
) -> SearchResult:
    """Find every case that the spec asks for.

    Args:
        method: "farey", "regular" or "lefevre"; it never changes the result.
        threads: of the CPU engine and processes for the refinement, default all processors.
        tuning: choices that a test may fix.
        most_cases: refuse when more cases than this are expected.
        watch: called with the progress, a few times a second.
        engine: what runs the kernels, default the CPU. It never changes the result.

    Raises:
        InputError: more cases than most_cases are expected.
        Stopped: after KeyboardInterrupt, with what was finished and what remains.
        ToolchainError: no compiler.
        SelfTestFailed: the two evaluators contradict each other.
    """
    tuning = replace(tuning or Tuning(), method=method)
    threads = threads or os.cpu_count() or 1
    run = _Run(spec, threads, tuning, watch, engine or CpuEngine(threads))
    return run.result(most_cases)


class _Run:
    """The state of one search while it runs."""

    def __init__(
        self,
        spec: SearchSpec,
        threads: int,
        tuning: Tuning,
        watch: Watcher | None,
        engine: Engine,
    ) -> None:
        self.spec, self.threads, self.tuning = spec, threads, tuning
        self.watch, self.engine = watch, engine
        self.statistics = Statistics(tuning.method)
        self.done: list[tuple[int, int]] = []
        self.work_done = 0.0
        self.work_total = 0.0
        self.candidates: list[int] = []
        self.pieces: list[Piece] = []
        self.parcels: list[Piece] = []
        self.blocks = 0
        self.shapes: set[tuple[int, int]] = set()

    def result(self, most_cases: int) -> SearchResult:
        """Run it."""
        outside = removed(self.spec)
        with Workers(self.threads) as workers:
            refiner = Refiner(self.spec, workers)
            try:
                return self._complete(most_cases, outside, refiner)
            except KeyboardInterrupt:
                raise self._stopped() from None

    def _complete(self, most_cases: int, outside: list[Removed], refiner: Refiner) -> SearchResult:
        spec, statistics = self.spec, self.statistics
        self.pieces, self.parcels = self._split(refiner.workers)
        self._count()
        self._refuse_floods(most_cases)
        scanned = self._search_pieces(refiner)
        with self._timed("refinement"):
            searched = refiner.refine(self.candidates)
            evaluated = refiner.refine_ranges(scanned)
        statistics.rejected = searched.rejected
        statistics.found_searched = len(searched.cases)
        exact = sorted(searched.exact + evaluated.exact)
        statistics.exact = len(exact)
        cases = sorted(searched.cases + evaluated.cases, key=lambda case: case.x)
        settled = [piece for piece in self.pieces if piece.rule is Rule.SETTLED]
        return SearchResult(spec, cases, settled, outside, exact, statistics)

    def _split(self, workers: Workers) -> tuple[list[Piece], list[Piece]]:
        """All pieces, and the parcels of those to be searched.

        The worker processes start as soon as there is enough for them: they take about a second.
        """
        scan = DEFAULT_SCAN if self.tuning.scan is None else self.tuning.scan
        following = split(self.spec, scan)
        pieces: list[Piece] = []
        to_plan: list[Piece] = []
        while True:
            with self._timed("splitting"):
                piece = next(following, None)
            if piece is None:
                return pieces, to_plan
            pieces.append(piece)
            if piece.rule is Rule.SEARCHED:
                with self._timed("planning"):
                    to_plan += self._weighed(piece)
                if self._plans_elsewhere:
                    workers.start()

    def _weighed(self, piece: Piece) -> list[Piece]:
        """The parcels of a piece; its work, blocks and shape of kernels are taken down."""
        first = next_block(self.spec, piece, piece.lo, self.tuning)
        self.work_total += first.work * piece.count / first.count
        self.blocks += -(-piece.count // first.count)
        if first.block is not None:
            self.shapes.add((first.block.degree, first.block.limbs))
        return parcels(piece, first)

    @property
    def _plans_elsewhere(self) -> bool:
        """Whether worker processes plan: where the processors have nothing else to do."""
        return self.engine.is_device and self.blocks >= MANY_BLOCKS

    def _count(self) -> None:
        for piece in self.pieces:
            self.statistics.pieces[piece.rule] += 1
            self.statistics.arguments[piece.rule] += piece.count
            if piece.rule is Rule.SEARCHED:
                share = 2 * float(self.spec.window(piece.key))
                self.statistics.expected += share * piece.count

    def _refuse_floods(self, most_cases: int) -> None:
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

    def _search_pieces(self, refiner: Refiner) -> list[tuple[int, int]]:
        """Run all blocks; return the ranges that must be evaluated one by one."""
        scanned: list[tuple[int, int]] = []
        with ThreadPoolExecutor(self.engine.workers) as pool:
            prepared = pool.submit(self.engine.prepare, self.shapes)
            flying: dict[Future[_Landed], PlannedBlock] = {}
            try:
                for part in self._slices(refiner.workers, scanned):
                    flying[pool.submit(self._run_slice, part)] = part
                    while len(flying) >= IN_FLIGHT * self.engine.workers:
                        self._land(flying)
                        refiner.begin(self.candidates)
                while flying:
                    self._land(flying)
                prepared.result()
            except BaseException:
                for future in flying:
                    future.cancel()
                raise
        return scanned

    def _slices(self, workers: Workers, scanned: list[tuple[int, int]]) -> Iterator[PlannedBlock]:
        """The work for the engine; ranges to scan are put aside."""
        for piece in self.pieces:
            if piece.rule is Rule.SETTLED:
                self.done.append((piece.lo, piece.hi))
            elif piece.rule is Rule.SCANNED:
                scanned.append((piece.lo, piece.hi))
        for planned in self._planned(workers):
            if planned.block is None:
                self.statistics.arguments[Rule.SEARCHED] -= planned.count
                self.statistics.arguments[Rule.SCANNED] += planned.count
                scanned.append((planned.first, planned.first + planned.count))
            else:
                yield from planned.slices(self.engine.slice_domains)

    def _planned(self, workers: Workers) -> Iterator[PlannedBlock]:
        """All blocks, in order; planned by the worker processes where the engine is a device."""
        work = partial(_plan_lean, self.spec, self.tuning)
        plan_here = map(work, self.parcels)
        lists = workers.ordered(work, self.parcels) if self._plans_elsewhere else plan_here
        while True:
            with self._timed("waiting for polynomials"):
                blocks = next(lists, None)
            if blocks is None:
                return
            yield from blocks

    def _run_slice(self, part: PlannedBlock) -> _Landed:
        assert part.block is not None
        started = time.perf_counter()
        found, counts = self.engine.run(part.block, part.method)
        ordinals = [part.ordinal(int(u)) for u in found]
        return _Landed(ordinals, counts, time.perf_counter() - started)

    def _land(self, flying: dict[Future[_Landed], PlannedBlock]) -> None:
        """Wait for a slice, count it, say how far the search is."""
        finished, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in finished:
            part, landed = flying.pop(future), future.result()
            self.candidates += landed.ordinals
            self.statistics.seconds["kernels, all workers"] += landed.seconds
            self.statistics.counts.update(vars(landed.counts))
            if part.method != "scan":
                self.statistics.counts["tested_arguments"] += part.count
            self.done.append((part.first, part.first + part.count))
            self.work_done += part.work
        if self.watch is not None:
            self.watch(Progress(self.work_done, self.work_total, len(self.candidates)))

    def _stopped(self) -> Stopped:
        finished = _joined(sorted(self.done))
        pieces = _joined([(piece.lo, piece.hi) for piece in self.pieces])
        remaining = []
        for lo, hi in pieces or self.spec.region.ranges:
            for a, b in finished:
                if lo < min(a, hi):
                    remaining.append((lo, min(a, hi)))
                lo = max(lo, min(b, hi))
            if lo < hi:
                remaining.append((lo, hi))
        done = set(self.done)
        theorems = ((p, p.settlement) for p in self.pieces if (p.lo, p.hi) in done)
        ranges = [p for p, theorem in theorems if theorem is not None and theorem.kind != "a"]
        if len(self.candidates) > MOST_CASES_ON_STOP:
            return Stopped(finished, remaining, ranges, None)
        # In this process: Ctrl-C may have ended the workers.
        cases = sorted(refine_chunk(self.spec, self.candidates).cases, key=lambda case: case.x)
        return Stopped(finished, remaining, ranges, cases)

    def _timed(self, stage: str) -> _Stopwatch:
        return _Stopwatch(self.statistics.seconds, stage)


def _plan_lean(spec: SearchSpec, tuning: Tuning, parcel: Piece) -> list[PlannedBlock]:
    """plan_parcel without the budgets, which cost more to send than all the rest."""
    return [replace(planned, budget=None) for planned in plan_parcel(spec, tuning, parcel)]


@dataclass(frozen=True, slots=True)
class _Landed:
    """What the engine gave for a slice."""

    ordinals: list[int]
    counts: Counts
    seconds: float


class _Stopwatch:
    def __init__(self, seconds: defaultdict[str, float], stage: str) -> None:
        self.seconds, self.stage = seconds, stage

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.stage] += time.perf_counter() - self.started


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for lo, hi in ranges:
        if joined and joined[-1][1] == lo:
            joined[-1] = (joined[-1][0], hi)
        else:
            joined.append((lo, hi))
    return joined
