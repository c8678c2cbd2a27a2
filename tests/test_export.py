"""Writing and reading case lists."""

import io
import math
import os
from pathlib import Path

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from hrcase.cases import HRCase
from hrcase.errors import ExportError, InputError, TryAgain
from hrcase.export import atomic_write, check_writable
from hrcase.export.csv import write_csv
from hrcase.export.reader import read_list
from hrcase.export.wc import write_wc

CASE = HRCase(
    x=mpq(3, 4),
    y_nearest=mpq(2),
    breakpoint="midpoint",
    side="below",
    log2_distance="-59.254",
    distance_ulp="1.454e-18",
    identical_bits=58,
)
OVERFLOW = HRCase(
    x=mpq(-1024),
    y_nearest=math.inf,
    breakpoint="number",
    side="above",
    log2_distance="-44.5",
    distance_ulp="4.02e-14",
    identical_bits=43,
)
HEADER = "function,format,x,y_nearest,breakpoint,side,log2_distance,distance_ulp,identical_bits\n"


def csv_text(*cases: HRCase) -> str:
    stream = io.StringIO()
    write_csv(stream, "exp", "binary64", [case.row for case in cases])
    return stream.getvalue()


def wc_text(claim: str, *cases: HRCase) -> str:
    stream = io.StringIO()
    write_wc(stream, claim, [case.row[0] for case in cases])
    return stream.getvalue()


def stored(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_is_exact_to_the_byte() -> None:
    assert csv_text(CASE, OVERFLOW) == (
        HEADER
        + "exp,binary64,0x1.8p-1,0x1p+1,midpoint,below,-59.254,1.454e-18,58\n"
        + "exp,binary64,-0x1p+10,inf,number,above,-44.5,4.02e-14,43\n"
    )


def test_csv_of_no_case_is_its_header(tmp_path: Path) -> None:
    assert csv_text() == HEADER
    cases = read_list(stored(tmp_path, "empty.csv", csv_text()))
    assert (cases.entries, cases.function) == ((), None)


def test_csv_reads_back(tmp_path: Path) -> None:
    cases = read_list(stored(tmp_path, "a.csv", csv_text(CASE, OVERFLOW)))
    assert [(e.x, e.distance, e.line) for e in cases.entries] == [
        (mpq(3, 4), mpq(1454, 10**21), 2),
        (mpq(-1024), mpq(402, 10**16), 3),
    ]
    assert (cases.function, cases.format_name) == ("exp", "binary64")


def test_wc_wraps_its_claim_and_keeps_its_line_ends() -> None:
    claim = "words " * 40 + "0x1.fffffffffffffp+1023," * 10 + "\n\nlast"
    lines = wc_text(claim, CASE).splitlines()
    comments, data = lines[:-1], lines[-1]
    assert data == "0x1.8p-1"
    assert all(line.startswith("# ") or line == "#" for line in comments)
    assert comments[-2:] == ["#", "# last"]
    assert max(len(line) for line in comments if "0x" not in line) <= 80
    assert " ".join(line[2:] for line in comments).split() == claim.split()


@given(st.lists(st.fractions(max_denominator=1).map(mpq)), st.text())
def test_wc_reads_back_whatever_the_claim(
    tmp_path_factory: pytest.TempPathFactory, values: list[mpq], claim: str
) -> None:
    cases = [HRCase(x, mpq(1), "number", "above", "-50", "1e-15", 49) for x in values]
    path = stored(tmp_path_factory.mktemp("wc"), "a.wc", wc_text(claim, *cases))
    assert [entry.x for entry in read_list(path).entries] == values


def test_wc_of_core_math(tmp_path: Path) -> None:
    text = "# claim\r\n\n+snan\n-NaN\n+inf\n-inf # end\n-0\n+1\n  0x1.8p+1  # note, with comma\n"
    cases = read_list(stored(tmp_path, "a.wc", text))
    assert [entry.x for entry in cases.entries] == [0, 1, 3]
    assert cases.skipped == 4
    assert all(entry.distance is None for entry in cases.entries)


def test_bacsel_output(tmp_path: Path) -> None:
    text = (
        "BaCSeL 4.0\nfound 2 cases\n"
        "*** x=4549788078159242*2^-53, distance is: 1.138341287e-14\n"
        "*** x=-3*2^2, distance is: 2e-14\n"
    )
    entries = read_list(stored(tmp_path, "bacsel.log", text)).entries
    assert [entry.x for entry in entries] == [mpq(4549788078159242, 2**53), -12]
    assert entries[0].distance == mpq(1138341287, 10**23)


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.wc", "0x1p0\n0x1p0,0x1p1\n", "a.wc:2: .*two arguments"),
        ("a.wc", "0x1p0 0x1p1\n", "a.wc:1: "),
        ("a.wc", "\n\n0x1.gp0\n", "a.wc:3: .*0x1.gp0"),
        ("a.csv", "", "a.csv:1: .*header"),
        ("a.csv", "x,y\n", "a.csv:1: .*header"),
        ("a.csv", HEADER + "exp,binary64,0x1p0\n", "a.csv:2: .*3 fields"),
        ("a.csv", HEADER + "\n", "a.csv:2: .*1 fields"),
        ("a.log", "*** x=12, distance: 1\n", "a.log:1: "),
        ("a.log", "*** x=1*2^99999999999, distance is: 1e-14\n", "a.log:1: "),
        ("a.txt", "0x1p0\n", "no case in .*a.txt"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, name: str, text: str, where: str) -> None:
    with pytest.raises(InputError, match=where):
        read_list(stored(tmp_path, name, text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0x1.8p-1", "oops"),
        (",0x1p+1,", ",nan,"),
        ("midpoint", "middle"),
        ("below", "under"),
        ("-59.254", "-59,254"),
        ("1.454e-18", "inf"),
        (",58", ",5.8"),
        ("exp,binary64,-", "log,binary64,-"),
        ("binary64,-", "binary32,-"),
    ],
)
def test_each_field_of_a_row_is_checked(tmp_path: Path, old: str, new: str) -> None:
    text = csv_text(CASE, OVERFLOW)
    assert text.count(old) == 1
    with pytest.raises(InputError, match=r"a\.csv:[23]: cannot read"):
        read_list(stored(tmp_path, "a.csv", text.replace(old, new)))


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.wc; No such file"):
        read_list(tmp_path / "none.wc")


def test_bytes_that_are_no_text_are_a_wrong_line(tmp_path: Path) -> None:
    (tmp_path / "a.wc").write_bytes(b"0x1p0\n\xff\xfe\n")
    with pytest.raises(InputError, match=r"a\.wc:2: "):
        read_list(tmp_path / "a.wc")


def test_atomic_write_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = stored(tmp_path, "out.csv", "old")
    with open(path) as earlier:
        with atomic_write(path) as stream:
            stream.write("new\n")
            assert path.read_text() == "old"
        # A rename leaves the earlier file whole to whoever has it open; writing over it does not.
        assert earlier.read() == "old"
    assert path.read_bytes() == b"new\n"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_write_leaves_the_old_file_when_the_block_raises(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = stored(tmp_path, "out.csv", "old")
    with pytest.raises(error), atomic_write(path) as stream:
        stream.write("half of it")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_full_disk_says_try_again(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with pytest.raises(TryAgain, match=r"out\.csv; No space left"), atomic_write(path):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_atomic_write_follows_a_link_and_honours_the_umask(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real.csv")
    mask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "link") as stream:
            stream.write("text")
    finally:
        os.umask(mask)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "text"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o640


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.csv")
    for path, reason in (
        (tmp_path / "no" / "out.csv", "mkdir -p"),
        (tmp_path, "regular file"),
        (Path(os.devnull), "regular file"),
        (tmp_path / ("a" * 300 + ".csv"), "shorter output path"),
        (tmp_path / ("a" * 300) / "out.csv", "shorter output path"),
    ):
        with pytest.raises(ExportError, match=reason):
            check_writable(path)
        with pytest.raises(ExportError, match=reason), atomic_write(path):
            pass
    assert Path(os.devnull).is_char_device()


def test_a_directory_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run as root, to whom the system refuses nothing.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ExportError, match="no permission"):
        check_writable(tmp_path / "out.csv")
