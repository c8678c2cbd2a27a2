"""The search as a device sees it: worker processes plan, kernels are compiled beforehand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import fake_cuda
import numpy as np
import pytest
from numpy.typing import NDArray

from hrcase import toolchain
from hrcase.engine import Block, Counts, cpu, cuda
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.cuda import CudaEngine
from hrcase.errors import HrcaseError
from hrcase.formats import FORMATS
from hrcase.job import units, walk
from hrcase.job.crew import Crew
from hrcase.job.decide import decide_all, joined
from hrcase.job.progress import progress_at
from hrcase.memory import search
from hrcase.pieces import Rule
from hrcase.plan import Tuning, plan
from hrcase.spec import SearchSpec, exponent_range
from hrcase.toolchain import ToolchainError
from hrcase.workers import Workers

BINARY32 = FORMATS["binary32"]
REGION = exponent_range(BINARY32, -2, 1, "both")
EXP = SearchSpec("exp", BINARY32, BINARY32, 17, "all", REGION)


class Device(CpuEngine):
    """The CPU, which says that it is a device and takes down what it is asked."""

    is_device = True

    def __init__(self) -> None:
        super().__init__(2)
        self.prepared: set[tuple[int, int]] = set()
        self.shapes: set[tuple[int, int]] = set()

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        self.prepared |= set(shapes)
        super().prepare(shapes)

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        self.shapes.add((block.degree, block.limbs))
        return super().run(block, method)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single unit is reason enough for worker processes."""
    monkeypatch.setattr(units, "MANY_UNITS", 0)
    monkeypatch.setattr(walk, "MANY_UNITS", 1)


@pytest.mark.parametrize("method", ["regular", "farey"])
def test_what_worker_processes_plan_gives_the_same_cases(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    expected = search(EXP, method, 1)
    make_small(monkeypatch)
    order: list[str] = []
    start, refuse = Workers.start, units.Plan.refuse_floods

    def note_start(workers: Workers) -> None:
        order.append("workers started")
        start(workers)

    def note_split(plan: units.Plan, most_cases: int) -> None:
        order.append("all pieces known")
        refuse(plan, most_cases)

    monkeypatch.setattr(Workers, "start", note_start)
    monkeypatch.setattr(units.Plan, "refuse_floods", note_split)
    engine = Device()
    found = search(EXP, method, 2, engine=engine)
    assert found.cases == expected.cases
    assert len(found.cases) > 100
    assert found.statistics.counts == expected.statistics.counts
    assert engine.shapes and engine.prepared == engine.shapes
    assert order.index("workers started") < order.index("all pieces known")


def test_candidates_are_decided_while_the_device_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, whether it was begun early or is left for the end."""
    expected = search(EXP, "regular", 1)
    make_small(monkeypatch)
    monkeypatch.setattr(walk, "CHUNK", 50)
    decided: list[int] = []
    submit = Workers.submit

    def note(workers: Workers, function: Any, item: Any) -> Any:
        if function.func is decide_all:
            decided.append(sum(len(joined(found)) for _, found, _ in item))
        return submit(workers, function, item)

    monkeypatch.setattr(Workers, "submit", note)
    found = search(EXP, "regular", 2, engine=Device())
    assert found.cases == expected.cases
    assert found.statistics.rejected == expected.statistics.rejected
    assert sum(decided) == found.statistics.counts["candidates"]
    assert len(decided) > 3


class Ready:
    """An errand that is through as soon as somebody looks, or when it is said to be."""

    def __init__(self, work: Callable[[], list[Any]], when: Callable[[], bool]) -> None:
        self.result, self.when = work, when

    @property
    def is_done(self) -> bool:
        return self.when()


def walked(monkeypatch: pytest.MonkeyPatch, fails_at: int) -> tuple[list[int], list[int], int]:
    """Numbers of units as they were kept, those handed out at a time, and the units in all.

    Errand number `fails_at` fails; all before it are through when it is.
    """
    make_small(monkeypatch)
    monkeypatch.setattr(walk, "DECIDING", 100)
    monkeypatch.setattr(walk, "CHUNK", 50)
    kept: list[int] = []
    loads: list[int] = []

    def submit(_: Workers, function: Any, item: Any) -> Any:
        if function.func is not decide_all:
            return Ready(lambda: function(item), lambda: True)
        loads.append(sum(len(joined(found)) for _, found, _ in item))
        work = (lambda: [][1]) if len(loads) == fails_at else lambda: function(item)
        return Ready(work, lambda: len(loads) >= fails_at)

    def keep(results: Sequence[walk.UnitResult]) -> None:
        kept.extend(result.unit.number for result in results)

    monkeypatch.setattr(Workers, "submit", submit)
    monkeypatch.setattr(Workers, "are_running", True)
    whole = units.make_plan(EXP)
    start = progress_at(EXP, whole.units, {})
    tuning = Tuning(method="farey")
    task = walk.Task(EXP, tuning, whole.units, whole.shapes, keep, start)
    walking = walk.Walk(task, Crew([Device()]), Workers(2))
    if fails_at:
        with pytest.raises(IndexError):
            walking.run()
    else:
        assert walking.run()
    assert walking.progress.units == len(kept)
    return kept, loads, len(whole.units)


def test_each_unit_is_kept_once_and_few_are_handed_out_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, loads, count = walked(monkeypatch, 0)
    assert sorted(kept) == list(range(count))
    largest = max(units.expected_cases(EXP, [u.piece]) for u in units.make_plan(EXP).units)
    assert len(loads) > 10
    assert max(loads) < 50 + 2 * largest


def test_what_was_decided_before_a_failure_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, _, count = walked(monkeypatch, 8)
    assert len(kept) == len(set(kept))
    assert 7 <= len(kept) < count


def test_few_blocks_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "start", lambda _: pytest.fail("a process for next to nothing"))
    assert search(EXP, "regular", 2, engine=Device()).cases


def test_budgets_stay_with_the_workers() -> None:
    asked = units.make_plan(EXP)
    unit = next(unit for unit in asked.units if unit.piece.rule is Rule.SEARCHED)
    ((_, lean),) = walk._plan_units(EXP, Tuning(), [unit])
    whole = list(plan(EXP, unit.piece, Tuning()))
    assert [part.budget for part in lean] == [None] * len(whole)
    assert all(part.budget is not None for part in whole)
    assert [part.block for part in lean] == [part.block for part in whole]


def test_kernels_that_cannot_be_compiled_end_the_search() -> None:
    class Broken(Device):
        def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
            raise ToolchainError("no compiler")

    with pytest.raises(HrcaseError, match="no compiler"):
        search(EXP, "regular", 1, engine=Broken())


def test_the_cpu_compiles_shapes_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2, timeout=20)

    def meet(degree: int, limbs: int) -> Path:
        together.wait()
        return toolchain.compile_host(degree, limbs)

    monkeypatch.setattr(cpu, "compile_host", meet)
    cpu.library.cache_clear()
    CpuEngine(2).prepare([(3, 2), (2, 2)])
    hits = cpu.library.cache_info().hits
    cpu.library(3, 2)
    assert cpu.library.cache_info().hits == hits + 1


def test_the_device_compiles_shapes_side_by_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_cuda.install(monkeypatch, tmp_path)
    together = threading.Barrier(3, timeout=20)
    compiled: set[tuple[object, ...]] = set()

    def meet(*shape: object) -> Path:
        together.wait()
        compiled.add(shape)
        return tmp_path

    monkeypatch.setattr(cuda, "compile_device", meet)
    monkeypatch.setattr(cuda, "compile_walks", meet)
    engine = CudaEngine()
    engine.prepare([(3, 2), (4, 3)])
    engine.close()
    ((arch,),) = (shape for shape in compiled if len(shape) == 1)
    assert compiled == {(arch,), (3, 2, arch), (4, 3, arch)}
