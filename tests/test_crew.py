"""Several engines on one queue; one that fails is retired, and its work is done by the others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from jobs import SPEC, Captured, hrcase, plain_list, small_units
from numpy.typing import NDArray

from hrcase.cli import work
from hrcase.engine import Block, Counts, Engine
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.lane import DeviceError
from hrcase.errors import HrcaseError, InputError, SelfTestFailed, TryAgain
from hrcase.job import crew, walk
from hrcase.job.crew import Crew, engines_for
from hrcase.job.stop import Stop
from hrcase.job.units import make_plan
from hrcase.memory import search


class Card(CpuEngine):
    """A CPU engine of one or two threads that fails from its n-th block on."""

    def __init__(self, name: str, fails_at: int, error: HrcaseError, threads: int = 1) -> None:
        super().__init__(threads)
        self.name, self.fails_at, self.error = name, fails_at, error
        self.blocks = 0
        self.lock = threading.Lock()
        self.closed = False

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        with self.lock:
            self.blocks += 1
            if self.blocks > self.fails_at:
                raise self.error
        return super().run(block, method)

    def close(self) -> None:
        self.closed = True


def cards(*fail_at: int, error: HrcaseError | None = None, threads: int = 1) -> list[Card]:
    error = error or DeviceError("it; failed; try")
    return [Card(f"cuda:{n}", at, error, threads) for n, at in enumerate(fail_at)]


NEVER = 1 << 30


@pytest.mark.parametrize(
    "error", [DeviceError("a; b; c"), TryAgain("a; b; c"), SelfTestFailed("a; b; c")]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_card_that_fails_is_retired(
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: HrcaseError,
    threads: int,
) -> None:
    small_units(monkeypatch)
    found = cards(5, NEVER, error=error, threads=threads)
    monkeypatch.setattr(work, "engines_for", lambda *_: (found, None))
    job = tmp_path / "job"
    asked = ("exp", "--format", "binary32", "--exponent-range=-1:1", "--bits", "17")
    exit_code, _, err = hrcase(capsys, "search", *asked, "--job", str(job))
    assert exit_code == 0
    assert err.count("going on without cuda:0, which failed: a; b; c") == 1
    assert "going on without cuda:0" in (job / "log").read_text()
    assert [card.closed for card in found] == [True, True]
    assert found[1].blocks > 50 > found[0].blocks >= 5
    status = hrcase(capsys, "status", str(job))[1]
    assert "cuda:0 " in status and "cuda:1 " in status
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    monkeypatch.undo()
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


def test_when_all_cards_fail_the_last_error_ends_it_and_the_job_goes_on(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_units(monkeypatch)
    monkeypatch.setattr(walk, "SECONDS_TO_KEEP", 0.0)
    job = tmp_path / "job"
    asked = ("exp", "--format", "binary32", "--exponent-range=-1:1", "--bits", "17")
    with monkeypatch.context() as patched:
        found = cards(20, 30, error=TryAgain("out of memory; b; c"))
        patched.setattr(work, "engines_for", lambda *_: (found, None))
        exit_code, _, err = hrcase(capsys, "search", *asked, "--job", str(job))
    assert exit_code == 5
    assert err.count("going on without") == 1
    assert err.splitlines()[-1] == "hrcase: error: out of memory; b; c"
    assert hrcase(capsys, "status", str(job))[1].count("cuda") > 0
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0


def test_slices_are_shared_by_engines_and_cut_for_the_smaller_one() -> None:
    class Large(Card):
        slice_domains = 1 << 25

    error = DeviceError("a; b; c")
    found: list[Engine] = [Large("cuda:0", NEVER, error), Small("cpu", NEVER, error)]
    result = search(SPEC, engine=found)
    assert [card.blocks > 0 for card in found if isinstance(card, Card)] == [True, True]
    assert result.cases == search(SPEC, threads=1).cases


class Small(Card):
    slice_domains = 64


def test_a_unit_is_through_when_all_its_slices_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slice at a time: none is in flight between one and the next."""
    monkeypatch.setattr(crew, "IN_FLIGHT", 1)
    engine = Small("cpu", NEVER, DeviceError("a; b; c"))
    assert search(SPEC, engine=engine).cases == search(SPEC, threads=1).cases
    assert engine.blocks > 5 * len(make_plan(SPEC).units)


def test_a_unit_that_is_stopped_halfway_is_not_done(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, engine = tmp_path / "job", Small("cpu", NEVER, DeviceError("a; b; c"))
    asked = ("exp", "--format", "binary32", "--exponent-range=-1:1", "--bits", "17")
    with monkeypatch.context() as patched:
        patched.setattr(work, "engines_for", lambda *_: ([engine], None))
        patched.setattr(Stop, "__call__", lambda _: engine.blocks > 3)
        exit_code, _, err = hrcase(capsys, "search", *asked, "--job", str(job))
    assert exit_code == 4
    assert f"; 0 of {len(make_plan(SPEC).units)} units are done" in err
    assert engine.blocks < 20
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


def test_a_bug_in_an_engine_is_not_taken_for_a_failing_card() -> None:
    class Buggy(Card):
        def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
            raise ZeroDivisionError("a bug")

    found: list[Engine] = [Buggy("cuda:0", 0, DeviceError("")), *cards(NEVER)]
    with pytest.raises(ZeroDivisionError):
        search(SPEC, engine=found)


def test_threads_end_with_the_crew() -> None:
    before = set(threading.enumerate())  # some of which may end meanwhile
    with Crew(cards(NEVER, NEVER, threads=3)):
        new = set(threading.enumerate()) - before
        assert len(new) == 6
    assert not any(thread.is_alive() for thread in new)


@pytest.mark.parametrize("is_device", [False, True])
def test_threads_of_a_device_wait_less_for_the_interpreter(is_device: bool) -> None:
    before = sys.getswitchinterval()
    (card,) = found = cards(NEVER)
    card.is_device = is_device
    with Crew(found):
        assert (sys.getswitchinterval() < before / 10) == is_device
    assert sys.getswitchinterval() == before


def test_the_words_of_device(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    apart: list[Sequence[str]] = []

    def engine_for(word: str, threads: int | None) -> tuple[Engine, str | None]:
        made.append(word)
        return CpuEngine(threads or 1), "a notice" if word == "auto" else None

    class Driver:
        class Device:
            @staticmethod
            def count() -> int:
                return 3

    def engines_apart(words: Sequence[str]) -> list[Engine]:
        apart.append(words)
        return [CpuEngine(1) for _ in words]

    monkeypatch.setattr(crew, "engine_for", engine_for)
    monkeypatch.setattr(crew, "engines_apart", engines_apart)
    monkeypatch.setattr("hrcase.engine.cuda.driver", Driver)
    engines, notice = engines_for("cuda:all, cpu", 2)
    assert (apart, made) == ([["cuda:0", "cuda:1", "cuda:2"]], ["cpu"])
    assert (len(engines), notice) == (4, None)
    assert engines_for("auto")[1] == "a notice"
    assert (len(engines_for("cuda")[0]), made[-1], len(apart)) == (1, "cuda:0", 1)
    for twice in ("cpu,cpu", "cuda,cuda:0", "cuda:all,cuda:1", "auto,cpu"):
        with pytest.raises(InputError, match="names an engine twice"):
            engines_for(twice)
