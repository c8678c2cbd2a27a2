"""The device's kernels themselves, lane by lane on the CPU, against the CPU's and a definition."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import emulated_cuda
import numpy as np
import pytest
from brute.blocks import adversarial_block, planted_block
from brute.tables import exp_line, scanned
from fake_cuda import FakeCuda
from gmpy2 import mpq

from hrcase.domain import split
from hrcase.engine import METHODS, Block, cpu, lane
from hrcase.engine.cuda import CudaEngine
from hrcase.engine.lane import COUNTERS, Lane
from hrcase.engine.trust import WrongAnswer
from hrcase.formats import FORMATS
from hrcase.job.crew import Crew
from hrcase.pieces import Rule
from hrcase.plan import Tuning, plan
from hrcase.selftest import known_answers
from hrcase.spec import SearchSpec, interval
from hrcase.tables.line import read_lines
from hrcase.tables.search import search
from hrcase.toolchain import source_directory


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeCuda:
    monkeypatch.setattr(lane, "FIRST_CAPACITY", 1 << 12)
    monkeypatch.setattr(lane, "FIRST_CROWDS", 1 << 4)
    return emulated_cuda.emulate(monkeypatch, tmp_path)


@pytest.fixture
def engine(device: FakeCuda) -> Iterator[CudaEngine]:
    engine = CudaEngine()
    yield engine
    engine.close()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("degree", "limbs"), [(3, 2), (8, 6)])
def test_known_answers(engine: CudaEngine, degree: int, limbs: int, method: str) -> None:
    """The self-test of each shape, which includes every method."""
    block, expected = known_answers(degree, limbs)
    found, counts = engine.run(block, method)
    assert found.tolist() == expected
    assert counts.domains == cpu.run(block, method)[1].domains


@pytest.mark.parametrize("seed", range(4))
def test_the_walk_on_adversarial_cubics(engine: CudaEngine, seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(40):
        block = adversarial_block(generator)
        grouped = replace(block, group_log2=generator.choice((None, 0, 1, 3)))
        found, counts = engine.run(grouped, "farey")
        assert found.tolist() == cpu.run(block, "scan")[0].tolist(), block
        assert counts.domains == -(-(block.hi - block.lo) >> block.run_log2)


def test_a_line_of_the_certified_tables(engine: CudaEngine) -> None:
    text, window = exp_line(1.0, 5000, 3, 3), 1 << 56
    with Crew([engine]) as crew:
        found = [c.j for c in search(read_lines(io.BytesIO(text.encode()), "table"), crew, window)]
    assert found == scanned(text, window)
    assert len(found) > 10


def twenty_two_runs() -> Block:
    """Twenty-two runs of 2^12 arguments from -5000 on, the last one cut."""
    generator, run_log2, one = random.Random(3), 12, 1 << 128
    c = [generator.getrandbits(128), generator.getrandbits(128), one >> 22, one >> 50]
    length, window = (21 << run_log2) + 1000, one >> 8
    return Block(3, 2, tuple(c), window, -5000, length - 5000, run_log2, window, 6, (0, 0))


def test_a_walk_has_as_many_threads_a_block_as_the_host_thinks() -> None:
    text = (source_directory() / "walks.cu").read_text()
    assert f"constexpr int THREADS = {lane.THREADS};" in text


@pytest.mark.parametrize("group_log2", [None, 0, 1, 3])
def test_candidates_in_every_run(engine: CudaEngine, group_log2: int | None) -> None:
    """Twenty-two runs, the last one cut, each with candidates."""
    block = twenty_two_runs()
    found = engine.run(replace(block, group_log2=group_log2), "farey")[0]
    assert found.tolist() == cpu.run(block, "scan")[0].tolist()
    assert len({(u + 5000) >> block.run_log2 for u in found.tolist()}) == 22


@pytest.mark.parametrize("kernel", ["walk", "cross_wide"])
def test_roots_that_are_counted_wrongly_are_found_out(
    engine: CudaEngine, monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    call, counted = Lane._call, COUNTERS.index("near")
    lost: list[int] = []

    def call_and_lose(self: Lane, kernels: Any, name: str, *rest: Any, **more: Any) -> None:
        call(self, kernels, name, *rest, **more)
        if name == kernel:
            words = self.counters.words
            lost.append(int(words[counted]) // 2)
            words[counted] -= np.uint64(lost[-1])

    with engine._current():
        engine._require_trust(3, 2)
    monkeypatch.setattr(Lane, "_call", call_and_lose)
    with pytest.raises(WrongAnswer, match="lists"):
        engine.run(twenty_two_runs(), "farey")
    assert lost[0] > 0


def test_the_walk_at_the_edge_of_tiny_windows(engine: CudaEngine) -> None:
    generator = random.Random(9)
    for _ in range(60):
        block, t = planted_block(generator)
        assert t in engine.run(block, "farey")[0].tolist(), block


def crowded_block(flat: bool) -> Block:
    """One run with a class of a small q whose members crowd: a line, or a parabola's vertex."""
    run_log2, one = 18, 1 << 128
    curvature = 0 if flat else one >> 46
    slope = one // 3 + (1 if flat else 0)
    window = one >> 14
    half = 1 << run_log2 - 1
    return Block(
        3, 2, (one >> 30, slope, curvature, 0), window, -half, half, run_log2, window, 6, (0, 0)
    )


@pytest.mark.parametrize("flat", [True, False])
def test_crowds_are_shared(engine: CudaEngine, device: FakeCuda, flat: bool) -> None:
    """A class with thousands of members; the list of crowds overflows and the unit runs again."""
    block = crowded_block(flat)
    many = replace(block, lo=block.lo, hi=block.lo + (20 << block.run_log2)) if flat else block
    found, _ = engine.run(many, "farey")
    assert len(found) > 1 << 14
    assert found.tolist() == cpu.run(many, "scan")[0].tolist()


@pytest.mark.parametrize(
    ("name", "lo", "hi", "bits"),
    [
        ("exp", mpq(1), 1 + mpq(1, 1 << 20), 20),
        ("exp", mpq(300), 300 + mpq(1, 1 << 19), 18),
        ("exp", mpq(-709), mpq(-709) + mpq(1, 1 << 18), 16),
        ("exp", mpq(1, 1 << 20), mpq(1, 1 << 20) * (1 + mpq(1, 1 << 16)), 24),
        ("tanpi", mpq(1, 2) - mpq(1, 1 << 36), mpq(1, 2), 16),
    ],
)
def test_slices_of_functions(engine: CudaEngine, name: str, lo: mpq, hi: mpq, bits: int) -> None:
    """Planned blocks, groups and all: candidates as on the CPU by the regular test."""
    double = FORMATS["binary64"]
    spec = SearchSpec(name, double, double, bits, "all", interval(double, lo, hi, ""))
    total = 0
    for piece in split(spec):
        if piece.rule is not Rule.SEARCHED:
            continue
        found = {
            method: [
                part.ordinal(int(u))
                for planned in plan(spec, piece, Tuning(method=method))
                for part in planned.slices(1 << 20)
                if part.block is not None
                for u in run(part.block, part.method)[0]
            ]
            for method, run in (("farey", engine.run), ("regular", cpu.run))
        }
        assert found["farey"] == found["regular"]
        total += len(found["farey"])
    assert total > 20
