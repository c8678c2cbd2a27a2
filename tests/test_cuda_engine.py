"""The CUDA engine without a device: its checks, its errors, its arithmetic, its choice."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_cuda
import pytest
from fake_cuda import FakeCuda, FakeError, FakeMemoryError
from hypothesis import given
from hypothesis import strategies as st

from hrcase.engine import Block, choose, cpu, lane
from hrcase.engine.choose import engine_for, has_cuda_device
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.cuda import CudaEngine, driver
from hrcase.engine.lane import DeviceError
from hrcase.engine.trust import WrongAnswer
from hrcase.errors import HrcaseError, InputError, NoDevice, SelfTestFailed, TryAgain
from hrcase.selftest import known_answers

METHODS = ("scan", "lefevre", "regular", "farey")
TESTED_UNITS = len(METHODS)
"""Units that the self-test of a shape runs."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeCuda:
    return fake_cuda.install(monkeypatch, tmp_path)


@pytest.fixture
def engine(fake: FakeCuda) -> Iterator[CudaEngine]:
    engine = CudaEngine()
    engine.timed = True
    yield engine
    engine.close()
    assert fake.depth == 0


@pytest.mark.parametrize("method", METHODS)
def test_answers_are_those_of_the_cpu(engine: CudaEngine, method: str) -> None:
    block, expected = known_answers(4, 3)
    found, counts = engine.run(block, method)
    assert found.tolist() == expected
    assert (found.tolist(), counts) == (cpu.run(block, method)[0].tolist(), counts)
    assert counts == cpu.run(block, method)[1]


def test_a_shape_proves_itself_once(engine: CudaEngine, fake: FakeCuda) -> None:
    block, _ = known_answers(3, 2)
    for units in (TESTED_UNITS + 1, TESTED_UNITS + 2):
        engine.run(block, "farey")
        assert fake.launched.count("decide") == units


def test_wrong_kernels_are_refused(engine: CudaEngine, fake: FakeCuda) -> None:
    """An answer that agrees with itself, but lacks a case."""

    def lose_one(counters: dict[str, int], entries: list[int]) -> None:
        counters["sum"] -= entries.pop()
        counters["candidates"] -= 1

    fake.spoil = lose_one
    with pytest.raises(SelfTestFailed, match=r"degree 3 with 2 limbs, method scan.*--device cpu"):
        engine.run(known_answers(3, 2)[0], "regular")
    with pytest.raises(SelfTestFailed):  # the shape is no more trusted the second time
        engine.run(known_answers(3, 2)[0], "regular")


@pytest.mark.parametrize("method", METHODS)
def test_an_overflow_runs_again_with_room(
    engine: CudaEngine, fake: FakeCuda, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(lane, "FIRST_CAPACITY", 4)
    block, expected = known_answers(3, 2)
    assert len(expected) > 4
    found, counts = engine.run(block, method)
    assert found.tolist() == expected
    assert counts.candidates == len(expected)
    sentinel = method != "farey"  # a unit of its own
    assert (
        fake.launched.count("decide") == TESTED_UNITS + 2 + sentinel
    )  # one more: in the self-test


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("regular", name) for name in ("failing", "subfailing", "hits")),
        *(("farey", name) for name in ("crowds", "wide", "near", "hits")),
    ],
)
def test_every_list_may_overflow(
    engine: CudaEngine, fake: FakeCuda, method: str, name: str
) -> None:
    block, expected = known_answers(3, 2)
    engine.run(block, method)
    many, units = 10**6, fake.launched.count("decide")

    def claim_many(counters: dict[str, int], entries: list[int]) -> None:
        if fake.launched.count("decide") == units + 1:
            counters[name] = many

    fake.spoil = claim_many
    found, _ = engine.run(block, method)
    assert found.tolist() == expected
    assert fake.launched.count("decide") == units + 2 + (method != "farey")


def add_to(name: str, amount: int) -> fake_cuda.Spoil:
    def spoil(counters: dict[str, int], entries: list[int]) -> None:
        counters[name] += amount

    return spoil


def lose_an_entry(counters: dict[str, int], entries: list[int]) -> None:
    counters["sum"] -= entries[1]
    entries[1] = 0


def change_an_entry(counters: dict[str, int], entries: list[int]) -> None:
    entries[1] ^= 64


def zero_everything(counters: dict[str, int], entries: list[int]) -> None:
    entries[:] = [0] * len(entries)
    counters["sum"] = 0


@pytest.mark.parametrize(
    ("method", "spoil", "what"),
    [
        ("regular", add_to("sum", 1), "sum of the candidates"),
        ("regular", change_an_entry, "sum of the candidates"),
        ("regular", lose_an_entry, "entries above 0"),
        ("scan", zero_everything, "entries above 0"),
        ("lefevre", add_to("domains", 1), "domains tested"),
        ("regular", add_to("domains", -1), "domains tested"),
        ("farey", add_to("domains", 1), "domains tested"),
        ("farey", lose_an_entry, "entries above 0"),
        ("scan", add_to("scanned", -1), "arguments scanned"),
        ("farey", add_to("candidates", 1 << 40), "candidates among the hits"),
        ("farey", add_to("written", 1), "lists"),
        ("regular", add_to("taken", 1 << 31), "lists"),
        ("farey", add_to("sound", -1), "checks of the runs"),
        ("scan", add_to("sound", 1), "checks of the runs"),
        ("farey", add_to("sentinels", -1), "sentinel"),
        ("regular", add_to("echo", 1 << 40), "block"),
    ],
)
def test_answers_that_contradict_themselves(
    engine: CudaEngine, fake: FakeCuda, method: str, spoil: fake_cuda.Spoil, what: str
) -> None:
    block, _ = known_answers(3, 2)
    engine.run(block, method)
    fake.spoil = spoil
    with pytest.raises(WrongAnswer, match=f"contradicts itself in the {what}.*another --device"):
        engine.run(block, method)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (FakeError("an illegal memory access"), DeviceError, "illegal memory access.*run the same"),
        (FakeMemoryError("out of memory"), TryAgain, "out of memory.*nvidia-smi"),
    ],
)
def test_cuda_errors_say_what_to_do(
    engine: CudaEngine, fake: FakeCuda, error: FakeError, kind: type[HrcaseError], text: str
) -> None:
    block, expected = known_answers(3, 2)
    fake.fail = error
    with pytest.raises(kind, match=rf"cuda:0 \(Fake GPU\).*{text}"):
        engine.run(block, "regular")
    assert fake.depth == 0
    fake.fail = None
    assert engine.run(block, "regular")[0].tolist() == expected


def test_blocks_without_domains_are_refused(engine: CudaEngine, fake: FakeCuda) -> None:
    block = Block(3, 2, (1, 1, 1, 1), 1, 0, 100, 6, 1, 5, (1, 1))
    with pytest.raises(ValueError, match="domain_log2"):
        engine.run(block, "regular")
    with pytest.raises(ValueError, match="no method 'slow'"):
        engine.run(block, "slow")
    assert fake.launched == []


def test_busy_time_is_that_of_the_union(engine: CudaEngine) -> None:
    spans = [(0.0, 2.0), (1.0, 3.0), (0.5, 2.5), (5.0, 6.0)]
    for span in spans:
        done: Any = SimpleNamespace(
            timed=True, span=lambda _, span=span: span, seconds=lambda: [("a", 1.0)]
        )
        engine._account(done, {"fractions": 5})
    assert engine.busy_seconds == 4.0
    assert engine.stage_seconds == {"a": 4.0}


def test_nothing_is_timed_unless_asked(fake: FakeCuda) -> None:
    engine, (block, expected) = CudaEngine(), known_answers(3, 2)
    assert engine.run(block, "farey")[0].tolist() == expected
    assert (engine.busy_seconds, dict(engine.stage_seconds)) == (0.0, {})
    engine.close()


def test_stages_are_timed(engine: CudaEngine) -> None:
    """The fake's events are 1 ms apart."""
    engine.run(known_answers(3, 2)[0], "regular")
    one_unit = 1e-3  # the block, its sentinel, and the self-test
    assert engine.stage_seconds["domains_regular"] == pytest.approx(3 * one_unit)
    assert engine.stage_seconds["expand"] == pytest.approx((TESTED_UNITS + 2) * one_unit)


@given(
    length=st.integers(1, 5000),
    run_log2=st.integers(6, 12),
    domain_log2=st.integers(6, 12),
    lo=st.integers(-100, 100),
)
def test_what_follows_from_the_lengths(
    length: int, run_log2: int, domain_log2: int, lo: int
) -> None:
    """Runs and domains are those that begin in the block; packets cover the domains of all runs."""
    domain_log2 = min(domain_log2, run_log2)
    block = Block(1, 2, (0, 0), 0, lo, lo + length, run_log2, 0, domain_log2, (0, 0))
    unit = lane.Unit(block, "regular")
    run, domain = 1 << run_log2, 1 << domain_log2
    assert unit.runs == len(range(lo, lo + length, run))
    begins = [t for u in range(lo, lo + length, run) for t in range(u, u + run, domain)]
    assert unit.domains == len([t for t in begins if t < lo + length])
    assert unit.packets << unit.packet_log2 == len(begins)
    assert lane.Unit(block, "scan").domains == 0


@pytest.mark.parametrize("run_log2", [12, 27])
@pytest.mark.parametrize("domains_log2", range(10, 26))
def test_packets_leave_enough_threads(domains_log2: int, run_log2: int) -> None:
    block = Block(1, 2, (0, 0), 0, 0, 1 << domains_log2 + 10, run_log2, 0, 10, (0, 0))
    unit = lane.Unit(block, "regular")
    assert 0 <= unit.packet_log2 <= min(lane.MOST_PACKET_LOG2, run_log2 - 10)
    if unit.packet_log2:
        assert unit.packets >= 1 << lane.ENOUGH_THREADS_LOG2 - 1


def no_library(name: str) -> ctypes.CDLL:
    raise OSError(f"{name}: cannot open shared object file")


def libcuda(status: int, devices: int) -> Any:
    """ctypes.CDLL for a machine whose NVIDIA driver answers so."""

    def get_count(pointer: Any) -> int:
        pointer._obj.value = devices
        return 0

    return lambda name: SimpleNamespace(cuInit=lambda _: status, cuDeviceGetCount=get_count)


@pytest.mark.parametrize(
    ("library", "there"),
    [(no_library, False), (libcuda(0, 1), True), (libcuda(0, 0), False), (libcuda(100, 1), False)],
)
def test_the_driver_says_whether_there_is_a_device(
    monkeypatch: pytest.MonkeyPatch, library: Any, there: bool
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", library)
    assert has_cuda_device() == there


def test_auto_takes_the_cpu_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    engine, notice = engine_for("auto", 3)
    assert isinstance(engine, CpuEngine)
    assert (engine.workers, notice) == (3, None)


def test_auto_says_why_it_passes_a_device_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "has_cuda_device", lambda: True)
    monkeypatch.setitem(sys.modules, "pycuda", None)
    engine, notice = engine_for("auto")
    assert isinstance(engine, CpuEngine)
    assert notice is not None
    assert "though a CUDA device is there" in notice
    assert 'pip install "hrcase[cuda]"' in notice


def test_words_for_devices(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "has_cuda_device", lambda: True)
    assert isinstance(engine_for("cpu")[0], CpuEngine)
    for word in ("auto", "cuda", "cuda:0"):
        engine, notice = engine_for(word)
        assert (engine.name, notice) == ("cuda:0 (Fake GPU)", None)
    with pytest.raises(NoDevice, match=r"no device cuda:1: this machine has 1; take .*cuda:0$"):
        engine_for("cuda:1")
    for word in ("gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", ""):
        with pytest.raises(InputError, match="give --device auto, cpu, cuda or cuda:N"):
            engine_for(word)


def pycuda_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    """A package pycuda whose driver module is `text`."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pycuda"]:
        monkeypatch.delitem(sys.modules, name)
    package = tmp_path / "pycuda"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "driver.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


NO_LIBCUDA = 'raise ImportError("libcuda.so.1: cannot open shared object file")'
SILENT = """
class Error(Exception): pass
def init(): raise Error("cuInit failed: no device")
"""
EMPTY = """
class Error(Exception): pass
class Device:
    count = staticmethod(lambda: 0)
def init(): pass
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NO_LIBCUDA, r"libcuda.*NVIDIA's driver; install the driver, or take --device cpu"),
        (SILENT, r"no CUDA device answers \(cuInit failed: no device\); take --device cpu"),
        (EMPTY, "no CUDA device on this machine; take --device cpu"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str
) -> None:
    pycuda_with(monkeypatch, tmp_path, text)
    with pytest.raises(NoDevice, match=words):
        driver()


def test_without_pycuda_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycuda", None)
    with pytest.raises(NoDevice, match=r'PyCUDA cannot be imported.*pip install "hrcase\[cuda\]"'):
        driver()
