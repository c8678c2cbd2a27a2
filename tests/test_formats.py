"""Ordinals and values of formats against bit patterns of the machine, and by definition."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from hrcase.errors import InputError
from hrcase.formats import (
    FORMATS,
    NEAR,
    Format,
    first_ordinal_above_0,
    first_ordinal_where,
    floor_log2,
    format_by_name,
    scale,
)

PATTERNS = {"binary32": "<f", "binary64": "<d"}
SIZES = {"binary32": 4, "binary64": 8}


def machine_value(name: str, ordinal: int) -> Fraction:
    """The number whose bit pattern is the ordinal; negative ordinals have the sign bit set."""
    pattern = abs(ordinal).to_bytes(SIZES[name], "little")
    value = Fraction(struct.unpack(PATTERNS[name], pattern)[0])
    return value if ordinal >= 0 else -value


def test_every_binary16() -> None:
    binary16 = FORMATS["binary16"]
    patterns = np.arange(0x7C00, dtype=np.uint16)
    machine = [Fraction(float(x)) for x in patterns.view(np.float16)]
    assert binary16.max_ordinal == 0x7BFF
    for ordinal, value in enumerate(machine):
        assert binary16.value(ordinal) == value
        assert binary16.value(-ordinal) == -value
        assert binary16.ordinal(mpq(value)) == ordinal


def test_every_bfloat16_is_the_upper_half_of_a_binary32() -> None:
    bfloat16 = FORMATS["bfloat16"]
    assert bfloat16.max_ordinal == 0x7F7F
    for ordinal in range(bfloat16.max_ordinal + 1):
        assert bfloat16.value(ordinal) == machine_value("binary32", ordinal << 16)


@pytest.mark.parametrize("name", PATTERNS)
@given(data=st.data())
def test_ordinals_are_bit_patterns(name: str, data: st.DataObject) -> None:
    f = FORMATS[name]
    edge = data.draw(st.sampled_from((0, 1 << (f.precision - 1), f.max_ordinal)))
    near = st.integers(-4, 4).map(lambda step: edge + step)
    ordinal = data.draw(st.one_of(st.integers(0, f.max_ordinal), near))
    ordinal = min(abs(ordinal), f.max_ordinal) * data.draw(st.sampled_from((-1, 1)))
    value = f.value(ordinal)
    assert value == machine_value(name, ordinal)
    assert f.ordinal(value) == ordinal
    m, e = f.parts(ordinal)
    assert scale(m, e) == value
    assert e == f.ulp_exponent(floor_log2(abs(value)) if value else f.emin)


@pytest.mark.parametrize("name", PATTERNS)
def test_the_largest_number(name: str) -> None:
    f = FORMATS[name]
    largest = {"binary32": float(np.finfo(np.float32).max), "binary64": math.ulp(1.0)}[name]
    if name == "binary64":
        largest = (2.0 - largest) * 2.0**1023
    assert f.max_value == Fraction(largest) == machine_value(name, f.max_ordinal)
    with pytest.raises(InputError):
        f.value(f.max_ordinal + 1)


small_formats = st.builds(
    lambda p, emin, emax, subnormals: Format("small", p, emin, max(emin, emax), subnormals),
    st.integers(2, 6),
    st.integers(-5, 3),
    st.integers(0, 6),
    st.booleans(),
)


def listed(f: Format) -> list[Fraction]:
    """Every number of a format >= 0, from the definition."""
    normal = [
        m * Fraction(2) ** (e - f.precision + 1)
        for e in range(f.emin, f.emax + 1)
        for m in range(1 << (f.precision - 1), 1 << f.precision)
    ]
    least = Fraction(2) ** (f.emin - f.precision + 1)
    tiny = [m * least for m in range(1, 1 << (f.precision - 1))] if f.subnormals else []
    return [Fraction(0), *tiny, *normal]


@given(f=small_formats)
def test_a_small_format_holds_the_numbers_of_its_definition(f: Format) -> None:
    numbers = listed(f)
    assert [f.value(i) for i in range(f.max_ordinal + 1)] == numbers
    assert [f.value(-i) for i in range(f.max_ordinal + 1)] == [-x for x in numbers]


@given(f=small_formats, value=st.fractions(-100, 100, max_denominator=4096))
def test_ceil_ordinal_is_the_first_number_not_below(f: Format, value: Fraction) -> None:
    numbers = {i: f.value(i) for i in range(-f.max_ordinal, f.max_ordinal + 1)}
    at_or_above = [i for i, number in numbers.items() if number >= value]
    assert f.ceil_ordinal(mpq(value)) == min(at_or_above, default=f.max_ordinal + 1)
    if value not in numbers.values():
        with pytest.raises(InputError):
            f.ordinal(mpq(value))


def test_infinite_bounds_take_in_everything() -> None:
    for f in FORMATS.values():
        assert f.ceil_ordinal(math.inf) == f.max_ordinal + 1
        assert f.ceil_ordinal(-math.inf) == -f.max_ordinal


def test_formats_without_numbers_and_unknown_names_are_refused() -> None:
    for precision, emin, emax in ((1, 0, 1), (4, 2, 1)):
        with pytest.raises(InputError, match="has no numbers"):
            Format("none", precision, emin, emax)
    with pytest.raises(InputError, match="binary16, bfloat16, binary32, binary64, x87"):
        format_by_name("binary65")
    assert format_by_name("binary64").precision == 53


def test_formats_for_which_nothing_is_proved_are_refused() -> None:
    """The conditions that docs/method.md begins with, and those of its lemma 8."""
    assert Format("low", 11, -14, 0).max_value < 2
    with pytest.raises(InputError, match=r"'low' ends below 1, at 2\^0.*give emax >= 0"):
        Format("low", 11, -14, -1)
    assert Format("tiny", 10, 51 - (1 << 16), 0).value(1) > 0
    for precision, emin in ((10, 50 - (1 << 16)), (11, 51 - (1 << 16)), (237, -262142)):
        with pytest.raises(InputError, match=r"give 5 \* precision - emin < 65536"):
            Format("tiny", precision, emin, 0)


@given(numerator=st.integers(1, 1 << 70), denominator=st.integers(1, 1 << 70))
def test_floor_log2(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    exponent = floor_log2(mpq(numerator, denominator))
    assert Fraction(2) ** exponent <= value < Fraction(2) ** (exponent + 1)


@given(
    lo=st.integers(-(1 << 70), 1 << 70),
    length=st.one_of(st.integers(0, 3 * NEAR), st.integers(0, 1 << 70)),
    data=st.data(),
)
def test_the_first_ordinal_is_found(lo: int, length: int, data: st.DataObject) -> None:
    hi = lo + length
    near = st.integers(-2 * NEAR, 2 * NEAR)
    answer = data.draw(
        st.one_of(st.integers(lo, hi), near.map(lambda i: lo + i), near.map(lambda i: hi + i))
    )
    answer = max(lo, min(hi, answer))
    asked: list[int] = []

    def condition(ordinal: int) -> bool:
        asked.append(ordinal)
        return ordinal >= answer

    assert first_ordinal_where(lo, hi, condition) == answer
    assert all(lo <= ordinal < hi for ordinal in asked)
    if min(answer - lo, hi - answer) < NEAR - 1:
        assert len(asked) <= 12


@given(
    lo=st.integers(-(1 << 70), 1 << 70),
    length=st.integers(1, 1 << 60),
    share=st.fractions(0, 1),
    step=st.integers(0, 1 << 62),
    shape=st.sampled_from(
        [
            lambda u: u,
            lambda u: math.copysign(1.0, u),
            lambda u: math.expm1(20 * u),
            lambda u: u**3 or 1e-300,
            lambda u: u * 1e-300,
            lambda u: -1e6 if u < 0 else u,
        ]
    ),
)
def test_a_level_is_passed_where_it_is_whatever_its_shape(
    lo: int, length: int, share: Fraction, step: int, shape: Callable[[float], float]
) -> None:
    answer = lo + max(1, round(share * length))
    asked = 0

    def level(ordinal: int) -> float:
        nonlocal asked
        assert lo <= ordinal <= lo + length
        asked += 1
        return shape((ordinal - answer + 0.5) / length)

    assert first_ordinal_above_0(lo, lo + length, level, step) == answer
    assert asked <= 5 * length.bit_length() + 40


def test_a_smooth_level_takes_few_questions() -> None:
    asked = []

    def level(ordinal: int) -> float:
        asked.append(ordinal)
        return math.expm1((ordinal - (1 << 50) + 0.5) / 2**50)

    assert first_ordinal_above_0(0, 1 << 52, level, 1 << 53) == 1 << 50
    assert len(asked) < 20
