"""Pieces and blocks tile what is asked, and each piece is what it says: random searches.

Where a value lies is evaluated anew by MPFR (tests/brute/reference.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

import pytest
from brute.reference import EVERY_FUNCTION, FUNCTIONS, Value, evaluate
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from hrcase.domain import removed, split
from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format, floor_log2, scale
from hrcase.functions import function_by_name
from hrcase.lattice import ROUNDINGS
from hrcase.pieces import Piece, Removed, Rule
from hrcase.plan import Tuning, plan
from hrcase.spec import LEAST_BITS, Region, SearchSpec, interval

MULTIPLIER = int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
ALL_FORMATS = [*FORMATS.values(), Format("toy", 13, -20, 12, subnormals=False)]
MOST_BLOCKS = 12


@st.composite
def ordinals(draw: st.DrawFn, f: Format) -> int:
    """Any number; or one near 0, an end, a power of two, a multiple of a small number."""
    anything = st.integers(-f.max_ordinal, f.max_ordinal + 1)
    corner = st.sampled_from(
        (0, f.max_ordinal, f.ordinal(scale(1, 0)), f.ordinal(scale(1, f.emin)))
    )
    power = st.integers(f.emin, f.emax).map(lambda e: f.ordinal(scale(1, e)))
    usual = st.fractions(0, 40, max_denominator=64).map(lambda x: f.ceil_ordinal(scale(1, 0) * x))
    special = draw(st.one_of(corner, power, usual)) * draw(st.sampled_from((-1, 1)))
    near = special + draw(st.integers(-3, 3))
    return draw(st.one_of(anything, st.just(max(-f.max_ordinal, min(f.max_ordinal + 1, near)))))


@st.composite
def specs(draw: st.DrawFn, name: str) -> SearchSpec:
    """Any search of a function; over at most a binade or two where there are many pieces."""
    inp, out = draw(st.sampled_from(ALL_FORMATS)), draw(st.sampled_from(ALL_FORMATS))
    lo, hi = sorted(draw(st.tuples(ordinals(inp), ordinals(inp))))
    most = hi - lo
    if name in MANY_PIECES:
        most = 2 << inp.precision if abs(inp.parts(lo)[0]) < 8 else 1000
    if FORMATS["x87"] in (inp, out):
        most = min(most, 1 << inp.precision - 5)
    length = draw(st.one_of(st.just(most), st.integers(1, 1000), st.integers(1, most + 1)))
    hi = min(inp.max_ordinal + 1, lo + max(1, length))
    rounding = draw(st.sampled_from(ROUNDINGS))
    flushed_midpoints = rounding == "nearest" and not out.subnormals
    least = out.precision if flushed_midpoints else LEAST_BITS
    bits = draw(st.integers(least, min(60, 4 * out.precision)))
    region = Region("", ((min(lo, hi - 1), hi),), is_open=True)
    return SearchSpec(name, inp, out, bits, rounding, region)


def contains(spec: SearchSpec, ordinal: int) -> bool:
    """Whether the function is searched at an argument."""
    x, name = spec.inp.value(ordinal), spec.function_name
    if name in ("tgamma", "lgamma", "digamma") and x <= 0 and x.denominator == 1:
        return False
    if name in ("pown:-1", "pown:-2", "rootn:-3"):
        return bool(x != 0)
    if name == "tanpi" and x.denominator == 2:
        return False
    return bool(DOMAINS.get(name, lambda x: True)(x))


def is_sure(spec: SearchSpec, part: Piece | Removed) -> bool:
    """Whether poles are removed one by one, and not named by the theorem of a tail."""
    if isinstance(part, Removed):
        return True
    is_tail = spec.function_name in ("tgamma", "tanpi") and part.settlement is not None
    return not is_tail


DOMAINS: dict[str, Callable[[mpq], bool]] = {
    **dict.fromkeys(("log", "log2", "log10", "rsqrt"), lambda x: x > 0),
    **dict.fromkeys(("log1p", "log2p1", "log10p1"), lambda x: x > -1),
    **dict.fromkeys(("sin", "cos", "tan"), lambda x: abs(x) < 2**11),
    **dict.fromkeys(("asin", "acos", "asinpi", "acospi"), lambda x: abs(x) <= 1),
    "sqrt": lambda x: x >= 0,
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
    **dict.fromkeys(("lgamma", "digamma"), lambda x: x > -(2**11)),
    **dict.fromkeys(("j0", "j1"), lambda x: abs(x) < 2**11),
    **dict.fromkeys(("y0", "y1"), lambda x: 0 < x < 2**11),
    **dict.fromkeys(("rootn:2", "rootn:4"), lambda x: x >= 0),
    **dict.fromkeys(("compound:2", "compound:12"), lambda x: x >= -1),
    "compound:-1": lambda x: x > -1,
}
MANY_PIECES = (
    *("sin", "cos", "tan", "sinpi", "cospi", "tanpi"),
    *("tgamma", "lgamma", "digamma", "j0", "j1", "y0", "y1"),
)


def check_tiling(spec: SearchSpec, parts: Sequence[Piece | Removed]) -> None:
    """The parts are the region, without gap or overlap; the removed ones are outside."""
    ((lo, hi),) = spec.region.ranges
    ends = sorted((part.lo, part.hi) for part in parts)
    assert ends[0][0] == lo and ends[-1][1] == hi
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    for part in parts:
        assert part.lo < part.hi
        for ordinal in (part.lo, part.hi - 1) if is_sure(spec, part) else ():
            assert contains(spec, ordinal) == isinstance(part, Piece)


def output_binade(value: mpq, out: Format) -> tuple[int, int]:
    """Sign and exponent of a value; (0, emin - 1) for all below 2^emin."""
    exponent = floor_log2(abs(value)) if value else out.emin - 1
    if exponent < out.emin:
        return 0, out.emin - 1
    return (1 if value > 0 else -1), exponent


def exact_bounds(value: Value) -> tuple[mpq, mpq]:
    """The value, with the error that it may have."""
    ends = sorted(value.sign * (value.magnitude + error) for error in (-1, 1))
    low, high = (scale(end, value.exponent) for end in ends)
    return low, high


def check_searched(spec: SearchSpec, piece: Piece, inside: list[int]) -> None:
    """One sign, one ulp of x, one output binade, the one that its key names; f is monotone."""
    arguments = sorted({piece.lo, piece.hi - 1, *(piece.lo + i % piece.count for i in inside)})
    parts = [spec.inp.parts(i) for i in arguments]
    assert len({(m > 0, e) for m, e in parts}) == 1
    values = [evaluate(spec.function_name, m, e) for m, e in parts]
    sign = (piece.key > 0) - (piece.key < 0)
    bounds = [exact_bounds(y) for y in values if y is not None]
    assert len(bounds) == len(values)
    rises = all(a[0] < b[1] for a, b in pairwise(bounds))
    falls = all(a[1] > b[0] for a, b in pairwise(bounds))
    assert rises or falls, "an extremum inside"
    for ends in bounds:  # exp2m1(401), just below 2^401, may have it among them
        binades = {output_binade(end, spec.out) for end in ends}
        assert (sign, spec.out.emin - 1 + abs(piece.key)) in binades


def check_blocks(spec: SearchSpec, piece: Piece, tuning: Tuning) -> None:
    """The first blocks of a piece, and their slices, follow each other; no block leaves it."""
    at = piece.lo
    blocks = list(islice(plan(spec, piece, tuning), MOST_BLOCKS))
    for block in blocks:
        assert block.first == at
        for part in block.slices(block.work / 3):
            assert part.first == at and part.count > 0
            if part.block is not None:
                assert part.block.hi - part.block.lo == part.count
                assert part.ordinal(part.block.lo) == at
            at += part.count
        assert at == block.first + block.count <= piece.hi
    assert at == piece.hi or len(blocks) == MOST_BLOCKS


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=100 * MULTIPLIER)
@given(data=st.data())
def test_pieces_and_blocks_tile_the_region(name: str, data: st.DataObject) -> None:
    check_search(name, data)


@pytest.mark.parametrize("name", [name for name in EVERY_FUNCTION if name not in FUNCTIONS])
@settings(max_examples=10 * MULTIPLIER)
@given(data=st.data())
def test_those_of_the_other_functions_do(name: str, data: st.DataObject) -> None:
    check_search(name, data)


def test_a_result_just_below_a_power_of_two_lies_below_it() -> None:
    """exp2m1(401) = 2^401 - 1: the reference takes it for 2^401, and still sees a wrong key."""
    double = FORMATS["binary64"]
    region = interval(double, mpq(801, 2), mpq(803, 2), "")
    spec = SearchSpec("exp2m1", double, double, 44, "all", region)
    for piece in split(spec):
        check_searched(spec, piece, [1])
        for key in (piece.key - 1, piece.key + 1):
            with pytest.raises(AssertionError):
                check_searched(spec, replace(piece, key=key), [1])


def check_search(name: str, data: st.DataObject) -> None:
    """Draw a search, split it, plan the first and the last pieces."""
    spec = data.draw(specs(name))
    scan = data.draw(st.sampled_from((1, 16, 256)))
    ((lo, hi),) = spec.region.ranges
    try:
        outside = removed(spec)
    except InputError:  # nothing is left
        assert not any(contains(spec, ordinal) for ordinal in (lo, hi - 1))
        return
    pieces = list(split(spec, scan))
    check_tiling(spec, [*outside, *pieces])
    inside = data.draw(st.lists(st.integers(0, 1 << 64), max_size=4))
    searched = [piece for piece in pieces if piece.rule is Rule.SEARCHED]
    for piece in searched:
        check_searched(spec, piece, inside)
    for piece in searched[:2] + searched[-2:]:
        check_blocks(spec, piece, Tuning(domain_log2=data.draw(st.sampled_from((None, 7)))))


def test_zero_is_scanned_and_outside_of_every_searched_piece() -> None:
    for name in ("exp", "exp2", "sin", "cbrt"):
        f = FORMATS["binary32"]
        spec = SearchSpec(name, f, f, 15, "all", Region("", ((-1000, 1000),)))
        assert function_by_name(name).contains(f.value(0))
        (zero,) = [piece for piece in split(spec, 1) if piece.lo <= 0 < piece.hi]
        assert zero.rule is Rule.SCANNED


def test_a_flat_range_that_begins_or_ends_with_an_exact_case() -> None:
    """exp2(-1) is a number, and the 2^23 arguments after it, or before it, are near it."""
    binary64, binary32 = FORMATS["binary64"], FORMATS["binary32"]
    minus_one = binary64.ordinal(scale(-1, 0))
    for region in ((minus_one, minus_one + (1 << 23)), (minus_one - (1 << 23), minus_one + 1)):
        spec = SearchSpec("exp2", binary64, binary32, 3, "directed", Region("", (region,)))
        pieces = list(split(spec))
        check_tiling(spec, pieces)
        assert [p.rule for p in pieces if p.lo <= minus_one < p.hi] == [Rule.SCANNED]
        kinds = {p.settlement.kind for p in pieces if p.settlement is not None}
        assert kinds == {"b"}
