"""Expressions against an evaluation of every argument (tests/brute/expressions.py)."""

from __future__ import annotations

import pytest
from brute.compare import check_result
from brute.expressions import COSPI, E, Formula, X, call, evaluate, number
from brute.reference import nearest

from hrcase import flat
from hrcase.formats import FORMATS, Format
from hrcase.functions import function_by_name
from hrcase.job import units
from hrcase.memory import SearchResult, search
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, everything

BINARY16, BINARY32, BINARY64 = (FORMATS[f"binary{n}"] for n in (16, 32, 64))
TOY = Format("toy", 7, -6, 5)
SHORT = Tuning(domain_log2=6, scan=16)

exp, log, sin, cos, sqrt, tgamma, cosh, cbrt, atan, tan = map(
    call, ("exp", "log", "sin", "cos", "sqrt", "tgamma", "cosh", "cbrt", "atan", "tan")
)
ONE, TWO = number("1", 1), number("2", 2)
THIRD, HEX, DECIMAL = (
    number("1", 1) / number("3", 3),
    number("0x1.8p-3", 3, 16),
    number("0.3", 3, 10),
)
"""A rational, and the two kinds of constants."""

EXPRESSIONS = [
    exp(-X * X) / TWO,
    sin(X) / X,
    log(ONE + exp(X)),
    tgamma(X) * exp(-X),
    log(X - ONE),
    ONE / (X * X - TWO),
    X * X - X * HEX + THIRD,
    COSPI * E,
    sqrt(X * X - ONE),
    cosh(X) - ONE - X * X / TWO,
    X + exp(-X),
    (X - ONE) ** 3 + ONE,
    tan(X) - sin(X),
    cbrt(X) ** -2 + DECIMAL,
    atan(ONE / X),
    exp(-X) - exp(-X - ONE),
]

ASKED = ((3, "all"), (7, "nearest"), (5, "directed"), (7, "all"))


@pytest.fixture(autouse=True)
def long_flat_ranges_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that formats as small as these have settled ranges of every kind."""
    monkeypatch.setattr(flat, "MOST_ROWS", 50)
    monkeypatch.setattr(units, "MANY_PARTS", 1 << 20)  # no processes: they take a second to start


def check(formula: Formula, spec: SearchSpec) -> SearchResult:
    """Search, and compare the answer with every argument's value; pieces and the rest tile."""
    result = search(spec, "regular", threads=1, tuning=SHORT)
    ordinals = [i for lo, hi in spec.region.ranges for i in range(lo, hi)]
    found = {i: evaluate(formula, *spec.inp.parts(i)) for i in ordinals}
    near = {i: nearest(y, spec.out, spec.rounding) for i, y in found.items() if y is not None}
    check_result(result, {i: one for i, one in near.items() if one is not None})
    removed = {i for part in result.removed for i in range(part.lo, part.hi)}
    assert removed == {i for i, y in found.items() if y is None}
    assert sum(result.statistics.arguments.values()) == len(ordinals) - len(removed)
    return result


def name_of(formula: Formula) -> str:
    return function_by_name(f"expr:{formula.text}").name


@pytest.mark.parametrize("formula", EXPRESSIONS, ids=name_of)
def test_toy(formula: Formula) -> None:
    bits, rounding = ASKED[EXPRESSIONS.index(formula) % len(ASKED)]
    check(formula, SearchSpec(name_of(formula), TOY, TOY, bits, rounding, everything(TOY)))
