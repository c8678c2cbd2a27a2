"""PyCUDA's driver module without a device: kernels are answered by the CPU's.

A `FakeCuda` has what hrcase.engine.cuda and hrcase.engine.devices use. Its kernels take the
arguments of cuda/kernels.cu; `decide` writes what all phases of the unit have found. A test puts
faults into `spoil`, which sees the counters and the candidates before the host does.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hrcase.engine import METHODS, cpu, cuda
from hrcase.engine.lane import COUNTERS
from hrcase.engine.trust import echo_of

Words = NDArray[np.uint64]
Shape = tuple[int, ...]
ANY_SHAPE = bytes([3, 2])  # of the kernels that have none

Spoil = Callable[[dict[str, int], list[int]], None]


def leave_alone(counters: dict[str, int], entries: list[int]) -> None:
    """No fault."""


class FakeError(Exception):
    """pycuda.driver.Error."""


class FakeMemoryError(FakeError):
    """pycuda.driver.MemoryError."""


class Memory:
    """Device memory of 64-bit words, all ones until something is written."""

    def __init__(self, size: int) -> None:
        self.words = np.full(size // 8, ~np.uint64(0), dtype=np.uint64)

    def __int__(self) -> int:
        return int(self.words.ctypes.data)


class Context:
    """A primary context that counts how often it is current."""

    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda

    def push(self) -> None:
        self.cuda.depth += 1

    def pop(self) -> None:
        self.cuda.depth -= 1


class Event:
    """Each record is one millisecond after the one before."""

    ticks: Iterator[int] = count()
    tick = 0

    def record(self, stream: object = None) -> None:
        self.tick = next(Event.ticks)

    def time_since(self, other: Event) -> float:
        return float(self.tick - other.tick)


class Stream:
    """Everything is done at once."""

    def synchronize(self) -> None:
        pass


class Device:
    """A small device."""

    multiprocessor_count = 4
    clock_rate = 1_500_000

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal

    @staticmethod
    def count() -> int:
        return 1

    def name(self) -> str:
        return "Fake GPU"

    def compute_capability(self) -> tuple[int, int]:
        return (9, 0)

    def total_memory(self) -> int:
        return 1 << 30


class Launched(threading.local):
    """What the thread launched of its unit."""

    method = "scan"
    checks = 0
    decided: tuple[bytes, int, int]


class FakeCuda:
    """The module. One unit at a time in each thread.

    Attributes:
        launched: names of all kernels launched.
        spoil: called with the counters and the candidates' entries of each unit.
        fail: raised by the next kernel launch.
        depth: contexts pushed and not popped.
    """

    Error, MemoryError = FakeError, FakeMemoryError

    def __init__(self) -> None:
        self.launched: list[str] = []
        self.spoil: Spoil = leave_alone
        self.fail: FakeError | None = None
        self.depth = 0
        self.unit = Launched()
        context = Context(self)

        class OwnDevice(Device):
            def retain_primary_context(self) -> Context:
                return context

        self.Device, self.Stream, self.Event = OwnDevice, Stream, Event

    def mem_alloc(self, size: int) -> Memory:
        assert self.depth > 0, "no context is current"
        return Memory(size)

    def mem_get_info(self) -> tuple[int, int]:
        assert self.depth > 0, "no context is current"
        return 1 << 29, 1 << 30

    def get_driver_version(self) -> int:
        return 13020

    def pagelocked_zeros(self, size: int, kind: type[np.uint64]) -> Words:
        return np.zeros(size, dtype=kind)

    def memcpy_dtoh_async(self, to: Words, memory: Memory, stream: Stream) -> None:
        to[:] = memory.words[: len(to)]

    def module_from_buffer(self, cubin: bytes) -> Module:
        return Module(self, *(cubin or ANY_SHAPE))


class Module:
    """The kernels of one shape."""

    def __init__(self, cuda: FakeCuda, degree: int, limbs: int) -> None:
        self.cuda, self.kernels = cuda, cpu.library(degree, limbs)

    def get_function(self, name: str) -> Function:
        return Function(lambda grid, block, kinds, arguments: self.launch(name, arguments))

    def launch(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.cuda.launched.append(name)
        if self.cuda.fail is not None:
            raise self.cuda.fail
        if name == "scan_runs":
            self.cuda.unit.method, self.cuda.unit.checks = "scan", 0
        if name == "walk":
            self.cuda.unit.method, self.cuda.unit.checks = "farey", arguments[1]
        if name.startswith("domains_"):
            block, _, runs, packet_log2, *_ = arguments
            run_log2, domain_log2 = struct.unpack("2Q", block[-16:])
            self.cuda.unit.method = name.removeprefix("domains_")
            self.cuda.unit.checks = runs << run_log2 - domain_log2 - packet_log2
        if name == "decide":
            block, _, _, _, _, memory, capacity, counters = arguments
            self.cuda.unit.decided = block, memory, capacity
        if name == "check_seams":
            block, _, runs, counters = arguments
            self.answer(*self.cuda.unit.decided, runs, counters)

    def answer(self, block: bytes, memory: int, capacity: int, runs: int, counters: int) -> None:
        """Search the block on the CPU, and write that as the device would."""
        arguments = np.empty(1 << 16, dtype=np.int64)
        found = np.zeros(len(cpu.FIGURES), dtype=np.uint64)
        number = METHODS.index(self.cuda.unit.method)
        self.kernels.search_block(
            block, number, arguments.ctypes.data, len(arguments), found.ctypes.data
        )
        domains, subdomains, scanned, hits, candidates = (int(n) for n in found[:5])
        (lo,) = struct.unpack("q", block[-32:-24])
        entries = [int(u) - lo + 1 for u in arguments[:candidates]]
        told = dict.fromkeys(COUNTERS, 0)
        told |= {"domains": domains, "failing": -(-subdomains // 8), "subdomains": subdomains}
        told |= {"scanned": scanned, "hits": hits, "candidates": candidates, "sum": sum(entries)}
        if self.cuda.unit.method == "farey":
            # The places of the walk's threads.
            told["taken"] = 128 * -(-self.cuda.unit.checks // 128)
        told |= {"sound": runs + self.cuda.unit.checks, "sentinels": 1, "echo": echo_of(block)}
        entries.reverse()  # the device's lists are in no order
        self.cuda.spoil(told, entries)
        words_at(counters, len(COUNTERS))[:] = [told[name] for name in COUNTERS]
        room = min(capacity, len(entries))
        words_at(memory, room)[:] = entries[:room]


class Function:
    """A kernel as PyCUDA has it, which wants its arguments as it was prepared for them.

    Args:
        launch: gets grid, block, the format and the arguments.
    """

    def __init__(self, launch: Callable[[Shape, Shape, str, tuple[Any, ...]], None]) -> None:
        self._launch, self._format = launch, ""

    def prepare(self, kinds: Iterable[str]) -> None:
        self._format = "".join(kinds)

    def prepared_async_call(
        self, grid: Shape, block: Shape, stream: Stream, *arguments: Any
    ) -> None:
        packed = struct.pack(self._format, *arguments)
        assert struct.unpack(self._format, packed) == arguments, "not as it was prepared"
        self._launch(grid, block, self._format, arguments)


def words_at(pointer: int, count: int) -> Words:
    """So many words of device memory."""
    return np.ctypeslib.as_array((ctypes.c_uint64 * count).from_address(pointer))


def install(
    monkeypatch: pytest.MonkeyPatch, directory: Path, fake: FakeCuda | None = None
) -> FakeCuda:
    """Let hrcase.engine.cuda find a fake device; a "cubin" is its shape in two bytes, or none."""
    fake = fake or FakeCuda()

    def compile_device(degree: int, limbs: int, arch: str) -> Path:
        path = directory / f"{degree}-{limbs}-{arch}.cubin"
        path.write_bytes(bytes([degree, limbs]))
        return path

    def compile_walks(arch: str) -> Path:
        path = directory / f"{arch}.cubin"
        path.write_bytes(b"")
        return path

    monkeypatch.setattr(cuda, "driver", lambda: fake)
    monkeypatch.setattr(cuda, "compile_walks", compile_walks)
    monkeypatch.setattr(cuda, "compile_device", compile_device)
    return fake
