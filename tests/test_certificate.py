"""Certificates: true ones are proved; each meaningful field, altered, is refused by name.

Whoever alters one recomputes all digests and the claim: only the mathematics is left to tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from certificates import certified, check_refused, job_of, sealed, verified
from gmpy2 import mpq
from lies import BINARY16, LIES, Alter, block, error, put

from hrcase.cli import main
from hrcase.errors import InputError, JobMismatch, VerificationFailed
from hrcase.formats import FORMATS, scale
from hrcase.hexfloat import to_hex
from hrcase.job.certificate import write_certificate
from hrcase.job.directory import reading
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec, everything, interval
from hrcase.verify import cases, polynomials
from hrcase.verify import settled as theorems
from hrcase.verify.document import Piece, read_certificate
from hrcase.verify.findings import Contradiction
from hrcase.verify.monotone import one_axis

BFLOAT16, BINARY32 = FORMATS["bfloat16"], FORMATS["binary32"]
ASKED = {
    "log1p": ("log1p", BINARY16, BINARY16, 8, mpq(-1001, 1000), mpq(-1, 8)),
    "nearly-x": ("log1p", BINARY16, BINARY16, 8, scale(1, -24), scale(1, -8)),
    "nearly-1": ("exp", BINARY32, BINARY32, 15, scale(-1, -70), scale(1, -27)),
    "nearly-half": ("j1", BINARY16, BINARY16, 8, scale(1, -24), scale(1, -4)),
    "finer-half": ("j1", BINARY16, BFLOAT16, 6, scale(1, -14), scale(1, -10)),
    "finer": ("expm1", BINARY16, BFLOAT16, 6, scale(1, -14), scale(1, -11)),
    "roots": ("sqrt", BINARY16, BINARY16, 6, mpq(1), mpq(4)),
    "twice": ("exp", BINARY32, BINARY32, 15, mpq(2), mpq(2) + mpq(1, 32)),
    "regular": ("exp", BINARY32, BINARY32, 15, mpq(1), mpq(9, 8)),
}


TUNINGS = {"regular": Tuning(method="regular"), "twice": Tuning(second="regular")}


def spec_of(label: str) -> SearchSpec:
    name, inp, out, bits, lo, hi = ASKED[label]
    text = f"{to_hex(lo) if label != 'log1p' else '-1.001'} <= x < {to_hex(hi)}"
    return SearchSpec(name, inp, out, bits, "all", interval(inp, lo, hi, text))


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("jobs")
    return {label: job_of(spec_of(label), directory / label, TUNINGS.get(label)) for label in ASKED}


@pytest.fixture(scope="module")
def files(jobs: dict[str, Path]) -> dict[str, Path]:
    made = {}
    for label, job in jobs.items():
        made[label] = certified(job)
    return made


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


@pytest.mark.parametrize("name", LIES)
def test_an_altered_field_is_refused_by_name(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    check_refused(LIES[name], files, tmp_path)


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
    "a kind of settled pieces": (
        lambda d: d["pieces"][0].update(rule="settled", kind="x", near=None, which="", reason="y"),
        r"pieces\[0\].kind",
    ),
    "no text": (put("sessions", 0, "devices", value="cpu \udc80"), "devices"),
    "no line of text": (put("sessions", 0, "devices", value="cpu \x1b[31m"), "devices"),
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
