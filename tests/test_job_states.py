"""Results of units in any order: twice, late, contradicting, of other sessions, across restarts."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from gmpy2 import mpq
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from jobs import SPEC

from hrcase.cases import HRCase
from hrcase.errors import CorruptState, VerificationFailed
from hrcase.job.directory import FILE, Job, create, open_job
from hrcase.job.store import Session
from hrcase.job.units import make_plan
from hrcase.job.walk import UnitResult

PLAN = make_plan(SPEC)
UNITS = PLAN.units
NUMBERS = st.integers(0, len(UNITS) - 1)


def case_of(number: int, place: int, side: str = "above") -> HRCase:
    """Some case of a unit; x ascends with number and place."""
    x = mpq(number * 1024 + place + 1, 1 << 20)
    return HRCase(x, x, "number", side, "-17.250", "6.415e-06", 16 + place)


def result_of(number: int, lies: bool = False) -> UnitResult:
    """What a unit gives: the same each time, unless the device lies. Some units have no case."""
    count = number % 4
    cases = [case_of(number, place) for place in range(count)]
    if lies:
        cases = [*cases[:-1], case_of(number, count, "below")]
    exact = [number] if number % 5 == 0 else []
    counts, digests = Counter(candidates=count), (f"blocks {number}", f"candidates {number}")
    rows = [case.row for case in cases]
    return UnitResult(UNITS[number], rows, exact, number, counts, 0.5, "cpu", *digests)


def rows_of(number: int) -> list[tuple[str, ...]]:
    return result_of(number).rows


class BrokenOff(list[UnitResult]):
    """A batch with an exception after its last result."""

    def __iter__(self) -> Iterator[UnitResult]:
        yield from super().__iter__()
        raise RuntimeError("broken off")


class Jobs(RuleBasedStateMachine):
    """A job, and a plain dictionary that says what it must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp()) / "job"
        self.done: set[int] = set()
        self.sessions = 0
        self.damages = 0

    @initialize()
    def make(self) -> None:
        self.job: Job | None = create(self.directory, PLAN)
        self.session = 0
        self.begin_session("first")

    def teardown(self) -> None:
        if self.job is not None:
            self.job.close()
        shutil.rmtree(self.directory.parent)

    @property
    def open(self) -> Job:
        assert self.job is not None
        return self.job

    @rule(kernels=st.sampled_from(["first", "second"]))
    def begin_session(self, kernels: str) -> None:
        """Another program goes on; its results count as much."""
        session = Session("2026-01-01T00:00:00+00:00", "host", "cpu", "farey", "1", kernels)
        self.session = self.open.store.begin_session(session)
        assert self.session == self.sessions
        self.sessions += 1

    @rule(numbers=st.lists(NUMBERS, max_size=5))
    def keep(self, numbers: list[int]) -> None:
        """New ones, ones that were done before, and the same one twice in a batch."""
        self.open.store.add([result_of(number) for number in numbers], self.session)
        self.done.update(numbers)

    @precondition(lambda self: self.done)
    @rule(data=st.data(), others=st.lists(NUMBERS, max_size=3))
    def contradict(self, data: st.DataObject, others: list[int]) -> None:
        """A second answer that differs: nothing of its batch is kept, what was kept stays."""
        number = data.draw(st.sampled_from(sorted(self.done)))
        batch = [*(result_of(other) for other in others), result_of(number, lies=True)]
        with pytest.raises(VerificationFailed, match=f"unit {number} of .* two answers"):
            self.open.store.add(batch, self.session)

    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=3))
    def break_off(self, numbers: list[int]) -> None:
        """An exception in the middle of a batch: nothing of it is kept."""
        with pytest.raises(RuntimeError, match="broken off"):
            self.open.store.add(BrokenOff(map(result_of, numbers)), self.session)

    @rule()
    def restart(self) -> None:
        """Close it, open it, as another process would; it may have been moved."""
        self.open.close()
        moved = self.directory.with_name(f"moved{self.sessions}-{len(self.done)}")
        self.directory = self.directory.rename(moved)
        self.job = open_job(self.directory)

    @precondition(lambda self: self.done and self.damages < 3)
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """A unit's row goes bad on the disk: it is done again, the others stay."""
        number = data.draw(st.sampled_from(sorted(self.done)))
        connection = self.open.store._connection
        connection.execute("UPDATE done SET rejected = rejected + 1 WHERE unit = ?", (number,))
        self.open.close()
        self.job = None
        with pytest.raises(CorruptState, match=f"the figures of unit {number} do not match"):
            open_job(self.directory)
        self.damages += 1
        assert (self.directory / f"{FILE}.damaged-{self.damages}").exists()
        self.job = open_job(self.directory)
        self.done.remove(number)

    @invariant()
    def holds_what_it_must(self) -> None:
        store = self.open.store
        done = store.done()
        assert [unit.unit for unit in done] == sorted(self.done)
        assert [unit.cases for unit in done] == [n % 4 for n in sorted(self.done)]
        assert list(store.rows()) == [row for n in sorted(self.done) for row in rows_of(n)]
        assert len(store.sessions()) == self.sessions


Jobs.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=15,
)
TestJobs = Jobs.TestCase
