"""The 64-bit significand of the x87: what fits neither a double nor a 64-bit ordinal."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from brute.compare import check_result
from brute.reference import nearest, values
from gmpy2 import mpq

from hrcase.cli import main
from hrcase.domain import split
from hrcase.engine.cpu import run
from hrcase.export.reader import read_list
from hrcase.formats import FORMATS, scale
from hrcase.hexfloat import parse_number, to_hex
from hrcase.memory import search
from hrcase.pieces import Rule
from hrcase.plan import PlannedBlock, Tuning, next_block
from hrcase.spec import Region, SearchSpec, exponent_range, interval

X87 = FORMATS["x87"]
Captured = pytest.CaptureFixture[str]


def longdouble(ordinal: int) -> Fraction:
    """The number of the machine with these bits; its leading bit is stored."""
    magnitude = abs(ordinal)
    exponent, fraction = magnitude >> 63, magnitude & ((1 << 63) - 1)
    stored = fraction | ((exponent > 0) << 63) | (exponent << 64) | ((ordinal < 0) << 79)
    bits = np.frombuffer(stored.to_bytes(16, "little"), dtype=np.longdouble)
    return Fraction(*bits[0].as_integer_ratio())


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant != 63,
    reason="compares with the bits of this machine's long double, which is not the x87's format",
)
def test_ordinals_are_bit_patterns_without_the_leading_bit() -> None:
    draw = random.Random(1)
    ends = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, X87.max_ordinal - 1, X87.max_ordinal]
    for ordinal in ends + [draw.randint(0, X87.max_ordinal) for _ in range(300)]:
        for signed in (ordinal, -ordinal):
            assert X87.value(signed) == longdouble(signed)
            assert X87.ordinal(mpq(longdouble(signed))) == signed
    largest = np.finfo(np.longdouble).max
    assert X87.max_value == Fraction(*largest.as_integer_ratio())


SLICES = {
    "exp2": "0x1.6a09e667f3bcc908p-1",
    "exp": "-0x1.2345678p+13",
    "log": "0x1.7a3c9f0d5b2e46p+3",
    "sin": "0x1.8e2d4b96a1c37f58p+10",
    "cbrt": "-0x0.0000000012345678p-16382",
}
"""Where consecutive arguments begin; cbrt among subnormals."""


@pytest.mark.parametrize("method", ["regular", "farey"])
@pytest.mark.parametrize("name", SLICES)
def test_slices_against_brute_force(name: str, method: str) -> None:
    lo = X87.ceil_ordinal(parse_number(SLICES[name]))
    region = Region("a slice", ((lo, lo + 4000),))
    for bits, rounding in ((5, "all"), (8, "nearest")):
        spec = SearchSpec(name, X87, X87, bits, rounding, region)
        found = values(name, X87, range(lo, lo + 4000))
        near = {i: nearest(y, X87, rounding) for i, y in found}
        reference = {i: point for i, point in near.items() if point is not None}
        result = search(spec, method, threads=1, tuning=Tuning(domain_log2=6, scan=16))
        assert check_result(result, reference) > 0


def test_both_formats_of_a_search() -> None:
    """Doubles into the x87 and back, against brute force."""
    double = FORMATS["binary64"]
    for inp, out in ((double, X87), (X87, double)):
        lo = inp.ceil_ordinal(mpq(3, 5))
        spec = SearchSpec("exp", inp, out, 8, "all", Region("", ((lo, lo + 4000),)))
        found = values("exp", inp, range(lo, lo + 4000))
        near = {i: nearest(y, out, "all") for i, y in found}
        reference = {i: point for i, point in near.items() if point is not None}
        result = search(spec, "farey", threads=1, tuning=Tuning(scan=16))
        assert check_result(result, reference) > 0


def blocks_of_half(bits: int) -> tuple[SearchSpec, list[PlannedBlock]]:
    """exp2 on [1/2, 1), 2^63 arguments; the first and the last block of each piece."""
    spec = SearchSpec("exp2", X87, X87, bits, "all", exponent_range(X87, -1, -1, "positive"))
    blocks = []
    for piece in split(spec):
        assert piece.rule is Rule.SEARCHED
        first = next_block(spec, piece, piece.lo, Tuning(method="farey"))
        last = next_block(spec, piece, piece.hi - first.count, Tuning(method="farey"))
        blocks += [first, last]
    return spec, blocks


def test_a_binade_takes_few_blocks_and_long_runs() -> None:
    _, blocks = blocks_of_half(55)
    for planned in blocks:
        assert planned.block is not None and planned.budget is not None
        assert planned.count >= 1 << 52
        assert planned.block.run_log2 >= 30
        assert planned.budget.run_window > 1000 * planned.budget.target


def test_far_from_the_centre_of_a_long_block() -> None:
    """u is 2^51 and more there, and every ordinal is beyond 2^63."""
    _, blocks = blocks_of_half(9)
    for planned in (blocks[0], blocks[-1]):
        block = planned.block
        assert block is not None and block.hi > 1 << 51
        for lo, hi in ((block.lo, block.lo + 3000), (block.hi - 3000, block.hi)):
            found, _ = run(replace(block, lo=lo, hi=hi), "farey")
            ordinals = range(planned.ordinal(lo), planned.ordinal(hi))
            cases = [
                ordinal
                for ordinal, y in values("exp2", X87, ordinals)
                if (point := nearest(y, X87, "all")) is not None and point.within(9)
            ]
            assert ordinals[0] > 1 << 63
            assert [planned.ordinal(int(u)) for u in found] == cases
            assert cases


def test_methods_agree_where_brute_force_cannot_go() -> None:
    """2^33 arguments; each of the two methods has its own runs."""
    region = interval(X87, mpq(1, 2), mpq(1, 2) + scale(1, -31), "a slice")
    spec = SearchSpec("exp2", X87, X87, 29, "all", region)
    regular, farey = (search(spec, method, threads=1) for method in ("regular", "farey"))
    assert regular.cases == farey.cases
    assert 10 < len(farey.cases) < 70  # 2^33 2^-28 are expected
    assert all(a.x < b.x for a, b in pairwise(farey.cases))


def test_lists_keep_all_bits(capsys: Captured, tmp_path: Path) -> None:
    low, high = "0x1.fffffffffffff000p-1", "0x1.fffffffffffffffep-1"
    arguments = ["search", "exp", "--format", "x87", f"--interval={low},{high}", "--bits", "8"]
    for name in ("list.csv", "list.wc"):
        path = tmp_path / name
        assert main.run([*arguments, "--device", "cpu", "--output", str(path)]) == 0
        listed = [entry.x for entry in read_list(path).entries]
        assert listed and all(parse_number(low) <= x < parse_number(high) for x in listed)
        assert any(X87.ordinal(x) % 2 for x in listed)
    assert main.run(["compare", str(tmp_path / "list.csv"), str(tmp_path / "list.wc")]) == 0
    capsys.readouterr()
    x = to_hex(listed[0])
    assert main.run(["check", "exp", x, "--format", "x87"]) == 0
    assert f"exp({x})" in capsys.readouterr().out


def test_a_double_is_not_enough() -> None:
    assert main.run(["check", "exp", "0x1.0000000000000001p+0"]) == 2
    assert main.run(["check", "exp", "0x1.0000000000000002p+0", "--format", "x87"]) == 0
