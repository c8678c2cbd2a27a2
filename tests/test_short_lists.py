"""hrcase export: the hardest cases alone, and f(x) in four modes as CSV and as C."""

from __future__ import annotations

import json
import subprocess
from itertools import groupby
from pathlib import Path

import pytest
from gmpy2 import mpq
from jobs import Captured, hrcase

from hrcase.argument import check
from hrcase.export.thin import Thinning
from hrcase.export.values import c_type_of, write_c
from hrcase.formats import FORMATS, Format, floor_log2
from hrcase.functions import function_by_name
from hrcase.hexfloat import format_bound, parse_number
from hrcase.roundings import MODES
from hrcase.spec import SearchSpec, everything

SEARCH = ("sin", "--format", "binary32", "--exponent-range=-2:2", "--bits", "17")
BINARY32, BINARY64 = FORMATS["binary32"], FORMATS["binary64"]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> str:
    from hrcase.cli import main

    path = str(tmp_path_factory.mktemp("jobs") / "job")
    assert main.run(["search", *SEARCH, "--job", path]) == 0
    return path


def exported(capsys: Captured, job: str, *words: str) -> list[str]:
    code, out, _ = hrcase(capsys, "export", job, *words)
    assert code == 0
    return out.splitlines()


def distance(line: str) -> mpq:
    return parse_number(line.split(",")[7])


def binade(line: str) -> tuple[bool, int]:
    x = parse_number(line.split(",")[2])
    return x < 0, floor_log2(abs(x))


@pytest.mark.parametrize("count", [1, 7, 10**6])
def test_top_are_the_nearest_in_their_order(capsys: Captured, job: str, count: int) -> None:
    header, *rows = exported(capsys, job, "--to", "csv")
    nearest = sorted(rows, key=distance)[:count]
    expected = [row for row in rows if row in set(nearest)]
    assert exported(capsys, job, "--to", "csv", "--top", str(count)) == [header, *expected]


def test_per_binade_are_the_nearest_of_each(capsys: Captured, job: str) -> None:
    header, *rows = exported(capsys, job, "--to", "csv")
    expected = []
    for _, group in groupby(rows, key=binade):
        of_binade = list(group)
        nearest = set(sorted(of_binade, key=distance)[:3])
        expected += [row for row in of_binade if row in nearest]
    assert len(expected) == 3 * 10
    assert exported(capsys, job, "--to", "csv", "--per-binade", "3") == [header, *expected]


def test_of_equal_distances_the_first_is_kept() -> None:
    rows = [(f"0x1.{n}p+0", "", "", "", "", "1e-9", "") for n in range(9)]
    assert list(Thinning(3, per_binade=False).rows(rows)) == rows[:3]


def test_a_short_list_says_that_it_is_not_complete(
    capsys: Captured, job: str, tmp_path: Path
) -> None:
    output = tmp_path / "short.wc"
    words = ("--to", "wc", "--top", "5", "--output", str(output))
    whole = len(exported(capsys, job, "--to", "csv")) - 1
    assert exported(capsys, job, *words) == []
    claim = json.loads((tmp_path / "short.wc.claim.json").read_text())
    assert claim["sentence"].startswith(f"The 5 hardest, 5 of {whole} cases: not complete. ")
    assert "For sin with input format binary32" in claim["sentence"]
    assert claim["cases"] == 5 and claim["complete"] is False
    text = output.read_text()
    assert text.startswith(f"# The 5 hardest, 5 of {whole} cases: not complete.")
    assert text.count("\n0x") + text.count("\n-0x") == 5
    each = exported(capsys, job, "--to", "wc", "--per-binade", "2")
    assert " ".join(each).startswith("# The 2 hardest of each input binade")


def test_values_are_those_of_check(capsys: Captured, job: str) -> None:
    header, *lines = exported(capsys, job, "--to", "values", "--per-binade", "2")
    assert header == "x,rn,ru,rd,rz"
    assert len(lines) == 20
    for line in lines:
        x, *values = line.split(",")
        report = check(function_by_name("sin"), BINARY32, BINARY32, parse_number(x))
        assert values == [format_bound(report.rounded[mode]) for mode in MODES]


PROGRAM = """
#include <stdio.h>
#include "table.h"
int main(void) {{
    for (unsigned i = 0; i < sizeof {name} / sizeof *{name}; i++)
        printf("{mark},{mark},{mark},{mark},{mark}\\n", {casts}{name}[i].x, {casts}{name}[i].rn,
               {casts}{name}[i].ru, {casts}{name}[i].rd, {casts}{name}[i].rz);
}}
"""


def compiled(directory: Path, name: str, mark: str = "%a", casts: str = "(double)") -> str:
    """What a C program prints that includes table.h."""
    source = directory / "main.c"
    source.write_text(PROGRAM.format(name=name, mark=mark, casts=casts))
    options = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
    program = str(directory / "main")
    subprocess.run(("gcc", *options, "-o", program, str(source)), check=True)
    return subprocess.run((program,), check=True, capture_output=True, text=True).stdout


def test_the_table_in_c_compiles_and_has_the_values(
    capsys: Captured, job: str, tmp_path: Path
) -> None:
    output = tmp_path / "table.h"
    assert exported(capsys, job, "--to", "c", "--top", "9", "--output", str(output)) == []
    assert (tmp_path / "table.h.claim.json").exists()
    assert " * The 9 hardest, 9 of " in output.read_text()
    printed = compiled(tmp_path, "hard_sin").splitlines()
    assert printed == exported(capsys, job, "--to", "values", "--top", "9")[1:]


@pytest.mark.parametrize(
    ("function", "words", "mark", "casts"),
    [
        ("exp", "--format binary16 --interval 10,11.5 --bits 6", "%a", "(double)"),
        ("exp", "--format x87 --interval 3,0x1.8000000000001p+1 --bits 8", "%La", ""),
        ("exp", "--format binary32 --interval=-103.9725,-103.9720 --bits 6", "%a", "(double)"),
        ("exp", "--output-format binary32 --interval 1,1.0000001 --bits 22", "%a", "(double)"),
    ],
)
def test_tables_of_other_formats(
    capsys: Captured, tmp_path: Path, function: str, words: str, mark: str, casts: str
) -> None:
    """binary16 with overflow to infinity, long double, subnormal results, two formats."""
    job = str(tmp_path / "job")
    assert hrcase(capsys, "search", function, *words.split(), "--job", job)[0] == 0
    exported(capsys, job, "--to", "c", "--output", str(tmp_path / "table.h"))
    printed = compiled(tmp_path, f"hard_{function}", mark, casts).splitlines()
    values = exported(capsys, job, "--to", "values")[1:]
    assert len(printed) == len(values) > 0
    assert [list(map(as_number, line.split(","))) for line in printed] == [
        list(map(as_number, line.split(","))) for line in values
    ]


def test_infinite_values_in_c(tmp_path: Path) -> None:
    spec = SearchSpec("sinh", BINARY64, BINARY64, 44, "all", everything(BINARY64))
    with open(tmp_path / "table.h", "w") as stream:
        write_c(stream, spec, "overflow */", ["-0x1.63cp+9", "0x1.63cp+9"])
    largest = "0x1.fffffffffffffp+1023"
    assert compiled(tmp_path, "hard_sinh").splitlines() == [
        f"-0x1.63cp+9,-inf,-{largest},-inf,-{largest}",
        f"0x1.63cp+9,inf,inf,{largest},{largest}",
    ]


def test_an_empty_table_is_no_c(capsys: Captured, tmp_path: Path) -> None:
    job, output = str(tmp_path / "job"), tmp_path / "table.c"
    assert hrcase(capsys, "search", "exp", "--interval", "1,1.00001", "--job", job)[0] == 0
    code, _, err = hrcase(capsys, "export", job, "--to", "c", "--output", str(output))
    assert (code, list(tmp_path.glob("table*"))) == (2, [])
    assert "has no cases" in err


def as_number(text: str) -> mpq | str:
    """%La has another leading digit than ours."""
    return text if "inf" in text else parse_number(text)


def test_bad_input_is_refused(capsys: Captured, job: str, tmp_path: Path) -> None:
    for words, why in (
        (("--to", "csv", "--top", "2", "--per-binade", "2"), "--top excludes --per-binade"),
        (("--to", "csv", "--top", "0"), "Invalid value"),
        (("--to", "c", "--output", str(tmp_path / "a.csv")), "FILE.c or FILE.h"),
        (("--to", "values", "--output", str(tmp_path / "a.wc")), "FILE.csv"),
    ):
        code, out, err = hrcase(capsys, "export", job, *words)
        assert (code, out) == (2, "")
        assert why in err
    with pytest.raises(ValueError, match="no type of C has the numbers of odd"):
        c_type_of(Format("odd", 70, -10, 10))
