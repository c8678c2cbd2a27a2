"""Expressions against an evaluation of every argument (tests/brute/expressions.py)."""

from __future__ import annotations

import os
import re
from itertools import pairwise

import pytest
from brute.compare import check_result
from brute.expressions import COSPI, E, Formula, Unsure, X, call, evaluate, number
from brute.reference import nearest
from gmpy2 import mpfr, mpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hrcase import flat, isolation
from hrcase.domain import removed, split
from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import function_by_name
from hrcase.isolation import Run
from hrcase.job import units
from hrcase.lattice import ROUNDINGS
from hrcase.memory import SearchResult, search
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import Region, SearchSpec, everything, interval

MULTIPLIER = int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
BINARY16, BINARY32, BINARY64 = (FORMATS[f"binary{n}"] for n in (16, 32, 64))
TOY, TINY = Format("toy", 7, -6, 5), Format("tiny", 5, -4, 3)
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
    for i in in_doubt(result):
        one = near.pop(i)
        assert one is not None and (one.is_exact or one.within(1000))
    check_result(result, {i: one for i, one in near.items() if one is not None})
    removed = {i for part in result.removed for i in range(part.lo, part.hi)}
    assert removed == {i for i, y in found.items() if y is None}
    assert sum(result.statistics.arguments.values()) == len(ordinals) - len(removed)
    return result


def in_doubt(result: SearchResult) -> list[int]:
    """Arguments of ranges of which all bits do not tell whether they are cases."""
    kinds = ((piece, piece.settlement) for piece in result.settled)
    ranges = [range(p.lo, p.hi) for p, s in kinds if s is not None and s.kind == "d"]
    return [i for part in ranges for i in part]


def around(inp: Format, value: mpq, count: int) -> Region:
    """So many arguments, half of them below a value."""
    at = inp.ceil_ordinal(value)
    return Region("around", ((at - count // 2, at + count // 2),))


def name_of(formula: Formula) -> str:
    return function_by_name(f"expr:{formula.text}").name


@pytest.mark.parametrize("formula", EXPRESSIONS, ids=name_of)
def test_toy(formula: Formula) -> None:
    bits, rounding = ASKED[EXPRESSIONS.index(formula) % len(ASKED)]
    check(formula, SearchSpec(name_of(formula), TOY, TOY, bits, rounding, everything(TOY)))


SLICES = [
    (sin(X) / X, mpq(3, 2)),
    (sin(X) / X, scale(1, -27)),
    (log(ONE + exp(X)), mpq(-7, 9)),
    (log(ONE + exp(X)), scale(3, -54)),
    (tgamma(X) * exp(-X), mpq(3)),
    (tgamma(X) * exp(-X), mpq(3203171468376931, 10**15)),
    (exp(-X * X) / TWO, mpq(5)),
    (X + exp(-X), mpq(31)),
    (tan(X) - sin(X), scale(5, -30)),
    ((X - sin(X)) / X**2, scale(5, -102)),
]
"""Among them: where f turns, where it is nearly constant, where it is nearly x."""


@pytest.mark.parametrize(("formula", "value"), SLICES)
def test_slices_of_binary64(formula: Formula, value: mpq) -> None:
    region = around(BINARY64, value, 1500)
    result = check(formula, SearchSpec(name_of(formula), BINARY64, BINARY64, 5, "all", region))
    assert result.cases or result.settled


@pytest.mark.parametrize(
    ("formula", "ends"),
    [(exp(-X * X) / TWO, (-3, 3)), (log(X - ONE), (0, 9)), (sin(X) / X, (-9, 9))],
)
def test_binary16(formula: Formula, ends: tuple[int, int]) -> None:
    region = interval(BINARY16, mpq(ends[0]), mpq(ends[1]), "wide")
    spec = SearchSpec(name_of(formula), BINARY16, BINARY16, 9, "all", region)
    check(formula, spec)


FALLS = X - number("0.08", 8, 100) * cbrt(X - number("1.4921875", 191, 128))
"""It grows among the numbers on each side of that point, and falls from the last to the first."""


@pytest.mark.parametrize("formula", [FALLS, tan(X), ONE / (X * X - TWO), COSPI], ids=name_of)
def test_f_is_monotone_on_runs(formula: Formula) -> None:
    spec = SearchSpec(name_of(formula), TOY, TOY, 3, "all", interval(TOY, mpq(-3), mpq(9), ""))
    runs = [part for part in isolation.parts(spec) if isinstance(part, Run)]
    assert sum(run.hi - run.lo for run in runs) > 400
    for run in runs:
        values = [formula.value(mpfr(TOY.value(i), 64)) for i in range(run.lo, run.hi)]
        assert all((b - a) * run.direction > 0 for a, b in pairwise(values))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("cos((pi*x+1e20)-1e20)", -1, -1),
        ("cosh((pi*x-pi+1e20)-1e20)", 1, 1),
        ("(pi*x-pi+1e20-1e20)^2", 0, 0),
        ("-cospi((x+1e20/3)-1e20/3)", 1, 1),
    ],
)
def test_brackets_hold_what_lies_between_their_ends(text: str, least: int, most: int) -> None:
    """The argument of the function is a wide interval around the place where it turns."""
    bracket = function_by_name(f"expr:{text}").bracket
    assert bracket is not None
    low, high = bracket(128, mpfr(1))
    assert low <= least <= most <= high and low < high


@pytest.mark.parametrize("formats", [(TOY, TINY), (TINY, TOY)], ids=["finer", "coarser"])
@pytest.mark.parametrize(
    "formula", [sin(X), X * exp(-X) / TWO, -X - exp(-X * X), TWO * atan(X) - X], ids=name_of
)
def test_two_formats(formula: Formula, formats: tuple[Format, Format]) -> None:
    """What is nearly a multiple of x, where x has more digits than f(x), or fewer."""
    region = interval(formats[0], mpq(-7), mpq(7), "")
    for bits, rounding in ((3, "all"), (8, "directed"), (6, "nearest")):
        check(formula, SearchSpec(name_of(formula), *formats, bits, rounding, region))


def formulas() -> st.SearchStrategy[Formula]:
    """Small expressions; sin of x alone, since hrcase knows it for |x| < 2^11 only."""
    leaves = st.sampled_from([X, X, X, sin(X), E, HEX, DECIMAL, THIRD, ONE, TWO])
    return st.recursive(leaves, _combined, max_leaves=4)


def _combined(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    functions = st.sampled_from([exp, log, sqrt, cbrt, atan])
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(lambda f, of: f(of), functions, inner),
        st.builds(lambda of, n: of**n, inner, st.sampled_from((2, 3, -1, -2))),
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] - two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.map(lambda two: two[0] / two[1]),
    )


@settings(max_examples=40 * MULTIPLIER)
@given(formula=formulas(), bits=st.integers(5, 12), rounding=st.sampled_from(ROUNDINGS))
def test_random_expressions(formula: Formula, bits: int, rounding: str) -> None:
    assume(re.search(r"\bx\b", formula.text))
    try:
        check(formula, SearchSpec(name_of(formula), TINY, TINY, bits, rounding, everything(TINY)))
    except Unsure:
        assume(False)
    except InputError as error:  # constant after all
        assert "could not be split" in str(error) or "has no value" in str(error)


@pytest.mark.parametrize("name", ["exp", "sin", "log"])
def test_one_function_as_an_expression_gives_what_the_function_gives(name: str) -> None:
    lo, hi = {"exp": (-12, 12), "sin": (-9, 9), "log": (-1, 50)}[name]
    region = interval(BINARY16, mpq(lo), mpq(hi), "wide")
    spec = SearchSpec(name, BINARY16, BINARY16, 8, "all", region)
    of_registry = search(spec, threads=1)
    other = search(SearchSpec(f"expr:{name}(x)", BINARY16, BINARY16, 8, "all", region), threads=1)
    assert listed(other) == listed(of_registry)
    assert list(other.exact) == list(of_registry.exact)
    assert covered(other) == covered(of_registry)


def listed(result: SearchResult) -> list[int]:
    """Rows, and arguments of settled ranges in which each is a case."""
    ranges = [
        range(piece.lo, piece.hi)
        for piece in result.settled
        if piece.settlement is not None and piece.settlement.kind == "b"
    ]
    rows = [result.spec.inp.ordinal(case.x) for case in result.cases]
    return sorted([*rows, *(i for part in ranges for i in part)])


def covered(result: SearchResult) -> int:
    return sum(result.statistics.arguments.values())


def spec_of(text: str, region: Region, form: Format = BINARY64) -> SearchSpec:
    return SearchSpec(function_by_name(f"expr:{text}").name, form, form, 44, "all", region)


def test_one_binade_of_exp_is_split_as_the_function_is() -> None:
    region = interval(BINARY64, mpq(1), mpq(2), "binade")
    pieces = [
        [(piece.lo, piece.hi, piece.rule, piece.key) for piece in split(spec)]
        for spec in (
            spec_of("exp(x)", region),
            SearchSpec("exp", BINARY64, BINARY64, 44, "all", region),
        )
    ]
    assert pieces[0] == pieces[1]


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x+1",
        "x-x",
        "x/x",
        "exp(log(x))",
        "sin(x)^2+cos(x)^2",
        "sqrt(x*x)",
        "2^3*x/8",
        "pi-pi+x",
    ],
)
def test_what_is_identical_to_something_simple_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="seems to be identical"):
        list(split(spec_of(text, interval(BINARY64, mpq(1), mpq(2), ""))))
        removed(spec_of(text, interval(BINARY64, mpq(1), mpq(2), "")))


@pytest.mark.parametrize(
    ("text", "period"), [("101*x", 32), ("x/3", 3), ("(x-5)*0x1.000001p3", 2**24)]
)
def test_a_linear_f_is_refused_where_it_floods(text: str, period: int) -> None:
    with pytest.raises(InputError, match=f"one argument in {period}, if at any"):
        list(split(spec_of(text, interval(BINARY64, mpq(1), mpq(2), ""))))
    few = mpq(1) + mpq(period, 1 << 40)
    assert list(split(spec_of(text, interval(BINARY64, mpq(1), few, ""))))


@pytest.mark.parametrize("text", ["pi*x", "0x1.921fb54442d18p+1*x", "1/3+0*x", "x*x"])
def test_other_slopes_are_searched(text: str) -> None:
    assert list(split(spec_of(text, interval(BINARY64, mpq(1), mpq(2), ""))))


def test_arguments_that_may_be_exact_are_counted_and_named() -> None:
    """cos(pi/2) is 0; nothing here knows that."""
    region = interval(BINARY16, mpq(1, 4), mpq(3, 4), "")
    spec = SearchSpec("expr:cos(pi*x)", BINARY16, BINARY16, 9, "all", region)
    result = search(spec, threads=1)
    assert result.undecided == list(result.exact) == [BINARY16.ordinal(mpq(1, 2))]
    assert "1 of them may be cases beyond these bits: 0x1p-1" in result.claim.to_text()
    assert mpq(1, 2) not in [case.x for case in result.cases]


def test_exact_values_that_rational_arithmetic_gives_are_exact() -> None:
    region = interval(BINARY16, mpq(1), mpq(2), "")
    spec = SearchSpec("expr:x*x+exp(0)/3-1/3", BINARY16, BINARY16, 9, "all", region)
    result = search(spec, threads=1)
    assert result.exact and not result.undecided


def test_next_to_a_removable_singularity_blocks_are_long() -> None:
    """f is about x/6 there, and plain enclosures of its derivatives are about x^-3."""
    lo = BINARY64.ordinal(scale(5, -522))
    (piece,) = split(spec_of("(x-sin(x))/x^2", Region("", ((lo, lo + (1 << 44)),))))
    assert piece.rule is Rule.SEARCHED
    spec = spec_of("(x-sin(x))/x^2", everything(BINARY64))
    assert next_block(spec, piece, lo, Tuning()).count == piece.count == 1 << 44


def test_the_rules_of_the_registry_are_asked_at_dyadic_arguments_only() -> None:
    """That of tanpi would say 1 at 1/3."""
    for text, x in (("tanpi(x/3)", 1), ("sinpi(x/3)+x", 1), ("log2(x/3)", 3)):
        f = function_by_name(f"expr:{text}")
        exact = f.exact(mpq(x))
        assert exact == (mpq(0) if text == "log2(x/3)" else None)


def test_a_range_that_agrees_with_a_number_to_all_bits_is_settled_as_undecided() -> None:
    region = interval(BINARY64, mpq(1), mpq(10**5), "")
    pieces = [piece for piece in split(spec_of("1+exp(-x*x)", region)) if piece.settlement]
    last = pieces[-1].settlement
    assert last is not None and (last.kind, last.near) == ("d", 1)
    assert "exact or beyond 4096 bits" in last.reason
    assert pieces[-1].hi == BINARY64.ordinal(mpq(10**5))
    x = float(BINARY64.value(pieces[-1].lo))
    assert 4090 < x * x / 0.6931 < 4300


@pytest.mark.parametrize(
    ("text", "ends", "reason"),
    [
        ("log(x-1)", (0, 1), "log is not defined for x <= 0"),
        ("1/(x-1)", (1, 1), "a division by 0"),
        ("sin(x)/x", (0, 0), "a division by 0"),
        ("sqrt(1-x^2)", (2, 3), "sqrt is not defined for x < 0"),
        ("1/(x/3-1/3)", (1, 1), "a division by 0"),
        ("tgamma(x-3)", (2, 2), "tgamma has poles at 0 and the negative integers"),
        ("sin(1000*x)", (3, 3), "sin is searched for |x| < 2^11 only"),
        ("1/(exp(log(x))-x)", (3, 3), "4096 bits do not tell whether"),
    ],
)
def test_what_has_no_value_is_removed_and_named(
    text: str, ends: tuple[int, int], reason: str
) -> None:
    region = interval(BINARY32, mpq(ends[0]) - scale(1, -20), mpq(ends[1]) + scale(1, -20), "")
    spec = SearchSpec(function_by_name(f"expr:{text}").name, BINARY32, BINARY32, 6, "all", region)
    try:
        parts = removed(spec)
    except InputError as error:
        assert reason in str(error)
        return
    inside = [p for p in parts if p.lo <= BINARY32.ordinal(mpq(ends[0])) < p.hi]
    assert len(inside) == 1 and reason in inside[0].reason


def test_no_value_anywhere_is_an_error() -> None:
    with pytest.raises(InputError, match="has no value in"):
        removed(spec_of("log(-x*x-1)", interval(BINARY64, mpq(1), mpq(2), "1 <= x < 2")))


def test_what_cannot_be_split_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MOST_RANGES", 500)
    with pytest.raises(InputError, match=r"could not be split between 0x1.\S+ and 0x1.f+p\+0"):
        removed(spec_of("exp(x)*exp(-x)+x*1e-30", interval(BINARY64, mpq(1), mpq(2), "")))


def test_a_removable_singularity_costs_nothing() -> None:
    """sin(x)/x next to 0: monotone on each side, nearly 1, and no ball of x tells so."""
    pieces = list(split(spec_of("sin(x)/x", interval(BINARY64, mpq(-1), mpq(1), ""))))
    assert len(pieces) < 100
    next_to_0 = [piece for piece in pieces if piece.lo == 1 or piece.hi == 0]
    for piece in next_to_0:
        assert piece.settlement is not None
        assert (piece.settlement.kind, piece.settlement.near) == ("b", 1)
        assert piece.count > 970 << 52
    assert {piece.rule for piece in pieces} == set(Rule)
