"""Exact results in closed form: those that evaluating every argument gives, no more, no fewer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpq
from numpy.typing import NDArray

from hrcase.cases import HRCase
from hrcase.engine import Block, Counts
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import SelfTestFailed
from hrcase.exact_powers import exact_in, exact_powers
from hrcase.formats import FORMATS, Format, binade_end, scale
from hrcase.functions import REGISTRY
from hrcase.lattice import key_of, overflow_key
from hrcase.memory import search
from hrcase.pieces import Piece, Rule
from hrcase.spec import Region, SearchSpec, everything, exponent_range
from hrcase.ziv import Rejection, nearest_breakpoint, refine

BINARY32 = FORMATS["binary32"]
NAMES = ("sqrt", "cbrt", "rootn:5", "rootn:7", "pown:2", "pown:3", "pown:6")
ROUNDINGS = ("all", "nearest", "directed")
INPUT = Format("input", 8, -5, 8)
OUTPUTS = (
    INPUT,
    Format("coarse", 2, 1, 3),
    Format("short", 5, -5, 20),
    Format("long", 24, -60, 60),
    Format("normal", 8, -4, 9, subnormals=False),
)


def is_exact(spec: SearchSpec, ordinal: int) -> bool:
    """By the definition: f(x), which is rational or irrational, is the nearest breakpoint."""
    y = spec.function.exact(spec.inp.value(ordinal))
    near = None if y is None else nearest_breakpoint(spec.out, spec.rounding, (y, y))
    return near is not None and near.high == 0


def binades(spec: SearchSpec) -> list[Piece]:
    """All arguments but 0, in parts with one binade of x and at most one of f(x)'s breakpoints."""
    inp = spec.inp
    found: list[Piece] = []
    lo = -inp.max_ordinal if spec.function.contains(mpq(-1)) else 1
    while lo <= inp.max_ordinal:
        if lo == 0:
            lo = 1
        end = min(binade_end(inp, lo), inp.max_ordinal + 1)
        for i in range(lo, end):
            y = _about(spec, i)
            key = key_of(spec.out, y)
            if abs(key) == overflow_key(spec.out):
                continue
            if found and found[-1].hi == i > lo and found[-1].key == key:
                found[-1] = replace(found[-1], hi=i + 1)
            else:
                found.append(Piece(i, i + 1, Rule.SEARCHED, key))
        lo = end
    return found


def _about(spec: SearchSpec, ordinal: int) -> mpq:
    """f(x), or a number of the same binade: an integer root rounded down, in fine steps."""
    x = spec.inp.value(ordinal)
    assert spec.function.exponent is not None
    a, b = spec.function.exponent
    fine = 400 * b
    magnitude = mpq(gmpy2.iroot(int(scale(abs(x), fine)), b)[0], 1 << 400) ** a
    return -magnitude if x < 0 and (a * b) % 2 else magnitude


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_closed_form_gives_what_evaluating_every_argument_does(
    name: str, rounding: str
) -> None:
    met = 0
    for out in OUTPUTS:
        spec = SearchSpec(name, INPUT, out, max(3, out.precision), rounding, everything(INPUT))
        for piece in binades(spec):
            exact = exact_in(spec, piece)
            assert exact is not None
            expected = [i for i in range(piece.lo, piece.hi) if is_exact(spec, i)]
            assert (list(exact), len(exact)) == (expected, len(expected)), (out.name, piece)
            assert (exact.offsets() + piece.lo).tolist() == expected
            met += len(expected)
    assert met > 0


LOWEST = 1 << 23


@cache
def squares(k: int) -> tuple[int, int]:
    """Of the y = n 2^k, LOWEST <= n < 2 LOWEST: how many y^2 are in binary32, or breakpoints of it.

    By brute force: y^2 is exact in double precision.
    """
    numbers = breakpoints = 0
    for first in range(LOWEST, 2 * LOWEST, 1 << 18):
        z = np.ldexp(np.arange(first, first + (1 << 18), dtype=np.float64), k) ** 2
        with np.errstate(over="ignore", under="ignore"):
            numbers += int(np.count_nonzero(z.astype(np.float32) == z))
        if z[0] >= 2.0**-126:  # 25 bits or fewer
            breakpoints += int(np.count_nonzero(z.view(np.int64) & ((1 << 28) - 1) == 0))
        else:
            in_halves = z * 2.0**150
            breakpoints += int(np.count_nonzero(in_halves == np.rint(in_halves)))
    return numbers, breakpoints


@pytest.mark.parametrize(("name", "place", "signs"), [("sqrt", 0, 1), ("pown:2", 1, 2)])
def test_all_of_binary32_is_counted_as_by_brute_force(name: str, place: int, signs: int) -> None:
    """0, squares below 2^-126, where numbers get fewer, and 127 pairs of binades that are alike.

    The first and the last of these are counted, and one in the middle.
    """
    spec = SearchSpec(name, BINARY32, BINARY32, 44, "all", everything(BINARY32))
    result = search(spec, threads=1)
    low = sum(squares(k)[place] for k in range(-75 - 23, -63 - 23))
    (alike,) = {squares(k - 23)[place] for k in (-63, 0, 63)}
    assert alike >= 1 << 11
    assert len(result.exact) == 1 + signs * (low + 127 * alike)
    assert result.statistics.exact == result.claim.exact_count == len(result.exact)
    assert not result.cases


@pytest.mark.parametrize("sign", [1, -1])
def test_significands_of_64_bits(sign: int) -> None:
    """cbrt and pown:3 of the x87 format; where ordinals have 80 bits."""
    x87 = FORMATS["x87"]
    root = mpq((1 << 21) + (1 << 19), 1 << 21)
    for name, place in (("cbrt", root**3), ("pown:3", root)):
        middle = x87.ordinal(sign * place)
        lo, hi = middle - (1 << 45), middle + (1 << 45)
        spec = SearchSpec(name, x87, x87, 64, "all", Region("", ((lo, hi),)))
        exact = exact_powers(spec, lo, hi, spec.lattice(key_of(x87, sign * place)).spacing_exponent)
        assert exact is not None
        ordinals = list(exact)
        assert middle in ordinals and ordinals == sorted(ordinals)
        assert len(ordinals) > 2 and all(is_exact(spec, i) for i in ordinals)
        near = [root + n * scale(1, -21) for n in range(-64, 64)]
        wanted = [sign * x87.ordinal(y**3 if name == "cbrt" else y) for y in near]
        assert len(ordinals) == sum(lo <= i < hi for i in wanted)


class Forgetful(CpuEngine):
    """An engine that loses the last candidate of each block."""

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        found, counts = super().run(block, method)
        return found[:-1], counts


SQUARES = SearchSpec(
    "sqrt", BINARY32, BINARY32, 44, "all", exponent_range(BINARY32, 0, 1, "positive")
)


def test_a_lost_exact_result_is_seen() -> None:
    """With M = 44 next to all candidates of binary32 are exact."""
    with pytest.raises(SelfTestFailed, match=r"lacks \d+ of \d+ exact results, 0x1\S+ for one"):
        search(SQUARES, threads=1, engine=Forgetful(1))


@pytest.mark.parametrize(
    ("exponent", "words"), [((1, 4), "closed form .* lacks"), ((1, 1), "lacks .* exact results")]
)
def test_a_wrong_closed_form_is_seen(
    monkeypatch: pytest.MonkeyPatch, exponent: tuple[int, int], words: str
) -> None:
    monkeypatch.setitem(REGISTRY, "sqrt", replace(REGISTRY["sqrt"], exponent=exponent))
    with pytest.raises(SelfTestFailed, match=words):
        search(SQUARES, threads=1)


def test_exact_results_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """sqrt on a part of binary64 with 2^16 of them."""
    binary64 = FORMATS["binary64"]
    region = Region("", ((binary64.ordinal(mpq(1)), binary64.ordinal(mpq(1) + scale(1, -9))),))
    evaluated: list[int] = []

    def note(spec: SearchSpec, ordinal: int) -> HRCase | Rejection:
        evaluated.append(ordinal)
        return refine(spec, ordinal)

    monkeypatch.setattr("hrcase.refine.refine", note)
    result = search(SearchSpec("sqrt", binary64, binary64, 44, "all", region), threads=1)
    assert len(result.exact) == sum(1 for _ in result.exact) > 65000
    assert len(evaluated) == len(result.cases) + result.statistics.rejected < 100
