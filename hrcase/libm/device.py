"""CUDA's own functions, called on a device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrcase.engine.cuda import driver
from hrcase.engine.lane import DeviceError
from hrcase.errors import InputError
from hrcase.libm.child import Answers, MissingFunction
from hrcase.libm.encoding import CType
from hrcase.roundings import Number
from hrcase.toolchain import ToolchainError, compile_cubin

CUDA = "cuda"
"""What --library calls them."""

SOURCE = Path(__file__).with_name("device.cu")
THREADS = 256


class DeviceFunction:
    """A function of CUDA's mathematics library (hrcase.libm.misroundings.Library).

    Attributes:
        modes: to nearest alone: the functions have no others.
    """

    modes: tuple[str, ...] = ("RN",)

    def __init__(self, symbol: str, c_type: CType) -> None:
        """Compile it for the first device.

        Raises:
            InputError: devices have no such type.
            MissingFunction: CUDA has no such function.
            NoDevice, ToolchainError: there is no device, or no nvcc.
        """
        if c_type.has_leading_bit:
            raise InputError("CUDA has no long double; give --format binary32 or binary64")
        if not re.fullmatch(r"[A-Za-z_]\w*", symbol):
            raise InputError(f"{symbol!r} is no name of a function; give one, such as cos or cosf")
        self.c_type, self._cuda = c_type, driver()
        device: Any = self._cuda.Device(0)
        self.name = f"CUDA's functions on {device.name()}"
        self._context = device.retain_primary_context()
        arch = "sm_{}{}".format(*device.compute_capability())
        try:
            cubin = compile_cubin(SOURCE, arch, (f"-DFUNCTION={symbol}", f"-DREAL={c_type.name}"))
        except ToolchainError as error:
            if f'identifier "{symbol}" is undefined' not in str(error):
                raise
            raise MissingFunction(
                f"CUDA has no function {symbol}; give the name that it has there with --symbol"
            ) from error
        self._cubin = cubin.read_bytes()

    def ask(self, arguments: Sequence[Number], most_faults: int) -> Answers:
        """The function at each argument.

        Raises:
            DeviceError: a CUDA call failed; the device is in no state to say at which argument.
        """
        del most_faults
        packed, cuda = self.c_type.pack(arguments), self._cuda
        results = np.zeros(len(packed), dtype=np.uint8)
        self._context.push()
        try:
            evaluate = cuda.module_from_buffer(self._cubin).get_function("evaluate")
            given, taken = cuda.mem_alloc(len(packed)), cuda.mem_alloc(len(packed))
            cuda.memcpy_htod(given, packed)
            grid = (-(-len(arguments) // THREADS), 1)
            evaluate(given, taken, np.uint32(len(arguments)), block=(THREADS, 1, 1), grid=grid)
            cuda.memcpy_dtoh(results, taken)
        except cuda.Error as error:
            raise DeviceError(
                f"{self.name} failed: {error}; run the same command again, with fewer cases if it "
                "fails again"
            ) from error
        finally:
            self._context.pop()
        return Answers(list(self.c_type.unpack(results.tobytes())), [], len(arguments))
