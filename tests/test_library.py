"""The library: `import hrcase`."""

from __future__ import annotations

import doctest
import math
from pathlib import Path

import pytest
from gmpy2 import mpq
from jobs import Captured
from jobs import hrcase as command

import hrcase
from hrcase import library
from hrcase.errors import InputError, Interrupted
from hrcase.hexfloat import parse_number

DOCS = Path(__file__).parent.parent / "docs" / "library.md"
ASKED = ("search", "exp", "--interval", "1,1.0001", "--bits", "39", "--device", "cpu")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """The job of docs/library.md, in the working directory."""
    monkeypatch.chdir(tmp_path)
    assert command(capsys, *ASKED, "--job", "exp-job")[0] == 0
    return tmp_path / "exp-job"


def test_the_docstrings_are_true() -> None:
    result = doctest.testmod(library)
    assert (result.failed, result.attempted > 5) == (0, True)


def test_the_page_is_true(job: Path) -> None:
    result = doctest.testfile(str(DOCS), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (result.failed, result.attempted > 12) == (0, True)


def test_a_job_gives_the_cases_of_a_search(job: Path) -> None:
    assert list(hrcase.read(job)) == hrcase.search("exp", interval="1,1.0001", bits=39).cases


def test_what_is_not_complete_is_not_read(tmp_path: Path, capsys: Captured) -> None:
    job = tmp_path / "job"
    assert command(capsys, *ASKED, "--job", str(job), "--max-time", "0")[0] == 4
    with pytest.raises(Interrupted, match="hrcase resume"):
        hrcase.read(job)
    with pytest.raises(InputError, match="is no job"):
        hrcase.read(tmp_path)


def test_arguments_are_the_options(tmp_path: Path, capsys: Captured) -> None:
    result = hrcase.search(
        "atan",
        exponent_range="-1:1",
        sign="negative",
        format="binary16",
        output_format="bfloat16",
        bits=9,
        rounding="nearest",
    )
    output = tmp_path / "list.csv"
    words = ["--exponent-range=-1:1", "--sign", "negative", "--bits", "9", "--rounding", "nearest"]
    words += ["--format", "binary16", "--output-format", "bfloat16", "--output", str(output)]
    assert command(capsys, "search", "atan", *words)[0] == 0
    rows = output.read_text().splitlines()[1:]
    assert [parse_number(row.split(",")[2]) for row in rows] == [c.x for c in result.cases]
    assert result.cases


def test_numbers_are_taken_exactly() -> None:
    texts = [hrcase.check("exp", x).log2_distance for x in ("0.25", 0.25, mpq(1, 4))]
    assert len(set(texts)) == 1
    assert hrcase.check("exp", 1).x == 1
    for x in (math.nan, math.inf):
        with pytest.raises(InputError, match="give a finite one"):
            hrcase.check("exp", x)
    with pytest.raises(InputError, match="not a binary32 number"):
        hrcase.check("exp", 0.1, format="binary32")


def test_arrays_hold_what_the_cases_say() -> None:
    cases = hrcase.search("exp", interval="1,2", format="binary32", bits=18).cases
    found = hrcase.arrays(cases)
    assert len(cases) > 30
    assert [mpq(x) for x in found["x"].tolist()] == [case.x for case in cases]
    assert found["is_midpoint"].tolist() == [case.breakpoint == "midpoint" for case in cases]
    assert found["log2_distance"].tolist() == [float(case.log2_distance) for case in cases]


def test_arrays_refuse_what_is_no_double() -> None:
    cases = hrcase.search("exp", interval="1,1.00000001", format="x87", bits=30).cases
    assert cases
    with pytest.raises(InputError, match="is no double"):
        hrcase.arrays(cases)


def test_only_what_is_public_is_there() -> None:
    assert all(callable(getattr(hrcase, name)) for name in ("arrays", "check", "read", "search"))
    assert "exp" in hrcase.functions.REGISTRY
    unknown = "serch"
    with pytest.raises(AttributeError, match="no attribute 'serch'"):
        getattr(hrcase, unknown)
