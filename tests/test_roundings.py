"""f(x) in the four modes: against Ziv's loop with Arb, numpy's conversions and C's zeros."""

from __future__ import annotations

import random

import pytest
from gmpy2 import mpq

from hrcase.argument import check
from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import REGISTRY, function_by_name
from hrcase.hexfloat import format_bound
from hrcase.roundings import MODES, Number, number_of, roundings

BINARY32, BINARY64, X87 = (FORMATS[name] for name in ("binary32", "binary64", "x87"))
NARROW = Format("narrow", 8, -14, 15)


@pytest.mark.parametrize("name", REGISTRY)
def test_as_ziv_with_both_evaluators(name: str) -> None:
    f, draw = function_by_name(name), random.Random(name)
    compared = 0
    for _ in range(30):
        inp, out = draw.choice([(BINARY32, BINARY32), (BINARY64, BINARY64), (BINARY64, NARROW)])
        x = inp.value(
            inp.ceil_ordinal(mpq(draw.uniform(-3, 3)) * scale(1, draw.choice((-20, -3, 0, 2, 5))))
        )
        try:
            report = check(f, inp, out, x)
        except InputError:  # not defined there, or beyond every exponent in use
            continue
        values = roundings(f, inp, out, number_of(inp, x))
        assert values is not None
        texts = [value.text(out).replace("-0x0", "0x0") for value in values]
        assert texts == [format_bound(report.rounded[mode]) for mode in MODES]
        compared += 1
    assert compared >= 4


def texts(function: str, x: str, form: Format = BINARY64) -> list[str] | None:
    negative, magnitude = x.startswith("-"), form.ordinal(abs(mpq(x)))
    values = roundings(function_by_name(function), form, form, Number(negative, magnitude))
    return None if values is None else [value.text(form) for value in values]


LARGEST, LEAST = "0x1.fffffffffffffp+1023", "0x1p-1074"


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        ("exp", "710", ["inf", "inf", LARGEST, LARGEST]),
        ("exp", "1e300", ["inf", "inf", LARGEST, LARGEST]),
        ("sinh", "-711", ["-inf", f"-{LARGEST}", "-inf", f"-{LARGEST}"]),
        ("exp", "-745", [LEAST, LEAST, "0x0p+0", "0x0p+0"]),
        ("exp", "-746", ["0x0p+0", LEAST, "0x0p+0", "0x0p+0"]),
        ("exp", "-1e300", ["0x0p+0", LEAST, "0x0p+0", "0x0p+0"]),
        ("tgamma", "-184.5", ["-0x0p+0", "-0x0p+0", f"-{LEAST}", "-0x0p+0"]),
        ("exp2", "-1075", ["0x0p+0", LEAST, "0x0p+0", "0x0p+0"]),  # a tie, to even
        ("exp2", "-1074", [LEAST] * 4),
        ("exp2", "1023", ["0x1p+1023"] * 4),
        ("sqrt", "4", ["0x1p+1"] * 4),
    ],
)
def test_overflow_underflow_and_exact_cases(function: str, x: str, expected: list[str]) -> None:
    x = str(int(float(x))) if "e" in x else str(mpq(x))
    assert texts(function, x) == expected


@pytest.mark.parametrize(
    ("function", "x", "sign"),
    [
        *((name, "-0", "-") for name in ("sin", "sqrt", "cbrt", "log1p", "expm1", "tanpi", "erf")),
        *((name, "0", "") for name in ("sin", "sqrt", "log1p", "tanpi")),
        *((name, "1", "") for name in ("log", "log2", "acos", "acosh", "acospi", "lgamma")),
        ("cospi", "1/2", ""),
        ("cospi", "-1/2", ""),
        *(("sinpi", x, "") for x in ("1", "2")),
        *(("sinpi", x, "-") for x in ("-1", "-2")),
        *(("tanpi", x, "") for x in ("2", "-1", "-3")),
        *(("tanpi", x, "-") for x in ("1", "3", "-2")),
    ],
)
def test_signs_of_zeros_are_those_of_c(function: str, x: str, sign: str) -> None:
    assert texts(function, x) == [f"{sign}0x0p+0"] * len(MODES)


@pytest.mark.parametrize(
    ("function", "x"),
    [("log", "0"), ("log", "-0"), ("log", "-1"), ("tgamma", "-3"), ("tanpi", "1/2"), ("acos", "2")],
)
def test_poles_and_the_outside_have_no_value(function: str, x: str) -> None:
    assert texts(function, x) is None


def test_arguments_that_are_not_searched_have_values() -> None:
    """sin(2^1000), by the argument reduction of the decimals of pi that Arb does."""
    values = texts("sin", str(mpq(2) ** 1000))
    assert values is not None
    from flint import arb, ctx

    ctx.prec = 1200
    try:
        ball = arb(2) ** 1000
        sine = float(ball.sin())
    finally:
        ctx.prec = 53
    assert float.fromhex(values[0]) == sine


@pytest.mark.parametrize("x", ["1", "-1", "1/3", "709", "710", "-746", "1/1024"])
def test_an_expression_is_rounded_as_what_it_means(x: str) -> None:
    x = str(BINARY64.value(BINARY64.ceil_ordinal(mpq(x))))
    assert texts("expr:exp(x)", x) == texts("exp", x)


def test_expressions_exact_and_undefined() -> None:
    """(1 + 2^-30)^2 - 2 = -1 + 2^-29 + 2^-60, of 60 bits: 2^-60 is 1/128 ulp."""
    down, up = "-0x1.fffffffp-1", "-0x1.ffffffeffffffp-1"
    assert texts("expr:x*x-2", str(1 + scale(1, -30))) == [down, up, down, up]
    assert texts("expr:x/3+2*x/3", "1") == ["0x1p+0"] * 4  # no bracket of thirds tells
    assert texts("expr:log(x-1)", "1/2") is None


def test_an_expression_that_cancels_takes_more_bits() -> None:
    x = str(scale(1, -300))
    assert texts("expr:exp(x)-1", x) == texts("expm1", x)


def test_x87() -> None:
    assert texts("sqrt", "2", X87) == [
        "0x1.6a09e667f3bcc908p+0",
        "0x1.6a09e667f3bcc90ap+0",
        "0x1.6a09e667f3bcc908p+0",
        "0x1.6a09e667f3bcc908p+0",
    ]
