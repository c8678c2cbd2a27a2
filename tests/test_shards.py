"""Parts of a search done apart, and put together again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from jobs import ASKED, SPEC, UNITS, Captured, hrcase, plain_list, small_units

from hrcase.errors import VerificationFailed
from hrcase.job.identity import digest
from hrcase.job.merge import first_gap, prove_tiling
from hrcase.job.store import _table_digest
from hrcase.job.units import make_plan

CPU = ("--device", "cpu")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_units(monkeypatch)


def shard(capsys: Captured, job: Path, part: str, *more: str) -> tuple[int, str, str]:
    asked = ("search", *CPU, *ASKED, "--job", str(job), "--shard", part, *more)
    return hrcase(capsys, *asked)


def parts(capsys: Captured, tmp_path: Path, of: int) -> list[str]:
    jobs = [tmp_path / f"part{index}" for index in range(1, of + 1)]
    for index, job in enumerate(jobs, 1):
        assert shard(capsys, job, f"{index}/{of}")[0] == 0
    return [str(job) for job in jobs]


def test_parts_put_together_are_the_whole(capsys: Captured, tmp_path: Path) -> None:
    made = parts(capsys, tmp_path, 3)
    for part in made:
        exit_code, out, err = hrcase(capsys, "export", part, "--to", "csv")
        assert (exit_code, out) == (4, "")
        assert "of 3 of a search" in err and "run: hrcase merge" in err
    whole = tmp_path / "whole"
    exit_code, _, err = hrcase(capsys, "merge", *made, "--job", str(whole))
    assert exit_code == 0, err
    output = tmp_path / "list.csv"
    assert hrcase(capsys, "export", str(whole), "--to", "csv", "--output", str(output))[0] == 0
    claim = Path(f"{output}.claim.json")
    assert (output.read_bytes(), claim.read_bytes()) == plain_list(capsys, tmp_path)
    assert hrcase(capsys, "resume", str(whole), *CPU)[0] == 0
    status = hrcase(capsys, "status", str(whole), made[1])[1]
    assert f"units     {UNITS} of {UNITS}\n" in status and "sessions  3" in status
    assert "those of part 2 of 3" in status


def test_a_part_is_not_another_part(capsys: Captured, tmp_path: Path) -> None:
    shard(capsys, tmp_path / "part", "1/2", "--max-time", "0")
    exit_code, _, err = shard(capsys, tmp_path / "part", "2/2")
    assert exit_code == 3
    assert "--shard 1/2. You ask" in err and "--shard 2/2. Give" in err
    assert "asks the same" in shard(capsys, tmp_path / "part", "1/2")[2]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "-1/3", "1/0"])
def test_bad_shards_are_refused(capsys: Captured, tmp_path: Path, text: str) -> None:
    exit_code, _, err = shard(capsys, tmp_path / "part", text)
    assert exit_code == 2
    assert "1 <= I <= N" in err
    exit_code, _, err = hrcase(capsys, "search", *CPU, *ASKED, "--shard", "1/2")
    assert exit_code == 2
    assert "give --job DIR too" in err


def test_a_missing_part_is_named(capsys: Captured, tmp_path: Path) -> None:
    made = parts(capsys, tmp_path, 2)
    assert shard(capsys, tmp_path / "part3", "3/3", "--max-time", "0")[0] == 4
    exit_code, _, err = hrcase(capsys, "merge", made[0], "--job", str(tmp_path / "whole"))
    assert exit_code == 4
    assert f"{UNITS // 2} of {UNITS} units were done in none of the parts" in err
    assert "--shard 2/2;" in err
    assert not (tmp_path / "whole").exists()


def test_parts_of_other_searches_are_refused(capsys: Captured, tmp_path: Path) -> None:
    made = parts(capsys, tmp_path, 2)
    other = tmp_path / "other"
    shard(capsys, other, "2/2", "--bits", "18", "--max-time", "0")
    exit_code, _, err = hrcase(capsys, "merge", made[0], str(other), "--job", str(tmp_path / "w"))
    assert exit_code == 3
    assert "ask different things" in err and "--bits 18" in err


def test_parts_that_were_cut_otherwise_are_refused(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shard(capsys, tmp_path / "one", "1/2")[0] == 0
    monkeypatch.setattr("hrcase.job.weights.UNIT_WORK", 1500.0)
    assert shard(capsys, tmp_path / "two", "2/2")[0] == 0
    made = (str(tmp_path / "one"), str(tmp_path / "two"))
    exit_code, _, err = hrcase(capsys, "merge", *made, "--job", str(tmp_path / "whole"))
    assert exit_code == 3
    assert "were cut into units by different versions" in err


def test_a_unit_with_two_answers_is_refused(capsys: Captured, tmp_path: Path) -> None:
    """The second part holds a unit of the first one, too, with another case in it."""
    made = parts(capsys, tmp_path, 2)
    shutil.copytree(made[0], tmp_path / "liar")
    with closing(sqlite3.connect(tmp_path / "liar" / "job.sqlite")) as connection, connection:
        connection.execute("UPDATE hard_case SET side = 'above' WHERE unit = 4")
        cases = list(connection.execute("SELECT * FROM hard_case WHERE unit = 4 ORDER BY place"))
        (row,) = connection.execute("SELECT * FROM done WHERE unit = 4")
        row = (*row[:-2], _table_digest(cases))
        values = (row[-1], digest("done", *row))
        connection.execute("UPDATE done SET found = ?, digest = ? WHERE unit = 4", values)
    everything = (*made, str(tmp_path / "liar"))
    exit_code, _, err = hrcase(capsys, "merge", *everything, "--job", str(tmp_path / "whole"))
    assert exit_code == 7
    assert "unit 4 of " in err and "gave two answers" in err


def test_a_part_given_twice_does_no_harm(capsys: Captured, tmp_path: Path) -> None:
    made = parts(capsys, tmp_path, 2)
    whole = tmp_path / "whole"
    assert hrcase(capsys, "merge", *made, made[0], "--job", str(whole))[0] == 0
    listed = hrcase(capsys, "export", str(whole), "--to", "csv")[1]
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


@pytest.mark.parametrize(
    ("tiles", "gap"),
    [
        ([(0, 3), (3, 7), (9, 12)], None),
        ([(0, 7), (9, 10), (10, 12)], None),
        ([(0, 3), (4, 7), (9, 12)], (3, 7)),
        ([(0, 3), (2, 7), (9, 12)], (3, 7)),
        ([(0, 7)], (9, 12)),
        ([(0, 8), (9, 12)], (0, 7)),
        ([(0, 7), (9, 12), (12, 13)], (12, 13)),
        ([(0, 0), (0, 7), (9, 12)], (0, 7)),
        ([], (0, 7)),
    ],
)
def test_tiling_is_exact(tiles: list[tuple[int, int]], gap: tuple[int, int] | None) -> None:
    assert first_gap(tiles, [(0, 7), (9, 12)]) == gap


def test_a_plan_with_a_gap_is_refused() -> None:
    plan = make_plan(SPEC)
    prove_tiling(plan)
    for name in ("units", "pieces"):
        shorter = replace(plan, **{name: getattr(plan, name)[:-1]})
        with pytest.raises(VerificationFailed, match=r"the (units|pieces) do not tile"):
            prove_tiling(shorter)
