"""Engines in processes of their own: the same answers and errors; one that dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from jobs import SPEC
from numpy.typing import NDArray

from hrcase.engine import Block, Counts
from hrcase.engine.apart import LANES, EngineApart, engines_apart
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.lane import DeviceError
from hrcase.errors import HrcaseError, NoDevice
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
    with pytest.raises(DeviceError, match="has ended"):
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
