"""What an engine's answer must satisfy, whatever the block (docs/faults.md).

The kernels count, sum and check; here their figures are compared with what the host knows. A
sentinel is a small block of the same shape in which one argument is known to be a candidate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hrcase.engine import Block
from hrcase.errors import SelfTestFailed

_WORDS = 1 << 64
_STRETCH_LOG2 = 6  # of a scan (cuda/search.cuh)


class WrongAnswer(SelfTestFailed):
    """The answer of an engine contradicts itself, or what is known: a fault of the machine."""


def echo_of(packed: bytes) -> int:
    """The sum of the 64-bit words of a packed block, as the kernels form it (cuda/checks.cuh)."""
    return int(np.frombuffer(packed, dtype=np.uint64).sum(dtype=np.uint64))


def sentinel_of(block: Block, method: str) -> tuple[Block, int]:
    """A part of the block that a method tests as a whole, and a candidate u of it.

    Its constant is that of the block less P(u), so that P is 0 at u modulo 1. Which part, and
    which u, follows from the block: other blocks test other places. The part is a run of the
    block, or a domain or a stretch as a run of its own, for which the windows of the run that
    holds it are wide enough (docs/faults.md).
    """
    log2 = {"scan": _STRETCH_LOG2, "farey": block.run_log2}.get(method, block.domain_log2)
    log2 = min(log2, block.run_log2)
    c0, c1, *_ = block.coefficients
    seed = hashlib.blake2b(f"{c0:x} {c1:x} {block.lo:x}".encode(), digest_size=8)
    u = block.lo + int.from_bytes(seed.digest()) % block.length
    lo = u - (u - block.lo) % (1 << log2)
    value = 0
    for coefficient in reversed(block.coefficients):
        value = value * u + coefficient
    coefficients = (block.coefficients[0] - value, *block.coefficients[1:])
    hi = min(block.hi, lo + (1 << log2))
    return replace(block, coefficients=coefficients, lo=lo, hi=hi, run_log2=log2), u


def require_found(u: int, found: NDArray[np.int64], engine: str) -> None:
    """Raises WrongAnswer if a sentinel did not come back."""
    if u not in found:
        _refuse(engine, "sentinel", f"the candidate planted at u = {u} was not found")


def require_sound(
    block: Block,
    method: str,
    told: Mapping[str, int],
    entries: NDArray[np.int64],
    holds: Mapping[str, bool],
    engine: str,
) -> None:
    """Compare the figures of a search with what they must be.

    Args:
        told: what the kernels counted.
        entries: u - lo + 1 of the candidates as they came, in any order, some perhaps twice.
        holds: further checks, by name.

    Raises:
        WrongAnswer: one of them is not met.
    """
    total = int(entries.sum(dtype=np.int64)) % _WORDS
    checks = {
        "candidates among the hits": told["candidates"] <= told["hits"],
        "domains tested": told["domains"] == block.tested(method),
        "arguments scanned": method != "scan" or told["scanned"] == block.length,
        "entries above 0": bool((entries > 0).all()),
        "sum of the candidates": total == told["sum"],
        **holds,
    }
    for what, is_met in checks.items():
        if not is_met:
            _refuse(engine, what, ", ".join(f"{name} {value}" for name, value in told.items()))


def distinct(entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """The entries, ascending, each once; np.unique, which hashes, takes fifty times as long."""
    ascending = np.sort(entries)
    once: NDArray[np.int64] = ascending[np.diff(ascending, prepend=ascending[:1] - 1) != 0]
    return once


def _refuse(engine: str, what: str, evidence: str) -> None:
    raise WrongAnswer(
        f"the answer of {engine} contradicts itself in the {what} ({evidence}); its memory or its "
        "processor may be faulty; run again with another --device"
    )
