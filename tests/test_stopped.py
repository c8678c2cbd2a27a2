"""A search that is stopped: what it says is finished is finished, and the rest is named."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import pytest

from hrcase import memory as walk
from hrcase.cli import main, progress
from hrcase.formats import FORMATS
from hrcase.job.progress import Progress
from hrcase.memory import SearchResult, Stopped, search
from hrcase.spec import SearchSpec, exponent_range

BINARY32 = FORMATS["binary32"]
REGION = exponent_range(BINARY32, -3, 3, "both")
SPEC = SearchSpec("exp", BINARY32, BINARY32, 17, "all", REGION)


@lru_cache(maxsize=1)
def complete() -> SearchResult:
    return search(SPEC, threads=1)


def stopped_after(landings: int) -> Stopped:
    """Ctrl-C when so many parts of the work are done."""
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == landings:
            raise KeyboardInterrupt

    with pytest.raises(Stopped) as caught:
        search(SPEC, threads=1, watch=watch)
    return caught.value


@pytest.mark.parametrize("landings", [1, 4, 9])
def test_finished_and_remaining_parts_tile_what_was_asked(landings: int) -> None:
    stopped = stopped_after(landings)
    parts = sorted(stopped.finished + stopped.remaining)
    joined = [parts[0]]
    for part, following in pairwise(parts):
        assert part[1] <= following[0]
        if part[1] == following[0]:
            joined[-1] = (joined[-1][0], following[1])
        else:
            joined.append(following)
    assert tuple(joined) == REGION.ranges
    assert len(stopped.finished) > 0
    assert len(stopped.remaining) > 0


@pytest.mark.parametrize("landings", [1, 4, 9])
def test_the_cases_of_the_finished_parts_are_kept(landings: int) -> None:
    stopped = stopped_after(landings)
    inside = [
        case
        for case in complete().cases
        if any(lo <= BINARY32.ordinal(case.x) < hi for lo, hi in stopped.finished)
    ]
    assert 0 < len(inside) < len(complete().cases)
    assert stopped.cases == inside
    assert stopped.rows == [case.row for case in inside]


def stopped_command(monkeypatch: pytest.MonkeyPatch) -> int:
    def interrupt(watch: object, progress: Progress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.Watch, "see", interrupt)
    asked = ("exp", "--format", "binary32", "--exponent-range=-3:3", "--bits", "17")
    return main.run(["search", "--device", "cpu", "--threads", "1", *asked])


def test_what_was_found_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stopped_command(monkeypatch) == 4
    out, err = capsys.readouterr()
    shown = err.count("exp,binary32,")
    assert out == ""
    assert shown > 0
    assert f"{shown} cases in the finished intervals:" in err
    assert "what was found stands above" in err.splitlines()[-1]


def test_too_many_cases_are_not_said_to_stand_above(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(walk, "MOST_CASES_ON_STOP", 0)
    assert stopped_command(monkeypatch) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "exp,binary32," not in err
    assert "too many to show here; search again, in parts" in err.splitlines()[-1]
