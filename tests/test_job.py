"""Jobs as a user meets them: made, stopped, moved, resumed, exported; each exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jobs import ASKED, SPEC, UNITS, Captured, hrcase, plain_list, small_units, start

from hrcase import memory as in_memory
from hrcase.errors import HrcaseError, JobMismatch, SelfTestFailed, TryAgain
from hrcase.hexfloat import parse_number
from hrcase.job import run, schema, walk, weights
from hrcase.job.directory import create, open_job
from hrcase.job.stop import Stop
from hrcase.job.store import Store
from hrcase.job.units import make_plan
from hrcase.workers import Workers

CPU = ("--device", "cpu")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_units(monkeypatch)
    monkeypatch.setattr(walk, "SECONDS_TO_KEEP", 0.0)


def made(capsys: Captured, directory: Path, *more: str) -> tuple[int, str, str]:
    return hrcase(capsys, "search", *CPU, *ASKED, "--job", str(directory), *more)


def stopped(capsys: Captured, directory: Path) -> str:
    """A job that was stopped before its first unit; what was said."""
    exit_code, out, err = made(capsys, directory, "--max-time", "0")
    assert (exit_code, out) == (4, "")
    return err


def test_a_job_gives_the_list_of_a_search(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    exit_code, out, err = made(capsys, job)
    assert (exit_code, out) == (0, "")
    assert f"run: hrcase export {job} --to csv" in err
    for suffix in (".csv", ".wc"):
        output = tmp_path / f"list{suffix}"
        expected = plain_list(capsys, tmp_path, suffix)
        asked = ("export", str(job), "--to", suffix[1:])
        assert hrcase(capsys, *asked, "--output", str(output))[0] == 0
        claim = output.with_name(output.name + ".claim.json")
        assert (output.read_bytes(), claim.read_bytes()) == expected
        assert hrcase(capsys, *asked)[1].encode() == expected[0]
    assert expected[0].count(b"\n") > 500


def test_units_without_cases(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many units of this search have none; one has the exact case exp(0) = 1."""
    monkeypatch.setattr(weights, "UNIT_WORK", 25.0)
    asked = ("exp", "--format", "binary32", "--interval=0,0x1p-3", "--bits", "22")
    job = tmp_path / "job"
    assert hrcase(capsys, "search", *CPU, *asked, "--job", str(job))[0] == 0
    with closing(sqlite3.connect(job / "job.sqlite")) as connection:
        ((empty,),) = connection.execute("SELECT count(*) FROM done WHERE cases = 0")
        ((exact,),) = connection.execute("SELECT sum(exact) FROM done")
    assert (empty > 50, exact) == (True, 1)
    plain = hrcase(capsys, "search", *CPU, *asked)[1]
    assert hrcase(capsys, "export", str(job), "--to", "csv")[1] == plain
    assert plain.count("\n") > 10


def test_the_binary_list_holds_the_same_arguments(capsys: Captured, tmp_path: Path) -> None:
    job, output = tmp_path / "job", tmp_path / "list.bin"
    made(capsys, job)
    text = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert hrcase(capsys, "export", str(job), "--to", "bin", "--output", str(output))[0] == 0
    listed = [x for (x,) in struct.iter_unpack("<d", output.read_bytes())]
    assert listed == [parse_number(row.split(",")[2]) for row in text.splitlines()[1:]]


def test_wide_formats_have_no_binary_list(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    asked = ("exp", "--format", "x87", "--interval=1,0x1.000001p0", "--bits", "62")
    assert hrcase(capsys, "search", *CPU, *asked, "--job", str(job))[0] == 0
    exit_code, out, err = hrcase(capsys, "export", str(job), "--to", "bin")
    assert (exit_code, out) == (2, "")
    assert "give --to csv or --to wc" in err


def test_a_job_that_is_stopped_again_and_again_gives_the_same_bytes(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another method, other threads and at another place each time."""
    job = tmp_path / "job"
    err = stopped(capsys, job)
    assert f"0 of {UNITS} units are done and kept; to go on, run: hrcase resume {job}" in err
    calls = 0

    def stop(_: object) -> bool:
        nonlocal calls
        calls += 1
        return calls % 40 == 0

    monkeypatch.setattr(Stop, "__call__", stop)
    stops = 0
    for method, threads in [("farey", "1"), ("regular", "3"), ("lefevre", "2")] * 9:
        moved = tmp_path / f"moved{stops}"
        shutil.move(job, moved)
        job = moved
        more = ("--method", method, "--threads", threads)
        exit_code, _, err = hrcase(capsys, "resume", str(job), *CPU, *more)
        assert exit_code in (0, 4), err
        if exit_code == 0:
            break
        stops += 1
        count, of = map(int, re.findall(r"(\d+) of (\d+) units", err)[-1])
        assert 0 < count < of
        assert hrcase(capsys, "export", str(job), "--to", "csv")[0] == 4
    assert exit_code == 0
    assert stops >= 3
    out = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert out.encode() == plain_list(capsys, tmp_path)[0]
    assert "sessions  " in hrcase(capsys, "status", str(job))[1]


def test_a_second_search_refuses_and_names_resume(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    before = (job / "job.sqlite").read_bytes()
    exit_code, _, err = made(capsys, job)
    assert exit_code == 3
    assert f"exists already and asks the same; to go on with it, run: hrcase resume {job}" in err
    exit_code, _, err = made(capsys, job, "--bits", "18")
    assert exit_code == 3
    assert "It asks: exp (entry" in err and "--bits 17" in err and "--bits 18" in err
    assert (job / "job.sqlite").read_bytes() == before


def test_other_words_for_the_same_range_are_the_same_job(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    asked = ("exp", "--format", "binary32", "--max-time", "0", "--job", str(job))
    hrcase(capsys, "search", *CPU, *asked, "--interval=1,2")
    _, _, err = hrcase(capsys, "search", *CPU, *asked, "--interval=0x1p0,2.0")
    assert "asks the same" in err


def test_what_is_no_job_is_refused(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    for name in ("file", "full"):
        exit_code, _, err = made(capsys, tmp_path / name)
        assert exit_code == 2
        assert "is no job; a job gets a directory of its own" in err
    exit_code, _, err = made(capsys, tmp_path / "missing" / "job")
    assert exit_code == 2
    assert "run: mkdir -p" in err
    for command in (("resume",), ("status",), ("export", "--to", "csv")):
        exit_code, _, err = hrcase(capsys, *command, str(tmp_path / "full"))
        assert exit_code == 2
        assert "there is no job.sqlite in it; run: hrcase search" in err
    exit_code, _, err = hrcase(capsys, "search", *CPU, *ASKED, "--max-time", "1")
    assert exit_code == 2
    assert "give --job DIR too" in err


def test_an_empty_directory_becomes_the_job(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    stopped(capsys, tmp_path / "job")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job"]


def test_too_many_cases_make_no_job(capsys: Captured, tmp_path: Path) -> None:
    exit_code, _, err = made(capsys, tmp_path / "job", "--max-cases", "10")
    assert exit_code == 2
    assert "--max-cases" in err
    assert list(tmp_path.iterdir()) == []


def test_one_process_works_on_a_job(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    more = "import time; from hrcase.cli import work; work.work_on = lambda *a: time.sleep(99)"
    with start("resume", str(job), *CPU, more=more) as process:
        try:
            while "begins" not in (job / "log").read_text().splitlines()[-1]:
                assert process.poll() is None
            exit_code, _, err = hrcase(capsys, "resume", str(job), *CPU)
            assert exit_code == 5
            assert f"another process works on the job {job} (process {process.pid} on " in err
            assert "being worked on" in hrcase(capsys, "status", str(job))[1]
        finally:
            process.kill()
    assert "being worked on" not in hrcase(capsys, "status", str(job))[1]
    assert hrcase(capsys, "resume", str(job), *CPU)[0] == 0  # the lock has died with its process


def test_status_says_how_far_a_job_is(capsys: Captured, tmp_path: Path) -> None:
    jobs = tmp_path / "one", tmp_path / "two"
    stopped(capsys, jobs[0])
    made(capsys, jobs[1])
    exit_code, out, _ = hrcase(capsys, "status", *map(str, jobs))
    assert exit_code == 0
    assert f"job       {jobs[0]}: 0.0 % done" in out
    assert f"job       {jobs[1]}: complete" in out
    exit_code, out, _ = hrcase(capsys, "status", "--json", *map(str, jobs))
    one, two = map(json.loads, out.splitlines())
    assert (one["is_complete"], one["units"], one["cases"]) == (False, 0, 0)
    assert (two["is_complete"], two["units"], two["share"]) == (True, two["of_units"], 1.0)
    assert two["arguments"] == two["of_arguments"] == 6 << 23
    assert two["cases"] == two["candidates"] - two["rejected"] > 500
    assert two["sessions"][0]["devices"].startswith("cpu, ")
    assert len(two["sessions"][0]["kernels"]) == 64
    exit_code, out, err = hrcase(capsys, "status", str(tmp_path), str(jobs[1]))
    assert exit_code == 2
    assert "is no job" in err and "complete" in out


def test_a_program_that_splits_otherwise_is_refused(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    monkeypatch.setattr(run, "plan_digest", lambda *_: "another")
    exit_code, _, err = hrcase(capsys, "resume", str(job), *CPU)
    assert exit_code == 3
    assert "splits this search in another way" in err


def test_another_entry_of_the_registry_is_refused(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    monkeypatch.setattr("hrcase.job.identity.entry_version", lambda _: "another")
    exit_code, _, err = hrcase(capsys, "resume", str(job), *CPU)
    assert exit_code == 3
    assert "this hrcase has another: what it knows of the function is not the same" in err


@pytest.mark.parametrize("error", [TryAgain("out; of; memory"), SelfTestFailed("it; is; wrong")])
def test_what_fails_loses_nothing_that_was_kept(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: HrcaseError
) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    with monkeypatch.context() as patched:
        keep = Store.add
        kept: list[walk.UnitResult] = []

        def fail_later(store: Store, results: list[walk.UnitResult], session: int) -> None:
            if len(kept) > 20:
                raise error
            keep(store, results, session)
            kept.extend(results)

        patched.setattr(Store, "add", fail_later)
        exit_code, _, err = hrcase(capsys, "resume", str(job), *CPU)
    assert exit_code == error.exit_code
    assert str(error) in err
    assert f"units     {len(kept)} of {UNITS}" in hrcase(capsys, "status", str(job))[1]
    assert hrcase(capsys, "resume", str(job), *CPU)[0] == 0
    out = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert out.encode() == plain_list(capsys, tmp_path)[0]


def test_no_device_leaves_a_job_to_resume(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    exit_code, _, _ = hrcase(capsys, "search", *ASKED, "--device", "cuda:0", "--job", str(job))
    assert exit_code == 9
    assert hrcase(capsys, "resume", str(job), *CPU)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_a_job(capsys: Captured, tmp_path: Path, number: signal.Signals) -> None:
    job = tmp_path / "job"
    slow = (
        "import time; from hrcase.job import crew, walk; fast = crew.run_slice\n"
        "walk.SECONDS_TO_KEEP = 0\n"
        "crew.run_slice = lambda *a: (time.sleep(0.1), fast(*a))[1]\n"
    )
    with start("search", *CPU, *ASKED, "--job", str(job), more=slow) as process:
        try:
            while not (job / "job.sqlite").exists() or status_units(capsys, job) == 0:
                assert process.poll() is None, process.communicate()
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 4
    assert "finishing what is in flight; once more to stop at once" in err
    name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
    assert f"stopped by {name}; " in err and f"run: hrcase resume {job}" in err
    done = int(re.findall(rf"(\d+) of {UNITS} units", err)[-1])
    assert 0 < done == status_units(capsys, job) < UNITS
    assert hrcase(capsys, "resume", str(job), *CPU)[0] == 0


def test_ctrl_c_reaches_the_worker_processes_too_and_they_stay(
    capsys: Captured, tmp_path: Path
) -> None:
    """A terminal sends it to all of them; they decide what is through, and end with the search."""
    job = tmp_path / "job"
    slow = (
        "import time; from hrcase import workers; from hrcase.job import crew, walk\n"
        "fast = crew.run_slice; walk.SECONDS_TO_KEEP = 0; walk.FEW = 1; workers.MOST_DEATHS = 0\n"
        "crew.run_slice = lambda *a: (time.sleep(0.1), fast(*a))[1]\n"
    )
    asked = ("--threads", "2", "--job", str(job))
    with start("search", *CPU, *ASKED, *asked, more=slow, directory=tmp_path) as process:
        try:
            while not (job / "job.sqlite").exists() or status_units(capsys, job) == 0:
                assert process.poll() is None, process.communicate()
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 4, err
    assert "stopped by Ctrl-C" in err and "Traceback" not in err


def status_units(capsys: Captured, job: Path) -> int:
    return int(json.loads(hrcase(capsys, "status", "--json", str(job))[1])["units"])


def test_a_second_signal_stops_at_once(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    stopped(capsys, job)
    stuck = (
        "import time; from hrcase.job import crew\n"
        "crew.run_slice = lambda *a: (print('stuck', file=sys.stderr, flush=True), time.sleep(99))"
    )
    with start("resume", str(job), *CPU, more=stuck) as process:
        assert process.stderr is not None
        try:
            while "stuck" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            while "once more" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)  # timeout(1) sends two at a time, as this one
            time.sleep(1.0)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 4
    assert hrcase(capsys, "resume", str(job), *CPU)[0] == 0


def test_a_job_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process that was killed has left is swept away; a living one is not disturbed."""
    job, plan = tmp_path / "job", make_plan(SPEC)
    with monkeypatch.context() as patched:
        patched.setattr("os.rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            create(job, plan)
    assert [path.name for path in tmp_path.iterdir()] == [".job.new"]
    held = create(job, plan)
    assert [path.name for path in tmp_path.iterdir()] == ["job"]
    with pytest.raises(TryAgain):
        open_job(job)
    with pytest.raises(JobMismatch):
        create(job, plan)
    held.close()
    open_job(job).close()


def test_worker_processes_that_die_are_replaced(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "FEW", 1)
    submit = Workers.submit
    killed: list[int] = []

    def kill_some(workers: Workers, function: Callable[[Any], Any], item: Any) -> Any:
        task = submit(workers, function, item)
        alive = [process for process in workers.pool._processes if process not in killed]
        if len(killed) < 3 and alive:
            killed.append(alive[0])
            os.kill(alive[0], signal.SIGKILL)
        return task

    monkeypatch.setattr(Workers, "submit", kill_some)
    job = tmp_path / "job"
    assert made(capsys, job, "--threads", "2")[0] == 0
    assert len(killed) == 3
    monkeypatch.setattr(walk, "FEW", 1 << 14)
    out = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert out.encode() == plain_list(capsys, tmp_path)[0]


def test_processes_that_always_die_end_the_search() -> None:
    with Workers(1) as workers, pytest.raises(TryAgain, match="fewer --threads"):
        workers.submit(_die, 9).result()


def _die(code: int) -> None:
    os._exit(code)


def test_a_job_that_only_settles_has_no_units(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    asked = ("exp", "--format", "binary32", "--interval=-inf,-90000", "--job", str(job))
    assert hrcase(capsys, "search", *CPU, *asked)[0] == 0
    assert "complete" in hrcase(capsys, "status", str(job))[1]
    assert hrcase(capsys, "export", str(job), "--to", "csv")[1].count("\n") == 1
    assert "(b) every argument" in hrcase(capsys, "export", str(job), "--to", "wc")[1]


def test_the_schema_is_not_changed_by_accident() -> None:
    """Files of earlier versions must be told from these: raise schema.VERSION with the tables."""
    from hrcase.job.identity import digest

    assert (schema.VERSION, digest(*schema.TABLES)[:12]) == (2, "35431f5dc885")


def test_the_same_search_without_a_job_has_the_same_units() -> None:
    assert len(make_plan(SPEC).units) == UNITS
    assert len(in_memory.search(SPEC, threads=1).cases) > 500
