"""One block at a time on one stream of a CUDA device: its launches, its buffers, its answer.

Device memory, for a block of d domains in r runs: 64 r bytes of cubics, 8 (d/4 + d/16) bytes of
failing domains and subdomains, and the hits and candidates, 8 MiB to begin with. At 2^25 domains
that is below 100 MiB. The Farey walk takes 64 r + 128 r bytes for cubics and starts, and 72 bytes
for each fraction with many mm and 64 for each root near a class, 68 MiB to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block, Counts
from hrcase.engine.trust import distinct, echo_of, require_sound, sentinel_of
from hrcase.errors import HrcaseError

Words: TypeAlias = NDArray[np.uint64]

THREADS = 128
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
    "fractions",
    "wide",
    "crowds",
    "near",
    "scanned",
    "hits",
    "candidates",
    "sum",
    "written",
    "taken",
    "sound",
    "sentinels",
    "echo",
)
CUBIC_BYTES = 64
GROUP_BYTES = 192
START_BYTES = 128
ENTRY_BYTES = {
    "failing": 8,
    "subfailing": 8,
    "wide": 72,
    "crowds": 32,
    "near": 64,
    "hits": 8,
    "candidates": 8,
}
"""Of the lists, by the counter that counts them (cuda/device.cuh)."""

FIRST_CROWDS = 1 << 12
MOST_ENTRIES = 1 << 30
"""A list is not made longer than this: what counts more has a fault."""


class DeviceError(HrcaseError):
    """A CUDA call failed."""


@dataclass(frozen=True)
class Unit:
    """A block and what follows from its lengths."""

    block: Block
    method: str

    @property
    def runs(self) -> int:
        return self.block.runs

    @property
    def domains(self) -> int:
        """What is tested."""
        return self.block.tested(self.method)

    @property
    def checks(self) -> int:
        """Runs whose cubics are checked; walks, with the sentinel's; tables of packets."""
        more = {"farey": self.runs + 1, "scan": 0}.get(self.method)
        return self.runs + (self.packets if more is None else more)

    @cached_property
    def sentinel(self) -> tuple[Block, int]:
        """The block of the run that is searched with those of a walk, and its candidate."""
        return sentinel_of(self.block, self.method)

    def packed_runs(self) -> Words:
        """The block's runs as the kernels' `struct Runs` (cuda/walks.cu)."""
        block = self.block
        limbs = block.run_window % (1 << 64), block.run_window >> 64
        words = (block.lo, block.hi, block.run_log2, self.runs, *limbs)
        return np.array([word % (1 << 64) for word in words], dtype=np.uint64)

    @property
    def packet_log2(self) -> int:
        per_run_log2 = self.block.run_log2 - self.block.domain_log2
        spare = max(0, self.domains.bit_length() - ENOUGH_THREADS_LOG2)
        return min(per_run_log2, spare, MOST_PACKET_LOG2)

    @property
    def packets(self) -> int:
        return self.runs << self.block.run_log2 - self.block.domain_log2 - self.packet_log2


WALK_KERNELS = frozenset(
    {"expand_runs", "start_walks", "walk", "cross_wide", "take_near", "take_crowds", "check_walks"}
)
"""Those of cuda/walks.cu."""


class Kernels:
    """The kernels of one shape, and those that have none, by name."""

    def __init__(self, shaped: Any, walks: Any) -> None:
        self.shaped, self.walks = shaped, walks
        self.functions: dict[str, Callable[..., None]] = {}

    def __getitem__(self, name: str) -> Callable[..., None]:
        if name not in self.functions:
            module = self.walks if name in WALK_KERNELS else self.shaped
            self.functions[name] = module.get_function(name)
        return self.functions[name]


class Buffer:
    """Device memory of equal entries that grows and never shrinks."""

    def __init__(self, cuda: Any, entry_bytes: int) -> None:
        self.cuda, self.entry_bytes = cuda, entry_bytes
        self.capacity, self.memory = 0, None

    def reserve(self, entries: int) -> None:
        """Have room for so many entries; what was in it is lost where it grows."""
        if entries > self.capacity:
            self.memory = None  # free first: the two need not fit beside each other
            self.memory = self.cuda.mem_alloc(self.entry_bytes * entries)
            self.capacity = entries

    @property
    def arguments(self) -> tuple[Any, np.uint64]:
        """Pointer and capacity, as the kernels take them."""
        return self.memory, np.uint64(self.capacity)


class Lane:
    """A stream with its buffers: one block at a time. The context must be current."""

    def __init__(self, cuda: Any, grid: int) -> None:
        self.cuda, self.grid, self.timed = cuda, grid, False
        self.stream = cuda.Stream()
        self.cubics, self.starts = Buffer(cuda, CUBIC_BYTES), Buffer(cuda, START_BYTES)
        self.groups = Buffer(cuda, GROUP_BYTES)
        self.lists = {name: Buffer(cuda, size) for name, size in ENTRY_BYTES.items()}
        self.counters = cuda.mem_alloc(8 * len(COUNTERS))
        self.host_counters = cuda.pagelocked_zeros(len(COUNTERS), np.uint64)
        self.events: list[tuple[str, Any]] = []

    def launch(self, kernels: Kernels, unit: Unit, timed: bool) -> None:
        """Put all kernels of a unit on the stream, with events between them if it is timed."""
        self.timed = timed
        self._reserve(unit)
        block = _words(unit.block)
        self.events = []
        self._mark("start")
        self._call(kernels, "clear", 1, self.counters, threads=1)
        self._expand(kernels, unit, block)
        if unit.method == "scan":
            self._launch_scan(kernels, unit, block)
        elif unit.method == "farey":
            self._launch_walks(kernels, unit)
        else:
            self._launch_domains(kernels, unit, block)
        planted, wanted = unit.sentinel
        sentinel = _words(planted), np.int64(wanted)
        lists = *self._list("hits"), *self._list("candidates")
        self._call(kernels, "decide", self.grid, block, *sentinel, *lists, self.counters)
        tail = self.cubics.memory, np.uint64(unit.runs), self.counters
        self._call(kernels, "check_seams", _blocks(unit.runs), block, *tail)
        self.cuda.memcpy_dtoh_async(self.host_counters, self.counters, self.stream)
        self._mark("end")

    def _expand(self, kernels: Kernels, unit: Unit, block: Words) -> None:
        cubics, group_log2 = self.cubics.memory, unit.block.group_log2
        if unit.method != "farey" or group_log2 is None:
            count = np.uint64(unit.runs)
            self._call(kernels, "expand", _blocks(unit.runs), block, count, cubics)
            return
        groups = -(-unit.runs >> group_log2)
        self.groups.reserve(groups)
        memory, log2 = self.groups.memory, np.int32(group_log2)
        tail = np.uint64(groups), log2, memory
        self._call(kernels, "expand_groups", _blocks(groups), block, *tail)
        runs = unit.packed_runs()
        self._call(kernels, "expand_runs", _blocks(unit.runs), runs, memory, log2, cubics)

    def _launch_scan(self, kernels: Kernels, unit: Unit, block: Words) -> None:
        stretch_log2 = min(SCAN_STRETCH_LOG2, unit.block.run_log2)
        warps = unit.runs << unit.block.run_log2 - stretch_log2
        numbers = np.uint64(unit.runs), np.uint64(stretch_log2)
        tail = self.cubics.memory, *numbers, *self._list("hits"), self.counters
        self._call(kernels, "scan_runs", _blocks(32 * warps), block, *tail)

    def _launch_domains(self, kernels: Kernels, unit: Unit, block: Words) -> None:
        cubics, counters = self.cubics.memory, self.counters
        failing, subfailing = self._list("failing"), self._list("subfailing")
        tail: tuple[Any, ...]
        tail = np.uint64(unit.runs), np.int32(unit.packet_log2), *failing, counters
        self._call(kernels, f"domains_{unit.method}", _blocks(unit.packets), block, cubics, *tail)
        tail = *failing, *subfailing, counters
        self._call(kernels, f"subdomains_{unit.method}", self.grid, block, cubics, *tail)
        tail = *subfailing, *self._list("hits"), counters
        self._call(kernels, "scan_subdomains", self.grid, block, cubics, *tail)

    def _launch_walks(self, kernels: Kernels, unit: Unit) -> None:
        runs, threads = unit.packed_runs(), _blocks(unit.runs + 1)
        place = np.uint64(unit.runs), self.cubics.memory
        self._call(kernels, "expand_planted", 1, _words(unit.sentinel[0]), *place, threads=1)
        cubics, starts, counters = self.cubics.memory, self.starts.memory, self.counters
        crowds, wide, near = (self._list(name) for name in ("crowds", "wide", "near"))
        hits = self._list("hits")
        lists: tuple[Any, ...]
        lists = *hits, *crowds, counters
        self._call(kernels, "start_walks", threads, runs, cubics, starts, *lists)
        lists = *near, *wide, counters
        self._call(kernels, "walk", threads, starts, np.uint64(unit.runs + 1), *lists)
        self._call(kernels, "cross_wide", self.grid, runs, starts, *wide, *near, counters)
        lists = *near, *hits, *crowds, counters
        self._call(kernels, "take_near", self.grid, runs, cubics, starts, *lists)
        lists = *crowds, *hits, counters
        self._call(kernels, "take_crowds", self.grid, runs, cubics, *lists)
        self._call(kernels, "check_walks", threads, runs, cubics, starts, counters)

    def _list(self, name: str) -> tuple[Any, np.uint64]:
        return self.lists[name].arguments

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
        over = [
            name
            for name, buffer in self.lists.items()
            if buffer.capacity < counters[name] <= MOST_ENTRIES
        ]
        for name in over:
            self.lists[name].reserve(counters[name] + counters[name] // 4)
        return bool(over)

    def candidates(self, unit: Unit, counters: dict[str, int], device: str) -> NDArray[np.int64]:
        """The candidates, copied and checked against what the device counted and summed.

        Raises WrongAnswer if a check of docs/faults.md fails.
        """
        count = min(counters["candidates"], self.lists["candidates"].capacity)
        entries = np.zeros(count, dtype=np.uint64)
        if count:
            self.cuda.memcpy_dtoh_async(entries, self.lists["candidates"].memory, self.stream)
            self.stream.synchronize()
        holds = {
            "lists": (counters["written"] - counters["taken"]) % (1 << 32) == 0,
            "checks of the runs": counters["sound"] == unit.checks,
            "sentinel": unit.method != "farey" or counters["sentinels"] > 0,
            "block": counters["echo"] == echo_of(unit.block.packed()),
        }
        found = entries.astype(np.int64)
        require_sound(unit.block, unit.method, counters, found, holds, device)
        return distinct(found) + (unit.block.lo - 1)

    def _reserve(self, unit: Unit) -> None:
        self.cubics.reserve(unit.runs + 1)
        if unit.method == "farey":
            self.starts.reserve(unit.runs + 1)
            self.lists["crowds"].reserve(FIRST_CROWDS)
            for name in ("wide", "near"):
                self.lists[name].reserve(FIRST_CAPACITY)
        else:
            self.lists["failing"].reserve(unit.domains // 4 + 1024)
            self.lists["subfailing"].reserve(unit.domains // 16 + 1024)
        for name in ("hits", "candidates"):
            self.lists[name].reserve(FIRST_CAPACITY)

    def _call(
        self, kernels: Kernels, name: str, blocks: int, *arguments: Any, threads: int = THREADS
    ) -> None:
        self._mark(name)
        kernels[name](*arguments, block=(threads, 1, 1), grid=(blocks, 1), stream=self.stream)

    def _mark(self, stage: str) -> None:
        if not self.timed:
            return
        event = self.cuda.Event()
        event.record(self.stream)
        self.events.append((stage, event))


def _words(block: Block) -> Words:
    return np.frombuffer(block.packed(), dtype=np.uint64)


def _blocks(threads: int) -> int:
    return -(-threads // THREADS)


def counts_of(counters: dict[str, int]) -> Counts:
    """What the engines count, out of the counters."""
    names = ("domains", "subdomains", "scanned", "hits", "candidates")
    return Counts(*(counters[name] for name in names))
