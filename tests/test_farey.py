"""The Farey walk against the scan of the same blocks: candidates equal, whatever the cubic."""

import random
from pathlib import Path

import numpy as np
import pytest
from brute.blocks import (
    ONE,
    adversarial_block,
    is_lost,
    kernels,
    long_walk_block,
    mediant_block,
    planted_at,
    planted_block,
)

from hrcase.engine import Block, cpu
from hrcase.formats import FORMATS, Format, scale
from hrcase.memory import search
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, exponent_range, interval

TOY = Format("toy20", 20, -30, 30)


@pytest.mark.parametrize("seed", range(6))
def test_the_walk_finds_what_the_scan_finds(seed: int) -> None:
    generator = random.Random(seed)
    found = walked = 0
    for _ in range(250):
        block = adversarial_block(generator)
        scanned, _ = cpu.run(block, "scan")
        farey, counts = cpu.run(block, "farey")
        assert np.array_equal(scanned, farey), block
        found += len(farey)
        walked += 2 * counts.scanned < block.hi - block.lo
    assert found > 1000
    assert walked > 150, "many blocks fell back to the scan"


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-DFAREY_SPOIL=0x1p-19"],  # reciprocals as bad as lemma 3 allows: a GPU's are
        ["-DFAREY_SPOIL=-0x1p-19", "-mno-avx512f"],
        ["-mno-avx512f", "-mno-avx2"],  # one run at a time
        ["-DFAREY_C=0.25"],
        ["-DFAREY_C=8.0"],
    ],
    ids=" ".join,
)
def test_no_lanes_reciprocals_or_order_miss_anything(options: list[str], tmp_path: Path) -> None:
    generator = random.Random(99)
    blocks = [adversarial_block(generator) for _ in range(300)]
    planted = [planted_block(generator) for _ in range(4000)]
    planted += [mediant_block(generator) for _ in range(1000)]
    if "-DFAREY_C=0.25" not in options:  # its order would be too large there: a scan of 2^27
        planted += [long_walk_block(generator)]
    expected = [cpu.run(block, "scan")[0] for block in blocks]
    with kernels(tmp_path, *options):
        found = [cpu.run(block, "farey")[0] for block in blocks]
        missed = list(filter(is_lost, planted))
    for block, here, there in zip(blocks, found, expected, strict=True):
        assert np.array_equal(here, there), block
    assert missed == []


@pytest.mark.parametrize("run_log2", [28, 30])
@pytest.mark.parametrize("end", [-1, 1])
def test_far_ends_of_the_arcs_of_integers(run_log2: int, end: int) -> None:
    """V, mm and j are at their largest: the run lies at the end of an arc of q = 1, x far outside.

    A fraction of the largest q before or after it has a V beyond 2^53.
    """
    half = 1 << run_log2 - 1
    slope, bend = end * ONE // (half + 1), ONE >> 3 * run_log2 - 3
    for t in (-half, half - 1):
        block, t = planted_at(t, (slope - 2 * bend * t, bend, 0), 0, 0, run_log2, half)
        assert t in cpu.run(block, "farey")[0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("where", [-1.0, -0.5, 0.5, 0.99])
def test_a_small_cubic_term_is_in_the_window(sign: int, where: float) -> None:
    """|A3| H^3/4 = 2^-42 is all that a window of 0 grows by: t stands where the line is off by it.

    A3 is below 2^-64, where a negative number modulo 1 loses its digits next to 1.
    """
    generator = random.Random(int(100 * where))
    cubic, t = sign << 10, int(where * (1 << 26))
    for _ in range(50):
        line = generator.getrandbits(128)
        c = (-line * t - cubic * t**3, line, 0, cubic)
        block = Block(3, 2, c, 0, -(1 << 26), 1 << 26, 27, 0, 6, (0, 0))
        assert t in cpu.run(block, "farey")[0]


def test_runs_side_by_side_do_not_meet() -> None:
    """Many runs of a block, walked in lanes: each gives what it gives alone, the last one too."""
    generator = random.Random(5)
    for runs in (1, 7, 8, 9, 15, 16, 17, 40):
        c = (generator.getrandbits(128), generator.getrandbits(128), ONE >> 36, ONE >> 70)
        hi = (runs << 14) - generator.randrange(1 << 14)
        block = Block(3, 2, c, ONE >> 13, 0, hi, 14, ONE >> 13, 6, (0, 0))
        expected, _ = cpu.run(block, "scan")
        assert len(expected) > runs
        assert np.array_equal(cpu.run(block, "farey")[0], expected)


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cbrt"])
def test_a_whole_toy_binade(name: str) -> None:
    spec = SearchSpec(name, TOY, TOY, 11, "all", exponent_range(TOY, 1, 1, "positive"))
    tuning = Tuning(domain_log2=7, scan=16)
    assert search(spec, "farey", 1, tuning).cases == search(spec, "regular", 1, tuning).cases


@pytest.mark.parametrize(
    ("name", "exponent", "width"),
    [("exp", 0, -14), ("exp", -20, -10), ("exp", -36, -4), ("exp", 8, -17), ("log", 1, -14)],
)
def test_slices_of_doubles(name: str, exponent: int, width: int) -> None:
    double, lo = FORMATS["binary64"], scale(1, exponent)
    region = interval(double, lo, lo * (1 + scale(1, width)), "")
    spec = SearchSpec(name, double, double, 40, "all", region)
    farey, regular = (search(spec, method, 1) for method in ("farey", "regular"))
    assert farey.cases == regular.cases
    assert farey.statistics.counts["scanned"] < 2**-10 * farey.statistics.arguments["searched"]
