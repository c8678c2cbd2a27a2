"""Exact printing and reading of numbers."""

import math

import pytest
from gmpy2 import mpq, mpz
from hypothesis import given
from hypothesis import strategies as st

from hrcase import hexfloat
from hrcase.errors import InputError
from hrcase.hexfloat import format_bound, parse_bound, parse_interval, parse_number, to_hex

finite_doubles = st.floats(allow_nan=False, allow_infinity=False)
dyadic_rationals = st.builds(
    lambda significand, exponent: mpq(significand) * mpq(2) ** exponent,
    st.integers(-(2**200), 2**200),
    st.integers(-20000, 20000),
)


@given(dyadic_rationals)
def test_printing_and_reading_is_the_identity(value: mpq) -> None:
    assert parse_number(to_hex(value)) == value


@given(dyadic_rationals.filter(bool))
def test_spelling_is_normalised(value: mpq) -> None:
    text = to_hex(value)
    significand = text.removeprefix("-").partition("p")[0]
    assert text == text.lower()
    assert significand.startswith("0x1")
    assert significand == "0x1" or (significand[3] == "." and significand[-1] not in ".0")


@given(finite_doubles)
def test_doubles_read_as_python_reads_them(value: float) -> None:
    assert float.fromhex(to_hex(mpq(value))) == value
    assert parse_number(value.hex()) == mpq(value)
    assert parse_number(repr(value)) == _rational(repr(value))


@given(finite_doubles.filter(lambda value: abs(value) >= 2.0**-1022))
def test_normal_doubles_are_spelled_as_float_hex_less_trailing_zeros(value: float) -> None:
    significand, _, exponent = value.hex().partition("p")
    assert to_hex(mpq(value)) == significand.rstrip("0").rstrip(".") + "p" + exponent


def _rational(text: str) -> mpq:
    """A decimal by a second way: gmpy2 reads whole.fraction, we apply the exponent."""
    significand, _, exponent = text.partition("e")
    return mpq(significand) * mpq(10) ** int(exponent or 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (mpq(0), "0x0p+0"),
        (mpq(3, 4), "0x1.8p-1"),
        (mpq(-1), "-0x1p+0"),
        (mpq(2) ** -1074, "0x1p-1074"),
        (mpq(2**63 + 1), "0x1.0000000000000002p+63"),
    ],
)
def test_known_spellings(value: mpq, text: str) -> None:
    assert to_hex(value) == text


def test_a_third_has_no_hexadecimal_spelling() -> None:
    with pytest.raises(InputError, match="power of two"):
        to_hex(mpq(1, 3))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1.8p-3", mpq(3, 16)),
        ("-0X1.8P-3", mpq(-3, 16)),
        ("+0x.8", mpq(1, 2)),
        ("0x10.", mpq(16)),
        ("0x0.0000000000001p-1022", mpq(2) ** -1074),
        ("0.25001", mpq(25001, 100000)),
        ("-3", mpq(-3)),
        (".5e1", mpq(5)),
        ("1.E-2", mpq(1, 100)),
        (" 7 ", mpq(7)),
        ("1e-000000000000000000002", mpq(1, 100)),
    ],
)
def test_known_readings(text: str, value: mpq) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    ["", ".", "0x", "0x.p1", "nan", "1/3", "1_000", "0x1p", "1e", "--1", "1 2", "0b1", "१", "e5"],
)
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a finite number"):
        parse_number(text)


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-1000001", "0x1p10000001", "0x1p-" + "9" * 5000, "-1e+9999999999"]
)
def test_huge_exponents_are_refused_at_once(text: str) -> None:
    with pytest.raises(InputError, match="exponent"):
        parse_number(text)


def test_the_largest_exponents_are_read() -> None:
    assert parse_number("0x1p10000000") == mpz(1) << hexfloat.MAX_BINARY_EXPONENT
    assert parse_number("1e-1000000") == mpq(1, mpz(10) ** hexfloat.MAX_DECIMAL_EXPONENT)


def test_numbers_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="characters"):
        parse_number("1" * (hexfloat.MAX_CHARACTERS + 1))
    assert parse_number("1" * 10000) == (mpz(10) ** 10000 - 1) // 9


@pytest.mark.parametrize("text", ["inf", "+inf", "INF", "infinity", "-inf", "-Infinity"])
def test_infinities_are_bounds_but_no_numbers(text: str) -> None:
    bound = parse_bound(text)
    assert bound == (-math.inf if text.startswith("-") else math.inf)
    assert format_bound(bound) == text.lower().replace("infinity", "inf").removeprefix("+")
    with pytest.raises(InputError, match="infinite"):
        parse_number(text)


def test_finite_bounds_are_numbers() -> None:
    assert parse_bound("0x1p-1") == mpq(1, 2)
    assert format_bound(mpq(1, 2)) == "0x1p-1"


@pytest.mark.parametrize("value", [0.5, math.nan])
def test_floats_that_are_not_infinite_are_never_printed(value: float) -> None:
    with pytest.raises(InputError, match="only infinities"):
        format_bound(value)


def test_interval() -> None:
    assert parse_interval("-1,0x1p1") == (mpq(-1), mpq(2))
    assert parse_interval("-inf,inf") == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("1", "1 parts"), ("1,2,3", "3 parts"), ("2,1", "empty"), ("1,1", "empty"), ("1,x", "'x'")],
)
def test_wrong_intervals_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_interval(text)
