"""Faults of the machine are found: bits flipped in every kind of state, answers that are wrong.

`cd tests && python -m faults.table` makes the table of docs/faults.md, with thousands of flips.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from ctypes import CDLL
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faults import device, flips
from jobs import ASKED, SPEC, Captured, hrcase, plain_list, small_units
from numpy.typing import NDArray

from hrcase.cli import work
from hrcase.domain import split
from hrcase.engine import METHODS, Block, Counts, Engine, cpu
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.cuda import CudaEngine
from hrcase.engine.trust import WrongAnswer, echo_of, require_sound, sentinel_of
from hrcase.errors import SelfTestFailed
from hrcase.memory import search
from hrcase.pieces import Rule
from hrcase.plan import Tuning, by_method, plan, second_method
from hrcase.selftest import candidates_by_definition, known_answers, selftest

Found = tuple[NDArray[np.int64], Counts]


# Single bits.


@pytest.fixture(scope="module")
def kernels() -> Iterator[CDLL]:
    with flips.injected() as library:
        yield library


@pytest.mark.parametrize("name", [*flips.PERSISTENT, *flips.BUFFERS])
def test_a_flipped_bit_is_found(kernels: CDLL, name: str) -> None:
    kind = {**flips.PERSISTENT, **flips.BUFFERS}[name]
    rates = flips.rates_of(kernels, kind, 60, seed=3)
    assert rates.escaped == 0
    assert rates.changed >= 2
    assert rates.same_twice == 0


@pytest.fixture(scope="module")
def emulated() -> Iterator[CudaEngine]:
    with device.emulated() as (engine, _):
        yield engine


@pytest.mark.parametrize("name", device.LISTS)
def test_a_flipped_bit_of_device_memory_is_found(emulated: CudaEngine, name: str) -> None:
    trials = 16 if name in ("cubics", "starts", "starts, after the walk") else 4
    rates = device.rates_of(emulated, device.LISTS[name], trials, seed=1)
    assert rates.trials == trials
    assert rates.changed >= 1 or trials == 4
    assert rates.escaped == rates.same_twice == 0


# Sentinels, figures.


@pytest.mark.parametrize("method", METHODS)
def test_a_sentinel_is_a_candidate_of_a_part_of_the_block(method: str) -> None:
    block, _ = known_answers(4, 3)
    places = set()
    for lo in range(block.lo, block.hi, 97):
        part = replace(block, lo=lo)
        sentinel, u = sentinel_of(part, method)
        assert part.lo <= sentinel.lo <= u < sentinel.hi <= part.hi
        assert u in candidates_by_definition(sentinel)
        assert sentinel.run_log2 <= part.run_log2
        places.add(u)
    assert len(places) > 20


def test_a_sentinel_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    block, _ = known_answers(3, 2)
    whole = cpu.search

    def lose(asked: Block, method: str) -> Found:
        found, counts = whole(asked, method)
        return (found[:0] if asked != block else found), counts

    monkeypatch.setattr(cpu, "search", lose)
    with pytest.raises(WrongAnswer, match=r"in the sentinel \(the candidate planted at u = "):
        cpu.run(block, "farey")


@pytest.mark.parametrize(
    ("name", "amount", "what"),
    [
        ("sum", 1, "sum of the candidates"),
        ("domains", 1, "domains tested"),
        ("candidates", 1 << 50, "candidates among the hits"),
        ("sound", -1, "checks of the runs"),
        ("echo", 1 << 63, "block"),
    ],
)
def test_figures_of_the_processor_are_compared(
    monkeypatch: pytest.MonkeyPatch, name: str, amount: int, what: str
) -> None:
    block, _ = known_answers(3, 2)
    answer = cpu.answer

    def change(asked: Block, method: str) -> tuple[NDArray[np.int64], dict[str, int]]:
        found, told = answer(asked, method)
        return found, told | {name: told[name] + amount}

    monkeypatch.setattr(cpu, "answer", change)
    with pytest.raises(WrongAnswer, match=f"the CPU contradicts itself in the {what} "):
        cpu.run(block, "farey")


def test_a_scan_must_scan_all() -> None:
    block, _ = known_answers(3, 2)
    told = {"domains": 0, "scanned": block.length - 1, "hits": 0, "candidates": 0, "sum": 0}
    with pytest.raises(WrongAnswer, match="arguments scanned"):
        require_sound(block, "scan", told, np.empty(0, dtype=np.int64), {}, "it")
    assert echo_of(block.packed()) == sum(
        int.from_bytes(block.packed()[i : i + 8], "little")
        for i in range(0, len(block.packed()), 8)
    ) % (1 << 64)


# What a search does about it.


class Faulty(CpuEngine):
    """An engine whose n-th answer is spoiled for each n of `at`."""

    def __init__(self, name: str, at: range, spoil: Callable[[Found], Found]) -> None:
        super().__init__(1)
        self.name, self.at, self.spoil, self.calls = name, at, spoil, 0

    def run(self, block: Block, method: str) -> Found:
        self.calls += 1
        answer = super().run(block, method)
        return self.spoil(answer) if self.calls - 1 in self.at else answer


def alarm(answer: Found) -> Found:
    raise WrongAnswer("it; is wrong; try")


def lose_one(answer: Found) -> Found:
    """A wrong answer that agrees with itself."""
    found, counts = answer
    return found[1:], counts


ALWAYS = range(1 << 30)


def test_a_part_that_fails_once_is_searched_again() -> None:
    told: list[str] = []
    result = search(SPEC, engine=Faulty("cuda:0", range(3, 4), alarm), tell=told.append)
    assert result.cases == search(SPEC, threads=1).cases
    assert told == ["a part is searched again on cuda:0: it; is wrong; try"]
    assert result.statistics.counts["faults"] == 1


def test_one_that_fails_twice_is_searched_elsewhere() -> None:
    told: list[str] = []
    engines: list[Engine] = [Faulty("cuda:0", ALWAYS, alarm), Faulty("cuda:1", range(0), alarm)]
    result = search(SPEC, engine=engines, tell=told.append)
    assert result.cases == search(SPEC, threads=1).cases
    assert told[-1] == "going on without cuda:0, which failed: it; is wrong; try"


def test_where_there_is_no_elsewhere_the_search_stops_with_exit_code_6(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_units(monkeypatch)
    job = tmp_path / "job"
    with monkeypatch.context() as patched:
        faulty = Faulty("cuda:0", range(20, 1 << 30), alarm)
        patched.setattr(work, "engines_for", lambda *_: ([faulty], None))
        exit_code, _, err = hrcase(capsys, "search", *ASKED, "--job", str(job))
    assert exit_code == 6
    assert err.splitlines()[-1] == "hrcase: error: it; is wrong; try"
    assert "a part is searched again on cuda:0: it; is wrong" in (job / "log").read_text()
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    monkeypatch.undo()
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


# Twice.


@pytest.mark.parametrize("method", ["farey", "regular", "lefevre"])
def test_twice_by_different_methods_gives_the_same_list(method: str) -> None:
    engine = Faulty("cpu", range(0), alarm)
    result = search(SPEC, method, tuning=Tuning(second=second_method(method)), engine=engine)
    calls, once = engine.calls, search(SPEC, method, engine=engine)
    assert result.cases == once.cases
    assert result.statistics.counts == once.statistics.counts
    assert calls == 2 * (engine.calls - calls)


def test_a_fault_of_the_second_method_is_counted_too() -> None:
    engine = Faulty("cpu", range(1, 2), alarm)
    result = search(SPEC, tuning=Tuning(second=second_method("farey")), engine=engine)
    assert result.statistics.counts["faults"] == 1


@pytest.mark.parametrize("at", [0, 1, 5])
def test_a_lost_candidate_is_found_by_the_second_method(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    engine = Faulty("cpu", range(at, at + 1), lose_one)
    monkeypatch.setattr(work, "engines_for", lambda *_: ([engine], None))
    exit_code, out, err = hrcase(capsys, "search", *ASKED, "--double-check")
    assert (exit_code, out) == (7, "")
    words = err.splitlines()[-1]
    assert "two methods gave two answers for " in words
    assert "1 were found by one of them alone: " in words
    lacking = "regular" if at % 2 == 0 else "farey"
    assert f" ({lacking}); " in words
    engine.calls = 0
    assert hrcase(capsys, "search", *ASKED)[0] == 0  # nothing else would have seen it


def test_another_method_has_the_same_polynomial_and_window() -> None:
    seen = set()
    for piece in split(SPEC):
        if piece.rule is not Rule.SEARCHED:
            continue
        for planned in plan(SPEC, piece, Tuning(method="farey")):
            if planned.block is None:
                continue
            other = by_method(planned, "regular")
            assert other.block is not None and other.is_second and not planned.is_second
            for name in ("coefficients", "window", "lo", "hi", "limbs"):
                assert getattr(other.block, name) == getattr(planned.block, name)
            seen.add((planned.method, other.method))
    assert ("farey", "regular") in seen


# The self-test.


def test_the_self_test(capsys: Captured) -> None:
    exit_code, out, _ = hrcase(capsys, "selftest", "--device", "cpu", "--threads", "1")
    assert exit_code == 0
    assert out.splitlines()[-1] == "all answers are right"
    assert sum("farey: " in line for line in out.splitlines()) == 2
    exit_code, out, _ = hrcase(capsys, "selftest", "--device", "cpu", "--threads", "1", "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert (exit_code, len(answers)) == (0, 8)
    assert all(answer["right"] and answer["candidates"] == answer["known"] for answer in answers)


def test_a_corrupted_answer_fails_the_self_test(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = Faulty("cuda:0 (a card)", range(5, 6), lose_one)
    monkeypatch.setattr(work, "engines_for", lambda *_: ([faulty], None))
    exit_code, out, err = hrcase(capsys, "selftest")
    assert exit_code == 6
    assert "all answers are right" not in out
    assert "the self-test of cuda:0 (a card) failed: degree 8, 6 limbs, lefevre: " in err
    assert ": 81 candidates, WRONG, 82 are known" in out.splitlines()[-1]


def test_the_long_self_test_compares_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hrcase.selftest.ALL_SHAPES", ((3, 2),))
    engine, prepared = CpuEngine(1), list[object]()
    monkeypatch.setattr(engine, "prepare", prepared.extend)
    lines = list(selftest(engine, is_long=True))
    assert len(lines) == 4 + 3 * 2
    assert prepared == [(3, 2)]
    faulty = Faulty("it", range(8, 9), lose_one)
    with pytest.raises(SelfTestFailed, match=r"exp at .*, regular"):
        list(selftest(faulty, is_long=True))


def test_seams_of_wide_windows_are_no_false_alarm() -> None:
    """Terms that the cubics drop take them half a turn apart: any difference is within the windows.

    P = C u^5 on two runs. The cubics are off by 4 C H^5 at their seam, to opposite sides, and the
    windows hold 6 C H^5 = 0.3 each; four times that is more than 1.
    """
    half_log2 = 7
    quintic = (1 << 256) // 20 >> 5 * half_log2
    run_window = (3 << 128) // 10 + (1 << 40)
    edge = 2 << half_log2
    c = (0, 0, 0, 0, 0, quintic, 0, 0, 0)
    block = Block(8, 4, c, 0, -edge, edge, half_log2 + 1, run_window, 6, (0, 0))
    assert 0 in cpu.run(block, "scan")[0]
