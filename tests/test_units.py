"""Units tile what is asked, take about the same time, and depend on neither method nor device."""

from __future__ import annotations

from itertools import pairwise

import pytest
from gmpy2 import mpq

from hrcase.cost import DOMAIN, EVALUATION
from hrcase.formats import FORMATS
from hrcase.job.merge import prove_tiling
from hrcase.job.units import expected_cases, make_plan
from hrcase.job.weights import UNIT_CASES, UNIT_WORK, weigh
from hrcase.pieces import Piece, Rule
from hrcase.plan import Tuning, next_block, plan
from hrcase.spec import SearchSpec, exponent_range, interval
from hrcase.workers import Workers

BINARY64 = FORMATS["binary64"]


def spec_of(function: str, first: int, last: int, sign: str = "both") -> SearchSpec:
    region = exponent_range(BINARY64, first, last, sign)
    return SearchSpec(function, BINARY64, BINARY64, 44, "all", region)


@pytest.mark.parametrize(
    ("function", "first", "last"),
    [("exp", -3, 8), ("sin", -4, 3), ("log", -2, 2), ("lgamma", 4, 4)],
)
def test_units_tile_what_is_asked(function: str, first: int, last: int) -> None:
    plan = make_plan(spec_of(function, first, last))
    prove_tiling(plan)
    assert [unit.number for unit in plan.units] == list(range(len(plan.units)))
    largest = max(unit.work for unit in plan.units)
    assert largest <= 2 * UNIT_WORK
    assert plan.work == pytest.approx(sum(unit.work for unit in plan.units))


@pytest.mark.parametrize(("function", "exponent"), [("exp", 0), ("exp", 7), ("sin", 1), ("sin", 4)])
def test_the_work_of_a_unit_is_what_its_blocks_cost(function: str, exponent: int) -> None:
    """Within a factor: the model is asked at two places of a piece, and the blocks are many."""
    spec = spec_of(function, exponent, exponent, "positive")
    units = [u for u in make_plan(spec).units if u.work > UNIT_WORK / 4]
    sample = units[:: max(1, len(units) // 8)]
    assert sample
    for unit in sample:
        blocks = list(plan(spec, unit.piece, Tuning(method="farey")))
        assert sum(block.count for block in blocks) == unit.piece.count
        assert 1 / 3 < sum(block.work for block in blocks) / unit.work < 3


@pytest.mark.parametrize("bits", [16, 31])
def test_a_unit_has_no_more_cases_than_are_decided_in_seconds(bits: int) -> None:
    """With few bits the cases take longer than the kernels do."""
    region = interval(BINARY64, mpq(1), 1 + mpq(1, 1 << (35 - bits)), "")
    plan = make_plan(SearchSpec("exp", BINARY64, BINARY64, bits, "all", region))
    prove_tiling(plan)
    cases = [expected_cases(plan.spec, [unit.piece]) for unit in plan.units]
    assert sum(cases) > 20 * UNIT_CASES
    assert max(cases) <= 1.5 * UNIT_CASES
    assert len(cases) < 4 * sum(cases) / UNIT_CASES


def test_a_pole_at_the_end_of_a_piece_is_not_taken_for_all_of_it() -> None:
    """The first arguments above -24 are scanned in short runs; a block in the middle has 2^40."""
    lo = BINARY64.ceil_ordinal(mpq(-24)) + 1
    hi = BINARY64.ceil_ordinal(mpq(-95, 4))
    region = interval(BINARY64, BINARY64.value(lo), BINARY64.value(hi), "")
    spec = SearchSpec("lgamma", BINARY64, BINARY64, 44, "all", region)
    pieces = [piece for piece in make_plan(spec).pieces if piece.rule is Rule.SEARCHED]
    piece = max(pieces, key=lambda piece: piece.count)
    first = next_block(spec, piece, piece.lo, Tuning(method="farey"))
    assert first.block is not None and first.block.run_log2 < 6
    found = list(weigh(spec, piece))
    assert found[0].piece.lo == piece.lo and found[-1].piece.hi == piece.hi
    assert all(a.piece.hi == b.piece.lo for a, b in pairwise(found))
    assert 3 < len(found) < 100
    work = sum(weight.work for weight in found)
    assert work < 1e-3 * first.cost / DOMAIN * piece.count


def test_units_of_a_scanned_piece_are_short() -> None:
    spec = spec_of("exp", 0, 0, "positive")
    (weight,) = weigh(spec, Piece(1, 1 + (1 << 20), Rule.SCANNED))
    parts = list(weight.parts(UNIT_WORK, UNIT_CASES))
    assert max(part.count for part in parts) * EVALUATION / DOMAIN <= UNIT_WORK
    assert sum(part.count for part in parts) == 1 << 20


def test_a_flood_has_no_more_units_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """At M = 6 there would be 2^47 cases: refused, but only once it is planned."""
    monkeypatch.setattr("hrcase.job.units.MOST_UNITS", 100)
    region = exponent_range(BINARY64, 0, 0, "positive")
    plan = make_plan(SearchSpec("exp", BINARY64, BINARY64, 6, "all", region))
    assert plan.expected > 100 * UNIT_CASES
    assert len(plan.units) < 200


def test_processes_split_as_this_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("sinpi", 3, 4)
    alone = make_plan(spec)
    monkeypatch.setattr("hrcase.job.units.MANY_PARTS", 20)
    with Workers(2) as workers:
        together = make_plan(spec, workers=workers)
        assert workers.are_running
    prove_tiling(together)
    assert together.pieces == alone.pieces
    assert together.units == alone.units


def test_very_long_searches_get_longer_units(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("exp", 0, 3, "positive")
    many = make_plan(spec)
    monkeypatch.setattr("hrcase.job.units.MOST_UNITS", 20)
    few = make_plan(spec)
    prove_tiling(few)
    assert len(few.units) < 60 < len(many.units)
