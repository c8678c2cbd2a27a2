"""Comparing lists, in the library and on the command line."""

import json
from pathlib import Path

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from hrcase.cli.main import run
from hrcase.compare import compare_lists
from hrcase.errors import InputError
from hrcase.export.csv import HEADER
from hrcase.export.reader import CaseList, Entry

WIDE = "1e-10"
NARROW = "1e-20"


def case_list(*values: int, distance: mpq | None = None, function: str | None = None) -> CaseList:
    entries = tuple(Entry(mpq(v), distance, line) for line, v in enumerate(values, start=1))
    return CaseList(Path("list"), entries, 0, function, "binary64")


def csv_file(path: Path, *rows: tuple[str, str]) -> str:
    """A CSV list of (x, distance_ulp) rows."""
    lines = [f"exp,binary64,{x},0x1p+0,number,above,-50,{distance},49" for x, distance in rows]
    path.write_text("\n".join([",".join(HEADER), *lines, ""]))
    return str(path)


def wc_file(path: Path, *values: str) -> str:
    path.write_text("".join(f"{value}\n" for value in values))
    return str(path)


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_lists_are_compared_as_sets(a: list[int], b: list[int]) -> None:
    result = compare_lists(case_list(*a), case_list(*b))
    assert list(result.missing) == sorted(set(a) - set(b))
    assert list(result.extra) == sorted(set(b) - set(a))
    assert result.common == len(set(a) & set(b))
    assert result.equal == (set(a) == set(b))
    assert list(result.a.duplicates) == sorted(x for x in set(a) if a.count(x) > 1)


def test_interval_is_half_open() -> None:
    result = compare_lists(case_list(1, 2, 3), case_list(), interval=(mpq(1), mpq(3)))
    assert result.missing == (1, 2)
    assert result.a.outside == 1


@pytest.mark.parametrize(
    ("distance", "missing"), [(mpq(1, 2**44), ()), (mpq(1, 2**44) - mpq(1, 2**99), (5,))]
)
def test_threshold_is_strict(distance: mpq, missing: tuple[int, ...]) -> None:
    result = compare_lists(case_list(5, distance=distance), case_list(), bits=44)
    assert result.missing == missing


def test_an_argument_loose_on_one_side_only_is_no_difference() -> None:
    loose, plain = case_list(5, distance=mpq(1)), case_list(5)
    assert compare_lists(loose, plain, bits=44).equal
    assert compare_lists(plain, loose, bits=44).equal


def test_lists_of_two_functions_are_not_compared() -> None:
    with pytest.raises(InputError, match="different functions"):
        compare_lists(case_list(function="exp"), case_list(function="log"))


def test_equal_lists_exit_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = csv_file(tmp_path / "a.csv", ("0x1p+0", NARROW), ("0x1.8p+0", NARROW))
    b = wc_file(tmp_path / "b.wc", "1.5", "nan", "1", "0x2p-1")
    assert run(["compare", a, b]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert "2 in both, 0 missing (only in A), 0 extra (only in B): no difference" in output.err
    assert "1 not finite; 1 listed more than once" in output.err


def test_differences_are_greppable_and_exit_with_7(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = wc_file(tmp_path / "a.wc", "3", "1", "-2")
    b = wc_file(tmp_path / "b.wc", "1", "0.5")
    assert run(["compare", a, b]) == 7
    output = capsys.readouterr()
    assert output.out == "MISSING -0x1p+1\nMISSING 0x1.8p+1\nEXTRA 0x1p-1\n"
    assert "the lists differ" in output.err


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = csv_file(tmp_path / "a.csv", ("1", NARROW), ("2", WIDE), ("9", NARROW), ("-1", NARROW))
    b = wc_file(tmp_path / "b.wc", "1", "4", "4")
    assert run(["compare", a, b, "--json", "--bits", "44", "--interval", "-1,8"]) == 7
    assert json.loads(capsys.readouterr().out) == {
        "equal": False,
        "common": 1,
        "missing": ["-0x1p+0"],
        "extra": ["0x1p+2"],
        "a": {"arguments": 2, "below_threshold": 1, "outside_interval": 1, "duplicates": []},
        "b": {
            "arguments": 2,
            "below_threshold": 0,
            "outside_interval": 0,
            "duplicates": ["0x1p+2"],
        },
    }


@pytest.mark.parametrize(
    "options", [["--bits", "2"], ["--bits", "x"], ["--interval", "2,1"], ["--nothing"], ["third"]]
)
def test_usage_errors_exit_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    a = wc_file(tmp_path / "a.wc", "1")
    assert run(["compare", a, a, *options]) == 2
    assert capsys.readouterr().err.startswith("hrcase: error: ")


def test_a_missing_file_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(tmp_path / "a.wc"), str(tmp_path / "b.wc")]) == 2
    assert "a.wc" in capsys.readouterr().err
