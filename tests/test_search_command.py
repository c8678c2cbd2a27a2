"""`hrcase search` as a user meets it: refusals, files, Ctrl-C, and ranges that add up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest
from gmpy2 import mpq

from hrcase.claim import Claim
from hrcase.cli import main
from hrcase.formats import FORMATS
from hrcase.hexfloat import parse_number

BINARY64 = FORMATS["binary64"]
EIGHTH = BINARY64.ordinal(mpq(1, 8))
HEADER = "function,format,x,y_nearest,breakpoint,side,log2_distance,distance_ulp,identical_bits"
ONE_BINADE = ("exp", "--format", "binary32", "--interval=1,2")
"""2^23 arguments: about 1024 cases at the default M = 15, in a fraction of a second."""

Captured = pytest.CaptureFixture[str]


def search(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of `hrcase search --device cpu ARGUMENTS`."""
    exit_code = main.run(["search", "--device", "cpu", *arguments])
    output = capsys.readouterr()
    return exit_code, output.out, output.err


def rows(capsys: Captured, *arguments: str) -> list[str]:
    """The rows of a search that must succeed and find something."""
    exit_code, out, err = search(capsys, *arguments)
    assert exit_code == 0, err
    header, *found = out.splitlines()
    assert header == HEADER
    assert found
    return found


def x_of(row: str) -> mpq:
    return parse_number(row.split(",")[2])


REFUSED = [
    (("sinn",), "unknown function 'sinn'; did you mean sin?"),
    (("exp3",), "did you mean exp"),
    (("exp", "--interval=1,1"), "is empty"),
    (("exp", "--interval=2,1"), "write the smaller bound first"),
    (("exp", "--interval=nan,1"), "cannot read 'nan' as a number"),
    (("exp", "--interval=1,nan"), "cannot read 'nan' as a number"),
    (("exp", "--interval=1"), "it has 1 parts, not 2"),
    (("exp", "--interval=1,2,3"), "it has 3 parts, not 2"),
    (("exp", "--interval=1e400,1e500"), "no binary64 number lies in 1e400 <= x < 1e500"),
    (("exp", "--interval=0x1.00000000000001p0,0x1.00000000000002p0"), "no binary64 number"),
    (("exp", "--bits", "2"), "give 3 <= M <= 212 (default 44)"),
    (("exp", "--bits", "213"), "give 3 <= M <= 212 (default 44)"),
    (("exp", "--output-format", "binary16", "--bits", "45"), "for binary16 give 3 <= M <= 44"),
    (("exp", "--bits", "many"), "'many' is not a valid integer"),
    (("exp", "--interval=1,2", "--sign", "positive"), "--interval excludes"),
    (("exp", "--interval=1,2", "--exponent-range", "0:0"), "--interval excludes"),
    (("exp", "--exponent-range", "3:1"), "reversed; give A:B with A <= B"),
    (("exp", "--exponent-range", "0:1024"), "binades -1074 to 1023"),
    (("exp", "--exponent-range=-1075:0"), "binades -1074 to 1023"),
    (("exp", "--exponent-range", "a:b"), "two integers"),
    (("exp", "--exponent-range", "1"), "two integers"),
    (("sin", "--interval=1,2049"), "sin is searched for |x| < 2^11 only"),
    (("sin", "--exponent-range", "11:11"), "2^11 <= |x| < 2^12 reaches beyond"),
    (("log", "--sign", "negative"), "log is not defined for x <= 0"),
    (("log", "--interval=-2,0x1p-1074"), "log is not defined for x <= 0"),
    (("exp", "--format", "half"), "unknown format 'half'; the formats are binary16"),
    (("exp", "--output-format", "half"), "unknown format 'half'"),
    (("exp", "--rounding", "up"), "'up' is not one of"),
    (("exp", "--device", "tpu"), "no device 'tpu'"),
    (("exp", "--threads", "0"), "'--threads'"),
    ((), "Missing argument 'FUNCTION'"),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_bad_input_is_refused_in_one_line(
    capsys: Captured, tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    exit_code, out, err = search(capsys, "--output", str(tmp_path / "list.csv"), *arguments)
    assert exit_code == 2
    assert out == ""
    (error,) = err.splitlines()
    assert error.startswith("hrcase: error: ")
    assert text in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "give FILE.csv or FILE.wc"),
        ("list", "give FILE.csv or FILE.wc"),
        ("missing/list.csv", "does not exist; run: mkdir -p"),
        ("directory.csv", "it is not a regular file"),
        ("blocked.csv", "blocked.csv.claim.json; it is not a regular file"),
    ],
)
def test_bad_outputs_are_refused_before_the_search(
    capsys: Captured, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "directory.csv").mkdir()
    (tmp_path / "blocked.csv.claim.json").mkdir()
    before = sorted(tmp_path.iterdir())
    exit_code, out, err = search(capsys, *ONE_BINADE, "--output", str(tmp_path / name))
    assert (exit_code, out) == (2, "")
    assert err.startswith("hrcase: error: ")
    assert text in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_too_many_cases_are_refused_and_can_be_allowed(capsys: Captured) -> None:
    exit_code, out, err = search(capsys, *ONE_BINADE, "--max-cases", "500")
    assert (exit_code, out) == (2, "")
    error = err.splitlines()[-1]
    found = re.fullmatch(
        r"hrcase: error: this search would give about (\S+) cases, (\S+) bytes, and take at least "
        r"(\S+) seconds .*--max-cases (\d+)",
        error,
    )
    assert found is not None
    cases, size, seconds, allowed = map(float, found.groups())
    assert cases == pytest.approx(1024, rel=0.01)  # 2^(p + 1 - M)
    assert size > 50 * cases
    assert 0 < seconds < cases
    listed = rows(capsys, *ONE_BINADE, "--max-cases", str(int(allowed)))
    assert 900 < len(listed) <= allowed


def test_floods_are_refused_before_any_work(capsys: Captured) -> None:
    for arguments in (("exp", "--bits", "3"), ("exp", "--output-format", "binary16")):
        exit_code, out, err = search(capsys, "--interval=1,2", *arguments)
        assert (exit_code, out) == (2, "")
        assert "ask for more --bits" in err


def test_a_list_on_stdout_is_data_and_the_rest_is_on_stderr(capsys: Captured) -> None:
    exit_code, out, err = search(capsys, *ONE_BINADE)
    header, *found = out.splitlines()
    assert (exit_code, header) == (0, HEADER)
    xs = [x_of(row) for row in found]
    assert xs == sorted(set(xs))
    assert all(1 <= x < 2 for x in xs)
    assert "M = 15: distance < 2^-15 ulp, that is, at least 14 identical bits" in err
    assert f"cases     {len(found)}, and 0 exact ones" in err


def test_the_claim_is_beside_the_list_and_in_the_wc_header(
    capsys: Captured, tmp_path: Path
) -> None:
    csv, wc = tmp_path / "list.csv", tmp_path / "list.wc"
    on_stdout = search(capsys, *ONE_BINADE)[1]
    for path in (csv, wc):
        exit_code, out, _ = search(capsys, *ONE_BINADE, "--output", str(path))
        assert (exit_code, out) == (0, "")
    assert csv.read_text() == on_stdout
    claims = [json.loads((tmp_path / f"{path.name}.claim.json").read_text()) for path in (csv, wc)]
    assert claims[0] == claims[1]
    assert set(claims[0]) == {field.name for field in fields(Claim)}
    assert all(claims[0][name] for name in ("proved", "rerun", "trusted", "exact_rule"))
    assert claims[0]["cases"] == on_stdout.count("\n") - 1
    sentence = claims[0]["sentence"]
    assert sentence.startswith("For exp with input format binary32 and output format binary32")
    assert "every x of binary32 with 1 <= x < 2 and 0 < min_b |f(x) - b| < 2^-15 ulp" in sentence
    lines = wc.read_text().splitlines()
    header = " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    arguments = [line for line in lines if not line.startswith("#")]
    assert sentence in header
    assert f"{len(arguments)} cases." in header
    assert arguments == [row.split(",")[2] for row in on_stdout.splitlines()[1:]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "list.csv",
        "list.csv.claim.json",
        "list.wc",
        "list.wc.claim.json",
    ]


def test_the_claim_names_what_is_not_covered(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    asked = ("log", "--format", "binary32", "--interval=-1,0x1p-149", "--output", str(path))
    assert search(capsys, *asked)[0] == 2  # nothing but x <= 0
    asked = ("log", "--format", "binary32", "--interval=-1,0x1p-148", "--output", str(path))
    assert search(capsys, *asked)[0] == 0
    claim = json.loads((tmp_path / "log.csv.claim.json").read_text())
    assert claim["removed"] == ["[-0x1p+0, 0x0p+0]: log is not defined for x <= 0"]


@pytest.mark.parametrize("low", ["-inf", "-1e400"])
def test_a_tail_is_a_range_of_the_claim(capsys: Captured, tmp_path: Path, low: str) -> None:
    path = tmp_path / "exp.csv"
    asked = ("exp", "--format", "binary32", f"--interval={low},-90000")
    _, out, err = search(capsys, *asked, "--output", str(path))
    claim = json.loads((tmp_path / "exp.csv.claim.json").read_text())
    assert out == ""
    assert len(claim["settled"]) == 1
    assert "(b) every argument is a case" in claim["settled"][0]
    assert claim["settled"][0].startswith("[-0x1.fffffep+127, ")
    assert "not rows, kind (b)" in err


def test_the_bytes_depend_on_neither_method_nor_threads(capsys: Captured) -> None:
    outputs = {
        search(capsys, *ONE_BINADE, "--method", method, "--threads", threads)[1]
        for method in ("farey", "regular", "lefevre")
        for threads in ("1", "3")
    }
    assert len(outputs) == 1


def test_the_summary_says_what_the_method_did(capsys: Captured) -> None:
    by_default, farey, regular = (
        search(capsys, *ONE_BINADE, *more)[2]
        for more in ((), ("--method", "farey"), ("--method", "regular"))
    )
    for summary in (by_default, farey):
        runs, decided, hits = (
            int(re.findall(pattern, summary)[0])
            for pattern in (r"walks +(\d+) runs", r"cubics +(\d+) arg", r"decided, (\d+) hits")
        )
        assert runs > 0 and 900 < hits <= decided < 1 << 20
        assert "phase" not in summary
    assert re.search(r"phase 1 +\d+ domains tested", regular)


BINARY32_EXP = ("exp", "--format", "binary32", "--bits", "17")


def test_both_signs_are_the_union_of_the_signs(capsys: Captured) -> None:
    asked = (*BINARY32_EXP, "--exponent-range=0:0")
    both, negative, positive = (
        rows(capsys, *asked, "--sign", sign) for sign in ("both", "negative", "positive")
    )
    assert both == negative + positive == rows(capsys, *asked)
    assert all(x_of(row) < 0 for row in negative)
    assert all(x_of(row) > 0 for row in positive)


def test_exponent_ranges_add_up_and_are_intervals(capsys: Captured) -> None:
    def ranged(exponents: str) -> list[str]:
        return rows(capsys, *BINARY32_EXP, "--sign", "positive", f"--exponent-range={exponents}")

    assert ranged("-2:-1") + ranged("0:1") == ranged("-2:1")
    assert ranged("-2:-1") == rows(capsys, *BINARY32_EXP, "--interval=0.25,1")


def test_intervals_add_up_at_any_cut(capsys: Captured) -> None:
    def between(lo: str, hi: str) -> list[str]:
        return rows(capsys, *BINARY32_EXP, f"--interval={lo},{hi}")

    whole = between("0.75", "1.5")
    cut = whole[len(whole) // 3].split(",")[2]  # an argument that is a case belongs to the right
    assert between("0.75", cut) + between(cut, "1.5") == whole


def test_midpoints_and_numbers_make_up_all_breakpoints(capsys: Captured) -> None:
    every, midpoints, numbers = (
        rows(capsys, *ONE_BINADE, "--rounding", rounding)
        for rounding in ("all", "nearest", "directed")
    )
    assert all(",midpoint," in row for row in midpoints)
    assert all(",number," in row for row in numbers)
    assert sorted(midpoints + numbers, key=x_of) == every


def test_more_bits_give_the_rows_with_shorter_distances(capsys: Captured) -> None:
    loose, strict = (rows(capsys, *ONE_BINADE, "--bits", bits) for bits in ("15", "17"))
    assert strict == [row for row in loose if float(row.split(",")[7]) < 2**-17]


def test_one_argument(capsys: Captured) -> None:
    """The hard case of exp and its right neighbour as the bound that is not in."""
    found = rows(capsys, "exp", "--interval=0x1.83d4bcdebb3f4p+2,0x1.83d4bcdebb3f5p+2")
    assert [row.split(",")[2:7] for row in found] == [
        ["0x1.83d4bcdebb3f4p+2", "0x1.ac50b409c8aeep+8", "number", "above", "-58.879"]
    ]


# Ctrl-C.

SIGNALLED = """
import signal, sys
from hrcase.cli import main, search
def see(watch, progress):
    if progress.units:
        print("some work is done", file=sys.stderr, flush=True)
search.Watch.see = see
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell ignores it
sys.exit(main.run(sys.argv[1:]))
"""


def interrupted(output: Path, *arguments: str) -> tuple[int, str, str]:
    """A search that gets SIGINT when its first work is done."""
    command = ["search", "--device", "cpu", "--threads", "1", "--output", str(output), *arguments]
    with subprocess.Popen(
        [sys.executable, "-c", SIGNALLED, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            while "some work is done" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, out, err


def ordinals(line: str) -> tuple[int, int]:
    """The half-open range of a line `finished [LO, LAST]` or `remaining --interval LO,HI`."""
    kind, low, high = re.split(r"\s+--interval |\s+\[|, ?", line.rstrip("]"))
    first, last = (BINARY64.ordinal(parse_number(bound)) for bound in (low, high))
    return first, last + (kind == "finished")


def test_ctrl_c_says_what_is_done_and_what_remains(tmp_path: Path) -> None:
    exit_code, out, err = interrupted(tmp_path / "list.csv", "exp", "--exponent-range=-3:8")
    assert (exit_code, out) == (4, "")
    lines = err.splitlines()
    assert lines[-1].startswith("hrcase: error: stopped by Ctrl-C")
    finished = [ordinals(line) for line in lines if line.startswith("finished")]
    remaining = [ordinals(line) for line in lines if line.startswith("remaining")]
    assert finished
    assert remaining
    parts = sorted(finished + remaining)
    assert all(a[1] == b[0] for a, b in pairwise(parts) if b[0] != EIGHTH)
    ends = [parts[0][0], parts[-1][1]]
    assert ends == [-BINARY64.ordinal(mpq(512)) + 1, BINARY64.ordinal(mpq(512))]
    assert 1 - EIGHTH in {part[1] for part in parts}
    assert EIGHTH in {part[0] for part in parts}
    assert list(tmp_path.iterdir()) == []


def test_without_a_compiler_one_line_says_what_to_install(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path), "HRCASE_CACHE": str(tmp_path / "cache")}
    output = tmp_path / "list.csv"
    command = ["search", "--device", "cpu", *ONE_BINADE, "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "hrcase.cli", *command],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (9, "")
    error = done.stderr.splitlines()[-1]
    assert error.startswith("hrcase: error: no g++ found")
    assert 'type "apt-get install g++"' in error
    assert "Traceback" not in done.stderr
    assert not output.exists()


@pytest.mark.parametrize("method", ["farey", "regular"])
def test_explain_prints_the_budget_and_searches_nothing(capsys: Captured, method: str) -> None:
    asked = ("exp", "--interval", "0.25,0.25001", "--bits", "36", "--explain", "--method", method)
    exit_code, out, err = search(capsys, *asked)
    assert (exit_code, err) == (0, "")
    shares = {
        line[:38].strip(): float(line.split()[-2]) for line in out.splitlines() if line[-2:] == " w"
    }
    assert shares["target w"] == 1
    assert shares["block window"] <= shares["run window"]
    assert f"method {method}" in out
    if method == "regular":
        assert shares["run window"] < shares["domain window"]
