"""The CPU engine: blocks run in compiled code, one block a call, any number of threads.

ctypes releases the interpreter's lock for the length of a call, and the kernels hold no state.
"""

import ctypes
import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import METHODS, Block, Counts, method_number
from hrcase.engine.trust import distinct, echo_of, require_found, require_sound, sentinel_of
from hrcase.toolchain import compile_host

_FIRST_CAPACITY = 1 << 18
FIGURES = (
    "domains",
    "subdomains",
    "scanned",
    "hits",
    "candidates",
    "sum",
    "sound",
    "checks",
    "echo",
)
"""As in cuda/host.cpp."""

_LINES_SHAPE = (3, 2)  # the bare tests are the same code in every shape
_HERE = "the CPU"

Words: TypeAlias = NDArray[np.uint64]


class CpuEngine:
    """The processors of this machine, one thread each (hrcase.engine.Engine)."""

    slice_domains = 1 << 21
    is_device = False
    methods: tuple[str, ...] = METHODS

    def __init__(self, threads: int | None = None) -> None:
        self.workers = threads or os.cpu_count() or 1
        self.name = f"cpu, {self.workers} threads"

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        """Compile the kernels of these shapes, side by side; raises ToolchainError."""
        with ThreadPoolExecutor(self.workers) as pool:
            for _ in pool.map(lambda shape: library(*shape), shapes):
                pass

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        """As the function `run`."""
        return run(block, method)

    def close(self) -> None:
        """Nothing is held."""


def run(block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
    """Every candidate u of the block, increasing, and what it took to find them.

    Raises ValueError for an unknown method or a block without domains where they are needed,
    ToolchainError if the kernels of this shape cannot be compiled, WrongAnswer if a check of
    docs/faults.md fails.
    """
    found, counts = search(block, method)
    sentinel, u = sentinel_of(block, method)
    require_found(u, search(sentinel, method)[0], _HERE)
    return found, counts


def search(block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
    """As `run`, without the sentinel."""
    arguments, told = answer(block, method)
    holds = {
        "checks of the runs": told["sound"] == told["checks"] > block.runs,
        "block": told["echo"] == echo_of(block.packed()),
    }
    require_sound(block, method, told, arguments - (block.lo - 1), holds, _HERE)
    found = distinct(arguments)
    domains, subdomains, scanned, hits = (told[name] for name in FIGURES[:4])
    return found, Counts(domains, subdomains, scanned, hits, len(found))


def answer(block: Block, method: str) -> tuple[NDArray[np.int64], dict[str, int]]:
    """What the kernels say, unchecked: the candidates, some perhaps twice, and their figures."""
    number = method_number(method)
    block.require_method(method)
    kernels = library(block.degree, block.limbs)
    packed = block.packed()
    capacity = _FIRST_CAPACITY
    while True:
        arguments = np.empty(capacity, dtype=np.int64)
        words = np.zeros(len(FIGURES), dtype=np.uint64)
        kernels.search_block(packed, number, arguments.ctypes.data, capacity, words.ctypes.data)
        told = dict(zip(FIGURES, map(int, words), strict=True))
        if told["candidates"] <= capacity or told["candidates"] > told["hits"]:  # or a fault
            return arguments[: told["candidates"]], told
        capacity = told["candidates"]


def run_lines(
    method: str, a: Words, b: Words, window: int, length: int, doubles: bool = False
) -> tuple[NDArray[np.bool_], Words]:
    """The bare three-distance tests, for studies: one answer and one loop count a line.

    For each line, is it proved that no 0 <= x < length has (b - a x) mod 2^64 <= window? `a` and
    `b` are one-dimensional and of equal length, in 2^-64 like `window`; 1 <= length <= 2^31.
    With `doubles` the unit is 2^-52 instead, and the arithmetic is that of the device.
    Raises ValueError for anything else, and for a method that is not one of the two tests.
    """
    number = method_number(method)
    if method not in ("lefevre", "regular") or a.shape != b.shape or a.ndim != 1:
        raise ValueError("lines need a three-distance test and two arrays alike; pass such")
    circle = 1 << (52 if doubles else 64)
    if not (1 <= length <= 1 << 31 and 0 <= window < circle):
        raise ValueError("a line takes 1 <= length <= 2^31 and 0 <= window < 1; pass such")
    a, b = np.ascontiguousarray(a, dtype=np.uint64), np.ascontiguousarray(b, dtype=np.uint64)
    none, rounds = np.empty_like(a), np.empty_like(a)
    library(*_LINES_SHAPE).test_lines(
        number,
        int(doubles),
        a.ctypes.data,
        b.ctypes.data,
        window,
        length,
        len(a),
        none.ctypes.data,
        rounds.ctypes.data,
    )
    return none.astype(np.bool_), rounds


@cache
def library(degree: int, limbs: int) -> ctypes.CDLL:
    """The kernels of one shape, compiled if need be. Raises ToolchainError if they cannot be."""
    kernels = ctypes.CDLL(str(compile_host(degree, limbs)))
    word, pointer, number = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int
    kernels.block_words.argtypes, kernels.block_words.restype = [], word
    signatures = {
        "search_block": [ctypes.c_char_p, number, pointer, word, pointer],
        "test_lines": [number, number, pointer, pointer, word, word, word, pointer, pointer],
        "run_cubic": [ctypes.c_char_p, word, pointer],
        "run_cubic_of_group": [ctypes.c_char_p, word, number, pointer],
        "quotients": [pointer, pointer, word, pointer],
        "run_table": [ctypes.c_char_p, word, word, pointer, pointer],
    }
    for name, arguments in signatures.items():
        function = getattr(kernels, name)
        function.argtypes, function.restype = arguments, None
    return kernels
