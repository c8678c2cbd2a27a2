"""A disk that is full, that fails, that writes half, and a process that dies at a bad moment.

One process is started with tests/failing_disk.c before libc; for each moment it forks, and the
child runs `hrcase` with that call failing. Whatever happens, what is left is no job or a sound one,
which holds every unit that was acknowledged, and ends with the same list.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ASKED = ("exp", "--format", "binary32", "--interval=1,1.25", "--bits", "15")
SMALL = 250.0
"""Domain tests in a unit: some ten units, all the list in a few pages."""

MODES = {"full": 0, "fails": 1, "half": 2, "dies": 3}

PROGRAM = """
import ctypes, json, os, shutil, sys
from hrcase.cli import main
from hrcase.job import store, walk, weights
from hrcase.refine import refine_chunk
weights.UNIT_WORK, walk.SECONDS_TO_KEEP = {small}, 0.0
disk = ctypes.CDLL({shim!r})
root = {root!r}
job, acknowledged = root + "/job", root + "/../acknowledged"
asked = ["search", "--device", "cpu", "--threads", "1", *{asked!r}, "--job", job]
resume = ["resume", "--device", "cpu", "--threads", "1", job]
export = ["export", job, "--to", "csv", "--output", root + "/../list.csv"]

def forked(work, name="/../stderr"):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        with open(root + name, "w") as errors:
            os.dup2(errors.fileno(), 2)
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

add = store.Store.add
def acknowledge(self, results, session):
    add(self, results, session)
    with open(acknowledged, "a") as file:
        file.writelines(str(result.unit.number) + "\\n" for result in results)
store.Store.add = acknowledge

def kept():
    open_store = store.Store(main.importlib.import_module("pathlib").Path(job + "/job.sqlite"))
    return {{done.unit for done in open_store.done()}}

def failing(n, mode):
    def work():
        disk.fail_at(ctypes.c_long(n), mode, root.encode())
        code = main.run(asked)
        print(json.dumps(["calls", disk.calls()]), flush=True)
        return code
    return work

def counted(work):
    def run():
        try:
            main.sys.stdout.flush()
            return work()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            return 99
    return run

def lost():
    done = set(map(int, open(acknowledged))) if os.path.exists(acknowledged) else set()
    return len(done - kept())

for line in sys.stdin:
    n, mode = json.loads(line)
    shutil.rmtree(root)
    os.mkdir(root)
    if os.path.exists(acknowledged):
        os.remove(acknowledged)
    code = forked(counted(failing(n, mode)), "/../first")
    made = os.path.exists(job)
    missing = forked(counted(lost)) if made else 0
    after = forked(counted(lambda: main.run(resume if made else asked)))
    listed = forked(counted(lambda: main.run(export)))
    left = sorted(os.listdir(root))
    print(json.dumps(["end", code, made, missing, after, listed, left]), flush=True)
"""


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> subprocess.Popen[str]:
    """The process that forks; a line [n, mode] makes it report."""
    directory = tmp_path_factory.mktemp("disk")
    shim = directory / "failing_disk.so"
    source = Path(__file__).parent / "failing_disk.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    (directory / "root").mkdir()
    code = PROGRAM.format(
        small=SMALL, shim=str(shim), root=str(directory / "root"), asked=list(ASKED)
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(shim)},
        cwd=directory,
    )


def report(disk: subprocess.Popen[str], n: int, mode: str) -> tuple[list[object], int]:
    """[exit code, is there a job, units lost, exit codes of what followed, files], and calls."""
    assert disk.stdin is not None and disk.stdout is not None
    disk.stdin.write(json.dumps([n, MODES[mode]]) + "\n")
    disk.stdin.flush()
    calls = 0
    while (line := json.loads(disk.stdout.readline()))[0] == "calls":
        calls = line[1]
    return line[1:], calls


def test_every_call_may_fail(disk: subprocess.Popen[str]) -> None:
    """A sample of the calls; HRCASE_TEST_MULTIPLIER=20 takes all of them."""
    (code, *_), calls = report(disk, 1 << 40, "fails")
    assert code == 0 and calls > 50
    share = float(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
    step = max(1, round(calls / (8 * share)))
    listed = None
    directory = Path(os.readlink(f"/proc/{disk.pid}/cwd"))
    codes: dict[str, set[object]] = {}
    for mode in MODES:
        for n in range(0, calls, step):
            (code, made, missing, after, export, left), _ = report(disk, n, mode)
            where = f"call {n}, {mode}: {code}, {(directory / 'first').read_text()}"
            assert code in ((-9, 0) if mode == "dies" else (5, 0)), where
            codes.setdefault(mode, set()).add(code)
            assert (missing, after, export, left) == (0, 0, 0, ["job"]), (where, made)
            listed = listed or (directory / "list.csv").read_bytes()
            assert (directory / "list.csv").read_bytes() == listed
    assert codes["full"] >= {5} and codes["fails"] >= {5} and codes["dies"] >= {-9}
    assert disk.stdin is not None
    disk.stdin.close()
    assert disk.wait(timeout=20) == 0
