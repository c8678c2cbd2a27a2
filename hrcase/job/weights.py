"""What pieces cost by the cost model, looked at where that changes along them.

A piece lies in one binade of x and of f(x), and yet a pole, an inflection or a zero at its end
makes an argument cost a thousand times what one in its middle does. So blocks at its beginning and
at its middle are planned; where they cost about the same, or next to nothing, the piece is taken
as even, else each half is looked at on its own. Only how long units are depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import log2

from hrcase.cost import DOMAIN, EVALUATION
from hrcase.pieces import Piece, Rule
from hrcase.plan import PlannedBlock, Tuning, next_block
from hrcase.spec import SearchSpec

UNIT_WORK = float(1 << 24)
"""Of a unit, in domain tests: seconds of one core, and as much as a device takes in one call."""

UNIT_CASES = float(1 << 13)
"""Cases that the law predicts for a unit, at most: to decide them takes a second or less."""

EVEN = 2.0
"""Costs are about the same up to this factor."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Consecutive arguments of a piece that cost about the same each.

    Attributes:
        work: of all of them, in domain tests; to decide the cases is not in it.
        cases: that the law 2w predicts among them.
        block: arguments of a block; 0 where they are evaluated.
        shapes: of the kernels (degree, limbs) that the blocks looked at need.
    """

    piece: Piece
    work: float
    cases: float
    block: int
    shapes: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    def parts(self, most: float, most_cases: float) -> Iterator[Piece]:
        """The arguments in parts of about so much work, and of so many cases at most."""
        piece = self.piece
        if self.block == 0:
            length = max(1, int(most * DOMAIN / EVALUATION))
        else:
            work = max(self.work, self.cases / most_cases * most)
            length = _length(self.block, work * self.block / piece.count, most)
        for lo in range(piece.lo, piece.hi, length):
            yield replace(piece, lo=lo, hi=min(lo + length, piece.hi))


def weigh(spec: SearchSpec, piece: Piece) -> Iterator[Weight]:
    """The weights of a piece that is searched or scanned; they tile it, ascending.

    The Farey walk's costs, whichever method is used: units do not depend on it.
    """
    if piece.rule is Rule.SCANNED:
        yield Weight(piece, piece.count * EVALUATION / DOMAIN, 0.0, 0)
    else:
        yield from _weights(spec, piece, _block_at(spec, piece, piece.lo))


def _weights(spec: SearchSpec, piece: Piece, first: PlannedBlock) -> Iterator[Weight]:
    if piece.count <= first.count:
        yield _weight(spec, piece, [first])
        return
    middle = (piece.lo + piece.hi) // 2
    second = _block_at(spec, piece, middle)
    costs = [first.cost, second.cost]
    if max(costs) <= EVEN * min(costs) or max(costs) * piece.count <= UNIT_WORK * DOMAIN:
        yield _weight(spec, piece, [first, second])
        return
    yield from _weights(spec, replace(piece, hi=middle), first)
    yield from _weights(spec, replace(piece, lo=middle), second)


def _block_at(spec: SearchSpec, piece: Piece, lo: int) -> PlannedBlock:
    return next_block(spec, piece, lo, Tuning(method="farey"))


def _weight(spec: SearchSpec, piece: Piece, looked_at: list[PlannedBlock]) -> Weight:
    work = piece.count * sum(planned.cost for planned in looked_at) / len(looked_at) / DOMAIN
    cases = 2 * float(spec.window(piece.key)) * piece.count
    if any(planned.block is None for planned in looked_at):
        return Weight(piece, work, cases, 0)
    count = min(planned.count for planned in looked_at)
    length = _length(count, work * count / piece.count, UNIT_WORK)
    if length < count:
        shorter = replace(piece, hi=min(piece.hi, piece.lo + length))
        looked_at = [_block_at(spec, shorter, piece.lo)]
    blocks = [planned.block for planned in looked_at if planned.block is not None]
    return Weight(piece, work, cases, count, frozenset((b.degree, b.limbs) for b in blocks))


def _length(block: int, work: float, most: float) -> int:
    """Whole blocks, or a binary fraction of one, with about so much work."""
    if work <= most:
        return block * round(most / work)
    return -(-block >> round(log2(work / most)))
