"""hrcase libm --library cuda: hrcase/libm/device.cu itself, run by the CPU in a device's place."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from jobs import Captured, hrcase
from numpy.typing import NDArray

from hrcase.errors import NoDevice
from hrcase.libm import device
from hrcase.toolchain import ToolchainError

PRELUDE = """
#include <cmath>
struct Index { unsigned x; };
static Index threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};
#define __global__
"""


Memory = ctypes.Array[ctypes.c_char]


class FakeError(Exception):
    """pycuda.driver.Error."""


def install(monkeypatch: pytest.MonkeyPatch, directory: Path) -> list[str]:
    """A driver whose device is the CPU; what was done to its context."""
    done: list[str] = []
    (directory / "prelude.h").write_text(PRELUDE)

    def compile_cubin(source: Path, arch: str, definitions: tuple[str, ...]) -> Path:
        assert arch == "sm_90"
        target = directory / "device.so"
        options = ("-O1", "-shared", "-fPIC", "-x", "c++", "-include", str(directory / "prelude.h"))
        command = ("g++", *options, *definitions, "-o", str(target), str(source))
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise ToolchainError(made.stderr)
        return target

    def evaluate(x: Any, y: Any, count: np.uint32, block: Any, grid: Any) -> None:
        assert done[-1] == "push"
        assert block[0] * grid[0] >= count > block[0] * (grid[0] - 1)
        library = ctypes.CDLL(str(directory / "device.so"))
        library.evaluate(x, y, ctypes.c_uint(int(count)))

    context = SimpleNamespace(push=lambda: done.append("push"), pop=lambda: done.append("pop"))
    monkeypatch.setattr(device, "driver", lambda: FakeDriver(context, evaluate))
    monkeypatch.setattr(device, "compile_cubin", compile_cubin)
    return done


class FakeDriver:
    """pycuda.driver: memory is the CPU's."""

    Error = FakeError

    def __init__(self, context: SimpleNamespace, evaluate: Callable[..., None]) -> None:
        self.context, self.evaluate = context, evaluate

    def Device(self, ordinal: int) -> SimpleNamespace:
        return SimpleNamespace(
            name=lambda: "Fake GPU",
            compute_capability=lambda: (9, 0),
            retain_primary_context=lambda: self.context,
        )

    def module_from_buffer(self, cubin: bytes) -> SimpleNamespace:
        return SimpleNamespace(get_function=lambda name: self.evaluate)

    def mem_alloc(self, size: int) -> Memory:
        return (ctypes.c_char * size)()

    def memcpy_htod(self, memory: Memory, data: bytes) -> None:
        ctypes.memmove(memory, data, len(data))

    def memcpy_dtoh(self, to: NDArray[np.uint8], memory: Memory) -> None:
        to[:] = np.frombuffer(bytes(memory), dtype=np.uint8)


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.wc"
    path.write_text("".join(f"{n}\n" for n in range(1, 700)))
    return str(path)


def asked(capsys: Captured, *words: str) -> tuple[int, list[str], str]:
    code, out, err = hrcase(capsys, "libm", *words, "--library", "cuda")
    return code, out.splitlines(), err


@pytest.mark.parametrize(("name", "symbol"), [("binary64", "sqrt"), ("binary32", "sqrtf")])
def test_to_nearest_alone(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
    tmp_path: Path,
    cases: str,
    name: str,
    symbol: str,
) -> None:
    done = install(monkeypatch, tmp_path)
    code, lines, err = asked(capsys, "sqrt", "--cases", cases, "--format", name)
    assert (code, lines) == (0, [])
    assert f"library   CUDA's functions on Fake GPU, function {symbol}, {name}" in err
    assert "RN        0 of 699 misrounded" in err
    assert "RU" not in err
    assert done == ["push", "pop"] * 2  # one argument alone, then the others


def test_misroundings(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path, cases: str
) -> None:
    install(monkeypatch, tmp_path)
    code, lines, _ = asked(capsys, "cbrt", "--cases", cases, "--symbol", "sqrt")
    assert code == 0
    assert len(lines) == 698  # all but 1
    assert lines[6] == ("FAIL f=cbrt x=0x1p+3 got=0x1.6a09e667f3bcdp+1 want=0x1p+1 mode=RN k=inf")


def test_what_devices_do_not_have(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path, cases: str
) -> None:
    install(monkeypatch, tmp_path)
    for words, why in (
        (("--format", "x87"), "CUDA has no long double"),
        (("--symbol", "cos -o x"), "is no name of a function"),
    ):
        code, lines, err = asked(capsys, "cos", "--cases", cases, *words)
        assert (code, lines) == (2, [])
        assert why in err


def fails(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_function_that_cuda_does_not_have(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path, cases: str
) -> None:
    install(monkeypatch, tmp_path)
    message = 'nvcc fails: device.cu(9): error: identifier "nope" is undefined; to see it all'
    monkeypatch.setattr(device, "compile_cubin", fails(ToolchainError(message)))
    code, lines, err = asked(capsys, "cos", "--cases", cases, "--symbol", "nope")
    assert (code, lines) == (2, ["MISSING f=cos symbol=nope library=cuda"])
    assert "CUDA has no function nope" in err
    assert asked(capsys, "cos", "--cases", cases)[0] == 9  # nvcc fails for another reason


def test_a_device_that_fails_and_none(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path, cases: str
) -> None:
    done = install(monkeypatch, tmp_path)
    monkeypatch.setattr(FakeDriver, "mem_alloc", fails(FakeError("lost")))
    code, lines, err = asked(capsys, "sqrt", "--cases", cases)
    assert (code, lines, done) == (1, [], ["push", "pop"])
    assert "CUDA's functions on Fake GPU failed: lost" in err

    monkeypatch.setattr(device, "driver", fails(NoDevice("there is no CUDA device here")))
    assert asked(capsys, "sqrt", "--cases", cases)[0] == 9
