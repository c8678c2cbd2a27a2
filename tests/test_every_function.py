"""Every function over the whole of binary16, against an evaluation of every argument.

Each rounding choice, a low and a high threshold. The reference is tests/brute; the functions in
its FUNCTIONS have such a test in tests/test_binary16.py, and more of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute.reference import EVERY_FUNCTION, FUNCTIONS
from brute.whole import check

from hrcase import flat
from hrcase.formats import FORMATS
from hrcase.functions import REGISTRY
from hrcase.lattice import ROUNDINGS
from hrcase.spec import SearchSpec, everything

BINARY16 = FORMATS["binary16"]


@pytest.fixture(autouse=True)
def long_flat_ranges_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a format as small as this has settled ranges of every kind."""
    monkeypatch.setattr(flat, "MOST_ROWS", 50)


def test_the_reference_has_every_function() -> None:
    assert set(EVERY_FUNCTION) == set(REGISTRY)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in FUNCTIONS])
def test_the_whole_of_binary16(name: str, rounding: str) -> None:
    spec = SearchSpec(name, BINARY16, BINARY16, 7, rounding, everything(BINARY16))
    for bits, method in {
        "all": ((6, "regular"), (11, "farey")),
        "nearest": ((5, "farey"), (10, "lefevre")),
        "directed": ((5, "lefevre"), (9, "regular")),
    }[rounding]:
        check(replace(spec, bits=bits), method)
