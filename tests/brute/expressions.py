"""Expressions for the tests: their text, and their values by plain MPFR with 2000 bits.

Nothing of hrcase's parser or evaluators is used: an expression is built together with a closure
that computes it. Its values are taken as exact where the last 1500 bits are all alike; no
argument that the tests use comes so near a breakpoint otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr

from brute.reference import Value
from hrcase.formats import Format

BITS, ALIKE = 2000, 1500
CONTEXT = gmpy2.context(
    precision=BITS,
    emin=-(1 << 20),
    emax=1 << 20,
    trap_divzero=True,
    trap_invalid=True,
)


@dataclass(frozen=True)
class Formula:
    """A text, and the function of x that it means."""

    text: str
    value: Callable[[mpfr], mpfr]

    def __add__(self, other: Formula) -> Formula:
        return self._with(other, "+", CONTEXT.add)

    def __sub__(self, other: Formula) -> Formula:
        return self._with(other, "-", CONTEXT.sub)

    def __mul__(self, other: Formula) -> Formula:
        return self._with(other, "*", CONTEXT.mul)

    def __truediv__(self, other: Formula) -> Formula:
        return self._with(other, "/", CONTEXT.div)

    def __neg__(self) -> Formula:
        return Formula(f"-({self.text})", lambda x: CONTEXT.minus(self.value(x)))

    def __pow__(self, n: int) -> Formula:
        return Formula(f"({self.text})^{n}", lambda x: CONTEXT.pow(self.value(x), n))

    def _with(self, other: Formula, sign: str, f: Callable[[mpfr, mpfr], mpfr]) -> Formula:
        text = f"({self.text}){sign}({other.text})"
        return Formula(text, lambda x: f(self.value(x), other.value(x)))


X = Formula("x", lambda x: x)
PI = Formula("pi", lambda x: CONTEXT.const_pi())
COSPI = Formula("cos(pi*x)", lambda x: _cospi(x))
E = Formula("e", lambda x: CONTEXT.exp(mpfr(1)))


def _cospi(x: mpfr) -> mpfr:
    """With its zeros, which pi rounded does not give."""
    doubled = CONTEXT.mul(x, 2)
    is_zero = gmpy2.is_integer(doubled) and not gmpy2.is_integer(x)
    return mpfr(0) if is_zero else CONTEXT.cos(CONTEXT.mul(CONTEXT.const_pi(), x))


def number(text: str, numerator: int, denominator: int = 1) -> Formula:
    """A constant."""
    return Formula(text, lambda x: CONTEXT.div(mpfr(numerator, 200), mpfr(denominator, 200)))


def call(name: str) -> Callable[[Formula], Formula]:
    """A function whose name in MPFR is that of the registry."""
    function = getattr(CONTEXT, {"tgamma": "gamma"}.get(name, name))
    return lambda of: Formula(f"{name}({of.text})", lambda x: function(of.value(x)))


class Unsure(Exception):
    """The value overflows, underflows, or comes too near to 0 to be sure that it is not 0."""


def evaluate(formula: Formula, m: int, e: int) -> Value | None:
    """f(m 2^e); None where it is not defined.

    Raises:
        Unsure: this way of computing it is too simple.
    """
    point = mpfr(m, 64)
    CONTEXT.clear_flags()
    x = CONTEXT.mul_2exp(point, e) if e >= 0 else CONTEXT.div_2exp(point, -e)
    try:
        y = formula.value(x)
    except (gmpy2.DivisionByZeroError, gmpy2.InvalidOperationError):
        return None
    if CONTEXT.underflow or CONTEXT.overflow or (y != 0 and gmpy2.get_exp(y) > ALIKE):
        raise Unsure
    if y == 0:
        return Value(1, 0, 0, True)
    digits, exponent = (int(part) for part in y.as_mantissa_exp())
    excess = BITS - digits.bit_length()
    magnitude, exponent = abs(digits) << excess, exponent - excess
    rounded = ((magnitude >> ALIKE) + (magnitude >> (ALIKE - 1)) % 2) << ALIKE
    is_exact = abs(rounded - magnitude).bit_length() < 100
    if not is_exact and abs(rounded - magnitude).bit_length() < ALIKE - 500:
        raise Unsure
    return Value(gmpy2.sign(y), rounded if is_exact else magnitude, exponent, is_exact)


def values(
    formula: Formula, inp: Format, ordinals: Iterable[int]
) -> Iterator[tuple[int, Value | None]]:
    """(ordinal, f(x)) of arguments."""
    for ordinal in ordinals:
        yield ordinal, evaluate(formula, *inp.parts(ordinal))
