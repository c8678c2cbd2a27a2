"""The sentence of the claim: it says what was searched, and not more."""

from __future__ import annotations

import pytest
from gmpy2 import mpq

from hrcase.claim import Claim
from hrcase.errors import InputError
from hrcase.formats import Format
from hrcase.memory import search
from hrcase.spec import Region, SearchSpec, everything, interval, one_sign

TOY = Format("toy", 4, -3, 12)


def claim(name: str, region: Region, rounding: str = "all", bits: int = 5) -> Claim:
    return search(SearchSpec(name, TOY, TOY, bits, rounding, region), threads=1).claim


def test_the_condition_on_x_stands_before_that_on_the_distance() -> None:
    asked = claim("exp", interval(TOY, mpq(1), mpq(2), "1 <= x < 2"))
    whole = claim("exp", everything(TOY))
    assert "every x of toy with 1 <= x < 2 and 0 < min_b |f(x) - b| < 2^-5 ulp" in asked.sentence
    assert "every x of toy with 0 < min_b |f(x) - b| < 2^-5 ulp" in whole.sentence


def test_a_part_that_is_not_covered_is_excepted() -> None:
    whole = claim("sin", everything(TOY))
    assert "below, or in one that is not covered; b ranges" in whole.sentence
    assert whole.removed == (
        "[-0x1.ep+12, -0x1p+11]: sin is searched for |x| < 2^11 only",
        "[0x1p+11, 0x1.ep+12]: sin is searched for |x| < 2^11 only",
    )
    assert "not covered" not in claim("exp", everything(TOY)).sentence


def test_a_sign_alone_ends_where_the_function_does() -> None:
    """A range that reaches beyond is an error; asking for a sign is asking for no range."""
    positive = claim("sin", one_sign(TOY, "positive"))
    assert positive.removed == ("[0x1p+11, 0x1.ep+12]: sin is searched for |x| < 2^11 only",)
    assert "every x of toy with x > 0 and 0 < min_b" in positive.sentence
    with pytest.raises(InputError, match="reaches beyond"):
        claim("sin", interval(TOY, mpq(1), mpq(2049), "1 <= x < 2049"))


def test_breakpoints_are_named_by_the_rounding() -> None:
    words = {
        rounding: claim("cbrt", everything(TOY), rounding).sentence
        for rounding in ("all", "nearest", "directed")
    }
    assert "b ranges over representable numbers and midpoints;" in words["all"]
    assert "b ranges over midpoints;" in words["nearest"]
    assert "b ranges over representable numbers;" in words["directed"]


def test_the_text_holds_all_that_the_fields_say() -> None:
    found = claim("sin", everything(TOY))
    text = found.to_text()
    for part in (found.sentence, found.exact_rule, *found.settled, *found.removed, found.trusted):
        assert part in text
    assert f"{found.cases} cases." in text
    assert found.to_json()["removed"] == found.removed
