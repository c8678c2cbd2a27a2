"""One block at a time on one stream of a CUDA device: its launches, its buffers, its answer.

Device memory, for a block of d domains in r runs: 64 r bytes of cubics, 8 (d/4 + d/16) bytes of
failing domains and subdomains, and the hits and candidates, 8 MiB to begin with. At 2^25 domains
that is below 100 MiB. The Farey walk takes 64 r + 128 r bytes for cubics and starts, 72 bytes for
each fraction with many mm, and 64 for each root near a class: 64 r and 68 MiB to begin with. Six
lanes with the longest blocks, r = 2^19, take 1.3 GiB.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block, Counts
from hrcase.engine.kernels import Kernels
from hrcase.engine.trust import distinct, echo_of, require_sound, sentinel_of
from hrcase.errors import HrcaseError

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

_RUNS = struct.Struct("<2q4Q")  # struct Runs of cuda/walks.cu
_NONE = np.empty(0, dtype=np.int64)


class DeviceError(HrcaseError):
    """A CUDA call failed."""


class Unit:
    """A block and what follows from it.

    Attributes:
        runs: of the block.
        packed: the block as the kernels take it.
    """

    def __init__(self, block: Block, method: str) -> None:
        self.block, self.method = block, method
        self.runs, self.packed = block.runs, block.packed()

    @property
    def domains(self) -> int:
        """What is tested."""
        return self.block.tested(self.method)

    @property
    def checks(self) -> int:
        """Runs whose cubics are checked; walks, with the sentinel's; tables of packets."""
        if self.method == "farey":
            return 2 * self.runs + 1
        return self.runs + (0 if self.method == "scan" else self.packets)

    @property
    def places(self) -> int:
        """In the list of roots near a class: one for each thread of the walk (cuda/walks.cu)."""
        return THREADS * _blocks(self.runs + 1) if self.method == "farey" else 0

    @cached_property
    def sentinel(self) -> tuple[bytes, int]:
        """The run that is searched with those of a walk, as a packed block; its candidate."""
        block, u = sentinel_of(self.block, self.method)
        return block.packed(), u

    @cached_property
    def packed_runs(self) -> bytes:
        """The block's runs as the kernels take them."""
        block = self.block
        window = block.run_window & ((1 << 64) - 1), block.run_window >> 64
        return _RUNS.pack(block.lo, block.hi, block.run_log2, self.runs, *window)

    @property
    def packet_log2(self) -> int:
        per_run_log2 = self.block.run_log2 - self.block.domain_log2
        spare = max(0, self.domains.bit_length() - ENOUGH_THREADS_LOG2)
        return min(per_run_log2, spare, MOST_PACKET_LOG2)

    @property
    def packets(self) -> int:
        return self.runs << self.block.run_log2 - self.block.domain_log2 - self.packet_log2


class Buffer:
    """Device memory of equal entries that grows and never shrinks.

    Attributes:
        capacity: entries that it has room for.
        arguments: pointer and capacity, as the kernels take them.
    """

    def __init__(self, cuda: Any, entry_bytes: int) -> None:
        self.cuda, self.entry_bytes = cuda, entry_bytes
        self.memory: Any = None
        self.capacity, self.arguments = 0, (0, 0)

    def reserve(self, entries: int) -> None:
        """Have room for so many entries; what was in it is lost where it grows."""
        if entries > self.capacity:
            self.memory = None  # free first: the two need not fit beside each other
            self.memory = self.cuda.mem_alloc(self.entry_bytes * entries)
            self.capacity, self.arguments = entries, (int(self.memory), entries)

    @property
    def pointer(self) -> int:
        """As the kernels take it."""
        return self.arguments[0]


class Lane:
    """A stream with its buffers: one block at a time. The context must be current."""

    def __init__(self, cuda: Any, grid: int) -> None:
        self.cuda, self.grid, self.timed = cuda, grid, False
        self.stream = cuda.Stream()
        self.cubics, self.starts = Buffer(cuda, CUBIC_BYTES), Buffer(cuda, START_BYTES)
        self.groups = Buffer(cuda, GROUP_BYTES)
        self.lists = {name: Buffer(cuda, size) for name, size in ENTRY_BYTES.items()}
        self.counters = cuda.mem_alloc(8 * len(COUNTERS))
        self.counters_pointer = int(self.counters)
        self.host_counters = cuda.pagelocked_zeros(len(COUNTERS), np.uint64)
        self.events: list[tuple[str, Any]] = []

    def launch(self, kernels: Kernels, unit: Unit, timed: bool) -> None:
        """Put all kernels of a unit on the stream, with events between them if it is timed."""
        self.timed = timed
        self._reserve(unit)
        counters, block = self.counters_pointer, unit.packed
        self.events = []
        self._mark("start")
        self._call(kernels, "clear", 1, counters, threads=1)
        self._expand(kernels, unit)
        if unit.method == "scan":
            self._launch_scan(kernels, unit)
        elif unit.method == "farey":
            self._launch_walks(kernels, unit)
        else:
            self._launch_domains(kernels, unit)
        lists = *self._list("hits"), *self._list("candidates")
        self._call(kernels, "decide", self.grid, block, *unit.sentinel, *lists, counters)
        tail = self.cubics.pointer, unit.runs, counters
        self._call(kernels, "check_seams", _blocks(unit.runs), block, *tail)
        self.cuda.memcpy_dtoh_async(self.host_counters, self.counters, self.stream)
        self._mark("end")

    def _expand(self, kernels: Kernels, unit: Unit) -> None:
        cubics, log2 = self.cubics.pointer, unit.block.group_log2
        if unit.method != "farey" or log2 is None:
            self._call(kernels, "expand", _blocks(unit.runs), unit.packed, unit.runs, cubics)
            return
        count = -(-unit.runs >> log2)
        self.groups.reserve(count)
        groups = self.groups.pointer
        self._call(kernels, "expand_groups", _blocks(count), unit.packed, count, log2, groups)
        tail = groups, log2, cubics
        self._call(kernels, "expand_runs", _blocks(unit.runs), unit.packed_runs, *tail)

    def _launch_scan(self, kernels: Kernels, unit: Unit) -> None:
        stretch_log2 = min(SCAN_STRETCH_LOG2, unit.block.run_log2)
        warps = unit.runs << unit.block.run_log2 - stretch_log2
        place = self.cubics.pointer, unit.runs, stretch_log2
        tail = *place, *self._list("hits"), self.counters_pointer
        self._call(kernels, "scan_runs", _blocks(32 * warps), unit.packed, *tail)

    def _launch_domains(self, kernels: Kernels, unit: Unit) -> None:
        start, counters = (unit.packed, self.cubics.pointer), self.counters_pointer
        failing, subfailing = self._list("failing"), self._list("subfailing")
        tail = unit.runs, unit.packet_log2, *failing, counters
        self._call(kernels, f"domains_{unit.method}", _blocks(unit.packets), *start, *tail)
        lists = *failing, *subfailing, counters
        self._call(kernels, f"subdomains_{unit.method}", self.grid, *start, *lists)
        lists = *subfailing, *self._list("hits"), counters
        self._call(kernels, "scan_subdomains", self.grid, *start, *lists)

    def _launch_walks(self, kernels: Kernels, unit: Unit) -> None:
        runs, count, threads = unit.packed_runs, unit.runs, _blocks(unit.runs + 1)
        cubics, starts, counters = self.cubics.pointer, self.starts.pointer, self.counters_pointer
        self._call(kernels, "expand_planted", 1, unit.sentinel[0], count, cubics, threads=1)
        hits, crowds, wide, near = map(self._list, ("hits", "crowds", "wide", "near"))
        tail: tuple[int, ...]
        tail = cubics, starts, *hits, *crowds, counters
        self._call(kernels, "start_walks", threads, runs, *tail)
        self._call(kernels, "walk", threads, starts, count + 1, *near, *wide, counters)
        self._call(kernels, "cross_wide", self.grid, runs, starts, *wide, *near, counters)
        tail = cubics, starts, *near, *hits, *crowds, counters
        self._call(kernels, "take_near", self.grid, runs, *tail)
        self._call(kernels, "take_crowds", self.grid, runs, cubics, *crowds, *hits, counters)
        self._call(kernels, "check_walks", threads, runs, cubics, starts, counters)

    def _list(self, name: str) -> tuple[int, int]:
        return self.lists[name].arguments

    def wait(self, unit: Unit) -> dict[str, int]:
        """The counters, once the stream is done; "near" with the places of the walk's threads."""
        self.stream.synchronize()
        counters = dict(zip(COUNTERS, self.host_counters.tolist(), strict=True))
        counters["near"] += unit.places
        return counters

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
        found = _NONE
        if count:
            entries = np.zeros(count, dtype=np.uint64)
            self.cuda.memcpy_dtoh_async(entries, self.lists["candidates"].memory, self.stream)
            self.stream.synchronize()
            found = entries.view(np.int64)
        holds = {
            "lists": (counters["written"] + unit.places - counters["taken"]) % (1 << 32) == 0,
            "checks of the runs": counters["sound"] == unit.checks,
            "sentinel": unit.method != "farey" or counters["sentinels"] > 0,
            "block": counters["echo"] == echo_of(unit.block.packed()),  # packed anew
        }
        require_sound(unit.block, unit.method, counters, found, holds, device)
        return distinct(found) + (unit.block.lo - 1)

    def _reserve(self, unit: Unit) -> None:
        self.cubics.reserve(unit.runs + 1)
        if unit.method == "farey":
            self.starts.reserve(unit.runs + 1)
            self.lists["crowds"].reserve(FIRST_CROWDS)
            self.lists["wide"].reserve(FIRST_CAPACITY)
            self.lists["near"].reserve(unit.places + FIRST_CAPACITY)
        else:
            self.lists["failing"].reserve(unit.domains // 4 + 1024)
            self.lists["subfailing"].reserve(unit.domains // 16 + 1024)
        for name in ("hits", "candidates"):
            self.lists[name].reserve(FIRST_CAPACITY)

    def _call(
        self, kernels: Kernels, name: str, blocks: int, *arguments: Any, threads: int = THREADS
    ) -> None:
        self._mark(name)
        kernels[name]((blocks, 1), (threads, 1, 1), self.stream, *arguments)

    def _mark(self, stage: str) -> None:
        if not self.timed:
            return
        event = self.cuda.Event()
        event.record(self.stream)
        self.events.append((stage, event))


def _blocks(threads: int) -> int:
    return -(-threads // THREADS)


def counts_of(counters: dict[str, int], candidates: int) -> Counts:
    """What the engines count, out of the counters; each candidate once."""
    domains, subdomains, scanned, hits = (
        counters[name] for name in ("domains", "subdomains", "scanned", "hits")
    )
    return Counts(domains, subdomains, scanned, hits, candidates)
