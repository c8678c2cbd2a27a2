"""Every function of the registry over the whole of binary16, against an evaluation of each argument.

Each rounding choice, a low and a high threshold. The reference is tests/brute.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute.reference import EVERY_FUNCTION
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
@pytest.mark.parametrize("name", REGISTRY)
def test_the_whole_of_binary16(name: str, rounding: str) -> None:
    spec = SearchSpec(name, BINARY16, BINARY16, 7, rounding, everything(BINARY16))
    for bits, method in {
        "all": ((5, "regular"), (11, "farey")),
        "nearest": ((4, "farey"), (10, "lefevre")),
        "directed": ((4, "lefevre"), (9, "regular")),
    }[rounding]:
        check(replace(spec, bits=bits), method)
