"""The Farey walk on one core: kinds of lanes, binades, precisions.

    python benchmarks/walk_on_cpu.py lanes
    python benchmarks/walk_on_cpu.py binades [--first -45] [--last 9]
    python benchmarks/walk_on_cpu.py precisions

`lanes` compiles the kernels for AVX-512, for AVX2 and for neither, and searches exp on [1, 1.0005)
and [1, 1.02), M = 44, with each. `binades` takes parts of blocks spread over each binade of exp,
M = 44, and gives the rate, and the fractions that the walk passes an argument in theory.
`precisions` does so on [1, 2) for p = 20 .. 64, with M = p - 9, and works out the time of the whole
binade. Planning and refinement are not counted; seconds are those of the processor, of one thread,
so that other jobs disturb little.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator

from gmpy2 import mpq

from hrcase import toolchain
from hrcase.cost import fractions, to_double
from hrcase.domain import split
from hrcase.engine import cpu
from hrcase.formats import FORMATS, Format
from hrcase.pieces import Rule
from hrcase.plan import PlannedBlock, Tuning, next_block, plan
from hrcase.spec import SearchSpec, exponent_range, interval

BITS = 44
SECONDS = 0.4
"""Spent on each part of a table, about."""

PARTS = 8
RUNS = 3
LANES = {"AVX-512": (), "AVX2": ("-mno-avx512f",), "neither": ("-mno-avx512f", "-mno-avx2")}
TUNING = Tuning(method="farey")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("lanes", "binades", "precisions"))
    parser.add_argument("--first", type=int, default=-45)
    parser.add_argument("--last", type=int, default=9)
    options = parser.parse_args()
    if options.table == "lanes":
        lanes()
    elif options.table == "binades":
        binades(options.first, options.last)
    else:
        precisions()


def lanes() -> None:
    """The best of RUNS searches of two intervals with each kind of lanes."""
    double, usual = FORMATS["binary64"], toolchain._HOST_OPTIONS
    for high in ("1.0005", "1.02"):
        region = interval(double, mpq(1), mpq(high), "")
        spec = SearchSpec("exp", double, double, BITS, "all", region)
        blocks = list(searched(spec))
        count = sum(planned.count for planned in blocks)
        for name, options in LANES.items():
            with tempfile.TemporaryDirectory() as cache:
                os.environ["HRCASE_CACHE"] = cache
                toolchain._HOST_OPTIONS = (*usual, *options)
                cpu.library.cache_clear()
                seconds = min(run(blocks) for _ in range(1 + RUNS))
            print(f"[1, {high}) {name}: {seconds:.3f} s, {count / seconds:.3g} arguments/s")


def binades(first: int, last: int) -> None:
    """The rate of each binade of exp, positive arguments."""
    double = FORMATS["binary64"]
    for exponent in range(first, last + 1):
        region = exponent_range(double, exponent, exponent, "positive")
        spec = SearchSpec("exp", double, double, BITS, "all", region)
        print(f"2^{exponent}: {rate(spec)}", flush=True)


def precisions() -> None:
    """The rate of exp on [1, 2) and the time of the whole binade, by precision."""
    for p in (20, 24, 28, 32, 36, 40, 44, 48, 53, 58, 64):
        toy = Format(f"p = {p}", p, -1022, 1023)
        spec = SearchSpec("exp", toy, toy, p - 9, "all", exponent_range(toy, 0, 0, "positive"))
        lo, hi = spec.region.ranges[0]
        print(f"p = {p}, 2^{p - 1} = {hi - lo} arguments: {rate(spec)}", flush=True)


def searched(spec: SearchSpec) -> Iterator[PlannedBlock]:
    """All blocks of the searched pieces."""
    for piece in split(spec):
        if piece.rule is Rule.SEARCHED:
            yield from plan(spec, piece, TUNING)


def rate(spec: SearchSpec) -> str:
    """The rate of PARTS parts of blocks, spread over the searched pieces of a region."""
    pieces = [piece for piece in split(spec) if piece.rule is Rule.SEARCHED]
    whole = sum(piece.count for piece in pieces)
    arguments = seconds = scanned = passed = 0.0
    for i in range(PARTS):
        left = whole * i // PARTS
        for piece in pieces:
            if left < piece.count:
                break
            left -= piece.count
        planned = next_block(spec, piece, piece.lo + left, TUNING)
        if planned.block is None:
            continue
        part = small_part(planned)
        assert part.block is not None
        arguments += part.count
        seconds += run([part])
        scanned += cpu.run(part.block, part.method)[1].scanned
        passed += part.count * fractions(curvature(part))
    return (
        f"{arguments / seconds:.3g} arguments/s, {passed / seconds:.3g} fractions/s, "
        f"{arguments / passed:.3g} arguments a fraction, "
        f"{scanned / arguments:.2g} of them decided one by one; "
        f"{whole:.3g} searched, {whole / arguments * seconds:.3g} s at this rate"
    )


def small_part(planned: PlannedBlock) -> PlannedBlock:
    """The first slice of a block that takes about SECONDS/PARTS."""
    work = 1.0
    while True:
        part = next(planned.slices(work))
        taken = run([part])
        if taken > SECONDS / PARTS or part.count == planned.count:
            return part
        work = max(work, part.work) * 4


def curvature(part: PlannedBlock) -> float:
    """A2 of a block, at its middle."""
    assert part.block is not None
    coefficients = part.block.coefficients
    return abs(to_double(mpq(coefficients[2], 1 << 64 * part.block.limbs)))


def run(blocks: list[PlannedBlock]) -> float:
    """Seconds of the processor for all candidates of these blocks."""
    for planned in blocks:
        if planned.block is not None:
            cpu.library(planned.block.degree, planned.block.limbs)
    started = time.thread_time()
    for planned in blocks:
        if planned.block is not None:
            cpu.run(planned.block, planned.method)
    return time.thread_time() - started


if __name__ == "__main__":
    main()
