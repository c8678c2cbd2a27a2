"""--exact FILE: the exact cases, of a search and of a job."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from gmpy2 import mpq
from jobs import Captured, hrcase

from hrcase.cli import main
from hrcase.hexfloat import parse_number

ASKED = ("search", "exp2", "--format", "binary16", "--bits", "8", "--exponent-range=-2:4")


def exact_in(path: Path) -> list[mpq]:
    lines = path.read_text().splitlines()
    return [parse_number(line) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("rounding", ["all", "nearest"])
def test_of_2_to_the_x_they_are_the_integers(tmp_path: Path, rounding: str) -> None:
    """2^-25 is the midpoint below the least subnormal; 2^16 and more overflow."""
    path = tmp_path / "exact.wc"
    words = ("--rounding", rounding, "--device", "cpu", "--output", str(tmp_path / "list.csv"))
    assert main.run([*ASKED, *words, "--exact", str(path)]) == 0
    integers = {"all": [n for n in range(-25, 16) if n], "nearest": [-25]}[rounding]
    assert exact_in(path) == integers
    text = " ".join(line[2:] for line in path.read_text().splitlines())
    assert text.startswith(f"Exact cases, {len(integers)} arguments: ")
    assert "For exp2 with input format binary16" in text


def test_a_job_gives_the_same(capsys: Captured, tmp_path: Path) -> None:
    plain, of_job, later = (tmp_path / f"{name}.wc" for name in ("plain", "job", "later"))
    output = ("--output", str(tmp_path / "list.csv"))
    assert main.run([*ASKED, "--device", "cpu", *output, "--exact", str(plain)]) == 0
    job = str(tmp_path / "job")
    assert main.run([*ASKED, "--device", "cpu", "--job", job, "--exact", str(of_job)]) == 0
    assert main.run(["export", job, "--to", "csv", *output, "--exact", str(later)]) == 0
    assert plain.read_bytes() == of_job.read_bytes() == later.read_bytes()


def test_squares_are_written_although_a_job_only_counts_them(
    capsys: Captured, tmp_path: Path
) -> None:
    """Those of numbers of binary16 that are in binary16 themselves."""
    words = ("sqrt", "--format", "binary16", "--interval", "1,4", "--device", "cpu")
    job, plain, of_job = tmp_path / "job", tmp_path / "plain.wc", tmp_path / "job.wc"
    output = ("--output", str(tmp_path / "list.csv"))
    assert main.run(["search", *words, *output, "--exact", str(plain)]) == 0
    assert main.run(["search", *words, "--job", str(job), "--exact", str(of_job)]) == 0
    roots = [mpq(c, 1 << 10) for c in range(1 << 10, 1 << 11)]
    squares = [y * y for y in roots if (y * y * (1 << 10 - (y * y >= 2))).denominator == 1]
    assert exact_in(plain) == squares and len(squares) > 20
    assert plain.read_bytes() == of_job.read_bytes()
    with closing(sqlite3.connect(job / "job.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM exact_case").fetchall() == [(0,)]
    capsys.readouterr()
    assert main.run(["status", str(job)]) == 0
    assert f"and {len(squares)} exact ones" in capsys.readouterr().out


def test_another_suffix_is_refused_before_the_work(capsys: Captured, tmp_path: Path) -> None:
    exit_code, out, err = hrcase(capsys, *ASKED, "--exact", str(tmp_path / "exact.txt"))
    assert (exit_code, out) == (2, "")
    assert "give FILE.wc" in err
