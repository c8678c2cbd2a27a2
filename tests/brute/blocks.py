"""Blocks that the Farey walk could get wrong, and kernels that get them wrong on purpose."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import gcd
from pathlib import Path

import pytest

from hrcase import toolchain
from hrcase.engine import Block, cpu

ONE = 1 << 128


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


def order(quadratic: int) -> int:
    """The order of the Farey sequence for c = 1 (`order_of` of cuda/farey_run.cuh)."""
    return max(1, min(1 << 30, int((abs(quadratic) / ONE) ** (-1 / 3))))


def adversarial_block(generator: random.Random) -> Block:
    """A cubic with any curvature, inflections inside, points exactly at the window's edge."""
    run_log2 = generator.randint(2, 18)
    length = generator.choice((1, 1 << run_log2, generator.randint(1, 3 << run_log2)))
    lo = -generator.randint(0, length)
    curvature = generator.uniform(-62, -6)
    if generator.random() < 0.2:
        curvature = generator.uniform(-110, -62)
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
    """A run and a t of it at the very edge of a tiny window: only the slack holds it.

    Runs of every length, down to one argument; A2 from 2^-94 on. Slopes are exact fractions at t,
    at the run's left end, in its middle, or far outside.
    """
    run_log2 = generator.randint(2, 31)
    half = 1 << (run_log2 - 1)
    hi = generator.choice((half, half, 1 - half, generator.randint(1 - half, half)))
    t = generator.choice((-half, hi - 1, hi - 1, generator.randint(-half, hi - 1)))
    c2 = sized(generator, generator.uniform(-3 * run_log2 - 1, min(-1.5, 35 - 3 * run_log2)))
    c3 = sized(generator, -3.0 * run_log2 - generator.choice((15, 30, 60)))
    if run_log2 > 16 and c2 == 0:  # a constant would give millions of candidates
        c2 = ONE >> 3 * run_log2 + 1
    line = slope(generator)
    if run_log2 > 26:  # so do long flat runs
        q = generator.randint(1000, 10**6)
        line = generator.randrange(q) * ONE // q
    far = generator.randint(-4 * half, 4 * half)
    c1 = line - 2 * c2 * generator.choice((0, 0, t, -half, far))
    window = generator.choice((0, 0, generator.getrandbits(70)))
    return planted_at(t, (c1, c2, c3), window, generator.choice((window, -window)), run_log2, hi)


def mediant_block(generator: random.Random) -> tuple[Block, int]:
    """The slope at t is exactly a mediant: t stands at the common end of two arcs."""
    run_log2 = generator.randint(8, 27)
    half = 1 << (run_log2 - 1)
    c2 = int(2.0 ** (128 + generator.uniform(-3 * run_log2 + 1, min(-4, 35 - 3 * run_log2))))
    most = order(c2)
    while True:
        q = generator.randint(most + 1, 2 * most)
        a = generator.randrange(1, q) if q > 2 else 1
        if gcd(a, q) == 1 and q - most <= pow(a, -1, q) <= most:
            break
    t = generator.choice((-half, half - 1, generator.randint(-half, half - 1)))
    c2 *= generator.choice((1, -1))
    return planted_at(t, (a * ONE // q - 2 * c2 * t, c2, 0), 0, 0, run_log2, half)


def long_walk_block(generator: random.Random) -> tuple[Block, int]:
    """A walk of more than 10^5 fractions, and the slope of one of them at a t near its end."""
    run_log2, half = 27, 1 << 26
    c2 = int(2.0 ** (128 + 3 * (generator.uniform(18.6, 18.8) - 2 - (run_log2 - 1))))
    t = half - 1 - generator.randint(0, half // 64)
    q = generator.randint(1, order(c2))
    c1 = generator.randrange(q) * ONE // q - 2 * c2 * t
    return planted_at(t, (c1, c2, 0), 0, 0, run_log2, half)


def planted_at(
    t: int, higher: tuple[int, int, int], window: int, value: int, run_log2: int, hi: int
) -> tuple[Block, int]:
    """The run of u, -2^(run_log2 - 1) <= u < hi, of a cubic with C_1 .. C_3 and its value at t."""
    c1, c2, c3 = higher
    c0 = value - c1 * t - c2 * t * t - c3 * t**3
    lo = -(1 << (run_log2 - 1))
    return Block(3, 2, (c0, c1, c2, c3), window, lo, hi, run_log2, window, 6, (0, 0)), t


def is_lost(planted: tuple[Block, int]) -> bool:
    """Does the walk pass over t? Unchecked: kernels broken on purpose would be found out."""
    block, t = planted
    return t not in cpu.answer(block, "farey")[0]


@contextmanager
def kernels(
    directory: Path, *options: str, edits: Iterable[tuple[str, str]] = ()
) -> Iterator[None]:
    """CPU kernels compiled with more options, of sources in which some text is replaced."""
    sources = directory / "sources"
    shutil.copytree(toolchain.source_directory(), sources, dirs_exist_ok=True)
    for old, new in edits:
        found = [path for path in sources.iterdir() if old in path.read_text()]
        assert len(found) == 1, f"{old!r} stands in {len(found)} sources"
        text = found[0].read_text()
        assert text.count(old) == 1, old
        found[0].write_text(text.replace(old, new))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toolchain, "source_directory", lambda: sources)
        patch.setattr(toolchain, "_HOST_OPTIONS", (*toolchain._HOST_OPTIONS, *options))
        patch.setenv("HRCASE_CACHE", str(directory / "cache"))
        cpu.library.cache_clear()
        try:
            yield
        finally:
            cpu.library.cache_clear()
