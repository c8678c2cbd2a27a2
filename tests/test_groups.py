"""Cubics of runs from the polynomial of their group, and the quotients of the descent."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from hrcase.budget import group_terms
from hrcase.engine import Block, cpu
from hrcase.engine.cpu import Words


def block_of(
    generator: random.Random, degree: int, limbs: int, run_log2: int, most_runs_log2: int = 6
) -> Block:
    """A block of random terms; the higher ones are small, those of degree 4 and 5 often 0."""
    runs = generator.randint(1, 1 << most_runs_log2) << 3
    half, flat = runs << run_log2 - 1, generator.random() < 0.7
    coefficients = []
    for j in range(degree + 1):
        size = 64 * limbs - j * half.bit_length() - (0 if j < 4 else 4 * j)
        keep = size > 1 and not (flat and j in (4, 5))
        coefficients.append(generator.getrandbits(max(size, 1)) * generator.choice((1, -1)) * keep)
    return Block(degree, limbs, tuple(coefficients), 1, -half, half, run_log2, 1, 6, (0, 0))


def cubic(block: Block, run: int, group_log2: int | None) -> list[int]:
    """Four coefficients in units of 2^-128."""
    words: Words = np.zeros(8, dtype=np.uint64)
    library = cpu.library(block.degree, block.limbs)
    if group_log2 is None:
        library.run_cubic(block.packed(), run, words.ctypes.data)
    else:
        library.run_cubic_of_group(block.packed(), run, group_log2, words.ctypes.data)
    return [int(words[2 * j]) | int(words[2 * j + 1]) << 64 for j in range(4)]


def distance(value: Fraction) -> Fraction:
    """To the nearest integer."""
    return abs(value - round(value))


@pytest.mark.parametrize(
    ("degree", "limbs", "run_log2", "most_group_log2"),
    [(8, 6, 12, 3), (12, 8, 20, 6), (5, 6, 31, 16), (6, 3, 8, 3), (12, 6, 4, 3), (14, 12, 31, 6)],
)
def test_the_cubic_of_a_group_stays_within_its_bound(
    degree: int, limbs: int, run_log2: int, most_group_log2: int
) -> None:
    """|P - Q| of the exact values is at most what group_terms says, at the ends and anywhere."""
    generator = random.Random(degree * limbs)
    worst = Fraction(0)
    for _ in range(20):
        block = block_of(generator, degree, limbs, run_log2, most_group_log2)
        group_log2 = generator.choice((0, most_group_log2))
        magnitudes = [abs(c) for c in block.coefficients]
        bits, half = 64 * limbs, 1 << run_log2 - 1
        dropped, truncated = group_terms(magnitudes, bits, block.hi, run_log2, group_log2)
        bound = Fraction(int(dropped.numerator), int(dropped.denominator))
        bound += Fraction(int(truncated.numerator), int(truncated.denominator))
        runs = block.hi - block.lo >> run_log2
        for run in {0, runs - 1, generator.randrange(8), min(7 << most_group_log2 - 1, runs - 1)}:
            q = cubic(block, run, group_log2)
            centre = block.lo + (run << run_log2) + half
            for t in (-half, half - 1, 0, generator.randrange(-half, half)):
                p = Fraction(
                    sum(c * (centre + t) ** j for j, c in enumerate(block.coefficients)), 1 << bits
                )
                value = Fraction(sum(c * t**j for j, c in enumerate(q)), 1 << 128)
                error = distance(p - value)
                assert error <= bound
                worst = max(worst, error / bound)
    assert worst > Fraction(1, 100), "the bound is far too wide, or nothing was tested"


def test_a_group_of_a_low_degree_loses_nothing() -> None:
    """Degree 3 and two limbs fit whole: both ways give the same cubic."""
    generator = random.Random(1)
    for _ in range(50):
        block = block_of(generator, 3, 2, generator.randint(4, 20))
        run = generator.randrange(8)
        assert cubic(block, run, 3) == cubic(block, run, None)


def test_quotients_are_exact_below_two_to_the_32() -> None:
    generator = random.Random(2)
    pairs = [(0, 1), (2**64 - 1, 2**64 - 1), (2**64 - 1, 2**63), (2**64 - 2, 2**64 - 1)]
    pairs += [(2**64 - 1, 1), (2**63, 2**31 + 1)]
    for _ in range(20000):
        b = generator.getrandbits(generator.randint(1, 64)) or 1
        q = generator.getrandbits(generator.randint(1, 33))
        for a in (q * b, q * b - 1, q * b + b - 1, generator.getrandbits(64)):
            if 0 <= a < 1 << 64:
                pairs.append((a, b))
    dividends: Words = np.array([a for a, _ in pairs], dtype=np.uint64)
    divisors: Words = np.array([b for _, b in pairs], dtype=np.uint64)
    found = np.zeros_like(dividends)
    cpu.library(3, 2).quotients(
        dividends.ctypes.data, divisors.ctypes.data, len(pairs), found.ctypes.data
    )
    exact = dividends // divisors
    small = exact < 1 << 32
    assert small.sum() > 40000
    assert (found[small] == exact[small]).all()
    assert (found[~small] >= 1 << 31).all()
