"""The two evaluators of expressions: each encloses, both agree, and the series are f's own."""

from __future__ import annotations

import random

import pytest
from flint import arb, arb_series
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, TooWide, by_arb, by_mpfr, lower_bound, upper_bound
from hrcase.formats import FORMATS, scale
from hrcase.functions import REGISTRY, Expression, function_by_name
from hrcase.functions.around_zero import around_zero
from hrcase.functions.undefined import Undecided
from hrcase.taylor import flint_precision

BINARY32 = FORMATS["binary32"]


def expression(text: str) -> Expression:
    f = function_by_name(f"expr:{text}")
    assert isinstance(f, Expression)
    return f


def arguments(f: Expression, count: int) -> list[mpq]:
    """Numbers of binary32 at which f has a value."""
    draw = random.Random(f.name)
    found: list[mpq] = []
    for _ in range(100 * count):
        x = BINARY32.value(BINARY32.ceil_ordinal(mpq(draw.uniform(-4, 4))))
        if len(found) < count and f.contains(x):
            found.append(x)
    return found


@pytest.mark.parametrize("name", REGISTRY)
def test_the_evaluators_agree_on_every_function(name: str) -> None:
    """Of an argument that is an interval, and of one that moves: pi x/3."""
    for text in (f"{name}(pi*x/3)", f"x*{name}(x/3)-e"):
        f = expression(text)
        for x in arguments(f, 5):
            m, e = int(x.numerator), 1 - int(x.denominator.bit_length())
            try:
                (low, high), (least, most) = (by(f, m, e, 150) for by in (by_mpfr, by_arb))
            except (OutOfReach, TooWide):
                continue
            assert max(low, least) <= min(high, most)
            assert high - low < scale(1, -100) * max(1, abs(high))


@pytest.mark.parametrize("name", REGISTRY)
def test_series_are_composed(name: str) -> None:
    """f' of f(sin x) is f'(sin x) cos x, and the ball's coefficients hold the point's."""
    f, g = expression(f"{name}(sin(x))"), REGISTRY[name]
    points = [x for x in arguments(f, 20) if abs(x) > 1][:3]
    assert points or name == "acosh"
    with flint_precision(200):
        for x in points:
            point = arb((int(x.numerator), 1 - int(x.denominator.bit_length())))
            found = f.series(arb_series([point, 1], prec=4))
            slope = g.series(arb_series([point.sin(), 1], prec=4))[1] * point.cos()
            assert found[0].overlaps(g.arb(point.sin())) and found[1].overlaps(slope)
            over = f.series(arb_series([arb(point, arb((1, -30))), 1], prec=4))
            for j in range(4):
                assert not over[j].is_finite() or over[j].overlaps(found[j])


@pytest.mark.parametrize(
    "text", ["sin(x)/x", "(1-cos(x))/x^2", "(x-sin(x))/x^3", "expm1(x)/sin(x)", "x*cos(x)/tan(x)"]
)
def test_removable_singularities(text: str) -> None:
    """The coefficients over a ball that holds 0 hold those of points in it."""
    f = expression(text)
    flint_context.cap, cap = 20, flint_context.cap
    try:
        with flint_precision(300):
            over = around_zero(f.node, arb(0, 0.25), 9).over
            for x in (mpq(1, 4), mpq(-1, 5), mpq(1, 1 << 40)):
                point = arb((int(x.numerator * 1), 0)) / int(x.denominator)
                at = f.series(arb_series([point.mid(), 1], prec=5))
                for j in range(5):
                    assert lower_bound(over[j]) <= upper_bound(at[j])
                    assert lower_bound(at[j]) <= upper_bound(over[j])
                    assert over[j].rad() < 1
    finally:
        flint_context.cap = cap


@pytest.mark.parametrize("text", ["1/x", "cos(x)/x", "x/(1-cos(x))", "log(x)/x", "1/(x-1/8)"])
def test_no_removable_singularity(text: str) -> None:
    with pytest.raises(Undecided):
        around_zero(expression(text).node, arb(0, 0.25), 9)
