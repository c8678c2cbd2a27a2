"""Whole binades of toy formats, p = 20 and 24, of every function: nothing missed, nothing extra.

As tests/test_completeness.py does it for five functions in more binades. Candidates of every
method, then the cases of a whole search, against brute force; in the binades are zeros, poles,
extrema, ends of domains and powers of two crossed.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest
from brute.binades import binade, check_candidates, check_cases
from brute.distances import Brute, decide, margin
from brute.reference import EVERY_FUNCTION, FUNCTIONS

from hrcase.formats import Format
from hrcase.lattice import ROUNDINGS

MULTIPLIER = int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
"""2 or more: every rounding choice in every binade."""

TOY20, TOY24 = (Format(f"toy{p}", p, -30, 30) for p in (20, 24))
BINADES = {
    "expm1": ((0, "positive"), (-3, "negative")),
    "exp2m1": ((-1, "positive"), (1, "negative")),
    "exp10": ((-1, "positive"), (0, "negative")),
    "exp10m1": ((-2, "positive"), (-1, "negative")),
    "log1p": ((0, "positive"), (-1, "negative")),
    "log2": ((0, "positive"), (5, "positive")),
    "log2p1": ((0, "positive"), (-2, "negative")),
    "log10": ((1, "positive"), (-1, "positive")),
    "log10p1": ((0, "positive"), (-1, "negative")),
    "sqrt": ((0, "positive"), (1, "positive")),
    "rsqrt": ((0, "positive"), (1, "positive")),
    "cos": ((0, "positive"), (1, "negative"), (3, "positive")),
    "tan": ((-1, "positive"), (0, "positive"), (2, "negative")),
    "asin": ((-2, "positive"), (-1, "negative")),
    "acos": ((-1, "positive"), (-1, "negative")),
    "atan": ((0, "positive"), (-1, "negative")),
    "sinpi": ((-2, "positive"), (0, "positive"), (2, "negative")),
    "cospi": ((-2, "positive"), (0, "positive"), (2, "negative")),
    "tanpi": ((-3, "positive"), (-2, "positive"), (1, "negative")),
    "asinpi": ((-3, "positive"), (-1, "negative")),
    "acospi": ((-2, "positive"), (-1, "negative")),
    "atanpi": ((0, "positive"), (3, "negative")),
    "sinh": ((0, "positive"), (-2, "negative")),
    "cosh": ((0, "positive"), (1, "negative")),
    "tanh": ((0, "positive"), (-2, "negative")),
    "asinh": ((0, "positive"), (4, "negative")),
    "acosh": ((0, "positive"), (3, "positive")),
    "atanh": ((-2, "positive"), (-1, "negative")),
    "erf": ((0, "positive"), (-2, "negative")),
    "erfc": ((0, "positive"), (1, "positive"), (0, "negative")),
    "tgamma": ((1, "positive"), (0, "positive"), (1, "negative")),
    "lgamma": ((2, "positive"), (0, "positive"), (1, "negative")),
    "digamma": ((1, "positive"), (0, "positive"), (-2, "negative")),
    "j0": ((0, "positive"), (1, "negative")),
    "j1": ((-1, "negative"), (0, "positive"), (2, "positive")),
    "y0": ((-1, "positive"), (1, "positive")),
    "y1": ((0, "positive"), (1, "positive")),
    "pown:2": ((0, "positive"), (-3, "negative")),
    "pown:3": ((0, "negative"),),
    "pown:5": ((0, "positive"),),
    "pown:-1": ((0, "positive"),),
    "pown:-2": ((0, "negative"),),
    "rootn:2": ((0, "positive"),),
    "rootn:3": ((0, "negative"),),
    "rootn:4": ((1, "positive"),),
    "rootn:-3": ((0, "positive"),),
    "compound:2": ((-2, "positive"), (-1, "negative")),
    "compound:12": ((-2, "positive"),),
    "compound:-1": ((0, "positive"),),
}
"""Exponents and signs of x; the first of each function has no end, pole or turn of f inside."""

ONLY_20 = (
    *("j1", "y0", "pown:3", "pown:5", "pown:-1", "pown:-2"),
    *("rootn:2", "rootn:3", "rootn:4", "compound:2", "compound:-1"),
)
"""Kin of others that are tested with p = 24 too."""

CHOSEN_20 = [
    (name, *where, rounding)
    for i, (name, places) in enumerate(BINADES.items())
    for j, where in enumerate(places)
    for rounding in ROUNDINGS
    if MULTIPLIER > 1 or ROUNDINGS.index(rounding) == (i + j) % 3
]


@pytest.fixture(scope="session")
def brute(tmp_path_factory: pytest.TempPathFactory) -> Brute:
    return Brute(tmp_path_factory.mktemp("brute"))


def test_no_function_is_left_out() -> None:
    assert {*BINADES, *FUNCTIONS} == set(EVERY_FUNCTION)


@pytest.mark.parametrize("name", BINADES)
def test_the_margin_covers_the_c_library(brute: Brute, name: str) -> None:
    draw = random.Random(name)
    for exponent, sign in BINADES[name]:
        spec = binade(name, TOY24, exponent, sign)
        lo, hi = spec.region.ranges[0]
        for ordinal in [draw.randrange(lo, hi) for _ in range(60)]:
            for near in decide(spec, [ordinal]).values():
                exact = abs(near.offset) * 2.0 ** (near.exponent + 1)
                distance = brute.distances(spec, ordinal, ordinal + 1)[0]
                assert abs(distance - exact) < margin(spec) / 4


@pytest.mark.parametrize(("name", "exponent", "sign", "rounding"), CHOSEN_20)
def test_p_20(brute: Brute, name: str, exponent: int, sign: str, rounding: str) -> None:
    spec = replace(binade(name, TOY20, exponent, sign), rounding=rounding)
    check_candidates(brute, replace(spec, bits=7))
    tested = 0.9 if (exponent, sign) == BINADES[name][0] else 0.0
    assert check_cases(brute, replace(spec, bits=10), "farey", tested) > 300


@pytest.mark.parametrize("name", [name for name in BINADES if name not in ONLY_20])
def test_p_24(brute: Brute, name: str) -> None:
    spec = binade(name, TOY24, *BINADES[name][0])
    spec = replace(spec, rounding=ROUNDINGS[len(name) % 3], bits=14)
    assert check_cases(brute, spec, "farey") > 300
