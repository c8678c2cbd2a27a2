"""The plan: deterministic; blocks tile a piece, slices a block; lengths fit the windows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from gmpy2 import mpq

from hrcase.cost import DOMAIN, EVALUATION, LEAST_DOMAIN_LOG2, SCAN, domain_cost
from hrcase.domain import split
from hrcase.engine import Block
from hrcase.formats import FORMATS, scale
from hrcase.pieces import Piece, Rule
from hrcase.plan import (
    MOST_RUNS,
    RUN_SLACK,
    SHORTEST_LOG2,
    SLACK,
    PlannedBlock,
    Tuning,
    next_block,
    plan,
)
from hrcase.spec import SearchSpec, interval
from hrcase.taylor import Stretch, derivative_bound

BINARY16, BINARY32, BINARY64 = (FORMATS[n] for n in ("binary16", "binary32", "binary64"))
ASKED = {
    "exp": ("exp", BINARY64, BINARY64, 44, mpq(1), mpq(2)),
    "exp-steep": ("exp", BINARY64, BINARY64, 44, mpq(700), mpq(7001, 10)),
    "exp-single": ("exp", BINARY32, BINARY32, 15, mpq(1), mpq(2)),
    "sin-negative": ("sin", BINARY64, BINARY64, 44, mpq(-3, 2), mpq(-5, 4)),
    "sin-extremum": ("sin", BINARY64, BINARY64, 44, mpq(15708, 10000), mpq(16, 10)),
    "cbrt-fine": ("cbrt", BINARY64, BINARY64, 100, mpq(1), mpq(10001, 10000)),
    "log-subnormal": ("log", BINARY64, BINARY64, 44, scale(1, -1050), scale(1, -1049)),
}


def searched(label: str) -> tuple[SearchSpec, Piece]:
    """The spec, and its largest searched piece."""
    name, inp, out, bits, lo, hi = ASKED[label]
    spec = SearchSpec(name, inp, out, bits, "all", interval(inp, lo, hi, ""))
    pieces = [piece for piece in split(spec) if piece.rule is Rule.SEARCHED]
    return spec, max(pieces, key=lambda piece: piece.count)


def first_blocks(label: str, most: int = 6) -> list[PlannedBlock]:
    spec, piece = searched(label)
    return [planned for planned, _ in zip(plan(spec, piece, Tuning()), range(most), strict=False)]


def block_of(planned: PlannedBlock) -> Block:
    assert planned.block is not None
    return planned.block


@pytest.mark.parametrize("label", ASKED)
def test_a_plan_is_deterministic(label: str) -> None:
    assert first_blocks(label) == first_blocks(label)


@pytest.mark.parametrize("label", ["exp-single", "sin-negative", "log-subnormal"])
def test_blocks_tile_their_piece(label: str) -> None:
    spec, piece = searched(label)
    blocks = list(plan(spec, piece, Tuning()))
    assert blocks[0].first == piece.lo
    assert all(a.first + a.count == b.first for a, b in pairwise(blocks))
    assert blocks[-1].first + blocks[-1].count == piece.hi


@pytest.mark.parametrize("label", ASKED)
def test_a_block_counts_its_arguments_from_its_first_ordinal(label: str) -> None:
    for planned in first_blocks(label):
        block = block_of(planned)
        assert planned.count == block.hi - block.lo
        assert planned.ordinal(block.lo) == planned.first
        assert planned.ordinal(block.hi - 1) == planned.first + planned.count - 1


@pytest.mark.parametrize("label", ASKED)
def test_errors_stay_small_beside_the_target(label: str) -> None:
    for planned in first_blocks(label):
        block, budget = block_of(planned), planned.budget
        assert budget is not None
        assert budget.remainder * SLACK <= budget.target
        assert budget.coefficient_rounding * SLACK <= budget.target
        own = budget.dropped_terms + budget.run_truncation
        assert own * RUN_SLACK <= budget.target or block.run_log2 == LEAST_DOMAIN_LOG2
        if planned.method != "scan":
            assert planned.cost == domain_cost(budget, block.domain_log2) < SCAN
            block.require_domains()


def test_no_other_length_of_domains_costs_less() -> None:
    for label in ("exp", "exp-steep", "sin-negative"):
        planned = first_blocks(label, most=1)[0]
        assert planned.budget is not None
        block = block_of(planned)
        chosen = domain_cost(planned.budget, block.domain_log2)
        for domain_log2 in range(LEAST_DOMAIN_LOG2, block.run_log2 + 1):
            assert domain_cost(planned.budget, domain_log2) >= chosen


def test_flatter_functions_get_longer_domains() -> None:
    flat, steep = (block_of(first_blocks(label, 1)[0]) for label in ("exp", "exp-steep"))
    assert flat.domain_log2 > steep.domain_log2


def test_tuning_fixes_the_length_of_domains() -> None:
    spec, piece = searched("exp")
    planned = next_block(spec, piece, piece.lo, Tuning(domain_log2=9))
    assert block_of(planned).domain_log2 == 9
    assert planned.budget is not None
    windows = [scale(w, -64) for w in block_of(planned).domain_windows]
    assert windows[0] >= planned.budget.domain_window(512)
    assert windows[1] >= planned.budget.domain_window(64)


@pytest.mark.parametrize("label", ASKED)
@pytest.mark.parametrize("share", [0.003, 0.1, 0.7, 2.0])
def test_slices_tile_a_block_and_keep_its_polynomial(label: str, share: float) -> None:
    whole = first_blocks(label, most=1)[0]
    block = block_of(whole)
    parts = list(whole.slices(whole.work * share))
    run = 1 << block.run_log2
    assert parts[0].first == whole.first
    assert block_of(parts[0]).lo == block.lo
    assert block_of(parts[-1]).hi == block.hi
    for part, following in pairwise(parts):
        assert part.first + part.count == following.first
        assert block_of(part).hi == block_of(following).lo
    for part in parts:
        inner = block_of(part)
        assert (inner.lo - block.lo) % run == 0
        assert part.count == inner.hi - inner.lo > 0
        assert part.ordinal(inner.lo) == whole.ordinal(inner.lo) == part.first
        assert replace(inner, lo=block.lo, hi=block.hi) == block
        assert part.budget == whole.budget
        assert (part.method, part.cost) == (whole.method, whole.cost)
        assert part.count <= max(run, min(whole.count * share, MOST_RUNS * run))
    is_short = share > 1 and whole.count <= MOST_RUNS * run
    assert (len(parts) == 1) == (is_short or run >= whole.count)


def test_where_no_polynomial_fits_a_few_arguments_are_scanned() -> None:
    """exp of binary16 into binary64 at 2^-212 ulp: each step of x is far too long."""
    spec = SearchSpec("exp", BINARY16, BINARY64, 212, "all", interval(BINARY16, 8, 11, ""))
    ordinal = BINARY16.ordinal(mpq(8))
    piece = Piece(ordinal, ordinal + 300, Rule.SEARCHED, next(split(spec, 1)).key)
    planned = next_block(spec, piece, ordinal, Tuning())
    assert (planned.block, planned.budget, planned.method) == (None, None, "scan")
    assert planned.count == 1 << SHORTEST_LOG2
    assert planned.work == planned.count * EVALUATION / DOMAIN
    assert list(planned.slices(1e-9)) == [planned]


@pytest.mark.parametrize("label", ASKED)
def test_a_remainder_is_stated_with_room_for_other_balls(label: str) -> None:
    """1/1024 more than was proved, as docs/method.md says: the verifier's balls are not ours."""
    spec, piece = searched(label)
    planned = next_block(spec, piece, piece.lo, Tuning(method="farey"))
    block = planned.block
    assert block is not None and planned.budget is not None
    m, exponent = spec.inp.parts(piece.lo)
    stretch = Stretch(m - block.lo, exponent, block.lo, block.hi)
    order = block.degree + 1
    proved = derivative_bound(spec.function, spec.lattice(piece.key), stretch, order)
    room = proved * stretch.half_length**order * mpq(1025, 1024)
    assert room <= planned.budget.remainder <= room * (1 + scale(1, -20))
