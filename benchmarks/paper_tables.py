"""The tables of Fortin, Gouicem and Graillat (2012), in kind, for exp with M = 34.

    python benchmarks/paper_tables.py [--device cpu] [--stretch-log2 26]

Two pieces: [1, 1 + 2^-13), 2^39 arguments of binary64, and stretches spread over [128, 256), of
2^STRETCH_LOG2 arguments each. Each is searched with N = 2^15 everywhere, as published, and with
the N that hrcase chooses. Printed are, for each piece and N,

    how many arguments enter each phase, how long the search took, arguments/s;
    the rounds of the main loop, least, most and mean, over real domains;
    the mean deviation to the maximum of groups of 32 neighbouring domains, normalised
    (hrcase.engine.lines), which is the share of rounds that a warp's lanes idle.

Rates over [128, 256) are those of the stretches; the seconds for the whole binade are worked out
from them and marked so. Loop counts always come from the CPU: the test is the same code on both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from hrcase.domain import split
from hrcase.engine import Block, Engine
from hrcase.engine.choose import engine_for
from hrcase.engine.cuda import CudaEngine
from hrcase.engine.lines import WARP, Lines, lines_of_run, mean_deviation_to_maximum
from hrcase.formats import FORMATS, scale
from hrcase.memory import SearchResult, search
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import Region, SearchSpec

BITS = 34
PUBLISHED_DOMAIN_LOG2 = 15
METHODS = ("lefevre", "regular")
STRETCHES = 16
SAMPLED_RUNS = 64
"""Runs whose lines are looked at, spread over the piece."""


def near_one() -> SearchSpec:
    """[1, 1 + 2^-13)."""
    double = FORMATS["binary64"]
    first = double.ordinal(scale(1, 0))
    region = Region("1 <= x < 1 + 2^-13", ((first, first + (1 << 39)),))
    return SearchSpec("exp", double, double, BITS, "all", region)


def high_binade(stretch_log2: int) -> SearchSpec:
    """Stretches spread evenly over [128, 256)."""
    double = FORMATS["binary64"]
    first, step = double.ordinal(scale(1, 7)), (1 << 52) // STRETCHES
    starts = (first + i * step for i in range(STRETCHES))
    ranges = tuple((lo, lo + (1 << stretch_log2)) for lo in starts)
    text = f"{STRETCHES} stretches of 2^{stretch_log2} arguments of [128, 256)"
    return SearchSpec("exp", double, double, BITS, "all", Region(text, ranges))


def blocks(spec: SearchSpec, tuning: Tuning) -> Iterator[Block]:
    """The first block of each searched piece."""
    for piece in split(spec):
        if piece.rule is Rule.SEARCHED:
            planned = next_block(spec, piece, piece.lo, tuning)
            if planned.block is not None and planned.method != "scan":
                yield planned.block


def sampled_lines(spec: SearchSpec, tuning: Tuning) -> Iterator[Lines]:
    """The lines of some runs, spread over the blocks."""
    found = list(blocks(spec, tuning))
    per_block = -(-SAMPLED_RUNS // len(found))
    for block in found:
        runs = -(-(block.hi - block.lo) >> block.run_log2)
        for run in range(0, runs, max(1, runs // per_block)):
            yield lines_of_run(block, run)


def print_loops(spec: SearchSpec, tuning: Tuning) -> None:
    """Rounds and divergence of both tests on the same lines."""
    sample = list(sampled_lines(spec, tuning))
    lengths = sorted({lines.length.bit_length() - 1 for lines in sample})
    print(f"  N = 2^{lengths[0]} to 2^{lengths[-1]}, {sum(len(x.a) for x in sample)} domains")
    for method in METHODS:
        rounds = [lines.test(method)[1] for lines in sample]
        deviations = [mean_deviation_to_maximum(r) for r in rounds if len(r) >= WARP]
        every = np.concatenate(rounds)
        print(
            f"    {method:8} rounds {every.min():3} / {every.max():3} / {every.mean():.2f} "
            f"(least / most / mean), deviation to the maximum {100 * np.mean(deviations):.1f} %"
        )


def timed(spec: SearchSpec, method: str, tuning: Tuning, engine: Engine) -> float:
    """Search once to warm up and once for the time; print the phases; seconds."""
    search(spec, method, tuning=tuning, engine=engine)
    busy, started = busy_seconds(engine), time.perf_counter()
    result = search(spec, method, tuning=tuning, engine=engine)
    seconds, busy = time.perf_counter() - started, busy_seconds(engine) - busy
    on_device = f", of which the device was busy {busy:.3f} s" if busy else ""
    rate = f"{arguments_of(spec) / seconds:.3g} arguments/s"
    print(f"    {method:8} {seconds:.3f} s, {rate}{on_device}")
    if method == METHODS[0]:
        print_phases(result)
    return seconds


def busy_seconds(engine: Engine) -> float:
    """Device time so far; 0 for the CPU."""
    return engine.busy_seconds if isinstance(engine, CudaEngine) else 0.0


def print_phases(result: SearchResult) -> None:
    """Arguments that enter each phase: the same for both tests where their answers are."""
    counts, arguments = result.statistics.counts, sum(result.statistics.arguments.values())
    tested, domains = counts["tested_arguments"], max(counts["domains"], 1)
    second = counts["subdomains"] * tested // (8 * domains)
    print(
        f"      phase 1 {tested} arguments, phase 2 about {second}, phase 3 {counts['scanned']}; "
        f"{counts['hits']} hits, {len(result.cases)} cases of {arguments} arguments, "
        f"expected {result.statistics.expected:.0f}"
    )


def arguments_of(spec: SearchSpec) -> int:
    """How many arguments a spec asks for."""
    return sum(hi - lo for lo, hi in spec.region.ranges)


def report(spec: SearchSpec, engine: Engine) -> None:
    """All tables of one piece."""
    print(f"exp, M = {BITS}, {spec.region.text}")
    for words, tuning in (("N as published", Tuning(PUBLISHED_DOMAIN_LOG2)), ("our N", Tuning())):
        print(f"  {words}")
        print_loops(spec, tuning)
        for method in METHODS:
            seconds = timed(spec, method, tuning, engine)
            share = arguments_of(spec) / (1 << 52)
            print(f"      a whole binade at this rate (extrapolated): {seconds / share:.4g} s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="The published tables, in kind")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--stretch-log2", type=int, default=26, help="of [128, 256)")
    options = parser.parse_args()
    engine, _ = engine_for(options.device)
    if isinstance(engine, CudaEngine):
        engine.timed = True
    with closing(engine):
        print("on", engine.name)
        report(near_one(), engine)
        report(high_binade(options.stretch_log2), engine)


if __name__ == "__main__":
    main()
