"""Lines of the certified exp tables: our walk against a direct scan of the same line."""

import io
import json
import random
from collections.abc import Iterator
from math import ulp
from pathlib import Path
from typing import Any

import pytest
from brute.tables import CONSTANT, exp_line, lively_line, scanned, text_of

from hrcase.cli.main import run
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import InputError
from hrcase.job.crew import Crew
from hrcase.plan import MOST_LIMBS
from hrcase.tables import search as tables
from hrcase.tables.line import WINDOW, TableLine, read_lines

Captured = pytest.CaptureFixture[str]
HARD = float.fromhex("0x1.83d4bcdebb3f4p+2")


def lines_of(text: str) -> list[TableLine]:
    return list(read_lines(io.BytesIO(text.encode()), "table"))


def walked(text: str, window: int = WINDOW) -> list[int]:
    """The j of all lines, by the walk."""
    with Crew([CpuEngine(1)]) as crew:
        return [found.j for found in tables.search(lines_of(text), crew, window)]


def test_the_walk_finds_what_a_direct_scan_finds() -> None:
    generator = random.Random(1)
    found = blocks = 0
    for _ in range(150):
        text = lively_line(generator, generator.choice((1500, 4096, 5000)))
        window = generator.choice((WINDOW, 1 << 40, 1 << 54, 1 << 58))
        expected = scanned(text, window)
        assert walked(text, window) == expected, text
        found += len(expected)
        blocks += any(b.block is not None for b in tables.blocks(lines_of(text)[0], window))
    assert found > 3000
    assert blocks > 130, "many lines were scanned"


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize(
    ("where", "steps"), [(0, 4096), (1, 4096), (777, 4096), (4094, 4096), (4095, 4096), (5, 1000)]
)
def test_the_edges_of_their_window_are_exact(words: int, where: int, steps: int) -> None:
    """One unit beyond either end of the window is not reported, and the ends are.

    Of a line of 4096 steps the walk proposes them; one of 1000 is scanned.
    """
    one, top = 1 << 64 * words, 1 << 64 * (words - 1)
    least, most = -WINDOW * top, (WINDOW + 1) * top - 1
    slope = one // 3 + one // 2**15
    for value, is_reported in ((least, 1), (least - 1, 0), (most, 1), (most + 1, 0)):
        start = value - slope * where
        text = text_of(1.5, steps, words, [start, start + slope])
        assert (where in walked(text)) == is_reported
        assert (where in scanned(text)) == is_reported


def test_a_hard_case_of_exp_is_found_in_a_line_of_exp() -> None:
    text = exp_line(HARD - 12345 * ulp(HARD), 1 << 30, 6, 5)
    with Crew([CpuEngine(1)]) as crew:
        (found,) = tables.search(lines_of(text), crew)
    assert found.j == 12345
    assert float(found.x) == HARD
    assert found.top_word - WINDOW == 69  # 2^-58.879 ulp, of 2^-63 each


@pytest.mark.parametrize(("k", "words"), [(1, 1), (2, 3), (4, 4), (9, 8), (20, 20)])
def test_any_shape_is_walked(k: int, words: int) -> None:
    """Degrees below, between and above those of the kernels; more words than they have limbs."""
    x0 = 0.75
    text = exp_line(x0, 3000, k, words)
    window = 1 << 56
    assert walked(text, window) == scanned(text, window)
    assert any(b.block is not None for b in tables.blocks(lines_of(text)[0], window))


def test_blocks_tile_a_line_that_is_too_long_for_one() -> None:
    line = lines_of(exp_line(-40.0, 1 << 46, 30, 30))[0]
    blocks = list(tables.blocks(line, WINDOW))
    assert 1 < len(blocks) < 200
    reached = 0
    for block in blocks:
        assert block.first == reached
        assert block.block is not None
        assert block.block.limbs <= MOST_LIMBS
        reached += block.count
    assert reached == line.count


def test_the_polynomial_of_a_block_is_that_of_the_line() -> None:
    """At every argument, to what rounding and dropping may do: the block window less the target."""
    line = lines_of(exp_line(2.5, 1 << 20, 20, 20))[0]
    (block,) = tables.blocks(line, WINDOW)
    assert block.block is not None
    assert block.budget is not None
    slack = block.budget.block_window - block.budget.target
    assert 0 < slack * 100 < block.budget.target
    for j in (0, 1, 12345, (1 << 19), (1 << 20) - 1):
        u = block.block.lo + j
        value = sum(c * u**m for m, c in enumerate(block.block.coefficients))
        scaled = value * 2 ** (line.bits - 64 * block.block.limbs)
        off = line.signed(scaled - line.differences_at(j)[0])
        assert abs(off) <= slack * 2**line.bits


def test_lines_stream() -> None:
    """A file without end: what is found of its first lines comes before the rest is read."""
    (line,) = lines_of(text_of(1.0, 2000, 2, [5, 7]))
    read = 0

    def without_end() -> Iterator[TableLine]:
        nonlocal read
        while True:
            read += 1
            yield line

    with Crew([CpuEngine(1)]) as crew:
        found = tables.search(without_end(), crew)
        assert [next(found).j for _ in range(3000)][-1] == 999
        assert read < 10


def test_what_is_no_smooth_function_is_scanned_or_refused() -> None:
    generator = random.Random(3)
    values = [generator.getrandbits(128) for _ in range(6)]
    short = text_of(1.0, 2000, 2, values)
    assert walked(short, 1 << 58) == scanned(short, 1 << 58)
    with pytest.raises(InputError, match="differences do not shrink"):
        walked(text_of(1.0, 1 << 30, 2, values))


def test_a_line_that_stays_within_the_window_is_refused() -> None:
    with pytest.raises(InputError, match="line 1 cannot be run; 64 of 64 steps"):
        walked(text_of(1.0, 1 << 40, 2, [5, 7]))


LINE = text_of(1.0, 2000, 2, [5, 7])
BROKEN = {
    "field 1 (x0)": LINE.replace("0x1.0000000000000p+0", "0.1", 1),
    "must not be 0": LINE.replace("0x1.0000000000000p+0", "0", 1),
    "field 1 (x0) is 'nan'": LINE.replace("0x1.0000000000000p+0", "nan", 1),
    "field 2 (n) is '0'": LINE.replace(" 2000 ", " 0 ", 1),
    "field 2 (n) is '-3'": LINE.replace(" 2000 ", " -3 ", 1),
    "from 1 to 4503599627370497": LINE.replace(" 2000 ", f" {2**52 + 2} ", 1),
    "field 3 (k) is 'two'": LINE.replace(" 2 2 ", " two 2 ", 1),
    "field 4 (l) is '65'": LINE.replace(" 2 2 ", " 2 65 ", 1),
    "k l = 4 words should follow x0 n k l, not 3": LINE.rsplit(maxsplit=1)[0],
    "k l = 4 words should follow x0 n k l, not 5": LINE + " 0x0",
    "field 5 (word 1) is '0x10000000000000000'": LINE.replace("0x5", "0x1" + 16 * "0", 1),
    "field 5 (word 1) is '5f'": LINE.replace("0x5", "5f", 1),
    "field 2 (n) is missing": "0x1p0",
    "byte 3 is not ASCII": "0x\u00e9",
    "longer than": "0x1p0 " + "1" * (1 << 18),
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_malformed_line_is_refused_by_line_and_field(
    why: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "table"
    file.write_text(f"# a table\n\n{LINE}\n{BROKEN[why]}\n")
    assert run(["tables", str(file), "--device", "cpu", "--threads", "1"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"hrcase: error: {file}:4: not a line of the tables; ")
    assert why in err
    assert err.count("\n") == 1


def test_the_command_prints_a_list_that_compare_reads(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "table"
    file.write_text(exp_line(HARD - 99 * ulp(HARD), 1 << 30, 6, 5) + "\n" + LINE + "\n")
    assert run(["tables", str(file), "--device", "cpu"]) == 0
    out, err = capsys.readouterr()
    first, *others = out.splitlines()
    assert first == "0x1.83d4bcdebb3f4p+2 # line 1, j = 99, top word 0x600045"
    assert len(others) == 2000, "the values of the other line stay next to 0"
    assert others[-1] == "0x1.00000000007cfp+0 # line 2, j = 1999, top word 0x600000"
    assert err.startswith("2 lines, 1.07374e+09 steps, 2001 candidates, ")
    (tmp_path / "a.wc").write_text(out)
    assert run(["compare", *2 * [str(tmp_path / "a.wc")]]) == 0
    assert "2001 in both" in capsys.readouterr().err
    assert run(["tables", str(file), "--device", "cpu", "--json"]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert objects[0]["x"] == "0x1.83d4bcdebb3f4p+2"
    assert (objects[-1]["line"], objects[-1]["j"], objects[-1]["top_word"]) == (2, 1999, "0x600000")


def test_their_constant_may_be_another(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "table"
    file.write_text(text_of(1.0, 3000, 1, [0, 1 << 34]))
    for constant in ("0x60000000000", str(0x600 << 32)):
        assert run(["tables", str(file), "--device", "cpu", "--constant", constant]) == 0
        expected = scanned(file.read_text(), int(constant, 0))
        assert len(capsys.readouterr().out.splitlines()) == len(expected) == 385
    assert run(["tables", str(file), "--constant", "0"]) == 2
    assert "2^61" in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "table"
    file.write_text(f"# begin\n{LINE}\n{LINE}\n")

    def stopped(lines: Iterator[TableLine], crew: Crew, *more: Any) -> Iterator[tables.Candidate]:
        del lines, crew
        done = more[-1]
        first, _ = lines_of(file.read_text())
        done(first, 1500)
        done(first, 500)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("hrcase.cli.tables.search", stopped)
    assert run(["tables", str(file), "--device", "cpu"]) == 4
    assert "tail -n +3 FILE | hrcase tables -" in capsys.readouterr().err


def test_a_file_without_lines_is_an_error(capsys: Captured) -> None:
    assert run(["tables", "/dev/null", "--device", "cpu"]) == 2
    assert "has no line of a table" in capsys.readouterr().err
    assert run(["tables", "/", "--device", "cpu"]) == 2


def test_their_constant_is_ours() -> None:
    assert WINDOW == CONSTANT == 3 * 2 ** (64 - 43)
