"""Published facts about binary64, found again by a search around each.

From the literature: complete short lists, hard cases with their distances, and the arguments of
exp next to +-2^-53 and -2^-54, which are as hard as the theorem of flat ranges says.
"""

from __future__ import annotations

import pytest
from brute.compare import Reference, check_result
from brute.reference import nearest, values
from gmpy2 import mpq

from hrcase.formats import FORMATS, scale
from hrcase.hexfloat import parse_number, to_hex
from hrcase.memory import search
from hrcase.spec import Region, SearchSpec, interval

BINARY64 = FORMATS["binary64"]
METHODS = ("regular", "lefevre")


def around(name: str, x: mpq, reach: int, bits: int) -> SearchSpec:
    """The arguments up to `reach` numbers away from x."""
    ordinal = BINARY64.ordinal(x)
    region = Region("around", ((ordinal - reach, ordinal + reach),))
    return SearchSpec(name, BINARY64, BINARY64, bits, "all", region)


@pytest.mark.parametrize("method", METHODS)
def test_exp_from_a_quarter_on(method: str) -> None:
    region = interval(BINARY64, mpq(1, 4), mpq(25001, 100000), "0.25,0.25001")
    result = search(SearchSpec("exp", BINARY64, BINARY64, 36, "all", region), method, threads=1)
    assert [to_hex(case.x) for case in result.cases] == [
        "0x1.00002385331bep-2",
        "0x1.0000561fc7e06p-2",
        "0x1.0001cd08ef3d4p-2",
        "0x1.00026c769e211p-2",
        "0x1.00028a78a7303p-2",
    ]


HARD_CASES = [
    ("exp", "-0x1.ed318efb627eap-27", "-60.142", "number"),
    ("exp", "0x1.83d4bcdebb3f4p+2", "-58.879", "number"),
    ("exp", "-0x1.12d31a20fb38bp+5", "-59.254", "midpoint"),
    ("exp2", "0x1.e4596526bf94dp-10", "-60.538", "midpoint"),
    ("exp2", "0x1.bfbbde44edfc5p-25", "-60.433", "number"),
    ("log", "0x1.62a88613629b6p+678", "-65.151", "number"),
    ("log", "0x1.fd15daa6ce332p+732", "-62.027", "midpoint"),
    ("sin", "0x1.6c6cbc45dc8dep+5", "-68.973", "number"),
    ("sin", "0x1.598bae9e632f6p-7", "-60.057", "midpoint"),
    ("exp10", "-0x1.1416c72a588a6p-1", "-66.236", "number"),
    ("exp10", "0x1.a83b1cf77989p-26", "-61.566", "midpoint"),
    ("expm1", "0x1.274bbf1efb1a2p-10", "-59.857", "midpoint"),
    ("log10", "0x1.e12d66744ff81p+429", "-69.767", "midpoint"),
    ("cos", "0x1.6c6cbc45dc8dep+6", "-66.973", "number"),
    ("cos", "0x1.34ec2f9fc9cp+1", "-59.779", "midpoint"),
    ("tan", "0x1.50486b2f87014p-5", "-58.795", "midpoint"),
    ("asin", "0x1.e9950730c4696p-2", "-65.880", "number"),
    ("acos", "0x1.fd737be914578p-11", "-63.228", "number"),
    ("atan", "0x1.6298b5896ed3cp+1", "-64.238", "midpoint"),
    ("sinh", "0x1.897374d74de2ap-13", "-57.470", "midpoint"),
    ("cosh", "0x1.ea5f2f2e4b0c5p+1", "-58.126", "midpoint"),
    ("tanh", "0x1.ac343b179fec4p-3", "-60.438", "midpoint"),
    ("atanh", "0x1.447027c857b99p-12", "-56.857", "midpoint"),
]


@pytest.mark.parametrize("method", (*METHODS, "farey"))
@pytest.mark.parametrize(("name", "x", "log2_distance", "breakpoint"), HARD_CASES)
def test_hard_cases(name: str, x: str, log2_distance: str, breakpoint: str, method: str) -> None:
    """Among so many arguments that they pass more breakpoints than a flat range may."""
    value = parse_number(x)
    reach = 1 << (28 if abs(value) < scale(1, -12) else 23)
    result = search(around(name, value, reach, 44), method, threads=1)
    found = [(to_hex(c.x), c.log2_distance, c.breakpoint) for c in result.cases]
    assert found == [(x, log2_distance, breakpoint)]
    assert result.statistics.counts["tested_arguments"] >= 0.45 * 2 * reach


def test_a_case_of_tan_that_lists_have_missed() -> None:
    x = parse_number("0x1.f671de534c343p+4")
    result = search(around("tan", x, 1 << 23, 44), "farey", threads=1)
    assert x in [case.x for case in result.cases]


EXP2_CASES = [
    (4549788078159242, "1.138341287e-14"),
    (4504746622776930, "1.171239464e-14"),
    (4552036900583860, "1.836769942e-14"),
]


@pytest.mark.parametrize(("t", "distance"), EXP2_CASES)
def test_exp2_cases_of_45_bits(t: int, distance: str) -> None:
    result = search(around("exp2", scale(t, -53), 1 << 20, 45), threads=1)
    assert [(c.x, c.distance_ulp) for c in result.cases] == [(scale(t, -53), distance)]


def compared(spec: SearchSpec) -> list[int]:
    """The ordinals of a search's cases, after a comparison with MPFR of every argument."""
    ((lo, hi),) = spec.region.ranges
    found = {i: nearest(y, spec.out, "all") for i, y in values("exp", spec.inp, range(lo, hi))}
    reference: Reference = {i: near for i, near in found.items() if near is not None}
    result = search(spec, threads=1)
    assert check_result(result, reference) == len(result.cases)
    return [spec.inp.ordinal(case.x) for case in result.cases]


def test_exp_next_to_half_an_ulp_of_1() -> None:
    """exp(x) - 1 - 2^-53 = (x - 2^-53) + 2^-107 + ..., in ulps of 2^-52.

    Numbers step by 2^-106 below 2^-53 and by 2^-105 above it: within 2^-96 of the breakpoint lie
    1024 below, moved by half a step, and 512 above.
    """
    cases = compared(around("exp", scale(1, -53), 3000, 44))
    edge = BINARY64.ordinal(scale(1, -53))
    below = [i for i in cases if i < edge]
    assert below == list(range(edge - 1024, edge))
    assert cases[len(below) :] == list(range(edge, edge + len(cases) - 1024))
    assert abs(len(cases) - 1024 - 512) <= 1
    ((case,),) = [search(around_one(edge - 1), threads=1).cases]
    assert (case.log2_distance, case.breakpoint) == ("-55.000", "midpoint")


def around_one(ordinal: int) -> SearchSpec:
    """One argument of exp."""
    region = Region("one", ((ordinal, ordinal + 1),))
    return SearchSpec("exp", BINARY64, BINARY64, 44, "all", region)


@pytest.mark.parametrize(("x", "count"), [(-1, 512 + 1024), (-2, 256 + 512), (-3, 256 + 256)])
def test_exp_next_to_breakpoints_below_1(x: int, count: int) -> None:
    """x 2^-54: exp(x) is off 1 + x by x^2/2 or less than 2^-107; an ulp is 2^-53 there.

    Numbers step by 2^-105 from 2^-53 on, by 2^-106 before that, by 2^-107 before 2^-54; cases lie
    within 2^-97 of a breakpoint, so many steps on each side, moved by a step at most.
    """
    cases = compared(around("exp", scale(x, -54), 3000, 44))
    assert BINARY64.ordinal(scale(x, -54)) in cases
    assert cases == list(range(cases[0], cases[-1] + 1))
    assert abs(len(cases) - count) <= 2
