"""Engines in processes of their own: several cards that do not wait for one interpreter's lock.

A block takes some 0.3 ms of Python on its way through a card, and a card needs one every
millisecond or two. In one process two cards would wait for each other. Here a thread that calls
`run` sends the block through a pipe and sleeps until the answer comes.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block, Counts, Engine
from hrcase.engine.choose import engine_for
from hrcase.errors import HrcaseError, TryAgain
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

    Its calls raise what the engine's calls raise, and TryAgain where the process has ended. Ctrl-C
    and SIGTERM, which may reach all processes, are for the one that made it.
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
        # Python ends daemons by SIGTERM when it ends, and waits for them.
        Finalize(self, self._process.kill, exitpriority=0)
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
        except KeyboardInterrupt:
            pipe.close()  # the answer that is still to come must not be taken for another one
            raise
        finally:
            self._idle.put(pipe)
        return found, counts

    def close(self) -> None:
        """End the process: at once if it compiles."""
        for pipe in self._pipes:
            pipe.close()
        if not self._preparing.locked():
            self._process.join(SECONDS_TO_END)
        self._process.kill()
        self._process.join()

    def _ask(self, pipe: Connection, question: object) -> Any:
        try:
            pipe.send(question)
        except OSError:
            raise self._ended() from None
        return self._answer(pipe)

    def _answer(self, pipe: Connection) -> Any:
        try:
            received = pipe.recv_bytes()
        except (EOFError, OSError, TypeError):  # the last one if it is closed meanwhile
            raise self._ended() from None
        answer = pickle.loads(received)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _ended(self) -> TryAgain:
        with self._ending:
            self._process.join(SECONDS_TO_END)
        return TryAgain(
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
    engines: list[EngineApart] = []
    try:
        for device in devices:
            engines.append(EngineApart(device))
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
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    first, *others = pipes
    try:
        engine, _ = engine_for(device, threads)
    except BaseException as error:
        first.send(_portable(error))
        return
    first.send(
        About(engine.name, engine.is_device, engine.methods, engine.workers, engine.slice_domains)
    )
    for pipe in others:
        answer = partial(_answer_all, pipe, lambda asked: engine.run(*asked))
        threading.Thread(target=answer, daemon=True).start()
    _answer_all(first, engine.prepare)
    engine.close()


def _answer_all(pipe: Connection, function: Callable[[Any], object]) -> None:
    """Answer what is asked, with what the function gives or raises, until the pipe is closed."""
    with pipe:  # who waits for an answer that does not come sees it closed
        while True:
            try:
                asked = pipe.recv_bytes()
            except (EOFError, OSError):
                return
            try:
                answer = function(pickle.loads(asked))
            except BaseException as error:
                answer = _portable(error)
            try:
                pipe.send(answer)
            except OSError:
                return


def _portable(error: BaseException) -> BaseException:
    """The error, or, where it cannot be sent, one with its words."""
    words = "".join(traceback.format_exception(error))
    if not isinstance(error, HrcaseError):
        error.add_note(words)
    try:
        portable: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(words)
    return portable
