"""The engines: they take a block and give its candidates. What a block is, stands here.

A *block* is a stretch of consecutive arguments u with one polynomial

    P(u) = C_0 + C_1 u + ... + C_D u^D  modulo 1,

the C_j being integers in units of 2^-(64 limbs). All arithmetic on P is exact. A *candidate* is a
u of the block with |P(u) cmod 1| <= window, so the set of candidates depends on the block alone,
not on method, engine, device or number of threads. `hrcase.engine.cpu` runs blocks on the CPU.

Every engine has the method "scan" (the cubic of each run, stepped through every argument),
"lefevre" and "regular" (a three-distance test on each domain, then on subdomains of an eighth,
then the scan of those that fail), and "farey" (the Farey walk along each run).
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METHODS = ("scan", "lefevre", "regular", "farey")  # the kernels number them in this order

_WORD = (1 << 64) - 1
_REST = struct.Struct("<4Q2q2Q")  # of a packed block, behind its long numbers


@dataclass(frozen=True)
class Block:
    """One stretch of arguments, its polynomial and the windows proved for it.

    Whoever makes a block vouches for the windows: `run_window` covers `window`, the polynomial's
    terms above the third and the coefficients' bits below 2^-128; `domain_windows` cover
    `run_window` and what the line of a domain leaves out (lemma in cuda/tabulate.cuh).
    """

    degree: int
    limbs: int
    coefficients: tuple[int, ...]  # C_0 .. C_D, any integers; taken modulo 2^(64 limbs)
    window: int  # in 2^-(64 limbs)
    lo: int  # lo <= u < hi
    hi: int
    run_log2: int  # a run is 2^run_log2 consecutive u; hi may cut the last one
    run_window: int  # in 2^-128: window of the run's cubic
    domain_log2: int  # a domain is 2^domain_log2 arguments; method "scan" does not use it
    domain_windows: tuple[int, int]  # in 2^-64: for a domain, for an eighth of it
    group_log2: int | None = None
    """2^group_log2 runs may share a polynomial of degree 5 (cuda/polynomial.cuh, Group), whose
    errors `run_window` covers; None where they may not."""

    def __post_init__(self) -> None:
        """Raises ValueError for a block that the kernels cannot take."""
        _require(self.degree >= 1 and self.limbs >= 2, "degree >= 1 and limbs >= 2")
        _require(len(self.coefficients) == self.degree + 1, "degree + 1 coefficients")
        _require(-(1 << 62) < self.lo < self.hi <= 1 << 62, "-2^62 < lo < hi <= 2^62")
        _require(0 <= self.window < 1 << (64 * self.limbs - 1), "0 <= window < 1/2")
        _require(0 <= self.run_window < 1 << 127, "0 <= run_window < 1/2")
        _require(1 <= self.run_log2 <= 60, "1 <= run_log2 <= 60")

    def require_method(self, method: str) -> None:
        """Raises ValueError if the block lacks what a method needs."""
        if method in ("lefevre", "regular"):
            self.require_domains()
        elif method == "farey":
            _require(2 <= self.run_log2 <= 31, "2 <= run_log2 <= 31")

    def require_domains(self) -> None:
        """Raises ValueError if the block has no domains for the three-distance tests."""
        largest = min(self.run_log2, 30)
        _require(6 <= self.domain_log2 <= largest, "6 <= domain_log2 <= min(run_log2, 30)")
        in_range = len(self.domain_windows) == 2 and all(
            0 <= window < 1 << 62 for window in self.domain_windows
        )
        _require(in_range, "two domain_windows, 0 <= E < 1/4")

    @property
    def length(self) -> int:
        """Arguments of the block."""
        return self.hi - self.lo

    @property
    def runs(self) -> int:
        """Runs of the block; the last one may be cut."""
        return -(-self.length >> self.run_log2)

    def tested(self, method: str) -> int:
        """What a method tests, as `Counts.domains` counts it; domains begin below hi."""
        if method in ("scan", "farey"):
            return self.runs if method == "farey" else 0
        whole, rest = divmod(self.length, 1 << self.run_log2)
        return whole * (1 << self.run_log2 - self.domain_log2) + -(-rest >> self.domain_log2)

    def packed(self) -> bytes:
        """The block as the kernels' `struct Block` (cuda/polynomial.cuh), 64-bit little-endian."""
        size = 8 * self.limbs
        modulo = (1 << 8 * size) - 1
        limbs = [(n & modulo).to_bytes(size, "little") for n in (*self.coefficients, self.window)]
        windows = self.run_window & _WORD, self.run_window >> 64
        domains = [window & _WORD for window in self.domain_windows]
        rest = _REST.pack(*windows, *domains, self.lo, self.hi, self.run_log2, self.domain_log2)
        return b"".join(limbs) + rest


def packed_bytes(degree: int, limbs: int) -> int:
    """The length of a packed block."""
    return 8 * limbs * (degree + 2) + _REST.size


@dataclass(frozen=True)
class Counts:
    """What a search of one block did. Only `candidates` is the same for every method."""

    domains: int  # domains tested; runs walked or tested as lines, for "farey"
    subdomains: int  # subdomains tested: eight for each domain that failed
    scanned: int  # arguments scanned in phase 3; those that the cubic decided, for "farey"
    hits: int  # arguments that passed the run's cubic
    candidates: int


class Engine(Protocol):
    """What a search needs of the CPU or of a device.

    Attributes:
        name: what the user calls it.
        workers: threads that call `run` at a time to keep it busy.
        slice_domains: domain tests to put into one call, well below a second of work.
        is_device: the processors are free while it works, and should plan ahead.
        methods: those of METHODS that it has.
    """

    name: str
    is_device: bool
    methods: tuple[str, ...]
    workers: int
    slice_domains: int

    def prepare(self, shapes: Collection[tuple[int, int]]) -> None:
        """Compile the kernels of these shapes (degree, limbs), side by side.

        A hint: `run` compiles what it lacks. It is called while other threads call `run`.
        """

    def run(self, block: Block, method: str) -> tuple[NDArray[np.int64], Counts]:
        """Every candidate u of the block, increasing, and what it took to find them."""

    def close(self) -> None:
        """Give back what the engine holds; it must not be used afterwards."""


def method_number(method: str) -> int:
    """The number by which the kernels know a method. Raises ValueError for an unknown one."""
    if method not in METHODS:
        raise ValueError(
            f"no method {method!r}: the engines know {', '.join(METHODS)}; take one of these"
        )
    return METHODS.index(method)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"not a block the kernels can take: {what} is needed; plan it anew")
