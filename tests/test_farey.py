"""The Farey walk against the scan of the same blocks: candidates equal, whatever the cubic."""

import random
from pathlib import Path

import numpy as np
import pytest

from hrcase import toolchain
from hrcase.engine import Block, cpu
from hrcase.formats import FORMATS, Format, scale
from hrcase.plan import Tuning
from hrcase.search import search
from hrcase.spec import SearchSpec, exponent_range, interval

ONE = 1 << 128
TOY = Format("toy20", 20, -30, 30)


def slope(generator: random.Random) -> int:
    """Anything; near a small fraction; a coarse dyadic; next to an integer or a half."""
    kind = generator.random()
    if kind < 0.3:
        return generator.getrandbits(128)
    if kind < 0.6:
        q = generator.randint(1, 200)
        near = generator.getrandbits(generator.randint(40, 120))
        offset = generator.choice((0, 0, 1, -1, near, -near))
        return (generator.randint(0, q) * ONE // q + offset) % ONE
    if kind < 0.8:
        return generator.randrange(1 << 10) << 118
    return generator.choice((0, 1, ONE - 1, ONE >> 1))


def sized(generator: random.Random, log2: float) -> int:
    """A coefficient of about 2^log2 of either sign; 0 now and then."""
    if generator.random() < 0.07:
        return 0
    return int(2.0 ** max(0.0, 128 + log2)) * generator.choice((1, -1))


def adversarial_block(generator: random.Random) -> Block:
    """A cubic with any curvature, inflections inside, points exactly at the window's edge."""
    run_log2 = generator.randint(2, 18)
    length = generator.choice((1, 1 << run_log2, generator.randint(1, 3 << run_log2)))
    lo = -generator.randint(0, length)
    curvature = generator.uniform(-62, -6)
    cubic = curvature * 1.5 + generator.uniform(-20, 2)
    window = int(2.0 ** generator.uniform(-50, -3) * ONE) * (generator.random() > 0.1)
    c = [generator.getrandbits(128), slope(generator)]
    c += [sized(generator, curvature), sized(generator, cubic)]
    if generator.random() < 0.3:
        t = generator.randint(lo, lo + length - 1)
        edge = generator.choice((window, -window)) + generator.choice((0, 1, -1))
        c[0] = (edge - c[1] * t - c[2] * t * t - c[3] * t**3) % ONE
    return Block(3, 2, tuple(c), window, lo, lo + length, run_log2, window, 6, (0, 0))


def planted_block(generator: random.Random) -> tuple[Block, int]:
    """A long run of a real curvature, and a t of it at the very edge of a tiny window.

    The window is so small that what is added to it for the arithmetic in doubles decides.
    """
    run_log2 = generator.randint(12, 27)
    half = 1 << (run_log2 - 1)
    hi = generator.choice((half, generator.randint(1 - half, half)))
    t = generator.choice((-half, hi - 1, hi - 1, generator.randint(-half, hi - 1)))
    curvature = generator.uniform(-3 * run_log2 - 1, 6 - 2 * run_log2)
    if run_log2 < 15:
        curvature = generator.uniform(-3 * run_log2 - 1, -4)
    c2 = sized(generator, curvature)
    c3 = sized(generator, min(-3.0 * run_log2 - 30, curvature * 1.5))
    window = generator.choice((0, 0, generator.getrandbits(70)))
    c1 = slope(generator) - 2 * c2 * generator.choice((0, 0, t, -half))
    c0 = generator.choice((window, -window)) - c1 * t - c2 * t * t - c3 * t**3
    block = Block(3, 2, (c0, c1, c2, c3), window, -half, hi, run_log2, window, 6, (0, 0))
    return block, t


def lost(planted: list[tuple[Block, int]]) -> list[tuple[Block, int]]:
    """Those that the walk does not find."""
    return [(block, t) for block, t in planted if t not in cpu.run(block, "farey")[0]]


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
        walked += counts.scanned < block.hi - block.lo
    assert found > 1000
    assert walked > 60, "most blocks fell back to the scan"


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
def test_no_lanes_reciprocals_or_order_miss_anything(
    options: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    generator = random.Random(99)
    blocks = [adversarial_block(generator) for _ in range(300)]
    planted = [planted_block(generator) for _ in range(4000)]
    expected = [cpu.run(block, "scan")[0] for block in blocks]
    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "_HOST_OPTIONS", (*toolchain._HOST_OPTIONS, *options))
        patch.setenv("HRCASE_CACHE", str(tmp_path))
        cpu.library.cache_clear()
        try:
            found = [cpu.run(block, "farey")[0] for block in blocks]
            missed = lost(planted)
        finally:
            cpu.library.cache_clear()
    for block, here, there in zip(blocks, found, expected, strict=True):
        assert np.array_equal(here, there), block
    assert missed == []


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
