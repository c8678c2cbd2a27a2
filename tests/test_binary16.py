"""Whole domains of small formats against an evaluation of every argument.

Here every rule of a search meets every kind of argument: subnormals, overflow, the tails, zeros
and extrema of f, exact cases. The reference is tests/brute/reference.py.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute.reference import FUNCTIONS
from brute.whole import check, settled_kinds
from gmpy2 import mpq

from hrcase import flat
from hrcase.formats import FORMATS, Format, scale
from hrcase.lattice import ROUNDINGS
from hrcase.memory import search
from hrcase.plan import Tuning
from hrcase.spec import Region, SearchSpec, everything, interval

BINARY16, BFLOAT16, BINARY32 = FORMATS["binary16"], FORMATS["bfloat16"], FORMATS["binary32"]
WIDE, NARROW = Format("wide", 11, -9, 8), Format("narrow", 8, -6, 5)
FLUSHED = Format("flushed", 10, -9, 9, subnormals=False)
FINE = Format("fine", 20, -9, 4)
CAPPED = Format("capped", 7, -6, 0)
"""All its numbers are below 2."""


@pytest.fixture(autouse=True)
def long_flat_ranges_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that formats as small as these have settled ranges of every kind."""
    monkeypatch.setattr(flat, "MOST_ROWS", 50)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_binary16(name: str, rounding: str) -> None:
    spec = SearchSpec(name, BINARY16, BINARY16, 7, rounding, everything(BINARY16))
    for bits, method in {
        "all": ((3, "regular"), (7, "lefevre")),
        "nearest": ((6, "lefevre"), (11, "regular")),
        "directed": ((7, "regular"), (11, "lefevre")),
    }[rounding]:
        check(replace(spec, bits=bits), method)


@pytest.mark.parametrize("name", ["exp", "sin"])
def test_binary16_row_by_row(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    check(SearchSpec(name, BINARY16, BINARY16, 7, "all", everything(BINARY16)), "regular")


@pytest.mark.parametrize(
    ("name", "bits", "rounding"),
    [
        ("exp", 6, "all"),
        ("exp", 6, "nearest"),
        ("log", 3, "directed"),
        ("sin", 6, "all"),
        ("exp2", 4, "directed"),
    ],
)
def test_bfloat16(name: str, bits: int, rounding: str) -> None:
    """exp and exp2 go down to 2^(-10^38) here, far below what MPFR has."""
    check(SearchSpec(name, BFLOAT16, BFLOAT16, bits, rounding, everything(BFLOAT16)), "regular")


@pytest.mark.parametrize("rounding", ["nearest", "directed"])
def test_what_vanishes_is_never_evaluated(rounding: str) -> None:
    """Few arguments, which would be scanned, were their distance from 0 not beyond all numbers."""
    region = interval(BFLOAT16, mpq(-(2**127)), mpq(-(2**126)), "tail")
    spec = SearchSpec("exp", BFLOAT16, BFLOAT16, 6, rounding, region)
    result = search(spec, threads=1)
    assert settled_kinds(result) == {"a" if rounding == "nearest" else "b": 128}
    assert not result.cases and not result.exact


@pytest.mark.parametrize("name", FUNCTIONS)
def test_binary16_to_binary32(name: str) -> None:
    for bits, method in ((9, "regular"), (15, "lefevre")):
        check(SearchSpec(name, BINARY16, BINARY32, bits, "all", everything(BINARY16)), method)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("inp", "out"), [(WIDE, NARROW), (NARROW, WIDE), (FLUSHED, FLUSHED)])
def test_two_formats(name: str, inp: Format, out: Format, rounding: str) -> None:
    """Precision and range differ either way; and a format without subnormals."""
    for bits, method in {
        "all": ((5, "regular"), (9, "lefevre")),
        "nearest": ((4, "lefevre"), (9, "regular")),
        "directed": ((3, "regular"), (7, "lefevre")),
    }[rounding]:
        if rounding == "nearest" and not out.subnormals:
            bits = max(bits, out.precision)  # fewer are refused: hrcase/spec.py
        check(SearchSpec(name, inp, out, bits, rounding, everything(inp)), method)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("scan", [1, 4096])
def test_nothing_depends_on_the_scans(name: str, rounding: str, scan: int) -> None:
    """Pieces of two arguments, as between extrema of sin; and nothing but scans."""
    tuning = Tuning(domain_log2=6, scan=scan)
    for inp, out in ((NARROW, NARROW), (FLUSHED, CAPPED)):
        check(SearchSpec(name, inp, out, 3, rounding, everything(inp)), "regular", tuning)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("name", "end"), [("exp", mpq(6931471806, 10**10)), ("exp2", mpq(1))])
def test_flat_next_to_the_overflow(name: str, end: mpq, rounding: str) -> None:
    """Thousands of values next below 2, which is no number of the output format."""
    region = interval(FINE, end - scale(1, -6), end, "just below")
    check(SearchSpec(name, FINE, CAPPED, 3, rounding, region), "regular")


@pytest.mark.parametrize("side", [-1, 1])
def test_a_distance_of_exactly_the_threshold_is_no_case(side: int) -> None:
    """cbrt(x) = 5/4 +- 1/64, exactly, where an ulp is 1/8, within flat ranges of one kind each."""
    long, short = Format("long", 40, -20, 20), Format("short", 4, -6, 6)
    edge = long.ordinal((mpq(5, 4) + mpq(side, 64)) ** 3)
    region = Region("around", ((edge - 500, edge + 500),))
    result = check(SearchSpec("cbrt", long, short, 3, "all", region), "regular")
    cases = 500 if side > 0 else 499
    assert settled_kinds(result) == {"a": 1000 - cases, "b": cases}


SLICES = {
    "exp": (mpq(3), mpq(3) + scale(1, -7)),
    "exp2": (mpq(5), mpq(5) + scale(1, -7)),
    "log": (1 - scale(1, -9), 1 + scale(1, -9)),
    "sin": (scale(1, -13), scale(129, -20)),
    "cbrt": (mpq(8) - scale(1, -7), mpq(8) + scale(1, -8)),
}


@pytest.mark.parametrize("rounding", ["all", "nearest"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slices_of_binary32_to_binary16(name: str, rounding: str) -> None:
    region = interval(BINARY32, *SLICES[name], "slice")
    for bits, method in ((6, "lefevre"), (11, "regular")):
        check(SearchSpec(name, BINARY32, BINARY16, bits, rounding, region), method)


def test_a_range_that_begins_or_ends_at_a_zero_of_f() -> None:
    for ends in ((mpq(1), 1 + scale(1, -12)), (1 - scale(1, -13), 1 + scale(1, -23))):
        region = interval(BINARY32, *ends, "slice")
        check(SearchSpec("log", BINARY32, BINARY16, 6, "all", region), "regular")


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_where_sin_is_nearly_x_its_cases_are_the_breakpoints(rounding: str) -> None:
    """x - sin x < 2^-18 ulp, and the arguments lie 2^-13 ulp apart."""
    region = interval(BINARY32, *SLICES["sin"], "slice")
    result = check(SearchSpec("sin", BINARY32, BINARY16, 18, rounding, region), "regular")
    assert settled_kinds(result)["c"] >= 1 << 15
