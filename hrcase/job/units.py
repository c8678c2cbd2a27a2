"""A search as units: parts of pieces that take about the same time each.

A unit names arguments and the piece that they lie in, no more: its blocks are planned when its
turn comes, by whatever method, and its cases are those of its arguments. Units depend on what is
asked alone, on neither device nor method; so do the blocks, which end where units end, and the
candidates.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from math import log2
from time import perf_counter

from hrcase.domain import DEFAULT_SCAN, removed, split
from hrcase.errors import InputError
from hrcase.pieces import Piece, Removed, Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec

UNIT_WORK = float(1 << 25)
"""Of a unit, in domain tests: seconds of one core, and as much as a device takes in one call."""

EVALUATION_WORK = 320.0
"""An argument that is evaluated, about 0.1 ms, in domain tests."""

MOST_UNITS = 1 << 17
"""From so many on units are longer."""

MANY_UNITS = 256
"""Where a device does so many units, worker processes plan them; they take a second to start."""

BYTES_A_ROW = 140
SECONDS_A_CASE = 1e-4


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a job: done as a whole, or not at all.

    Attributes:
        number: its place; units ascend in x.
        piece: its arguments, under the rule and the output binade of the piece they come from.
        work: what it costs by the cost model, in domain tests.
    """

    number: int
    piece: Piece
    work: float


@dataclass
class Plan:
    """Everything there is to do for a search.

    Attributes:
        pieces: with `outside` they tile what is asked; ascending.
        outside: arguments at which the function is not defined, or not searched.
        units: they tile the pieces that are searched or scanned.
        shard: (I, N): of the units those are to be done whose number is I - 1 modulo N.
        shapes: of the kernels (degree, limbs) that the first block of each piece needs.
        seconds: what it took to make, by stage.
    """

    spec: SearchSpec
    pieces: list[Piece]
    outside: list[Removed]
    units: list[Unit] = field(default_factory=list)
    shard: tuple[int, int] = (1, 1)
    shapes: set[tuple[int, int]] = field(default_factory=set)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def work(self) -> float:
        """Of all units, in domain tests."""
        return sum(unit.work for unit in self.units)

    @property
    def settled(self) -> list[Piece]:
        """The settled pieces, ascending."""
        return [piece for piece in self.pieces if piece.rule is Rule.SETTLED]

    @property
    def arguments(self) -> Counter[str]:
        """How many the pieces of each rule hold."""
        total: Counter[str] = Counter()
        for piece in self.pieces:
            total[piece.rule] += piece.count
        return total

    @cached_property
    def expected(self) -> float:
        """Cases that the law 2w predicts over the searched pieces."""
        return expected_cases(self.spec, self.pieces)

    def refuse_floods(self, most_cases: int) -> None:
        """Raises InputError when more cases than most_cases are expected."""
        scanned = self.arguments[Rule.SCANNED]
        cases = self.expected + (scanned if scanned > most_cases else 0)
        if cases <= most_cases:
            return
        size, seconds = cases * BYTES_A_ROW, cases * SECONDS_A_CASE
        raise InputError(
            f"this search would give about {cases:.3g} cases, {size:.3g} bytes, and take at least "
            f"{seconds:.3g} seconds for them alone; ask for more --bits, or allow it with "
            f"--max-cases {int(cases * 1.1)}"
        )


def expected_cases(spec: SearchSpec, pieces: Iterable[Piece]) -> float:
    """Cases that the law 2w predicts over those pieces that are searched."""
    window = cache(lambda key: 2 * float(spec.window(key)))
    return sum(window(p.key) * p.count for p in pieces if p.rule is Rule.SEARCHED)


def make_plan(
    spec: SearchSpec, scan: int | None = None, on_many: Callable[[], None] | None = None
) -> Plan:
    """Split what is asked into pieces, and these into units.

    Args:
        scan: ranges of at most so many arguments are scanned (hrcase.domain.DEFAULT_SCAN).
        on_many: called, perhaps several times, as soon as there is work for MANY_UNITS units.

    Raises:
        InputError: nothing of the range can be searched.
    """
    plan = Plan(spec, [], removed(spec))
    weights: list[_Weight] = []
    work = 0.0
    started = perf_counter()
    for piece in split(spec, DEFAULT_SCAN if scan is None else scan):
        split_at = perf_counter()
        plan.seconds["splitting"] += split_at - started
        plan.pieces.append(piece)
        if piece.rule is not Rule.SETTLED:
            weights.append(_weigh(plan, piece))
            work += weights[-1].work
            if work >= MANY_UNITS * UNIT_WORK and on_many is not None:
                on_many()
        started = perf_counter()
        plan.seconds["planning"] += started - split_at
    most = max(UNIT_WORK, work / MOST_UNITS)
    for weight in weights:
        for part in _parts(weight, most):
            share = part.count / weight.piece.count
            plan.units.append(Unit(len(plan.units), part, share * weight.work))
    return plan


def plan_digest(pieces: list[Piece], outside: list[Removed]) -> str:
    """SHA-256 over what a split says, its words left out: equal digests, equal claims."""
    lines: list[object] = []
    for piece in pieces:
        settlement = None if piece.settlement is None else asdict(piece.settlement)
        if settlement is not None:
            settlement["reason"] = None
        lines.append([piece.lo, piece.hi, piece.rule, piece.key, settlement])
    lines += [[part.lo, part.hi] for part in outside]
    return hashlib.sha256(json.dumps(lines, default=str).encode()).hexdigest()


def in_shard(number: int, shard: tuple[int, int]) -> bool:
    """Whether a unit is to be done in a shard."""
    return number % shard[1] == shard[0] - 1


@dataclass(frozen=True, slots=True)
class _Weight:
    """A piece with what it costs, and the length of a block of it (0: arguments are evaluated)."""

    piece: Piece
    work: float
    block: int


def _weigh(plan: Plan, piece: Piece) -> _Weight:
    """Look at the first block of a piece; the farey method's, whichever is used."""
    evaluated = _Weight(piece, EVALUATION_WORK * piece.count, 0)
    if piece.rule is Rule.SCANNED:
        return evaluated
    first = next_block(plan.spec, piece, piece.lo, Tuning(method="farey"))
    if first.block is None:
        return evaluated
    length = _length(first.count, first.work, UNIT_WORK)
    if length < first.count:
        shorter = replace(piece, hi=min(piece.hi, piece.lo + length))
        block = next_block(plan.spec, shorter, piece.lo, Tuning(method="farey")).block
        if block is not None:
            plan.shapes.add((block.degree, block.limbs))
    else:
        plan.shapes.add((first.block.degree, first.block.limbs))
    return _Weight(piece, first.work * piece.count / first.count, first.count)


def _length(block: int, work: float, most: float) -> int:
    """Whole blocks, or a binary fraction of one, with about so much work."""
    if work <= most:
        return block * round(most / work)
    return -(-block >> round(log2(work / most)))


def _parts(weight: _Weight, most: float) -> Iterator[Piece]:
    """The piece in parts of about so much work."""
    piece, count = weight.piece, weight.piece.count
    if weight.block == 0:
        length = max(1, int(most / EVALUATION_WORK))
    else:
        length = _length(weight.block, weight.work * weight.block / count, most)
    for lo in range(piece.lo, piece.hi, length):
        yield replace(piece, lo=lo, hi=min(lo + length, piece.hi))
