"""Engines in processes of their own: the same answers and errors; one that dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnProcess
from pathlib import Path

import numpy as np
import pytest
from jobs import SPEC
from numpy.typing import NDArray

from hrcase.cli import main, work
from hrcase.engine import Block, Counts, apart
from hrcase.engine.apart import LANES, EngineApart, engines_apart
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import HrcaseError, NoDevice, TryAgain
from hrcase.job.crew import Crew
from hrcase.memory import search
from hrcase.selftest import known_answers


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineApart]:
    (made,) = engines_apart(["cpu"])
    assert isinstance(made, EngineApart)
    yield made
    made.close()


def test_it_is_and_answers_as_the_engine(engine: EngineApart) -> None:
    here = CpuEngine()
    for name in ("name", "is_device", "methods", "workers", "slice_domains"):
        assert getattr(engine, name) == getattr(here, name)
    engine.prepare([(3, 2)])
    block, expected = known_answers(3, 2)
    for method in here.methods:
        found, counts = engine.run(block, method)
        assert found.tolist() == expected
        assert counts == here.run(block, method)[1]


def test_more_calls_than_pipes_wait(engine: EngineApart) -> None:
    block, expected = known_answers(3, 2)
    with ThreadPoolExecutor(3 * LANES) as pool:
        answers = pool.map(lambda _: engine.run(block, "farey"), range(6 * LANES))
    assert all(found.tolist() == expected for found, _ in answers)


def test_its_errors_are_the_engines(engine: EngineApart) -> None:
    block, expected = known_answers(3, 2)
    with pytest.raises(ValueError, match="no method 'none'") as caught:
        engine.run(block, "none")
    assert "in run" in caught.value.__notes__[0]
    assert engine.run(block, "farey")[0].tolist() == expected
    with pytest.raises(NoDevice, match=r"PyCUDA|device"):
        engines_apart(["cpu", "cuda:99"])


def test_a_search_on_two_is_that_on_one() -> None:
    engines = engines_apart(["cpu", "cpu"])
    try:
        found = search(SPEC, engine=engines)
    finally:
        for one in engines:
            one.close()
    assert found.rows == search(SPEC, engine=CpuEngine()).rows
    assert len(found.rows) > 10


class Mortal(EngineApart):
    """Its process is killed at the third block."""

    blocks = 0

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        self.blocks += 1
        if self.blocks == 3:
            assert self._process.pid is not None
            os.kill(self._process.pid, signal.SIGKILL)
        return super().run(block, method)


def test_one_that_dies_is_retired_and_its_work_is_done_by_the_others() -> None:
    mortal = Mortal("cpu", 1)
    mortal.wait()
    told: list[str] = []
    found = search(SPEC, engine=[mortal, CpuEngine(1)], tell=told.append)
    mortal.close()
    assert found.rows == search(SPEC, engine=CpuEngine()).rows
    (line,) = told
    assert "going on without cpu, 1 threads, which failed: the process of cpu, 1 threads" in line
    assert "exit code -9" in line


def test_the_last_one_that_dies_ends_the_search() -> None:
    mortal = Mortal("cpu", 1)
    mortal.wait()
    with pytest.raises(TryAgain, match="has ended"):
        search(SPEC, engine=mortal)
    mortal.close()


def test_its_process_ends_with_it_and_with_this_one() -> None:
    (made,) = engines_apart(["cpu"])
    assert isinstance(made, EngineApart)
    place = Path(f"/proc/{made._process.pid}")
    assert place.exists()
    made.close()
    assert made._process.exitcode == 0
    with pytest.raises(HrcaseError):
        made.run(known_answers(3, 2)[0], "farey")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        (own,) = engines_apart(["cpu"])
        assert isinstance(own, EngineApart)
        os.write(write, str(own._process.pid).encode())
        time.sleep(60)
        os._exit(0)
    place = Path(f"/proc/{os.read(read, 20).decode()}")
    assert place.exists()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    deadline = time.monotonic() + 20
    while place.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not place.exists()


def test_signals_for_the_whole_group_do_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is held while it starts, and ignored from then on, as SIGTERM is."""
    held: list[bool] = []
    start = SpawnProcess.start

    def note(process: SpawnProcess) -> None:
        held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", note)
    (made,) = engines_apart(["cpu"])
    assert held == [True]
    assert isinstance(made, EngineApart) and made._process.pid is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(made._process.pid, number)
    block, expected = known_answers(3, 2)
    assert made.run(block, "farey")[0].tolist() == expected
    made.close()


SCRIPT = """
import signal
from multiprocessing import util
from hrcase.engine.apart import engines_apart

def note(path, words, *rest):
    if any("spawn_main" in str(word) for word in words):
        print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
    return spawn(path, words, *rest)

if __name__ == "__main__":
    spawn, util.spawnv_passfds = util.spawnv_passfds, note
    engines = engines_apart(["cpu", "cpu"])
"""


def test_a_new_python_holds_ctrl_c_too_and_ends_though_nobody_closes_them(tmp_path: Path) -> None:
    """Python's resource tracker, which starts with the first process, lets Ctrl-C through."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = [sys.executable, str(script)]
    ended = subprocess.run(words, capture_output=True, timeout=60, check=True, text=True)
    assert ended.stdout.split() == ["True", "True"]


class Odd(Exception):
    """Cannot be pickled."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.lock = threading.Lock()


class Strange(CpuEngine):
    """Compiles for a minute, and has errors that cannot be sent."""

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        time.sleep(60)

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        raise Odd("odd")


def test_an_error_that_cannot_be_sent_is_sent_in_words() -> None:
    """A thread of the process must not die of it: who asked would wait for ever."""
    own, theirs = multiprocessing.Pipe()
    engine = Strange(1)
    thread = threading.Thread(
        target=apart._answer_all, args=(theirs, lambda asked: engine.run(*asked))
    )
    thread.start()
    for _ in range(2):
        own.send((known_answers(3, 2)[0], "farey"))
        error = own.recv()
        assert isinstance(error, RuntimeError) and "Odd: odd" in str(error)
    own.close()
    thread.join(10)
    assert not thread.is_alive()


def test_it_ends_at_once_while_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    (made,) = engines_apart(["cpu"])
    assert isinstance(made, EngineApart)
    pid = made._process.pid
    assert pid is not None
    told: list[str] = []
    os.kill(pid, signal.SIGSTOP)  # as if the compiler took long
    with Crew([made, CpuEngine(1)], told.append) as crew:
        crew.prepare([(3, 2)])
        while not made._preparing.locked():
            time.sleep(0.01)
    started = time.monotonic()
    made.close()
    assert time.monotonic() - started < 3
    assert not Path(f"/proc/{pid}").exists()
    for thread in crew._preparing:
        thread.join(10)
    assert not told


def test_ctrl_c_in_a_call_leaves_no_answer_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (made,) = engines_apart(["cpu"])
    assert isinstance(made, EngineApart)
    block, expected = known_answers(3, 2)
    answer = EngineApart._answer

    def interrupted(engine: EngineApart, pipe: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(EngineApart, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.run(block, "scan")
    monkeypatch.setattr(EngineApart, "_answer", answer)
    for _ in range(LANES - 1):
        assert made.run(block, "farey")[0].tolist() == expected
    monkeypatch.setattr(apart, "SECONDS_TO_END", 0.1)
    with pytest.raises(TryAgain):
        made.run(block, "farey")
    made.close()


def test_sigterm_for_the_whole_group_stops_a_job_as_for_one_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As timeout(1), Slurm and systemd send it."""
    job = tmp_path / "job"
    asked = ["search", "exp", "--interval", "1,1.2", "--job", str(job)]
    child = os.fork()
    if child == 0:
        os.setsid()
        monkeypatch.setattr(work, "engines_for", lambda *_: (engines_apart(["cpu"] * 2), None))
        os._exit(main.run(asked))
    while not (job / "log").exists() or "begins" not in (job / "log").read_text():
        time.sleep(0.05)
    time.sleep(1.5)
    os.killpg(child, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    log = (job / "log").read_text()
    assert "stopped by SIGTERM" in log and "going on without" not in log
