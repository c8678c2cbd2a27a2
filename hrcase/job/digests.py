"""Digests of what a unit ran and of what came of it; certificates state them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import islice

from hrcase.plan import PlannedBlock

LINES_AT_ONCE = 1 << 12


def candidates_digest(ordinals: Iterable[int]) -> str:
    """SHA-256 over candidates, ascending, each in decimal on a line: one for each set of them.

    Arguments that are evaluated one by one are no candidates.
    """
    return _digest(map(str, ordinals))


def blocks_digest(blocks: Iterable[PlannedBlock]) -> str:
    """SHA-256 over blocks, ascending, each on a line."""
    return _digest(map(_line, blocks))


def _line(planned: PlannedBlock) -> str:
    """All numbers of a block in hexadecimal, the coefficients modulo 1."""
    block = planned.block
    if block is None:
        return f"{planned.first:x} {planned.count:x} evaluated"
    group = "-" if block.group_log2 is None else f"{block.group_log2:x}"
    numbers = [planned.first, planned.count, block.limbs, block.window]
    numbers += [block.run_log2, block.run_window, block.domain_log2, *block.domain_windows]
    numbers += [coefficient % (1 << 64 * block.limbs) for coefficient in block.coefficients]
    return f"{planned.method} {group} " + " ".join(f"{number:x}" for number in numbers)


def _digest(lines: Iterable[str]) -> str:
    total, lines = hashlib.sha256(), iter(lines)
    while some := list(islice(lines, LINES_AT_ONCE)):
        total.update(("\n".join(some) + "\n").encode())
    return total.hexdigest()
