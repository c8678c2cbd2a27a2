"""Worker processes for what holds the interpreter's lock: Taylor models and Ziv's refinement.

python-flint's precision is global to a process and its calls hold the lock, so threads would
neither help nor be safe.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4
"""Items handed to each process at a time."""


class Workers:
    """A pool of processes that is started on first use and ends with its context."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def start(self) -> None:
        """Start the processes, if they are not running; returns at once."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, mp_context=context)
            for _ in range(self.processes):
                self._pool.submit(_import_what_is_needed)

    @property
    def are_running(self) -> bool:
        """Whether the processes were started."""
        return self._pool is not None

    def submit(self, function: Callable[[Item], Result], item: Item) -> Future[Result]:
        """function of one item, whenever a process has time for it."""
        self.start()
        assert self._pool is not None
        return self._pool.submit(function, item)

    def ordered(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """function of each item, in order, worked out some items ahead; memory stays bounded."""
        flying: deque[Future[Result]] = deque()
        for item in items:
            flying.append(self.submit(function, item))
            if len(flying) >= AHEAD * self.processes:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()


def _import_what_is_needed() -> None:
    """Work for a process that has just started."""
    import hrcase.plan
    import hrcase.refine  # noqa: F401
