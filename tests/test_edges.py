"""The edges of pieces in binary32: tails, zeros, poles, crossings, subnormals, overflow.

The whole domain (of functions with many pieces, what is near 0) is split; around ends of pieces
every argument is evaluated. What the theorems of settled pieces say is compared with that, and
so is a search of the slice alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import pytest
from brute.compare import Reference, check_result, is_case, settled_cases
from brute.reference import EVERY_FUNCTION, nearest, values
from gmpy2 import mpq

from hrcase.domain import removed, split
from hrcase.formats import FORMATS, scale
from hrcase.functions import function_by_name
from hrcase.lattice import ROUNDINGS
from hrcase.memory import search
from hrcase.pieces import Piece, Removed, Rule
from hrcase.plan import Tuning, plan
from hrcase.refine import refine_chunk
from hrcase.spec import Region, SearchSpec, everything, interval

BINARY32 = FORMATS["binary32"]
SPECIAL = ("digamma", "j0", "j1", "y0", "y1")
MANY_PIECES = ("sin", "cos", "tan", "sinpi", "cospi", "tanpi", "lgamma", *SPECIAL)
REACH = 24
"""Arguments evaluated on either side of an end of a piece."""

MOST_EDGES = 18


def whole(name: str, bits: int, rounding: str) -> SearchSpec:
    """The whole domain; of functions with many pieces |x| < 5."""
    region = everything(BINARY32)
    if name in MANY_PIECES:
        region = replace(interval(BINARY32, mpq(-5), mpq(5), "near 0"), is_open=True)
    return SearchSpec(name, BINARY32, BINARY32, bits, rounding, region)


@lru_cache(maxsize=1)
def pieces(name: str, bits: int, rounding: str) -> list[Piece]:
    return list(split(whole(name, bits, rounding)))


def edges(spec: SearchSpec, found: list[Piece]) -> list[int]:
    """Ends of settled pieces, poles and ends of the domain first, then some of all others."""
    draw = random.Random(spec.function_name)
    first = [i for p in found if p.rule is Rule.SETTLED for i in (p.lo, p.hi)]
    gone: list[Removed] = removed(spec)
    first += [i for part in gone for i in (part.lo, part.hi)]
    turns = [i for p in found if p.rule is Rule.SCANNED for i in (p.lo, p.hi)]
    others = [p.lo for p in found if p.rule is Rule.SEARCHED]
    chosen: list[int] = []
    for group in (first, turns, others):
        group = sorted(set(group) - set(chosen))
        chosen += draw.sample(group, min(len(group), MOST_EDGES // 3))
    return sorted(chosen)


def around(spec: SearchSpec, edge: int) -> tuple[int, int]:
    """A slice that is in the region."""
    ((lo, hi),) = spec.region.ranges
    return max(lo, edge - REACH), min(hi, edge + REACH)


def reference(spec: SearchSpec, lo: int, hi: int) -> Reference:
    found = values(spec.function_name, spec.inp, range(lo, hi))
    near = ((i, nearest(y, spec.out, spec.rounding)) for i, y in found)
    return {i: point for i, point in near if point is not None}


def inside(piece: Piece, lo: int, hi: int) -> Iterator[Piece]:
    """The part of a piece in a slice."""
    lo, hi = max(lo, piece.lo), min(hi, piece.hi)
    if lo < hi:
        yield Piece(lo, hi, piece.rule, piece.key, piece.settlement)


@pytest.mark.parametrize(("bits", "rounding"), [(15, "all"), (24, "nearest"), (9, "directed")])
@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_around_the_ends_of_pieces(name: str, bits: int, rounding: str) -> None:
    spec = whole(name, bits, rounding)
    found = pieces(name, bits, rounding)
    chosen = edges(spec, found)
    assert len(chosen) >= 8
    for edge in chosen:
        lo, hi = around(spec, edge)
        expected = reference(spec, lo, hi)
        for piece in found:
            for part in inside(piece, lo, hi):
                if part.rule is Rule.SETTLED:
                    cases = {i for i in range(part.lo, part.hi) if i in expected}
                    cases = {i for i in cases if is_case(expected[i], bits)}
                    assert set(settled_cases(spec, part, expected)) == cases
        slice_ = SearchSpec(name, spec.inp, spec.out, bits, rounding, open_region(lo, hi))
        if any(function_by_name(name).contains(BINARY32.value(i)) for i in range(lo, hi)):
            check_result(search(slice_, threads=1, tuning=Tuning(scan=16)), expected)


def open_region(lo: int, hi: int) -> Region:
    """So that what is outside of the domain is left out, and no error."""
    return Region("", ((lo, hi),), is_open=True)


@pytest.mark.parametrize("name", ["sinpi", "cospi", "tanpi"])
@pytest.mark.parametrize("exponent", [11, 15, 21, 22, 23, 40])
def test_images_by_the_period(name: str, exponent: int) -> None:
    """From 2^11 on the cases are where the theorem says; half-integers end at 2^23, all at 2^24."""
    for sign in (1, -1):
        at = BINARY32.ordinal(sign * scale(1, exponent))
        for middle in (at, at + sign * 12345):
            spec = SearchSpec(
                name, BINARY32, BINARY32, 5, "all", open_region(middle - 200, middle + 200)
            )
            check_result(search(spec, threads=1), reference(spec, middle - 200, middle + 200))


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "sinpi", "tanpi", "lgamma", *SPECIAL])
def test_far_from_0(name: str) -> None:
    """Next to the bounds of what is searched, and there at zeros, turns and poles."""
    for x in (2047, 1023, 100):
        for sign in (1, -1) if function_by_name(name).contains(mpq(-1, 2)) else (1,):
            middle = BINARY32.ordinal(sign * mpq(x))
            lo, hi = middle - 300, middle + 300
            spec = SearchSpec(name, BINARY32, BINARY32, 11, "all", open_region(lo, hi))
            check_result(search(spec, threads=1), reference(spec, lo, hi))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    ("format_name", "name", "x"),
    [
        ("binary16", "tanh", mpq(60000)),
        ("binary64", "exp2m1", -scale(1, 21)),
        ("binary64", "expm1", -scale(1, 20)),
        ("binary64", "exp", scale(1, -1070)),
        ("binary64", "erf", mpq(1000)),
        ("binary64", "erfc", mpq(-1000)),
        ("x87", "tanh", scale(1, 16300)),
        ("x87", "exp10m1", -scale(1, 16300)),
        ("x87", "cosh", scale(1, -16000)),
    ],
)
def test_few_arguments_whose_results_are_too_near_a_breakpoint_for_rows(
    format_name: str, name: str, x: mpq, rounding: str
) -> None:
    """Ranges that would be scanned if they could: Ziv's loop ends before it tells them apart."""
    inp = FORMATS[format_name]
    middle = inp.ordinal(x)
    for lo, hi in ((middle, middle + 1), (middle - 3, middle + 4)):
        spec = SearchSpec(name, inp, inp, 10, rounding, open_region(lo, hi))
        check_result(search(spec, threads=1), reference(spec, lo, hi))


def test_next_to_a_pole_short_runs_are_scanned() -> None:
    """Where cubics of 64 arguments say nothing; nearer to it arguments are evaluated."""
    double, end = FORMATS["binary64"], mpq(1, 2)
    region = interval(double, end - scale(1, -38), end, "")
    spec = SearchSpec("tanpi", double, double, 12, "all", region)
    runs, evaluated, longest = set(), 0, 0
    for piece in split(spec):
        for block in plan(spec, piece, Tuning()) if piece.rule is Rule.SEARCHED else ():
            if block.block is None:
                evaluated, longest = evaluated + block.count, max(longest, block.count)
            elif block.method == "scan":
                runs.add(block.block.run_log2)
    assert {2, 3} <= runs
    assert 1 << 10 < evaluated < 1 << 15 and longest > 1 << 8
    expected = refine_chunk(spec, (n for lo, hi in region.ranges for n in range(lo, hi)))
    assert search(spec).rows == expected.rows
    assert len(expected.rows) > 100
