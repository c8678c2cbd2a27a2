"""What there is to compute on: the processors, and each CUDA device with what it needs."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hrcase.engine.cuda import driver
from hrcase.errors import NoDevice
from hrcase.toolchain import compiler_release

LEAST_CAPABILITY = (8, 0)
"""The kernels add over a warp in one instruction (__reduce_add_sync), which older devices lack."""

SCHEDULERS = 4
LANES = 32
"""A multiprocessor of compute capability 7.0 or more has four schedulers; each issues one
instruction a clock, to the 32 lanes of a warp."""

_INSTRUCTION_SETS = (
    *("avx2", "fma", "bmi2", "adx", "avx512f", "avx512dq", "avx512ifma"),
    *("asimd", "sve", "sve2"),
)
"""Those that speed the kernels up: vectors, fused multiply-add, carry chains."""


@dataclass(frozen=True)
class Compiler:
    """A compiler of the kernels.

    Attributes:
        release: as it names itself; None where it is missing.
        problem: why it cannot be used and what to type; None where it can.
    """

    release: str | None
    problem: str | None


@dataclass(frozen=True)
class Processor:
    """The CPU.

    Attributes:
        model: as the system names it.
        threads: processors that this process may use.
        instruction_sets: those that matter to the kernels.
        compiler: g++.
    """

    model: str
    threads: int
    instruction_sets: tuple[str, ...]
    compiler: Compiler


@dataclass(frozen=True)
class CudaDevice:
    """One CUDA device.

    Attributes:
        ordinal: N of --device cuda:N.
        capability: compute capability (major, minor).
        clock_mhz: highest clock of the multiprocessors.
        memory_total, memory_free: bytes.
        problem: why it cannot be used and what to do; None where it can.
    """

    ordinal: int
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    clock_mhz: float
    memory_total: int
    memory_free: int
    problem: str | None

    @property
    def issue_slots(self) -> float:
        """Instructions of single lanes that it can issue in a second."""
        return self.multiprocessors * SCHEDULERS * LANES * self.clock_mhz * 1e6


@dataclass(frozen=True)
class CudaPlatform:
    """CUDA on this machine.

    Attributes:
        devices: those that the driver lists.
        driver: the CUDA version that the driver supports, such as "13.0".
        pycuda: PyCUDA's version.
        compiler: nvcc.
        problem: why there are no devices and what to type; None where there are.
    """

    devices: tuple[CudaDevice, ...]
    driver: str | None
    pycuda: str | None
    compiler: Compiler
    problem: str | None


def processor() -> Processor:
    """Look at the CPU."""
    fields = _cpuinfo()
    words = (fields.get("flags") or fields.get("Features") or "").split()
    return Processor(
        model=fields.get("model name") or platform.processor() or platform.machine(),
        threads=len(os.sched_getaffinity(0)),
        instruction_sets=tuple(name for name in _INSTRUCTION_SETS if name in words),
        compiler=_compiler("g++"),
    )


def cuda_platform() -> CudaPlatform:
    """Look for CUDA devices; a missing one is an answer, not an error."""
    compiler = _compiler("nvcc")
    try:
        cuda: Any = driver()
    except NoDevice as error:
        return CudaPlatform((), None, None, compiler, str(error))
    import pycuda

    version = cuda.get_driver_version()
    devices = tuple(cuda_device(cuda, n) for n in range(cuda.Device.count()))
    numbers = f"{version // 1000}.{version % 1000 // 10}"
    return CudaPlatform(devices, numbers, pycuda.VERSION_TEXT, compiler, None)


def cuda_device(cuda: Any, ordinal: int) -> CudaDevice:
    """One device, as PyCUDA's driver module shows it."""
    device = cuda.Device(ordinal)
    capability = device.compute_capability()
    total, free, problem = device.total_memory(), 0, None
    try:
        free = _free_memory(cuda, device)
    except cuda.Error as error:
        problem = f"it gives no context ({error}); run nvidia-smi to see what holds it"
    if capability < LEAST_CAPABILITY:
        have, need = (".".join(map(str, pair)) for pair in (capability, LEAST_CAPABILITY))
        problem = f"its compute capability is {have}, the kernels need {need}; take --device cpu"
    return CudaDevice(
        ordinal=ordinal,
        name=device.name(),
        capability=capability,
        multiprocessors=device.multiprocessor_count,
        clock_mhz=device.clock_rate / 1e3,
        memory_total=total,
        memory_free=free,
        problem=problem,
    )


def _free_memory(cuda: Any, device: Any) -> int:
    context = device.retain_primary_context()
    context.push()
    try:
        return int(cuda.mem_get_info()[0])
    finally:
        context.pop()


def _compiler(name: str) -> Compiler:
    try:
        return Compiler(compiler_release(name), None)
    except NoDevice as error:
        return Compiler(None, str(error))


def _cpuinfo() -> dict[str, str]:
    """The first processor's fields; empty where the system has no such file."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}
