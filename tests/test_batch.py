"""`hrcase batch`: several searches in order, resumable as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import Captured, hrcase, small_units

from hrcase.cli.batch import read_batch
from hrcase.functions import REGISTRY
from hrcase.job.stop import Stop

CPU = ("--device", "cpu", "--threads", "1")
TWO = """
[defaults]
format = "binary32"
bits = 17

[[search]]
function = "exp"
interval = "1,2"

[[search]]
name = "sine"
function = "sin"
exponent-range = "-1:-1"
sign = "positive"
rounding = "nearest"
"""
SINE = ("sin", "--exponent-range=-1:-1", "--sign", "positive", "--rounding", "nearest")


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "two.toml"
    file.write_text(text)
    return str(file)


def test_a_batch_goes_on_until_all_is_done(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_units(monkeypatch)
    calls = 0

    def stop(_: object) -> bool:
        nonlocal calls
        calls += 1
        return calls % 20 == 0

    file = write(tmp_path, TWO)
    with monkeypatch.context() as patched:
        patched.setattr(Stop, "__call__", stop)
        codes: list[int] = []
        while codes[-1:] != [0]:
            code, _, err = hrcase(capsys, "batch", file, *CPU)
            codes.append(code)
            if code:
                assert f"to go on, run: hrcase batch {file} --jobs two" in err.splitlines()[-1]
    assert codes == [4] * (len(codes) - 1) + [0]
    assert len(codes) > 2
    for name, asked in (("exp", ("exp", "--interval=1,2")), ("sine", SINE)):
        asked = ("search", *CPU, "--format", "binary32", "--bits", "17", *asked)
        plain = hrcase(capsys, *asked)[1]
        assert hrcase(capsys, "export", f"two/{name}", "--to", "csv")[1] == plain
        assert plain.count("\n") > 50
    code, _, err = hrcase(capsys, "batch", file, *CPU)
    assert code == 0
    assert "2 of 2: sine\nsine is complete" in err


def test_a_job_that_asks_something_else_stops_a_batch_before_any_work(
    capsys: Captured, tmp_path: Path
) -> None:
    jobs = tmp_path / "jobs"
    asked = ("search", *SINE, "--max-time", "0", "--job", str(jobs / "sine"), *CPU)
    jobs.mkdir()
    assert hrcase(capsys, *asked)[0] == 4
    code, _, err = hrcase(capsys, "batch", write(tmp_path, TWO), "--jobs", str(jobs), *CPU)
    assert code == 3
    assert "binary64 to binary64" in err and "binary32 to binary32" in err
    assert [path.name for path in jobs.iterdir()] == ["sine"]


def test_max_time_is_that_of_the_whole_batch(capsys: Captured, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    asked = ("batch", write(tmp_path, TWO), "--jobs", str(jobs), *CPU)
    code, _, err = hrcase(capsys, *asked, "--max-time", "0")
    assert code == 4
    assert "exp: stopped after 0 seconds (--max-time); 0 of" in err
    assert hrcase(capsys, *asked)[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[search", "cannot read"),
        ("", "is no batch"),
        ("search = 3", "is no batch"),
        ("jobs = 1\n[[search]]\nfunction = 'exp'", "is no batch"),
        ("[[search]]\nbits = 3", "needs function = ..."),
        ("[[search]]\nfunction = 'exp'\nbit = 3", "does not know the key 'bit'"),
        ("[[search]]\nfunction = 'exp'\nbits = '40'", "'40' should be an integer"),
        ("[[search]]\nfunction = 'exp'\ninterval = 1", "1 should be a text in quotes"),
        ("[[search]]\nfunction = 'exq'", "did you mean exp?"),
        ("[[search]]\nfunction = 'exp'\nsign = 'pst'", "give one of both, positive, negative"),
        ("[[search]]\nfunction = 'exp'\nrounding = 'up'", "give one of all, nearest"),
        (
            "[[search]]\nfunction = 'exp'\nexponent-range = '1:2'\nsign = 'minus'",
            "give one of both, positive, negative",
        ),
        ("[[search]]\nfunction = 'exp'\nname = '../up'", "cannot name a directory"),
        ('[[search]]\nfunction = "exp"\nname = "a\\u0000b"', "cannot name a directory"),
        ('[[search]]\nfunction = "exp"\nname = "a\\nb"', "cannot name a directory"),
        (f"[[search]]\nfunction = 'exp'\nname = '{'é' * 101}'", "cannot name a directory"),
        (f"search = {'[' * 9000}{']' * 9000}", "cannot read"),
        (f"[[search]]\nfunction = 'exp'\nbits = {'1' * 5000}", "cannot read"),
        ("[[search]]\nfunction = 'exp'\n[[search]]\nfunction = 'exp'", "two searches called 'exp'"),
    ],
)
def test_bad_files_are_refused(capsys: Captured, tmp_path: Path, text: str, message: str) -> None:
    jobs = tmp_path / "jobs"
    file = write(tmp_path, text)
    code, _, err = hrcase(capsys, "batch", file, "--jobs", str(jobs), *CPU, "--max-time", "1")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not jobs.exists()


def test_the_examples_are_batches() -> None:
    data = Path(__file__).parent.parent / "data"
    names = {file.stem: [s.name for s in read_batch(file)] for file in data.glob("*.toml")}
    assert names == {
        "exp-all": ["exp-all"],
        "every-function": list(REGISTRY),
        "x87-exp2": ["x87-exp2"],
    }
