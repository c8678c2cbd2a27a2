"""Every entry of the registry is complete and true: what docs/adding-a-function.md asks for.

MPFR and Arb evaluate each function at random and at awkward arguments; the statements of an
entry (domain, exact values, symmetry, monotone ranges, nearly x) are looked at with both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from math import pi

import gmpy2
import pytest
from brute.composed import MEMBERS
from flint import arb, arb_series, fmpq
from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, by_arb, by_mpfr, lower_bound, rounded, upper_bound
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import REGISTRY, Function, bessel, function_by_name, series
from hrcase.lattice import key_of, overflow_key
from hrcase.taylor import flint_precision

EXTREME = ("pown:-1024", "pown:1024", "rootn:-2", "rootn:-1", "rootn:-1024", "compound:-1024")
"""Of families those that are tested in this file alone."""

NAMES = [*REGISTRY, *MEMBERS, *EXTREME]
BINARY16, BINARY32, BINARY64 = (FORMATS[f"binary{n}"] for n in (16, 32, 64))
X87 = FORMATS["x87"]
DIRECTIONS = (
    gmpy2.RoundDown,
    gmpy2.RoundUp,
    gmpy2.RoundToNearest,
    gmpy2.RoundToZero,
    gmpy2.RoundAwayZero,
)


def parts(x: mpq) -> tuple[int, int]:
    """(m, e) with x = m 2^e."""
    return int(x.numerator), 1 - int(x.denominator.bit_length())


def arguments(
    f: Function, inp: Format, count: int, seed: object = 0, bound: int = 2**11
) -> Iterator[mpq]:
    """Numbers of a format in the domain, |x| < bound: random ones, and next to the usual places."""
    draw = random.Random(f"{f.name}{seed}")
    while count:
        lo, hi = inp.ceil_ordinal(max(f.lo, mpq(-bound))), inp.ceil_ordinal(min(f.hi, mpq(bound)))
        near = inp.ceil_ordinal(draw.choice((-3, -2, -1, 0, 1, 2, 3, 10)) / mpq(2))
        ordinal = draw.choice(
            (draw.randint(lo, hi), near + draw.randint(-3, 3), near + draw.randint(-99999, 99999))
        )
        uniform = inp.ceil_ordinal(mpq(draw.randint(-(2**20), 2**20), 2 ** draw.randint(10, 20)))
        x = inp.value(max(-inp.max_ordinal, min(draw.choice((ordinal, uniform)), inp.max_ordinal)))
        if f.contains(x) and abs(x) < bound:
            count -= 1
            yield x


def reaches(f: Function, x: mpq) -> bool:
    """Whether f(x) neither overflows nor underflows MPFR."""
    try:
        by_mpfr(f, *parts(x), 64)
    except OutOfReach:
        return False
    return True


def bits(x: mpq) -> int:
    return int(x.numerator.bit_length())


def fraction(x: mpq) -> tuple[int, int]:
    return int(x.numerator), int(x.denominator)


@pytest.mark.parametrize("name", NAMES)
def test_the_two_evaluators_agree(name: str) -> None:
    f = function_by_name(name)
    for x in arguments(f, BINARY64, 300):
        if f.exact(x) is not None or not reaches(f, x):
            continue
        for precision in (60, 150, 400):
            low, high = by_mpfr(f, *parts(x), precision)
            arb_low, arb_high = by_arb(f, *parts(x), precision + 400)
            assert arb_low <= high and low <= arb_high
            assert arb_high - arb_low < (high - low) * scale(1, -100)


@pytest.mark.parametrize("name", NAMES)
def test_mpfr_rounds_correctly_in_every_direction(name: str) -> None:
    """Of the roundings to 20 bits, against Arb's enclosure."""
    f = function_by_name(name)
    for x in arguments(f, BINARY32, 150, "directions", 64):
        if f.exact(x) is not None or not reaches(f, x):
            continue
        precision = 20
        low, high = by_arb(f, *parts(x), 8000)
        down, up, near, zero, away = (
            mpq(*map(int, y.as_integer_ratio()))
            for y in (rounded(f, *parts(x), precision, direction) for direction in DIRECTIONS)
        )
        assert down <= low and high <= up and down < up
        assert up - down <= scale(1, -precision + 1) * max(abs(up), abs(down))
        middle = (down + up) / 2
        assert near == (down if high < middle else up)
        assert (zero, away) == ((down, up) if low > 0 else (up, down))


TINY = scale(1, -100)
NINETY_BITS = gmpy2.context(precision=90)


def half_turns(name: str, value: str) -> mpq:
    """An inverse function of a value, over pi, cut to 90 bits."""
    angle = getattr(NINETY_BITS, name)(gmpy2.mpfr(mpq(value), 500))
    return mpq(*map(int, NINETY_BITS.div(angle, NINETY_BITS.const_pi()).as_integer_ratio()))


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        ("rootn:-3", mpq(125, 8), mpq(2, 5)),
        ("rootn:-3", mpq(-27), mpq(-1, 3)),
        ("expr:x/3", mpq(5), mpq(5, 3)),
    ],
)
def test_rational_values_are_rounded_correctly(name: str, x: mpq, value: mpq) -> None:
    f = function_by_name(name)
    assert f.exact(x) == value
    for precision in (3, 24, 200):
        low, high = (
            mpq(*map(int, rounded(f, *parts(x), precision, direction).as_integer_ratio()))
            for direction in (gmpy2.RoundDown, gmpy2.RoundUp)
        )
        assert low < value < high
        assert high - low <= scale(1, 1 - precision) * abs(value)


NEXT_TO_EXACT = [
    ("exp2m1", 1 + TINY),
    ("exp2m1", -3 - TINY),
    ("exp10m1", 1 - TINY),
    ("log2p1", 3 + TINY),
    ("log10p1", 9 - TINY),
    ("sinpi", mpq(1, 2) - scale(1, -55)),
    ("cospi", 1 + scale(1, -55)),
    ("tanpi", mpq(1, 4) + TINY),
    ("tanpi", mpq(7, 4) - TINY),
    ("asinpi", 1 - TINY),
    ("acospi", TINY),
    ("atanpi", 1 - TINY),
    *(("cospi", n + side * half_turns("acos", "3/4")) for n in (0, 1, 6) for side in (1, -1)),
    *(("sinpi", n + side * half_turns("asin", "3/8")) for n in (0, 1, 6) for side in (1, -1)),
    *(("sinpi", n + side * half_turns("asin", "7/8")) for n in (0, 1, 6) for side in (1, -1)),
    *(("tanpi", n + side * half_turns("atan", "3/8")) for n in (0, 1, 6) for side in (1, -1)),
    *(("tanpi", n + side * half_turns("atan", "3")) for n in (0, 1, 6) for side in (1, -1)),
]
"""Values so near to a number of few bits that the first bracket holds it."""


@pytest.mark.parametrize(("name", "x"), NEXT_TO_EXACT)
def test_brackets_are_narrowed_until_they_tell_the_neighbours(name: str, x: mpq) -> None:
    f = function_by_name(name)
    low, high = by_arb(f, *parts(x), 2000)
    for precision in (3, 10, 20, 60):
        for direction in (gmpy2.RoundDown, gmpy2.RoundUp, gmpy2.RoundToNearest):
            bounds = gmpy2.context(precision=precision, round=direction)
            expected = {
                bounds.div_2exp(gmpy2.mpfr(m, 4000), -e) for m, e in map(parts, (low, high))
            }
            assert expected == {rounded(f, *parts(x), precision, direction)}


@pytest.mark.parametrize("name", ["tgamma", "lgamma", "digamma", "j0", "j1", "y0", "y1"])
@pytest.mark.parametrize("extra", [0, 1, 10])
def test_tightened_series_enclose_those_at_each_point(
    name: str, extra: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "EXTRA_TERMS", extra)
    draw = random.Random(extra)
    for centre in ("1.3", "-0.4", "-2.6", "7.5", "40.1"):
        if not function_by_name(name).contains(mpq(centre)):
            continue
        with flint_precision(128):
            ball = function_by_name(name).series(arb_series([arb(centre, "0.01"), 1], prec=6))
            for _ in range(20):
                point = arb(centre) + arb(draw.randint(-999, 999)) / 100000
                exact = function_by_name(name).series(arb_series([point, 1], prec=6))
                assert all(ball[j].contains(exact[j]) for j in range(6))


def test_y_at_a_ball_encloses_its_values() -> None:
    """At balls as narrow as the bound is tight: next to turns of y0 and y1."""
    with flint_precision(128):
        for centre in ("0.1", "2.2", "3.7", "40.5", "1000.3"):
            ball = bessel.y0_and_y1(arb(centre, "0.01"))
            for offset in ("-0.0099", "-0.004", "0", "0.005", "0.0099"):
                at = bessel.y0_and_y1(arb(centre) + arb(offset))
                assert all(a.contains(b) for a, b in zip(ball, at, strict=True))


def usual(f: Function) -> list[mpq]:
    """Where functions have exact values: integers, quarters, powers, squares and cubes, less 1."""
    points = {mpq(k, d) for k in range(-70, 70) for d in (1, 2, 4)}
    points |= {mpq(k**n, 2 ** (n * j)) for k in range(1, 20) for n in (2, 3) for j in range(3)}
    powers = [scale(1, k) for k in range(-40, 41)] + [mpq(10) ** k for k in range(23)]
    points |= {*powers, *(p - 1 for p in powers), *(1 - p for p in powers), *(-p for p in powers)}
    return sorted(x for x in points if f.contains(x) and reaches_or_zero(f, x))


def reaches_or_zero(f: Function, x: mpq) -> bool:
    return f.exact(x) == 0 or reaches(f, x)


WITHOUT_EXACT_VALUES = ("y0", "y1", "digamma")


@pytest.mark.parametrize("name", NAMES)
def test_exact_values_are_exact_and_all_others_are_not(name: str) -> None:
    """A dyadic value of at most 300 bits would show in 800."""
    f = function_by_name(name)
    found = 0
    for x in [*usual(f), *arguments(f, BINARY16, 300, "exact")]:
        exact = f.exact(x)
        if exact is not None:
            found += 1
            precision = max(4000, bits(exact))
            y = rounded(f, *parts(x), precision, gmpy2.RoundToNearest)
            context = gmpy2.context(precision=precision)
            assert y == context.div(exact.numerator, exact.denominator)
            with flint_precision(200):
                assert f.arb(arb(parts(x))).overlaps(arb(fmpq(*fraction(exact))))
        elif reaches(f, x):
            digits, _ = rounded(f, *parts(x), 800, gmpy2.RoundToNearest).as_mantissa_exp()
            assert int(digits).bit_length() > 300, f"{name}({x}) looks dyadic"
    assert (found > 0) == (name not in WITHOUT_EXACT_VALUES)


@pytest.mark.parametrize("name", NAMES)
def test_symmetry(name: str) -> None:
    f = function_by_name(name)
    held = {"odd": 0, "even": 0}
    count = 0
    for x in arguments(f, BINARY32, 60, "symmetry"):
        if x == 0 or not f.contains(-x) or not (reaches_or_zero(f, x) and reaches_or_zero(f, -x)):
            continue
        count += 1
        here, there = (
            mpq(*map(int, rounded(f, *parts(at), 90, gmpy2.RoundToNearest).as_integer_ratio()))
            for at in (x, -x)
        )
        held["odd"] += here == -there
        held["even"] += here == there
    expected = {kind for kind, times in held.items() if times == count > 0}
    assert expected == ({f.symmetry} if f.symmetry else set())


@pytest.mark.parametrize("name", NAMES)
def test_monotone_between_critical_points_poles_and_0(name: str) -> None:
    f, inp = function_by_name(name), BINARY32
    tried = 0
    for x in arguments(f, inp, 60, "monotone", 16):
        ordinal = inp.ordinal(x)
        step = random.Random(str(x)).randint(2, 1 << 22)
        samples = [ordinal + step * k // 4 for k in range(5)]
        if samples[-1] > inp.max_ordinal or not all(f.contains(inp.value(i)) for i in samples):
            continue
        lo, hi = inp.value(samples[0]), inp.value(samples[-1])
        if lo < 0 < hi or next(f.poles(lo, hi), None) is not None or has_turn(f, lo, hi):
            continue
        values = [rounded(f, *inp.parts(i), 1200, gmpy2.RoundToNearest) for i in samples]
        if abs(key_of(BINARY64, bounded(values))) == overflow_key(BINARY64):
            continue
        tried += 1
        rises = [b > a for a, b in pairwise(values)]
        falls = [b < a for a, b in pairwise(values)]
        assert all(rises) or all(falls)
    assert tried >= 8


def bounded(values: list[gmpy2.mpfr]) -> mpq:
    """The greatest magnitude; 2^2000 for what is too small to tell apart, or too large."""
    sizes = [abs(y) for y in values]
    if max(sizes) > gmpy2.mpfr(2) ** 2000 or min(sizes) < gmpy2.mpfr(2) ** -2000:
        return scale(1, 2000)
    return mpq(*map(int, max(sizes).as_integer_ratio()))


def has_turn(f: Function, lo: mpq, hi: mpq) -> bool:
    """Whether a critical point lies between, or may."""
    with flint_precision(200):
        balls = [point() for point in f.critical_points(lo, hi)]
        return any(upper_bound(ball) > lo and lower_bound(ball) < hi for ball in balls)


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tgamma", "lgamma", "sinpi", "cospi", "j0", "j1", "y0", "y1"]
)
def test_critical_points_are_where_f_turns(name: str) -> None:
    """f - f(point) has one sign on both sides, and no point is missing: the turns alternate."""
    f = function_by_name(name)
    gamma = name in ("tgamma", "lgamma")
    lo, hi = (mpq(-7, 2), mpq(-13, 4)) if gamma else (mpq(1, 4), mpq(9))
    tiny = scale(1, -60)
    with flint_precision(300):
        points = [lower_bound(point()) for point in f.critical_points(lo, hi)]
    points = [x for x in points if lo - 1 < x < hi]
    assert len(points) >= (1 if gamma else 2)
    for x in points:
        dyadic = mpq(int(x * 2**200), 2**200)
        before, at, after = (
            rounded(f, *parts(dyadic + side * tiny), 300, gmpy2.RoundToNearest)
            for side in (-1, 0, 1)
        )
        assert (at > before and at > after) or (at < before and at < after)


@pytest.mark.parametrize(("name", "quarters"), [("j0", 1), ("y0", -1), ("j1", -1), ("y1", 1)])
def test_the_turns_of_bessel_functions_are_where_mcmahon_says(name: str, quarters: int) -> None:
    """The k-th one is (k + quarters/4) pi - O(1/k); below 2^11 none is missing."""
    f = function_by_name(name)
    with flint_precision(20):
        points = [float(point().mid()) for point in f.critical_points(mpq(0), mpq(2**11))]
    points = [x for x in points if 0 < x < 2**11]
    expected = [(k + quarters / 4) * pi for k in range(1, 660)]
    assert len(points) == sum(x < 2**11 for x in expected)
    assert all(0 < b - x < 1.3 / b for x, b in zip(points, expected, strict=False))


@pytest.mark.parametrize("name", [name for name in NAMES if function_by_name(name).identity_below])
def test_nearly_x(name: str) -> None:
    f, inp = function_by_name(name), BINARY32
    bound = inp.ceil_ordinal(f.identity_below)
    assert f.identity_reason and f.identity_below <= 1
    draw = random.Random(name)
    for _ in range(60):
        ordinals = sorted(draw.randint(inp.ceil_ordinal(scale(1, -40)), bound - 1) for _ in "abcd")
        for side in (1, -1):
            differences = []
            for i in ordinals:
                low, high = by_mpfr(f, *inp.parts(side * i), 400)
                x = inp.value(side * i) * scale(1, f.slope_log2)
                differences.append((low - x, high - x))
                assert max(abs(low), abs(high)) < 1
                assert max(abs(low - x), abs(high - x)) <= x * x
            grows = all(a[1] < b[0] for a, b in pairwise(differences))
            falls = all(a[0] > b[1] for a, b in pairwise(differences))
            assert grows or falls or len(set(ordinals)) < 4


@pytest.mark.parametrize("name", NAMES)
def test_outside_of_the_domain_mpfr_has_no_finite_value(name: str) -> None:
    """Or the entry says that it is defined there, but not searched."""
    f = function_by_name(name)
    for bound in (f.lo, f.hi):
        assert isinstance(bound, float) or f.outside
    for x in {mpq(k, 4) for k in range(-40, 41)}:
        if f.contains(x):
            y = rounded(f, *parts(x), 100, gmpy2.RoundToNearest)
            assert gmpy2.is_finite(y)
        elif not f.outside_is_error or next(f.poles(x, x), None) is not None:
            pole = next(f.poles(x, x), None) is not None
            if pole and name == "tanpi":
                continue  # it is composed for arguments of the domain alone
            assert not gmpy2.is_finite(rounded(f, *parts(x), 100, gmpy2.RoundToNearest))


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_says_all_there_is_to_say(name: str) -> None:
    f = function_by_name(name)
    assert f.name == name and f.formula and f.exact_rule and f.monotone and f.evaluators
    assert bool(f.poles_in_words) == any(True for _ in f.poles(mpq(-9, 2), mpq(9, 2)))
    tails = f.tails(BINARY64, BINARY64, 44, "all") + f.tails(X87, X87, 55, "all")
    assert bool(f.tails_in_words) == bool(tails)
    assert all(tail.reason and tail.kind in ("a", "b", "c") for tail in tails)
