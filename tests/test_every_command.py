"""What holds of every command: its help, its JSON, its errors, a narrow terminal without colours.

A new command is held against all of this by standing in hrcase.cli.main.COMMANDS. If it has --json,
docs/schemas/NAME.json describes what it prints, and EXAMPLES has a command line that prints it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import terminal
from brute.tables import text_of

from hrcase.cli import main
from hrcase.export.csv import HEADER

Captured = pytest.CaptureFixture[str]
SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"
CPU = ("--device", "cpu", "--threads", "1")
SMALL = ("exp", "--format", "binary16", "--interval", "1,2", "--bits", "6")


def command(name: str) -> click.Command:
    found = main.hrcase.get_command(click.Context(main.hrcase), name)
    assert found is not None
    return found


def options(name: str) -> list[click.Option]:
    return [p for p in command(name).params if isinstance(p, click.Option)]


def help_of(capsys: Captured, name: str) -> str:
    assert main.run([name, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


# Help.


@pytest.mark.parametrize("name", main.COMMANDS)
def test_help_says_what_it_does_and_every_option(name: str, capsys: Captured) -> None:
    text = " ".join(help_of(capsys, name).split())
    assert text.startswith(f"Usage: hrcase {name} [OPTIONS]")
    assert len((command(name).help or "").split()) >= 5
    for option in options(name):
        assert option.help, f"{option.name} is not explained"
        assert option.opts[0] in text
    for argument in command(name).params:
        if isinstance(argument, click.Argument):
            assert argument.make_metavar(click.Context(command(name))) in text


@pytest.mark.parametrize("name", main.COMMANDS)
def test_help_mentions_every_default(name: str, capsys: Captured) -> None:
    """What the program takes, or in words what it does, where an option is not given."""
    explained = re.split(r"^  (?=-)", help_of(capsys, name).partition("Options:")[2], flags=re.M)
    for option in options(name):
        if option.is_flag or option.required:
            continue
        default = option.get_default(click.Context(command(name)))
        words = f"default: {default}" if isinstance(default, str | int | float) else "Default"
        (text,) = (part for part in explained if option.opts[0] in part.split()[:2])
        assert words in " ".join(text.split()), option.name


@pytest.mark.parametrize("name", [*main.COMMANDS, ""])
def test_help_fits_60_columns(name: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main.run([*filter(None, [name]), "--help"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if len(line) > 60] == []
    assert "\x1b" not in out


# Errors.


@pytest.mark.parametrize("name", main.COMMANDS)
def test_what_cannot_be_parsed_says_where_help_is(name: str, capsys: Captured) -> None:
    asked = [["--no-such-option"]]
    if any(parameter.required for parameter in command(name).params):
        asked.append([])
    for words in asked:
        assert main.run([name, *words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(f"hrcase: error: .*; run: hrcase {name} --help\n", err), err


BAD = "not,the,header\n"
ERRORS: dict[str, tuple[list[str], int, str]] = {
    "search": (["search", "exq"], 2, "did you mean exp"),
    "search, interval": (
        ["search", "exp", "--interval", "2,1"],
        2,
        "write the smaller bound first",
    ),
    "search, bits": (["search", "exp", "--bits", "2"], 2, "give 3 <= M <= 212"),
    "search, device": (["search", *SMALL, "--device", "gpu"], 2, "give --device auto, cpu"),
    "search, output": (["search", *SMALL, "--output", "a.txt"], 2, "give FILE.csv or FILE.wc"),
    "search, no room": (["search", *SMALL, "--output", "no/a.csv"], 2, "run: mkdir -p "),
    "search, shard": (["search", *SMALL, "--shard", "1/2"], 2, "give --job DIR too"),
    "plan": (["plan", "exp", "--exponent-range=3:1"], 2, "give A:B with A <= B"),
    "report": (["report", "nowhere", "--output", "a.html"], 2, "--job nowhere"),
    "resume": (["resume", "nowhere"], 2, "run: hrcase search FUNCTION ... --job nowhere"),
    "status": (["status", "nowhere"], 2, "run: hrcase search FUNCTION ... --job nowhere"),
    "export": (["export", "nowhere", "--to", "csv"], 2, "--job nowhere"),
    "merge": (["merge", "nowhere", "--job", "new"], 2, "nowhere"),
    "batch": (["batch", "bad.csv"], 2, "correct it as TOML"),
    "check": (["check", "exp", "0.1"], 2, "give one of them"),
    "check, no number": (["check", "exp", "one"], 2, "write it like 0x1.8p-3, -3 or 0.25001"),
    "check, format": (["check", "exp", "1", "--format", "f64"], 2, "the formats are binary16"),
    "compare": (["compare", "bad.csv", "bad.csv"], 2, "correct the line or remove it"),
    "compare, no file": (["compare", "a.csv", "b.csv"], 2, "run: hrcase compare --help"),
    "tables": (["tables", "bad.csv", *CPU], 2, "correct it or remove it"),
    "tables, no file": (["tables", "nowhere", *CPU], 2, "run: hrcase tables --help"),
    "sample": (["sample", "exp", "--distance", "2^-12"], 2, "give, say, 2^-35:2^-12"),
    "libm": (["libm", "exq"], 2, "did you mean exp"),
    "libm, no file": (["libm", "exp", "--cases", "nowhere"], 2, "run: hrcase libm --help"),
    "libm, a wrong list": (["libm", "exp", "--cases", "bad.csv"], 2, "correct the line"),
    "certify": (["certify", "nowhere", "--output", "a.json"], 2, "--job nowhere"),
    "verify": (["verify", "bad.csv"], 2, "write both with: hrcase search"),
    "verify, other": (["verify", "bad.txt"], 2, "run: hrcase verify --help"),
    "functions": (["functions", "exq"], 2, "did you mean exp"),
    "bench": (["bench", "exp", "--interval", "1;2"], 2, "write it like 1,2"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_an_error_is_one_line_and_says_what_to_type(
    what: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text(BAD)
    words, code, advice = ERRORS[what]
    assert main.run(words) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("hrcase: error: ")
    assert advice in err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"], "something was left behind"


LONG = "a" * 300
TOO_LONG = {
    "search, output": ["search", *SMALL, "--output", f"{LONG}.csv"],
    "search, claim": ["search", *SMALL, "--output", f"{LONG[:245]}.csv"],
    "search, exact": ["search", *SMALL, "--exact", f"{LONG}.wc"],
    "search, job": ["search", *SMALL, *CPU, "--job", LONG],
    "search, job while it is made": ["search", *SMALL, *CPU, "--job", LONG[:253]],
    "resume": ["resume", LONG],
    "export": ["export", LONG, "--to", "csv"],
    "report": ["report", LONG, "--output", "a.html"],
    "certify": ["certify", LONG, "--output", "a.json"],
    "status": ["status", LONG],
    "merge": ["merge", LONG, "--job", "new"],
    "sample": ["sample", *SMALL[:-2], "--output", f"{LONG}.csv"],
    "batch": ["batch", "a.toml", "--jobs", LONG],
    "compare": ["compare", LONG, LONG],
    "verify": ["verify", LONG],
    "tables": ["tables", LONG, *CPU],
    "libm": ["libm", "exp", "--cases", LONG],
}


@pytest.mark.parametrize("what", TOO_LONG)
def test_a_path_that_the_system_refuses_is_no_bug(
    what: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("[[search]]\nfunction = 'exp'\n")
    assert main.run(TOO_LONG[what]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert re.search("give (a short|another path)|run: hrcase .* --help", err), err
    assert [path.name for path in tmp_path.iterdir()] == ["a.toml"], "something was left behind"


# JSON.


def prepare(directory: Path) -> None:
    """The files that EXAMPLES name."""
    row = "exp,binary64,{},0x1p+0,number,above,-50,1e-15,49\n"
    head = ",".join(HEADER) + "\n"
    (directory / "a.csv").write_text(head + row.format("0x1p+0") + row.format("0x1.8p+0"))
    (directory / "b.out").write_text("*** x=2, distance is: 1e-15\n*** x=2, distance is: 1e-15\n")
    (directory / "table").write_text(text_of(1.0, 5, 2, [5, 7]) + "\n")
    job = ["search", *SMALL, *CPU, "--job", str(directory / "job")]
    assert main.run(job) == 0


EXAMPLES: dict[str, tuple[list[str], int]] = {
    "check": (["check", "exp", "0", "1", "-0x1p-3", "709.75"], 0),
    "compare": (["compare", "a.csv", "b.out", "--bits", "44"], 7),
    "functions": (["functions"], 0),
    "devices": (["devices"], 0),
    "status": (["status", "job", "job"], 0),
    "bench": (["bench", *SMALL, "--runs", "1", "--device", "cpu", "--method", "farey"], 0),
    "tables": (["tables", "table", *CPU], 0),
    "plan": (["plan", *SMALL, "--threads", "1"], 0),
    "verify": (["verify", "job", "--sample", "1"], 0),
    "selftest": (["selftest", *CPU], 0),
    "libm": (["libm", "exp", "--symbol", "sin", "--cases", "a.csv"], 0),
}


def schema(name: str) -> dict[str, Any]:
    found = json.loads((SCHEMAS / f"{name}.json").read_text())
    assert isinstance(found, dict)
    return found


def test_every_command_with_json_has_a_schema_and_an_example() -> None:
    with_json = {n for n in main.COMMANDS if any("--json" in o.opts for o in options(n))}
    assert with_json == set(EXAMPLES) == {path.stem for path in SCHEMAS.iterdir()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_is_what_its_schema_says(
    name: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    capsys.readouterr()
    words, code = EXAMPLES[name]
    assert main.run([*words, "--json"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines
    for line in lines:
        jsonschema.validate(json.loads(line), schema(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_schema_leaves_nothing_open(name: str) -> None:
    """Else a field that was renamed would pass: all are named, described, and none may be more."""
    whole = schema(name)
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole["title"] == f"hrcase {name} --json"
    assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    objects = 0
    for part in parts(whole):
        if "properties" in part:
            objects += 1
            assert part["additionalProperties"] is False
            assert set(part["required"]) <= set(part["properties"])
            for field, about in part["properties"].items():
                assert about.get("description"), field
    assert objects


def parts(node: object) -> list[dict[str, Any]]:
    """Every object within a schema."""
    if isinstance(node, list):
        return [part for one in node for part in parts(one)]
    if not isinstance(node, dict):
        return []
    return [node, *(part for one in node.values() for part in parts(one))]


# A terminal.


@pytest.mark.parametrize(
    "words",
    [
        ["search", *SMALL, *CPU, "--output", "a.csv"],
        ["tables", "table", *CPU],
        ["bench", *SMALL, "--runs", "1", "--device", "cpu", "--method", "farey"],
        ["devices"],
        ["search", "exq"],
    ],
    ids=lambda words: words[0],
)
def test_a_narrow_terminal_without_colours(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table").write_text(text_of(1.0, 5, 2, [5, 7]) + "\n")
    program = [sys.executable, "-m", "hrcase.cli", *words]
    code, shown = terminal.run(program, 60, NO_COLOR="1")
    assert code == (2 if "exq" in words else 0), shown
    assert not terminal.has_colours(shown)
    table = [line for line in terminal.without_codes(shown).splitlines() if set("│┃") & set(line)]
    assert all(len(line) <= 60 for line in table)
    assert bool(table) == (words[0] == "bench")
