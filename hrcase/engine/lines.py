"""The lines of real domains, for studies of the three-distance tests: loop counts and divergence.

A search forms these lines inside the kernels and keeps nothing of them. Here they are formed once
more, after the lemma of cuda/tabulate.cuh, so that their loop counts can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block
from hrcase.engine.cpu import Words, library, run_lines

WARP = 32


@dataclass(frozen=True)
class Lines:
    """Consecutive domains of a run, as the tests see them.

    Attributes:
        a, b: is there an x in [0, length) with (b - a x) mod 1 <= window? One entry a domain.
        window: 2 E of the lemma.
        length: N.
        doubles: the unit is 2^-52, the arithmetic that of the device; else 2^-64.
    """

    a: Words
    b: Words
    window: int
    length: int
    doubles: bool

    def test(self, method: str) -> tuple[NDArray[np.bool_], Words]:
        """Whether each domain is proved empty, and the rounds of the main loop that it took."""
        return run_lines(method, self.a, self.b, self.window, self.length, self.doubles)


def lines_of_run(block: Block, run: int, doubles: bool = False) -> Lines:
    """The lines of all domains of a run that begin below block.hi.

    Raises ValueError for a block without domains or without such a run, ToolchainError if the
    kernels of this shape cannot be compiled.
    """
    block.require_domains()
    left = block.hi - block.lo - (run << block.run_log2)
    if run < 0 or left <= 0:
        raise ValueError(f"the block has no run {run}; its runs count from 0 up to hi")
    count = -(-min(left, 1 << block.run_log2) >> block.domain_log2)
    c, s = np.empty((2, count, 2), dtype=np.uint64)
    kernels = library(block.degree, block.limbs)
    kernels.run_table(block.packed(), run, count, c.ctypes.data, s.ctypes.data)
    bits = 52 if doubles else 64
    cut = 64 - bits
    window = block.domain_windows[0]
    if doubles:
        window = (window >> cut) + 1
    a = _top(_difference(_constant(1 << 127 - bits, count), s)) >> np.uint64(cut)
    start = _top(_difference(c, _shifted(s, block.domain_log2 - 1))) >> np.uint64(cut)
    b = (start + np.uint64(window)) & np.uint64((1 << bits) - 1)
    return Lines(a, b, 2 * window, 1 << block.domain_log2, doubles)


def mean_deviation_to_maximum(rounds: Words) -> float:
    """The share of a warp's rounds in which a lane idles, when neighbours sit in one warp.

    A warp runs as long as its longest lane. For each group of 32 neighbours this is
    (max - mean) / max, 0 where nothing had to be done, and the result is the mean over the groups;
    what is left over beyond the last whole group does not count. Raises ValueError where there is
    no whole group.
    """
    if len(rounds) < WARP:
        raise ValueError(f"{len(rounds)} domains make no warp; give at least {WARP}")
    warps = rounds[: len(rounds) // WARP * WARP].reshape(-1, WARP).astype(np.float64)
    longest = warps.max(axis=1)
    idle = longest - warps.mean(axis=1)  # 0 where the longest is 0
    return float((idle / np.maximum(longest, 1)).mean())


# 128-bit integers modulo 2^128: rows of two limbs, least significant first.


def _constant(value: int, count: int) -> Words:
    limbs = [value % (1 << 64), value >> 64]
    return np.tile(np.array(limbs, dtype=np.uint64), (count, 1))


def _difference(x: Words, y: Words) -> Words:
    borrow = (x[:, 0] < y[:, 0]).astype(np.uint64)
    return np.stack([x[:, 0] - y[:, 0], x[:, 1] - y[:, 1] - borrow], axis=1)


def _shifted(x: Words, bits: int) -> Words:
    """x 2^bits, 0 < bits < 64."""
    up, down = np.uint64(bits), np.uint64(64 - bits)
    return np.stack([x[:, 0] << up, (x[:, 1] << up) | (x[:, 0] >> down)], axis=1)


def _top(x: Words) -> Words:
    return x[:, 1]
