"""The cost model: what it counts is there, and its choice costs least."""

from __future__ import annotations

from dataclasses import replace
from math import gcd, inf

import pytest
from gmpy2 import mpq

from hrcase.cost import (
    FRACTION,
    LEAST_RUN_LOG2,
    MOST_RUN_LOG2,
    SCAN,
    Sizes,
    best_walk,
    far_of,
    fractions,
    own_errors,
    rough,
    sizes_of,
    to_double,
    walk_cost,
)
from hrcase.domain import split
from hrcase.engine import Block
from hrcase.engine.cpu import run
from hrcase.formats import FORMATS, Format, scale
from hrcase.pieces import Piece, Rule
from hrcase.plan import PlannedBlock, Tuning, next_block, plan
from hrcase.spec import SearchSpec, exponent_range, interval

BINARY64 = FORMATS["binary64"]
TOY = Format("toy22", 22, -30, 30)
WALK, DOMAINS = Tuning(method="farey"), Tuning(method="regular")
PARABOLA = Sizes(3, 2, 2.0**-43, (0.3, 0.3, 2.0**-52, 0.0))


def searched(spec: SearchSpec) -> list[Piece]:
    return [piece for piece in split(spec) if piece.rule is Rule.SEARCHED]


def exp_on(lo: mpq, hi: mpq, bits: int = 44) -> SearchSpec:
    return SearchSpec("exp", BINARY64, BINARY64, bits, "all", interval(BINARY64, lo, hi, ""))


def first(spec: SearchSpec, tuning: Tuning) -> tuple[PlannedBlock, Block]:
    piece = searched(spec)[0]
    planned = next_block(spec, piece, piece.lo, tuning)
    assert planned.block is not None
    return planned, planned.block


@pytest.mark.parametrize("log2", [-12, -15, -18])
def test_the_fractions_are_those_of_the_farey_sequence(log2: int) -> None:
    """Slopes 2 a2 L wide hold so many fractions of order a2^(-1/3)."""
    a2 = 2.0**log2
    order, width = round(a2 ** (-1 / 3)), 7.3
    count = sum(1 for q in range(1, order + 1) for a in range(int(width * q) + 1) if gcd(a, q) == 1)
    assert fractions(a2) * width / (2 * a2) == pytest.approx(count, rel=0.1)


def test_run_errors_are_those_of_the_budget() -> None:
    for lo in (mpq(1), mpq(600), mpq(-1, 10), scale(1, -25)):
        planned, block = first(exp_on(lo, lo + abs(lo) / 1000), DOMAINS)
        assert planned.budget is not None
        half = max(block.hi, -block.lo)
        window = to_double(planned.budget.block_window)
        sizes = sizes_of(block.coefficients, block.limbs, half, window)
        exact = to_double(planned.budget.dropped_terms + planned.budget.run_truncation)
        assert own_errors(sizes, 2.0 ** (block.run_log2 - 1)) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("lo", [mpq(1), mpq(600), mpq(-700), mpq(1, 7), scale(1, -30)])
@pytest.mark.parametrize("bits", [20, 44, 60])
def test_no_other_run_costs_less(lo: mpq, bits: int) -> None:
    planned, block = first(exp_on(lo, lo + abs(lo) / 1000, bits), WALK)
    assert planned.budget is not None and planned.method == "farey"
    window = to_double(planned.budget.block_window)
    sizes = sizes_of(block.coefficients, block.limbs, max(block.hi, -block.lo), window)
    assert planned.cost == walk_cost(sizes, block.run_log2) < SCAN
    for run_log2 in range(LEAST_RUN_LOG2, MOST_RUN_LOG2 + 1):
        assert walk_cost(sizes, run_log2) >= planned.cost
    assert best_walk(sizes, block.run_log2 - 1)[0] < block.run_log2


def test_each_term_of_a_walk_has_its_price() -> None:
    """Fractions set the cost of a plain parabola; each other term adds to it."""
    run_log2 = 28
    plain = walk_cost(PARABOLA, run_log2)
    assert fractions(2.0**-52) * FRACTION < plain < 1.5 * fractions(2.0**-52) * FRACTION
    wide = replace(PARABOLA, window=2.0**-20)
    bent = replace(PARABOLA, bounds=(0.3, 0.3, 2.0**-52, 2.0**-90))
    long = replace(PARABOLA, degree=12, limbs=10, bounds=(*PARABOLA.bounds, *[0.0] * 9))
    for dearer in (wide, bent):
        assert walk_cost(dearer, run_log2) > 1.01 * plain
    assert walk_cost(long, 20) > 1.01 * walk_cost(PARABOLA, 20)
    assert walk_cost(PARABOLA, 10) > 10 * plain  # a start for every thousand arguments
    quartic = replace(PARABOLA, degree=4, bounds=(*PARABOLA.bounds, 2.0**-125))
    assert walk_cost(quartic, run_log2) > 1.01 * plain


def test_lines_pay_for_their_bend() -> None:
    line = replace(PARABOLA, bounds=(0.3, 0.3, 2.0**-93, 0.0))
    straight = replace(PARABOLA, bounds=(0.3, 0.3, 0.0, 0.0))
    assert walk_cost(straight, 30) < walk_cost(line, 30) < 1.1 * walk_cost(straight, 30)
    assert best_walk(straight, 60)[0] == MOST_RUN_LOG2


def test_where_a_walk_would_propose_most_arguments_a_scan_is_planned() -> None:
    assert walk_cost(replace(PARABOLA, window=0.2), 20) == inf
    assert walk_cost(replace(PARABOLA, window=inf), 20) == inf
    spec = SearchSpec("exp", TOY, TOY, 4, "all", exponent_range(TOY, 0, 0, "positive"))
    planned, block = first(spec, WALK)
    assert planned.method == "scan" and planned.cost == SCAN
    found, _ = run(block, "scan")
    assert len(found) > 0


def test_a_run_window_may_be_far_above_the_target() -> None:
    """M = 60: coefficients cut to 128 bits alone cost more than w, and it does not matter."""
    planned, block = first(exp_on(mpq(1), mpq(11, 10), 60), WALK)
    assert planned.budget is not None
    assert planned.budget.run_window > 8 * planned.budget.target
    assert block.run_log2 >= 27
    _, cautious = first(exp_on(mpq(1), mpq(11, 10), 60), DOMAINS)
    assert cautious.run_log2 < block.run_log2


@pytest.mark.parametrize("lo", [mpq(1), mpq(600), mpq(-1, 10), scale(1, -25)])
def test_polynomials_do_not_depend_on_the_method(lo: mpq) -> None:
    """So that candidates do not either: they are decided by P, its window and its bounds."""
    spec = exp_on(lo, lo + abs(lo) / 1000)
    (_, walked), (_, tested) = (first(spec, tuning) for tuning in (WALK, DOMAINS))
    lengths = ("run_log2", "run_window", "domain_log2", "domain_windows", "group_log2")
    same = {name: getattr(walked, name) for name in lengths}
    assert replace(tested, **same) == walked


@pytest.mark.parametrize("bits", [10, 14])
def test_candidates_do_not_depend_on_the_plan(bits: int) -> None:
    spec = SearchSpec("exp", TOY, TOY, bits, "all", exponent_range(TOY, 0, 0, "positive"))
    found: dict[str, list[int]] = {}
    for method in ("regular", "farey"):
        ordinals = found.setdefault(method, [])
        for piece in searched(spec):
            for planned in plan(spec, piece, Tuning(method=method)):
                assert planned.block is not None and planned.method == method
                ordinals += [planned.ordinal(int(u)) for u in run(planned.block, method)[0]]
    assert found["regular"] == found["farey"]
    assert len(found["farey"]) > 100


def test_round_numbers_of_any_size() -> None:
    assert rough(3 << 5000, -5001) == 1.5
    assert rough(1 << 5000, 0) == inf
    assert rough(1, -5000) == 0
    assert to_double(scale(3, -1)) == 1.5
    assert to_double(scale(1, 5000)) == inf


@pytest.mark.parametrize("lo", [-736, -733, -731, -727, -715])
def test_flat_pieces_propose_few_arguments(lo: int) -> None:
    """Subnormal outputs of exp: slopes near 0 in every run. Walks would propose thousands a run."""
    planned, block = first(exp_on(mpq(lo), mpq(lo) + mpq(1, 8)), WALK)
    length = 64 << block.run_log2
    _, counts = run(replace(block, hi=min(block.hi, block.lo + length)), planned.method)
    assert counts.scanned <= 20 * counts.domains


def test_slopes_near_a_small_fraction_are_far_from_the_vertex() -> None:
    """A third of a turn an argument, and next to it, also on the longer arc of a device's walk."""
    a2, half = 2.0**-60, 1 << 20
    assert far_of(1 / 3 + 2.0**-24, a2, half) == pytest.approx(2.0**-48 / (4 * a2), rel=0.01)
    assert far_of(1.0 - 2.0**-24, a2, half) == pytest.approx(2.0**-48 / (4 * a2), rel=0.01)
    assert far_of(0.6180339887, a2, half) == 0
    arc = 2.0**-19 / 3
    at_its_end = far_of(1 / 3 + 0.99 * arc, a2, half)
    assert at_its_end == pytest.approx((0.99 * arc) ** 2 / (4 * a2), rel=0.01)
    assert far_of(1 / 3 + 1.01 * arc, a2, half) == 0
    # Of a longer block the share of the arc.
    assert far_of(1 / 3, a2, 1 << 50) == pytest.approx(arc / 2.0**-9 * arc**2 / (4 * a2))
    assert far_of(1 / 3, 0.0, half) == 0
