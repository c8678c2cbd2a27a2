"""pown:N, rootn:N and compound:N: their names, and values that are rational everywhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from brute.whole import check
from flint import arb
from gmpy2 import mpq

from hrcase.cases import HRCase
from hrcase.cli import main
from hrcase.errors import InputError, SelfTestFailed
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import FAMILIES, REGISTRY, function_by_name
from hrcase.job.identity import spec_from_json, spec_to_json
from hrcase.memory import search
from hrcase.spec import Region, SearchSpec, everything, exponent_range, interval
from hrcase.ziv import refine

TOY = Format("toy", 13, -20, 20)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [-1024, -2, -1, 2, 3, 1024])
def test_a_member_has_its_name(family: str, n: int) -> None:
    f = function_by_name(f"{family}:{n}")
    assert f.name == f"{family}:{n}"
    assert function_by_name(f.name) is f


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "n",
    [
        "",
        "0",
        "1",
        "-0",
        "01",
        "-01",
        "+2",
        " 2",
        "2 ",
        "2.0",
        "x",
        "1025",
        "-1025",
        "9" * 5000,
        "٣",
    ],
)
def test_a_wrong_n_is_refused_by_name(family: str, n: str) -> None:
    with pytest.raises(InputError, match=rf"{family}:N is .* from -1024 to 1024.*{family}:3"):
        function_by_name(f"{family}:{n}")


def test_a_family_alone_asks_for_n(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["check", "rootn", "2"]) == 2
    assert "give rootn:3, say" in capsys.readouterr().err


def test_a_misspelt_family_is_offered() -> None:
    with pytest.raises(InputError, match="did you mean compound:N"):
        function_by_name("compund:3")


def test_functions_lists_families_and_describes_members(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(["functions"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{family}:N " in listed for family in FAMILIES)
    assert main.run(["functions", "--json"]) == 0
    names = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert names[-3:] == ["pown:N", "rootn:N", "compound:N"]
    assert main.run(["functions", "rootn:-3"]) == 0
    assert capsys.readouterr().out.startswith("rootn:-3(x) = x^(-1/3)\n")


def test_a_job_remembers_n() -> None:
    region = interval(TOY, mpq(1), mpq(2), "[1, 2)")
    spec = SearchSpec("compound:-7", TOY, TOY, 6, "all", region)
    assert spec_from_json(spec_to_json(spec)) == spec


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("rounding", ["all", "nearest", "directed"])
def test_exact_powers_are_counted_by_the_rule(n: int, rounding: str) -> None:
    """In [1, 2): c 2^-k, c odd, is exact where c^n has p bits, a midpoint where it has p + 1."""
    p = TOY.precision
    lengths = {(c**n).bit_length() for c in range(1, 1 << p, 2)}
    assert p in lengths or p - 1 in lengths
    wanted = {"all": (0, p + 1), "nearest": (p + 1, p + 1), "directed": (0, p)}[rounding]
    exact = [c for c in range(1, 1 << p, 2) if wanted[0] <= (c**n).bit_length() <= wanted[1]]
    spec = SearchSpec(f"pown:{n}", TOY, TOY, 7, rounding, exponent_range(TOY, 0, 0, "positive"))
    result = search(spec, threads=1)
    assert len(result.exact) == len(exact)
    odd_parts = {int(TOY.value(i).numerator) for i in result.exact}
    assert odd_parts == set(exact)
    assert all(float(case.distance_ulp) > 0 for case in result.cases)


@pytest.mark.parametrize("rounding", ["all", "nearest", "directed"])
@pytest.mark.parametrize(
    ("n", "precision", "out_precision", "bits"),
    [(2, 5, 5, 3), (2, 5, 7, 7), (2, 6, 4, 4), (3, 4, 5, 4), (3, 4, 9, 3)],
)
def test_far_out_compound_is_as_hard_as_a_power(
    n: int, precision: int, out_precision: int, bits: int, rounding: str
) -> None:
    """The whole domain; exact powers, and those 2^-bits ulp away from one, are among them."""
    inp, out = Format("wide", precision, -8, 40), Format("out", out_precision, -8, 70)
    spec = SearchSpec(f"compound:{n}", inp, out, bits, rounding, everything(inp))
    result = check(spec, "farey")
    (tail,) = [p for p in result.settled if p.settlement and p.settlement.which == "powers"]
    assert tail.count > 4 << precision
    assert inp.value(tail.lo) == scale(1, max(n * precision, bits + out_precision) + n)


@pytest.mark.parametrize(
    ("name", "inp", "out", "x"),
    [
        ("pown:-2", "bfloat16", "bfloat16", 5 * scale(1, 75)),
        ("rsqrt", "binary64", "binary16", 25 * scale(1, 80)),
        ("rootn:-3", "binary64", "binary16", 125 * scale(1, 120)),
        ("compound:-1", "binary64", "binary16", 5 * scale(1, 40) - 1),
    ],
)
def test_rational_values_whose_distance_is_a_decimal_tie(
    name: str, inp: str, out: str, x: mpq
) -> None:
    """2^-16/5 and 2^-17/25 ulp have 11 digits, the last of them 5: no enclosure tells how to round.

    1/5 2^-40 is 2^-16/5 of the least number of binary16.
    """
    f, number, result = function_by_name(name), FORMATS[inp], FORMATS[out]
    ordinal = number.ordinal(x)
    value = f.exact(x)
    assert value is not None and value.denominator.bit_count() > 1
    spec = SearchSpec(name, number, result, 10, "all", Region("", ((ordinal - 2, ordinal + 3),)))
    found = search(spec, threads=1)
    (case,) = [case for case in found.cases if case.x == x]
    assert case.distance_ulp in ("3.051757813e-06", "3.051757813e-07")


def test_an_exact_value_that_is_a_case_is_evaluated_by_arb_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """sqrt(x) = 1 + 2^-11 is near 1 in bfloat16."""
    inp = FORMATS["binary32"]
    ordinal = inp.ordinal((1 + scale(1, -11)) ** 2)
    region = Region("", ((ordinal, ordinal + 1),))
    spec = SearchSpec("sqrt", inp, FORMATS["bfloat16"], 3, "all", region)
    case = refine(spec, ordinal)
    assert isinstance(case, HRCase) and case.distance_ulp == "6.250000000e-02"
    lying = replace(REGISTRY["sqrt"], arb=lambda x: x.sqrt() * (1 + arb((1, -40))))
    monkeypatch.setitem(REGISTRY, "sqrt", lying)
    with pytest.raises(SelfTestFailed, match="Arb says that it is not"):
        refine(spec, ordinal)
