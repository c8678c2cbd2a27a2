"""f(x) in four rounding modes, of expressions: for `export --to values` and `libm`."""

from __future__ import annotations

import gmpy2
import pytest
from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.formats import FORMATS
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_number
from hrcase.roundings import number_of, roundings

BINARY64 = FORMATS["binary64"]


def texts(expression: str, x: str) -> list[str] | None:
    f, number = function_by_name(f"expr:{expression}"), number_of(BINARY64, parse_number(x))
    values = roundings(f, BINARY64, BINARY64, number)
    return None if values is None else [value.text(BINARY64) for value in values]


@pytest.mark.parametrize("x", ["0x1p+0", "0x1.8p+0", "-0x1.fffffffffffffp-3"])
@pytest.mark.parametrize(("expression", "a", "b"), [("x/3", "1/3", "0"), ("x*7+1e-9", "7", "1e-9")])
def test_rational_values_that_are_not_dyadic(expression: str, a: str, b: str, x: str) -> None:
    value = mpq(a) * parse_number(x) + parse_number(b)
    directions = gmpy2.RoundToNearest, gmpy2.RoundUp, gmpy2.RoundDown, gmpy2.RoundToZero
    wanted = []
    for direction in directions:
        context = gmpy2.context(precision=53, round=direction)
        y = context.div(gmpy2.mpfr(value.numerator, 200), gmpy2.mpfr(value.denominator, 200))
        wanted.append(float(y))
    assert [float.fromhex(text) for text in texts(expression, x) or []] == wanted


def test_a_value_that_few_bits_do_not_tell_to_exist() -> None:
    """exp(x) - 1 - x is about x^2/2: 2^-201, next to 1."""
    assert texts("sqrt(exp(x)-1-x)", "0x1p-100") == texts("x*sqrt(1/2+x/6)", "0x1p-100")


def test_values_beyond_every_exponent() -> None:
    largest = "0x1.fffffffffffffp+1023"
    assert texts("exp(exp(exp(x)))", "0x1.4p+3") == ["inf", "inf", largest, largest]
    below = ["-inf", f"-{largest}", "-inf", f"-{largest}"]
    assert texts("-exp(exp(exp(x)))", "0x1.4p+3") == below


def test_no_value_and_an_undecided_one() -> None:
    assert texts("log(x-2)", "0x1p+0") is None
    with pytest.raises(InputError, match=r"4096 bits do not tell how cos.* at 0x1p-1"):
        texts("cos(pi*x)", "0x1p-1")
