"""What is shown of a search while it runs: on a terminal, in a narrow one, in a pipe, in a log."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
import terminal

from hrcase.cli.progress import Watch, in_time
from hrcase.job.progress import Progress

START = Progress(20.0, 100.0, 4, 2, 10, 200, 1000, 4, 3.5)
LATER = Progress(60.0, 100.0, 9, 6, 10, 600, 1000, 9, 8.25)


class Clock:
    """Time as a test says it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("hrcase.cli.progress.time.monotonic", clock.monotonic)
    return clock


def test_a_pipe_and_the_log_get_a_plain_line_a_minute(clock: Clock, tmp_path: Path) -> None:
    stream, log = io.StringIO(), tmp_path / "log"
    with Watch(stream, log) as watch:
        for second in range(150):
            clock.now += 1
            watch.see(LATER if second >= 59 else START)
    lines = stream.getvalue().splitlines()
    assert len(lines) == len(log.read_text().splitlines()) == 2
    assert lines[0] == (
        "60.0 % done, 6 of 10 units, 600 of 1e+03 arguments, 6.7/s, 9 cases where 8.2 are "
        "expected, 60 s left"
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (.*)", log.read_text().splitlines()[0])
    assert log.read_text().splitlines()[0].endswith(lines[0])
    assert "\x1b" not in stream.getvalue() + log.read_text()


def test_the_time_left_follows_from_what_this_run_has_done(clock: Clock) -> None:
    """A job that is resumed begins with work that this run has not done."""
    watch = Watch(io.StringIO())
    watch.see(START)
    assert watch.in_words(clock.now).endswith(", some time left")
    clock.now += 40
    watch.see(LATER)
    assert watch.in_words(clock.now).endswith(", 40 s left")


def test_a_log_that_cannot_be_written_stops_nothing(clock: Clock) -> None:
    for log in (Path("/dev/full"), Path("/missing/log")):
        stream = io.StringIO()
        watch = Watch(stream, log)
        clock.now += 61
        watch.see(START)
        assert stream.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2.0 min"), (7300, "2.0 h"), (200000, "2.3 days")],
)
def test_times_in_words(seconds: float, text: str) -> None:
    assert in_time(seconds) == text


SHOWN = """
import sys, time
sys.path.insert(0, {tests!r})
from test_progress import LATER, START
from hrcase.cli.progress import Watch
with Watch(sys.stderr) as watch:
    watch.see(START)
    time.sleep(0.3)
    watch.see(LATER)
    time.sleep(0.5)
print("the end", file=sys.stderr)
"""


def on_terminal(columns: int, **variables: str) -> str:
    """What a terminal of so many columns gets."""
    code = SHOWN.format(tests=str(Path(__file__).parent))
    exit_code, shown = terminal.run([sys.executable, "-c", code], columns, **variables)
    assert exit_code == 0, shown
    return shown


def test_a_terminal_of_60_columns_is_enough() -> None:
    shown = on_terminal(60)
    lines = terminal.without_codes(shown).replace("\r", "\n").splitlines()
    assert max(map(len, lines)) <= 60
    words = " ".join(" ".join(lines).split())
    for fact in ("6 of 10 units", "600 of 1e+03 arguments", "9 cases where 8.2 are expected"):
        assert fact in words
    assert re.search(r"\d s left", words)
    assert shown.endswith("the end\r\n")
    assert terminal.has_colours(shown)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
    assert "\x1b[2K" in shown[shown.rindex("left") :]  # and the lines are cleared


def test_no_color_is_respected() -> None:
    shown = on_terminal(80, NO_COLOR="1")
    assert "6 of 10 units" in " ".join(terminal.without_codes(shown).split())
    assert not terminal.has_colours(shown)


def test_a_dumb_terminal_gets_no_codes() -> None:
    shown = on_terminal(80, TERM="dumb")
    assert shown == "the end\r\n"
