"""Every unit twice, by different methods: the candidates must be the same (docs/faults.md)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hrcase.claim import range_text
from hrcase.errors import VerificationFailed
from hrcase.hexfloat import to_hex
from hrcase.pieces import Piece
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec

MOST_SHOWN = 5
"""Arguments that the error names."""


def require_same(
    spec: SearchSpec,
    piece: Piece,
    tuning: Tuning,
    by_first: Sequence[int],
    by_second: Sequence[int],
    devices: Collection[str],
) -> None:
    """Compare the candidates that two methods gave for the arguments of a unit.

    Args:
        by_first, by_second: ordinals, in any order; by tuning.method and by tuning.second.
        devices: on which they were found.

    Raises:
        VerificationFailed: they differ; the error names what one of them lacks.
    """
    first, second = set(by_first), set(by_second)
    if first == second:
        return
    only = sorted(first ^ second)
    shown = ", ".join(
        f"{to_hex(spec.inp.value(x))} ({tuning.method if x in first else tuning.second})"
        for x in only[:MOST_SHOWN]
    )
    raise VerificationFailed(
        f"two methods gave two answers for {range_text(spec.inp, piece.lo, piece.hi)}, on "
        f"{', '.join(sorted(devices))}: {tuning.method} {len(first)} candidates, {tuning.second} "
        f"{len(second)}; {len(only)} were found by one of them alone: {shown}; a device or hrcase "
        "is wrong; run: hrcase selftest --long"
    )
