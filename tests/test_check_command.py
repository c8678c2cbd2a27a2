"""`hrcase check`: its numbers against MPFR in other precisions, its words, its refusals."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import gmpy2
import pytest
from gmpy2 import mpfr, mpq

from hrcase.cli import main
from hrcase.formats import FORMATS, Format
from hrcase.hexfloat import parse_number, to_hex

Captured = pytest.CaptureFixture[str]
DIRECTIONS = {
    "RN": gmpy2.RoundToNearest,
    "RU": gmpy2.RoundUp,
    "RD": gmpy2.RoundDown,
    "RZ": gmpy2.RoundToZero,
}
WIDE = gmpy2.context(precision=1000, emin=-(1 << 20), emax=1 << 20)


def check(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    exit_code = main.run(["check", *arguments])
    output = capsys.readouterr()
    return exit_code, output.out, output.err


def report(capsys: Captured, *arguments: str) -> dict[str, Any]:
    exit_code, out, err = check(capsys, "--json", *arguments)
    assert (exit_code, err) == (0, "")
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def ieee(out: Format, direction: int) -> gmpy2.context:
    """MPFR rounding as an IEEE format does, subnormals and overflow included."""
    emin = out.emin - out.precision + 2  # of the smallest subnormal, with MPFR's significands
    return gmpy2.context(
        precision=out.precision, round=direction, emin=emin, emax=out.emax + 1, subnormalize=True
    )


def as_text(number: mpfr) -> str:
    if gmpy2.is_infinite(number):
        return "inf" if number > 0 else "-inf"
    return to_hex(mpq(*number.as_integer_ratio()))


def function(name: str, context: gmpy2.context, x: mpq) -> mpfr:
    exact_x = mpfr(x, 64)
    return getattr(context, name)(exact_x)


def arguments(name: str) -> list[mpq]:
    """Doubles: ordinary, and such that exp and exp2 end in subnormals, overflow, vanish."""
    draw = random.Random(name)
    numbers = [draw.uniform(0.001, 30) for _ in range(6)]
    if name != "log":
        numbers += [-number for number in numbers]
    if name in ("exp", "exp2"):
        numbers += [-744.75, -720.5, 709.78, 1023.99, 800.25, 1025.5, -1100.5]
    if name in ("cbrt", "log"):
        numbers += [1e-310, 1e300]
    return [mpq(*number.as_integer_ratio()) for number in numbers]


@pytest.mark.parametrize("output_name", ["binary64", "binary32", "binary16"])
@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cbrt"])
def test_roundings_are_those_of_mpfr(capsys: Captured, name: str, output_name: str) -> None:
    out = FORMATS[output_name]
    for x in arguments(name):
        found = report(capsys, name, to_hex(x), "--output-format", output_name)
        for mode, direction in DIRECTIONS.items():
            assert found["rounded"][mode] == as_text(function(name, ieee(out, direction), x))
        assert found["value"] == f"{function(name, WIDE, x):.9e}"
        assert not found["exact"]


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cbrt"])
def test_distances_are_those_of_a_thousand_bits(capsys: Captured, name: str) -> None:
    """In half ulps of the binade of f(x) the breakpoints are the integers: even ones numbers."""
    for x in arguments(name):
        y = function(name, WIDE, x)
        exponent = gmpy2.get_exp(y)
        if not -1022 < exponent < 1024:
            continue
        found = report(capsys, name, to_hex(x))
        half_ulp = mpq(2) ** (exponent - 54)
        half_ulps = mpq(*y.as_integer_ratio()) / half_ulp
        nearest = round(half_ulps)
        ulps = WIDE.mul(mpfr(1), abs(half_ulps - nearest) / 2)
        assert found["kind"] == ("midpoint" if nearest % 2 else "number")
        assert found["side"] == ("above" if half_ulps > nearest else "below")
        assert found["distance_ulp"] == f"{ulps:.9e}"
        assert found["log2_distance"] == f"{WIDE.log2(ulps):.3f}"
        assert found["identical_bits"] == math.floor(-WIDE.log2(ulps)) - 1
        assert parse_number(found["breakpoint"]) == nearest * half_ulp


def test_words_for_a_hard_case(capsys: Captured) -> None:
    exit_code, out, err = check(capsys, "exp", "0x1.83d4bcdebb3f4p+2")
    assert (exit_code, err) == (0, "")
    assert out.splitlines()[0].startswith("exp(0x1.83d4bcdebb3f4p+2) = 4.2")
    assert "RN 0x1.ac50b409c8aeep+8  RU 0x1.ac50b409c8aefp+8" in out
    assert "breakpoint  0x1.ac50b409c8aeep+8 (number)" in out
    assert "(2^-58.879), above it; 57 identical bits after the round bit" in out


def test_negative_x_needs_no_dashes_and_several_x_give_one_report_each(capsys: Captured) -> None:
    plain = check(capsys, "exp", "-1", "-0x1.8p-3", "2", "--json")
    dashed = check(capsys, "exp", "--json", "--", "-1", "-0x1.8p-3", "2")
    assert plain == dashed
    assert plain[0] == 0
    found = [json.loads(line) for line in plain[1].splitlines()]
    assert [entry["x"] for entry in found] == ["-0x1p+0", "-0x1.8p-3", "0x1p+1"]
    assert {entry["function"] for entry in found} == {"exp"}
    assert check(capsys, "exp", "-1", "2")[1].count("  distance ") == 2


@pytest.mark.parametrize(
    ("name", "x", "value", "kind"),
    [
        ("exp", "0", "0x1p+0", "number"),
        ("exp2", "-3", "0x1p-3", "number"),
        ("exp2", "-1075", "0x1p-1075", "midpoint"),
        ("log", "1", "0x0p+0", "number"),
        ("sin", "0", "0x0p+0", "number"),
        ("cbrt", "-27", "-0x1.8p+1", "number"),
    ],
)
def test_exact_results(capsys: Captured, name: str, x: str, value: str, kind: str) -> None:
    found = report(capsys, name, x)
    assert (found["exact"], found["side"], found["kind"]) == (True, "on", kind)
    assert (found["distance_ulp"], found["log2_distance"]) == ("0", "-inf")
    assert found["identical_bits"] is None
    assert found["breakpoint"] == value
    assert f"exact: f(x) is this {kind}" in check(capsys, name, x)[1]


def test_the_midpoint_below_the_smallest_number(capsys: Captured) -> None:
    found = report(capsys, "exp2", "-1075")
    assert found["rounded"] == {"RN": "0x0p+0", "RU": "0x1p-1074", "RD": "0x0p+0", "RZ": "0x0p+0"}


def test_beyond_overflow_the_last_midpoint_is_the_nearest(capsys: Captured) -> None:
    found = report(capsys, "exp2", "1024")
    assert found["breakpoint"] == "0x1.fffffffffffff8p+1023"
    assert (found["side"], found["distance_ulp"]) == ("above", "5.000000000e-01")
    assert found["rounded"]["RN"] == found["rounded"]["RU"] == "inf"
    assert found["rounded"]["RZ"] == "0x1.fffffffffffffp+1023"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("exq", "1"), "did you mean exp"),
        (("exp", "nan"), "cannot read 'nan' as a number"),
        (("exp", "-inf"), "it is infinite"),
        (("exp", "1e400"), "neighbours are 0x1.ffffffffffffep+1023 and 0x1.fffffffffffffp+1023"),
        (("exp", "0.1"), "neighbours are 0x1.9999999999999p-4 and 0x1.999999999999ap-4"),
        (("exp", "1e-400"), "neighbours are 0x0p+0 and 0x1p-1074"),
        (("exp", "1", "0.1"), "is not a binary64 number"),
        (("exp", "0x1.01p0", "--format", "bfloat16"), "is not a bfloat16 number"),
        (("log", "0"), "log is not defined for x <= 0"),
        (("log", "-1"), "log is not defined for x <= 0"),
        (("sin", "2048"), "sin is searched for |x| < 2^11 only"),
        (("exp", "0x1p+999", "1"), "beyond the last one"),
        (("tanh", "0x1p+20"), "below the breakpoint 0x1p+0, and so near that 65536 bits"),
        (("exp2m1", "-0x1p+21"), "above the breakpoint -0x1p+0, and so near"),
        (("exp", "--format", "half", "1"), "unknown format 'half'"),
        (("exp",), "Missing argument 'X...'"),
        (("exp", "1", "--jsn"), "No such option"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    capsys: Captured, arguments: tuple[str, ...], text: str
) -> None:
    exit_code, out, err = check(capsys, *arguments)
    assert (exit_code, out) == (2, "")
    assert err.startswith("hrcase: error: ")
    assert text in err
    assert err.count("\n") == 1
