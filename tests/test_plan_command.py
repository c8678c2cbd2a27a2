"""`hrcase plan` and `hrcase.law`: what a search would take, and where its counts mean something."""

from __future__ import annotations

import json
import time
from math import sqrt

import pytest
from jobs import ASKED, SPEC, Captured, hrcase

from hrcase import estimate, law
from hrcase.asked import spec_of
from hrcase.domain import split
from hrcase.errors import NoDevice
from hrcase.functions import REGISTRY
from hrcase.job.units import make_plan
from hrcase.memory import search
from hrcase.pieces import Rule
from hrcase.plan import PlannedBlock

FIRST_LAWLESS = -32
"""Of exp in binary64: docs/benchmarks.md has 1022 and 1004 cases in the binades at -31, where the
law says 1024, 1239 and 1110 at -32, 1538 and 1495 at -33."""


def reasons(
    function: str,
    exponents: str | None = None,
    sign: str | None = None,
    interval_text: str | None = None,
) -> dict[tuple[float, float], str | None]:
    """The exception of each searched piece, by its ends."""
    spec = spec_of(function, exponents=exponents, sign=sign, interval_text=interval_text)
    return {
        (float(spec.inp.value(p.lo)), float(spec.inp.value(p.hi - 1))): law.exception(spec, p)
        for p in split(spec)
        if p.rule is Rule.SEARCHED
    }


@pytest.mark.parametrize("sign", ["positive", "negative"])
def test_the_law_ends_where_published_counts_leave_it(sign: str) -> None:
    found = reasons("exp", exponents="-34:-30", sign=sign)
    assert found
    for ends, reason in found.items():
        lies_below = min(map(abs, ends)) < 2.0 ** (FIRST_LAWLESS + 1)
        assert ("quadratic" in (reason or "")) == lies_below, ends


def test_few_breakpoints_and_copies_are_no_chance() -> None:
    few = reasons("exp", exponents="-50:-50")
    assert few
    assert set(few.values()) == {"f passes fewer than 64 breakpoints"}
    copies = reasons("exp2", interval_text="1,4")
    assert {lo: reason is None for (lo, _), reason in copies.items()} == {
        1.0: True,
        2.0: False,
        3.0: False,
    }


def test_functions_with_copies_say_why() -> None:
    named = {name for name, f in REGISTRY.items() if f.copies_from is not None}
    assert named == {"exp2", "sinpi", "cospi", "tanpi"}
    assert all(REGISTRY[name].copies for name in named)


def test_a_plan_says_what_there_is_to_do(capsys: Captured) -> None:
    plan = make_plan(SPEC)
    exit_code, out, err = hrcase(capsys, "plan", *ASKED, "--threads", "1", "--json")
    assert (exit_code, err[:10]) == (0, "planned in")
    data = json.loads(out)
    assert data["pieces"]["searched"] == sum(p.rule is Rule.SEARCHED for p in plan.pieces)
    assert data["arguments"] == {rule.value: plan.arguments[rule] for rule in Rule}
    assert data["units"] == len(plan.units)
    assert data["expected"] == pytest.approx(plan.expected)
    h200, processor = data["devices"]
    assert h200["seconds"] == pytest.approx(data["work"] / estimate.H200_RATE)
    assert processor["seconds"] == pytest.approx(data["work"] / processor["rate"])
    assert processor["rate"] > 0


def test_a_plan_in_words(capsys: Captured) -> None:
    exit_code, out, _ = hrcase(capsys, "plan", "exp", "--interval", "-0x1p-33,0x1p-1")
    assert exit_code == 0
    for words in ("searched ", "settled ", "expected ", "the law does not apply to", "NVIDIA H200"):
        assert words in out


def test_a_search_says_where_the_law_does_not_apply(capsys: Captured) -> None:
    _, _, err = hrcase(capsys, "search", "exp", "--interval", "0x1p-32,0x1.001p-32")
    assert "the law does not apply to 1.09307e+12 arguments: f is a quadratic" in err
    _, _, err = hrcase(capsys, "search", *ASKED)
    assert "does not apply" not in err


def test_threads_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread does the part in a twentieth of a second, whatever else the machine does."""

    def slow(engine: object, part: PlannedBlock) -> None:
        del engine
        works.append(part.work)
        time.sleep(0.05)

    works: list[float] = []
    monkeypatch.setattr(estimate, "run_slice", slow)
    rate = estimate.estimate(make_plan(SPEC), 4).devices[1].rate
    assert len(works) == 4 and rate is not None
    assert works[0] / 0.05 < rate <= 4 * works[0] / 0.05


def test_without_a_compiler_the_rest_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(part: object, threads: int) -> float:
        raise NoDevice("g++ was not found; install it")

    monkeypatch.setattr(estimate, "_rate", missing)
    processor = estimate.estimate(make_plan(SPEC), 1).devices[1]
    assert (processor.rate, processor.seconds) == (None, None)
    assert "g++" in processor.source


def test_nothing_to_measure_with() -> None:
    scanned = make_plan(spec_of("exp", interval_text="1,1.00000000000001"))
    found = estimate.estimate(scanned, 1)
    assert (found.work, found.devices[1].rate) == (0, None)
    assert found.evaluated == scanned.arguments[Rule.SCANNED] > 0


def test_counts_follow_the_law_where_it_applies() -> None:
    """A search of twelve binades: each within five standard deviations."""
    spec = spec_of("exp", input_name="binary32", exponents="-6:5", bits=17, sign="positive")
    result = search(spec, threads=1)
    ordinals = [spec.inp.ordinal(case.x) for case in result.cases]
    for piece in split(spec):
        if piece.rule is Rule.SEARCHED and law.exception(spec, piece) is None:
            expected = 2 * float(spec.window(piece.key)) * piece.count
            found = sum(piece.lo <= x < piece.hi for x in ordinals)
            assert abs(found - expected) <= 5 * sqrt(expected) + 1
