"""A kernel compiled for one shape beside one with its limb count at run time, on a CUDA device.

    python benchmarks/generic_limbs.py

Both expand the same block to the cubics of its runs (cuda/polynomial.cuh); the results are
compared word by word, then both are timed by turns with the device's own clock. The generic
kernel is compiled here, with the options of the specialised one.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from gmpy2 import mpq

from hrcase.engine.cuda import driver
from hrcase.formats import scale
from hrcase.plan import Tuning, encode
from hrcase.taylor import Stretch, TaylorModel
from hrcase.toolchain import compile_device, source_directory

RUNS_LOG2, RUN_LOG2, TURNS, THREADS = 20, 8, 20, 128
SHAPES = ((3, 2), (8, 4), (8, 5), (8, 7))


def packed_block(degree: int, limbs: int) -> bytes:
    """A block of 2^RUNS_LOG2 runs whose coefficients fill all limbs; its windows do not matter."""
    stretch = Stretch(0, 0, -(1 << RUNS_LOG2 + RUN_LOG2 - 1), 1 << RUNS_LOG2 + RUN_LOG2 - 1)
    golden = scale(0x9E3779B97F4A7C15, -64)
    coefficients = [golden / 3 ** (j + 1) * scale(1, -31 * j) for j in range(degree + 1)]
    model = TaylorModel(tuple((c, c) for c in coefficients), mpq(0))
    planned = encode(0, stretch, model, mpq(1, 1 << 20), limbs, Tuning(6))
    if planned is None or planned.block is None:
        raise SystemExit(f"no block of degree {degree} with {limbs} limbs; mend packed_block")
    words = bytearray(planned.block.packed())
    words[-16:-8] = RUN_LOG2.to_bytes(8, "little")
    return bytes(words)


def generic_module(cuda: Any, arch: str) -> Any:
    """Compile and load generic_limbs.cu."""
    source = Path(__file__).with_name("generic_limbs.cu")
    with tempfile.TemporaryDirectory() as directory:
        cubin = Path(directory) / "generic.cubin"
        options = [f"-arch={arch}", "-cubin", "-O3", "-std=c++17", f"-I{source_directory()}"]
        subprocess.run(["nvcc", *options, "-o", str(cubin), str(source)], check=True)
        return cuda.module_from_buffer(cubin.read_bytes())


def best_seconds(cuda: Any, launches: list[Any]) -> list[float]:
    """The best of TURNS for each launch, by turns."""
    best = [float("inf")] * len(launches)
    for _ in range(TURNS):
        for i, launch in enumerate(launches):
            begin, end = cuda.Event(), cuda.Event()
            begin.record()
            launch()
            end.record()
            end.synchronize()
            best[i] = min(best[i], end.time_since(begin) / 1e3)
    return best


def compare(cuda: Any, generic_kernels: Any, arch: str, degree: int, limbs: int) -> None:
    """Time both kernels on one shape, once their cubics are known to be equal."""
    module = cuda.module_from_buffer(compile_device(degree, limbs, arch).read_bytes())
    special, runs = module.get_function("expand"), 1 << RUNS_LOG2
    generic = generic_kernels.get_function("expand_generic")
    block = np.frombuffer(packed_block(degree, limbs), dtype=np.uint64)
    on_device = cuda.to_device(block)
    cubics = [cuda.mem_alloc(64 * runs) for _ in range(2)]
    grid, threads = (runs // THREADS, 1), (THREADS, 1, 1)
    counts = np.int32(degree), np.int32(limbs)

    def launch_special() -> None:
        special(block, np.uint64(runs), cubics[0], block=threads, grid=grid)

    def launch_generic() -> None:
        generic(on_device, *counts, np.uint64(runs), cubics[1], block=threads, grid=grid)

    launch_special()
    launch_generic()
    ours, theirs = np.empty((2, 8 * runs), dtype=np.uint64)
    for answer, memory in ((ours, cubics[0]), (theirs, cubics[1])):
        cuda.memcpy_dtoh(answer, memory)
    if not np.array_equal(ours, theirs) or not ours.any():
        raise SystemExit(f"the cubics differ (degree {degree}, {limbs} limbs); nothing was timed")
    seconds = best_seconds(cuda, [launch_special, launch_generic])
    rates = [f"{runs / s:.3g}" for s in seconds]
    print(
        f"degree {degree}, {limbs} limbs: specialised {rates[0]} runs/s, generic {rates[1]} "
        f"runs/s, ratio {seconds[1] / seconds[0]:.1f}"
    )


def compare_all(cuda: Any, device: Any) -> None:
    """Compare every shape; the device's context is current."""
    arch = "sm_{}{}".format(*device.compute_capability())
    print("on", device.name())
    generic = generic_module(cuda, arch)
    for degree, limbs in SHAPES:
        compare(cuda, generic, arch, degree, limbs)


def main() -> None:
    """Run on the first device."""
    cuda: Any = driver()
    device = cuda.Device(0)
    context = device.retain_primary_context()
    context.push()
    try:
        compare_all(cuda, device)
    finally:
        context.pop()


if __name__ == "__main__":
    main()
