"""`--expr` as a user meets it: search, jobs, check, functions, and errors with a caret."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hrcase.cli import main
from hrcase.functions import REGISTRY
from hrcase.functions.expression import expression_by_name
from hrcase.job import weights
from hrcase.job.identity import entry_version

Captured = pytest.CaptureFixture[str]
CPU = ("--device", "cpu", "--threads", "1")
HALF_PI = ("--expr", "cos(pi * x)", "--format", "binary16", "--interval", "0.25,0.75", *CPU)


def hrcase(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command."""
    exit_code = main.run(list(arguments))
    output = capsys.readouterr()
    return exit_code, output.out, output.err


def test_search_lists_rows_under_the_canonical_name(capsys: Captured) -> None:
    ask = ("--format", "binary32", "--interval", "1,1.0625", "--bits", "14", *CPU)
    code, out, err = hrcase(capsys, "search", "--expr", "exp( x )", *ask)
    _, of_registry, _ = hrcase(capsys, "search", "exp", *ask)
    assert code == 0, err
    assert len(out.splitlines()) > 20
    assert out.replace("\nexpr:exp(x),", "\nexp,") == of_registry


def test_the_name_works_as_a_function_too(capsys: Captured) -> None:
    ask = ("--format", "binary16", "--interval", "1,2", *CPU)
    lists = [
        hrcase(capsys, "search", *words, *ask)
        for words in (("--expr", "sin(x)/x"), ("expr: sin(x) / x",))
    ]
    assert lists[0][0] == 0 and lists[0][1] == lists[1][1]


def test_undecided_arguments_are_on_stderr_and_in_the_claim(
    capsys: Captured, tmp_path: Path
) -> None:
    output = tmp_path / "list.csv"
    code, _, err = hrcase(capsys, "search", *HALF_PI, "--output", str(output))
    assert code == 0
    assert "undecided 1 of the exact ones are exact or beyond 4096 bits: 0x1p-1" in err
    claim = json.loads((tmp_path / "list.csv.claim.json").read_text())
    assert claim["sentence"].startswith("For expr:cos(pi*x) with input format binary16")
    assert claim["exact_rule"].endswith("1 of them may be cases beyond these bits: 0x1p-1")
    assert "docs/expressions.md" in claim["proved"]


@pytest.mark.parametrize("kind", ["csv", "wc"])
def test_a_job_gives_the_same_list_and_claim(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(weights, "UNIT_WORK", 10.0)
    plain, other = tmp_path / f"plain.{kind}", tmp_path / f"other.{kind}"
    assert hrcase(capsys, "search", *HALF_PI, "--output", str(plain))[0] == 0
    job = str(tmp_path / "job")
    code, _, err = hrcase(capsys, "search", *HALF_PI, "--job", job, "--max-time", "0")
    assert code == 4 and "hrcase resume" in err
    code, _, err = hrcase(capsys, "resume", job, *CPU)
    assert code == 0, err
    assert hrcase(capsys, "export", job, "--to", kind, "--output", str(other))[0] == 0
    assert plain.read_bytes() == other.read_bytes()
    claims = [(tmp_path / f"{name}.{kind}.claim.json").read_bytes() for name in ("plain", "other")]
    assert claims[0] == claims[1]


def test_a_job_knows_the_entries_of_the_functions_in_it() -> None:
    other = replace(REGISTRY["exp"], exact_rule="something else")
    versions = {
        entry_version(expression_by_name("expr:x*exp(-x)", {"exp": exp}))
        for exp in (REGISTRY["exp"], REGISTRY["exp"], other)
    }
    assert len(versions) == 2


def test_a_batch_takes_expressions_by_name(capsys: Captured, tmp_path: Path) -> None:
    batch = tmp_path / "batch.toml"
    batch.write_text(
        '[[search]]\nfunction = "expr:exp(-x*x)/2"\nname = "gauss"\nformat = "binary16"\n'
        'interval = "1,1.5"\n'
    )
    code, _, err = hrcase(capsys, "batch", str(batch), "--jobs", str(tmp_path / "jobs"), *CPU)
    assert code == 0, err
    code, out, _ = hrcase(capsys, "export", str(tmp_path / "jobs" / "gauss"), "--to", "csv")
    assert code == 0 and "\nexpr:exp(-x*x)/2,binary16,0x1." in out


def test_check(capsys: Captured) -> None:
    code, out, _ = hrcase(capsys, "check", "--expr", "x/3", "0x1.8p+0", "-1")
    assert code == 0
    exact, third = out.split("x/3 at x = ")[1:]
    assert exact.startswith("0x1.8p+0 = 5.000000000e-01\n") and "exact: f(x) is this" in exact
    assert third.startswith("-0x1p+0 = -3.333333333e-01\n")
    assert "distance    1.666666667e-01 ulp (2^-2.585), above it" in third


def test_check_of_a_transcendental_value(capsys: Captured) -> None:
    code, out, _ = hrcase(capsys, "check", "--json", "--expr", "log(1+exp(x))", "0")
    found = json.loads(out)
    _, out, _ = hrcase(capsys, "check", "--json", "log", "2")
    log2 = json.loads(out)
    del found["function"], found["x"], log2["function"], log2["x"]
    assert code == 0 and found == log2


REFUSED = [
    (("--expr", "1+sine(x)", "1"), "did you mean sin?"),
    (("--expr", "log(x-1)", "0.5"), "log(x-1) is not defined"),
    (("--expr", "sin(x)^2+cos(x)^2", "1.5"), "4096 bits do not tell"),
    (("--expr", "x"), "Missing argument 'X...'"),
    ((), "Missing argument 'FUNCTION'"),
    (("exp",), "Missing argument 'X...'"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_check_refuses(capsys: Captured, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = hrcase(capsys, "check", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_errors_have_a_caret_below_the_character(capsys: Captured) -> None:
    code, out, err = hrcase(capsys, "search", "--expr", "1 + sine(x)")
    assert (code, out) == (2, "")
    message, shown, caret = err.splitlines()
    assert message.startswith("hrcase: error: unknown name 'sine', at character 5")
    assert shown.index("sine") == caret.index("^")


def test_a_long_expression_is_shown_in_part(capsys: Captured) -> None:
    text = "x" + "+x" * 40 + "+y" + "+x" * 40
    _, _, err = hrcase(capsys, "search", "--expr", text)
    _, shown, caret = err.splitlines()
    assert len(shown) < 80 and shown[caret.index("^")] == "y"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("exp", "--expr", "x*x"), "leave out 'exp' or --expr"),
        ((), "or --expr TEXT"),
        (("--expr", "pi"), "has no x"),
        (("--expr", "x", "--interval", "1,2"), "seems to be identical"),
        (("--expr", "log(-x)", "--interval", "1,2"), "has no value in 1 <= x < 2"),
    ],
)
def test_search_refuses(capsys: Captured, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = hrcase(capsys, "search", *arguments, *CPU)
    assert (code, out) == (2, "")
    assert words in err


def test_what_has_no_value_is_named_in_the_summary(capsys: Captured) -> None:
    ask = ("--format", "binary16", "--interval", "0.5,2", *CPU)
    code, _, err = hrcase(capsys, "search", "--expr", "log(x-1)", *ask)
    assert code == 0
    assert "not covered: [0x1p-1, 0x1p+0]: log(x-1) has no value: log is not defined" in err


def test_functions(capsys: Captured) -> None:
    code, out, _ = hrcase(capsys, "functions", "--expr", "exp( x )*.5")
    assert code == 0
    assert out.startswith("expr:exp(x)*0.5\n") and "4096 bits" in out
