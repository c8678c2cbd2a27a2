"""Guards against answers that would be silently wrong."""

from dataclasses import replace

import pytest
from gmpy2 import mpq

from hrcase import functions
from hrcase.argument import check
from hrcase.errors import InputError, SelfTestFailed
from hrcase.formats import FORMATS, Format
from hrcase.lattice import lattice
from hrcase.spec import SearchSpec, everything
from hrcase.taylor import Stretch, derivative_bound
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


def test_the_tenth_derivative_is_not_cut_to_zero() -> None:
    """flint's series end at ctx.cap = 10 terms unless told otherwise."""
    axis = lattice(FORMATS["binary64"], 1, "all")
    stretch = Stretch(1 << 52, -52, -1000, 1000)
    for order in (9, 10, 14):
        assert derivative_bound(functions.REGISTRY["exp"], axis, stretch, order) > 0


def test_a_value_rounded_up_to_the_least_mpfr_number_is_out_of_reach() -> None:
    double = FORMATS["binary64"]
    with pytest.raises(InputError, match="nearest breakpoint is 0"):
        check(functions.REGISTRY["exp"], double, double, mpq(-1453637, 2))
