"""Engines in processes of their own: several cards that do not wait for one interpreter's lock.

A block takes some 0.3 ms of Python on its way through a card, and a card needs one every
millisecond or two. In one process two cards would wait for each other. Here a thread that calls
`run` sends the block through a pipe and sleeps until the answer comes.
"""

from __future__ import annotations

import multiprocessing
import threading
import traceback
from collections.abc import Collection, Sequence
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block, Counts, Engine
from hrcase.engine.choose import engine_for
from hrcase.engine.lane import DeviceError
from hrcase.errors import HrcaseError
from hrcase.workers import begin_worker, ctrl_c_held

LANES = 8
"""Calls of an engine at a time; more wait."""

SECONDS_TO_END = 5.0
"""A process that is asked to end has so long."""


class About(NamedTuple):
    """What an engine says of itself: see `Engine`."""

    name: str
    is_device: bool
    methods: tuple[str, ...]
    workers: int
    slice_domains: int


class EngineApart:
    """An engine in a process of its own; made by `engines_apart`.

    Its calls raise what the engine's calls raise, and DeviceError where the process has ended.
    """

    def __init__(self, device: str, threads: int | None = None) -> None:
        self.name = device
        context = multiprocessing.get_context("spawn")
        own, theirs = zip(*(context.Pipe() for _ in range(LANES + 1)), strict=True)
        with ctrl_c_held():
            self._process = context.Process(
                target=_serve, args=(theirs, device, threads), daemon=True
            )
            self._process.start()
        for pipe in theirs:  # so that ours end when the process does
            pipe.close()
        self._pipes: tuple[Connection, ...] = own
        self._preparing, self._ending = threading.Lock(), threading.Lock()
        self._idle = SimpleQueue[Connection]()
        for pipe in own[1:]:
            self._idle.put(pipe)

    def wait(self) -> None:
        """Wait until the engine is there.

        Raises:
            HrcaseError: as `engine_for`.
        """
        about = self._answer(self._pipes[0])
        self.name, self.is_device, self.methods, self.workers, self.slice_domains = about

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        """As `Engine.prepare`."""
        with self._preparing:
            self._ask(self._pipes[0], shapes)

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        """As `Engine.run`."""
        pipe = self._idle.get()
        try:
            found, counts = self._ask(pipe, (block, method))
        finally:
            self._idle.put(pipe)
        return found, counts

    def close(self) -> None:
        """End the process."""
        for pipe in self._pipes:
            pipe.close()
        self._process.join(SECONDS_TO_END)
        self._process.kill()

    def _ask(self, pipe: Connection, question: object) -> Any:
        try:
            pipe.send(question)
        except OSError:
            raise self._ended() from None
        return self._answer(pipe)

    def _answer(self, pipe: Connection) -> Any:
        try:
            answer = pipe.recv()
        except (EOFError, OSError):
            raise self._ended() from None
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _ended(self) -> DeviceError:
        with self._ending:
            self._process.join(SECONDS_TO_END)
        return DeviceError(
            f"the process of {self.name} has ended (exit code {self._process.exitcode}), perhaps "
            "for lack of memory; what was done is kept; run the same command again"
        )


def engines_apart(devices: Sequence[str]) -> list[Engine]:
    """Engines in processes of their own, started side by side.

    Args:
        devices: words of `hrcase.engine.choose.engine_for`.

    Raises:
        HrcaseError: as `engine_for`.
    """
    engines = [EngineApart(device) for device in devices]
    try:
        for engine in engines:
            engine.wait()
    except BaseException:
        for engine in engines:
            engine.close()
        raise
    return [*engines]


def _serve(pipes: Sequence[Connection], device: str, threads: int | None) -> None:
    """The life of the process: it ends when the first of its pipes is closed."""
    begin_worker()
    first, *others = pipes
    try:
        engine, _ = engine_for(device, threads)
    except BaseException as error:
        first.send(error)
        return
    first.send(
        About(engine.name, engine.is_device, engine.methods, engine.workers, engine.slice_domains)
    )
    for pipe in others:
        answer = partial(_answer_all, pipe, lambda asked: engine.run(*asked))
        threading.Thread(target=answer, daemon=True).start()
    _answer_all(first, engine.prepare)
    engine.close()


def _answer_all(pipe: Connection, function: Any) -> None:
    """Answer what is asked, with what the function gives or raises, until the pipe is closed."""
    while True:
        try:
            asked = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = function(asked)
        except BaseException as error:
            if not isinstance(error, HrcaseError):
                error.add_note(traceback.format_exc())
            answer = error
        try:
            pipe.send(answer)
        except OSError:
            return
