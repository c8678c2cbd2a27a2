"""Many candidates at once: exact results in closed form are taken out, the rest is evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hrcase.cases import HRCase, Row
from hrcase.claim import range_text
from hrcase.errors import SelfTestFailed
from hrcase.exact_powers import ExactPowers, exact_in
from hrcase.hexfloat import to_hex
from hrcase.pieces import Piece
from hrcase.spec import SearchSpec
from hrcase.ziv import Rejection, refine


@dataclass
class Refined:
    """What became of some arguments.

    Attributes:
        rows: of the cases, sorted by x if the arguments were.
        exact: ordinals of those whose result lies on a breakpoint, but for those in closed form.
        in_closed_form: how many these are.
        rejected: how many were too far from one.
    """

    rows: list[Row] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)
    in_closed_form: int = 0
    rejected: int = 0


def refine_chunk(spec: SearchSpec, ordinals: Iterable[int]) -> Refined:
    """Decide some arguments, in this process."""
    part = Refined()
    for ordinal in ordinals:
        verdict = refine(spec, ordinal)
        if isinstance(verdict, HRCase):
            part.rows.append(verdict.row)
        elif verdict is Rejection.EXACT:
            part.exact.append(ordinal)
        else:
            part.rejected += 1
    return part


def refine_part(
    spec: SearchSpec,
    piece: Piece,
    candidates: NDArray[np.int64],
    ranges: Sequence[tuple[int, int]],
) -> Refined:
    """Decide the candidates of a part of a piece, and ranges of it that are evaluated one by one.

    Args:
        candidates: their ordinals less piece.lo, ascending.
        ranges: half-open, of ordinals; no candidate is in one.

    Raises:
        SelfTestFailed: an exact result in closed form is no candidate, though its distance is 0, or
            an evaluation gives one that the closed form lacks; and as hrcase.ziv.refine.
    """
    exact = exact_in(spec, piece)
    evaluated = chain.from_iterable(range(lo, hi) for lo, hi in ranges)
    if exact is None:
        return refine_chunk(spec, sorted(chain(_ordinals(piece, candidates), evaluated)))
    more = np.array([ordinal - piece.lo for ordinal in evaluated], dtype=np.int64)
    offsets = np.sort(np.concatenate([candidates, more])) if len(more) else candidates
    rest = _without(spec, piece, offsets, exact)
    part = refine_chunk(spec, _ordinals(piece, rest))
    if part.exact:
        raise SelfTestFailed(
            f"{spec.function_name} has an exact result at {to_hex(spec.inp.value(part.exact[0]))}, "
            "which its closed form (hrcase/exact_powers.py) lacks; please report this input"
        )
    part.in_closed_form = len(exact)
    return part


def _ordinals(piece: Piece, offsets: NDArray[np.int64]) -> list[int]:
    """In Python's integers: those of the x87's format take 80 bits."""
    return [piece.lo + offset for offset in offsets.tolist()]


def _without(
    spec: SearchSpec, piece: Piece, offsets: NDArray[np.int64], exact: ExactPowers
) -> NDArray[np.int64]:
    """The arguments to decide less the exact ones, all of which must be among them."""
    wanted = exact.offsets()
    places = np.searchsorted(offsets, wanted)
    is_there = places < len(offsets)
    is_there[is_there] = offsets[places[is_there]] == wanted[is_there]
    if not is_there.all():
        lost = wanted[~is_there]
        raise SelfTestFailed(
            f"the search of {range_text(spec.inp, piece.lo, piece.hi)} lacks {len(lost)} of "
            f"{len(wanted)} exact results, {to_hex(spec.inp.value(piece.lo + int(lost[0])))} for "
            "one: a device or hrcase is wrong; run: hrcase selftest --long"
        )
    return np.delete(offsets, places)
