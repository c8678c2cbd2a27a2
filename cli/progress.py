"""How far a search is: two lines that stay on a terminal, a plain line a minute elsewhere."""

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from hrcase.job.progress import Progress

SECONDS_BETWEEN_LINES = 60.0


class Watch:
    """Shows progress on a stream, and in the log of a job. As a context: what stays is cleared.

    Args:
        log: gets the plain lines, if given.
    """

    def __init__(self, stream: TextIO, log: Path | None = None) -> None:
        self.stream, self.log = stream, log
        self.started = self.spoken = time.monotonic()
        self.first: Progress | None = None
        self.last: Progress | None = None
        console = Console(file=stream)
        self.live: Live | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            self.live = Live(
                get_renderable=self._shown,
                console=console,
                transient=True,
                refresh_per_second=4,
                redirect_stdout=False,
                redirect_stderr=False,
            )

    def __enter__(self) -> "Watch":
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def see(self, progress: Progress) -> None:
        """Take down how far the search is; say so when a minute has passed."""
        self.first, self.last = self.first or replace(progress), progress
        now = time.monotonic()
        if now - self.spoken < SECONDS_BETWEEN_LINES:
            return
        self.spoken = now
        line = f"{share(progress):.1f} % done, {self.in_words(now)}"
        if self.live is None:
            click.echo(line, file=self.stream)
        if self.log is not None:
            write_log(self.log, line)

    def in_words(self, now: float) -> str:
        """Units, arguments, rate, cases, time left: from what this run has done."""
        first, last = self.first, self.last
        if first is None or last is None:
            return "starting"
        seconds = max(now - self.started, 1e-3)
        rate, speed = (
            (last.arguments - first.arguments) / seconds,
            (last.done - first.done) / seconds,
        )
        left = in_time((last.total - last.done) / speed) if speed > 0 else "some time"
        return (
            f"{last.units} of {last.of_units} units, {last.arguments:.3g} of "
            f"{last.of_arguments:.3g} arguments, {rate:.2g}/s, {last.cases} cases where "
            f"{last.expected:.1f} are expected, {left} left"
        )

    def _shown(self) -> RenderableType:
        """The two lines; a narrow terminal folds the second one."""
        percent = 0.0 if self.last is None else share(self.last)
        bar = ProgressBar(total=100.0, completed=percent)
        words = self.in_words(time.monotonic())
        lines = Table.grid(expand=True)
        lines.add_column(overflow="fold")
        lines.add_row(bar)
        lines.add_row(f"{percent:.1f} %, {words}")
        return lines


def write_log(log: Path, line: str) -> None:
    """Add a line to a log, with the time in UTC; a log that cannot be written stops nothing."""
    with suppress(OSError), open(log, "a", encoding="utf-8") as stream:
        stream.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {line}\n")


def share(progress: Progress) -> float:
    """Per cent of the work that is done."""
    return 100.0 * min(1.0, progress.done / progress.total) if progress.total > 0 else 100.0


def in_time(seconds: float) -> str:
    """A time as people say it."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
