"""The arguments of units decided, many at once: the work of a process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hrcase.exact_powers import exact_in
from hrcase.job.digests import candidates_digest
from hrcase.pieces import Piece
from hrcase.refine import Refined, refine_part
from hrcase.spec import SearchSpec

EXACT_A_CASE = 1 << 8
"""So many exact results in closed form take as long as the evaluation of a case."""

Asked = tuple[Piece, list[NDArray[np.int64]], list[tuple[int, int]]]
"""A unit's piece; its candidates by slices, as ordinals less piece.lo; half-open ranges of ordinals
to evaluate one by one, with no candidate in them."""

Decided = tuple[Refined, str]
"""What became of a unit's arguments, and the digest of its candidates."""


def decide_all(spec: SearchSpec, asked: list[Asked]) -> list[Decided]:
    """Decide the arguments of some units."""
    return [_decide_one(spec, one) for one in asked]


def _decide_one(spec: SearchSpec, asked: Asked) -> Decided:
    piece, found, ranges = asked
    candidates = np.sort(joined(found))
    digest = candidates_digest(piece.lo + offset for offset in candidates.tolist())
    return refine_part(spec, piece, candidates, ranges), digest


def joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One array of several, or of none."""
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def count_exact(spec: SearchSpec, piece: Piece) -> int:
    """How many exact results in closed form a part of a piece has."""
    exact = exact_in(spec, piece)
    return 0 if exact is None else len(exact)
