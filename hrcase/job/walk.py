"""The walk over the units of a search: blocks, slices, candidates, cases, and on to who keeps them.

One thread, the caller's, hands everything out and takes it back. Polynomials are made ahead, by
worker processes where a device leaves the processors free; engines search slices; the candidates of
units that are through are decided together, a few times a second; what a unit gave is kept whole or
not at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice, takewhile
from queue import Empty, SimpleQueue
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hrcase.cases import Row
from hrcase.exact_powers import IN_CLOSED_FORM
from hrcase.job.crew import Crew, Landed
from hrcase.job.decide import EXACT_A_CASE, Asked, Decided, count_exact, decide_all, joined
from hrcase.job.digests import blocks_digest
from hrcase.job.progress import Progress, Watcher
from hrcase.job.twice import require_same
from hrcase.job.units import MANY_UNITS, Unit, expected_cases
from hrcase.pieces import Piece, Rule
from hrcase.plan import PlannedBlock, Tuning, by_method, plan
from hrcase.spec import SearchSpec
from hrcase.workers import Errand, Workers

CHUNK = 1 << 11
"""Evaluations' worth of arguments is decided together, at least, where there are so many."""

DECIDING = 2
"""Such chunks handed to each process at a time: more would take memory, and time when stopped."""

SECONDS_TO_KEEP = 0.3
"""What is through is decided and kept after so long."""

FEW = 1 << 14
"""Below so many arguments to decide, a pool of processes would cost more than it saves."""

UNITS_A_TASK = 16
"""Units planned in one task of a worker process."""

LONGEST_WAIT = 0.2
"""Seconds after which the walk looks whether it shall stop."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit gave.

    Attributes:
        rows: of the cases, ascending in x.
        exact: ordinals of arguments whose result is a breakpoint, ascending, but for those that
            have a closed form.
        rejected: candidates too far from a breakpoint.
        counts: of the kernels; arguments of a searched unit that were evaluated one by one
            ("evaluated"), those in runs and domains ("tested_arguments"), and exact results in
            closed form (IN_CLOSED_FORM).
        seconds: of the kernels, all slices.
        device: the engines that took part; "" where none was needed.
        blocks, candidates: their digests (hrcase.job.digests).
    """

    unit: Unit
    rows: list[Row]
    exact: list[int]
    rejected: int
    counts: Counter[str]
    seconds: float
    device: str
    blocks: str
    candidates: str


Keeper = Callable[[Sequence[UnitResult]], None]


@dataclass(frozen=True)
class Task:
    """Units to do, and who is told.

    Attributes:
        shapes: of the kernels to compile beforehand.
        keep: gets what units gave; it takes a second copy of one in its stride.
        start: how far the search is.
        watch: told how far it is, a few times a second.
        stop: asked whether to stop.
    """

    spec: SearchSpec
    tuning: Tuning
    units: Sequence[Unit]
    shapes: Collection[tuple[int, int]]
    keep: Keeper
    start: Progress
    watch: Watcher | None = None
    stop: Callable[[], bool] | None = None

    def tell(self, progress: Progress) -> None:
        """Say how far it is."""
        if self.watch is not None:
            self.watch(progress)

    def should_stop(self) -> bool:
        """Whether to stop."""
        return self.stop is not None and self.stop()


@dataclass(eq=False)
class _Flight:
    """A unit on its way.

    Attributes:
        found, again: candidates, their ordinals less that of the unit's first argument, which is
            below 2^63, as a piece lies in one binade; `again` by the second method.
        ranges: arguments to evaluate one by one, ordinals.
        exact: exact results in closed form, which are among the candidates or the ranges.
    """

    unit: Unit
    blocks: str
    exact: int
    to_land: int = 0
    is_sent: bool = False
    found: list[NDArray[np.int64]] = field(default_factory=list)
    again: list[NDArray[np.int64]] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    devices: set[str] = field(default_factory=set)

    @property
    def to_decide(self) -> int:
        """Arguments to decide by evaluation."""
        return sum(map(len, self.found)) + sum(hi - lo for lo, hi in self.ranges) - self.exact

    @property
    def load(self) -> int:
        """What deciding them takes, in evaluations."""
        return self.to_decide + self.exact // EXACT_A_CASE

    @property
    def asked(self) -> Asked:
        """All of them, for hrcase.job.decide."""
        return self.unit.piece, self.found, self.ranges

    def add(self, landed: Landed, part: PlannedBlock) -> None:
        """Count what an engine gave for a slice; of a second time its candidates and faults."""
        self.to_land -= 1
        self.seconds += landed.seconds
        self.devices.add(landed.device)
        offsets = landed.offsets + (part.first - self.unit.piece.lo)
        if part.is_second:
            self.again.append(offsets)
            if "faults" in landed.counts:
                self.counts["faults"] += landed.counts["faults"]
            return
        self.found.append(offsets)
        self.counts.update(landed.counts)
        if part.method != "scan":
            self.counts["tested_arguments"] += part.count

    def result(self, decided: Decided) -> UnitResult:
        """What the unit gave, its candidates having been decided."""
        refined, candidates = decided
        if refined.in_closed_form:
            self.counts[IN_CLOSED_FORM] = refined.in_closed_form
        return UnitResult(
            self.unit,
            refined.rows,
            refined.exact,
            refined.rejected,
            self.counts,
            self.seconds,
            ", ".join(sorted(self.devices)),
            self.blocks,
            candidates,
        )


class Walk:
    """One walk.

    Attributes:
        landed: units that are through, and not yet handed out to be decided.
        progress: how far it is.
        is_watched: whether the watcher is told.
        seconds: by stage.
    """

    def __init__(self, task: Task, crew: Crew, workers: Workers) -> None:
        self.task, self.crew, self.workers = task, crew, workers
        self.spec, self.progress = task.spec, replace(task.start)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.landed: list[_Flight] = []
        self._flying: dict[Future[Landed], tuple[_Flight, PlannedBlock]] = {}
        self._finished: SimpleQueue[Future[Landed]] = SimpleQueue()
        self._deciding: deque[tuple[Errand[list[Asked], list[Decided]], list[_Flight]]] = deque()
        self.is_watched = True
        self._waiting = 0
        self._kept_at = perf_counter()
        self._share = cache(lambda key: 2 * float(task.spec.window(key)))

    def run(self) -> bool:
        """Do the units in their order; whether all of them were done.

        Raises:
            HrcaseError: as the engines, hrcase.ziv.refine, Workers.replace and the keeper.
        """
        units = self.task.units
        plan_ahead = self.crew.is_device and len(units) >= MANY_UNITS
        to_decide = expected_cases(self.spec, (unit.piece for unit in units))
        to_decide += sum(u.piece.count for u in units if u.piece.rule is Rule.SCANNED)
        to_decide += sum(count_exact(self.spec, unit.piece) for unit in units) / EXACT_A_CASE
        if to_decide >= FEW and self.workers.processes > 1:
            self.workers.start()
        with self.crew:
            try:
                self.crew.prepare(self.task.shapes)
                is_done = self._send_all(units, plan_ahead)
                while self._flying:
                    self._land()
                self.crew.finish_preparing()
            except BaseException:
                for future in self._flying:
                    future.cancel()
                raise
        self._decide(at_once=True)
        return is_done

    @property
    def to_decide(self) -> int:
        """Arguments of units that are through and not kept."""
        return sum(flight.to_decide for flight in self.undecided)

    def decide_landed(self) -> None:
        """Decide and keep what is through, in this process, after an exception."""
        flights = self.undecided
        self._keep(flights, decide_all(self.spec, [flight.asked for flight in flights]))
        self._deciding.clear()
        self.landed = []

    @property
    def undecided(self) -> list[_Flight]:
        """Units that are through and not kept."""
        return [*chain.from_iterable(flights for _, flights in self._deciding), *self.landed]

    def _send_all(self, units: Sequence[Unit], plan_ahead: bool) -> bool:
        """Hand out all slices; False when it was told to stop before."""
        for unit, (digest, blocks) in self._planned(units, plan_ahead):
            flight = _Flight(unit, digest, count_exact(self.spec, unit.piece))
            for part in self._slices(flight, blocks):
                if self.task.should_stop():
                    return False
                self._submit(flight, part)
                while len(self._flying) >= self.crew.capacity:
                    self._land()
            if self.task.should_stop():
                return False
            flight.is_sent = True
            self._take(flight)
            self._decide()
        return True

    def _planned(self, units: Sequence[Unit], plan_ahead: bool) -> Iterator[tuple[Unit, Planned]]:
        """The units with their blocks, in order."""
        work = partial(_plan_units, self.spec, self.task.tuning)
        step = UNITS_A_TASK if plan_ahead else 1
        chunks = [units[i : i + step] for i in range(0, len(units), step)]
        lists = self.workers.ordered(work, chunks) if plan_ahead else map(work, chunks)
        for chunk in chunks:
            with self._timed("waiting for polynomials"):
                planned = next(lists)
            yield from zip(chunk, planned, strict=True)

    def _slices(self, flight: _Flight, blocks: list[PlannedBlock]) -> Iterator[PlannedBlock]:
        """The work for the engines; ranges to evaluate are put aside."""
        piece = flight.unit.piece
        if piece.rule is Rule.SCANNED:
            flight.ranges.append((piece.lo, piece.hi))
        for planned in blocks:
            if planned.block is None:
                flight.ranges.append((planned.first, planned.first + planned.count))
                flight.counts["evaluated"] += planned.count
            else:
                yield from planned.slices(self.crew.slice_work)

    def _submit(self, flight: _Flight, part: PlannedBlock) -> None:
        future = self.crew.submit(part)
        self._flying[future] = flight, part
        flight.to_land += 1
        future.add_done_callback(self._finished.put)

    def _take_finished(self) -> Iterator[Future[Landed]]:
        """All slices that are through; waits for the first one, for a while."""
        try:
            yield self._finished.get(timeout=LONGEST_WAIT)
            while True:
                yield self._finished.get_nowait()
        except Empty:
            return

    def _land(self) -> None:
        """Wait for slices, for a while, and count them; keep what is due; say how far it is."""
        finished = list(self._take_finished())
        for future in finished:
            landed = future.result()
            flight, part = self._flying.pop(future)
            flight.add(landed, part)
            self.seconds["kernels, all workers"] += landed.seconds
            if not part.is_second:
                self._advance(flight.unit, part.count, len(landed.offsets))
            self._take(flight)
        if finished:
            self._tell()
        self._decide()

    def _take(self, flight: _Flight) -> None:
        """Put a unit aside to be decided, if all of it is through."""
        if flight.is_sent and flight.to_land == 0:
            if self.task.tuning.second is not None:
                found = joined(flight.found), joined(flight.again)
                require_same(self.spec, flight.unit.piece, self.task.tuning, *found, flight.devices)
            self.landed.append(flight)
            self._waiting += flight.load

    def _decide(self, at_once: bool = False) -> None:
        """Have what is through decided, if it is time, and keep what is decided."""
        now = perf_counter()
        is_due = at_once or now - self._kept_at > SECONDS_TO_KEEP
        if self.landed and (is_due or self._waiting >= CHUNK):
            self._kept_at, self._waiting = now, 0
            if self.workers.are_running:
                self._hand_out(self.landed)
            else:
                with self._timed("refinement"):
                    asked = [flight.asked for flight in self.landed]
                    self._keep(self.landed, decide_all(self.spec, asked))
            self.landed = []
        most = 0 if at_once else DECIDING * self.workers.processes
        while self._deciding and (len(self._deciding) > most or self._deciding[0][0].is_done):
            self._keep_decided()

    def _hand_out(self, flights: Iterable[_Flight]) -> None:
        """Have units decided by processes, as few of them at a time as make CHUNK."""
        some, load = list[_Flight](), 0
        for flight in flights:
            some.append(flight)
            load += flight.load
            if load >= CHUNK:
                self._hand_out_some(some)
                some, load = [], 0
        if some:
            self._hand_out_some(some)

    def _hand_out_some(self, flights: list[_Flight]) -> None:
        asked = [flight.asked for flight in flights]
        errand = self.workers.submit(partial(decide_all, self.spec), asked)
        self._deciding.append((errand, flights))

    def _keep_decided(self) -> None:
        """Wait for the first units that are being decided; keep them and what else is through."""
        ready = takewhile(lambda pair: pair[0].is_done, islice(self._deciding, 1, None))
        flights: list[_Flight] = []
        decided: list[Decided] = []
        count = 0
        try:
            for errand, some in [self._deciding[0], *ready]:
                with self._timed("refinement"):
                    decided += errand.result()
                flights += some
                count += 1
        finally:  # those before one that failed are kept
            self._keep(flights, decided)
            for _ in range(count):
                self._deciding.popleft()

    def _keep(self, flights: list[_Flight], decided: list[Decided]) -> None:
        """Hand results on; whoever keeps them takes a second copy of one in its stride."""
        if not flights:
            return
        results = [flight.result(part) for flight, part in zip(flights, decided, strict=True)]
        self.task.keep(results)
        for flight, result in zip(flights, results, strict=True):
            self._advance(flight.unit, sum(hi - lo for lo, hi in flight.ranges), 0)
            self.progress.units += 1
            piece = flight.unit.piece
            if piece.rule is Rule.SEARCHED:
                self.progress.cases += len(result.rows)
                self.progress.expected += self._share(piece.key) * piece.count
        self._tell()

    def _advance(self, unit: Unit, arguments: int, candidates: int) -> None:
        self.progress.done += unit.work * arguments / unit.piece.count
        self.progress.arguments += arguments
        self.progress.candidates += candidates

    def _tell(self) -> None:
        if self.is_watched:
            self.task.tell(self.progress)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - started


Planned = tuple[str, list[PlannedBlock]]
"""The blocks of a unit, and the digest of those that are not searched to compare."""


def _plan_units(spec: SearchSpec, tuning: Tuning, units: Sequence[Unit]) -> list[Planned]:
    """What some units are made of, without budgets, which cost more to send than all the rest."""
    return [_plan_unit(spec, tuning, unit) for unit in units]


def _plan_unit(spec: SearchSpec, tuning: Tuning, unit: Unit) -> Planned:
    if unit.piece.rule is not Rule.SEARCHED:
        return blocks_digest([]), []
    blocks = [replace(planned, budget=None) for planned in _all_blocks(spec, unit.piece, tuning)]
    return blocks_digest(planned for planned in blocks if not planned.is_second), blocks


def _all_blocks(spec: SearchSpec, piece: Piece, tuning: Tuning) -> Iterator[PlannedBlock]:
    """The blocks of a part of a piece, and each once more for the second method."""
    for planned in plan(spec, piece, tuning):
        yield planned
        if tuning.second is not None and planned.block is not None:
            yield by_method(planned, tuning.second)
