"""Killed at any moment, flipped bytes, cut files: never another list."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from jobs import Captured, hrcase

from hrcase.cli import main
from hrcase.errors import CorruptState, HrcaseError
from hrcase.job import schema, store, walk, weights
from hrcase.job.store import Store
from hrcase.workers import Workers

MULTIPLIER = float(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
ASKED = ("exp", "--format", "binary32", "--interval=1,1.25", "--bits", "15")
CPU = ("--device", "cpu", "--threads", "1")


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(weights, "UNIT_WORK", 125.0)
        patched.setattr(walk, "SECONDS_TO_KEEP", 0.0)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, small: None) -> tuple[Path, bytes]:
    """A complete job of 32 units, and its list."""
    directory = tmp_path_factory.mktemp("finished")
    assert main.run(["search", *CPU, *ASKED, "--job", str(directory / "job")]) == 0
    output = ["--output", str(directory / "list.csv")]
    assert main.run(["export", str(directory / "job"), "--to", "csv", *output]) == 0
    return directory / "job", (directory / "list.csv").read_bytes()


# Killed.


def forked(work: Callable[[], int]) -> int:
    """A child that does the work and ends; its process id."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            code = work()
        finally:
            os._exit(code)
    return child


def done_units(job: Path) -> set[int]:
    with closing(Store(job / "job.sqlite")) as opened:
        return {unit.unit for unit in opened.done()}


@pytest.mark.parametrize(("threads", "most", "mean"), [("1", 30, 0.25), ("2", 4, 2.0)])
def test_killed_at_random_moments(
    capsys: Captured,
    tmp_path: Path,
    finished: tuple[Path, bytes],
    monkeypatch: pytest.MonkeyPatch,
    threads: str,
    most: int,
    mean: float,
) -> None:
    """A unit that was done stays done; what is left is resumed until the list is there.

    With two threads, worker processes decide, which take two seconds to start.
    """
    monkeypatch.setattr(walk, "FEW", 1)
    chance, kills, jobs = random.Random(7), 0, 0
    while kills < most * MULTIPLIER:
        job, before = tmp_path / f"job{jobs}", set[int]()
        while True:
            command = ["resume", "--device", "cpu", "--threads", threads]
            if not job.exists():
                command = ["search", *command[1:], *ASKED, "--job"]
            command.append(str(job))
            child = forked(partial(main.run, command))
            time.sleep(chance.expovariate(1 / mean))
            os.kill(child, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert status in (0, -signal.SIGKILL)
            if job.exists():
                assert before <= (before := done_units(job))
            if status == 0:
                break
            kills += 1
        exit_code, out, _ = hrcase(capsys, "export", str(job), "--to", "csv")
        assert (exit_code, out.encode()) == (0, finished[1])
        assert sorted(path.name for path in job.iterdir()) == ["job.sqlite", "lock", "log"]
        jobs += 1


def test_workers_are_killed_at_random_moments(
    capsys: Captured,
    tmp_path: Path,
    finished: tuple[Path, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their work is done again; the search ends, or says that they die again and again."""
    monkeypatch.setattr(walk, "FEW", 1)
    chance, kills, jobs = random.Random(7), 0, 0
    while kills < 3 * MULTIPLIER:
        job = tmp_path / f"job{jobs}"
        command = ["search", "--device", "cpu", "--threads", "2", *ASKED, "--job", str(job)]
        while True:
            child = forked(partial(main.run, command))
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                time.sleep(chance.expovariate(2))
                if workers := worker_processes(child):
                    os.kill(chance.choice(workers), signal.SIGKILL)
                    kills += 1
            if hrcase(capsys, "export", str(job), "--to", "csv")[0] == 0:
                break
            command = ["resume", "--device", "cpu", "--threads", "2", str(job)]
        assert hrcase(capsys, "export", str(job), "--to", "csv")[1].encode() == finished[1]
        jobs += 1


def worker_processes(parent: int) -> list[int]:
    """Those that decide."""
    found = []
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(pid) for pid in children.read_text().split()]
    return [pid for pid in found if b"spawn_main" in command_line(pid)]


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_worker_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    told = tmp_path / "told"

    def work() -> int:
        with Workers(2) as workers:
            pid = workers.submit(_own_pid, 0).result()
            (tmp_path / "new").write_text(str(pid))
            (tmp_path / "new").rename(told)
            time.sleep(60)
        return 0

    child = forked(work)
    while not told.exists():
        time.sleep(0.05)
    worker = Path(f"/proc/{told.read_text()}")
    assert worker.exists()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for _ in range(200):
        if not worker.exists():
            break
        time.sleep(0.05)
    assert not worker.exists()


def _own_pid(_: int) -> int:
    return os.getpid()


# Damaged.


def damaged(finished: tuple[Path, bytes], directory: Path, change: Callable[[Path], None]) -> Path:
    """A copy of a job, with something done to its file."""
    if directory.exists():
        shutil.rmtree(directory)
    shutil.copytree(finished[0], directory)
    change(directory / "job.sqlite")
    return directory


def assert_harmless_or_detected(capsys: Captured, job: Path, expected: bytes, what: str) -> bool:
    """Export gives the same list, or says that the job is damaged; whether it is damaged."""
    exit_code, out, err = hrcase(capsys, "export", str(job), "--to", "csv")
    if exit_code == 0:
        assert out.encode() == expected, what
        return False
    # A unit that has vanished makes a job that is not complete, which is no answer either.
    assert (exit_code, out) in ((8, ""), (4, "")), (what, err)
    assert ("damaged" in err) == (exit_code == 8), (what, err)
    return True


def flip(at: int, bits: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with open(path, "r+b") as file:
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ bits]))

    return change


def cut(size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, size)


def test_a_flipped_byte_never_gives_another_list(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    """Each byte of the header, and a sample of the others."""
    size, chance = (finished[0] / "job.sqlite").stat().st_size, random.Random(8)
    sample = chance.sample(range(100, size), min(size - 100, int(200 * MULTIPLIER)))
    detected = 0
    for at in (*range(100), *sample):
        bits = chance.randrange(1, 256)
        job = damaged(finished, tmp_path / "job", flip(at, bits))
        what = f"byte {at} of {size}, bits {bits:#x}"
        detected += assert_harmless_or_detected(capsys, job, finished[1], what)
    assert detected > 50


def test_a_cut_file_never_gives_another_list(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    size, chance = (finished[0] / "job.sqlite").stat().st_size, random.Random(9)
    for at in (
        0,
        1,
        99,
        100,
        512,
        4096,
        size - 1,
        *chance.sample(range(size), int(30 * MULTIPLIER)),
    ):
        job = damaged(finished, tmp_path / "job", cut(at))
        assert assert_harmless_or_detected(capsys, job, finished[1], f"cut at {at} of {size}")


def test_a_damaged_job_is_kept_aside_and_what_is_sound_goes_on(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE hard_case SET side = 'above' WHERE unit IN (3, 5)")

    job = damaged(finished, tmp_path / "job", change)
    exit_code, out, err = hrcase(capsys, "export", str(job), "--to", "csv")
    assert (exit_code, out) == (8, "")
    assert "the cases of unit 3 do not match their digest; to mend it, run: hrcase resume" in err
    exit_code, _, err = hrcase(capsys, "resume", *CPU, str(job))
    assert exit_code == 8
    aside = job / "job.sqlite.damaged-1"
    assert f"it is kept as {aside}, and 30 of 32 units, which are sound, were taken over" in err
    assert aside.exists()
    status = json.loads(hrcase(capsys, "status", "--json", str(job))[1])
    assert (status["units"], status["damaged"]) == (30, [aside.name])
    assert hrcase(capsys, "resume", *CPU, str(job))[0] == 0
    assert hrcase(capsys, "export", str(job), "--to", "csv")[1].encode() == finished[1]


def test_a_disk_that_fails_while_a_job_is_mended_loses_nothing(
    capsys: Captured,
    tmp_path: Path,
    finished: tuple[Path, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the first rows that the new file gets."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE hard_case SET side = 'above' WHERE unit IN (3, 5)")

    def fail(connection: sqlite3.Connection, table: str, rows: Sequence[store.Row]) -> None:
        if table == "session":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            connection.execute("ROLLBACK")  # as SQLite does then
            raise error
        insert(connection, table, rows)

    job = damaged(finished, tmp_path / "job", change)
    before = (job / "job.sqlite").read_bytes()
    insert = store._insert
    with monkeypatch.context() as patched:
        patched.setattr(store, "_insert", fail)
        exit_code, _, err = hrcase(capsys, "resume", *CPU, str(job))
    assert exit_code == 5 and "disk I/O error" in err
    assert (job / "job.sqlite").read_bytes() == before
    assert "30 of 32 units, which are sound" in hrcase(capsys, "resume", *CPU, str(job))[2]


def test_damage_that_leaves_nothing_says_so(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    job = damaged(finished, tmp_path / "job", cut(3000))
    for _ in range(2):
        exit_code, _, err = hrcase(capsys, "resume", *CPU, str(job))
        assert exit_code == 8
        assert "nothing of it could be taken over; search again with --job and a new name" in err
    assert (job / "job.sqlite.damaged-1").stat().st_size == 3000
    assert hrcase(capsys, "status", str(job))[0] == 8


def test_resuming_what_is_damaged_ends_with_the_same_list(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    """Where something is left of it."""
    size, chance = (finished[0] / "job.sqlite").stat().st_size, random.Random(10)
    mended = 0
    for _ in range(int(12 * MULTIPLIER)):
        at, bits = chance.randrange(100, size), chance.randrange(1, 256)
        job = damaged(finished, tmp_path / "job", flip(at, bits))
        what = f"byte {at} of {size}, bits {bits:#x}"
        first, _, err = hrcase(capsys, "resume", *CPU, str(job))
        assert first in (0, 8), (what, err)
        if first == 8:
            if "nothing of it" in err:
                continue
            exit_code, _, err = hrcase(capsys, "resume", *CPU, str(job))
            assert exit_code == 0, (what, err)
            mended += 1
        out = hrcase(capsys, "export", str(job), "--to", "csv")[1]
        assert out.encode() == finished[1], what
    assert mended > 3


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM hard_case WHERE unit = 3",
        "DELETE FROM hard_case WHERE unit = 3 AND place = 0",
        "INSERT INTO hard_case SELECT unit, 99, x, y_nearest, breakpoint, side, log2_distance,"
        " distance_ulp, identical_bits FROM hard_case WHERE unit = 3 AND place = 0",
        "INSERT INTO exact_case VALUES (3, 0, '1')",
        "UPDATE hard_case SET unit = 99 WHERE unit = 31",
        "DELETE FROM done WHERE unit = 3",
        "UPDATE done SET cases = 0 WHERE unit = 3",
        "UPDATE done SET rejected = rejected + 1 WHERE unit = 3",
        "UPDATE done SET unit = 99 WHERE unit = 31",
        "DELETE FROM unit WHERE number = 31",
        "UPDATE unit SET hi = lo WHERE number = 31",
        "DELETE FROM piece",
        "UPDATE piece SET rule = 'settled'",
        "INSERT INTO outside VALUES (0, '1', '2', 'no reason')",
        "UPDATE session SET version = '9'",
        "UPDATE about SET value = replace(value, '15', '16') WHERE name = 'spec'",
        "DELETE FROM about WHERE name = 'plan'",
        "CREATE TABLE more (a)",
        "DROP TABLE session",
        "PRAGMA user_version = 3",
        "PRAGMA application_id = 2",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_every_row_counts(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes], statement: str
) -> None:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    job = damaged(finished, tmp_path / "job", change)
    exit_code, out, err = hrcase(capsys, "export", str(job), "--to", "csv")
    is_complete = not statement.startswith("DELETE FROM done")
    assert (exit_code, out) == (8 if is_complete else 4, ""), err
    assert f"run: hrcase resume {job}" in err
    earlier = {"list.csv": "a list", "list.csv.claim.json": "its claim", "proof.json": "a proof"}
    for name, text in earlier.items():
        (tmp_path / name).write_text(text)
    for command in (["export", "--to", "csv"], ["certify"]):
        output = tmp_path / ("proof.json" if command == ["certify"] else "list.csv")
        assert hrcase(capsys, *command, str(job), "--output", str(output))[0] == exit_code
    files = {path.name: path.read_text() for path in tmp_path.iterdir() if path != job}
    assert files == earlier
    exit_code, _, err = hrcase(capsys, "resume", *CPU, str(job))
    assert exit_code == 8 and "is damaged" in err


@pytest.mark.parametrize("ordinal", ["x", "99999999", "-15360", "inf"])
def test_damaged_arguments_that_are_not_told_from_breakpoints(
    capsys: Captured, tmp_path: Path, ordinal: str
) -> None:
    """The claim names them before the cases are checked."""
    job = tmp_path / "job"
    asked = ("--expr", "cos(pi * x)", "--format", "binary16", "--interval", "0.25,1")
    assert hrcase(capsys, "search", *asked, "--bits", "8", *CPU, "--job", str(job))[0] == 0
    with closing(sqlite3.connect(job / "job.sqlite")) as connection, connection:
        assert connection.execute("UPDATE exact_case SET ordinal = ?", (ordinal,)).rowcount == 1
    for command in (["export", "--to", "csv"], ["export", "--to", "bin"], ["certify"]):
        output = tmp_path / ("out.json" if command == ["certify"] else f"out.{command[-1]}")
        exit_code, _, err = hrcase(capsys, *command, str(job), "--output", str(output))
        assert exit_code == 8 and "is damaged" in err
    assert list(tmp_path.iterdir()) == [job]


def test_a_job_of_an_earlier_version_is_refused_and_kept(
    capsys: Captured, tmp_path: Path, finished: tuple[Path, bytes]
) -> None:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA user_version = 1")

    job = damaged(finished, tmp_path / "job", change)
    before = sorted(path.name for path in job.iterdir())
    for words in (("export", str(job), "--to", "csv"), ("resume", str(job)), ("status", str(job))):
        exit_code, _, err = hrcase(capsys, *words)
        assert exit_code == 3 and "with schema 1; this one has schema 2" in err, (words, err)
    assert sorted(path.name for path in job.iterdir()) == before


@pytest.mark.parametrize(
    ("code", "name", "error"),
    [
        (sqlite3.SQLITE_FULL, "TryAgain", "disk"),
        (sqlite3.SQLITE_IOERR_FSYNC, "TryAgain", "disk"),
        (sqlite3.SQLITE_BUSY, "TryAgain", "disk"),
        (sqlite3.SQLITE_READONLY, "ExportError", "right"),
        (sqlite3.SQLITE_CORRUPT, "CorruptState", "damaged"),
        (sqlite3.SQLITE_IOERR_SHORT_READ, "CorruptState", "damaged"),
        (sqlite3.SQLITE_NOTADB, "CorruptState", "damaged"),
        (sqlite3.SQLITE_ERROR, "CorruptState", "damaged"),
    ],
)
def test_what_sqlite_says_in_our_words(code: int, name: str, error: str) -> None:
    said = sqlite3.DatabaseError("words")
    said.sqlite_errorcode = code
    with pytest.raises(HrcaseError, match=error) as caught, schema.own_errors(Path("job.sqlite")):
        raise said
    assert type(caught.value).__name__ == name


def test_verify_reads_what_export_gives(finished: tuple[Path, bytes]) -> None:
    with closing(Store(finished[0] / "job.sqlite")) as opened:
        opened.verify()
        assert len(list(opened.rows())) == finished[1].count(b"\n") - 1


def test_a_store_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "job.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE about (name)")
    with pytest.raises(CorruptState, match="is not a file of jobs"):
        Store(other)
