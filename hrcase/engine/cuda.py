"""The CUDA engine: blocks run on a device through PyCUDA, several at a time.

A block is one unit: all its kernels go onto one stream, later phases read on the device what
earlier ones left, and the host waits once, for the counters. Threads that call `run` at the same
time have a stream and buffers each, so the device goes on working while one of them copies.

Device memory of a lane, for a block of d domains in r runs: 64 r bytes of cubics, 8 (d/4 + d/16)
bytes of failing domains and subdomains, and the hits and candidates, 8 MiB to begin with. At
SLICE_DOMAINS = 2^25 that is below 100 MiB.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block, Counts, method_number
from hrcase.errors import HrcaseError, NoDevice, SelfTestFailed, TryAgain
from hrcase.selftest import known_answers
from hrcase.toolchain import compile_device

SLICE_DOMAINS = 1 << 25
LANES = 3
THREADS = 128
BLOCKS_A_MULTIPROCESSOR = 8
MOST_PACKET_LOG2 = 4
ENOUGH_THREADS_LOG2 = 18
"""Packets are as long as leaves the device this many threads."""

SCAN_STRETCH_LOG2 = 14
FIRST_CAPACITY = 1 << 19
COUNTERS = (
    "domains",
    "failing",
    "subdomains",
    "subfailing",
    "scanned",
    "hits",
    "candidates",
    "sum",
)
CUBIC_BYTES = 64


class DeviceError(HrcaseError):
    """A CUDA call failed, or the device's answer contradicts itself."""


def driver() -> ModuleType:
    """PyCUDA's driver module, initialised.

    Raises:
        NoDevice: PyCUDA, NVIDIA's driver or a device is missing; says what to install.
    """
    try:
        import pycuda.driver as cuda
    except ModuleNotFoundError as error:
        raise NoDevice(
            f"PyCUDA cannot be imported ({error}); it runs the kernels on a CUDA device; "
            'install it with pip install "hrcase[cuda]", or take --device cpu'
        ) from error
    except ImportError as error:
        raise NoDevice(
            f"PyCUDA is installed but cannot be loaded ({error}); it needs NVIDIA's driver; "
            "install the driver, or take --device cpu"
        ) from error
    try:
        cuda.init()
        count = cuda.Device.count()
    except cuda.Error as error:
        raise NoDevice(f"no CUDA device answers ({error}); take --device cpu") from error
    if count == 0:
        raise NoDevice("there is no CUDA device on this machine; take --device cpu")
    module: ModuleType = cuda
    return module


class CudaEngine:
    """One CUDA device.

    Attributes:
        name: what the user calls it, with the device's own name.
        workers: calls of `run` at a time that keep the device busy.
        slice_domains: domain tests in one call.
        is_device: True: the processors are free while it works.
        stage_seconds: device time by kernel.
        busy_seconds: device time with at least one block under way. Blocks overlap, so the stages
            sum to more. Taken as the blocks end, which may count less than it is, never more.
        ordinal: N of cuda:N.
    """

    is_device = True
    methods: tuple[str, ...] = ("scan", "lefevre", "regular")

    def __init__(self, ordinal: int = 0) -> None:
        self.cuda: Any = driver()
        count = self.cuda.Device.count()
        if not 0 <= ordinal < count:
            raise NoDevice(
                f"there is no device cuda:{ordinal}: this machine has {count}; "
                f"take --device cuda:0{f' to cuda:{count - 1}' if count > 1 else ''}"
            )
        self.ordinal, self.device = ordinal, self.cuda.Device(ordinal)
        self.name = f"cuda:{ordinal} ({self.device.name()})"
        self.workers, self.slice_domains = LANES, SLICE_DOMAINS
        self.stage_seconds: defaultdict[str, float] = defaultdict(float)
        self._context = self.device.retain_primary_context()
        self._grid = BLOCKS_A_MULTIPROCESSOR * self.device.multiprocessor_count
        self._modules: dict[tuple[int, int], Any] = {}
        self._trusted: set[tuple[int, int]] = set()
        self._idle: list[_Lane] = []
        self._lock = threading.RLock()
        self.busy_seconds = self._busy_until = 0.0
        with self._current():
            self._origin = self.cuda.Event()
            self._origin.record()

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        """Every candidate u of the block, increasing, and what it took to find them.

        Raises:
            ValueError: as hrcase.engine.cpu.run.
            TryAgain: the device is out of memory.
            DeviceError: a CUDA call failed, or counts and sums do not agree.
            SelfTestFailed: the kernels of this shape give a wrong answer on this device.
        """
        method_number(method)
        if method not in self.methods:
            raise NoDevice(
                f"the method {method} has no kernels for CUDA devices; they are written for the "
                "CPU only so far; take --device cpu, or --method regular"
            )
        block.require_method(method)
        with self._current():
            self._require_trust(block.degree, block.limbs)
            return self._run(block, method)

    def close(self) -> None:
        """Free the lanes and the modules, in the context that they live in."""
        self._context.push()
        try:
            self._idle.clear()
            self._modules.clear()
            del self._origin
        finally:
            self._context.pop()

    def _run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        kernels = self._module(block.degree, block.limbs)
        unit = _Unit(block, method)
        lane = self._lane()
        while True:
            lane.launch(kernels, unit)
            counters = lane.wait()
            self._account(lane)
            if not lane.grow(counters):
                break
        found = lane.candidates(unit, counters)
        with self._lock:
            self._idle.append(lane)
        return found, _counts(counters)

    def _account(self, lane: _Lane) -> None:
        """Add the device time of a lane's last unit."""
        begin, end = lane.span(self._origin)
        with self._lock:
            for stage, seconds in lane.seconds():
                self.stage_seconds[stage] += seconds
            if end > self._busy_until:
                self.busy_seconds += end - max(begin, self._busy_until)
                self._busy_until = end

    def _require_trust(self, degree: int, limbs: int) -> None:
        """Run the self-test of a kernel shape before its first use."""
        with self._lock:
            if (degree, limbs) in self._trusted:
                return
            block, expected = known_answers(degree, limbs)
            for method in self.methods:
                found, _ = self._run(block, method)
                if list(found) != expected:
                    raise SelfTestFailed(
                        f"the kernels of degree {degree} with {limbs} limbs, method {method}, give "
                        f"a wrong answer on {self.name}: {len(found)} candidates where "
                        f"{len(expected)} are known; do not use this device; take --device cpu"
                    )
            self._trusted.add((degree, limbs))

    def _module(self, degree: int, limbs: int) -> Any:
        with self._lock:
            if (degree, limbs) not in self._modules:
                arch = "sm_{}{}".format(*self.device.compute_capability())
                cubin = compile_device(degree, limbs, arch).read_bytes()
                self._modules[degree, limbs] = self.cuda.module_from_buffer(cubin)
            return self._modules[degree, limbs]

    def _lane(self) -> _Lane:
        """An idle lane, or a new one. One whose block failed does not come back."""
        with self._lock:
            return self._idle.pop() if self._idle else _Lane(self.cuda, self._grid)

    @contextmanager
    def _current(self) -> Iterator[None]:
        """The device's primary context in the calling thread, and its errors in our words."""
        self._context.push()
        try:
            yield
        except self.cuda.MemoryError as error:
            raise TryAgain(
                f"{self.name} is out of memory ({error}); other programs hold it; free it "
                "(nvidia-smi lists them) and run the same command again"
            ) from error
        except self.cuda.Error as error:
            raise DeviceError(
                f"{self.name} failed: {error}; run the same command again, on another device or "
                "with --device cpu if it fails again"
            ) from error
        finally:
            self._context.pop()


@dataclass(frozen=True)
class _Unit:
    """A block and what follows from its lengths."""

    block: Block
    method: str

    @property
    def length(self) -> int:
        return self.block.hi - self.block.lo

    @property
    def runs(self) -> int:
        return -(-self.length >> self.block.run_log2)

    @property
    def domains(self) -> int:
        """How many domains begin below hi: every run but the last is whole."""
        if self.method == "scan":
            return 0
        whole, rest = divmod(self.length, 1 << self.block.run_log2)
        per_run = 1 << self.block.run_log2 - self.block.domain_log2
        return whole * per_run + -(-rest >> self.block.domain_log2)

    @property
    def packet_log2(self) -> int:
        per_run_log2 = self.block.run_log2 - self.block.domain_log2
        spare = max(0, self.domains.bit_length() - ENOUGH_THREADS_LOG2)
        return min(per_run_log2, spare, MOST_PACKET_LOG2)

    @property
    def packets(self) -> int:
        return self.runs << self.block.run_log2 - self.block.domain_log2 - self.packet_log2


class _Buffer:
    """Device memory of 64-bit entries that grows and never shrinks."""

    def __init__(self, cuda: Any) -> None:
        self.cuda, self.capacity, self.memory = cuda, 0, None

    def reserve(self, entries: int) -> None:
        """Have room for so many entries; what was in it is lost where it grows."""
        if entries > self.capacity:
            self.memory = None  # free first: the two need not fit beside each other
            self.memory = self.cuda.mem_alloc(8 * entries)
            self.capacity = entries

    @property
    def arguments(self) -> tuple[Any, np.uint64]:
        """Pointer and capacity, as the kernels take them."""
        return self.memory, np.uint64(self.capacity)


class _Lane:
    """A stream with its buffers: one block at a time. The context must be current."""

    def __init__(self, cuda: Any, grid: int) -> None:
        self.cuda, self.grid = cuda, grid
        self.stream = cuda.Stream()
        self.cubics = _Buffer(cuda)
        self.lists = {name: _Buffer(cuda) for name in ("failing", "subfailing", "hits")}
        self.lists["candidates"] = _Buffer(cuda)
        self.counters = cuda.mem_alloc(8 * len(COUNTERS))
        self.host_counters = cuda.pagelocked_zeros(len(COUNTERS), np.uint64)
        self.events: list[tuple[str, Any]] = []

    def launch(self, kernels: Any, unit: _Unit) -> None:
        """Put all kernels of a unit on the stream."""
        self._reserve(unit)
        block = np.frombuffer(unit.block.packed(), dtype=np.uint64)
        runs, cubics = np.uint64(unit.runs), self.cubics.memory
        failing, subfailing, hits, candidates = (
            self.lists[name].arguments for name in ("failing", "subfailing", "hits", "candidates")
        )
        self.events = []
        self._mark("start")
        self._call(kernels, "clear", 1, self.counters, threads=1)
        self._call(kernels, "expand", _blocks(unit.runs), block, runs, cubics)
        tail: tuple[Any, ...]
        if unit.method == "scan":
            stretch_log2 = min(SCAN_STRETCH_LOG2, unit.block.run_log2)
            warps = unit.runs << unit.block.run_log2 - stretch_log2
            stretch = np.uint64(stretch_log2)
            tail = (block, cubics, runs, stretch, *hits, self.counters)
            self._call(kernels, "scan_runs", _blocks(32 * warps), *tail)
        else:
            packets = np.int32(unit.packet_log2)
            tail = (block, cubics, runs, packets, *failing, self.counters)
            self._call(kernels, f"domains_{unit.method}", _blocks(unit.packets), *tail)
            tail = (block, cubics, *failing, *subfailing, self.counters)
            self._call(kernels, f"subdomains_{unit.method}", self.grid, *tail)
            tail = (block, cubics, *subfailing, *hits, self.counters)
            self._call(kernels, "scan_subdomains", self.grid, *tail)
        self._call(kernels, "decide", self.grid, block, *hits, *candidates, self.counters)
        self.cuda.memcpy_dtoh_async(self.host_counters, self.counters, self.stream)
        self._mark("end")

    def wait(self) -> dict[str, int]:
        """The counters, once the stream is done."""
        self.stream.synchronize()
        return {n: int(c) for n, c in zip(COUNTERS, self.host_counters, strict=True)}

    def seconds(self) -> Iterator[tuple[str, float]]:
        """Device time of each kernel of the last unit."""
        for (stage, begin), (_, end) in zip(self.events, self.events[1:], strict=False):
            yield stage, end.time_since(begin) / 1e3

    def span(self, origin: Any) -> tuple[float, float]:
        """When the last unit began and ended on the device, in seconds after an event."""
        begin, end = (self.events[i][1].time_since(origin) / 1e3 for i in (0, -1))
        return begin, end

    def grow(self, counters: dict[str, int]) -> bool:
        """Enlarge the lists that overflowed; whether there was one, so that the unit runs again."""
        over = [name for name, buffer in self.lists.items() if counters[name] > buffer.capacity]
        for name in over:
            self.lists[name].reserve(counters[name] + counters[name] // 4)
        return bool(over)

    def candidates(self, unit: _Unit, counters: dict[str, int]) -> NDArray[np.int64]:
        """The candidates, copied and checked against what the device counted and summed."""
        count = counters["candidates"]
        entries = np.zeros(count, dtype=np.uint64)
        if count:
            self.cuda.memcpy_dtoh_async(entries, self.lists["candidates"].memory, self.stream)
            self.stream.synchronize()
        total = int(entries.sum(dtype=np.uint64))
        agrees = {
            "domains tested": counters["domains"] == unit.domains,
            "arguments scanned": unit.method != "scan" or counters["scanned"] == unit.length,
            "entries above 0": bool((entries > 0).all()),
            "sum of the candidates": total == counters["sum"],
        }
        for what, holds in agrees.items():
            if not holds:
                raise DeviceError(
                    f"the device's answer contradicts itself in the {what} ({counters}); memory "
                    "or device may be faulty; run again on another device or with --device cpu"
                )
        found = entries.astype(np.int64) + (unit.block.lo - 1)
        found.sort()
        return found

    def _reserve(self, unit: _Unit) -> None:
        self.cubics.reserve(CUBIC_BYTES // 8 * unit.runs)
        self.lists["failing"].reserve(unit.domains // 4 + 1024)
        self.lists["subfailing"].reserve(unit.domains // 16 + 1024)
        for name in ("hits", "candidates"):
            self.lists[name].reserve(FIRST_CAPACITY)

    def _call(
        self, kernels: Any, name: str, blocks: int, *arguments: Any, threads: int = THREADS
    ) -> None:
        function: Callable[..., None] = kernels.get_function(name)
        self._mark(name)
        function(*arguments, block=(threads, 1, 1), grid=(blocks, 1), stream=self.stream)

    def _mark(self, stage: str) -> None:
        event = self.cuda.Event()
        event.record(self.stream)
        self.events.append((stage, event))


def _blocks(threads: int) -> int:
    return -(-threads // THREADS)


def _counts(counters: dict[str, int]) -> Counts:
    names = ("domains", "subdomains", "scanned", "hits", "candidates")
    return Counts(*(counters[name] for name in names))
