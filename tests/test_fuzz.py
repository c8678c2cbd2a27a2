"""Every reader with broken inputs: some hundreds each here, 10^5 by hand (tests/fuzz.py)."""

import os
from pathlib import Path

import pytest
from fuzz import READERS, Hang, Reader, Wrong, command, fuzz, given, limited

from hrcase.errors import InputError
from hrcase.export import reader

INPUTS = 200 * int(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))


@pytest.mark.parametrize("name", READERS)
def test_broken_inputs_are_refused_in_one_line(name: str) -> None:
    codes = fuzz(name, INPUTS, seed=7)
    assert codes.total() == INPUTS
    assert codes[0] > 0, "the seed itself"
    assert codes[0] < INPUTS / 2 + 100, "nothing was broken"


def test_an_exception_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that a .wc line holds is read by something that raises ValueError."""

    def read(text: str) -> object:
        if "nan" in text:
            raise ValueError("no number")
        raise InputError("no number")

    monkeypatch.setattr(reader, "parse_number", read)
    with pytest.raises(Wrong, match="exit code 1"):
        fuzz("wc", 200, seed=1)


def test_what_is_left_behind_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(content: bytes, directory: Path) -> int:
        (directory / "half.csv").write_bytes(content)
        return 2

    monkeypatch.setitem(READERS, "careless", Reader(given(b"1"), leave))
    with pytest.raises(Wrong, match=r"left behind: \['half.csv'\]"):
        fuzz("careless", 1, seed=1)


def test_a_hang_is_seen() -> None:
    with pytest.raises(Hang), limited(0.05):
        while True:
            pass


def test_words_on_the_command_line_are_given_as_they_are(tmp_path: Path) -> None:
    feed = command("check", "exp", "--", "{text}")
    assert feed(b"{0}", tmp_path) == 2
    assert feed(b"-1", tmp_path) == 0
