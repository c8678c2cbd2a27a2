"""sinpi, cospi and tanpi, and their inverses: angles in half turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, floor

from flint import arb, arb_series
from gmpy2 import mpfr, mpq

from hrcase.formats import Format, scale
from hrcase.functions.base import Function, RealPoint, Tail
from hrcase.functions.rounding import (
    Bracket,
    Directed,
    as_rational,
    correctly_rounded,
    exactly,
)
from hrcase.functions.series import with_constant
from hrcase.functions.trigonometric import OUTSIDE_OF_1, acos_series, asin_series, atan_series

PERIODIC_FROM = 11
"""For |x| >= 2^this the period decides, as periods hold ever fewer arguments."""

NIVEN = "at rational multiples r of pi the only rational sines are 0, +-1/2, +-1 (Niven)"


def _quarters(x: mpfr) -> tuple[int, mpfr]:
    """(k modulo 4, s) with x = k/2 + s, |s| <= 1/4: exactly."""
    value = as_rational(x)
    k = int((4 * value + 1) // 2)
    return k % 4, exactly(value - mpq(k, 2))


def _sine(at: Directed, s: mpfr) -> Bracket:
    """sin(pi s), |s| <= 1/4."""
    low, high = at.times(s, at.pi)
    return at.down.sin(low), at.up.sin(high)


def _cosine(at: Directed, s: mpfr) -> Bracket:
    """cos(pi s), |s| <= 1/4."""
    low, high = at.times(s, at.pi)
    if s < 0:
        low, high = high, low
    return at.down.cos(high), at.up.cos(low)


def _negative(at: Directed, y: Bracket) -> Bracket:
    return at.down.minus(y[1]), at.up.minus(y[0])


def _sinpi_bracket(at: Directed, x: mpfr, turn: int = 0) -> Bracket:
    """sin(pi (x + turn/2))."""
    k, s = _quarters(x)
    quadrant = (k + turn) % 4
    value = _cosine(at, s) if quadrant % 2 else _sine(at, s)
    return _negative(at, value) if quadrant >= 2 else value


def _cospi_bracket(at: Directed, x: mpfr) -> Bracket:
    return _sinpi_bracket(at, x, 1)


def _tanpi_bracket(at: Directed, x: mpfr) -> Bracket:
    k, s = _quarters(x)
    low, high = at.times(s, at.pi)
    if k % 2:  # tan(pi x) = -cot(pi s), which falls on each side of its pole
        return _negative(at, (at.down.cot(high), at.up.cot(low)))
    return at.down.tan(low), at.up.tan(high)


def _asinpi_bracket(at: Directed, x: mpfr) -> Bracket:
    return at.over((at.down.asin(x), at.up.asin(x)), at.pi)


def _acospi_bracket(at: Directed, x: mpfr) -> Bracket:
    return at.over((at.down.acos(x), at.up.acos(x)), at.pi)


def _atanpi_bracket(at: Directed, x: mpfr) -> Bracket:
    return at.over((at.down.atan(x), at.up.atan(x)), at.pi)


def _sinpi_exact(x: mpq) -> mpq | None:
    return [mpq(0), mpq(1), mpq(0), mpq(-1)][int(2 * x) % 4] if x.denominator <= 2 else None


def _cospi_exact(x: mpq) -> mpq | None:
    return _sinpi_exact(x + mpq(1, 2))


def _tanpi_exact(x: mpq) -> mpq | None:
    return {0: mpq(0), 1: mpq(1), 3: mpq(-1)}.get(int(4 * x) % 4) if x.denominator <= 4 else None


def _asinpi_exact(x: mpq) -> mpq | None:
    return x / 2 if x in (-1, 0, 1) else None


def _acospi_exact(x: mpq) -> mpq | None:
    return mpq(1 - x, 2) if x in (-1, 0, 1) else None


def _atanpi_exact(x: mpq) -> mpq | None:
    return x / 4 if x in (-1, 0, 1) else None


def _exact_point(x: mpq) -> arb:
    return arb((int(x.numerator), 1 - int(x.denominator.bit_length())))


def _points(offset: mpq) -> Callable[[mpq, mpq], Iterator[mpq]]:
    """The k + offset between two bounds, both included."""

    def between(lo: mpq, hi: mpq) -> Iterator[mpq]:
        for k in range(ceil(lo - offset), floor(hi - offset) + 1):
            yield k + offset

    return between


def _turning_at(offset: mpq) -> Callable[[mpq, mpq], Iterator[RealPoint]]:
    def between(lo: mpq, hi: mpq) -> Iterator[RealPoint]:
        for point in _points(offset)(lo, hi):
            yield partial(_exact_point, point)

    return between


def _periodic(name: str, period: int, poles: str = "") -> Callable[..., list[Tail]]:
    """Beyond 2^PERIODIC_FROM the cases are images of cases nearer to 0."""
    half = mpq(period, 2)

    def tails(inp: Format, out: Format, bits: int, rounding: str) -> list[Tail]:
        del inp, out, bits, rounding
        reason = PERIODIC.format(name=name, period=period, half=half, poles=poles)
        bound, infinity = scale(1, PERIODIC_FROM), float("inf")
        ends = (-infinity, -bound), (bound, infinity)
        return [Tail(lo, hi, "c", reason, "images") for lo, hi in ends]

    return tails


PERIODIC = (
    "{name} has the period {period}: exactly the x whose r = x - {period} k, |r| <= {half}, which "
    "is a number of the input format, is a case; exact results among them are not counted{poles}"
)
HALF_INTEGERS = "; half-integers are poles"
TAILS_IN_WORDS = "|x| >= 2^11: the cases are the images by the period of those nearer to 0"


def _tanpi_series(x: arb_series) -> arb_series:
    return with_constant(x.sin_pi() * x.cos_pi().inv(), x[0].tan_pi())


REDUCED = "MPFR's {} at pi times the exactly reduced x, bracketed by directed rounding; Arb's {}"
DIVIDED = "MPFR's {0}(x)/pi, bracketed by directed rounding; Arb's {0}(x)/pi"

SINPI = Function(
    name="sinpi",
    formula="sin(pi x)",
    mpfr=correctly_rounded(_sinpi_bracket, _sinpi_exact),
    arb=lambda x: x.sin_pi(),
    series=lambda x: x.sin_pi(),
    exact=_sinpi_exact,
    exact_rule=f"{NIVEN}; sin(pi x) = +-1/2 has no dyadic x: the multiples of 1/2",
    critical_points=_turning_at(mpq(1, 2)),
    monotone="sinpi' = pi cospi has no zero between neighbouring half-integers",
    symmetry="odd",
    copies_from=mpq(1),
    copies="sin(pi (1 - x)) = sin(pi x) = -sin(pi (x + 1))",
    tails=_periodic("sinpi", 2),
    tails_in_words=TAILS_IN_WORDS,
    evaluators=REDUCED.format("sin and cos", "sin_pi"),
)

COSPI = Function(
    name="cospi",
    formula="cos(pi x)",
    mpfr=correctly_rounded(_cospi_bracket, _cospi_exact),
    arb=lambda x: x.cos_pi(),
    series=lambda x: x.cos_pi(),
    exact=_cospi_exact,
    exact_rule=f"{NIVEN}; cos(pi x) = +-1/2 has no dyadic x: the multiples of 1/2",
    critical_points=_turning_at(mpq(0)),
    monotone="cospi' = -pi sinpi has no zero between neighbouring integers",
    symmetry="even",
    copies_from=mpq(1),
    copies="cos(pi (2 - x)) = cos(pi x) = -cos(pi (x + 1))",
    tails=_periodic("cospi", 2),
    tails_in_words=TAILS_IN_WORDS,
    evaluators=REDUCED.format("sin and cos", "cos_pi"),
)

TANPI = Function(
    name="tanpi",
    formula="tan(pi x)",
    mpfr=correctly_rounded(_tanpi_bracket, _tanpi_exact),
    arb=lambda x: x.tan_pi(),
    series=_tanpi_series,
    exact=_tanpi_exact,
    exact_rule=(
        "at rational multiples of pi the only rational tangents are 0 and +-1 (Niven): the "
        "integers and the odd multiples of 1/4"
    ),
    poles=_points(mpq(1, 2)),
    poles_in_words="the half-integers",
    monotone="tanpi' = pi/cospi^2 > 0 between neighbouring half-integers",
    symmetry="odd",
    copies_from=mpq(1),
    copies="tan(pi (x + 1)) = tan(pi x) = -tan(pi (1 - x))",
    tails=_periodic("tanpi", 1, HALF_INTEGERS),
    tails_in_words=TAILS_IN_WORDS + HALF_INTEGERS,
    evaluators=REDUCED.format("tan and cot", "tan_pi"),
)

ASINPI = Function(
    name="asinpi",
    formula="asin(x)/pi",
    mpfr=correctly_rounded(_asinpi_bracket, _asinpi_exact),
    arb=lambda x: x.asin() / arb.pi(),
    series=lambda x: asin_series(x) / arb.pi(),
    lo=mpq(-1),
    hi=mpq(1),
    closed=True,
    outside=OUTSIDE_OF_1.format("asinpi"),
    exact=_asinpi_exact,
    exact_rule=f"{NIVEN}, and asinpi(+-1/2) = +-1/6 is not dyadic: x = 0 and +-1",
    monotone="asinpi' = (1 - x^2)^(-1/2)/pi > 0",
    symmetry="odd",
    evaluators=DIVIDED.format("asin"),
)

ACOSPI = Function(
    name="acospi",
    formula="acos(x)/pi",
    mpfr=correctly_rounded(_acospi_bracket, _acospi_exact),
    arb=lambda x: x.acos() / arb.pi(),
    series=lambda x: acos_series(x) / arb.pi(),
    lo=mpq(-1),
    hi=mpq(1),
    closed=True,
    outside=OUTSIDE_OF_1.format("acospi"),
    exact=_acospi_exact,
    exact_rule=f"{NIVEN}, and acospi(+-1/2) = 1/3, 2/3 is not dyadic: x = 0 and +-1",
    monotone="acospi' = -(1 - x^2)^(-1/2)/pi < 0",
    evaluators=DIVIDED.format("acos"),
)

ATANPI = Function(
    name="atanpi",
    formula="atan(x)/pi",
    mpfr=correctly_rounded(_atanpi_bracket, _atanpi_exact),
    arb=lambda x: x.atan() / arb.pi(),
    series=lambda x: atan_series(x) / arb.pi(),
    exact=_atanpi_exact,
    exact_rule=(
        "at rational multiples of pi the only rational tangents are 0 and +-1 (Niven): x = 0, +-1"
    ),
    monotone="atanpi' = 1/(pi (1 + x^2)) > 0",
    symmetry="odd",
    evaluators=DIVIDED.format("atan"),
)

HALF_TURNS = (SINPI, COSPI, TANPI, ASINPI, ACOSPI, ATANPI)
