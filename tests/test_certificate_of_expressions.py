"""Certificates of expressions, of which no entry says where they are monotone or defined.

True ones are proved; an altered field is refused, as those of functions are (test_certificate.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from certificates import certified, check_refused, job_of, verified
from gmpy2 import mpq
from lies import BINARY16, LIES
from lies_of_expressions import EXPRESSION_LIES

from hrcase.cli import main
from hrcase.domain import removed, split
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import function_by_name
from hrcase.hexfloat import to_hex
from hrcase.job import units
from hrcase.lattice import ROUNDINGS
from hrcase.pieces import Rule
from hrcase.spec import SearchSpec, everything, interval
from hrcase.verify import enclosed
from hrcase.verify.axis import is_free
from hrcase.verify.classify import CASE, FAR, UNTOLD, classify, is_exact
from hrcase.verify.document import Piece
from hrcase.verify.enclosed import check_enclosed
from hrcase.verify.findings import Contradiction
from hrcase.verify.monotone import one_axis
from hrcase.verify.text import check_text
from hrcase.verify.tiling import require_outside
from hrcase.ziv import nearest_breakpoint

BINARY64 = FORMATS["binary64"]
TOY = Format("toy", 7, -6, 5)
ASKED = {
    "log1p": ("log(1+x)", BINARY16, 8, "-1.001", mpq(-1001, 1000), mpq(-1, 8)),
    "sinc": ("sin(x)/x", BINARY16, 8, "", scale(1, -4), scale(1, -2)),
    "softplus": ("log(1+exp(x))", BINARY16, 8, "", mpq(-1, 4), mpq(1, 4)),
    "gamma": ("tgamma(x)*exp(-x)", BINARY64, 38, "", mpq(5, 2), mpq(5, 2) + scale(1, -12)),
    "tails": ("1+exp(-x)", BINARY16, 8, "", mpq(4), mpq(40000)),
    "nearly-x": ("x-x^3/3", BINARY16, 8, "", scale(1, -14), scale(1, -4)),
    "untold": ("x+exp(-4000)*x^2", BINARY16, 8, "", scale(1, -10), scale(1, -8)),
}


WHOLE = ("sin(x)/x", "log(1+exp(x))", "tgamma(x)*exp(-x)")


def spec_of(label: str) -> SearchSpec:
    if label in WHOLE:
        return SearchSpec(f"expr:{label}", TOY, TOY, 5, "all", everything(TOY))
    formula, inp, bits, first, lo, hi = ASKED[label]
    region = interval(inp, lo, hi, f"{first or to_hex(lo)} <= x < {to_hex(hi)}")
    return SearchSpec(f"expr:{formula}", inp, inp, bits, "all", region)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("jobs")
    labels, made = [*ASKED, *WHOLE], {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(units, "MANY_PARTS", 1 << 20)  # no processes: they take a second to start
        for number, label in enumerate(labels):
            made[label] = certified(job_of(spec_of(label), place / str(number)))
    return made


@pytest.mark.parametrize("label", [*ASKED, *WHOLE])
def test_a_true_certificate_is_proved(files: dict[str, Path], label: str) -> None:
    lines = verified(files[label], label != "gamma", 3).lines()
    assert any(line.startswith("proved   pieces tile the range") for line in lines)


EXPRESSIONS = [
    "exp(-x*x)/2",
    "log(x-1)",
    "1/(x*x-2)",
    "x*x-x*0x1.8p-3+1/3",
    "cospi(x)*e",
    "sqrt(x*x-1)",
    "cosh(x)-1-x*x/2",
    "(x-1)^3+1",
    "tan(x)-sin(x)",
    "cbrt(x)^-2+0.3",
    "atan(1/x)",
    "exp(-x)-exp(-x-1)",
    "tanh(x)",
    "exp(-exp(x))",
    "lgamma(x)",
    "x+exp(-4000)*x^2",
    "sin(x)^2+cos(x)^2+x",
]


@pytest.mark.parametrize("formula", EXPRESSIONS)
def test_how_expressions_are_split_is_proved(formula: str) -> None:
    """All that the search settles, leaves out, or takes to lie in one output binade."""
    rounding = ROUNDINGS[EXPRESSIONS.index(formula) % len(ROUNDINGS)]
    prove(SearchSpec(f"expr:{formula}", TOY, TOY, 5, rounding, everything(TOY)), 16)


WIDE = Format("wide", 6, -30, 30)


def test_what_only_balls_give_a_value_may_be_left_out() -> None:
    """2^(1/(3 x)) next to 0 is beyond MPFR's exponents, and erf of it 1 by Arb."""
    prove(SearchSpec("expr:erf(exp2(1/3/x))", WIDE, WIDE, 5, "all", everything(WIDE)), 16)


def test_single_arguments_along_x_where_f_rises_by_more() -> None:
    spec = SearchSpec("expr:x*(sin(x)+cbrt(x))", TOY, WIDE, 5, "directed", everything(TOY))
    prove(spec, 16)


SLICES = [
    ("sin(x)/x", FORMATS["x87"], scale(-1, -20), scale(1, -2)),
    ("sin(x)/x", BINARY64, mpq(0), mpq(1)),
    ("log(1+exp(x))", BINARY64, mpq(-3000), mpq(-700)),
    ("exp(x)", FORMATS["binary32"], scale(-1, 100), scale(1, 100)),
    ("x-x^3/3", BINARY64, scale(1, -60), scale(1, -10)),
    ("sin(x)*0x1p-100", BINARY64, scale(1, -40), scale(1, -20)),
    ("(exp(3000)+x)-exp(3000)", BINARY16, mpq(1, 2), mpq(2)),
    ("(x-sin(x))/x^2", BINARY64, scale(1, -110), scale(1, -100)),
]


@pytest.mark.parametrize(("formula", "inp", "lo", "hi"), SLICES)
def test_long_ranges_are_proved(formula: str, inp: Format, lo: mpq, hi: mpq) -> None:
    prove(SearchSpec(f"expr:{formula}", inp, inp, 20, "all", interval(inp, lo, hi, "")), 256)


def prove(spec: SearchSpec, scan: int) -> None:
    kinds = set()
    for piece in split(spec, scan):
        if piece.settlement is not None:
            s = piece.settlement
            check_enclosed(spec, Piece(piece.lo, piece.hi, "settled", s.kind, s.near, s.which))
            kinds.add(s.kind)
        elif piece.rule is Rule.SEARCHED:
            one_axis(spec, piece.lo, piece.hi)
            kinds.add("")
    assert kinds
    require_outside(spec, [(part.lo, part.hi) for part in removed(spec)])


OTHER = {"function", "function, next to it"}
"""Alterations that test_certificate.py makes of functions only."""

GENERAL = {n: lie for n, lie in LIES.items() if lie.label == "log1p" and n not in OTHER}


@pytest.mark.parametrize("name", [*GENERAL, *EXPRESSION_LIES])
def test_an_altered_field_is_refused_by_name(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    check_refused(GENERAL.get(name) or EXPRESSION_LIES[name], files, tmp_path)


TEXTS = [
    *WHOLE,
    *EXPRESSIONS,
    "-x^2",
    "(-x)^2",
    "-x*x",
    "x-x-x",
    "x/x/x",
    "x-(x-x)",
    "2^-3*x",
    "--x",
    "x^-2",
    "(x^2)^3",
    "1e-3*x+0x1.8p-3-.5",
    "log2(x)+exp10(x)*j0(x)",
    "x**2/pi-e",
    " + x * 007 ",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_mean_the_same_to_python(text: str) -> None:
    check_text(spec_of_text(text))


def test_a_text_that_is_read_as_another_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of_text("-x^2")
    wrong = function_by_name("expr:(-x)^2")
    monkeypatch.setattr("hrcase.spec.function_by_name", lambda name: wrong)
    with pytest.raises(Contradiction, match="check asked: Python reads '-x\\^2'"):
        check_text(spec)


def spec_of_text(text: str) -> SearchSpec:
    return SearchSpec(f"expr:{text}", TOY, TOY, 5, "all", everything(TOY))


@pytest.mark.parametrize("low_exponent", range(-8, 7))
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_what_is_far_from_breakpoints_across_binades(rounding: str, low_exponent: int) -> None:
    """Intervals next to both ends of a binade, against the distance of each of many values."""
    spec = SearchSpec("exp", TOY, TOY, 5, rounding, everything(TOY))
    edge, found = scale(1, low_exponent), set()
    step = scale(1, max(low_exponent, TOY.emin) - TOY.precision - 6)
    places = [edge + i * step for i in range(-80, 81)]
    is_far = [reference_is_far(spec, place) for place in places]
    for sign in (1, -1):
        for first in range(0, 150, 3):
            for last in range(first, 161, 9):
                ends = sorted((sign * places[first], sign * places[last]))
                assert is_free(spec, ends[0], ends[1]) == all(is_far[first : last + 1])
                found.add(all(is_far[first : last + 1]))
    assert found == {True, False}
    for sign in (1, -1):  # with all of a binade between
        ends = sorted((sign * (edge - step), sign * (4 * edge + step)))
        is_one = 4 * edge <= scale(1, TOY.emin) or low_exponent > TOY.emax
        assert is_one or not is_free(spec, ends[0], ends[1])


def reference_is_far(spec: SearchSpec, value: mpq) -> bool:
    """By the search's own rule, which is given the value itself."""
    point = nearest_breakpoint(spec.out, spec.rounding, (value, value))
    return point is None or point.low >= spec.threshold


def test_what_bits_do_not_tell_is_neither_a_case_nor_far() -> None:
    """log(exp(x)) is x, which no number of bits shows; 1 + exp(-x) comes near 1 very slowly."""
    same, slow = (spec_of_text(text) for text in ("log(exp(x))", "1+exp(-exp(x))"))
    half, eight = TOY.ordinal(mpq(3, 4)), TOY.ordinal(mpq(29, 4))
    assert classify(same, half) == UNTOLD and is_exact(same, half, UNTOLD)
    verdict = classify(slow, eight)  # 2^-2032
    assert verdict == CASE and not is_exact(slow, TOY.ordinal(mpq(2)), FAR)
    assert classify(slow, eight, 1024) == UNTOLD
    nine = TOY.ordinal(mpq(59, 8))  # 2^-2302
    assert classify(slow, nine) == CASE and is_exact(slow, nine, CASE)


def test_half_way_between_breakpoints_is_far() -> None:
    """log(exp(x)) on a number, where midpoints are asked for: bits tell that, not the value."""
    spec = SearchSpec("expr:log(exp(x))", TOY, TOY, 5, "nearest", everything(TOY))
    for value in (mpq(3, 4), mpq(1), mpq(2)):
        assert classify(spec, TOY.ordinal(value)) == FAR


def test_lists_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "list.csv"
    asked = ("--expr", "1+exp(-x)", "--format", "binary16", "--interval", "4,40000", "--bits", "8")
    assert main.run(["search", *asked, "--device", "cpu", "--output", str(output)]) == 0
    assert main.run(["verify", str(output), "--sample", "20"]) == 0
    assert "more places, in settled ranges" in capsys.readouterr().out
    lines = output.read_text().splitlines(keepends=True)
    output.write_text("".join(lines[:1] + lines[-1:]))
    beside = Path(f"{output}.claim.json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "cases": 1}))
    assert main.run(["verify", str(output), "--sample", "200"]) == 7
    assert "check search:" in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "near"), [("a", None), ("b", mpq(1, 4))])
def test_both_ends_of_a_range_prove_nothing_of_what_turns_between(
    kind: str, near: mpq | None
) -> None:
    """(x-1)^2 is 2^-14 above 1/4 at both ends, with all below between them."""
    spec = spec_of_text("(x-1)^2+0x1p-14" if near else "(x-1)^2+0x1p-10")
    first, last = (TOY.ordinal(value) for value in (mpq(1, 2), mpq(3, 2)))
    for one in (first, last):
        check_enclosed(spec, Piece(one, one + 1, "settled", kind, near))
    with pytest.raises(Contradiction, match="check settled"):
        check_enclosed(spec, Piece(first, last + 1, "settled", kind, near))


def test_a_slope_is_shown_where_its_terms_alone_do_not() -> None:
    """3 x^2 - 6 x + 4 from 1 to 3/2, where the terms of an enclosure add up to [-2, 4.75]."""
    text = "x+(x^3-3*x^2+4*x)*0x1p-60"
    spec = SearchSpec(f"expr:{text}", BINARY64, BINARY64, 5, "all", everything(BINARY64))
    lo, hi = (BINARY64.ordinal(value) for value in (mpq(1), mpq(3, 2)))
    assert enclosed._is_monotone(spec, lo, hi, mpq(1))
    assert not enclosed._is_monotone(spec, lo, hi, 1 + scale(5, -62))  # it passes that on the way


def test_along_x_proves_nothing_where_x_is_finer_than_breakpoints() -> None:
    """x - x^3/3 is next to x, which lies between breakpoints as a rule."""
    first, end = (BINARY16.ordinal(scale(1, exponent)) for exponent in (-12, -11))
    for out in (BINARY16, TOY):
        spec = SearchSpec("expr:x-x^3/3", BINARY16, out, 5, "all", everything(BINARY16))
        piece = Piece(first + 1, end, "settled", "b", None)
        if out == BINARY16:
            check_enclosed(spec, piece)
        else:
            with pytest.raises(Contradiction, match="check settled"):
                check_enclosed(spec, piece)


def test_along_x_proves_nothing_in_the_top_binade() -> None:
    """x + 1/2 - 1/x^3 is nearly 2^(emax+1), no breakpoint, at the largest number."""
    spec = spec_of_text("x+0.5-1/x^3")
    last = TOY.max_ordinal
    check_enclosed(spec, Piece(last - 30, last, "settled", "b", None))
    for first in (last - 30, last):
        with pytest.raises(Contradiction, match="check settled"):
            check_enclosed(spec, Piece(first, last + 1, "settled", "b", None))


@pytest.mark.parametrize(
    ("text", "near", "lo", "hi"),
    [
        ("1+exp(-x)", mpq(1), mpq(600), mpq(1000)),
        ("x+exp(-400)*x^2", None, scale(1, -9), scale(1, -8)),
    ],
)
def test_what_bits_do_tell_is_not_of_kind_d(text: str, near: mpq | None, lo: mpq, hi: mpq) -> None:
    """2^-1443 and 2^-568 from it."""
    spec = SearchSpec(f"expr:{text}", BINARY16, BINARY16, 5, "all", everything(BINARY16))
    first, end = (BINARY16.ordinal(value) for value in (lo, hi))
    with pytest.raises(Contradiction, match="check settled"):
        check_enclosed(spec, Piece(first + 1, end, "settled", "d", near))


def test_overflow_at_one_end_proves_nothing_of_the_other() -> None:
    spec = spec_of_text("exp(-x)")
    first, middle, end = (TOY.ordinal(mpq(value)) for value in (-6, -5, -1))
    check_enclosed(spec, Piece(first, middle, "settled", "a"))
    with pytest.raises(Contradiction, match="check settled"):
        check_enclosed(spec, Piece(first, end, "settled", "a"))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1.5+(x-1)*0x1p-20", mpq(1, 2), mpq(3, 2)),  # on it at 1
        ("1.5+(x-1)*0x1p-12", mpq(5, 4), mpq(40)),  # away from it in the end
    ],
)
def test_not_all_of_what_is_near_is_a_case(text: str, first: mpq, last: mpq) -> None:
    lo, hi = (TOY.ordinal(value) for value in (first, last))
    check_enclosed(spec_of_text(text), Piece(lo, lo + 1, "settled", "b", mpq(3, 2)))
    with pytest.raises(Contradiction, match="check settled"):
        check_enclosed(spec_of_text(text), Piece(lo, hi + 1, "settled", "b", mpq(3, 2)))


def test_values_at_the_end_of_a_binade_are_compared_exactly() -> None:
    """1 and 1 + 2^-5 + 2^-12, both far from midpoints."""
    spec = SearchSpec("expr:x*x", TOY, TOY, 5, "nearest", everything(TOY))
    one = TOY.ordinal(mpq(1))
    check_enclosed(spec, Piece(one, one + 2, "settled", "a"))
