"""The kernels on the CPU against Python's integers: shift, tables, and whole searches."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hrcase.engine import METHODS, Block, cpu

SHAPES = [(2, 2), (3, 3), (6, 5), (12, 10)]
UNIT = 1 << 128


def signed(value: int, modulus: int) -> int:
    """value cmod modulus: the representative in [-modulus/2, modulus/2)."""
    return (value + modulus // 2) % modulus - modulus // 2


def evaluate(coefficients: tuple[int, ...], u: int) -> int:
    return sum(c * u**j for j, c in enumerate(coefficients))


def is_candidate(block: Block, u: int) -> bool:
    modulus = 1 << (64 * block.limbs)
    return abs(signed(evaluate(block.coefficients, u), modulus)) <= block.window


def shifted(block: Block, run: int) -> list[int]:
    """The coefficients of P around the run's centre, exact, not reduced."""
    centre = block.lo + (run << block.run_log2) + (1 << (block.run_log2 - 1))
    c, degree = block.coefficients, block.degree
    return [
        sum(comb(j, i) * c[j] * centre ** (j - i) for j in range(i, degree + 1))
        for i in range(degree + 1)
    ]


def cubic_by_hand(block: Block, run: int) -> list[int]:
    """A_0 .. A_3: the shifted coefficients, floored to 2^-128, modulo 1."""
    cut = 64 * block.limbs - 128
    coefficients = [(c >> cut) % UNIT for c in shifted(block, run)[:4]]
    return coefficients + [0] * (4 - len(coefficients))


def numbers(words: NDArray[np.uint64]) -> list[int]:
    """128-bit integers from pairs of limbs."""
    return [int(low) + (int(high) << 64) for low, high in words.reshape(-1, 2)]


def runs_of(block: Block) -> int:
    return -(-(block.hi - block.lo) >> block.run_log2)


def fitting_windows(block: Block) -> Block:
    """The block with the windows that its polynomial needs, from the formulas of the method.

    Coefficients are taken as the numbers of least size modulo 1, bounded over all runs.
    """
    modulus = 1 << (64 * block.limbs)
    around = [
        [Fraction(abs(signed(c, modulus)), modulus) for c in shifted(block, run)]
        for run in range(runs_of(block))
    ]
    half = 1 << (block.run_log2 - 1)
    dropped = max(sum(c * half**j for j, c in enumerate(run) if j > 3) for run in around)
    truncated = Fraction(sum(half**j for j in range(4)), UNIT)
    run_window = ceil((Fraction(block.window, modulus) + dropped + truncated) * UNIT)
    a3 = max([run[3] for run in around if block.degree > 2], default=Fraction(0))
    a3 += Fraction(1, UNIT)
    a2 = max(run[2] for run in around) + Fraction(1, UNIT) + 3 * a3 * half

    def window(n: int) -> int:
        curved = a2 * n**2 / 8 + a3 * n**3 / 8
        fixed_point = Fraction(n, 1 << 65) + Fraction(1, 1 << 64)
        return ceil((Fraction(run_window, UNIT) + curved + fixed_point) * (1 << 64)) + 1

    n = 1 << block.domain_log2
    return dataclasses.replace(
        block, run_window=run_window, domain_windows=(window(n), window(n // 8))
    )


@st.composite
def blocks(draw: st.DrawFn, degree: int, limbs: int) -> Block:
    """Small blocks whose term j changes P by at most about 2^-3 (j = 2) or less in a domain."""
    bits = 64 * limbs
    run_log2 = draw(st.integers(6, 11))
    domain_log2 = draw(st.integers(6, run_log2))
    lo = draw(st.integers(-3000, 3000))
    hi = lo + draw(st.integers(1, 5000))
    curvature = draw(st.integers(2 * domain_log2 + 4, 70))
    coefficients = [draw(st.integers(0, (1 << bits) - 1)) for _ in range(2)]
    if draw(st.booleans()):  # a slope next to a small fraction
        denominator = draw(st.integers(1, 64))
        numerator = draw(st.integers(0, denominator))
        coefficients[1] = (numerator << bits) // denominator + draw(st.integers(-3, 3))
    for j in range(2, degree + 1):
        size = 1 << max(0, bits - curvature - 20 * (j - 2))
        coefficients.append(draw(st.integers(-size, size)))
    window = (1 << bits) // draw(st.integers(40, 4000))
    return fitting_windows(
        Block(degree, limbs, tuple(coefficients), window, lo, hi, run_log2, 0, domain_log2, (0, 0))
    )


def random_blocks(degree: int, limbs: int) -> st.SearchStrategy[Block]:
    return blocks(degree, limbs)


@pytest.mark.parametrize(("degree", "limbs"), SHAPES)
def test_a_block_fills_the_struct_of_the_kernels(degree: int, limbs: int) -> None:
    block = Block(degree, limbs, (1,) * (degree + 1), 1, 0, 100, 6, 1, 6, (1, 1))
    assert len(block.packed()) == 8 * cpu.library(degree, limbs).block_words()


@pytest.mark.parametrize(("degree", "limbs"), SHAPES)
@given(data=st.data())
def test_shift_to_a_run(degree: int, limbs: int, data: st.DataObject) -> None:
    """Coefficients of any size, centres up to 2^61 from 0: exact, then floored."""
    bits = 64 * limbs
    c = tuple(data.draw(st.integers(-(1 << bits), 1 << bits)) for _ in range(degree + 1))
    lo = data.draw(st.integers(-(1 << 61), 1 << 61))
    run_log2 = data.draw(st.integers(6, 40))
    block = Block(degree, limbs, c, 0, lo, lo + (1 << 60), run_log2, 0, 6, (0, 0))
    run = data.draw(st.integers(0, runs_of(block) - 1))
    words = np.empty(8, dtype=np.uint64)
    cpu.library(degree, limbs).run_cubic(block.packed(), run, words.ctypes.data)
    assert numbers(words) == cubic_by_hand(block, run)


@pytest.mark.parametrize(("degree", "limbs"), SHAPES)
@given(data=st.data())
def test_tables_of_a_run(degree: int, limbs: int, data: st.DataObject) -> None:
    """c_k and s_k, stepped by differences, against their definition."""
    block = data.draw(random_blocks(degree, limbs))
    count = 1 << (block.run_log2 - block.domain_log2)
    c, s = np.empty((2, count, 2), dtype=np.uint64)
    run = data.draw(st.integers(0, runs_of(block) - 1))
    cpu.library(degree, limbs).run_table(block.packed(), run, count, c.ctypes.data, s.ctypes.data)
    a0, a1, a2, a3 = cubic_by_hand(block, run)
    n, half = 1 << block.domain_log2, 1 << (block.run_log2 - 1)
    middles = [-half + k * n + n // 2 for k in range(count)]
    folds = [(a2 + 3 * a3 * t) * n**2 // 8 for t in middles]
    values = [a0 + a1 * t + a2 * t**2 + a3 * t**3 for t in middles]
    assert numbers(c) == [(v + f) % UNIT for v, f in zip(values, folds, strict=True)]
    assert numbers(s) == [(a1 + 2 * a2 * t + 3 * a3 * t**2) % UNIT for t in middles]


@pytest.mark.parametrize(("degree", "limbs"), SHAPES)
@given(data=st.data())
def test_every_method_finds_exactly_the_candidates(
    degree: int, limbs: int, data: st.DataObject
) -> None:
    block = data.draw(random_blocks(degree, limbs))
    expected = [u for u in range(block.lo, block.hi) if is_candidate(block, u)]
    for method in METHODS:
        found, counts = cpu.run(block, method)
        assert found.tolist() == expected, method
        assert counts.candidates == len(expected)
        assert counts.candidates <= counts.hits <= counts.scanned
        if method != "farey":  # it may look at an argument more than once
            assert counts.scanned <= block.hi - block.lo
        if method in ("lefevre", "regular"):
            assert counts.domains == -(-(block.hi - block.lo) >> block.domain_log2)
    assert cpu.run(block, "scan")[1].scanned == block.hi - block.lo


def curved_block(window_log2: int, hi: int = 1 << 20) -> Block:
    """A block like one of a real function: few candidates, few domains that fail."""
    coefficients = (123456789 << 90, 0x9E3779B97F4A7C15F39CC0605CEDC834, 1 << 86, 1 << 50)
    return fitting_windows(
        Block(3, 2, coefficients, 1 << (128 + window_log2), 0, hi, 14, 0, 10, (0, 0))
    )


def test_the_tests_spare_nearly_all_of_the_scan() -> None:
    """At a window of 2^-17 and a curvature of 2^-42: most domains are done in phase 1."""
    block = curved_block(-17)
    expected = cpu.run(block, "scan")[0].tolist()
    assert 8 <= len(expected) <= 32
    for method in ("lefevre", "regular"):
        found, counts = cpu.run(block, method)
        assert found.tolist() == expected
        assert counts.domains == 1 << 10
        assert counts.subdomains == 8 * (counts.subdomains // 8) <= counts.domains
        assert counts.scanned <= 1 << 14


@pytest.mark.parametrize("u", [0, 64, 512, 576, 1023])
def test_the_windows_are_as_narrow_as_they_may_be(u: int) -> None:
    """Where the line is farthest from the curve, the window is just enough: 3/4 of it is not.

    At the ends and in the middle of a domain the curve is a_2 n^2/8 off the line, to either side.
    So the fold is in the middle, and the lines use what their windows allow.
    """
    generator = np.random.default_rng(u)
    curvature, lost = 1 << 97, 0  # a_2 n^2/8 = 2^-14 at n = 2^10
    for _ in range(200):
        slope = int(generator.integers(1 << 63)) << 65
        c = (-slope * u - curvature * u**2, slope, curvature)
        block = fitting_windows(Block(2, 2, c, 1, 0, 1024, 10, 0, 10, (0, 0)))
        assert u in cpu.run(block, "lefevre")[0]
        assert u in cpu.run(block, "regular")[0]
        first, second = (3 * window // 4 for window in block.domain_windows)
        thin = dataclasses.replace(block, domain_windows=(first, second))
        lost += u not in cpu.search(thin, "regular")[0]  # no sentinel would come back
    assert lost > 20


@pytest.mark.parametrize("u", [0, 63, 127, 511, 1023])
@pytest.mark.parametrize("low", [1, (1 << 63) - 1, (1 << 63) + 1, (1 << 64) - 1])
def test_the_rounding_of_slopes_is_inside_the_window(u: int, low: int) -> None:
    """A straight line with a window of 0: all that its windows hold is the 64-bit arithmetic."""
    generator = np.random.default_rng(u)
    for _ in range(20):
        slope = (int(generator.integers(1 << 63)) << 65) + low
        block = Block(2, 2, (-slope * u, slope, 0), 0, 0, 1024, 10, 0, 10, (0, 0))
        exact = dataclasses.replace(fitting_windows(block), run_window=0)
        for method in METHODS:
            assert cpu.run(exact, method)[0].tolist() == [u]


@pytest.mark.parametrize("method", METHODS)
def test_the_window_is_closed(method: str) -> None:
    """|P(u)| = window is a candidate, one unit more is not; the cubic is exact with two limbs."""
    window, slope, u = 1 << 110, 0x9E3779B97F4A7C15F39CC0605CEDC834, 77
    for distance in (-window - 1, -window, window, window + 1):
        c = (distance - slope * u, slope, 0)
        block = fitting_windows(Block(2, 2, c, window, 50, 114, 6, 0, 6, (0, 0)))
        exact = dataclasses.replace(block, run_window=window)
        assert (u in cpu.run(exact, method)[0]) == (abs(distance) <= window)
        assert cpu.run(exact, method)[1].hits == len(cpu.run(exact, method)[0])


@given(data=st.data())
def test_scan_takes_coefficients_of_any_size(data: st.DataObject) -> None:
    """No line is of use then. The cubic of three terms and two limbs is P itself."""
    sizes = st.integers(0, 128).flatmap(lambda bits: st.integers(-(1 << bits), 1 << bits))
    c = tuple(data.draw(sizes) for _ in range(4))
    lo, window = data.draw(st.integers(-(1 << 40), 1 << 40)), data.draw(st.integers(0, 1 << 124))
    block = Block(3, 2, c, window, lo, lo + 700, data.draw(st.integers(1, 12)), window, 6, (0, 0))
    expected = [u for u in range(lo, lo + 700) if is_candidate(block, u)]
    assert cpu.run(block, "scan")[0].tolist() == expected


@pytest.mark.parametrize(("c2", "c3"), [(1 << 125, 0), (0, 1 << 113), (1 << 125, 1 << 125)])
def test_curvature_too_large_for_a_line_is_noticed(c2: int, c3: int) -> None:
    """2^9 c2 and 2^15 c3, which the window of a stretch of 64 arguments needs, are 0 modulo 1."""
    slope = 0x9E3779B97F4A7C15F39CC0605CEDC834
    for u in range(128):
        c = (-slope * u - c2 * u**2 - c3 * u**3, slope, c2, c3)
        block = Block(3, 2, c, 1 << 60, 0, 128, 7, 1 << 60, 6, (0, 0))
        assert cpu.run(block, "scan")[0].tolist() == [u]


def test_more_candidates_than_the_first_buffer_holds() -> None:
    block = fitting_windows(Block(2, 2, (5, 1 << 120, 0), 1 << 125, -7, 40_000, 12, 0, 8, (0, 0)))
    expected = [u for u in range(block.lo, block.hi) if is_candidate(block, u)]
    assert len(expected) > 4096
    for method in METHODS:
        found, counts = cpu.run(block, method)
        assert found.tolist() == expected
        # A domain of 256 arguments goes once around the circle: all fail, hi cuts the last one.
        assert method in ("scan", "farey") or counts.subdomains == -(-40_007 // 32)


def test_threads_do_not_meet() -> None:
    block = curved_block(-14, 1 << 16)
    pieces = [
        dataclasses.replace(block, lo=lo, hi=lo + (1 << 14)) for lo in range(0, 1 << 16, 1 << 14)
    ]
    alone = [cpu.run(piece, "regular")[0].tolist() for piece in pieces]
    assert [u for us in alone for u in us] == cpu.run(block, "regular")[0].tolist() != []
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda piece: cpu.run(piece, "regular")[0].tolist(), pieces * 8)
    assert list(together) == alone * 8


def test_blocks_the_kernels_cannot_take_are_refused() -> None:
    block = curved_block(-17)
    for wrong in (
        {"degree": 0},
        {"limbs": 1},
        {"coefficients": (1, 2)},
        {"hi": block.lo},
        {"hi": (1 << 62) + 1},
        {"window": 1 << 127},
        {"window": -1},
        {"run_window": 1 << 127},
        {"run_log2": 0},
    ):
        with pytest.raises(ValueError):
            dataclasses.replace(block, **wrong)
    for wrong in ({"domain_log2": 5}, {"domain_log2": 15}, {"domain_windows": (1 << 62, 1)}):
        without_domains = dataclasses.replace(block, **wrong)
        assert cpu.run(without_domains, "scan")[1].domains == 0
        with pytest.raises(ValueError):
            cpu.run(without_domains, "regular")
    with pytest.raises(ValueError, match="scan, lefevre, regular"):
        cpu.run(block, "newton")
