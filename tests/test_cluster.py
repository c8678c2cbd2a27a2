"""Jobs on the workers of a dask cluster, on the loopback: the same list, whoever is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import ASKED, SPEC, UNITS, Captured, hrcase, plain_list, small_units, start

from hrcase.engine.lane import DeviceError
from hrcase.errors import JobMismatch, TryAgain
from hrcase.job import cluster
from hrcase.job.cluster import ClusterHands, Done, _next_size, do_units
from hrcase.job.progress import progress_at
from hrcase.job.units import Unit, make_plan
from hrcase.job.walk import Task, UnitResult
from hrcase.plan import Tuning
from hrcase.toolchain import kernels_digest
from hrcase.workers import MOST_DEATHS, Workers

distributed: Any = pytest.importorskip("distributed", reason="extra cluster is not installed")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_units(monkeypatch)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Two processes that work, and a scheduler."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as running:
        yield running


def made(capsys: Captured, job: Path, address: str, *more: str) -> tuple[int, str, str]:
    asked = ("--device", "cpu", "--cluster", address, *more)
    return hrcase(capsys, "search", *ASKED, "--job", str(job), *asked)


def test_a_cluster_gives_the_same_list(
    capsys: Captured, tmp_path: Path, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of this machine, which split, are ended before the cluster works."""
    job, ends = tmp_path / "job", list[Workers]()
    with monkeypatch.context() as patched:
        patched.setattr(Workers, "end", lambda workers: ends.append(workers))
        exit_code, _, err = made(capsys, job, workers.scheduler_address)
    assert exit_code == 0, err
    assert len(ends) == 2  # and at the end of all
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert listed.encode() == plain_list(capsys, tmp_path)[0]
    assert f"cpu on {workers.scheduler_address}" in hrcase(capsys, "status", str(job))[1]


def test_a_job_goes_on_from_a_cluster_to_this_machine(
    capsys: Captured, tmp_path: Path, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, calls = tmp_path / "job", 0

    def stop(_: object) -> bool:
        nonlocal calls
        calls += 1
        return calls > 4

    with monkeypatch.context() as patched:
        patched.setattr("hrcase.job.stop.Stop.__call__", stop)
        exit_code, _, err = made(capsys, job, workers.scheduler_address)
    assert exit_code == 4
    done = json.loads(hrcase(capsys, "status", "--json", str(job))[1])["units"]
    assert f"; {done} of {UNITS} units are done and kept" in err
    assert 0 < done < UNITS
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


def on_loopback(job: Path) -> subprocess.Popen[str]:
    """A search with two local workers, in a process group of its own."""
    more = (
        "from hrcase.job import cluster\n"
        "cluster.MOST_UNITS_A_TASK = 1\n"
        "import time; fast = cluster.ClusterHands._take\n"
        "cluster.ClusterHands._take = lambda *a: (time.sleep(0.05), fast(*a))[1]\n"
    )
    asked = ("--job", str(job), "--device", "cpu", "--cluster", "local:2")
    return start("search", *ASKED, *asked, more=more, directory=job.parent)


def wait_for_units(capsys: Captured, job: Path, process: subprocess.Popen[str]) -> None:
    while True:
        assert process.poll() is None, process.communicate()
        if (job / "job.sqlite").exists():
            status = json.loads(hrcase(capsys, "status", "--json", str(job))[1])
            if status["units"] > 3:
                return
        time.sleep(0.05)


def test_a_worker_that_is_killed_costs_its_units_only(capsys: Captured, tmp_path: Path) -> None:
    job = tmp_path / "job"
    with on_loopback(job) as process:
        try:
            wait_for_units(capsys, job, process)
            children = subprocess.run(
                ["pgrep", "-f", "multiprocessing.spawn", "-P", str(process.pid)],
                capture_output=True,
                text=True,
            ).stdout.split()
            assert len(children) == 2
            os.kill(int(children[0]), signal.SIGKILL)
            _, err = process.communicate(timeout=40)
        finally:
            process.kill()
    assert process.returncode == 0, err
    listed = hrcase(capsys, "export", str(job), "--to", "csv")[1]
    assert listed.encode() == plain_list(capsys, tmp_path)[0]


def test_ctrl_c_reaches_all_processes_and_keeps_what_is_done(
    capsys: Captured, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    with on_loopback(job) as process:
        try:
            wait_for_units(capsys, job, process)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=40)
        finally:
            process.kill()
    assert process.returncode == 4, err
    assert "stopped by Ctrl-C; " in err
    assert "Traceback" not in err
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0


@pytest.mark.parametrize(
    ("address", "device", "code", "text"),
    [
        ("host:8786", "cpu", 2, "is neither tcp://HOST:PORT nor local:N"),
        ("local:0", "cpu", 2, "is neither"),
        ("tcp://127.0.0.1:9", "cpu", 5, "no scheduler answers at tcp://127.0.0.1:9"),
        ("", "cuda", 9, "no worker of the cluster has the resource GPU"),
    ],
)
def test_bad_clusters_are_refused_and_leave_a_job(
    capsys: Captured,
    tmp_path: Path,
    workers: Any,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    device: str,
    code: int,
    text: str,
) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    job = tmp_path / "job"
    address = address or workers.scheduler_address
    exit_code, _, err = made(capsys, job, address, "--device", device)
    assert exit_code == code, err
    assert text in err
    assert hrcase(capsys, "resume", str(job), "--device", "cpu")[0] == 0


def test_without_a_job_there_is_no_cluster(capsys: Captured) -> None:
    exit_code, _, err = hrcase(capsys, "search", *ASKED, "--cluster", "local:2")
    assert exit_code == 2
    assert "--cluster needs a job" in err


# The coordinator alone, with workers that do what a test says.


class Future:
    def __init__(self, key: str, answer: Any) -> None:
        self.key, self.answer = key, answer

    def add_done_callback(self, tell: Any) -> None:
        tell(self)

    def exception(self) -> Any:
        return self.answer if isinstance(self.answer, BaseException) else None

    def result(self) -> Any:
        return self.answer


class Client:
    """A cluster of three workers; `answer` says what a task gives."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.sizes = answer, list[int]()
        self.resources: list[object] = []
        self.scheduler = type("Scheduler", (), {"address": "tcp://nowhere:1"})

    def scheduler_info(self, n_workers: int) -> dict[str, dict[str, Any]]:
        return {"workers": {str(n): {"resources": {"GPU": 1}} for n in range(3)}}

    def submit(self, _: object, *arguments: Any, resources: object, **__: object) -> Future:
        self.sizes.append(len(arguments[2]))
        self.resources.append(resources)
        return Future(f"task{len(self.sizes)}", self.answer(len(self.sizes), *arguments))


class KilledWorker(Exception):
    """By the name of dask's own."""


def task_of(kept: list[UnitResult]) -> tuple[Task, list[Unit]]:
    plan = make_plan(SPEC)
    start = progress_at(SPEC, plan.units, {})
    return Task(SPEC, Tuning(), plan.units, set(), kept.extend, start), plan.units


def empty(units: list[Unit], seconds: float = 0.1, kernels: str | None = None) -> Done:
    results = [UnitResult(unit, [], [], 0, Counter(), 0.0, "", "", "") for unit in units]
    return Done(results, kernels or kernels_digest(), seconds)


def test_lost_tasks_are_done_again() -> None:
    def answer(number: int, _: object, __: object, units: list[Unit], *more: object) -> Any:
        return KilledWorker("a worker died") if number % 3 == 0 else empty(units)

    kept: list[UnitResult] = []
    task, units = task_of(kept)
    client = Client(answer)
    hands = ClusterHands(client, "cuda")
    assert hands.run(task)
    assert sorted(result.unit.number for result in kept) == [unit.number for unit in units]
    assert hands.progress is not None and hands.progress.units == len(units)
    assert set(map(str, client.resources)) == {"{'GPU': 1}"}
    assert max(client.sizes) > 4  # short tasks get more units


def test_workers_that_always_die_end_the_search() -> None:
    client = Client(lambda *_: KilledWorker("a worker died"))
    with pytest.raises(TryAgain, match="workers of the cluster died"):
        ClusterHands(client, "cpu").run(task_of([])[0])
    assert MOST_DEATHS < len(client.sizes) < 20
    assert set(client.resources) == {None}


def test_another_version_of_the_kernels_is_refused() -> None:
    kept: list[UnitResult] = []
    client = Client(lambda *a: empty(a[3], kernels="0" * 64))
    with pytest.raises(JobMismatch, match="another version of hrcase"):
        ClusterHands(client, "cpu").run(task_of(kept)[0])
    assert kept == []


@pytest.mark.parametrize("error", [DeviceError("a; b; c"), ZeroDivisionError("a bug")])
def test_what_fails_on_a_worker_fails_here(error: Exception) -> None:
    with pytest.raises(type(error)):
        ClusterHands(Client(lambda *_: error), "cpu").run(task_of([])[0])


def test_tasks_take_about_the_same_time() -> None:
    assert [_next_size(8, seconds) for seconds in (0.1, 2.0, 9.0)] == [16, 8, 4]
    assert (_next_size(256, 0.1), _next_size(1, 9.0)) == (256, 1)


def test_a_task_is_what_the_walk_gives() -> None:
    _, units = task_of([])
    done = do_units(SPEC, Tuning(method="farey"), units[:4], "cpu", 1)
    assert [result.unit for result in done.results] == units[:4]
    assert sum(len(result.rows) for result in done.results) > 10
    assert done.kernels == kernels_digest()
