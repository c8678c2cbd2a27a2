"""One launch of phase 1 on a CUDA device, for a profiler; and what its launch choices are worth.

    python benchmarks/kernel_limits.py variants
    ncu --clock-control none -k regex:domains -c 1 \\
        python benchmarks/kernel_limits.py once regular 16

`once METHOD DOMAIN_LOG2 ...` launches `expand` and then `domains_METHOD` once for each pair, with
the engine's own choices, and prints the domains and the mean rounds of a sample of them: the
profiler's instruction counts over these give the table INSTRUCTIONS of hrcase/bench.py.
`variants` times the same launch with other packet lengths, block sizes and register caps; the
count of failing domains must be the same in all.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hrcase.domain import split
from hrcase.engine import Block
from hrcase.engine.cuda import driver
from hrcase.engine.lane import COUNTERS, MOST_PACKET_LOG2, THREADS
from hrcase.engine.lines import lines_of_run
from hrcase.formats import FORMATS, scale
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec, interval
from hrcase.toolchain import source_directory

DOMAINS_LOG2, BITS, REPEATS = 25, 44, 5
SAMPLED_RUNS = 32


def block_of(domain_log2: int) -> Block:
    """2^DOMAINS_LOG2 domains of 2^domain_log2 arguments of exp, from 1 on."""
    double = FORMATS["binary64"]
    region = interval(double, scale(1, 0), scale(2, 0), "1 <= x < 2")
    spec = SearchSpec("exp", double, double, BITS, "all", region)
    piece = next(piece for piece in split(spec) if piece.rule is Rule.SEARCHED)
    planned = next_block(spec, piece, piece.lo, Tuning(domain_log2))
    if planned.block is None:
        raise SystemExit("no block at 1; mend block_of")
    length = 1 << DOMAINS_LOG2 + planned.block.domain_log2
    return replace(planned.block, hi=planned.block.lo + length)


@dataclass
class Bed:
    """A device with room for one launch."""

    cuda: Any
    arch: str
    block: Block

    def __post_init__(self) -> None:
        self.domains = 1 << DOMAINS_LOG2
        self.runs = self.domains >> self.block.run_log2 - self.block.domain_log2
        self.cubics = self.cuda.mem_alloc(64 * self.runs)
        self.failing = self.cuda.mem_alloc(8 * self.domains)
        self.counters = self.cuda.mem_alloc(8 * len(COUNTERS))

    def module(self, *options: str) -> Any:
        """The kernels of the block's shape, with further options for nvcc."""
        shape = (f"-DDEGREE={self.block.degree}", f"-DLIMBS={self.block.limbs}")
        with tempfile.TemporaryDirectory() as directory:
            cubin = Path(directory) / "kernels.cubin"
            command = ["nvcc", f"-arch={self.arch}", "-cubin", "-O3", "-std=c++17", *shape]
            source = str(source_directory() / "kernels.cu")
            subprocess.run([*command, *options, "-o", str(cubin), source], check=True)
            return self.cuda.module_from_buffer(cubin.read_bytes())

    def launch(
        self, module: Any, method: str, packet_log2: int, threads: int
    ) -> tuple[float, int, int]:
        """Seconds of domains_METHOD; domains tested; domains that failed."""
        block = np.frombuffer(self.block.packed(), dtype=np.uint64)
        runs, one = np.uint64(self.runs), (1, 1, 1)
        module.get_function("clear")(self.counters, block=one, grid=(1, 1))
        grid = (-(-self.runs // THREADS), 1)
        shape = (THREADS, 1, 1)
        module.get_function("expand")(block, runs, self.cubics, block=shape, grid=grid)
        packets = self.domains >> packet_log2
        kernel = module.get_function(f"domains_{method}")
        begin, end = self.cuda.Event(), self.cuda.Event()
        begin.record()
        kernel(
            *(block, self.cubics, runs, np.int32(packet_log2)),
            *(self.failing, np.uint64(self.domains), self.counters),
            block=(threads, 1, 1),
            grid=(-(-packets // threads), 1),
        )
        end.record()
        end.synchronize()
        counters = np.empty(len(COUNTERS), dtype=np.uint64)
        self.cuda.memcpy_dtoh(counters, self.counters)
        return end.time_since(begin) / 1e3, int(counters[0]), int(counters[1])


def mean_rounds(block: Block, method: str) -> float:
    """Mean rounds of the domains of some runs, spread over the block."""
    runs = -(-(block.hi - block.lo) >> block.run_log2)
    sample = range(0, runs, max(1, runs // SAMPLED_RUNS))
    tests = [lines_of_run(block, run, doubles=True).test(method)[1] for run in sample]
    return float(np.concatenate(tests).mean())


def once(cuda: Any, arch: str, method: str, domain_log2: int) -> None:
    """One launch with the engine's choices."""
    bed = Bed(cuda, arch, block_of(domain_log2))
    seconds, tested, failed = bed.launch(bed.module(), method, MOST_PACKET_LOG2, THREADS)
    rounds = mean_rounds(bed.block, method)
    print(f"{method}, N = 2^{domain_log2}: {tested} domains, {failed} fail, {rounds:.3f} rounds")
    print(f"  {seconds:.6f} s by events, packets of 2^{MOST_PACKET_LOG2}")


def variants(cuda: Any, arch: str) -> None:
    """Packet lengths, block sizes and register caps, for both tests."""
    bed = Bed(cuda, arch, block_of(16))
    for registers in (0, 64, 56, 48):
        module = bed.module(*([f"-maxrregcount={registers}"] if registers else []))
        for method in ("regular", "lefevre"):
            used = module.get_function(f"domains_{method}").num_regs
            for packet_log2 in (4, 5, 6, 7) if registers == 0 else (6,):
                for threads in (64, 128, 256):
                    choice = (module, method, packet_log2, threads)
                    print(
                        f"{method} registers {used} packets 2^{packet_log2} threads {threads}:",
                        best(bed, *choice),
                    )


def best(bed: Bed, module: Any, method: str, packet_log2: int, threads: int) -> str:
    """The best of some launches, in words."""
    answers = [bed.launch(module, method, packet_log2, threads) for _ in range(REPEATS)]
    seconds = min(answer[0] for answer in answers)
    domains, failed = answers[0][1:]
    if domains != bed.domains or len({answer[1:] for answer in answers}) != 1:
        raise SystemExit(f"the counts differ: {answers}; no time means anything")
    return f"{domains / seconds:.4g} domains/s, {failed} fail"


def obey(cuda: Any, device: Any, words: list[str]) -> None:
    """Do what the command line says; the device's context is current."""
    arch = "sm_{}{}".format(*device.compute_capability())
    print("on", device.name())
    if words[0] == "variants":
        variants(cuda, arch)
    for method, domain_log2 in zip(words[1::2], words[2::2], strict=True):
        once(cuda, arch, method, int(domain_log2))


def main() -> None:
    """Run on the first device."""
    words = sys.argv[1:]
    if words[:1] not in (["variants"], ["once"]):
        raise SystemExit("give: variants, or: once METHOD DOMAIN_LOG2 ...")
    cuda: Any = driver()
    device = cuda.Device(0)
    context = device.retain_primary_context()
    context.push()
    try:
        obey(cuda, device, words)
    finally:
        context.pop()


if __name__ == "__main__":
    main()
