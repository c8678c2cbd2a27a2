"""The CUDA engine: blocks run on a device through PyCUDA, several at a time.

A block is one unit: all its kernels go onto one stream, later phases read on the device what
earlier ones left, and the host waits once, for the counters. Threads that call `run` at the same
time have a stream and buffers each (hrcase.engine.lane), so the device goes on working while one of
them copies.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import METHODS, Block, Counts, method_number, packed_bytes
from hrcase.engine.kernels import Kernels
from hrcase.engine.lane import DeviceError, Lane, Unit, counts_of
from hrcase.engine.trust import require_found, sentinel_of
from hrcase.errors import NoDevice, SelfTestFailed, TryAgain
from hrcase.selftest import known_answers
from hrcase.toolchain import compile_device, compile_walks

SLICE_DOMAINS = 1 << 25
LANES = 6
BLOCKS_A_MULTIPROCESSOR = 8


def driver() -> ModuleType:
    """PyCUDA's driver module, initialised.

    Raises:
        NoDevice: PyCUDA, NVIDIA's driver or a device is missing; says what to install.
    """
    try:
        import pycuda.driver as cuda
    except ModuleNotFoundError as error:
        raise NoDevice(
            f"PyCUDA cannot be imported ({error}); it runs the kernels on a CUDA device; "
            'install it with pip install "hrcase[cuda]", or take --device cpu'
        ) from error
    except ImportError as error:
        raise NoDevice(
            f"PyCUDA is installed but cannot be loaded ({error}); it needs NVIDIA's driver; "
            "install the driver, or take --device cpu"
        ) from error
    try:
        cuda.init()
        count = cuda.Device.count()
    except cuda.Error as error:
        raise NoDevice(f"no CUDA device answers ({error}); take --device cpu") from error
    if count == 0:
        raise NoDevice("there is no CUDA device on this machine; take --device cpu")
    module: ModuleType = cuda
    return module


class CudaEngine:
    """One CUDA device.

    Attributes:
        name: what the user calls it, with the device's own name.
        workers: calls of `run` at a time that keep the device busy.
        slice_domains: domain tests in one call.
        is_device: True: the processors are free while it works.
        timed: set it to have the times below taken, which costs the host some.
        stage_seconds: device time by kernel.
        busy_seconds: device time with at least one block under way. Blocks overlap, so the stages
            sum to more. Taken as the blocks end, which may count less than it is, never more.
        fractions: Farey fractions walked over.
        ordinal: N of cuda:N.
    """

    is_device = True
    methods: tuple[str, ...] = METHODS

    def __init__(self, ordinal: int = 0) -> None:
        self.cuda: Any = driver()
        count = self.cuda.Device.count()
        if not 0 <= ordinal < count:
            raise NoDevice(
                f"there is no device cuda:{ordinal}: this machine has {count}; "
                f"take --device cuda:0{f' to cuda:{count - 1}' if count > 1 else ''}"
            )
        self.timed = False
        self.ordinal, self.device = ordinal, self.cuda.Device(ordinal)
        self.name = f"cuda:{ordinal} ({self.device.name()})"
        self.workers, self.slice_domains = LANES, SLICE_DOMAINS
        self.stage_seconds: defaultdict[str, float] = defaultdict(float)
        self._context = self.device.retain_primary_context()
        self._grid = BLOCKS_A_MULTIPROCESSOR * self.device.multiprocessor_count
        self._modules: dict[tuple[int, int], Kernels] = {}
        self._walks: Any = None
        self._trusted: set[tuple[int, int]] = set()
        self._idle: list[Lane] = []
        self._lock = threading.RLock()
        self.busy_seconds = self._busy_until = 0.0
        self.fractions = 0
        with self._current():
            self._origin = self.cuda.Event()
            self._origin.record()

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        """Every candidate u of the block, increasing, and what it took to find them.

        Raises:
            ValueError: as hrcase.engine.cpu.run.
            TryAgain: the device is out of memory.
            DeviceError: a CUDA call failed.
            WrongAnswer: a check of docs/faults.md fails.
            SelfTestFailed: the kernels of this shape give a wrong answer on this device.
        """
        method_number(method)
        block.require_method(method)
        with self._current():
            self._require_trust(block.degree, block.limbs)
            answer = self._run(block, method)
            if method != "farey":  # which has it among its runs
                sentinel, u = sentinel_of(block, method)
                require_found(u, self._run(sentinel, method)[0], self.name)
            return answer

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        """Compile the kernels of these shapes, side by side; raises ToolchainError."""
        arch = self._arch
        with ThreadPoolExecutor() as pool:
            compiled = [pool.submit(compile_device, *shape, arch) for shape in shapes]
            compiled.append(pool.submit(compile_walks, arch))
            for cubin in compiled:
                cubin.result()

    @property
    def _arch(self) -> str:
        """What nvcc calls the device's architecture."""
        return "sm_{}{}".format(*self.device.compute_capability())

    def close(self) -> None:
        """Free the lanes and the modules, in the context that they live in."""
        self._context.push()
        try:
            self._idle.clear()
            self._modules.clear()
            self._walks = None
            del self._origin
        finally:
            self._context.pop()

    def _run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        kernels = self._module(block.degree, block.limbs)
        unit = Unit(block, method)
        lane = self._lane()
        while True:
            lane.launch(kernels, unit, self.timed)
            counters = lane.wait(unit)
            self._account(lane, counters)
            if not lane.grow(counters):
                break
        found = lane.candidates(unit, counters, self.name)
        with self._lock:
            self._idle.append(lane)
        return found, counts_of(counters, len(found))

    def _account(self, lane: Lane, counters: dict[str, int]) -> None:
        """Add the device time of a lane's last unit, and its fractions."""
        with self._lock:
            self.fractions += counters["fractions"]
        if not lane.timed:
            return
        begin, end = lane.span(self._origin)
        with self._lock:
            for stage, seconds in lane.seconds():
                self.stage_seconds[stage] += seconds
            if end > self._busy_until:
                self.busy_seconds += end - max(begin, self._busy_until)
                self._busy_until = end

    def _require_trust(self, degree: int, limbs: int) -> None:
        """Run the self-test of a kernel shape before its first use."""
        with self._lock:
            if (degree, limbs) in self._trusted:
                return
            block, expected = known_answers(degree, limbs)
            for method in self.methods:
                found, _ = self._run(block, method)
                if list(found) != expected:
                    raise SelfTestFailed(
                        f"the kernels of degree {degree} with {limbs} limbs, method {method}, give "
                        f"a wrong answer on {self.name}: {len(found)} candidates where "
                        f"{len(expected)} are known; do not use this device; take --device cpu"
                    )
            self._trusted.add((degree, limbs))

    def _module(self, degree: int, limbs: int) -> Kernels:
        with self._lock:
            if (degree, limbs) not in self._modules:
                arch = self._arch
                if self._walks is None:
                    self._walks = self.cuda.module_from_buffer(compile_walks(arch).read_bytes())
                shaped = self.cuda.module_from_buffer(
                    compile_device(degree, limbs, arch).read_bytes()
                )
                size = packed_bytes(degree, limbs)
                self._modules[degree, limbs] = Kernels(shaped, self._walks, size)
            return self._modules[degree, limbs]

    def _lane(self) -> Lane:
        """An idle lane, or a new one. One whose block failed does not come back."""
        with self._lock:
            return self._idle.pop() if self._idle else Lane(self.cuda, self._grid)

    @contextmanager
    def _current(self) -> Iterator[None]:
        """The device's primary context in the calling thread, and its errors in our words."""
        self._context.push()
        try:
            yield
        except self.cuda.MemoryError as error:
            raise TryAgain(
                f"{self.name} is out of memory ({error}); other programs hold it; free it "
                "(nvidia-smi lists them) and run the same command again"
            ) from error
        except self.cuda.Error as error:
            raise DeviceError(
                f"{self.name} failed: {error}; run the same command again, on another device or "
                "with --device cpu if it fails again"
            ) from error
        finally:
            self._context.pop()
