"""Jobs of a fraction of a second, with many units, for the tests of jobs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hrcase.cli import main
from hrcase.formats import FORMATS
from hrcase.job import weights
from hrcase.spec import SearchSpec, exponent_range

BINARY32 = FORMATS["binary32"]
ASKED = ("exp", "--format", "binary32", "--exponent-range=-1:1", "--bits", "17")
SPEC = SearchSpec("exp", BINARY32, BINARY32, 17, "all", exponent_range(BINARY32, -1, 1, "both"))
UNITS, SMALL = 122, 750.0
"""Units of this search, and the domain tests in one."""

Captured = pytest.CaptureFixture[str]


def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut searches into many units."""
    monkeypatch.setattr(weights, "UNIT_WORK", SMALL)


def hrcase(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command."""
    exit_code = main.run(list(arguments))
    output = capsys.readouterr()
    return exit_code, output.out, output.err


PROGRAM = """
import signal, sys
from hrcase.cli import main
from hrcase.job import weights
weights.UNIT_WORK = {small}
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell ignores it
{more}
main.main()
"""


def start(*arguments: str, more: str = "", directory: Path | None = None) -> Process:
    """The same in a process of its own; `more` is Python that runs before.

    With a directory it is a script in it, which processes that it starts can import, and leads a
    process group.
    """
    program: list[str] = ["-c", PROGRAM.format(small=SMALL, more=more)]
    if directory is not None:
        script = directory / "program.py"
        main_only = "if __name__ == '__main__': main.main()"
        script.write_text(program[1].replace("main.main()", main_only))
        program = [str(script)]
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=directory is not None,
    )


Process = subprocess.Popen[str]


def plain_list(capsys: Captured, directory: Path, suffix: str = ".csv") -> tuple[bytes, bytes]:
    """The list of a search without a job, and its claim."""
    output = directory / f"plain{suffix}"
    exit_code, _, err = hrcase(capsys, "search", "--device", "cpu", *ASKED, "--output", str(output))
    assert exit_code == 0, err
    return output.read_bytes(), output.with_name(output.name + ".claim.json").read_bytes()
