"""What every command shares: exit codes, one-line errors, negative numbers as arguments."""

import os
import subprocess
import sys
from typing import IO

import click
import pytest

from hrcase import errors
from hrcase.cli import main
from hrcase.cli.errors import UsageError
from hrcase.cli.numbers import NumberArgs


def raise_in_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make `hrcase compare` a command that raises `error`."""

    def body() -> None:
        raise error

    def get_command(group: main.LazyGroup, ctx: click.Context, name: str) -> click.Command:
        return click.Command(name, callback=body)

    monkeypatch.setattr(main.LazyGroup, "get_command", get_command)


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (UsageError("what; why; next"), 2),
        (errors.InputError("what; why; next"), 2),
        (errors.ExportError("what; why; next"), 2),
        (errors.JobMismatch("what; why; next"), 3),
        (errors.Interrupted("what; why; next"), 4),
        (errors.TryAgain("what; why; next"), 5),
        (errors.SelfTestFailed("what; why; next"), 6),
        (errors.VerificationFailed("what; why; next"), 7),
        (errors.CorruptState("what;\nwhy; next"), 8),
        (errors.NoDevice("what; why; next"), 9),
    ],
)
def test_errors_are_one_line_and_their_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    exit_code: int,
) -> None:
    raise_in_command(monkeypatch, error)
    assert main.run(["compare"]) == exit_code
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "hrcase: error: what; why; next\n")


@pytest.mark.parametrize(
    ("error", "exit_code", "text"),
    [
        (KeyboardInterrupt(), 4, "Ctrl-C"),
        (click.Abort(), 4, "Ctrl-C"),
        (MemoryError(), 5, "out of memory"),
        (click.exceptions.Exit(7), 7, ""),
    ],
)
def test_other_ends(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    exit_code: int,
    text: str,
) -> None:
    raise_in_command(monkeypatch, error)
    assert main.run(["compare"]) == exit_code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("debug", ["", "1"])
def test_bugs_show_a_traceback_only_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], debug: str
) -> None:
    raise_in_command(monkeypatch, ZeroDivisionError("by zero"))
    monkeypatch.setenv("HRCASE_DEBUG", debug)
    assert main.run(["compare"]) == 1
    output = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: by zero" in output
    assert ("Traceback" in output) == bool(debug)
    assert debug or output.count("\n") == 1


def test_wrong_commands_and_options_say_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["serch"]) == 2
    unknown_command = capsys.readouterr().err
    assert main.run(["compare", "--nope"]) == 2
    unknown_option = capsys.readouterr().err
    assert unknown_command.endswith("; run: hrcase --help\n")
    assert unknown_option.endswith("; run: hrcase compare --help\n")
    assert unknown_command.count("\n") == unknown_option.count("\n") == 1


def test_help_lists_every_command_and_each_can_be_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run([]) == 0
    assert main.run(["--help"]) == 0
    helped = capsys.readouterr().out
    for name, text in main.COMMANDS.items():
        assert name in helped
        assert text.split()[0] in helped
        assert main.run([name, "--help"]) == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hrcase, version ")


def print_much(size: int, stdout: IO[bytes]) -> tuple[int, str]:
    """Exit code and stderr of a command that prints and would end with 7."""
    program = (
        "from hrcase.cli import main\n"
        "from click import Command, get_current_context\n"
        "def body():\n"
        f"    print('x' * {size})\n"
        "    get_current_context().exit(7)\n"
        "main.LazyGroup.get_command = lambda *_: Command('compare', callback=body)\n"
        "main.sys.argv[1:] = ['compare']\n"
        "main.main()\n"
    )
    # Unbuffered output would hide what Python does with its buffer at exit.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("size", [10, 10**6])
def test_a_reader_that_leaves_is_no_error(size: int) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed_pipe:
        assert print_much(size, closed_pipe) == (0, "")


@pytest.mark.parametrize("size", [10, 10**6])
def test_a_full_disk_under_stdout_says_try_again(size: int) -> None:
    with open("/dev/full", "wb") as full:
        exit_code, err = print_much(size, full)
    assert (exit_code, err.count("\n")) == (5, 1)
    assert "cannot write: No space left on device; what was printed is not whole; free" in err


@click.command(cls=NumberArgs)
@click.argument("words", nargs=-1)
@click.option("--interval")
@click.option("--exponent-range")
@click.option("--pair", nargs=2)
@click.option("-j", "--jobs", type=int)
@click.option("--quiet", is_flag=True)
@click.option("-v", "verbose", count=True)
def numbers(**values: object) -> dict[str, object]:
    """A command as `hrcase check` is one."""
    return {name: value for name, value in values.items() if value}


def parsed(*arguments: str) -> object:
    with numbers.make_context("numbers", list(arguments)) as context:
        return numbers.invoke(context)


@pytest.mark.parametrize(
    "number", ["-1", "-.5", "-0x1.8p-3", "-0X1P+3", "-inf", "-Infinity", "-1e5", "-0"]
)
def test_negative_numbers_are_arguments(number: str) -> None:
    assert parsed("exp", number, "--quiet", number) == {
        "words": ("exp", number, number),
        "quiet": True,
    }


def test_options_keep_their_values() -> None:
    assert parsed("-3", "--interval", "-1,1", "--exponent-range=-3:4", "2", "-j", "4") == {
        "words": ("-3", "2"),
        "interval": "-1,1",
        "exponent_range": "-3:4",
        "jobs": 4,
    }
    assert parsed("--pair", "-1", "-2", "-3") == {"pair": ("-1", "-2"), "words": ("-3",)}
    assert parsed("-v", "-7", "-j4", "-vv") == {"verbose": 3, "jobs": 4, "words": ("-7",)}


def test_everything_behind_two_dashes_is_an_argument() -> None:
    assert parsed("-1", "--", "--quiet", "-") == {"words": ("-1", "--quiet", "-")}


@pytest.mark.parametrize("option", ["--nope", "-x", "-info"])
def test_unknown_options_are_still_refused(option: str) -> None:
    with pytest.raises(click.NoSuchOption):
        parsed("-1", option)


def test_a_missing_value_is_still_refused() -> None:
    with pytest.raises(click.BadOptionUsage):
        parsed("-1", "--interval")
