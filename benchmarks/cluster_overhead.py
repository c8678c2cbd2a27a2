"""What a unit costs more on the workers of a dask cluster than in one process of this machine.

python benchmarks/cluster_overhead.py [WORKERS]      default 1

exp on a slice next to 1, cut into units of several sizes: done by one thread here, then by a
cluster of processes of this machine (`--cluster local:N`), whose results must be the same. The
second of two runs counts: the first one compiles kernels and starts what starts once.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.engine.cpu import CpuEngine
from hrcase.formats import FORMATS
from hrcase.job import weights
from hrcase.job.cluster import ClusterHands, connected
from hrcase.job.crew import Crew
from hrcase.job.progress import progress_at
from hrcase.job.run import Hands, LocalHands
from hrcase.job.units import Plan, make_plan
from hrcase.job.walk import Task, UnitResult
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, interval
from hrcase.workers import Workers

DOUBLE = FORMATS["binary64"]
SIZES = {10: mpq(1001, 1000), 14: mpq(101, 100), 18: mpq(105, 100)}
"""log2 of a unit's work, in domain tests; where the slice ends."""


@dataclass
class Timed:
    """Seconds of a run, and what the units gave, in their order."""

    seconds: float
    results: list[UnitResult]


def run(plan: Plan, hands: Hands) -> Timed:
    """Do all units."""
    results: list[UnitResult] = []
    start = progress_at(plan.spec, plan.units, {})
    task = Task(plan.spec, Tuning(method="farey"), plan.units, plan.shapes, results.extend, start)
    started = time.perf_counter()
    assert hands.run(task)
    seconds = time.perf_counter() - started
    return Timed(seconds, sorted(results, key=lambda result: result.unit.number))


def second(plan: Plan, hands: Callable[[], Hands]) -> Timed:
    """The second of two runs."""
    run(plan, hands())
    return run(plan, hands())


def main() -> None:
    """Print a line for each size."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with connected(f"local:{count}") as client, Workers(1) as workers:
        for size, end in SIZES.items():
            weights.UNIT_WORK = float(1 << size)
            spec = SearchSpec("exp", DOUBLE, DOUBLE, 44, "all", interval(DOUBLE, mpq(1), end, ""))
            plan = make_plan(spec, workers=workers)
            here = second(plan, lambda: LocalHands(Crew([CpuEngine(1)]), workers))
            there = second(plan, lambda: ClusterHands(client, "cpu"))
            assert [r.rows for r in here.results] == [r.rows for r in there.results]
            units = len(plan.units)
            own, others = (1e3 * s / units for s in (here.seconds, there.seconds * count))
            print(
                f"{units} units of 2^{size}: {own:.2f} ms each by one thread here; on {count} "
                f"workers {others:.2f} ms of a worker, {others - own:.2f} more",
                flush=True,
            )


if __name__ == "__main__":
    main()
