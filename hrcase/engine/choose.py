"""From the words of `--device` to an engine."""

from __future__ import annotations

import ctypes
import re

from hrcase.engine import Engine
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import InputError, NoDevice

_CUDA = re.compile(r"cuda(?::(\d+))?")


def engine_for(device: str, threads: int | None = None) -> tuple[Engine, str | None]:
    """The engine, and a line to tell the user where "auto" could not take a device that is there.

    Args:
        device: "auto" (a CUDA device if there is one, else the CPU), "cpu", "cuda" or "cuda:N".
        threads: worker threads of the CPU engine; None for all processors.

    Raises:
        InputError: no such word.
        NoDevice: a device was asked for by name and cannot be used.
    """
    if device == "cpu":
        return CpuEngine(threads), None
    if device == "auto":
        return _automatic(threads)
    match = _CUDA.fullmatch(device)
    if match is None:
        raise InputError(f"no device {device!r}; give --device auto, cpu, cuda or cuda:N")
    from hrcase.engine.cuda import CudaEngine

    return CudaEngine(int(match[1] or 0)), None


def _automatic(threads: int | None) -> tuple[Engine, str | None]:
    if not has_cuda_device():
        return CpuEngine(threads), None
    from hrcase.engine.cuda import CudaEngine

    try:
        return CudaEngine(), None
    except NoDevice as error:
        return CpuEngine(threads), f"taking the CPU, though a CUDA device is there: {error}"


def has_cuda_device() -> bool:
    """Whether NVIDIA's driver answers and has a device; asks the driver, not PyCUDA."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return (
            driver.cuInit(0) == 0
            and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
            and (count.value > 0)
        )
    except (OSError, AttributeError):
        return False
