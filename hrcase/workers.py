"""Worker processes for what holds the interpreter's lock: Taylor models and Ziv's refinement.

python-flint's precision is global to a process and its calls hold the lock, so threads would
neither help nor be safe.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import resource_tracker
from typing import Generic, TypeVar

from hrcase.errors import TryAgain

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4
"""Items handed to each process at a time."""

MOST_DEATHS = 5
"""So often in a row processes may die before anything is done."""


class Workers:
    """A pool of processes that is started on first use and ends with its context."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.deaths = 0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the processes; they start again on use."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def start(self) -> None:
        """Start the processes, if they are not running; returns at once."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self.processes, mp_context=context, initializer=begin_worker
            )
            with ctrl_c_held():
                for _ in range(self.processes):
                    self._pool.submit(_import_what_is_needed)

    @property
    def are_running(self) -> bool:
        """Whether the processes were started."""
        return self._pool is not None

    def submit(self, function: Callable[[Item], Result], item: Item) -> Errand[Item, Result]:
        """function of one item, whenever a process has time for it."""
        return Errand(self, function, item)

    def ordered(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """function of each item, in order, worked out some items ahead; memory stays bounded."""
        flying: deque[Errand[Item, Result]] = deque()
        for item in items:
            flying.append(self.submit(function, item))
            if len(flying) >= AHEAD * self.processes:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()

    @property
    def pool(self) -> ProcessPoolExecutor:
        """The processes, started if need be."""
        self.start()
        assert self._pool is not None
        return self._pool

    def replace(self, broken: ProcessPoolExecutor) -> None:
        """Start anew, when a process has died; once for each pool that broke.

        Raises:
            TryAgain: they die again and again, and nothing gets done.
        """
        if broken is not self._pool:
            return
        self.deaths += 1
        if self.deaths > MOST_DEATHS:
            raise TryAgain(
                f"worker processes died {self.deaths} times before anything was done, perhaps for "
                "lack of memory, or in a script without `if __name__ == '__main__':`; what was "
                "done is kept; try again with fewer --threads"
            )
        broken.shutdown(wait=False, cancel_futures=True)
        self._pool = None


class Errand(Generic[Item, Result]):
    """Work for a process; done again by another one if that process dies."""

    def __init__(self, workers: Workers, function: Callable[[Item], Result], item: Item) -> None:
        self._workers, self._function, self._item = workers, function, item
        self._send()

    def _send(self) -> None:
        while True:
            self._pool = self._workers.pool
            try:
                with ctrl_c_held():  # a pool may start a process at any call
                    self._future: Future[Result] = self._pool.submit(self._function, self._item)
                return
            except BrokenProcessPool:
                self._workers.replace(self._pool)

    @property
    def is_done(self) -> bool:
        """Whether `result` returns at once."""
        return self._future.done()

    def result(self) -> Result:
        """What the function gave; raises what it raised, and TryAgain as Workers.replace."""
        while True:
            try:
                value = self._future.result()
            except BrokenProcessPool:
                self._workers.replace(self._pool)
                self._send()
            else:
                self._workers.deaths = 0
                return value


@contextmanager
def ctrl_c_held() -> Iterator[None]:
    """Ctrl-C waits: processes that are started meanwhile are born with it held."""
    resource_tracker.ensure_running()  # its start would let through what is held here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker() -> None:
    """Ctrl-C is for the process that started this one; without that one this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import_what_is_needed() -> None:
    """Work for a process that has just started."""
    for module in ("hrcase.plan", "hrcase.refine"):
        import_module(module)
