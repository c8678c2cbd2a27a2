"""What ranges hold: against all numbers of toy formats, one by one."""

from __future__ import annotations

import random
from math import inf

import pytest
from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format, scale
from hrcase.memory import search
from hrcase.spec import (
    Region,
    SearchSpec,
    default_bits,
    everything,
    exponent_range,
    interval,
    one_sign,
)

TOYS = [Format("toy", 4, -3, 3), Format("flushed", 4, -3, 3, subnormals=False)]


def held(region: Region) -> list[int]:
    """Its ordinals, which must ascend."""
    found = [i for lo, hi in region.ranges for i in range(lo, hi)]
    assert found == sorted(set(found))
    return found


def numbers(inp: Format) -> list[tuple[int, mpq]]:
    """Every (ordinal, number)."""
    return [(i, inp.value(i)) for i in range(-inp.max_ordinal, inp.max_ordinal + 1)]


@pytest.mark.parametrize("inp", TOYS)
def test_intervals_hold_what_lies_between_their_bounds(inp: Format) -> None:
    draw = random.Random(1)
    bounds = [-inf, inf, mpq(0), mpq(-(10**9)), mpq(10**9), inp.max_value, -inp.max_value]
    bounds += [mpq(draw.randint(-2000, 2000), draw.choice((1, 7, 64, 1000))) for _ in range(40)]
    for lo in bounds:
        for hi in bounds:
            expected = [i for i, x in numbers(inp) if lo <= x < hi]
            if expected:
                assert held(interval(inp, lo, hi, "x")) == expected
            else:
                with pytest.raises(InputError):
                    interval(inp, lo, hi, "x")


@pytest.mark.parametrize("inp", TOYS)
def test_exponent_ranges_hold_whole_binades(inp: Format) -> None:
    least = -6 if inp.subnormals else -3
    for first in range(least, 4):
        for last in range(first, 4):
            inside = [i for i, x in numbers(inp) if scale(1, first) <= abs(x) < scale(1, last + 1)]
            assert held(exponent_range(inp, first, last, "both")) == inside
            assert held(exponent_range(inp, first, last, "positive")) == [
                i for i in inside if i > 0
            ]
            assert held(exponent_range(inp, first, last, "negative")) == [
                i for i in inside if i < 0
            ]
    for first, last in ((least - 1, 0), (0, 4), (1, 0)):
        with pytest.raises(InputError):
            exponent_range(inp, first, last, "both")


@pytest.mark.parametrize("inp", TOYS)
def test_signs_leave_zero_to_both(inp: Format) -> None:
    assert held(one_sign(inp, "both")) == held(everything(inp)) == [i for i, _ in numbers(inp)]
    assert held(one_sign(inp, "positive")) == [i for i, x in numbers(inp) if x > 0]
    assert held(one_sign(inp, "negative")) == [i for i, x in numbers(inp) if x < 0]


def test_default_bits() -> None:
    found = {name: default_bits(out) for name, out in FORMATS.items()}
    assert found == {"binary16": 6, "bfloat16": 6, "binary32": 15, "binary64": 44, "x87": 55}


def test_a_domain_wider_than_the_format_takes_every_number() -> None:
    """sin is searched for |x| < 2^11, which is far beyond the largest number here."""
    toy = TOYS[0]
    result = search(SearchSpec("sin", toy, toy, 6, "all", everything(toy)), threads=1)
    assert result.removed == []
    assert sum(result.statistics.arguments.values()) == 2 * toy.max_ordinal + 1
