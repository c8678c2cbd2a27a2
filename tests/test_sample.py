"""hrcase sample: what is drawn, from where, and that it is the same every time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from gmpy2 import mpq
from jobs import Captured, hrcase

from hrcase.argument import check
from hrcase.cases import HRCase
from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import function_by_name
from hrcase.memory import search
from hrcase.sample import Distances, Sample, _Tiles, sample
from hrcase.spec import SearchSpec, everything, interval

BINARY16, BINARY64 = FORMATS["binary16"], FORMATS["binary64"]


def drawn(function: str, distance: str, count: int, seed: int = 1) -> Sample:
    spec = SearchSpec(function, BINARY64, BINARY64, 3, "all", everything(BINARY64))
    return sample(spec, Distances.parse(distance), count, seed)


def in_range(case: HRCase, function: str, hardest: int, easiest: int) -> bool:
    """Decided by `check`, from the breakpoint and the value that it finds itself."""
    report = check(function_by_name(function), BINARY64, BINARY64, case.x)
    distance = mpq(report.distance_ulp)
    return bool(scale(1, -hardest) < distance < scale(1, -easiest))


@pytest.mark.parametrize("function", ["exp", "sin", "cbrt"])
def test_each_lies_within_the_distances_and_octaves_have_equal_shares(function: str) -> None:
    result = drawn(function, "2^-24:2^-12", 120)
    assert len(result.cases) == 120
    assert [case.x for case in result.cases] == sorted({case.x for case in result.cases})
    assert all(in_range(case, function, 24, 12) for case in result.cases)
    levels = Counter(case.identical_bits + 1 for case in result.cases)
    # Ten are nearer than 2^-j for each j, half of them not nearer than 2^-(j+1).
    for j in range(12, 24):
        nearer = sum(count for level, count in levels.items() if level >= j)
        assert nearer >= 10 * (24 - j)


def test_arguments_come_from_steep_and_from_flat_places() -> None:
    exponents = Counter(
        "steep" if abs(case.x) > scale(1, -8) else "flat" if abs(case.x) > scale(1, -20) else "deep"
        for case in drawn("exp", "2^-30:2^-12", 300).cases
    )
    assert min(exponents[word] for word in ("steep", "flat", "deep")) >= 20


def test_the_seed_says_it_all() -> None:
    once, again = (drawn("log", "2^-20:2^-12", 40, seed=7) for _ in range(2))
    assert once.cases == again.cases
    assert once.cases != drawn("log", "2^-20:2^-12", 40, seed=8).cases


def test_short_windows_give_all_they_have_up_to_four() -> None:
    """In three binades of binary16 every window is drawn, and has a few cases or many."""
    spec = SearchSpec("sin", BINARY16, BINARY16, 5, "all", interval(BINARY16, mpq(1), mpq(8), ""))
    result = sample(spec, Distances(6, 5), 10**5, 1)
    first = BINARY16.ordinal(mpq(1))

    def windows(cases: list[HRCase]) -> Counter[int]:
        return Counter((BINARY16.ordinal(case.x) - first) // 32 for case in cases)

    all_cases = search(spec, threads=1).cases
    expected = [case for case in all_cases if mpq(case.distance_ulp) > scale(1, -6)]
    assert set(result.cases) <= set(expected)
    counts = windows(expected)
    assert max(counts.values()) > 4
    assert windows(result.cases) == {n: min(4, count) for n, count in counts.items()}


def test_windows_tile_the_ranges() -> None:
    ranges = [(-7, 3), (10, 11), (20, 40)]
    tiles = _Tiles(ranges, 4)
    windows = [tiles.window(n) for n in range(tiles.count)]
    covered = [n for lo, hi in windows for n in range(lo, hi)]
    assert covered == [n for lo, hi in ranges for n in range(lo, hi)]
    assert max(hi - lo for lo, hi in windows) == 4
    assert sorted(tiles.in_random_order("s")) == windows != list(tiles.in_random_order("s"))


def test_list_claim_and_words(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "s.wc"
    words = ("atan", "--interval", "1,2", "--count", "9", "--distance", "2^-20:2^-11")
    code, out, err = hrcase(capsys, "sample", *words, "--seed", "3", "--output", str(path))
    assert (code, out) == (0, "")
    assert "a sample, not complete: 9 of 9 asked, seed 3" in err
    assert path.read_text().startswith("# A sample, not complete: 9 of the x of binary64 with 1 <=")
    assert "0x1." in path.read_text().splitlines()[-1]
    claim = json.loads((tmp_path / "s.wc.claim.json").read_text())
    assert (claim["cases"], claim["complete"]) == (9, False)
    assert "sample, not complete" in claim["sentence"]
    assert "2^-20 < min_b |atan(x) - b| < 2^-11 ulp" in claim["sentence"]


def test_too_few_are_said(capsys: Captured) -> None:
    words = ("exp", "--format", "binary16", "--interval", "1,2", "--distance", "2^-12:2^-9")
    code, out, err = hrcase(capsys, "sample", *words, "--count", "50")
    assert code == 0
    assert 1 <= len(out.splitlines()) - 1 < 50
    assert "there are no more" in err


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_the_usual_distances_suit_each_format(form: Format) -> None:
    usual = Distances.usual(form)
    assert Distances.parse(str(usual)) == usual
    assert usual.hardest < form.precision
    spec = SearchSpec("atan", form, form, 3, "all", everything(form))
    assert len(sample(spec, usual, 30, 1).cases) == 30


@pytest.mark.parametrize(
    "text", ["", "2^-12:2^-35", "2^-12:2^-12", "2^-12", "2^-9:2^-2", "1e-9:1e-3", "2^-99999:2^-3"]
)
def test_distances_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match=r"2\^-A:2\^-B"):
        Distances.parse(text)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("exp", "--distance", "2^-300:2^-12"), "--bits 300 is out of range"),
        (("exp", "--bits", "44"), "No such option"),
        (("log", "--interval", "-2,-1"), "reaches beyond"),
        (("exp", "--count", "0"), "Invalid value"),
        (("exp", "--output", "s.bin"), "does not end in .csv or .wc"),
    ],
)
def test_bad_input_is_refused(capsys: Captured, words: tuple[str, ...], why: str) -> None:
    code, out, err = hrcase(capsys, "sample", *words)
    assert (code, out) == (2, "")
    assert why in err
