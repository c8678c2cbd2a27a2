"""Roundings and printed digits against numpy's conversions, Python's division and `decimal`."""

from __future__ import annotations

import math
import random
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from gmpy2 import mpq

from hrcase.formats import FORMATS, Format, scale
from hrcase.ziv import decimal, floor_log10, log2_decimal, round_to

BINARY16, BINARY32, BINARY64 = FORMATS["binary16"], FORMATS["binary32"], FORMATS["binary64"]
FLUSHED = Format("flushed", 4, -3, 3, subnormals=False)
SIXTY_DIGITS = Context(prec=60, Emin=-(10**6), Emax=10**6)


def exact(value: float | Fraction) -> mpq:
    return mpq(*value.as_integer_ratio())


def doubles(count: int, lo: int, hi: int) -> list[float]:
    """Doubles of both signs with random exponents lo <= e <= hi."""
    draw = random.Random(7)
    return [
        math.ldexp(draw.choice((-1, 1)) * (1 + draw.random()), draw.randint(lo, hi))
        for _ in range(count)
    ]


def as_infinite(value: np.float32) -> mpq | float:
    number = float(value)
    return exact(number) if math.isfinite(number) else number


@pytest.mark.parametrize(("lo", "hi"), [(-152, -140), (-10, 10), (120, 130)])
def test_round_to_binary32_is_the_conversion_of_the_machine(lo: int, hi: int) -> None:
    for number in doubles(300, lo, hi):
        with np.errstate(over="ignore"):
            nearest = np.float32(number)
        is_below, is_above = float(nearest) <= number, float(nearest) >= number
        down = nearest if is_below else np.nextafter(nearest, np.float32(-np.inf))
        up = nearest if is_above else np.nextafter(nearest, np.float32(np.inf))
        x = exact(number)
        assert round_to(BINARY32, x, "nearest") == as_infinite(nearest)
        assert round_to(BINARY32, x, "down") == as_infinite(down)
        assert round_to(BINARY32, x, "up") == as_infinite(up)
        assert round_to(BINARY32, x, "zero") == as_infinite(down if number > 0 else up)


def test_round_to_binary64_is_the_division_of_python() -> None:
    draw = random.Random(8)
    for _ in range(500):
        value = Fraction(draw.getrandbits(80) + 1, draw.getrandbits(80) + 1)
        value *= Fraction(2) ** draw.choice((0, -1060, -1090))
        nearest = float(value)  # correctly rounded, ties to even
        up = nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
        down = nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
        for mode, rounded in (("nearest", nearest), ("up", up), ("down", down), ("zero", down)):
            assert round_to(BINARY64, exact(value), mode) == exact(rounded)


def test_ties_go_to_even() -> None:
    for ordinal in range(0, BINARY16.max_ordinal, 5):  # an odd step: both parities
        tie = (BINARY16.value(ordinal) + BINARY16.value(ordinal + 1)) / 2
        assert round_to(BINARY16, tie, "nearest") == exact(float(np.float16(float(tie))))


def test_the_overflow_tie_goes_to_infinity() -> None:
    tie = mpq(65520)
    below = tie - mpq(1, 1 << 90)
    for sign in (1, -1):
        assert round_to(BINARY16, sign * tie, "nearest") == sign * math.inf
        assert round_to(BINARY16, sign * below, "nearest") == sign * 65504
        assert round_to(BINARY16, sign * tie, "zero") == sign * 65504
    assert round_to(BINARY16, tie, "up") == math.inf
    assert round_to(BINARY16, -tie, "up") == -65504
    assert round_to(BINARY16, -tie, "down") == -math.inf


def test_ties_without_subnormals_go_to_the_even_significand() -> None:
    for ordinal in range(1, FLUSHED.max_ordinal):
        low, high = FLUSHED.value(ordinal), FLUSHED.value(ordinal + 1)
        even = low if FLUSHED.parts(ordinal)[0] % 2 == 0 else high
        assert round_to(FLUSHED, (low + high) / 2, "nearest") == even


def log2_of(value: mpq) -> Decimal:
    with localcontext(SIXTY_DIGITS):
        quotient = Decimal(int(value.numerator)) / Decimal(int(value.denominator))
        return quotient.ln() / Decimal(2).ln()


def test_log2_decimal_against_decimal_logarithms() -> None:
    draw = random.Random(11)
    for _ in range(200):
        value = scale(
            mpq(draw.getrandbits(60) + 1, draw.getrandbits(60) + 1), draw.randint(-300, 9)
        )
        rounded = log2_of(value).quantize(Decimal("0.001"), rounding=ROUND_HALF_UP)
        text = log2_decimal(value, value)
        assert text is not None
        assert Decimal(text) == rounded
        assert text.startswith("-") == (rounded < 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (scale(1, -44), "-44.000"),
        (mpq(1), "0.000"),
        (scale(1, 7), "7.000"),
        (mpq(9999, 10000), "0.000"),  # -0.00014: no minus sign before 0
        (mpq(9995, 10000), "-0.001"),  # -0.00072
    ],
)
def test_log2_decimal_spells(value: mpq, text: str) -> None:
    assert log2_decimal(value, value) == text


def test_log2_decimal_wants_one_answer() -> None:
    assert log2_decimal(scale(1, -44), scale(1, -43)) is None
    near_tie = scale(mpq(1044, 1000), -44), scale(mpq(1045, 1000), -44)  # 2^-43.9375 between them
    assert log2_decimal(*near_tie) is None


@pytest.mark.parametrize(("sixteenths", "text"), [(-2047, "-127.938"), (2047, "127.938")])
def test_log2_ties_go_away_from_zero(sixteenths: int, text: str) -> None:
    """log2 of 2^(j/16) is j/16: for odd j its fourth decimal is the last one and a 5."""
    root = 1 << (sixteenths + 16 * 400)
    for _ in range(4):
        root = math.isqrt(root)  # at the end floor(2^(j/16 + 400))
    low, high = scale(root, -400), scale(root + 1, -400)
    assert log2_decimal(low, high) == text
    # On one side of the tie, as far as 64 bits tell, but from too near it to be told apart.
    assert log2_decimal(high, high * (1 + scale(1, -110))) is None
    assert log2_decimal(low * (1 - scale(1, -110)), low) is None


def test_decimal_and_floor_log10() -> None:
    draw = random.Random(12)
    ten_digits = Context(prec=10, rounding=ROUND_HALF_UP, Emin=-(10**6), Emax=10**6)
    for _ in range(500):
        numerator, denominator = draw.getrandbits(70) + 1, draw.getrandbits(70) + 1
        value = scale(mpq(numerator, denominator), draw.randint(-1200, 1200))
        rounded = ten_digits.divide(Decimal(int(value.numerator)), Decimal(int(value.denominator)))
        assert Decimal(decimal(value)) == rounded
        floor = floor_log10(value)
        assert mpq(10) ** floor <= value < mpq(10) ** (floor + 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (mpq(1), "1.000000000e+00"),
        (mpq(99999999994, 10**10), "9.999999999e+00"),
        (mpq(99999999995, 10**10), "1.000000000e+01"),
        (mpq(1, 10**120), "1.000000000e-120"),
    ],
)
def test_decimal_spells(value: mpq, text: str) -> None:
    assert decimal(value) == text
