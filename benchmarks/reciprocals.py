"""Are the approximate reciprocals of a CUDA device as good as docs/farey.md takes them to be?

    python benchmarks/reciprocals.py

Lemma 3 there asks for a relative error of at most 2^-19. The instructions read the upper half of a
double, so that all they can be asked is tried: 2^20 mantissas, all exponents from -70 to 140.
Lemma 12 asks for 2^-22 of the inverse root of a float; all floats above 2^-125 are tried. Prints
the greatest errors, and exits with 1 if one is larger (1.0 says that a lower half was read).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hrcase.engine.cuda import driver
from hrcase.toolchain import source_directory

MANTISSAS, THREADS = 1 << 20, 128
BOUNDS = {"1/a": 2.0**-19, "1/sqrt(a)": 2.0**-19, "1/sqrt(a) of a float": 2.0**-22}
ALLOWED = 1 + 2.0**-18  # |1 - a z^2|/2 is the error d of a root and d^2/2


def errors_of(cuda: Any, device: Any) -> NDArray[np.float64]:
    """The greatest errors of each of BOUNDS; the device's context is current."""
    source = Path(__file__).with_name("reciprocals.cu")
    with tempfile.TemporaryDirectory() as directory:
        cubin = Path(directory) / "reciprocals.cubin"
        arch = "-arch=sm_{}{}".format(*device.compute_capability())
        options = [arch, "-cubin", "-std=c++17", f"-I{source_directory()}"]
        subprocess.run(["nvcc", *options, "-o", str(cubin), str(source)], check=True)
        kernel = cuda.module_from_buffer(cubin.read_bytes()).get_function("worst_errors")
    errors = np.zeros((len(BOUNDS), MANTISSAS))
    grid = (MANTISSAS // THREADS, 1)
    kernel(cuda.InOut(errors), block=(THREADS, 1, 1), grid=grid)
    greatest: NDArray[np.float64] = errors.max(axis=1)
    return greatest


def main() -> int:
    """Run on the first device."""
    cuda: Any = driver()
    device = cuda.Device(0)
    context = device.retain_primary_context()
    context.push()
    try:
        errors = errors_of(cuda, device)
    finally:
        context.pop()
    print("on", device.name())
    for name, worst in zip(BOUNDS, errors, strict=True):
        print(f"{name}: relative error at most {worst:.4g} = 2^{np.log2(worst):.3f}")
    return int(any(errors > ALLOWED * np.array(list(BOUNDS.values()))))


if __name__ == "__main__":
    sys.exit(main())
