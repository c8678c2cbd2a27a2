"""PyCUDA's driver module with the device's own kernels, run on the CPU (tests/emulated/).

Where fake_cuda answers for the kernels, here cuda/kernels.cu and cuda/walks.cu themselves run,
compiled by g++, each warp lane by lane: the engine's launches, the kernels' lists, queues and
chunks are tested without a device.
"""

from __future__ import annotations

import ctypes
import re
import struct
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fake_cuda import ANY_SHAPE, FakeCuda, Function, Module, Shape, install

from hrcase.toolchain import source_directory

HERE = Path(__file__).parent / "emulated"


@cache
def _directory() -> TemporaryDirectory[str]:
    """For what is compiled; it goes when Python ends."""
    return TemporaryDirectory(prefix="hrcase-emulated-")


@cache
def library(degree: int, limbs: int) -> ctypes.CDLL:
    """All kernels of one shape for the CPU."""
    target = Path(_directory().name) / f"{degree}-{limbs}.so"
    options = ("-O1", "-march=native", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared")
    shape = (f"-DDEGREE={degree}", f"-DLIMBS={limbs}")
    paths = ("-I", str(source_directory()), "-I", str(HERE), "-o", str(target))
    source = str(HERE / "kernels.cpp")
    subprocess.run(("g++", *options, "-fPIC", *shape, *paths, source), check=True)
    return ctypes.CDLL(str(target))


class EmulatedModule(Module):
    """The kernels of one shape, or those without."""

    def __init__(self, cuda: FakeCuda, degree: int, limbs: int) -> None:
        self.cuda, self.kernels = cuda, library(degree, limbs)

    def get_function(self, name: str) -> Function:
        function = getattr(self.kernels, f"launch_{name}")
        function.restype = None

        def launch(grid: Shape, block: Shape, kinds: str, arguments: tuple[Any, ...]) -> None:
            self.cuda.launched.append(name)
            letters = re.findall(r"\d*\D", kinds)
            packed = map(struct.pack, letters, arguments)
            kept = [ctypes.create_string_buffer(value) for value in packed]
            pointers = (ctypes.c_void_p * len(kept))(*map(ctypes.addressof, kept))
            function(ctypes.c_uint(grid[0]), ctypes.c_uint(block[0]), pointers)

        return Function(launch)


class EmulatedCuda(FakeCuda):
    """The module."""

    def module_from_buffer(self, cubin: bytes) -> Module:
        return EmulatedModule(self, *(cubin or ANY_SHAPE))


def emulate(monkeypatch: pytest.MonkeyPatch, directory: Path) -> FakeCuda:
    """Let hrcase.engine.cuda find an emulated device."""
    return install(monkeypatch, directory, EmulatedCuda())
