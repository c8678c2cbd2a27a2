"""What a search will take, before it begins: by the cost model, and a rate measured for it."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hrcase import law
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import NoDevice
from hrcase.job.crew import run_slice
from hrcase.job.units import SECONDS_A_CASE, Plan, Unit, expected_cases
from hrcase.pieces import Rule
from hrcase.plan import PlannedBlock, Tuning, next_block

H200_RATE = 1.45e10
"""Domain tests a second of one NVIDIA H200: the plan's work of seven pieces of exp over the seconds
that the device was busy with them, 1.4e10 to 1.5e10 (docs/benchmarks.md)."""

MEASURED_WORK = float(1 << 22)
"""Domain tests to measure a processor with: a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Device:
    """How long a device takes.

    Attributes:
        rate: domain tests a second; None where it could not be measured.
        source: where the rate comes from, or why there is none.
        seconds: of its kernels; None without a rate.
    """

    name: str
    rate: float | None
    source: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a search will take.

    Attributes:
        work: of the kernels, in domain tests (hrcase.cost).
        evaluated: arguments that are evaluated one by one.
        expected: cases by the law, over the searched pieces where it applies.
        lawless: arguments of the searched pieces where the law does not apply, by the reason.
        processor_seconds: of one processor, for the arguments that are evaluated and for the cases
            that are expected, by the law wherever it is asked.
        devices: how long they take.
    """

    work: float
    evaluated: int
    expected: float
    lawless: Counter[str]
    processor_seconds: float
    devices: tuple[Device, ...]


def estimate(plan: Plan, threads: int) -> Estimate:
    """Look at a plan; takes a second, more where a kernel must be compiled.

    Args:
        threads: of the processor that is measured.
    """
    units = [unit for unit in plan.units if unit.piece.rule is Rule.SEARCHED]
    work = sum(unit.work for unit in units)
    evaluated = plan.arguments[Rule.SCANNED]
    lawful, lawless = law.sorted_out(plan.spec, plan.pieces)
    return Estimate(
        work=work,
        evaluated=evaluated,
        expected=expected_cases(plan.spec, lawful),
        lawless=lawless,
        processor_seconds=(evaluated + plan.expected) * SECONDS_A_CASE,
        devices=(
            Device("NVIDIA H200", H200_RATE, "docs/benchmarks.md", work / H200_RATE),
            _processor(plan, units, work, threads),
        ),
    )


def _processor(plan: Plan, units: list[Unit], work: float, threads: int) -> Device:
    """This machine's processors, measured on the block in the middle of the work."""
    name = CpuEngine(threads).name
    part = _in_the_middle(plan, units, work)
    if part is None:
        return Device(name, None, "nothing to measure with: arguments are evaluated", None)
    try:
        rate = _rate(part, threads)
    except NoDevice as error:
        return Device(name, None, str(error), None)
    return Device(name, rate, "measured now", work / rate)


def _in_the_middle(plan: Plan, units: list[Unit], work: float) -> PlannedBlock | None:
    """A part of a block, where half of the work is done; None where nothing is walked there."""
    before = 0.0
    for unit in units:
        before += unit.work
        if before >= work / 2:
            planned = next_block(plan.spec, unit.piece, unit.piece.lo, Tuning(method="farey"))
            return None if planned.block is None else next(planned.slices(MEASURED_WORK))
    return None


def _rate(part: PlannedBlock, threads: int) -> float:
    """Domain tests a second, all threads at work: a busy machine gives each of them less."""
    assert part.block is not None
    engine = CpuEngine(threads)
    engine.prepare([(part.block.degree, part.block.limbs)])
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        for _ in pool.map(lambda same: run_slice(engine, same), [part] * threads):
            pass
        return threads * part.work / (time.perf_counter() - started)
