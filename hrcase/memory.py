"""The search in memory: every unit of a plan, its cases kept in a list."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hrcase import law
from hrcase.cases import HRCase, Row
from hrcase.claim import Claim, make_claim, undecided_among
from hrcase.engine import Engine
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import HrcaseError
from hrcase.exact_powers import IN_CLOSED_FORM, ExactOrdinals, ExactPowers, exact_in
from hrcase.job.crew import Crew
from hrcase.job.progress import Watcher, progress_at
from hrcase.job.units import Plan, make_plan
from hrcase.job.walk import Task, UnitResult, Walk
from hrcase.pieces import Piece, Removed, Rule
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec
from hrcase.workers import Workers

DEFAULT_METHOD = "farey"
DEFAULT_MOST_CASES = 10**7

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
        exact: exact cases and exact midpoints met, those in closed form too.
        expected: cases that the law 2w predicts over the searched pieces.
        lawless: arguments of those where the law does not apply, by the reason (hrcase.law).
        found_searched: cases found in searched pieces.
        seconds: by stage (kernels: summed over the engines' workers).
    """

    method: str
    pieces: Counter[str] = field(default_factory=Counter)
    arguments: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    exact: int = 0
    expected: float = 0.0
    lawless: Counter[str] = field(default_factory=Counter)
    found_searched: int = 0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @classmethod
    def of_plan(cls, method: str, plan: Plan) -> Statistics:
        """What is known before anything was done."""
        pieces = Counter(str(piece.rule) for piece in plan.pieces)
        _, lawless = law.sorted_out(plan.spec, plan.pieces)
        return cls(method, pieces, plan.arguments, expected=plan.expected, lawless=lawless)

    def add(self, result: UnitResult) -> None:
        """Count what a unit gave."""
        evaluated = result.counts["evaluated"]
        self.arguments[Rule.SEARCHED] -= evaluated
        self.arguments[Rule.SCANNED] += evaluated
        self.counts.update(result.counts)
        self.rejected += result.rejected
        self.exact += len(result.exact) + result.counts[IN_CLOSED_FORM]
        if result.unit.piece.rule is Rule.SEARCHED:
            self.found_searched += len(result.rows)


@dataclass
class SearchResult:
    """A complete answer.

    Attributes:
        rows: of the cases, sorted by x.
        settled: the settled pieces, ascending.
        exact: ordinals of the exact cases and exact midpoints that were met, and of arguments of an
            expression that are not told from them.
    """

    spec: SearchSpec
    rows: list[Row]
    settled: list[Piece]
    removed: list[Removed]
    exact: ExactOrdinals
    statistics: Statistics

    @cached_property
    def cases(self) -> list[HRCase]:
        """Sorted by x."""
        return [HRCase.of_row(row) for row in self.rows]

    @property
    def claim(self) -> Claim:
        """What the result says."""
        counts = len(self.rows), len(self.exact)
        undecided = self.undecided
        return make_claim(self.spec, self.settled, self.removed, *counts, undecided=undecided)

    @property
    def undecided(self) -> list[int]:
        """Those of `exact` that are not known to be: see Function.decided_bits."""
        return undecided_among(self.spec, self.exact)


class Stopped(HrcaseError):
    """The search was interrupted.

    Attributes:
        finished, remaining: ranges of ordinals, half open, ascending.
        ranges: the settled pieces of kind "b", "c" and "d" among the finished ones: their cases
            are no rows.
        rows: of the cases found in the finished ranges; None where there are more candidates than
            MOST_CASES_ON_STOP.
    """

    exit_code = 4

    def __init__(
        self,
        finished: list[tuple[int, int]],
        remaining: list[tuple[int, int]],
        ranges: list[Piece],
        rows: list[Row] | None,
    ) -> None:
        super().__init__("stopped before the end")
        self.finished, self.remaining = finished, remaining
        self.ranges, self.rows = ranges, rows

    @property
    def cases(self) -> list[HRCase] | None:
        """Those of `rows`."""
        return None if self.rows is None else [HRCase.of_row(row) for row in self.rows]


def search(
    spec: SearchSpec,
    method: str = DEFAULT_METHOD,
    threads: int | None = None,
    tuning: Tuning | None = None,
    most_cases: int = DEFAULT_MOST_CASES,
    watch: Watcher | None = None,
    engine: Engine | Sequence[Engine] | None = None,
    tell: Callable[[str], None] | None = None,
) -> SearchResult:
    """Find every case that the spec asks for.

    Args:
        method: "farey", "regular" or "lefevre"; it never changes the result.
        threads: of the CPU engine and processes for the refinement, default all processors.
        tuning: choices that a test may fix.
        most_cases: refuse when more cases than this are expected.
        watch: called with the progress, a few times a second.
        engine: what runs the kernels, one or several, default the CPU. It never changes the result.
        tell: gets a line for the user when an engine failed.

    Raises:
        InputError: more cases than most_cases are expected.
        Stopped: after KeyboardInterrupt, with what was finished and what remains.
        ToolchainError: no compiler.
        SelfTestFailed: the two evaluators contradict each other, or an engine gives wrong answers.
        VerificationFailed: two methods gave two answers (tuning.second).
    """
    tuning = replace(tuning or Tuning(), method=method)
    threads = threads or os.cpu_count() or 1
    if engine is None:
        engine = CpuEngine(threads)
    crew = Crew(engine if isinstance(engine, Sequence) else [engine], tell)
    kept: dict[int, UnitResult] = {}

    def keep(results: Sequence[UnitResult]) -> None:
        kept.update((result.unit.number, result) for result in results)

    with Workers(threads) as workers:
        try:
            on_many = workers.start if crew.is_device else None
            plan = make_plan(spec, tuning.scan, on_many, workers)
        except KeyboardInterrupt:
            raise Stopped([], list(spec.region.ranges), [], []) from None
        plan.refuse_floods(most_cases)
        start = progress_at(spec, plan.units, {})
        task = Task(spec, tuning, plan.units, plan.shapes, keep, start, watch)
        walk = Walk(task, crew, workers)
        try:
            walk.run()
        except KeyboardInterrupt:
            raise _stopped(plan, walk, kept) from None
    return _result(plan, tuning.method, walk, kept)


def _result(plan: Plan, method: str, walk: Walk, kept: dict[int, UnitResult]) -> SearchResult:
    statistics = Statistics.of_plan(method, plan)
    statistics.seconds.update(plan.seconds)
    statistics.seconds.update(walk.seconds)
    spec, rows = plan.spec, []
    exact: list[ExactPowers | list[int]] = []
    for _, result in sorted(kept.items()):
        statistics.add(result)
        rows += result.rows
        exact.append(exact_in(spec, result.unit.piece) or result.exact)
    met = ExactOrdinals(exact)
    return SearchResult(spec, rows, plan.settled, plan.outside, met, statistics)


def _stopped(plan: Plan, walk: Walk, kept: dict[int, UnitResult]) -> Stopped:
    """What is finished and what remains; what is through is decided, if that is not too much."""
    found = sum(len(result.rows) for result in kept.values())
    landed = [flight.unit for flight in walk.undecided]
    is_little = found + walk.to_decide <= MOST_CASES_ON_STOP
    if is_little:
        walk.is_watched = False
        walk.decide_landed()  # in this process: the workers may be gone
    units = [*(result.unit for result in kept.values()), *landed]
    done = sorted({(p.lo, p.hi) for p in (*plan.settled, *(unit.piece for unit in units))})
    ranges = [p for p in plan.settled if p.settlement is not None and p.settlement.kind != "a"]
    results = (result for _, result in sorted(kept.items()))
    rows = [row for result in results for row in result.rows] if is_little else None
    return Stopped(_joined(done), _remaining(plan.pieces, _joined(done)), ranges, rows)


def _remaining(pieces: list[Piece], finished: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of the pieces without some ranges, ascending and joined."""
    remaining = []
    for lo, hi in _joined([(piece.lo, piece.hi) for piece in pieces]):
        for a, b in finished:
            if lo < min(a, hi):
                remaining.append((lo, min(a, hi)))
            lo = max(lo, min(b, hi))
        if lo < hi:
            remaining.append((lo, hi))
    return remaining


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending ranges, neighbours as one."""
    joined: list[tuple[int, int]] = []
    for lo, hi in ranges:
        if joined and joined[-1][1] == lo:
            joined[-1] = (joined[-1][0], hi)
        else:
            joined.append((lo, hi))
    return joined
