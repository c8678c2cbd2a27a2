"""The axis of breakpoints against all numbers and midpoints of toy formats, listed one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from gmpy2 import mpq

from hrcase.formats import FORMATS, Format
from hrcase.lattice import (
    ROUNDINGS,
    binade_key,
    key_of,
    largest_breakpoint,
    lattice,
    overflow_key,
)

TOYS = [Format("toy", 4, -3, 3), Format("flushed", 4, -3, 3, subnormals=False)]


def exact(value: Fraction) -> mpq:
    return mpq(value.numerator, value.denominator)


def numbers(out: Format) -> list[Fraction]:
    """Every number >= 0 of a format."""
    least = 0 if out.subnormals else 1 << (out.precision - 1)
    smallest_ulp = Fraction(2) ** (out.emin - out.precision + 1)
    found = {m * smallest_ulp for m in range(least, 1 << out.precision)} | {Fraction(0)}
    for e in range(out.emin, out.emax + 1):
        ulp = Fraction(2) ** (e - out.precision + 1)
        found |= {m * ulp for m in range(1 << (out.precision - 1), 1 << out.precision)}
    return sorted(found)


def breakpoints(out: Format, rounding: str) -> list[Fraction]:
    """Those >= 0 that count; midpoints end half an ulp above the largest number."""
    below_infinity = [*numbers(out), Fraction(2) ** (out.emax + 1)]
    midpoints = [(a + b) / 2 for a, b in pairwise(below_infinity)]
    counted = {"all": numbers(out) + midpoints, "nearest": midpoints, "directed": numbers(out)}
    return sorted(counted[rounding])


def binades(out: Format) -> list[tuple[int, Fraction, Fraction, Fraction]]:
    """(key, lower end, upper end, ulp) of each output binade >= 0, subnormals first."""
    first_ulp = Fraction(2) ** (out.emin - (out.precision - 1 if out.subnormals else 0))
    found = [(0, Fraction(0), Fraction(2) ** out.emin, first_ulp)]
    for key, e in enumerate(range(out.emin, out.emax + 1), start=1):
        low = Fraction(2) ** e
        found.append((key, low, 2 * low, low / 2 ** (out.precision - 1)))
    return found


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("out", TOYS)
def test_breakpoints_are_the_integers(out: Format, rounding: str) -> None:
    for key, low, high, ulp in binades(out):
        inside = [exact(b) for b in breakpoints(out, rounding) if low <= b <= high]
        for sign in (1, -1):
            axis = lattice(out, sign * key, rounding)
            positions = [axis.position(sign * b) for b in inside]
            assert all(position.denominator == 1 for position in positions)
            assert all(abs(b - a) == 1 for a, b in pairwise(positions))
            assert [axis.value(position) for position in positions] == [sign * b for b in inside]
            assert axis.window(5) * (axis.value(1) - axis.value(0)) == exact(ulp) / 32


@pytest.mark.parametrize("out", TOYS)
def test_keys_grow_with_the_value_and_change_where_the_ulp_does(out: Format) -> None:
    for key, low, high, _ in binades(out):
        inside = [low, (low + high) / 2, high - Fraction(1, 1 << 20)]
        for value in (exact(v) for v in inside):
            assert key_of(out, value) == key
            assert key_of(out, -value) == -key
    beyond = mpq(2) ** (out.emax + 1)
    for value in (beyond, 1000 * beyond):
        assert key_of(out, value) == overflow_key(out) == binades(out)[-1][0] + 1
        assert key_of(out, -value) == -overflow_key(out)
    assert binade_key(out, None, negative=True) == 0


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("out", TOYS)
def test_the_largest_breakpoint(out: Format, rounding: str) -> None:
    assert largest_breakpoint(out, rounding) == exact(breakpoints(out, rounding)[-1])


def test_the_largest_breakpoints_of_binary64() -> None:
    out = FORMATS["binary64"]
    overflow_midpoint = mpq(2) ** 1023 * (2 - mpq(1, 2**53))
    assert largest_breakpoint(out, "all") == largest_breakpoint(out, "nearest") == overflow_midpoint
    assert largest_breakpoint(out, "directed") == mpq(2) ** 1023 * (2 - mpq(1, 2**52))
