"""Single bit flips in a test build of the CPU's kernels: how many change the candidates unseen?

Each trial searches a unit, flips one bit of one object at one moment (inject.h), and looks whether
the candidates are others than without it, and whether a check of docs/faults.md found the fault.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from gmpy2 import mpq

from hrcase.domain import split
from hrcase.engine import Block, cpu
from hrcase.engine.trust import WrongAnswer
from hrcase.formats import Format
from hrcase.pieces import Rule
from hrcase.plan import Tuning, plan
from hrcase.spec import SearchSpec, interval
from hrcase.toolchain import compile_host, source_directory

HERE = Path(__file__).parent
PLACES = ("BLOCK", "CUBIC", "TABLE", "TASK", "RUN", "WALK", "COUNTS", "CANDIDATES")
"""As in tests/faults/inject.h."""

WALK_FIELDS = ("left", "q", "right", "r", "r_right", "x", "x_right")
WORD, NEVER = 64, (1 << 64) - 1


@dataclass(frozen=True)
class Kind:
    """What is flipped.

    Attributes:
        method: by which the unit is searched.
        fields: of the walk; none for the whole object.
        words: which 64-bit words of the object; all without an end.
    """

    method: str
    place: str
    fields: tuple[str, ...] = ()
    words: tuple[int, int | None] = (0, None)

    def bits(self, size: int) -> range | list[int]:
        """Bits of an object of so many bits that may be flipped."""
        first, end = self.words
        if not self.fields:
            return range(WORD * first, size if end is None else WORD * end)
        of_field = size // len(WALK_FIELDS)
        starts = (of_field * WALK_FIELDS.index(name) for name in self.fields)
        return [bit for start in starts for bit in range(start, start + of_field)]


DEGREE, LIMBS, RUN_LOG2, RUNS = 8, 4, 19, 16
_LIMBS = (DEGREE + 1) * LIMBS

PERSISTENT = {
    "limbs of the block, farey": Kind("farey", "BLOCK", words=(0, _LIMBS)),
    "limbs of the block, regular": Kind("regular", "BLOCK", words=(0, _LIMBS)),
    "windows and ends of the block": Kind("farey", "BLOCK", words=(_LIMBS, None)),
    "coefficients of a run, farey": Kind("farey", "CUBIC"),
    "coefficients of a run, regular": Kind("regular", "CUBIC"),
    "differences of a table": Kind("regular", "TABLE"),
    "constants of a walk": Kind("farey", "RUN"),
    "q": Kind("farey", "WALK", ("q", "right")),
    "x": Kind("farey", "WALK", ("x", "x_right")),
    "1/q": Kind("farey", "WALK", ("r", "r_right")),
}
BUFFERS = {
    "tasks that wait or are walked": Kind("farey", "TASK"),
    "candidates": Kind("farey", "CANDIDATES"),
    "counts": Kind("farey", "COUNTS"),
}
OF_ONE_FRACTION = {
    "x of one fraction": Kind("farey", "WALK", ("x",)),
    "1/q of one fraction": Kind("farey", "WALK", ("r",)),
    "left q of one fraction": Kind("farey", "WALK", ("left",)),
}
"""Values that the next step of the walk overwrites: nothing of them is left at the end."""


@dataclass
class Rates:
    """What became of some flips.

    Attributes:
        alarms: found by a check, whether they changed anything or not.
        changed: the candidates were others.
        escaped: of these, those that no check found.
        same_twice: of these, those that a search by the other method did not show either.
    """

    trials: int = 0
    alarms: int = 0
    changed: int = 0
    escaped: int = 0
    same_twice: int = 0

    def count(self, told: list[int], right: list[int], by_other: list[int], alarm: bool) -> None:
        """Count a trial."""
        is_changed = told != right
        self.trials += 1
        self.alarms += alarm
        self.changed += is_changed
        self.escaped += is_changed and not alarm
        self.same_twice += is_changed and told == by_other


@cache
def _directory() -> TemporaryDirectory[str]:
    """For the test build; it goes when Python ends."""
    return TemporaryDirectory(prefix="hrcase-faults-")


@cache
def build() -> Path:
    """The test build."""
    target = Path(_directory().name) / "host.so"
    options = ("-O2", "-march=native", "-std=c++17", "-shared", "-fPIC")
    shape = (f"-DDEGREE={DEGREE}", f"-DLIMBS={LIMBS}", "-include", str(HERE / "inject.h"))
    source = str(source_directory() / "host.cpp")
    subprocess.run(("g++", *options, *shape, "-o", str(target), source), check=True)
    return target


@contextmanager
def injected() -> Iterator[ctypes.CDLL]:
    """The CPU's kernels of this shape are those of the test build."""

    def compiled(degree: int, limbs: int) -> Path:
        return build() if (degree, limbs) == (DEGREE, LIMBS) else compile_host(degree, limbs)

    with mock.patch.object(cpu, "compile_host", compiled):
        cpu.library.cache_clear()
        try:
            yield cpu.library(DEGREE, LIMBS)
        finally:
            cpu.library.cache_clear()


@cache
def units(method: str) -> list[Block]:
    """Parts of exp at 5000, some runs each, with about a candidate and 400 fractions a run.

    A run is short, so that one which a fault makes the kernels scan takes a millisecond.
    """
    toy = Format("toy", 54, -16382, 16383)
    region = interval(toy, mpq(5000), 5000 + mpq(1, 1 << 14), "")
    spec = SearchSpec("exp", toy, toy, 21, "all", region)
    (piece,) = (piece for piece in split(spec) if piece.rule is Rule.SEARCHED)
    block = next(plan(spec, piece, Tuning(method=method))).block
    assert block is not None and (block.degree, block.limbs) == (DEGREE, LIMBS)
    block = replace(block, run_log2=min(block.run_log2, RUN_LOG2))
    length = RUNS << block.run_log2
    starts = range(block.lo, block.hi - length, length)
    return [replace(block, lo=lo, hi=lo + length) for lo in starts]


@cache
def candidates(number: int, method: str) -> list[int]:
    """Of a unit, without a fault."""
    found: list[int] = cpu.search(units(method)[number], method)[0].tolist()
    return found


def trial(kernels: ctypes.CDLL, kind: Kind, generator: random.Random, rates: Rates) -> None:
    """Flip one bit."""
    number = generator.randrange(len(units(kind.method)))
    block, place = units(kind.method)[number], PLACES.index(kind.place)
    other = "regular" if kind.method == "farey" else "farey"
    right, by_other = candidates(number, kind.method), candidates(number, other)
    kernels.set_fault(place, NEVER, 0)
    cpu.answer(block, kind.method)
    fault = place, generator.randrange(kernels.fault_visits())
    bit = generator.choice(kind.bits(kernels.fault_bits()))
    alarm = False
    kernels.set_fault(*fault, bit)
    try:
        cpu.search(block, kind.method)
    except WrongAnswer:
        alarm = True
    kernels.set_fault(*fault, bit)
    told = sorted(set(cpu.answer(block, kind.method)[0].tolist()))
    kernels.set_fault(place, NEVER, 0)
    rates.count(told, right, by_other, alarm)


def rates_of(kernels: ctypes.CDLL, kind: Kind, trials: int, seed: int) -> Rates:
    """The rates of so many trials."""
    generator, rates = random.Random(seed), Rates()
    kernels.fault_visits.restype = kernels.fault_bits.restype = ctypes.c_uint64
    kernels.set_fault.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
    kernels.set_fault.restype = None
    for _ in range(trials):
        trial(kernels, kind, generator, rates)
    return rates
