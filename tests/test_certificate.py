"""Certificates: true ones are proved; each meaningful field, altered, is refused by name.

Whoever alters one recomputes all digests and the claim: only the mathematics is left to tell.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from gmpy2 import mpq

from hrcase.cli import main
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import InputError, JobMismatch, VerificationFailed
from hrcase.formats import FORMATS, Format, scale
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_number, to_hex
from hrcase.job.certificate import write_certificate
from hrcase.job.crew import Crew
from hrcase.job.directory import create, reading
from hrcase.job.identity import entry_version
from hrcase.job.run import LocalHands, work_on
from hrcase.job.stop import Stop
from hrcase.job.units import make_plan
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, everything, interval
from hrcase.verify import cases, polynomials
from hrcase.verify import settled as theorems
from hrcase.verify.document import DIGEST, Form, Piece, read_certificate
from hrcase.verify.findings import Contradiction, Findings
from hrcase.verify.monotone import one_axis
from hrcase.verify.polynomials import digest_of
from hrcase.verify.whole import Effort, claim_of, verify_certificate
from hrcase.workers import Workers

Json = dict[str, Any]
Alter = Callable[[Json], None]

BINARY16, BFLOAT16, BINARY32 = (FORMATS[name] for name in ("binary16", "bfloat16", "binary32"))
ASKED = {
    "log1p": ("log1p", BINARY16, BINARY16, 8, mpq(-1001, 1000), mpq(-1, 8)),
    "nearly-x": ("log1p", BINARY16, BINARY16, 8, scale(1, -24), scale(1, -8)),
    "nearly-1": ("exp", BINARY32, BINARY32, 15, scale(-1, -70), scale(1, -27)),
    "nearly-half": ("j1", BINARY16, BINARY16, 8, scale(1, -24), scale(1, -4)),
    "finer-half": ("j1", BINARY16, BFLOAT16, 6, scale(1, -14), scale(1, -10)),
    "finer": ("expm1", BINARY16, BFLOAT16, 6, scale(1, -14), scale(1, -11)),
    "twice": ("exp", BINARY32, BINARY32, 15, mpq(2), mpq(2) + mpq(1, 32)),
    "regular": ("exp", BINARY32, BINARY32, 15, mpq(1), mpq(9, 8)),
}


def job_of(label: str, directory: Path) -> Path:
    name, inp, out, bits, lo, hi = ASKED[label]
    text = f"{to_hex(lo) if label != 'log1p' else '-1.001'} <= x < {to_hex(hi)}"
    spec = SearchSpec(name, inp, out, bits, "all", interval(inp, lo, hi, text))
    job = create(directory / label, make_plan(spec))
    method = "regular" if label == "regular" else "farey"
    tuning = Tuning(method=method, second="regular" if label == "twice" else None)
    with Stop(None) as stop, Workers(1) as workers:
        work_on(job, None, tuning, LocalHands(Crew([CpuEngine(1)]), workers), stop, None)
    job.close()
    return directory / label


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("jobs")
    return {label: job_of(label, directory) for label in ASKED}


@pytest.fixture(scope="module")
def files(jobs: dict[str, Path]) -> dict[str, Path]:
    made = {}
    for label, job in jobs.items():
        made[label] = job.with_suffix(".json")
        with reading(job) as store, open(made[label], "w", encoding="utf-8") as stream:
            write_certificate(store, stream, lambda: None)
    return made


def effort(is_full: bool = False, sample: int = 1) -> Effort:
    return Effort(sample, 0, is_full, lambda name, steps: lambda: None)


def verified(path: Path, is_full: bool = False, sample: int = 1) -> Findings:
    return verify_certificate(read_certificate(path), effort(is_full, sample))


def sealed(data: Json, path: Path, remade: bool = True) -> Path:
    """Write an altered certificate with all digests, and the claim, recomputed."""
    data = {name: value for name, value in data.items() if name != "digest"}
    form = Form(path)
    if remade:
        certificate = form.certificate({**data, "digest": ""})
        for unit, parsed in zip(data["units"], certificate.units, strict=True):
            unit["ran"] = digest_of(parsed.blocks)
        data["claim"] = claim_of(certificate)
    body = json.dumps(data)[:-1]
    path.write_text(body + DIGEST + hashlib.sha256(body.encode()).hexdigest() + '"}\n')
    return path


@pytest.mark.parametrize("label", ASKED)
@pytest.mark.parametrize("is_full", [False, True])
def test_a_true_certificate_is_proved(files: dict[str, Path], label: str, is_full: bool) -> None:
    lines = verified(files[label], is_full, 3).lines()
    assert any(line.startswith("proved   pieces tile the range") for line in lines)
    assert any(line.startswith("rerun") for line in lines)


def test_what_is_rewritten_without_alteration_is_proved(
    files: dict[str, Path], tmp_path: Path
) -> None:
    verified(sealed(json.loads(files["log1p"].read_text()), tmp_path / "same.json"))


@dataclass(frozen=True)
class Lie:
    """An alteration, and the check that must see it.

    Attributes:
        needs_all: only a search of everything sees it for sure.
    """

    alter: Alter
    check: str
    label: str = "log1p"
    needs_all: bool = False


def unit_with_blocks(data: Json, most: bool = False) -> Json:
    units = [unit for unit in data["units"] if unit["blocks"] and len(unit["blocks"][0]) > 2]
    found: Json = max(units, key=lambda unit: len(unit["cases"])) if most else units[0]
    return found


def block(data: Json) -> Json:
    found: Json = unit_with_blocks(data)["blocks"][0]
    return found


def settled(data: Json, kind: str) -> Json:
    found: Json = next(piece for piece in data["pieces"] if piece.get("kind") == kind)
    return found


def times(text: str, factor: mpq) -> str:
    return to_hex(parse_number(text) * factor)


def error(place: int) -> Alter:
    def alter(data: Json) -> None:
        errors = block(data)["errors"]
        errors[place] = times(errors[place], mpq(1, 2) if place != 1 else mpq(1, 64))

    return alter


def coefficient(place: int) -> Alter:
    """Off by so much that the rounding stated no longer covers it, times a power of the reach."""

    def alter(data: Json) -> None:
        of_block = block(data)
        off = parse_number(of_block["errors"][2]) * 4
        value = parse_number(of_block["polynomial"][place]) + off
        of_block["polynomial"][place] = to_hex(value)

    return alter


def put(*path: Any, value: Any) -> Alter:
    """Set a field; a callable gets the value there was."""

    def alter(data: Json) -> None:
        place: Any = data
        for step in path[:-1]:
            place = step(place) if callable(step) else place[step]
        old = place[path[-1]]
        place[path[-1]] = value(old) if callable(value) else value

    return alter


def set_asked(name: str, value: Any) -> Alter:
    return put("claim", "asked", name, value=value)


def set_function(name: str) -> Alter:
    def alter(data: Json) -> None:
        data["claim"]["asked"]["function"] = name
        data["entry"] = entry_version(function_by_name(name))

    return alter


def toy_output(**changes: int) -> Alter:
    """Another output format, under a name that stands for no known one."""
    return set_asked("output_format", lambda form: {**form, "name": "toy", **changes})


def neighbour(text: str, step: int, inp: Format = BINARY16) -> str:
    return to_hex(inp.value(inp.ordinal(parse_number(text)) + step))


def drop_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    del unit["cases"][len(unit["cases"]) // 2]
    unit["counts"]["candidates"] -= 1


def add_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    unit["cases"][1:1] = [neighbour(unit["cases"][0], 1)]
    unit["counts"]["candidates"] += 1


def case_for_rejected(data: Json) -> None:
    """A case is said to have been too far away: no count changes."""
    unit = unit_with_blocks(data, most=True)
    del unit["cases"][0]
    unit["rejected"] += 1


def swap_cases(data: Json) -> None:
    cases = unit_with_blocks(data, most=True)["cases"]
    cases[0], cases[1] = cases[1], cases[0]


def drop_exact(data: Json) -> None:
    unit = next(unit for unit in data["units"] if unit["exact"])
    del unit["exact"][0]
    unit["rejected"] += 1


def exact_for_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    unit["exact"].append(unit["cases"].pop())


def without_units(data: Json, piece: Json) -> None:
    first, last = parse_number(piece["first"]), parse_number(piece["last"])
    data["units"] = [u for u in data["units"] if not first <= parse_number(u["first"]) <= last]


def settle(data: Json) -> None:
    """A searched piece is said to hold no case."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched")
    piece = data["pieces"][place]
    without_units(data, piece)
    piece |= {"rule": "settled", "kind": "a", "near": None, "which": "", "reason": "a theorem"}


def leave_out(data: Json) -> None:
    """A searched piece is said to lie outside of the domain."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched")
    piece = data["pieces"].pop(place)
    without_units(data, piece)
    data["outside"].append([piece["first"], piece["last"], "no log there"])


def widen_range(data: Json) -> None:
    """One argument more is asked for, also in the words."""
    asked = data["claim"]["asked"]
    asked["ranges"] = [[asked["ranges"][0][0], neighbour(asked["ranges"][0][1], 1)]]
    asked["text"] = f"-1.001 <= x < {neighbour(asked['ranges'][0][1], 1)}"


def keep_one_piece(data: Json) -> None:
    """The ranges shrink to what one piece covers; the sentence still speaks of all of it."""
    piece = next(piece for piece in data["pieces"] if piece["rule"] == "searched")
    for other in data["pieces"]:
        if other is not piece:
            without_units(data, other)
    data["pieces"], data["outside"] = [piece], []
    data["claim"]["asked"]["ranges"] = [[piece["first"], piece["last"]]]


def reorder_pieces(data: Json) -> None:
    """A scanned piece comes before those below it, whose units seem to be its own: no blocks."""
    place = max(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "scanned")
    piece = data["pieces"][place]
    at = next(i for i, unit in enumerate(data["units"]) if unit["first"] == piece["first"])
    for unit in data["units"][:at]:
        first, last = (BINARY16.ordinal(parse_number(unit[end])) for end in ("first", "last"))
        rejected = last - first + 1 - len(unit["cases"]) - len(unit["exact"])
        unit |= {"blocks": [], "counts": {}, "rejected": rejected}
    data["pieces"].insert(0, data["pieces"].pop(place))
    data["units"].insert(0, data["units"].pop(at))


def shift_pieces(data: Json) -> None:
    one, other = data["pieces"][0], data["pieces"][1]
    one["last"], other["first"] = neighbour(one["last"], 1), neighbour(other["first"], 1)


def shift_everything(data: Json) -> None:
    """Piece, unit and block begin two arguments later, which are scanned instead."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched" and i)
    before, piece = data["pieces"][place - 1], data["pieces"][place]
    assert before["rule"] == "scanned"
    moved = piece["first"]
    unit = next(u for u in data["units"] if u["first"] == moved)
    last = next(u for u in data["units"] if u["last"] == before["last"])
    before["last"] = last["last"] = neighbour(moved, 1)
    for one in (piece, unit, unit["blocks"][0]):
        one["first"] = neighbour(moved, 2)
    last["rejected"] += 2


def drop_unit(data: Json) -> None:
    data["units"].remove(unit_with_blocks(data))


def merge_binades(data: Json) -> None:
    """Two searched pieces, units and blocks become one, across a power of two."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["last"] == "-0x1p-1")
    one, other = data["pieces"][place : place + 2]
    assert one["rule"] == other["rule"] == "searched"
    gone = next(unit for unit in data["units"] if unit["first"] == other["first"])
    unit = next(unit for unit in data["units"] if unit["last"] == one["last"])
    unit["last"] = gone["last"]
    one["last"] = other["last"]
    data["units"].remove(gone)
    data["pieces"].remove(other)


def drop_all_cases(data: Json) -> None:
    for unit in data["units"]:
        unit["rejected"] += len(unit["cases"])
        unit["cases"] = []


def scan_for_search(data: Json) -> None:
    """A searched piece is said to have been scanned, its blocks left out."""
    unit = unit_with_blocks(data)
    piece = next(p for p in data["pieces"] if p["first"] == unit["first"])
    piece["rule"] = "scanned"


LIES = {
    "M, larger": Lie(set_asked("bits", lambda m: m + 1), "cases"),
    "M, smaller": Lie(set_asked("bits", lambda m: m - 1), "target"),
    "rounding": Lie(set_asked("rounding", "nearest"), "polynomial"),
    "function": Lie(set_function("log2p1"), "binade"),
    "function, next to it": Lie(set_function("atanh"), "binade"),
    "range": Lie(widen_range, "tiling"),
    "range, not in words": Lie(
        set_asked("ranges", lambda r: [[r[0][0], neighbour(r[0][1], 1)]]), "asked"
    ),
    "words for the range": Lie(set_asked("text", ""), "asked"),
    "words of a sign": Lie(set_asked("text", "x < 0"), "asked"),
    "words of binades": Lie(set_asked("text", "2^-3 <= |x| < 2^0, x < 0"), "asked"),
    "words without meaning": Lie(set_asked("text", "x in [-1, 0)"), "asked"),
    "name of the format": Lie(put("claim", "asked", "format", "name", value="binary64"), "asked"),
    "precision under a known name": Lie(
        put("claim", "asked", "output_format", "precision", value=10), "asked"
    ),
    "output precision": Lie(toy_output(precision=10), "polynomial"),
    "output emin": Lie(toy_output(emin=1), "polynomial"),
    "all but one piece left out": Lie(keep_one_piece, "asked"),
    "pieces": Lie(shift_pieces, "tiling"),
    "pieces in another order": Lie(reorder_pieces, "tiling"),
    "pieces, units and blocks": Lie(shift_everything, "polynomial"),
    "blocks across binades": Lie(merge_binades, "tiling"),
    "unit left out": Lie(drop_unit, "tiling"),
    "searched to scanned": Lie(scan_for_search, "tiling"),
    "searched to settled": Lie(settle, "settled"),
    "searched to outside": Lie(leave_out, "domain"),
    "kind a to b": Lie(put(lambda d: settled(d, "a"), "kind", value="b"), "settled", "nearly-x"),
    "kind b to a": Lie(put(lambda d: settled(d, "b"), "kind", value="a"), "settled", "nearly-x"),
    "kind c to a": Lie(put(lambda d: settled(d, "c"), "kind", value="a"), "settled", "finer"),
    "which": Lie(put(lambda d: settled(d, "c"), "which", value="images"), "settled", "finer"),
    "near": Lie(
        put(lambda d: settled(d, "b"), "near", value="0x1.000002p+0"), "settled", "nearly-1"
    ),
    "near left out": Lie(put(lambda d: settled(d, "b"), "near", value=None), "settled", "nearly-1"),
    "block's beginning": Lie(
        put(block, "first", value=lambda first: neighbour(first, 1)), "tiling"
    ),
    "limbs": Lie(put(block, "limbs", value=1), "form"),
    "method": Lie(put(block, "method", value="guess"), "form"),
    "run": Lie(put(block, "run", value=lambda run: run + 8), "dropped terms", "regular"),
    "group": Lie(put(block, "group", value=50), "dropped terms"),
    "domain": Lie(put(block, "domain", value=lambda n: n + 20), "form", "regular"),
    "domain of two arguments": Lie(put(block, "domain", value=1), "form", "regular"),
    "target": Lie(error(0), "target"),
    "remainder": Lie(error(1), "remainder"),
    "rounding of coefficients": Lie(error(2), "polynomial"),
    "dropped terms": Lie(error(3), "dropped terms", "regular"),
    "truncation": Lie(error(4), "truncation"),
    "curvature": Lie(
        put(block, "curve", 0, value=lambda text: times(text, mpq(1, 4))), "curvature", "regular"
    ),
    "cubic": Lie(
        put(block, "curve", 1, value=lambda text: times(text, mpq(1, 1 << 60))),
        "curvature",
        "regular",
    ),
    **{f"coefficient {j}": Lie(coefficient(j), "polynomial") for j in range(4)},
    "case dropped": Lie(drop_case, "candidates", needs_all=True),
    "case said to be far": Lie(case_for_rejected, "search", needs_all=True),
    "all cases dropped": Lie(drop_all_cases, "law", "regular"),
    "case added": Lie(add_case, "cases"),
    "cases swapped": Lie(swap_cases, "order"),
    "exact case dropped": Lie(drop_exact, "search", "nearly-1"),
    "case said to be exact": Lie(exact_for_case, "cases"),
    "candidates counted": Lie(
        put(unit_with_blocks, "counts", "candidates", value=lambda n: n + 1), "counts"
    ),
    "rejected": Lie(put(unit_with_blocks, "rejected", value=lambda n: n + 1), "counts"),
    "tested": Lie(
        put(unit_with_blocks, "counts", "tested_arguments", value=0), "counts", "regular"
    ),
    "candidates' digest": Lie(
        put(unit_with_blocks, "candidates", value="0" * 64), "candidates", needs_all=True
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_an_altered_field_is_refused_by_name(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    lie = LIES[name]
    data = json.loads(files[lie.label].read_text())
    true = copy.deepcopy(data)
    lie.alter(data)
    assert data != true
    altered = sealed(data, tmp_path / "altered.json")
    with pytest.raises(Contradiction) as caught:
        verified(altered, lie.needs_all)
    assert caught.value.check == lie.check, str(caught.value)
    assert caught.value.exit_code == 7


@pytest.mark.parametrize("field", ["sentence", "cases", "exact_count", "settled", "removed"])
def test_an_altered_claim_is_refused(files: dict[str, Path], tmp_path: Path, field: str) -> None:
    data = json.loads(files["log1p"].read_text())
    data["claim"][field] = "of another"
    with pytest.raises(Contradiction, match=f"check claim: its {field}"):
        verified(sealed(data, tmp_path / "altered.json", remade=False))


def test_blocks_that_did_not_run_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    data = json.loads(files["log1p"].read_text())
    error(2)(data)
    with pytest.raises(Contradiction, match="check blocks"):
        verified(sealed(data, tmp_path / "altered.json", remade=False))


def changed_texts(text: str) -> Iterator[tuple[str, str, int]]:
    """(what was done, the text, the exit code)."""
    yield "cut", text[: len(text) // 2], 2
    yield "empty", "", 2
    yield "garbage", "\x00\x01", 2
    yield "another file", "[1, 2]", 2
    yield "another schema", text.replace('{"schema": 1', '{"schema": 2', 1), 2
    yield "a byte", text.replace('"limbs":2', '"limbs":4', 1), 7
    yield "an unknown field", text.replace('{"schema": 1', '{"schema": 1, "more": 1', 1), 7
    yield "no number", text.replace('"rejected":', '"rejected":"x', 1), 2
    yield "no end", text.rpartition('"digest"')[0], 2


def test_an_expression_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "list.csv"
    asked = ("--expr", "exp(-x)", "--format", "binary16", "--interval", "1,1.1", "--bits", "7")
    assert main.run(["search", *asked, "--device", "cpu", "--output", str(output)]) == 0
    assert main.run(["verify", str(output)]) == 2
    assert "about the expression expr:exp(-x)" in capsys.readouterr().err


def test_what_is_no_certificate_is_refused_with_a_way_out(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text, exit_code in changed_texts(files["log1p"].read_text()):
        path = tmp_path / "other.json"
        path.write_text(text)
        assert main.run(["verify", str(path)]) == exit_code, name
        err = capsys.readouterr().err
        assert err.count("hrcase: error:") == 1 and len(err.splitlines()) == 1, name


FORM: dict[str, tuple[Alter, str]] = {
    "missing": (lambda d: d.pop("outside"), "outside"),
    "unknown": (lambda d: d.update(more=1), "more"),
    "no list": (put("units", value={}), "units"),
    "no number": (put(block, "polynomial", 1, value="0x1p"), "polynomial"),
    "no dyadic number": (put(block, "errors", 1, value="0.1"), "errors"),
    "an argument of another format": (put("units", 0, "first", value="0x1.0000001p-1"), "units"),
    "huge": (put(block, "run", value=10**9), "run"),
    "a flag for a number": (put(block, "limbs", value=True), "limbs"),
    "four errors": (lambda d: block(d)["errors"].pop(), "errors"),
    "session": (put("units", 0, "session", value=7), "session"),
}


@pytest.mark.parametrize("name", FORM)
def test_another_form_is_an_error_of_input(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    alter, place = FORM[name]
    data = json.loads(files["log1p"].read_text())
    alter(data)
    with pytest.raises(InputError, match=place):
        verified(sealed(data, tmp_path / "altered.json", remade=False))


def test_another_registry_is_a_mismatch(files: dict[str, Path], tmp_path: Path) -> None:
    data = json.loads(files["log1p"].read_text())
    data["entry"] = "0" * 16
    with pytest.raises(JobMismatch, match="entry"):
        verified(sealed(data, tmp_path / "altered.json", remade=False))


def test_a_job_that_another_program_did_is_not_certified(jobs: dict[str, Path]) -> None:
    """The blocks stated are those that ran."""
    import hrcase.job.certificate as writer

    with reading(jobs["log1p"]) as store, pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "blocks_digest", lambda blocks: "other")
        with pytest.raises(JobMismatch, match="plans other blocks"):
            write_certificate(store, StringIO(), lambda: None)


def test_commands(
    jobs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, output = str(jobs["nearly-x"]), tmp_path / "c.json"
    assert main.run(["certify", job, "--output", str(output)]) == 0
    assert main.run(["certify", job, "--output", str(tmp_path / "c.csv")]) == 2
    assert main.run(["certify", str(tmp_path), "--output", str(output)]) == 2
    assert main.run(["verify", str(output), "--sample", "2"]) == 0
    out = capsys.readouterr().out
    assert "proved   pieces tile the range" in out and "sampled" in out
    assert main.run(["verify", job, "--sample", "2"]) == 0
    assert "rows of the list, column by column" in capsys.readouterr().out
    assert main.run(["verify", str(tmp_path / "none.json")]) == 2
    data = json.loads(output.read_text())
    data["pieces"].pop()
    lie = sealed(data, tmp_path / "lie.json", remade=False)
    assert main.run(["verify", str(lie), "--json"]) == 7
    said = json.loads(capsys.readouterr().out)
    assert (said["verified"], said["check"]) == (False, "tiling")


def test_a_certificate_is_the_same_each_time(files: dict[str, Path], jobs: dict[str, Path]) -> None:
    path = files["log1p"].with_name("again.json")
    with reading(jobs["log1p"]) as store, open(path, "w", encoding="utf-8") as stream:
        write_certificate(store, stream, lambda: None)
    assert path.read_bytes() == files["log1p"].read_bytes()


def test_a_case_that_is_no_candidate_is_seen(files: dict[str, Path]) -> None:
    certificate = read_certificate(files["regular"])
    unit = next(unit for unit in certificate.units if unit.cases)
    cases._check_candidates(certificate.spec, unit)
    wrong = [
        replace(b, polynomial=(b.polynomial[0] + mpq(1, 4), *b.polynomial[1:])) for b in unit.blocks
    ]
    with pytest.raises(Contradiction, match="check candidates"):
        cases._check_candidates(certificate.spec, replace(unit, blocks=wrong))


@pytest.mark.parametrize(
    ("kind", "which", "lo", "hi"),
    [("c", "breakpoints", -14, -3), ("c", "breakpoints", -5, -4), ("b", "", -14, -13)],
)
def test_a_theorem_proves_no_more_than_it_says(kind: str, which: str, lo: int, hi: int) -> None:
    """expm1, finer than its results: nearly x for small x only."""
    first, end = (BINARY16.ordinal(scale(1, e)) for e in (lo, hi))
    spec = SearchSpec("expm1", BINARY16, BFLOAT16, 6, "all", everything(BINARY16))
    with pytest.raises(Contradiction, match="check settled"):
        theorems._prove(spec, Piece(first, end, "settled", kind, None, which))


def test_contradictions_end_with_7() -> None:
    assert issubclass(Contradiction, VerificationFailed)


def test_a_wrong_series_is_seen_by_the_values_of_f(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A polynomial that fits the series of another function than f."""
    certificate = read_certificate(files["regular"])
    of_block, spec = certificate.units[0].blocks[0], certificate.spec
    axis = one_axis(spec, of_block.lo, of_block.hi)
    monkeypatch.setattr(polynomials, "_distance_of_coefficients", lambda *given: mpq(0))
    polynomials.check_block(spec, axis, of_block)
    off = scale(1, -8)
    wrong = replace(of_block, polynomial=(of_block.polynomial[0] + off, *of_block.polynomial[1:]))
    with pytest.raises(Contradiction, match="check polynomial: at x"):
        polynomials.check_block(spec, axis, wrong)
