"""The verifier's own pieces: what it imports, its search, its verdicts, and lists."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gmpy2 import mpq

from hrcase.cli import main
from hrcase.enclosure import by_arb
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions.base import Function
from hrcase.hexfloat import parse_number, to_hex
from hrcase.spec import SearchSpec, everything
from hrcase.verify import classify as module
from hrcase.verify.again import Covered, Listed, compare
from hrcase.verify.axis import axis_of, side
from hrcase.verify.classify import CASE, EXACT, FAR, classify
from hrcase.verify.findings import Contradiction
from hrcase.verify.near import Target, floor_sum, near_integers
from hrcase.ziv import Rejection, refine

Captured = pytest.CaptureFixture[str]

NEVER = (
    *("engine", "plan", "domain", "flat", "budget", "taylor", "cost", "lattice", "memory"),
    *("isolation", "levels", "samples"),
)
"""What found a result has no part in its verification; `lattice` comes with the spec, unused."""


def test_the_verifier_imports_neither_engines_nor_planner() -> None:
    code = (
        "import pkgutil, importlib, sys, hrcase.verify as v\n"
        "for module in pkgutil.iter_modules(v.__path__):\n"
        "    importlib.import_module(f'hrcase.verify.{module.name}')\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "hrcase.verify.whole" in done and "hrcase.verify.lists" in done
    loaded = {name.split(".")[1] for name in done if name.startswith("hrcase.")}
    assert loaded.isdisjoint(set(NEVER) - {"lattice"}), sorted(loaded)


def test_no_module_of_the_verifier_names_them() -> None:
    for path in (Path(__file__).parents[1] / "hrcase" / "verify").glob("*.py"):
        for line in path.read_text().splitlines():
            if line.startswith(("import ", "from ")):
                assert not any(f"hrcase.{name}" in line for name in NEVER), (path.name, line)


def test_sums_of_floors() -> None:
    generator = random.Random(1)
    for _ in range(500):
        n, m = generator.randrange(40), generator.randint(1, 60)
        a, b = generator.randrange(100), generator.randint(-100, 100)
        assert floor_sum(n, m, a, b) == sum((a * x + b) // m for x in range(n))


@pytest.mark.parametrize("bits", [64, 128, 320])
def test_the_search_by_counting_finds_what_is_near(bits: int) -> None:
    generator, found = random.Random(bits), 0
    modulus = 1 << bits
    for _ in range(30):
        sizes = [modulus // 2] * 2 + [modulus >> 10 * j for j in range(2, generator.randint(3, 7))]
        coefficients = [generator.randint(-size, size) for size in sizes]
        target = Target(coefficients, modulus, modulus >> generator.randint(5, 14))
        lo = generator.randint(-3000, 0)
        hi = lo + generator.randint(1, 4000)
        near = list(near_integers(target, lo, hi))
        assert near == [u for u in range(lo, hi) if target.is_near(u)]
        found += len(near)
    assert found > 300


@pytest.mark.parametrize("degree", [2, 3])
def test_one_curved_term_alone_is_taken_into_account(degree: int) -> None:
    """One argument far from the middle is near, and would not be without the term."""
    generator, modulus = random.Random(degree), 1 << 256
    for _ in range(50):
        slope, place = (
            generator.getrandbits(256),
            generator.choice((-1, 1)) * generator.randint(90, 120),
        )
        curved = modulus // (8 * 256 * 128**degree)
        coefficients = [-slope * place - curved * place**degree, slope, 0, 0]
        coefficients[degree] = curved
        target = Target(coefficients, modulus, modulus >> 100)
        assert list(near_integers(target, -128, 128)) == [place]


def test_what_lines_lose_by_being_cut_is_taken_into_account() -> None:
    """One argument is near, to the last of 512 bits."""
    generator, modulus = random.Random(5), 1 << 512
    for _ in range(50):
        slope, place = generator.getrandbits(512), generator.randrange(-(1 << 16), 1 << 16)
        target = Target([-slope * place % modulus, slope], modulus, 0)
        assert list(near_integers(target, -(1 << 16), 1 << 16)) == [place]


def test_places_that_overlap_are_counted_once() -> None:
    generator, covered, seen = random.Random(7), Covered(), set[int]()
    for _ in range(60):
        lo = generator.randrange(380)
        hi = lo + generator.randint(1, 20)
        covered.ranges.append((lo, hi))
        seen |= set(range(lo, hi))
        assert covered.arguments == len(seen)


def test_what_is_listed_and_not_found_is_seen_too() -> None:
    half = FORMATS["binary16"]
    spec = SearchSpec("exp", half, half, 8, "all", everything(half))
    one = half.ordinal(mpq(1))
    case = next(i for i in range(one, one + 999) if classify(spec, i) == CASE)
    compare(spec, case, case + 1, [case], Listed([case], []))
    for near, listed in (
        ([case], Listed([], [])),
        ([], Listed([case], [])),
        ([], Listed([], [case])),
    ):
        with pytest.raises(Contradiction, match="check search"):
            compare(spec, case, case + 1, near, listed)


def test_evaluators_that_contradict_each_other_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    half = FORMATS["binary16"]
    spec = SearchSpec("exp", half, half, 8, "all", everything(half))
    one = half.ordinal(mpq(1))
    case = next(i for i in range(one, one + 999) if classify(spec, i) == CASE)

    def off(f: Function, m: int, e: int, precision: int) -> tuple[mpq, mpq]:
        low, high = by_arb(f, m, e, precision)
        return low + scale(1, -11), high + scale(1, -11)

    monkeypatch.setattr(module, "by_arb", off)
    with pytest.raises(Contradiction, match="check evaluators"):
        classify(spec, case)


@pytest.mark.parametrize("rounding", ["all", "nearest", "directed"])
@pytest.mark.parametrize("name", ["exp", "log", "sinh", "erf", "sqrt"])
def test_verdicts_are_those_of_the_refinement(name: str, rounding: str) -> None:
    toy = Format("toy", 5, -6, 4)
    spec = SearchSpec(name, toy, toy, 6, rounding, everything(toy))
    kinds = set()
    for ordinal in range(-toy.max_ordinal, toy.max_ordinal + 1):
        if not spec.function.contains(toy.value(ordinal)):
            continue
        verdict, refined = classify(spec, ordinal), refine(spec, ordinal)
        expected = {Rejection.EXACT: EXACT, Rejection.TOO_FAR: FAR}
        assert verdict == (expected[refined] if isinstance(refined, Rejection) else CASE)
        kinds.add(verdict)
    assert len(kinds) > 1


def test_sides_are_exact_where_ball_arithmetic_does_not_tell() -> None:
    double = FORMATS["binary64"]
    spec = SearchSpec("tanh", double, double, 44, "all", everything(double))
    far = double.ordinal(mpq(2) ** 1000)
    assert side(spec, far, mpq(1)) == -1 and side(spec, -far, mpq(-1)) == 1
    assert side(spec, 0, mpq(0)) == 0
    axis = axis_of(spec, far)
    assert axis is not None and (axis.low, axis.high) == (mpq(1, 2), 1)


@pytest.fixture(scope="module", params=["csv", "wc"])
def listed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("lists") / f"list.{request.param}"
    asked = ("exp", "--format", "binary16", "--interval=-1,2", "--bits", "7")
    assert main.run(["search", *asked, "--device", "cpu", "--output", str(output)]) == 0
    return output


def altered(listed: Path, lines: list[str], cases: int | None = None) -> str:
    """A list beside the one there is, with its claim; the claim's count corrected."""
    path = listed.with_name(f"altered{listed.suffix}")
    path.write_text("".join(lines))
    claim = json.loads(Path(f"{listed}.claim.json").read_text())
    if cases is not None:
        claim["cases"] = cases
    Path(f"{path}.claim.json").write_text(json.dumps(claim))
    return str(path)


def test_a_list_is_verified(listed: Path, capsys: Captured) -> None:
    assert main.run(["verify", str(listed), "--sample", "20"]) == 0
    out = capsys.readouterr().out
    assert "rows, each by MPFR and by Arb" in out and "sub-intervals" in out


def test_altered_lists_are_refused(listed: Path, capsys: Captured) -> None:
    lines = listed.read_text().splitlines(keepends=True)
    rows = [i for i, line in enumerate(lines) if "0x" in line and not line.startswith("#")]
    count, at = len(rows), rows[len(rows) // 2]
    changes = {
        "claim": (lines[:at] + lines[at + 1 :], None),
        "search": (lines[: rows[0]] + lines[rows[-1] :], 1),
        "order": ([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]], count),
    }
    if listed.suffix == ".csv":
        row = lines[at].replace("above", "below") if "above" in lines[at] else "x"
        row = lines[at].replace("below", "above") if row == "x" else row
        changes["rows"] = ([*lines[:at], row, *lines[at + 1 :]], count)
    else:
        half = FORMATS["binary16"]
        beside = half.value(half.ordinal(parse_number(lines[rows[-1]])) - 1)
        changes["cases"] = ([*lines[: rows[-1]], to_hex(beside) + "\n"], count)
    for check, (text, cases) in changes.items():
        assert main.run(["verify", altered(listed, text, cases), "--sample", "50"]) == 7, check
        assert f"check {check}:" in capsys.readouterr().err


def test_a_claim_beyond_what_was_checked_is_refused(listed: Path, capsys: Captured) -> None:
    """The sentence goes with the words; the ranges are what is checked."""
    path = Path(altered(listed, listed.read_text().splitlines(keepends=True)))
    beside = Path(f"{path}.claim.json")
    claim = json.loads(beside.read_text())
    sentence = claim["sentence"].replace("-1 <= x < 2 and ", "")
    assert sentence != claim["sentence"]
    wider = {**claim, "sentence": sentence, "asked": {**claim["asked"], "text": ""}}
    left_out = {**claim, "removed": ["[0x1p+0, 0x1.8p+0]: no exp there"]}
    left_out["sentence"] = sentence_of_a_part(claim["sentence"])
    for data, check in ((wider, "asked"), (left_out, "domain")):
        beside.write_text(json.dumps(data))
        assert main.run(["verify", str(path), "--sample", "1"]) == 7
        assert f"check {check}:" in capsys.readouterr().err


def sentence_of_a_part(sentence: str) -> str:
    """What the claim says where a part of what was asked for is not covered."""
    return sentence.replace(" below; b", " below, or in one that is not covered; b")


def test_a_claim_in_other_words_is_refused(listed: Path, capsys: Captured) -> None:
    path = Path(altered(listed, listed.read_text().splitlines(keepends=True)))
    beside = Path(f"{path}.claim.json")
    claim = json.loads(beside.read_text())
    beside.write_text(json.dumps({**claim, "sentence": "Every x of all formats is listed."}))
    assert main.run(["verify", str(path)]) == 7
    assert "check claim: it says 'Every x" in capsys.readouterr().err


def test_of_a_list_that_is_not_complete_only_the_rows_are_checked(
    listed: Path, capsys: Captured
) -> None:
    lines = listed.read_text().splitlines(keepends=True)
    rows = [i for i, line in enumerate(lines) if "0x" in line and not line.startswith("#")]
    path = Path(altered(listed, lines[: rows[0]] + lines[rows[-1] :], 1))
    beside = Path(f"{path}.claim.json")
    claim = json.loads(beside.read_text())
    beside.write_text(json.dumps({**claim, "complete": False, "sentence": "The hardest."}))
    assert main.run(["verify", str(path)]) == 0
    assert "not complete, by its claim: nothing was searched" in capsys.readouterr().out


def test_a_list_without_its_claim_is_refused(listed: Path, capsys: Captured) -> None:
    alone = listed.with_name(f"alone{listed.suffix}")
    alone.write_text(listed.read_text())
    assert main.run(["verify", str(alone)]) == 2
    assert "write both with: hrcase search" in capsys.readouterr().err
    for text in ("{}", "[" * 9000):
        Path(f"{alone}.claim.json").write_text(text)
        assert main.run(["verify", str(alone)]) == 2


def test_nobody_knows_beforehand_what_is_sampled(listed: Path, capsys: Captured) -> None:
    """A list could be true at the places of a seed that is always the same, and only there."""
    said = set()
    for given in ([], [], ["--seed", "5"]):
        assert main.run(["verify", str(listed), "--sample", "1", *given]) == 0
        seed = re.search(r"seed (\d+)", capsys.readouterr().out)
        assert seed is not None
        said.add(int(seed[1]))
    assert len(said) == 3 and 5 in said


def test_overlapping_places_count_once() -> None:
    covered = Covered([(10, 20), (-5, 0), (15, 30), (16, 18), (40, 41)])
    assert covered.arguments == 5 + 20 + 1
    assert "seen with chance 0.26;" in covered.chances(100)
