"""hrcase libm: a library with known faults, libraries that die, and this system's own."""

from __future__ import annotations

import json
import math
import struct
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from gmpy2 import mpq
from jobs import Captured, hrcase

from hrcase.errors import InputError
from hrcase.formats import FORMATS
from hrcase.libm import misroundings
from hrcase.libm.encoding import C_TYPES, c_type_of
from hrcase.roundings import Number

SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"
SOURCE = Path(__file__).with_name("libm_with_faults.c")
ROOT_OF_2, AFTER = "0x1.6a09e667f3bcdp+0", "0x1.6a09e667f3bcep+0"
MODES = ("RN", "RU", "RD", "RZ")
LARGEST = "0x1.fffffffffffffp+1023"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("library") / "libfaults.so"
    options = ("-O1", "-frounding-math", "-shared", "-fPIC")
    subprocess.run(("gcc", *options, "-o", str(path), str(SOURCE), "-lm"), check=True)
    return str(path)


def wc(directory: Path, *lines: str) -> str:
    path = directory / "cases.wc"
    path.write_text("# cases\n" + "\n".join(lines) + "\n")
    return str(path)


def asked(
    capsys: Captured, library: str, function: str, symbol: str, cases: str, *more: str
) -> tuple[int, list[str], str]:
    """(exit code, lines on stdout, stderr)."""
    words = ("--library", library, "--symbol", symbol, "--cases", cases, *more)
    code, out, err = hrcase(capsys, "libm", function, *words)
    return code, out.splitlines(), err


@pytest.mark.parametrize("name", ["binary32", "binary64", "x87"])
def test_a_correct_function_has_no_misrounding(
    tmp_path: Path, capsys: Captured, library: str, name: str
) -> None:
    form = FORMATS[name]
    roots = ["2", "3", "0", "0x1p-2", "0x1.8p+1", "0x1.1p-9", "0x1.fffffep+9"]
    least, largest = (Number(False, n).text(form) for n in (1, form.max_ordinal))
    cases = wc(tmp_path, *roots, least, largest)
    symbol = "right" + c_type_of(form).suffix
    code, lines, err = asked(capsys, library, "sqrt", symbol, cases, "--format", name)
    assert (code, lines) == (0, [])
    assert "arguments 10; left out: none" in err  # 0 counts twice
    assert err.count("0 of 10 misrounded") == 4


def test_one_misrounding_is_one_line(tmp_path: Path, capsys: Captured, library: str) -> None:
    code, lines, err = asked(capsys, library, "sqrt", "once", wc(tmp_path, "2", "3", "-1", "nan"))
    assert code == 0
    assert lines == [f"FAIL f=sqrt x=0x1p+1 got={AFTER} want={ROOT_OF_2} mode=RN k=2"]
    assert "1 not finite, 1 at which it is not defined" in err
    assert "1 of 2 misrounded (50.00%)" in err
    assert err.count("0 of 2 misrounded") == 3


def test_an_expression(tmp_path: Path, capsys: Captured, library: str) -> None:
    cases = wc(tmp_path, "2", "3", "-1", "4")
    code, lines, err = asked(capsys, library, "expr:sqrt(x)", "once", cases)
    assert code == 0
    assert lines == [f"FAIL f=expr:sqrt(x) x=0x1p+1 got={AFTER} want={ROOT_OF_2} mode=RN k=2"]
    assert "1 at which it is not defined" in err
    code, _, err = hrcase(capsys, "libm", "expr:sqrt(x)", "--library", library)
    assert code == 2
    assert "hrcase sample --expr TEXT" in err


@pytest.mark.parametrize("symbol", ["once", "unsigned_zero", "crash", "hang", "none"])
def test_json_says_what_the_lines_say(
    tmp_path: Path, capsys: Captured, library: str, symbol: str
) -> None:
    cases = wc(tmp_path, "0", "2", "3")
    code, lines, _ = asked(capsys, library, "sqrt", symbol, cases, "--time-limit", "0.5")
    same, objects, _ = asked(
        capsys, library, "sqrt", symbol, cases, "--time-limit", "0.5", "--json"
    )
    schema = json.loads((SCHEMAS / "libm.json").read_text())
    said = []
    for data in map(json.loads, objects):
        jsonschema.validate(data, schema)
        what = data.pop("what")
        fields = (f"{name}={'inf' if value is None else value}" for name, value in data.items())
        said.append(" ".join([what, *fields]))
    assert (same, said) == (code, lines)
    assert lines


def test_entries_that_are_no_numbers_are_counted(
    tmp_path: Path, capsys: Captured, library: str
) -> None:
    cases = wc(tmp_path, "2", "0x1.45f306dc9c883p-1024", "0.1", "3")
    code, lines, err = asked(capsys, library, "sqrt", "right", cases)
    assert (code, lines) == (0, [])
    assert "arguments 2; left out: 2 no number of binary64, the first at " in err
    assert "cases.wc:3\n" in err


def test_signs_of_zeros_and_results_that_are_no_numbers(
    tmp_path: Path, capsys: Captured, library: str
) -> None:
    cases = wc(tmp_path, "0")
    _, lines, _ = asked(capsys, library, "sqrt", "unsigned_zero", cases)
    wanted = [f"FAIL f=sqrt x=-0x0p+0 got=0x0p+0 want=-0x0p+0 mode={m} k=inf" for m in MODES]
    assert lines == [line for line in wanted if "RD" not in line]  # -0 + 0 is -0 downwards
    _, lines, _ = asked(capsys, library, "sqrt", "no_number", wc(tmp_path, "2"))
    assert [line.split()[3] for line in lines] == ["got=nan"] * 4


def test_overflow_is_infinite_in_two_modes(tmp_path: Path, capsys: Captured, library: str) -> None:
    cases = wc(tmp_path, "710", "-746")
    _, lines, _ = asked(capsys, library, "exp", "infinite", cases)
    assert [line.rpartition(" k=")[0] for line in lines] == [
        f"FAIL f=exp x=0x1.63p+9 got=inf want={LARGEST} mode=RD",
        f"FAIL f=exp x=0x1.63p+9 got=inf want={LARGEST} mode=RZ",
        "FAIL f=exp x=-0x1.75p+9 got=0x0p+0 want=0x1p-1074 mode=RU",
    ]


def test_each_call_begins_in_its_own_mode(tmp_path: Path, capsys: Captured, library: str) -> None:
    cases = wc(tmp_path, *map(str, range(2, 40)), "0x1p-1073")
    assert asked(capsys, library, "sqrt", "careless", cases)[:2] == (0, [])


@pytest.mark.parametrize(
    ("symbol", "line"),
    [
        ("crash", "DIED f=sqrt x=0x1.8p+1 mode=RU by=SIGSEGV"),
        ("hang", "HUNG f=sqrt x=0x1.8p+1 mode=RN by=time-limit-of-0.5-s"),
    ],
)
def test_a_call_without_result_is_a_line_and_the_others_go_on(
    tmp_path: Path, capsys: Captured, library: str, symbol: str, line: str
) -> None:
    cases = wc(tmp_path, "2", "3", "5")
    code, lines, err = asked(capsys, library, "sqrt", symbol, cases, "--time-limit", "0.5")
    assert (code, lines) == (0, [line])
    assert err.count("0 of 3 misrounded") == 3
    assert "0 of 2 misrounded" in err
    assert "1 calls" in err


def test_a_function_that_ends_the_process(tmp_path: Path, capsys: Captured, library: str) -> None:
    code, lines, _ = asked(capsys, library, "sqrt", "leave", wc(tmp_path, "2", "3", "5"))
    assert code == 0
    assert lines == [f"DIED f=sqrt x=0x1.8p+1 mode={mode} by=exit-status-3" for mode in MODES]


def test_after_many_deaths_it_is_left_alone(
    tmp_path: Path, capsys: Captured, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(misroundings, "BATCH", 3)
    cases = wc(tmp_path, *map(str, range(1, 10)))
    code, lines, err = asked(capsys, library, "sqrt", "crash_always", cases)
    assert code == 7
    assert len(lines) == misroundings.MOST_FAULTS == 20
    assert "4 arguments were not tried" in err  # 20 calls are those of 5


@pytest.mark.parametrize(
    ("symbol", "why"),
    [("nothing", "has no function nothing of its own"), ("cos", "belongs to another library")],
)
def test_a_missing_function_is_said(
    tmp_path: Path, capsys: Captured, library: str, symbol: str, why: str
) -> None:
    code, lines, err = asked(capsys, library, "sqrt", symbol, wc(tmp_path, "2"))
    assert code == 2
    assert lines == [f"MISSING f=sqrt symbol={symbol} library={library}"]
    assert why in err
    assert "--symbol" in err


def test_a_missing_library_is_said(tmp_path: Path, capsys: Captured) -> None:
    code, lines, err = asked(capsys, "./none.so", "sqrt", "sqrt", wc(tmp_path, "2"))
    assert code == 2
    assert lines == ["MISSING f=sqrt symbol=sqrt library=./none.so"]
    assert "there is no library ./none.so" in err


def test_a_library_that_dies_when_loaded(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "libdead.so"
    text = "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }\n"
    (tmp_path / "dead.c").write_text(text)
    subprocess.run(
        ("gcc", "-shared", "-fPIC", "-o", str(path), str(tmp_path / "dead.c")), check=True
    )
    code, _, err = asked(capsys, str(path), "sqrt", "sqrt", wc(tmp_path, "2"))
    assert code == 2
    assert "cannot be loaded: the process that did so ended with SIG" in err


def test_this_systems_libm(capsys: Captured) -> None:
    """Whatever it rounds wrongly: each line is right, by the other way to evaluate f."""
    code, out, err = hrcase(capsys, "libm", "cbrt")
    assert code == 0
    assert "function cbrt, binary64" in err
    assert "a sample, as of: hrcase sample cbrt" in err
    assert "arguments 360; left out: none" in err
    for line in out.splitlines()[:20]:
        fields = dict(field.split("=") for field in line.split()[1:])
        _, checked, _ = hrcase(capsys, "check", "cbrt", fields["x"])
        assert f"{fields['mode']} {fields['want']}" in checked
        assert f"{fields['k']} identical bits after the round bit" in checked
        assert fields["got"] != fields["want"]


def test_cases_of_a_job_and_of_another_function(
    tmp_path: Path, capsys: Captured, library: str
) -> None:
    job = str(tmp_path / "job")
    search = ("sqrt", "--format", "binary32", "--interval", "1,1.001", "--bits", "12")
    assert hrcase(capsys, "search", *search, "--job", job)[0] == 0
    count = hrcase(capsys, "export", job, "--to", "wc")[1].count("\n0x")
    code, lines, err = asked(capsys, library, "sqrt", "rightf", job)
    assert (code, lines) == (0, [])
    assert f"arguments {count}; left out: none" in err
    assert "binary32" in err
    code, _, err = asked(capsys, library, "exp", "right", job)
    assert code == 2
    assert "is a list of sqrt, not of exp" in err


@pytest.mark.parametrize(
    ("line", "more", "why"),
    [
        ("0.1", (), "cases.wc:2: this is no number of binary64, nor is any other"),
        ("0x1.000001p+0", ("--format", "binary32"), "no number of binary32"),
        ("2", ("--format", "binary16"), "Invalid value for '--format'"),
        ("2", ("--time-limit", "0"), "Invalid value for '--time-limit'"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, capsys: Captured, library: str, line: str, more: tuple[str, ...], why: str
) -> None:
    code, lines, err = asked(capsys, library, "sqrt", "right", wc(tmp_path, line), *more)
    assert (code, lines) == (2, [])
    assert why in err


VALUES = (0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, -2.5e-310, 1e-40, 3e38, math.inf, -math.inf)


@pytest.mark.parametrize("value", VALUES)
def test_bytes_are_those_of_the_machine(value: float) -> None:
    single = float(np.float32(value))
    extended = np.longdouble(value)
    for name, exact, data in (
        ("binary64", value, struct.pack("<d", value)),
        ("binary32", single, struct.pack("<f", single)),
        ("x87", value, extended.tobytes()[:10] + bytes(6)),
    ):
        form, c_type = FORMATS[name], C_TYPES[name]
        is_finite = math.isfinite(exact)
        magnitude = form.ordinal(mpq(abs(exact))) if is_finite else form.max_ordinal + 1
        x = Number(math.copysign(1, exact) < 0, magnitude)
        assert c_type.pack([x, x]) == data + data
        assert list(c_type.unpack(data)) == [x]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("binary32", struct.pack("<f", math.nan)),
        ("binary64", struct.pack("<d", -math.nan)),
        ("x87", bytes(7) + bytes([0xC0, 0xFF, 0x7F]) + bytes(6)),  # nan
        ("x87", bytes(7) + bytes([0x40, 0x01, 0x40]) + bytes(6)),  # no leading bit
        ("x87", bytes(7) + bytes([0x80, 0x00, 0x00]) + bytes(6)),  # one where none should be
    ],
)
def test_what_is_no_number(name: str, data: bytes) -> None:
    assert list(C_TYPES[name].unpack(data)) == [None]


def test_formats_without_a_type_of_c() -> None:
    with pytest.raises(InputError, match="no type of C has the numbers of bfloat16"):
        c_type_of(FORMATS["bfloat16"])
