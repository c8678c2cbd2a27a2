"""Taylor models against MPFR: on a stretch F lies within the remainder of the polynomial."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from flint import arb, ctx
from gmpy2 import mpq

from hrcase.enclosure import by_mpfr
from hrcase.errors import SelfTestFailed
from hrcase.formats import FORMATS, scale
from hrcase.functions import REGISTRY, function_by_name
from hrcase.lattice import ROUNDINGS, Lattice, key_of, lattice, overflow_key
from hrcase.taylor import (
    UNBOUNDED,
    Stretch,
    TaylorModel,
    derivative_bound,
    flint_precision,
    taylor_model,
)

NAMES = [*REGISTRY, "pown:12", "pown:-2", "rootn:-3", "rootn:4", "compound:12", "compound:-1"]
STRETCHES = 40
MOST = 200
"""Arguments are at most so large: no series of exp or gamma overflows there."""

PRECISION = 700
"""Of the models and of MPFR: what is measured lies far above 2^-PRECISION."""


def spots(name: str, draw: random.Random) -> Iterator[tuple[Lattice, Stretch]]:
    """Stretches in random input binades and formats, where f does not overflow."""
    f = function_by_name(name)
    while True:
        inp = FORMATS[draw.choice(("binary16", "bfloat16", "binary32", "binary64"))]
        out = FORMATS[draw.choice(("binary16", "bfloat16", "binary32", "binary64"))]
        m = draw.randint(1 << (inp.precision - 1), (1 << inp.precision) - 1)
        exponent = inp.ulp_exponent(draw.randint(max(inp.emin, -60), min(inp.emax, 9)))
        centre = m * draw.choice((-1, 1))
        if not f.contains(scale(centre, exponent)) or abs(scale(centre, exponent)) > MOST:
            continue
        if f.exact(scale(centre, exponent)) == 0:
            continue
        y = by_mpfr(f, centre, exponent, 64)[0]
        if abs(key_of(out, y)) == overflow_key(out):
            continue
        half = 1 << draw.randint(0, inp.precision - 4)
        stretch = Stretch(centre, exponent, -half, half + draw.randint(0, 1))
        if derivative_bound(f, lattice(out, key_of(out, y), "all"), stretch, 1) == UNBOUNDED:
            continue  # a pole or the end of the domain is too near
        yield lattice(out, key_of(out, y), draw.choice(ROUNDINGS)), stretch


def position(name: str, axis: Lattice, stretch: Stretch, u: int) -> tuple[mpq, mpq]:
    """Bounds of F at u, by MPFR."""
    m, e = stretch.centre + u, stretch.exponent
    low, high = by_mpfr(function_by_name(name), m, e, PRECISION)
    return axis.position(low), axis.position(high)


def gap(name: str, axis: Lattice, stretch: Stretch, model: TaylorModel, u: int) -> mpq:
    """What |F - P| is at least, for the P within the coefficients' enclosures that is nearest."""
    ends = [sorted((low * u**j, high * u**j)) for j, (low, high) in enumerate(model.coefficients)]
    polynomial = sum(low for low, _ in ends), sum(high for _, high in ends)
    value = position(name, axis, stretch, u)
    return max(mpq(0), value[0] - polynomial[1], polynomial[0] - value[1])


def arguments(stretch: Stretch, draw: random.Random) -> list[int]:
    inner = [draw.randrange(stretch.lo, stretch.hi) for _ in range(4)]
    return [stretch.lo, stretch.hi - 1, 0, *inner]


@pytest.mark.parametrize("name", NAMES)
def test_the_remainder_bounds_what_the_polynomial_leaves_out(name: str) -> None:
    draw = random.Random(name)
    needed = 0
    stretches = spots(name, draw)
    for _ in range(STRETCHES):
        axis, stretch = next(stretches)
        degree = draw.randint(1, 8)
        model = taylor_model(function_by_name(name), axis, stretch, degree, PRECISION)
        assert len(model.coefficients) == degree + 1
        gaps = [gap(name, axis, stretch, model, u) for u in arguments(stretch, draw)]
        assert max(gaps) <= model.remainder
        needed += max(gaps) > 0
    assert needed > 0.6 * STRETCHES  # the enclosures of the coefficients alone do not hold F


@pytest.mark.parametrize("name", NAMES)
def test_the_remainder_is_not_wasteful(name: str) -> None:
    """On a stretch of a 16th of a binade and less the bound is near the error at an end."""
    draw = random.Random(name)
    close = 0
    stretches = spots(name, draw)
    for _ in range(STRETCHES):
        axis, stretch = next(stretches)
        model = taylor_model(function_by_name(name), axis, stretch, 4, PRECISION)
        worst = max(gap(name, axis, stretch, model, u) for u in (stretch.lo, stretch.hi - 1))
        close += model.remainder < 4 * worst
    assert close > 0.3 * STRETCHES


@pytest.mark.parametrize("name", NAMES)
def test_the_derivative_bound_holds_on_the_whole_stretch(name: str) -> None:
    draw = random.Random(name)
    stretches = spots(name, draw)
    for _ in range(STRETCHES // 2):
        axis, stretch = next(stretches)
        order = draw.randint(1, 9)
        bound = derivative_bound(function_by_name(name), axis, stretch, order)
        for u in arguments(stretch, draw):
            here = Stretch(stretch.centre + u, stretch.exponent, 0, 1)
            model = taylor_model(function_by_name(name), axis, here, order, PRECISION)
            low, high = model.coefficients[order]
            assert max(low, -high) <= bound


def test_offsets_of_midpoints_are_taken_from_the_constant() -> None:
    out = FORMATS["binary64"]
    stretch = Stretch(1 << 52, -52, 0, 8)
    by_rounding = {
        rounding: taylor_model(
            REGISTRY["exp"], lattice(out, key_of(out, mpq(2)), rounding), stretch, 2, PRECISION
        )
        for rounding in ROUNDINGS
    }
    numbers, midpoints = by_rounding["directed"], by_rounding["nearest"]
    assert midpoints.coefficients[0][0] == numbers.coefficients[0][0] - mpq(1, 2)
    assert midpoints.coefficients[0][1] == numbers.coefficients[0][1] - mpq(1, 2)
    assert midpoints.coefficients[1:] == numbers.coefficients[1:]


def test_a_stretch_that_reaches_a_singularity_has_no_bound() -> None:
    axis = lattice(FORMATS["binary64"], 0, "all")
    model = taylor_model(REGISTRY["log"], axis, Stretch(4, -1074, -4, 4), 2, 128)
    assert model.remainder >= UNBOUNDED
    with pytest.raises(SelfTestFailed, match="series of log is not finite"):
        taylor_model(REGISTRY["log"], axis, Stretch(0, -1074, 0, 1), 2, 128)


def test_the_precision_of_flint_is_restored() -> None:
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), flint_precision(before + 1000):
        assert arb.pi().rel_accuracy_bits() > before + 900
        raise ZeroDivisionError
    assert ctx.prec == before
