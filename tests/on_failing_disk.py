"""Commands on a disk that fails, for tests/test_failing_disk.py; tests/failing_disk.c before libc.

    python on_failing_disk.py SHIM DIRECTORY

The first line on stdout names the scenes. Then a line [what, scene, ...] on stdin is answered by
one:
["fail", scene, n, mode]: run the scene's command with its n-th call below DIRECTORY/disk failing,
    and look at what is left; exit code of the command, what it said, what is wrong or "", how many
    such calls there were when the command last came to its end;
["fill", scene]: put there what is there before;
["record", scene, file]: run the command on that, writing down its calls; its exit code;
["look", scene, exit code, acknowledged]: look at what is there; what is wrong, or "".
All commands run in processes that were forked for them, from one that has run each kind before:
starting Python and loading everything takes longer than they do.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

from hrcase import toolchain
from hrcase.cli import main
from hrcase.engine import cpu
from hrcase.job import walk, weights
from hrcase.job.stop import Stop
from hrcase.job.store import Store
from hrcase.job.walk import UnitResult

SHIM, PLACE = ctypes.CDLL(sys.argv[1]), Path(sys.argv[2])
DISK, JOB, ACKNOWLEDGED = PLACE / "disk", PLACE / "disk/job", PLACE / "acknowledged"
KERNELS = toolchain.cache_directory()
CPU = ("--device", "cpu", "--threads", "1")
ASKED = ("exp", "--format", "binary32", "--interval=1,1.125", "--bits")
DAMAGED, SMALL = {1, 3}, 500.0
"""Units of this search that get damaged, and the domain tests in one: it has a few."""

DIES = 3
KINDS = ("csv", "wc", "bin")


@dataclass(frozen=True)
class Scene:
    """A command on a disk.

    Attributes:
        before: puts on the disk what is there before.
        command: the words.
        after: told the exit code and whether the process died, looks at what is left.
        stdout: where it goes; None for nowhere.
        environment: changes of it.
    """

    before: Callable[[], object]
    command: Sequence[object]
    after: Callable[[int, bool], None]
    stdout: Path | None = None
    environment: tuple[tuple[str, Path], ...] = ()


def hrcase(*words: object) -> int:
    return main.run([str(word) for word in words])


def want(code: int, *words: object) -> None:
    """A command that must end so."""
    got = hrcase(*words)
    assert got == code, f"{' '.join(map(str, words))}: exit code {got}"


def done(file: Path) -> set[int]:
    with closing(Store(file)) as store:
        return {unit.unit for unit in store.done()}


# What stands in PLACE, made before.


def make(name: str, bits: int, *more: str) -> None:
    want(0, "search", *CPU, *ASKED, bits, "--job", PLACE / name, *more)


def prepare() -> None:
    """Jobs to copy and to read; `old-` and `new-` files of each kind."""
    for name, bits in (("old", 14), ("new", 15)):
        make(name, bits)
        for kind in KINDS:
            export(name, kind, PLACE / f"{name}-list.{kind}")
    want(0, "certify", PLACE / "new", "--output", PLACE / "new-page.json")
    want(0, "report", PLACE / "new", "--output", PLACE / "new-page.html")
    with redirect_stdout(StringIO()):
        want(0, *VERIFY)
    make("part1", 15, "--shard", "1/2")
    make("part2", 15, "--shard", "2/2")
    want(0, "merge", PLACE / "part1", PLACE / "part2", "--job", PLACE / "merged")
    with pytest.MonkeyPatch.context() as patched:
        answers = iter([False] * 2)
        patched.setattr(Stop, "__call__", lambda _: next(answers, True))
        want(4, "search", *CPU, *ASKED, 15, "--job", PLACE / "stopped")
    whole = done(PLACE / "new/job.sqlite")
    assert whole > DAMAGED and set() < done(PLACE / "stopped/job.sqlite") < whole
    shutil.copytree(PLACE / "new", PLACE / "damaged")
    with closing(sqlite3.connect(PLACE / "damaged/job.sqlite")) as connection, connection:
        connection.execute("UPDATE hard_case SET side = 'above' WHERE unit IN (1, 3)")


def export(name: str, kind: str, output: Path) -> None:
    exact = output.with_name(f"{name}-exact.wc")
    want(0, "export", PLACE / name, "--to", kind, "--output", output, "--exact", exact)


# What a disk holds before.


def nothing() -> None:
    pass


def copied(*names: str) -> Callable[[], None]:
    def copy() -> None:
        for name in names:
            shutil.copytree(PLACE / name, JOB if len(names) == 1 else DISK / name)

    return copy


def old_list(kind: str) -> None:
    for name in (f"list.{kind}", f"list.{kind}.claim.json", "exact.wc"):
        shutil.copy(PLACE / f"old-{name}", DISK / name)


def old_page(name: str) -> None:
    (DISK / name).write_text("old")


def batch_begun() -> None:
    """Two searches, the first of which is complete."""
    search = '[[search]]\nfunction = "exp"\nname = "{}"\ninterval = "1,1.125"\nbits = {}\n'
    text = '[defaults]\nformat = "binary32"\n' + search.format("a", 14) + search.format("b", 15)
    (DISK / "batch.toml").write_text(text)
    (DISK / "jobs").mkdir()
    shutil.copytree(PLACE / "old", DISK / "jobs/a")


# What a disk may hold after.


def left(*names: str) -> None:
    found = sorted(path.name for path in DISK.iterdir())
    assert found == sorted(names), found


def left_besides(died: bool, *names: str) -> None:
    """Also a temporary file, where the process died."""
    for path in DISK.glob(".hrcase-*.tmp"):
        assert died, path
        path.unlink()
    left(*names)


def kept(job: Path) -> None:
    """Everything that was acknowledged is there."""
    if ACKNOWLEDGED.exists():
        lines = map(str.split, ACKNOWLEDGED.read_text().splitlines())
        promised = {int(number) for name, number in lines if name == job.name}
        there = done(job / "job.sqlite") if job.exists() else set()
        assert promised <= there, f"{sorted(promised - there)} lost"


def same_list(job: Path, name: str = "new") -> None:
    output = PLACE / "seen.csv"
    want(0, "export", job, "--to", "csv", "--output", output)
    assert output.read_bytes() == (PLACE / f"{name}-list.csv").read_bytes()


def goes_on(_: int, __: bool) -> None:
    kept(JOB)
    if JOB.exists():
        want(0, "resume", *CPU, JOB)
    else:
        want(0, "search", *CPU, *ASKED, 15, "--job", JOB)
    same_list(JOB)
    left("job")


def mended(_: int, __: bool) -> None:
    """The damaged file is there, and what was sound of it too."""
    file = JOB / "job.sqlite"
    sound = done(PLACE / "new/job.sqlite") - DAMAGED
    assert sound <= done(file if file.exists() else JOB / "job.sqlite.new")
    if (code := hrcase("resume", *CPU, JOB)) == 8:
        assert done(file) == sound
        code = hrcase("resume", *CPU, JOB)
    assert code == 0, f"resume: {code}"
    same_list(JOB)
    aside = JOB / "job.sqlite.damaged-1"
    assert aside.read_bytes() == (PLACE / "damaged/job.sqlite").read_bytes()
    assert {path.name for path in JOB.iterdir()} <= {"job.sqlite", aside.name, "lock", "log"}


def whole_list(kind: str, code: int, died: bool) -> None:
    """Each file is the old one or the new one; a claim stands beside its own list alone."""
    names = f"list.{kind}", f"list.{kind}.claim.json", "exact.wc"
    ages = [age(name) for name in names]
    assert ages[0] != "none" and ages[1] in ("none", ages[0]) and ages[2] != "none", ages
    assert code != 0 or ages == ["new"] * 3, ages
    export("new", kind, DISK / f"list.{kind}")
    (DISK / "new-exact.wc").rename(DISK / "exact.wc")
    assert [age(name) for name in names] == ["new"] * 3
    left_besides(died, *names)


def age(name: str) -> str:
    if not (DISK / name).exists():
        return "none"
    data = (DISK / name).read_bytes()
    (which,) = (w for w in ("old", "new") if (PLACE / f"{w}-{name}").read_bytes() == data)
    return which


def whole_page(name: str, command: str, code: int, died: bool) -> None:
    data, new = (DISK / name).read_bytes(), (PLACE / f"new-{name}").read_bytes()
    assert data in (new, b"old") and (code != 0 or data == new)
    want(0, command, PLACE / "new", "--output", DISK / name)
    assert (DISK / name).read_bytes() == new
    left_besides(died, name)


def printed(code: int, _: bool) -> None:
    path = DISK / "stdout"
    data, new = path.read_bytes() if path.exists() else b"", (PLACE / "new-list.csv").read_bytes()
    assert new.startswith(data) and (code != 0 or data == new)


def put_together(code: int, _: bool) -> None:
    parts = DISK / "part1", DISK / "part2"
    for part in parts:
        there = (part / "job.sqlite").read_bytes()
        assert there == (PLACE / part.name / "job.sqlite").read_bytes()
    if not JOB.exists():
        assert code != 0
        want(0, "merge", *parts, "--job", JOB)
    same_list(JOB)
    left("job", "part1", "part2")


def all_done(_: int, __: bool) -> None:
    jobs = {"a": "old", "b": "new"}
    for name in jobs:
        kept(DISK / "jobs" / name)
    want(0, *BATCH)
    for name, same in jobs.items():
        same_list(DISK / "jobs" / name, same)
    assert {path.name for path in (DISK / "jobs").iterdir()} == set(jobs)


def compiled(_: int, __: bool) -> None:
    """The cache mends itself."""
    os.environ["HRCASE_CACHE"] = str(DISK)
    output = PLACE / "seen.csv"
    want(0, "search", *CPU, *ASKED, 15, "--output", output)
    assert output.read_bytes() == (PLACE / "new-list.csv").read_bytes()


def verified(code: int, _: bool) -> None:
    """It has only temporary files there."""


VERIFY = ("verify", "--sample", 1, PLACE / "new")
BATCH = ("batch", *CPU, DISK / "batch.toml", "--jobs", DISK / "jobs")
LIST = ("--exact", DISK / "exact.wc", "--output")
PAGES = {"certify": "page.json", "report": "page.html"}
SCENES = {
    "search --job": Scene(nothing, ("search", *CPU, *ASKED, 15, "--job", JOB), goes_on),
    "resume": Scene(copied("stopped"), ("resume", *CPU, JOB), goes_on),
    "resume, damaged": Scene(copied("damaged"), ("resume", *CPU, JOB), mended),
    "search --output": Scene(
        partial(old_list, "csv"),
        ("search", *CPU, *ASKED, 15, *LIST, DISK / "list.csv"),
        partial(whole_list, "csv"),
    ),
    **{
        f"export --to {kind}": Scene(
            partial(old_list, kind),
            ("export", PLACE / "new", "--to", kind, *LIST, DISK / f"list.{kind}"),
            partial(whole_list, kind),
        )
        for kind in KINDS
    },
    **{
        command: Scene(
            partial(old_page, name),
            (command, PLACE / "new", "--output", DISK / name),
            partial(whole_page, name, command),
        )
        for command, name in PAGES.items()
    },
    "export to stdout": Scene(
        nothing, ("export", PLACE / "new", "--to", "csv"), printed, stdout=DISK / "stdout"
    ),
    "merge": Scene(
        copied("part1", "part2"),
        ("merge", DISK / "part1", DISK / "part2", "--job", JOB),
        put_together,
    ),
    "batch": Scene(batch_begun, BATCH, all_done),
    "kernels": Scene(
        nothing,
        ("search", *CPU, *ASKED, 15, "--output", PLACE / "seen.csv"),
        compiled,
        environment=(("HRCASE_CACHE", DISK),),
    ),
    "verify": Scene(nothing, VERIFY, verified, environment=(("TMPDIR", DISK),)),
}


def forked(work: Callable[[], int]) -> tuple[int, str]:
    """Exit code, or minus the signal, of a child that does some work, and its stderr."""
    sys.stdout.flush()
    said = PLACE / "stderr"
    child = os.fork()
    if child == 0:
        code = 99
        with open(said, "w") as errors, suppress(BaseException):
            os.dup2(errors.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                code = work()
            except BaseException as error:
                print(repr(error), file=errors)
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said.read_text(errors="replace")


def run(scene: Scene) -> int:
    os.environ.update({name: str(path) for name, path in scene.environment})
    cpu.library.cache_clear()
    tempfile.tempdir = None  # which was found before
    if scene.stdout is not None:
        try:
            os.dup2(os.open(scene.stdout, os.O_WRONLY | os.O_CREAT), 1)
        except OSError:
            return 5  # the shell's error
    return hrcase(*scene.command)


def fail(scene: Scene, n: int, mode: int) -> list[object]:
    def work() -> int:
        SHIM.fail_at(ctypes.c_long(n), mode, str(DISK).encode())
        code = run(scene)
        (PLACE / "calls").write_text(str(SHIM.calls()))
        return code

    fill(scene)
    code, said = forked(work)
    wrong = looked_at(scene, code, mode == DIES)
    return [code, said, wrong, int((PLACE / "calls").read_text())]


def fill(scene: Scene) -> list[object]:
    shutil.rmtree(DISK, ignore_errors=True)
    DISK.mkdir()
    ACKNOWLEDGED.unlink(missing_ok=True)
    scene.before()
    return []


def record(scene: Scene, file: str) -> list[object]:
    def work() -> int:
        SHIM.record(file.encode(), str(DISK).encode())
        return run(scene)

    return [forked(work)[0]]


def look(scene: Scene, code: int, acknowledged: list[str]) -> list[object]:
    ACKNOWLEDGED.write_text("".join(f"{line}\n" for line in acknowledged))
    return [looked_at(scene, code, True)]


def looked_at(scene: Scene, code: int, died: bool) -> str:
    """What is wrong with what is left, or ""."""

    def work() -> int:
        scene.after(code, died)
        return 0

    failed, wrong = forked(work)
    return (wrong or "something") if failed else ""


ACTIONS: dict[str, Callable[..., list[object]]] = {
    "fail": fail,
    "fill": fill,
    "record": record,
    "look": look,
}


def copy_kernel(command: Sequence[str], _: Path) -> str:
    """In place of a compiler: the kernel of this name that stands in the cache."""
    made = Path(command[command.index("-o") + 1])
    shutil.copy(KERNELS / made.name, made)
    return ""


def serve() -> None:
    add, run_compiler = Store.add, toolchain._run_compiler

    def acknowledging(store: Store, results: Sequence[UnitResult], session: int) -> None:
        add(store, results, session)
        with open(ACKNOWLEDGED, "a") as file:
            for result in results:
                line = f"{store.path.parent.name} {result.unit.number}"
                print(line, file=file)
                SHIM.note(b"kept", line.encode(), ctypes.c_long(0), None, ctypes.c_size_t(0))

    def compiler(command: Sequence[str], directory: Path) -> str:
        copies = os.environ["HRCASE_CACHE"] == str(DISK) and "-o" in command
        return (copy_kernel if copies else run_compiler)(command, directory)

    os.environ["HRCASE_CACHE"] = str(KERNELS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(weights, "UNIT_WORK", SMALL)
        patched.setattr(walk, "SECONDS_TO_KEEP", 0.0)
        patched.setattr(toolchain, "_run_compiler", compiler)
        with redirect_stderr(StringIO()):
            prepare()
        patched.setattr(Store, "add", acknowledging)
        print(json.dumps(list(SCENES)), flush=True)
        for line in sys.stdin:
            what, name, *more = json.loads(line)
            print(json.dumps(ACTIONS[what](SCENES[name], *more)), flush=True)


if __name__ == "__main__":
    serve()
