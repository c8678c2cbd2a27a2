"""Compile every kernel shape for one GPU architecture: python .ci/compile_kernels.py sm_90.

Any warning is an error. So is any spill or stack frame: the kernels are fast because all that they
work on lives in registers, and a compiler that gives that up does so without a word. The kernel
that asks CUDA's own functions (hrcase/libm) is compiled too; what those put on a stack is theirs.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from hrcase.libm.device import SOURCE as LIBM
from hrcase.plan import DEGREES, LIMB_STEP, MOST_LIMBS
from hrcase.toolchain import source_directory

SHAPES = tuple(product(DEGREES, range(LIMB_STEP, MOST_LIMBS + 1, LIMB_STEP)))
"""(degree, 64-bit limbs) pairs: all that a plan may ask for."""

_KERNEL = re.compile(
    r"Compiling entry function '(?P<name>\w+)' for '\w+'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers",
    re.DOTALL,
)


def compiler_report(source: Path, arch: str, *shape: str) -> str:
    """What nvcc and ptxas say of a source; exits when it does not compile without warnings."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [
                *("nvcc", f"-arch={arch}", "-cubin", "-O3", "-std=c++17"),
                *("-Werror", "all-warnings", "-Xptxas", "-v"),
                *shape,
                *("-o", str(Path(directory) / "kernels.cubin"), str(source)),
            ],
            capture_output=True,
            text=True,
        )
    if done.returncode:
        sys.exit(f"{done.stderr}nvcc failed for {source.name} {' '.join(shape)}, {arch}")
    return done.stderr


def check(report: str, shape: str) -> int:
    """Print one line a kernel; how many of them leave the registers."""
    kernels = list(_KERNEL.finditer(report))
    if len(kernels) != report.count("Compiling entry function") or not kernels:
        sys.exit(f"{report}cannot read this report of ptxas ({shape}); mend .ci/compile_kernels.py")
    bad = 0
    for kernel in kernels:
        left = sum(int(kernel[what]) for what in ("stack", "stores", "loads"))
        bad += left > 0
        verdict = f"{left} bytes of stack and spills" if left else "no stack, no spills"
        print(f"{shape} {kernel['name']}: {kernel['registers']} registers, {verdict}")
    return bad


def main(arch: str) -> None:
    """Compile and check all shapes; exits with 1 when a kernel leaves the registers."""
    cuda = source_directory()
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # of nvcc's own processes
        walks = pool.submit(compiler_report, cuda / "walks.cu", arch)
        shaped = [
            pool.submit(compiler_report, cuda / "kernels.cu", arch, f"-DDEGREE={d}", f"-DLIMBS={n}")
            for d, n in SHAPES
        ]
        of_libm = [
            pool.submit(compiler_report, LIBM, arch, f"-DFUNCTION={name}", f"-DREAL={real}")
            for name, real in (("cos", "double"), ("cosf", "float"))
        ]
        bad = check(walks.result(), f"{arch} walks")
        for (degree, limbs), report in zip(SHAPES, shaped, strict=True):
            bad += check(report.result(), f"{arch} degree {degree} limbs {limbs}")
        for compiled in of_libm:
            compiled.result()
        print(f"{arch} functions of CUDA: compile")
    if bad:
        sys.exit(f"{bad} kernels use a stack frame or spill registers")


if __name__ == "__main__":
    main(sys.argv[1])
