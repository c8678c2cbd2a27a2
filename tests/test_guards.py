"""Guards against answers that would be silently wrong."""

from dataclasses import replace

import pytest
from gmpy2 import mpq

from hrcase import functions
from hrcase.check import check
from hrcase.errors import InputError, SelfTestFailed
from hrcase.formats import FORMATS, Format
from hrcase.spec import SearchSpec, everything
from hrcase.ziv import refine

BINARY16 = FORMATS["binary16"]
FLUSHED = Format("flushed", 6, -5, 5, subnormals=False)


def test_midpoints_of_the_binade_above_a_flushed_one_are_not_lost() -> None:
    with pytest.raises(InputError, match="has no subnormals"):
        SearchSpec("exp", BINARY16, FLUSHED, 5, "nearest", everything(BINARY16))
    for bits, rounding in ((6, "nearest"), (3, "all"), (3, "directed")):
        SearchSpec("exp", BINARY16, FLUSHED, bits, rounding, everything(BINARY16))


def test_a_rule_that_calls_an_inexact_value_exact_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lying = replace(functions.REGISTRY["exp"], exact=lambda x: mpq(3) if x == 1 else None)
    monkeypatch.setitem(functions.REGISTRY, "exp", lying)
    spec = SearchSpec("exp", BINARY16, BINARY16, 6, "all", everything(BINARY16))
    with pytest.raises(SelfTestFailed, match="says that its value"):
        refine(spec, BINARY16.ordinal(mpq(1)))
    with pytest.raises(SelfTestFailed, match="says that its value"):
        check(lying, BINARY16, BINARY16, mpq(1))
