"""The Farey walk on a CUDA device, kernel by kernel: one block at a time, nothing beside it.

    python benchmarks/walk_on_device.py LO RUN_LOG2 [RUNS]

A block of exp from LO on (an integer), M = 44, in runs of 2^RUN_LOG2 arguments, at most RUNS of
them (default 2^19), searched once to warm up and then REPEATS times. Prints the mean seconds of
each kernel, and fractions and arguments a second of the walk alone and of all kernels together.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from unittest.mock import patch

from gmpy2 import mpq

from hrcase import plan as planning
from hrcase.domain import split
from hrcase.engine import Block
from hrcase.engine.cuda import CudaEngine
from hrcase.formats import FORMATS
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec, interval

REPEATS = 3


def block_of(lo: int, run_log2: int, runs: int) -> Block:
    """The first block of exp from lo on, with runs of the given length."""
    double = FORMATS["binary64"]
    region = interval(double, mpq(lo), mpq(lo + 1), f"{lo} <= x < {lo + 1}")
    spec = SearchSpec("exp", double, double, 44, "all", region)
    piece = next(piece for piece in split(spec) if piece.rule is Rule.SEARCHED)
    with (
        # the longest block has the most runs
        patch.object(planning, "DEGREES", planning.DEGREES[-1:]),
        patch.object(planning, "best_walk", lambda sizes, most: (min(run_log2, most), 0.0)),
    ):
        block = next_block(spec, piece, piece.lo, Tuning(method="farey")).block
    if block is None:
        raise SystemExit(f"no block at {lo}; give another LO")
    return replace(block, hi=min(block.hi, block.lo + (runs << run_log2)))


def main(lo: int, run_log2: int, runs: int) -> None:
    """Time one block."""
    block, engine = block_of(lo, run_log2, runs), CudaEngine()
    engine.run(block, "farey")
    engine.timed, engine.fractions = True, 0
    for _ in range(REPEATS):
        engine.run(block, "farey")
    seconds = {name: s / REPEATS for name, s in engine.stage_seconds.items() if name != "start"}
    arguments, fractions = block.hi - block.lo, engine.fractions / REPEATS
    walk, kernels = seconds["walk"], sum(seconds.values()) - seconds["clear"]
    print(f"exp from {lo} on, runs of 2^{block.run_log2}, groups of 2^{block.group_log2}:")
    print(f"  {arguments:.4g} arguments, {fractions:.4g} fractions, degree {block.degree}")
    print(f"  walk alone  {fractions / walk:.3g} fractions/s, {arguments / walk:.3g} arguments/s")
    print(f"  all kernels {arguments / kernels:.3g} arguments/s")
    for name, value in seconds.items():
        print(f"  {name:14}{1e3 * value:8.3f} ms")
    engine.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 19)
