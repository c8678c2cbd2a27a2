"""Whole binades of toy formats against brute force: nothing missed, nothing extra.

Candidates of every method are compared block by block with the distances of all arguments of
the block; cases, which do not depend on the method, with the list that brute force gives. Where
f has extrema and zeros inside, where it crosses a power of two, and on either side of 1: these
are the binades.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from brute.distances import Brute, Ordinals, decide, margin, target
from brute.reference import FUNCTIONS, check_record

from hrcase.domain import Piece, Rule, split
from hrcase.engine.cpu import run
from hrcase.formats import Format
from hrcase.lattice import ROUNDINGS
from hrcase.plan import PlannedBlock, Tuning, plan
from hrcase.search import search
from hrcase.spec import Region, SearchSpec, exponent_range

MULTIPLIER = int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
"""2 or more: every rounding choice in every test."""

TOY20, TOY24, TOY28 = (Format(f"toy{p}", p, -30, 30) for p in (20, 24, 28))
BINADES = [
    ("exp", 0, "positive"),
    ("exp", -2, "positive"),
    ("exp", 0, "negative"),
    ("exp2", -1, "positive"),
    ("exp2", 2, "positive"),
    ("exp2", 1, "negative"),
    ("log", 0, "positive"),
    ("log", -1, "positive"),
    ("log", 3, "positive"),
    ("sin", 1, "positive"),  # pi
    ("sin", 0, "positive"),  # pi/2
    ("sin", 0, "negative"),
    ("cbrt", 1, "positive"),
    ("cbrt", 0, "positive"),
    ("cbrt", 2, "positive"),
    ("cbrt", 0, "negative"),
]
"""Function, exponent and sign of x; the first of each function is searched the most."""

MANY_PERIODS = [("sin", 3, "positive"), ("sin", 4, "positive")]
BINADES_20, BINADES_24 = ([*BINADES, many] for many in MANY_PERIODS)
FIRST_BINADE = {name: (e, sign) for name, e, sign in reversed(BINADES)}
CHOSEN_24 = [
    (*where, rounding)
    for where, rounding in product(BINADES_24, ROUNDINGS)
    if MULTIPLIER > 1
    or where[1:] == FIRST_BINADE[where[0]]
    or ROUNDINGS.index(rounding) == BINADES_24.index(where) % 3
]
CHOSEN_28 = [
    (name, rounding)
    for (i, name), rounding in product(enumerate(FUNCTIONS), ROUNDINGS)
    if MULTIPLIER > 1 or ROUNDINGS.index(rounding) == i % 3
]
DOMAIN_LOG2 = {20: 6, 24: 6, 28: 8}
METHODS = ("regular", "lefevre", "farey")


@dataclass
class Tally:
    """Arguments by what decided them."""

    tested: int = 0
    scanned_by_cubics: int = 0
    evaluated: int = 0
    settled: int = 0


@pytest.fixture(scope="session")
def brute(tmp_path_factory: pytest.TempPathFactory) -> Brute:
    return Brute(tmp_path_factory.mktemp("brute"))


def binade(name: str, toy: Format, exponent: int, sign: str) -> SearchSpec:
    """All breakpoints, M = 6; the tests vary both."""
    return SearchSpec(name, toy, toy, 6, "all", exponent_range(toy, exponent, exponent, sign))


def tuning(spec: SearchSpec) -> Tuning:
    """A fixed N, and next to nothing scanned."""
    return Tuning(domain_log2=DOMAIN_LOG2[spec.inp.precision], scan=16)


def check_candidates(brute: Brute, spec: SearchSpec) -> Tally:
    """Assert that the candidates of each block are the arguments within its window."""
    tally = Tally()
    for piece in split(spec, 16):
        if piece.rule is Rule.SEARCHED:
            for planned in plan(spec, piece, tuning(spec)):
                for part in planned.slices(1 << 14):
                    check_part(brute, spec, part, tally)
        elif piece.rule is Rule.SETTLED:
            check_settled(brute, spec, piece)
            tally.settled += piece.count
        else:
            tally.evaluated += piece.count
    return tally


def check_part(brute: Brute, spec: SearchSpec, part: PlannedBlock, tally: Tally) -> None:
    """Each sure case is a candidate; each candidate is as near as the block's window says."""
    if part.block is None:
        tally.evaluated += part.count
        return
    candidates = np.zeros(part.count, dtype=np.bool_)
    candidates[run_by_all_methods(part) - part.block.lo] = True
    distances, slack = brute.distances(spec, part.first, part.first + part.count), margin(spec)
    window = part.block.window / 2 ** (64 * part.block.limbs)
    errors = window - target(spec)  # of the polynomial, which may be off to either side
    assert 0 <= errors < 0.01 * target(spec)
    missed = np.flatnonzero(~candidates & (distances < target(spec) - slack))
    extra = np.flatnonzero(candidates & (distances > window + errors + slack))
    assert [part.first + int(i) for i in missed] == [], "missed"
    assert [part.first + int(i) for i in extra] == [], "not within the window"
    if part.method != "scan":
        tally.tested += part.count
    else:
        tally.scanned_by_cubics += part.count


def run_by_all_methods(part: PlannedBlock) -> Ordinals:
    """The candidates, which are the same for every method; each domain was tested."""
    assert part.block is not None
    found, _ = run(part.block, "scan")
    for method in METHODS if part.method != "scan" else ():
        same, counts = run(part.block, method)
        assert same.tolist() == found.tolist(), method
        if method != "farey":
            assert counts.domains == -(-part.count >> part.block.domain_log2)
    return found


def check_settled(brute: Brute, spec: SearchSpec, piece: Piece) -> None:
    assert piece.settlement is not None and piece.settlement.kind == "a"
    distances = brute.distances(spec, piece.lo, piece.hi)
    assert (distances > target(spec) - margin(spec)).all()


def check_cases(brute: Brute, spec: SearchSpec, method: str, share: float = 0.9) -> int:
    """Assert that a search finds the cases and exact results of a binade; how many cases.

    And that its tests or walks decided so large a share of the arguments: what they left was
    looked at one by one.
    """
    result = search(spec, method, threads=1, tuning=tuning(spec))
    cases, exact = brute.cases(spec, *spec.region.ranges[0])
    rows = [spec.inp.ordinal(case.x) for case in result.cases]
    assert rows == cases
    assert result.exact == exact
    by_mpfr = decide(spec, rows)
    for ordinal, case in zip(rows, result.cases, strict=True):
        check_record(case, by_mpfr[ordinal], spec.out)
    lo, hi = spec.region.ranges[0]
    assert sum(result.statistics.arguments.values()) == hi - lo
    counts = result.statistics.counts
    left = counts["scanned"] if method == "farey" else 0
    assert max(0, counts["tested_arguments"] - left) >= share * (hi - lo)
    return len(rows)


def check_everything(
    brute: Brute, spec: SearchSpec, cases_method: str | None, share: float = 0.9
) -> None:
    """Candidates of all methods, cases of one; 90 % of the arguments went through the tests."""
    lo, hi = spec.region.ranges[0]
    tally = check_candidates(brute, spec)
    assert tally.tested + tally.scanned_by_cubics + tally.evaluated + tally.settled == hi - lo
    assert tally.tested >= 0.9 * (hi - lo)
    if cases_method is not None:
        expected = 2 * target(spec) * (hi - lo)
        found = check_cases(brute, spec, cases_method, share)
        assert abs(found - expected) < 8 * expected**0.5 + 50


def test_the_margin_covers_the_c_library(brute: Brute) -> None:
    generator = random.Random(1)
    for name, exponent, sign in BINADES:
        spec = binade(name, TOY28, exponent, sign)
        lo, hi = spec.region.ranges[0]
        for ordinal in [generator.randrange(lo, hi) for _ in range(500)]:
            near = decide(spec, [ordinal])[ordinal]
            exact = abs(near.offset) * 2.0 ** (near.exponent + 1)
            assert abs(brute.distances(spec, ordinal, ordinal + 1)[0] - exact) < margin(spec) / 4


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("name", "exponent", "sign"), BINADES_20)
def test_p_20(brute: Brute, name: str, exponent: int, sign: str, rounding: str) -> None:
    spec = replace(binade(name, TOY20, exponent, sign), rounding=rounding)
    check_everything(brute, spec, None)
    check_everything(brute, replace(spec, bits=10), "regular")
    check_everything(brute, replace(spec, bits=11), "lefevre")
    share = 0.0 if (name, exponent, sign) in MANY_PERIODS else 0.9
    check_cases(brute, replace(spec, bits=12), "farey", share)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_very_many_cases(brute: Brute, name: str) -> None:
    """M = 6, where nearly every domain fails its test: the last sixteenth of a binade."""
    whole = binade(name, TOY20, *FIRST_BINADE[name])
    lo, hi = whole.region.ranges[0]
    part = replace(whole, region=Region("part", ((hi - (hi - lo) // 16, hi),)))
    for method, rounding in product(METHODS, ROUNDINGS):
        share = 0.0 if method == "farey" else 0.9  # it would propose most arguments
        assert check_cases(brute, replace(part, rounding=rounding), method, share) > 500


@pytest.mark.parametrize(("name", "exponent", "sign", "rounding"), CHOSEN_24)
def test_p_24(brute: Brute, name: str, exponent: int, sign: str, rounding: str) -> None:
    spec = replace(binade(name, TOY24, exponent, sign), rounding=rounding)
    check_everything(brute, spec, None)
    share = 0.0 if (name, exponent, sign) in MANY_PERIODS else 0.9
    check_everything(brute, replace(spec, bits=12), "farey", share)
    check_everything(brute, replace(spec, bits=15), "regular")


@pytest.mark.parametrize(("name", "rounding"), CHOSEN_28)
def test_p_28(brute: Brute, name: str, rounding: str) -> None:
    spec = replace(binade(name, TOY28, *FIRST_BINADE[name]), rounding=rounding)
    check_everything(brute, replace(spec, bits=14), "farey")
    check_cases(brute, replace(spec, bits=19), "lefevre")


def test_p_28_with_millions_of_candidates(brute: Brute) -> None:
    """M = 6 on the first quarter of a binade."""
    whole = binade("exp", TOY28, *FIRST_BINADE["exp"])
    lo, hi = whole.region.ranges[0]
    part = Region("quarter", ((lo, lo + (hi - lo) // 4),))
    check_everything(brute, replace(whole, region=part), None)
