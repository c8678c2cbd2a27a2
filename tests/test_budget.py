"""The windows against what they bound, in exact rational arithmetic.

First on blocks as they are planned: F against P, P against the cubic of a run, the cubic against
the line of a domain. Then term by term: an input on which the error is larger than all other terms
together, so that a window without the term would be too narrow.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import pytest
from gmpy2 import mpq

from hrcase.budget import (
    FRACTION_BITS,
    RUN_BITS,
    ErrorBudget,
    ceil_scaled,
    run_terms,
    shifted_bounds,
)
from hrcase.domain import split
from hrcase.enclosure import by_mpfr
from hrcase.engine import Block
from hrcase.formats import FORMATS, scale
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec, interval

BINARY64, BINARY32, BFLOAT16 = (FORMATS[n] for n in ("binary64", "binary32", "bfloat16"))
ASKED = {
    "exp": ("exp", BINARY64, BINARY64, 44, "all", mpq(1), mpq(2)),
    "exp-steep": ("exp", BINARY64, BINARY64, 44, "nearest", mpq(700), mpq(701)),
    "exp-coarse-output": ("exp", BINARY64, BINARY32, 40, "directed", mpq(-3), mpq(-5, 2)),
    "exp-short": ("exp", BINARY64, BINARY64, 44, "all", mpq(1), 1 + mpq(1, 1 << 43)),
    "exp2-fine": ("exp2", BINARY64, BINARY64, 212, "all", mpq(1, 2), mpq(1)),
    "log": ("log", BINARY64, BINARY64, 44, "all", mpq(10001, 10000), mpq(3, 2)),
    "log-coarse-input": ("log", BINARY32, BINARY64, 20, "nearest", mpq(10**30), mpq(2 * 10**30)),
    "sin": ("sin", BINARY64, BINARY64, 44, "directed", mpq(1), mpq(3, 2)),
    "sin-far": ("sin", BINARY64, BINARY64, 30, "all", mpq(2000), mpq(2001)),
    "cbrt-negative": ("cbrt", BINARY64, BINARY64, 44, "all", mpq(-2), mpq(-1)),
    "cbrt-coarse-output": ("cbrt", BINARY64, BFLOAT16, 30, "all", mpq(1, 1 << 999), mpq(1, 1 << 9)),
}


@dataclass(frozen=True)
class Sample:
    """The first block of a search."""

    spec: SearchSpec
    key: int
    first: int
    block: Block
    budget: ErrorBudget

    @property
    def polynomial(self) -> list[mpq]:
        """The coefficients of P, in units of the breakpoints' spacing."""
        return [scale(c, -64 * self.block.limbs) for c in self.block.coefficients]

    def distance_to_f(self, u: int) -> mpq:
        """|F(u) - P(u)|, to far below the window."""
        parts = self.spec.inp.parts(self.first + u - self.block.lo)
        y = by_mpfr(self.spec.function, *parts, 1200)[0]
        return abs(self.spec.lattice(self.key).position(y) - value(self.polynomial, u))


@lru_cache
def sample(label: str) -> Sample:
    name, inp, out, bits, rounding, lo, hi = ASKED[label]
    spec = SearchSpec(name, inp, out, bits, rounding, interval(inp, lo, hi, ""))
    piece = next(p for p in split(spec, 16) if p.rule is Rule.SEARCHED)
    planned = next_block(spec, piece, piece.lo, Tuning())
    assert planned.block is not None
    assert planned.budget is not None
    return Sample(spec, piece.key, planned.first, planned.block, planned.budget)


def value(polynomial: list[mpq], u: int) -> mpq:
    return sum((c * u**j for j, c in enumerate(polynomial)), mpq(0))


def shifted(polynomial: list[mpq], centre: int) -> list[mpq]:
    """The coefficients around a centre."""
    degree = len(polynomial) - 1
    return [
        sum((comb(j, i) * polynomial[j] * centre ** (j - i) for j in range(i, degree + 1)), mpq(0))
        for i in range(degree + 1)
    ]


def floored(number: mpq, bits: int) -> mpq:
    return scale(int(scale(number, bits) // 1), -bits)


def cubic_at(polynomial: list[mpq], centre: int) -> list[mpq]:
    """Q of the run with this centre: four coefficients, cut to 128 bits."""
    kept = (shifted(polynomial, centre) + [mpq(0)] * 4)[:4]
    return [floored(c, RUN_BITS) for c in kept]


def line_error(cubic: list[mpq], centre: int, length: int, x: int) -> mpq:
    """|line - Q| at argument x of the domain of `length` arguments around `centre`."""
    c, s, curvature, _ = shifted(cubic, centre)
    start = c + curvature * length**2 / 8 - s * length / 2
    slope = scale(int((scale(s, FRACTION_BITS) + mpq(1, 2)) // 1), -FRACTION_BITS)
    line = floored(start, FRACTION_BITS) + slope * x
    return abs(line - value(cubic, centre - length // 2 + x))


def run_centres(block: Block) -> list[int]:
    """Of the first run, of one inside, and of the last, which may reach beyond the block."""
    run = 1 << block.run_log2
    count = -(-(block.hi - block.lo) // run)
    chosen = {0, count - 1, random.Random(1).randrange(count)}
    return [block.lo + i * run + run // 2 for i in sorted(chosen)]


def extremes(length: int) -> list[int]:
    """Both ends of [-length/2, length/2), the middle, and some more."""
    draw = random.Random(2)
    half = length // 2
    return [-half, half - 1, 0, *(draw.randrange(-half, half) for _ in range(3))]


@pytest.mark.parametrize("label", ASKED)
def test_the_block_window_covers_f(label: str) -> None:
    s = sample(label)
    spare = s.budget.block_window - s.budget.target
    assert s.budget.target == s.spec.window(s.key)
    assert scale(s.block.window, -64 * s.block.limbs) >= s.budget.block_window
    assert spare < s.budget.target / 100
    draw = random.Random(3)
    inner = [draw.randrange(s.block.lo, s.block.hi) for _ in range(5)]
    for u in (s.block.lo, 0, s.block.hi - 1, *inner):
        assert s.distance_to_f(u) <= spare


@pytest.mark.parametrize("label", ASKED)
def test_the_run_window_covers_p(label: str) -> None:
    s = sample(label)
    spare = s.budget.run_window - s.budget.block_window
    assert scale(s.block.run_window, -RUN_BITS) >= s.budget.run_window
    for centre in run_centres(s.block):
        cubic = cubic_at(s.polynomial, centre)
        for t in extremes(1 << s.block.run_log2):
            assert abs(value(cubic, t) - value(s.polynomial, centre + t)) <= spare


@pytest.mark.parametrize("label", ASKED)
def test_the_domain_window_covers_the_cubic(label: str) -> None:
    s = sample(label)
    run, domain = 1 << s.block.run_log2, 1 << max(s.block.domain_log2, 6)  # 0: none
    for length, window in zip((domain, domain // 8), s.block.domain_windows, strict=True):
        spare = s.budget.domain_window(length) - s.budget.run_window
        if window:
            assert scale(window, -64) >= s.budget.domain_window(length)
        count = run // length
        for centre in run_centres(s.block):
            cubic = cubic_at(s.polynomial, centre)
            for i in {0, count // 3, count - 1}:
                middle = -run // 2 + i * length + length // 2
                for t in extremes(length):
                    assert line_error(cubic, middle, length, t + length // 2) <= spare


# Term by term.


def test_the_remainder_is_needed() -> None:
    s = sample("exp")
    assert s.distance_to_f(s.block.lo) > s.budget.coefficient_rounding


def test_the_rounding_of_the_coefficients_is_needed() -> None:
    s = sample("exp-short")
    assert max(map(s.distance_to_f, (s.block.lo, s.block.hi - 1))) > s.budget.remainder


RUN_LOG2 = 8
RUN = 1 << RUN_LOG2
HALF = RUN // 2
BITS = 400
"""Every polynomial below has coefficients that are multiples of 2^-BITS."""


def terms_of(polynomial: list[mpq], half_length: int) -> tuple[mpq, ...]:
    """run_terms of a polynomial."""
    magnitudes = [abs(scale(c, BITS)) for c in polynomial]
    assert all(m.denominator == 1 for m in magnitudes)
    return run_terms([int(m) for m in magnitudes], BITS, half_length, RUN_LOG2)


def test_the_dropped_terms_are_needed() -> None:
    for degree in (4, 5):
        quartic = [mpq(0)] * degree + [mpq(1, 1 << 60)]
        dropped, truncation, _, _ = terms_of(quartic, 1000)
        cubic = cubic_at(quartic, 0)
        error = abs(value(cubic, -HALF) - value(quartic, -HALF))
        assert truncation < error <= dropped + truncation


def test_runs_reach_beyond_the_block() -> None:
    """The last run may begin at the block's last argument, so that its centre lies outside."""
    half_length = 16
    quintic = [mpq(0)] * 5 + [mpq(1, 1 << 60)]
    error = value(quintic, half_length + 2 * HALF) - value(
        shifted(quintic, half_length + HALF)[:4], HALF
    )
    inside = [shifted(quintic, half_length)[j] * HALF**j for j in (4, 5)]
    assert sum(inside) < error <= terms_of(quintic, half_length)[0]


def test_the_truncation_of_each_coefficient_is_needed() -> None:
    just_below = scale(1, -RUN_BITS) - scale(1, -RUN_BITS - 64)
    errors = []
    for degree in range(4):
        polynomial = [mpq(0)] * degree + [just_below]
        cubic = cubic_at(polynomial, 0)
        errors.append(abs(value(cubic, -HALF) - value(polynomial, -HALF)))
    dropped, truncation, _, _ = terms_of([just_below] * 4, 0)
    assert dropped == 0
    assert truncation - scale(1, -RUN_BITS) < sum(errors) <= truncation


def test_bounds_of_the_cubic_allow_for_its_truncation() -> None:
    tiny_negative = [mpq(0), mpq(0), -scale(1, -300), -scale(1, -300)]
    cubic = cubic_at(tiny_negative, 0)
    _, _, quadratic_bound, cubic_bound = terms_of(tiny_negative, 0)
    assert abs(tiny_negative[3]) < abs(cubic[3]) <= cubic_bound
    assert abs(tiny_negative[2]) < abs(cubic[2]) <= quadratic_bound


def test_the_quadratic_bound_holds_in_every_domain() -> None:
    half_length, c3 = 1000, mpq(1, 1 << 50)
    _, _, quadratic_bound, cubic_bound = terms_of([mpq(0)] * 3 + [c3], half_length)
    cubic = cubic_at([mpq(0)] * 3 + [c3], half_length + HALF - 1)
    last_domain = shifted(cubic, HALF - 32)
    assert 3 * c3 * half_length < abs(last_domain[2]) <= quadratic_bound
    assert cubic_bound >= c3


BARE = ErrorBudget(*[mpq(0)] * 7)
LENGTH = 64


def test_every_term_of_the_sum_is_in_it() -> None:
    """Windows grow by exactly what each term of the chain grows by."""
    one = mpq(1)
    for term in ("target", "remainder", "coefficient_rounding"):
        assert replace(BARE, **{term: one}).block_window == 1
    for term in ("target", "remainder", "coefficient_rounding", "dropped_terms", "run_truncation"):
        budget = replace(BARE, **{term: one})
        assert budget.run_window == 1
        assert budget.domain_window(LENGTH) - BARE.domain_window(LENGTH) == 1


def test_the_quadratic_term_of_a_domain_is_needed() -> None:
    for curvature in (mpq(1, 1 << 30), -mpq(1, 1 << 30)):
        budget = replace(BARE, quadratic_bound=abs(curvature))
        error = line_error([mpq(0), mpq(0), curvature, mpq(0)], 0, LENGTH, 0)
        assert BARE.domain_window(LENGTH) < error <= budget.domain_window(LENGTH)


def test_the_cubic_term_of_a_domain_is_needed() -> None:
    c3 = mpq(1, 1 << 30)
    budget = replace(BARE, cubic_bound=c3)
    error = line_error([mpq(0), mpq(0), mpq(0), c3], 0, LENGTH, 0)
    assert BARE.domain_window(LENGTH) < error <= budget.domain_window(LENGTH)


def test_both_roundings_of_a_line_are_needed() -> None:
    """Slope and start both lie just below what they are rounded from, almost by the most."""
    tiny = scale(1, -RUN_BITS)
    slope = scale(1, -FRACTION_BITS - 1) - tiny
    start = scale(1, -FRACTION_BITS) - tiny
    line = [start + slope * LENGTH / 2, slope, mpq(0), mpq(0)]
    error = line_error(line, 0, LENGTH, LENGTH - 1)
    of_slope, of_start = scale(LENGTH, -FRACTION_BITS - 1), scale(1, -FRACTION_BITS)
    assert max(of_slope, of_start) < error <= BARE.domain_window(LENGTH)


def test_shifted_bounds_are_reached_at_the_end() -> None:
    draw = random.Random(4)
    for _ in range(50):
        polynomial = [mpq(draw.randint(-99, 99)) for _ in range(7)]
        magnitudes = [abs(c) for c in polynomial]
        reach = draw.randint(0, 50)
        bounds = shifted_bounds([int(m) for m in magnitudes], reach)
        for order in range(7):
            bound = bounds[order]
            assert bound == shifted(magnitudes, reach)[order]
            for centre in (-reach, draw.randint(-reach, reach), reach):
                assert abs(shifted(polynomial, centre)[order]) <= bound


def test_ceil_scaled_never_rounds_down() -> None:
    draw = random.Random(5)
    for _ in range(200):
        number = mpq(draw.getrandbits(90), draw.getrandbits(90) + 1)
        n = ceil_scaled(number, 64)
        assert scale(n - 1, -64) < number <= scale(n, -64)
    assert ceil_scaled(scale(7, -64), 64) == 7
