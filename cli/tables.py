"""hrcase tables: run lines of the certified exp tables."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

import click
from rich.console import Console
from rich.status import Status

from hrcase.cli.progress import SECONDS_BETWEEN_LINES
from hrcase.cli.work import engines
from hrcase.errors import InputError, Interrupted
from hrcase.hexfloat import to_hex
from hrcase.job.crew import Crew
from hrcase.tables.line import WINDOW, TableLine, read_lines
from hrcase.tables.search import Candidate, search


def _constant(context: click.Context, option: click.Parameter, text: str) -> int:
    """An integer, decimal or with 0x."""
    try:
        number = int(text, 0)
    except ValueError:
        number = 0
    if not 1 <= number < 1 << 61:
        raise click.BadParameter(f"{text!r} is not from 1 to 2^61 - 1, decimal or with 0x")
    return number


@click.command(name="tables")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--constant",
    callback=_constant,
    default=hex(WINDOW),
    help="Window of the tables: x is printed if its top word is at most twice this constant.",
)
@click.option("--device", default="auto", help="As for hrcase search.")
@click.option("--threads", type=click.IntRange(min=1), help="Default: all processors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a candidate.")
def command(file: BinaryIO, constant: int, device: str, threads: int | None, as_json: bool) -> None:
    """Run the lines of FILE, a certified exp table; - is stdin.

    A line is x0 n k l and k l words of 64 bits (docs/tables.md). Every x = x0 + j ulp, 0 <= j < n,
    that the table's own test reports goes to stdout, with line, j and top word behind a #, so that
    the output is a .wc file. A line that is malformed ends the run; what precedes it is done.
    """
    tally = _Tally(sys.stderr)
    with engines(device, threads) as found, Crew(found) as crew, tally.shown():
        try:
            for candidate in search(read_lines(file, file.name), crew, constant, tally.done):
                tally.candidates += 1
                click.echo(_as_json(candidate) if as_json else _as_text(candidate))
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped by Ctrl-C; the lines before line {tally.next_line} are done; to go on, "
                f"run: tail -n +{tally.next_line} FILE | hrcase tables -"
            ) from None
    if not tally.lines:
        raise InputError(
            f"{file.name} has no line of a table; give a file of lines x0 n k l WORDS..."
        )
    click.echo(tally.in_words(), err=True)


def _as_text(candidate: Candidate) -> str:
    line, j, top = candidate.line.number, candidate.j, candidate.top_word
    return f"{to_hex(candidate.x)} # line {line}, j = {j}, top word {top:#x}"


def _as_json(candidate: Candidate) -> str:
    return json.dumps(
        {
            "x": to_hex(candidate.x),
            "line": candidate.line.number,
            "j": candidate.j,
            "top_word": hex(candidate.top_word),
        }
    )


class _Tally:
    """How far it is: a line that stays on a terminal, a plain line a minute elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.lines = self.steps = self.candidates = 0
        self.next_line = 1
        self._of_line = 0
        self._started = self._spoken = time.monotonic()
        self._console = Console(file=stream)
        self._status: Status | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows it until the end."""
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield
            return
        with self._console.status("starting") as self._status:
            yield

    def done(self, line: TableLine, steps: int) -> None:
        """Take down steps of a line; they come in order."""
        self.steps += steps
        self._of_line += steps
        if self._of_line == line.count:
            self.lines, self._of_line, self.next_line = self.lines + 1, 0, line.number + 1
        if self._status is not None:
            self._status.update(self.in_words())
        elif time.monotonic() - self._spoken > SECONDS_BETWEEN_LINES:
            self._spoken = time.monotonic()
            click.echo(self.in_words(), err=True)

    def in_words(self) -> str:
        """Lines, steps, candidates, rate."""
        seconds = max(time.monotonic() - self._started, 1e-3)
        return (
            f"{self.lines} lines, {self.steps:.6g} steps, {self.candidates} candidates, "
            f"{seconds:.2f} s, {self.steps / seconds:.3g} steps/s"
        )
