"""Every function over the whole of binary16, against an evaluation of every argument.

Each rounding choice, a low and a high threshold. The reference is tests/brute; the functions in
its FUNCTIONS have such a test in tests/test_binary16.py, and more of them.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from brute.composed import MEMBERS
from brute.reference import EVERY_FUNCTION, FUNCTIONS
from brute.whole import check
from gmpy2 import mpq

from hrcase import flat
from hrcase.formats import FORMATS
from hrcase.functions import REGISTRY
from hrcase.lattice import ROUNDINGS
from hrcase.spec import SearchSpec, everything, exponent_range, interval

BINARY16 = FORMATS["binary16"]
MULTIPLIER = int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))


PERIODIC = ("cos", "tan", "sinpi", "cospi", "tanpi")
LATER = ("digamma", "j0", "j1", "y0", "y1")
ONCE = (*LATER, *MEMBERS, *PERIODIC)
"""One search a rounding choice: most of these have thousands of pieces."""


@pytest.fixture(autouse=True)
def long_flat_ranges_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a format as small as this has settled ranges of every kind."""
    monkeypatch.setattr(flat, "MOST_ROWS", 50)


def test_the_reference_has_every_function() -> None:
    assert set(EVERY_FUNCTION) == {*REGISTRY, *MEMBERS}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", [n for n in REGISTRY if n not in (*FUNCTIONS, *ONCE)])
def test_the_whole_of_binary16(name: str, rounding: str) -> None:
    spec = SearchSpec(name, BINARY16, BINARY16, 7, rounding, everything(BINARY16))
    for bits, method in {
        "all": ((6, "regular"), (11, "farey")),
        "nearest": ((5, "farey"), (10, "lefevre")),
        "directed": ((5, "lefevre"), (9, "regular")),
    }[rounding]:
        check(replace(spec, bits=bits), method)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ONCE)
def test_the_whole_of_binary16_once(name: str, rounding: str) -> None:
    """A low, a middle or a high threshold, so that each function has all of them.

    Of LATER |x| < 8, of digamma, which takes longest, from 1/32 on.

    All of it with a HRCASE_TEST_MULTIPLIER.
    """
    i = ONCE.index(name) + ROUNDINGS.index(rounding)
    bits, method = ((6, "regular"), (10, "farey"), (8, "lefevre"))[i % 3]
    region = everything(BINARY16)
    if name in LATER and MULTIPLIER == 1:
        region = replace(interval(BINARY16, mpq(-8), mpq(8), "near 0"), is_open=True)
    if name == "digamma" and MULTIPLIER == 1:
        region = exponent_range(BINARY16, -5, 2, "both")
    check(SearchSpec(name, BINARY16, BINARY16, bits, rounding, region), method)
