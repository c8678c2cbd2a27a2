"""Whole binades of toy formats: candidates block by block, cases of a whole search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brute.distances import Brute, Ordinals, margin, target
from brute.reference import check_record
from hrcase.domain import split
from hrcase.engine.cpu import run
from hrcase.formats import Format
from hrcase.memory import search
from hrcase.pieces import Piece, Rule
from hrcase.plan import PlannedBlock, Tuning, plan
from hrcase.spec import SearchSpec, exponent_range

DOMAIN_LOG2 = {20: 6, 24: 6, 28: 8}
METHODS = ("regular", "lefevre", "farey")


@dataclass
class Tally:
    """Arguments by what decided them."""

    tested: int = 0
    scanned_by_cubics: int = 0
    evaluated: int = 0
    settled: int = 0


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

    Args:
        share: so much of the binade at least must have been decided by tests or walks; what they
            leave is looked at one by one.
    """
    result = search(spec, method, threads=1, tuning=tuning(spec))
    cases, exact = brute.cases(spec, *spec.region.ranges[0])
    rows = [spec.inp.ordinal(case.x) for case in result.cases]
    assert rows == list(cases)
    assert list(result.exact) == exact
    for near, case in zip(cases.values(), result.cases, strict=True):
        check_record(case, near, spec.out)
    lo, hi = spec.region.ranges[0]
    poles = sum(part.hi - part.lo for part in result.removed)
    assert sum(result.statistics.arguments.values()) == hi - lo - poles
    counts = result.statistics.counts
    left = counts["scanned"] if method == "farey" else 0
    assert max(0, counts["tested_arguments"] - left) >= share * (hi - lo)
    return len(rows)
