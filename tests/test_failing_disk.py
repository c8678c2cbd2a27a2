"""A disk that is full, that fails, that writes half, and a process that dies at a bad moment.

Whatever happens to a command that writes, what is left is what was there before or what there shall
be, and the same command makes it whole; a job holds every unit that was acknowledged, and ends with
the same list. tests/on_failing_disk.py has the commands and what is looked at.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import power_cut
import pytest

MULTIPLIER = float(os.environ.get("HRCASE_TEST_MULTIPLIER", "1"))
MODES = {"full": 0, "fails": 1, "half": 2, "dies": 3}
MOMENTS = 2
"""In each command and mode; HRCASE_TEST_MULTIPLIER=1000 takes all of them."""

CUT = ("search --job", "resume", "resume, damaged", "export --to csv", "merge")
CUTS, SOME = 6, 2
"""Power cuts in each of these commands, and states by chance for each of them."""


class Disk:
    """The process that does the commands."""

    def __init__(self, directory: Path) -> None:
        shim, here = directory / "failing_disk.so", Path(__file__).parent
        source = here / "failing_disk.c"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
        self._process = subprocess.Popen(
            [sys.executable, here / "on_failing_disk.py", shim, directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONUNBUFFERED": ""},
        )
        self.scenes: list[str] = self._read()
        self.root = directory / "disk"

    def _read(self) -> list[Any]:
        assert self._process.stdout is not None
        answer: list[Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask(self, what: str, scene: str, *more: object) -> list[Any]:
        """Its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([what, scene, *more]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    disk = Disk(tmp_path_factory.mktemp("disk"))
    yield disk
    disk.close()


@pytest.mark.parametrize("mode", MODES)
def test_every_call_may_fail(disk: Disk, mode: str) -> None:
    """A sample of the calls of each command."""
    seen: Counter[int] = Counter()
    for scene in disk.scenes:
        usual, _, wrong, calls = disk.ask("fail", scene, 1 << 40, MODES["fails"])
        assert (wrong, calls > 2) == ("", True), scene
        allowed = {usual, -9} if mode == "dies" else {usual, 5}
        moments = min(calls, round(MOMENTS * MULTIPLIER))
        codes: Counter[int] = Counter()
        for i in range(moments):
            n = int((i + (MODES[mode] + 0.5) / len(MODES)) * calls / moments)
            code, said, wrong, _ = disk.ask("fail", scene, n, MODES[mode])
            assert code in allowed and not wrong, f"{scene}, call {n}: {code}, {said}, {wrong}"
            assert "Traceback" not in said, f"{scene}, call {n}: {said}"
            codes[code] += 1
        print(f"{scene}: {calls} calls, {mode} at {moments}: exit codes {dict(codes)}")
        seen += codes
    assert seen[0] if mode == "half" else seen[-9 if mode == "dies" else 5]


@pytest.mark.parametrize("scene", CUT)
def test_the_power_may_be_cut_at_any_moment(disk: Disk, tmp_path: Path, scene: str) -> None:
    """Between any two calls, by the model of tests/power_cut.py: a sample of them."""
    chance, record = random.Random(11), tmp_path / "record"
    disk.ask("fill", scene)
    model = power_cut.Disk(disk.root)
    (code,) = disk.ask("record", scene, str(record))
    calls = list(power_cut.read_record(record))
    sample = set(chance.sample(range(len(calls)), min(len(calls), round(CUTS * MULTIPLIER))))
    looked = 0
    for n, call in enumerate([*calls, None]):
        if n in sample or call is None:
            tried = []
            for how in ("least", "most", *["some"] * SOME):
                left = model.cut(how, chance)
                if left in tried:
                    continue
                tried.append(left)
                shutil.rmtree(disk.root)
                disk.root.mkdir()
                power_cut.write(disk.root, left)
                (wrong,) = disk.ask("look", scene, code if call is None else -9, model.kept)
                assert not wrong, f"cut before call {n}, {call and call[:3]}, {how}: {wrong}"
                looked += 1
        if call is not None:
            model.do(call)
    print(f"{scene}: cut at {len(sample) + 1} of {len(calls) + 1} moments, {looked} states")
    assert looked > len(sample)
