"""Every unit twice, by different methods: the candidates must be the same (docs/faults.md)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

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
    by_first: NDArray[np.int64],
    by_second: NDArray[np.int64],
    devices: Collection[str],
) -> None:
    """Compare the candidates that two methods gave for the arguments of a unit.

    Args:
        by_first, by_second: their ordinals less piece.lo, each once, in any order; by tuning.method
            and by tuning.second.
        devices: on which they were found.

    Raises:
        VerificationFailed: they differ; the error names what one of them lacks.
    """
    only = np.setxor1d(by_first, by_second, assume_unique=True)
    if not len(only):
        return
    shown = ", ".join(
        f"{to_hex(spec.inp.value(piece.lo + x))} "
        f"({tuning.method if x in by_first else tuning.second})"
        for x in only[:MOST_SHOWN].tolist()
    )
    raise VerificationFailed(
        f"two methods gave two answers for {range_text(spec.inp, piece.lo, piece.hi)}, on "
        f"{', '.join(sorted(devices))}: {tuning.method} {len(by_first)} candidates, "
        f"{tuning.second} {len(by_second)}; {len(only)} were found by one of them alone: {shown}; "
        "a device or hrcase is wrong; run: hrcase selftest --long"
    )
