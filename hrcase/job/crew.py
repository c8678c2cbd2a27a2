"""Engines that take slices from one queue, each with its own threads."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Counts, Engine
from hrcase.engine.apart import engines_apart
from hrcase.engine.choose import engine_for
from hrcase.engine.trust import WrongAnswer
from hrcase.errors import HrcaseError, InputError
from hrcase.plan import PlannedBlock

IN_FLIGHT = 3
"""Slices handed to each thread of an engine at a time."""

SWITCH_SECONDS = 2e-4
"""A device's thread needs the interpreter for some 0.1 ms a slice, and must not wait for Python's
usual 5 ms until the one that hands out lets go of it."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What an engine gave for a slice.

    Attributes:
        offsets: of the candidates, ascending: ordinals less that of the slice's first argument.
        counts: what it took to find them, by the name of the counter.
        seconds: from the call to its return.
        device: the engine's name.
    """

    offsets: NDArray[np.int64]
    counts: dict[str, int]
    seconds: float
    device: str


class Crew:
    """The engines of a search. As a context: its threads end with it.

    A slice whose answer does not stand up to its checks runs again, once. An engine that fails is
    retired while there are others: its slice goes back into the queue. The last one's error ends
    the search.

    Attributes:
        capacity: slices to hand out at a time.
        slice_work: domain tests in a slice, for the engine that takes most.
        is_device: an engine leaves the processors free.
        tell: gets a line for the user when something failed, in the engine's thread.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.engines, self._tell = engines, tell or (lambda _: None)
        self.capacity = IN_FLIGHT * sum(engine.workers for engine in engines)
        self.slice_work = max(engine.slice_domains for engine in engines)
        self.is_device = any(engine.is_device for engine in engines)
        self._queue: SimpleQueue[tuple[PlannedBlock, Future[Landed]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._working = set(map(id, engines))
        self._threads: list[threading.Thread] = []
        self._preparing: list[threading.Thread] = []
        self._failure: HrcaseError | None = None

    def __enter__(self) -> Crew:
        self._switch_seconds = sys.getswitchinterval()
        if self.is_device:
            sys.setswitchinterval(SWITCH_SECONDS)
        for engine in self.engines:
            for _ in range(engine.workers):
                work = partial(self._serve, engine)
                self._threads.append(threading.Thread(target=work, daemon=True))
                self._threads[-1].start()
        return self

    def __exit__(self, *_: object) -> None:
        for _thread in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        with self._lock:
            self._working.clear()  # what fails from now on, while it compiles, is of no interest
        sys.setswitchinterval(self._switch_seconds)

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        """Have the engines compile the kernels of these shapes, while they work."""
        for engine in self.engines:
            work = partial(self._prepare, engine, shapes)
            self._preparing.append(threading.Thread(target=work, daemon=True))
            self._preparing[-1].start()

    def finish_preparing(self) -> None:
        """Wait until they are compiled; raises what went wrong with the last engine."""
        for thread in self._preparing:
            thread.join()
        if self._failure is not None:
            raise self._failure

    def submit(self, part: PlannedBlock) -> Future[Landed]:
        """Hand out a slice."""
        future: Future[Landed] = Future()
        self._queue.put((part, future))
        return future

    @property
    def in_words(self) -> str:
        """The engines by name."""
        return ", ".join(engine.name for engine in self.engines)

    def _prepare(self, engine: Engine, shapes: Collection[tuple[int, int]]) -> None:
        try:
            engine.prepare(shapes)
        except HrcaseError as error:
            if not self._retires(engine, error):
                self._failure = error

    def _serve(self, engine: Engine) -> None:
        """The life of a thread."""
        while (work := self._queue.get()) is not None:
            part, future = work
            if id(engine) not in self._working:
                self._queue.put(work)
                return
            if not (future.running() or future.set_running_or_notify_cancel()):
                continue
            try:
                landed = self._run(engine, part)
            except HrcaseError as error:
                if self._retires(engine, error):
                    self._queue.put(work)
                    return
                future.set_exception(error)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(landed)

    def _retires(self, engine: Engine, error: HrcaseError) -> bool:
        """Whether others go on without this engine, which has failed."""
        with self._lock:
            is_first = id(engine) in self._working
            if is_first and len(self._working) == 1:
                return False
            self._working.discard(id(engine))
        if is_first:
            self._tell(f"going on without {engine.name}, which failed: {error}")
        return True

    def _run(self, engine: Engine, part: PlannedBlock) -> Landed:
        """Run a slice, and once more if its answer is wrong; then it counts as a fault."""
        try:
            return run_slice(engine, part)
        except WrongAnswer as error:
            self._tell(f"a part is searched again on {engine.name}: {error}")
        landed = run_slice(engine, part)
        landed.counts["faults"] = 1
        return landed


def run_slice(engine: Engine, part: PlannedBlock) -> Landed:
    """Run a slice on an engine, which may cut it finer for itself."""
    started = time.perf_counter()
    offsets: list[NDArray[np.int64]] = []
    total = dict.fromkeys(Counts.__annotations__, 0)
    whole = part.work <= 1.1 * engine.slice_domains
    for finer in [part] if whole else part.slices(engine.slice_domains):
        assert finer.block is not None
        found, counts = engine.run(finer.block, finer.method)
        offsets.append(found + (finer.ordinal(0) - part.first))
        for name, count in vars(counts).items():
            total[name] += count
    seconds = time.perf_counter() - started
    return Landed(np.concatenate(offsets), total, seconds, engine.name)


def engines_for(device: str, threads: int | None = None) -> tuple[list[Engine], str | None]:
    """The engines that --device names, and a line to tell the user, if there is one.

    Args:
        device: words of `hrcase.engine.choose.engine_for` with commas between them; "cuda:all" is
            every CUDA device.
        threads: of the CPU engine.

    Several cards are in a process each (hrcase.engine.apart).

    Raises:
        InputError: no such word, or the same engine twice.
        NoDevice: one of them cannot be used.
    """
    words = [word.strip() for word in device.split(",")]
    words = ["cuda:0" if word == "cuda" else word for word in words]
    if "cuda:all" in words:
        from hrcase.engine.cuda import driver

        cards = [f"cuda:{n}" for n in range(driver().Device.count())]
        words = [card for word in words for card in (cards if word == "cuda:all" else [word])]
    if len(set(words)) < len(words) or ("auto" in words and len(words) > 1):
        raise InputError(
            f"--device {device} names an engine twice; give each once, say cuda:0,cuda:1,cpu"
        )
    cards = [word for word in words if word.startswith("cuda")]
    if len(cards) > 1:
        others = [engine_for(word, threads)[0] for word in words if word not in cards]
        return [*engines_apart(cards), *others], None
    engines, notices = zip(*(engine_for(word, threads) for word in words), strict=True)
    return list(engines), next(filter(None, notices), None)
