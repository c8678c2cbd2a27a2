"""Expressions where coefficients, or bounds, are beyond every exponent."""

from __future__ import annotations

from gmpy2 import mpfr

from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import function_by_name
from hrcase.isolation import _is_limited
from hrcase.lattice import key_of, lattice
from hrcase.memory import search
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, interval
from hrcase.taylor import Stretch, derivative_bounds, taylor_model

BINARY64, WIDE = FORMATS["binary64"], Format("wide", 6, -30, 30)


def test_coefficients_that_are_too_near_to_0_to_be_written_out() -> None:
    """x erf(x) = x (1 - e^(-x^2)/...): f''/2 is about 2^(-1.4 10^6) at 1000."""
    f = function_by_name("expr:x*erf(x)")
    axis = lattice(BINARY64, key_of(BINARY64, scale(1000, 0)), "all")
    stretch = Stretch(1000 << 43, -43, -1000, 1000)
    slope, bend = derivative_bounds(f, axis, stretch, [1, 2])
    assert abs(slope - scale(1, -43 - axis.spacing_exponent)) < scale(1, -60)
    assert 0 < bend < scale(1, -100_000)
    model = taylor_model(f, axis, stretch, 2, 200)
    low, high = model.coefficients[2]
    assert low < 0 < high < scale(1, -100_000)


def test_a_search_across_them() -> None:
    region = interval(WIDE, scale(1, 5), scale(1, 31), "")
    spec = SearchSpec("expr:x*erf(x)", WIDE, WIDE, 9, "all", region)
    result = search(spec, threads=1, tuning=Tuning(domain_log2=6, scan=16))
    lo, hi = region.ranges[0]
    assert sum(result.statistics.arguments.values()) == hi - lo
    assert list(result.exact)[-1] == hi - 1  # 4096 bits do not tell erf(2^30) from 1


def test_more_bits_bring_no_bound_down_from_infinity() -> None:
    assert not _is_limited(mpfr(1), mpfr("inf"))
    assert not _is_limited(mpfr("-inf"), mpfr("inf"))
    assert _is_limited(mpfr(1), mpfr(1))
