"""Units on the workers of a dask cluster; the process that asks for them alone writes.

A task is a few units, from polynomials to cases: what goes over the network is a handful of numbers
a unit. A worker that is lost costs the tasks that it had: dask hands them to another one.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

from hrcase.engine import Engine
from hrcase.engine.choose import engine_for
from hrcase.errors import HrcaseError, InputError, JobMismatch, NoDevice, TryAgain
from hrcase.job.crew import Crew
from hrcase.job.progress import Progress, progress_at
from hrcase.job.units import Unit
from hrcase.job.walk import LONGEST_WAIT, Task, UnitResult, Walk
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec
from hrcase.toolchain import kernels_digest
from hrcase.workers import MOST_DEATHS, Workers

TASKS_A_WORKER = 2
MOST_UNITS_A_TASK = 256
SHORT_TASK, LONG_TASK = 1.0, 4.0
"""Seconds: shorter tasks get more units, longer ones fewer."""

SECONDS_TO_FINISH = 30.0
"""A search that is stopped waits so long for what its workers have begun."""

SECONDS_TO_CONNECT = 10

_GPU = "GPU"
_NO_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""What local workers run first: Ctrl-C in a terminal reaches all processes, and is not for them."""

_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker gives for a task.

    Attributes:
        kernels: digest of the sources of its kernels.
        seconds: that the task took.
    """

    results: list[UnitResult]
    kernels: str
    seconds: float


def do_units(
    spec: SearchSpec, tuning: Tuning, units: list[Unit], device: str, threads: int
) -> Done:
    """Do some units in this process: what a worker runs.

    One task at a time, since python-flint's precision is global to the process.
    """
    started = time.perf_counter()
    results: list[UnitResult] = []
    with _LOCK, Workers(1) as workers:
        crew = Crew([_engine(device, threads)])
        start = progress_at(spec, units, {})
        Walk(Task(spec, tuning, units, set(), results.extend, start), crew, workers).run()
    return Done(results, kernels_digest(), time.perf_counter() - started)


@cache
def _engine(device: str, threads: int) -> Engine:
    """The worker's engine, which stays: a device has its kernels loaded after the first task."""
    return engine_for(device, threads)[0]


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster that --cluster names.

    Args:
        address: "tcp://HOST:PORT" of a scheduler, or "local:N" for N processes of this machine.

    Raises:
        InputError: it is neither.
        NoDevice: dask.distributed is not installed.
        TryAgain: no scheduler answers there.
    """
    local = re.fullmatch(r"local:([1-9]\d{0,3})", address)
    if local is None and not re.fullmatch(r"(tcp|tls|ucx)://.+", address):
        raise InputError(f"--cluster {address} is neither tcp://HOST:PORT nor local:N; give one")
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise NoDevice(
            f"dask.distributed cannot be imported ({error}); it connects to clusters; install it "
            'with: pip install "hrcase[cluster]"'
        ) from error
    if local is not None:
        with (
            distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address=":0",
                preload=[_NO_CTRL_C],
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT)
    except OSError as error:
        raise TryAgain(
            f"no scheduler answers at {address} ({type(error).__name__}); start one with: dask "
            "scheduler; see docs/jobs.md"
        ) from error
    with client:
        yield client


class ClusterHands:
    """The workers of a cluster, as `hrcase.job.run.Hands`."""

    def __init__(self, client: Any, device: str) -> None:
        self.client, self.device = client, device
        self.progress: Progress | None = None
        self.workers: Workers | None = None
        self._came: SimpleQueue[Any] = SimpleQueue()
        self._units: dict[str, tuple[Any, list[Unit]]] = {}
        self._size = 1
        self._deaths = 0

    @property
    def in_words(self) -> str:
        """The cluster by name."""
        return f"{self.device} on {self.client.scheduler.address}"

    def run(self, task: Task) -> bool:
        """Do units; whether all of them were done.

        Raises:
            NoDevice: a device is asked for, and no worker has the resource GPU.
            JobMismatch: a worker has another version of the kernels.
            TryAgain: workers die again and again.
            HrcaseError: as Walk.run, on a worker.
        """
        self._require_gpu()
        left, self.progress, stopped_at = list(reversed(task.units)), task.start, None
        while left or self._units:
            if stopped_at is None and task.should_stop():
                stopped_at = time.monotonic()
            if stopped_at is None:
                self._send(task, left)
            elif not self._units or time.monotonic() - stopped_at > SECONDS_TO_FINISH:
                self.client.cancel([future for future, _ in self._units.values()])
                return False
            try:
                future = self._came.get(timeout=LONGEST_WAIT)
            except Empty:
                continue
            self._take(task, future, left)
        return True

    def _send(self, task: Task, left: list[Unit]) -> None:
        workers = max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))
        while left and len(self._units) < TASKS_A_WORKER * workers:
            units = [left.pop() for _ in range(min(self._size, len(left)))]
            future = self.client.submit(
                do_units,
                task.spec,
                task.tuning,
                units,
                self.device,
                1,
                pure=False,
                resources={_GPU: 1} if self.device.startswith("cuda") else None,
            )
            self._units[future.key] = future, units
            future.add_done_callback(self._came.put)

    def _take(self, task: Task, future: Any, left: list[Unit]) -> None:
        """Keep what a task gave, or put its units back."""
        _, units = self._units.pop(future.key)
        error = future.exception()
        if error is None:
            done: Done = future.result()
            self._require_same(done)
            task.keep(done.results)
            self._deaths = 0
            self._size = _next_size(len(units), done.seconds)
            assert self.progress is not None
            self.progress = _counted(task.spec, self.progress, done.results)
            task.tell(self.progress)
        elif isinstance(error, HrcaseError):
            raise error
        elif type(error).__name__ in ("KilledWorker", "CancelledError"):
            left.extend(reversed(units))
            self._deaths += 1
            if self._deaths > MOST_DEATHS:
                raise TryAgain(
                    f"the workers of the cluster died {self._deaths} times before anything was "
                    "done, perhaps for lack of memory; what was done is kept; look at their logs"
                ) from error
        else:
            raise error

    def _require_same(self, done: Done) -> None:
        if done.kernels != kernels_digest():
            raise JobMismatch(
                "a worker of the cluster has another version of hrcase: its kernels have digest "
                f"{done.kernels[:12]}, these here {kernels_digest()[:12]}; install the same "
                "version everywhere and resume the job"
            )

    def _require_gpu(self) -> None:
        if not self.device.startswith("cuda"):
            return
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if not any(worker.get("resources", {}).get(_GPU) for worker in workers):
            raise NoDevice(
                f"no worker of the cluster has the resource {_GPU}; start some with: dask worker "
                f"{self.client.scheduler.address} --nthreads 1 --resources {_GPU}=1"
            )


def _counted(spec: SearchSpec, at: Progress, results: Sequence[UnitResult]) -> Progress:
    """How far a search is after some more units."""
    units = [result.unit for result in results]
    cases = {result.unit.number: len(result.rows) for result in results}
    more = progress_at(spec, units, cases, sum(r.counts["candidates"] for r in results))
    return Progress(
        at.done + more.done,
        at.total,
        at.candidates + more.candidates,
        at.units + more.units,
        at.of_units,
        at.arguments + more.arguments,
        at.of_arguments,
        at.cases + more.cases,
        at.expected + more.expected,
    )


def _next_size(units: int, seconds: float) -> int:
    """How many units the next task gets."""
    if seconds < SHORT_TASK:
        return min(MOST_UNITS_A_TASK, 2 * units)
    return max(1, units // 2) if seconds > LONG_TASK else units
