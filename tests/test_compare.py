"""Comparing lists, in the library and on the command line."""

import json
import re
import struct
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
from hrcase.hexfloat import to_hex

WIDE = "1e-10"
NARROW = "1e-20"


def case_list(*values: int, distance: mpq | None = None, function: str | None = None) -> CaseList:
    entries = tuple(Entry(mpq(v), distance, line) for line, v in enumerate(values, start=1))
    return CaseList(Path("list"), entries, 0, function, "binary64", is_ours=True)


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
        "a": {
            "arguments": 2,
            "below_threshold": 1,
            "outside_interval": 1,
            "duplicates": [],
            "wrong_distances": [],
        },
        "b": {
            "arguments": 2,
            "below_threshold": 0,
            "outside_interval": 0,
            "duplicates": ["0x1p+2"],
            "wrong_distances": [],
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


BACSEL = """*** x=4549788078159242*2^-53, distance is: 1.138341287e-14
*** x=4504746622776930*2^-53, distance is: 1.171239464e-14
*** x=4552036900583860*2^-53, distance is: 1.836769942e-14
*** x=4552036900583861*2^-53, distance is: {fourth}
"""


def exp2_lists(path: Path, fourth: str) -> list[str]:
    """Three cases of exp2 at M = 45 as BaCSeL prints them, and one that is none; two as CSV."""
    (path / "bacsel.out").write_text(BACSEL.format(fourth=fourth))
    values = [to_hex(mpq(n, 2**53)) for n in (4549788078159242, 4504746622776930)]
    file = csv_file(path / "a.csv", *((x, "1.1e-14") for x in values))
    Path(file).write_text(Path(file).read_text().replace("exp,", "exp2,"))
    return [file, str(path / "bacsel.out")]


def test_distances_of_bacsel_are_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An entry that claims to be a case and is none is left out, and said to be wrong."""
    lists = exp2_lists(tmp_path, "1e-15")
    assert run(["compare", *lists, "--bits", "45"]) == 7
    output = capsys.readouterr()
    assert output.out == f"EXTRA {to_hex(mpq(4552036900583860, 2**53))}\n"
    assert "3 arguments compared; left out: 1 below the threshold" in output.err
    wrong = [line for line in output.err.splitlines() if line.startswith("WRONG DISTANCE")]
    assert wrong == [f"WRONG DISTANCE {lists[1]}:4: it is 2^-45 ulp or more"]
    assert run(["compare", *lists, "--bits", "45", "--json"]) == 7
    found = json.loads(capsys.readouterr().out)
    assert found["a"]["wrong_distances"] == []
    assert found["b"]["wrong_distances"] == [{"line": 4, "distance": "2^-45 ulp or more"}]


@pytest.mark.parametrize(("fourth", "wrong"), [("4e-2", 0), ("1.2e-14", 1), ("0", 1)])
def test_wrong_distances_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fourth: str, wrong: int
) -> None:
    _, file = exp2_lists(tmp_path, fourth)
    Path(file).write_text(Path(file).read_text().replace("1.138341287", "1.138341"))
    assert run(["compare", file, file, "--bits", "45", "--function", "exp2"]) == 0
    assert capsys.readouterr().err.count(f"WRONG DISTANCE {file}:4: ") == 2 * wrong
    Path(file).write_text(Path(file).read_text().replace("1.138341", "1.13834"))
    assert run(["compare", file, file, "--bits", "45", "--function", "exp2"]) == 0
    assert capsys.readouterr().err.count("it is 1.138341287e-14 ulp") == 2


def test_a_result_beyond_every_exponent_is_next_to_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """2^-(2^1023) is beyond MPFR's exponents; published lists have such arguments."""
    a, b = wc_file(tmp_path / "a.wc", "-0x1p+1023", "0x1p+1023"), wc_file(tmp_path / "b.wc", "1")
    assert run(["compare", a, b, "--bits", "45", "--function", "exp2"]) == 7
    assert capsys.readouterr().out == "MISSING -0x1p+1023\n"


def test_what_hrcase_did_not_write_is_decided_when_the_function_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = wc_file(tmp_path / "a.wc", to_hex(mpq(4549788078159242, 2**53)), "0x1p-1", "0x1.8p0")
    b = bin_file(tmp_path / "b.bin", 4549788078159242 / 2**53, float("nan"), float("-inf"))
    assert run(["compare", a, b, "--bits", "45", "--function", "exp2"]) == 0
    assert "1 in both" in capsys.readouterr().err
    assert run(["compare", a, b, "--bits", "45"]) == 7
    output = capsys.readouterr()
    assert output.out == "MISSING 0x1p-1\nMISSING 0x1.8p+0\n"
    assert "2 not finite" in output.err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "give --function"),
        (["--function", "log"], "a.out:2: cannot decide this entry; log is not defined"),
        (["--function", "exp", "--format", "binary16"], "a.out:1: .*x is no binary16 number"),
        (["--function", "exq"], "exq"),
        (["--function", "exp", "--format", "decimal64"], "decimal64"),
    ],
)
def test_what_cannot_be_decided_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], why: str
) -> None:
    file = tmp_path / "a.out"
    file.write_text("*** x=4097, distance is: 1e-14\n*** x=-3*2^2, distance is: 2e-14\n")
    assert run(["compare", str(file), str(file), "--bits", "44", *options]) == 2
    assert re.search(why, capsys.readouterr().err)


def bin_file(path: Path, *values: float) -> str:
    path.write_bytes(struct.pack(f"<{len(values)}d", *values))
    return str(path)


def test_doubles_are_read_and_a_cut_file_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = bin_file(tmp_path / "a.bin", 1.0, -2.5, 5e-324)
    b = wc_file(tmp_path / "b.wc", "1", "-2.5", "0x1p-1074")
    assert run(["compare", a, b]) == 0
    capsys.readouterr()
    Path(a).write_bytes(Path(a).read_bytes()[:-1])
    assert run(["compare", a, b]) == 2
    assert "23 bytes, which is no whole number of doubles" in capsys.readouterr().err
