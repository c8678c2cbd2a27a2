"""What a search must find, by evaluating every argument: MPFR with 400 bits, then integers.

Written from the definitions alone: of hrcase only the numbers of a format are used
(hrcase.formats, which tests/test_formats.py checks against bit patterns).

|f(x)| is written in half ulps of its binade, so that numbers are the even and midpoints the odd
integers. For |f(x)| >= 2^(emax+1) the nearest breakpoint, at most 2^emax (2 - 2^-p), is at least
a quarter of an ulp away: no case for any M >= 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal

import gmpy2

from brute import composed
from hrcase.cases import HRCase
from hrcase.formats import Format, scale

BITS = 400
CONTEXT = gmpy2.context(precision=BITS)
VANISHED = (1 << (BITS - 1), -(1 << 17))
"""Stands for every |f(x)| below it: far below half of any smallest number, and MPFR ends."""

FUNCTIONS = {
    "exp": CONTEXT.exp,
    "exp2": CONTEXT.exp2,
    "log": CONTEXT.log,
    "sin": CONTEXT.sin,
    "cbrt": CONTEXT.cbrt,
}
"""Those that the tests of splits and kernels use; the others follow."""

EVERY_FUNCTION = {
    **FUNCTIONS,
    "expm1": CONTEXT.expm1,
    "exp2m1": None,
    "exp10": CONTEXT.exp10,
    "exp10m1": None,
    "log1p": CONTEXT.log1p,
    "log2": CONTEXT.log2,
    "log2p1": None,
    "log10": CONTEXT.log10,
    "log10p1": None,
    "sqrt": CONTEXT.sqrt,
    "rsqrt": CONTEXT.rec_sqrt,
    "cos": CONTEXT.cos,
    "tan": CONTEXT.tan,
    "asin": CONTEXT.asin,
    "acos": CONTEXT.acos,
    "atan": CONTEXT.atan,
    **dict.fromkeys(("sinpi", "cospi", "tanpi", "asinpi", "acospi", "atanpi")),
    "sinh": CONTEXT.sinh,
    "cosh": CONTEXT.cosh,
    "tanh": CONTEXT.tanh,
    "asinh": CONTEXT.asinh,
    "acosh": CONTEXT.acosh,
    "atanh": CONTEXT.atanh,
    "erf": CONTEXT.erf,
    "erfc": CONTEXT.erfc,
    "tgamma": CONTEXT.gamma,
    "lgamma": lambda x: CONTEXT.lgamma(x)[0],
    "digamma": CONTEXT.digamma,
    "j0": CONTEXT.j0,
    "j1": CONTEXT.j1,
    "y0": CONTEXT.y0,
    "y1": CONTEXT.y1,
    **dict.fromkeys(composed.MEMBERS),
}
"""None: by the definition, in brute.composed."""

DECIMAL = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)
TEN_DIGITS = Context(prec=10, rounding=ROUND_HALF_UP, Emin=MIN_EMIN, Emax=MAX_EMAX)


@dataclass(frozen=True, slots=True)
class Value:
    """sign * magnitude * 2^exponent, within half a unit of the magnitude; or exactly."""

    sign: int
    magnitude: int
    exponent: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Nearest:
    """The breakpoint nearest to f(x), in half ulps of the binade of f(x), sign left out.

    Attributes:
        position: the breakpoint.
        offset, exponent: |f(x)| lies offset * 2^exponent ulps above it (below: offset < 0).
        even_position: f(x) rounded to the nearest number, as a position.
        half_ulp: log2 of half an ulp.
        value: f(x).
    """

    position: int
    offset: int
    exponent: int
    even_position: int
    half_ulp: int
    value: Value

    @property
    def is_exact(self) -> bool:
        """Whether f(x) lies on the breakpoint."""
        return self.value.exact and self.offset == 0

    def within(self, bits: int) -> bool:
        """Whether the distance is below 2^-bits ulp; it must be certain."""
        verdicts = {
            (abs(self.offset) + error).bit_length() <= -bits - self.exponent
            for error in ((0,) if self.value.exact else (-1, 1))
        }
        assert len(verdicts) == 1, "the reference needs more bits"
        return verdicts.pop()


def evaluate(name: str, m: int, e: int) -> Value | None:
    """f(m 2^e); None where f is undefined or infinite, or where hrcase does not search it."""
    function = EVERY_FUNCTION.get(name)  # other members of families are composed
    if is_outside(name, m, e):
        return None
    if function is None:
        y, is_exact = composed.evaluate(name, scale(m, e), BITS)
    else:
        x = gmpy2.mpfr(m, 64)
        y = function(CONTEXT.mul_2exp(x, e) if e >= 0 else CONTEXT.div_2exp(x, -e))
        is_exact = y.rc == 0
    if not gmpy2.is_finite(y):
        return None
    if y == 0 and is_exact:
        return Value(1, 0, 0, True)
    if y == 0 or gmpy2.get_exp(y) < VANISHED[1]:
        return Value(-1 if gmpy2.is_signed(y) else 1, *VANISHED, False)
    digits, exponent = (int(part) for part in y.as_mantissa_exp())
    excess = BITS - digits.bit_length()
    return Value(gmpy2.sign(y), abs(digits) << excess, exponent - excess, is_exact)


def is_outside(name: str, m: int, e: int) -> bool:
    """Whether f is not searched at m 2^e, though MPFR may have a value there: infinities too."""
    x = scale(m, e)
    if name in ("sin", "cos", "tan", "j0", "j1", "y0", "y1"):
        return bool(abs(x) >= 2**11)
    if name in ("lgamma", "digamma"):
        return bool(x <= -(2**11))
    return name in ("log", "log2", "log10", "rsqrt") and m <= 0


def nearest(value: Value, out: Format, rounding: str) -> Nearest | None:
    """The nearest breakpoint of a rounding choice; None beyond 2^(emax+1)."""
    exponent = value.magnitude.bit_length() - 1 + value.exponent
    if value.magnitude and exponent > out.emax:
        return None
    if value.magnitude == 0:
        exponent = out.emin
    half_ulp = max(exponent, out.emin) - out.precision
    if exponent < out.emin and not out.subnormals:
        half_ulp = out.emin - 1  # the numbers are 0 and 2^emin
    shift = half_ulp - value.exponent  # |f| = magnitude / 2^shift half ulps
    magnitude = value.magnitude
    if shift < 0:
        magnitude, shift = magnitude << -shift, 0
    even = _nearest_integer(magnitude, shift + 1) * 2
    position = {
        "all": _nearest_integer(magnitude, shift),
        "directed": even,
        "nearest": (magnitude >> (shift + 1)) * 2 + 1,
    }[rounding]
    if exponent == out.emax:
        last = 2 ** (out.precision + 1) - (2 if rounding == "directed" else 1)
        position = min(position, last)
    return Nearest(position, magnitude - (position << shift), -shift - 1, even, half_ulp, value)


def _nearest_integer(magnitude: int, shift: int) -> int:
    """magnitude / 2^shift rounded to an integer."""
    return magnitude if shift == 0 else (magnitude + (1 << (shift - 1))) >> shift


def values(name: str, inp: Format, ordinals: Iterable[int]) -> Iterator[tuple[int, Value]]:
    """(ordinal, f(x)) of the arguments at which f is defined and finite."""
    for ordinal in ordinals:
        value = evaluate(name, *inp.parts(ordinal))
        if value is not None:
            yield ordinal, value


def check_record(case: HRCase, found: Nearest, out: Format) -> None:
    """Assert that everything a row says of f(x) is so."""
    assert case.breakpoint == ("midpoint" if found.position % 2 else "number")
    assert case.side == ("above" if found.offset * found.value.sign > 0 else "below")
    rounded = scale(found.even_position * found.value.sign, found.half_ulp)
    overflows = abs(rounded) > out.max_value
    assert case.y_nearest == (found.value.sign * math.inf if overflows else rounded)
    zeros = (found.offset & -found.offset).bit_length() - 1
    distance, exponent = abs(found.offset) >> zeros, found.exponent + zeros  # exact: ties occur
    power = DECIMAL.power(Decimal(2), Decimal(exponent))
    decimal = DECIMAL.multiply(DECIMAL.create_decimal(distance), power)
    assert Decimal(case.distance_ulp) == TEN_DIGITS.plus(decimal)
    cut = max(distance.bit_length() - 64, 0)
    log2_distance = math.log2(distance >> cut) + cut + exponent
    assert abs(float(case.log2_distance) - log2_distance) <= 0.000_500_001
    is_power = distance == 1 << (distance.bit_length() - 1)
    floor_log2 = distance.bit_length() - 1 + exponent
    allowed = {-floor_log2 - (1 if is_power else 2)}
    if is_power and not found.value.exact:  # it may be a little more, or a little less
        allowed.add(-floor_log2 - 2)
    assert case.identical_bits in allowed
