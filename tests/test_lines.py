"""The lines of domains that studies look at are those that the kernels test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gmpy2 import mpq

from hrcase.domain import split
from hrcase.engine import Block, cpu
from hrcase.engine.lines import lines_of_run, mean_deviation_to_maximum
from hrcase.formats import FORMATS, scale
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec, interval


def block_of(name: str, bits: int, domain_log2: int) -> Block:
    """A block of a real function whose last run is cut."""
    double = FORMATS["binary64"]
    hi = 1 + scale(1, -20) + scale(1, -27)
    region = interval(double, mpq(1), hi, "")
    spec = SearchSpec(name, double, double, bits, "all", region)
    piece = next(piece for piece in split(spec) if piece.rule is Rule.SEARCHED)
    planned = next_block(spec, piece, piece.lo, Tuning(domain_log2))
    assert planned.block is not None
    return planned.block


@pytest.mark.parametrize("method", ["regular", "lefevre"])
@pytest.mark.parametrize(
    ("name", "bits", "domain_log2"), [("exp", 30, 14), ("sin", 32, 12), ("exp2", 26, 10)]
)
def test_lines_fail_where_domains_fail(name: str, bits: int, domain_log2: int, method: str) -> None:
    """Each failing domain has eight subdomains, fewer only at the end of the block."""
    block = block_of(name, bits, domain_log2)
    runs = -(-(block.hi - block.lo) >> block.run_log2)
    some = 0
    for run in range(min(runs, 40)):
        lo = block.lo + (run << block.run_log2)
        alone = replace(block, lo=lo, hi=min(lo + (1 << block.run_log2), block.hi))
        counts = cpu.run(alone, method)[1]
        empty, rounds = lines_of_run(block, run).test(method)
        failing = int((~empty).sum())
        assert len(empty) == len(rounds) == counts.domains
        assert counts.subdomains <= 8 * failing < counts.subdomains + 8
        some += failing
    assert some > 0


@pytest.mark.parametrize("doubles", [False, True])
def test_lines_follow_the_lemma(doubles: bool) -> None:
    """a and b in Python's integers, from the cubic of the run (cuda/tabulate.cuh)."""
    block, run = block_of("exp", 30, 14), 3
    bits = 52 if doubles else 64
    unit, n = 1 << 128, 1 << block.domain_log2
    words = np.empty(8, dtype=np.uint64)
    kernels = cpu.library(block.degree, block.limbs)
    kernels.run_cubic(block.packed(), run, words.ctypes.data)
    a0, a1, a2, a3 = (int(low) + (int(high) << 64) for low, high in words.reshape(4, 2))
    window = (block.domain_windows[0] >> 12) + 1 if doubles else block.domain_windows[0]
    lines = lines_of_run(block, run, doubles)
    assert (lines.length, lines.doubles, lines.window) == (n, doubles, 2 * window)
    for k, (a, b) in enumerate(zip(lines.a, lines.b, strict=True)):
        t = k * n + n // 2 - (1 << block.run_log2 - 1)
        c = a0 + a1 * t + a2 * t**2 + a3 * t**3 + ((a2 + 3 * a3 * t) % unit) * n**2 // 8
        s = a1 + 2 * a2 * t + 3 * a3 * t**2
        nearest = ((unit >> bits + 1) - s) % unit >> 128 - bits
        floor = (c - s * (n // 2)) % unit >> 128 - bits
        assert int(a) == nearest
        assert int(b) == (floor + window) % (1 << bits)


def test_runs_beyond_the_block_are_refused() -> None:
    block = block_of("exp", 30, 14)
    last = (block.hi - block.lo - 1) >> block.run_log2
    assert len(lines_of_run(block, last).a) >= 1
    for run in (-1, last + 1):
        with pytest.raises(ValueError, match="has no run"):
            lines_of_run(block, run)


def test_deviation_to_the_maximum_by_hand() -> None:
    alike, half, idle = [12] * 32, [4] * 16 + [8] * 16, [0] * 32
    for rounds, deviation in (
        (alike, 0.0),
        (half, 0.25),
        (alike + half, 0.125),
        (idle + half, 0.125),
        (half + [100] * 31, 0.25),
    ):
        assert mean_deviation_to_maximum(np.array(rounds, dtype=np.uint64)) == deviation
    with pytest.raises(ValueError, match="31 domains make no warp"):
        mean_deviation_to_maximum(np.zeros(31, dtype=np.uint64))
