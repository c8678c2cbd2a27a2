"""A search as units: parts of pieces that take about the same time each.

A unit names arguments and the piece that they lie in, no more: its blocks are planned when its
turn comes, by whatever method, and its cases are those of its arguments. Units depend on what is
asked alone, on neither device nor method; so do the blocks, which end where units end, and the
candidates.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, partial
from itertools import chain, islice
from time import perf_counter

from hrcase.domain import DEFAULT_SCAN, Part, cut, merged, removed, split_part
from hrcase.errors import InputError
from hrcase.job import weights as of_work
from hrcase.job.weights import Weight, weigh
from hrcase.pieces import Piece, Removed, Rule
from hrcase.spec import SearchSpec
from hrcase.workers import Workers

MOST_UNITS = 1 << 17
"""From so many on units are longer: by their work, and by their cases."""

MANY_UNITS = 256
"""Where a device does so many units, worker processes plan them; they take a second to start."""

MANY_PARTS = 64
"""So many parts of the domain, between turns and poles, are split by worker processes."""

PARTS_AT_ONCE = 16

MANY_PIECES = 512
"""After so many pieces the others are weighed by worker processes, which take a second to start."""

PIECES_AT_ONCE = 8

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
        shapes: of the kernels (degree, limbs) that most blocks need.
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
    spec: SearchSpec,
    scan: int | None = None,
    on_many: Callable[[], None] | None = None,
    workers: Workers | None = None,
) -> Plan:
    """Split what is asked into pieces, and these into units.

    Args:
        scan: ranges of at most so many arguments are scanned (hrcase.domain.DEFAULT_SCAN).
        on_many: called, perhaps several times, as soon as there is work for MANY_UNITS units.
        workers: split and plan what has many parts; default one process a processor.

    Raises:
        InputError: nothing of the range can be searched.
    """
    plan = Plan(spec, [], removed(spec))
    weights: list[Weight] = []
    work = 0.0
    started = perf_counter()
    with ExitStack() as stack:
        workers = workers or stack.enter_context(Workers(os.cpu_count() or 1))
        for piece, of_piece in _weighed(spec, DEFAULT_SCAN if scan is None else scan, workers):
            plan.pieces.append(piece)
            for weight in of_piece:
                weights.append(weight)
                plan.shapes |= weight.shapes
                work += weight.work
            if work >= MANY_UNITS * of_work.UNIT_WORK and on_many is not None:
                on_many()
    most = max(of_work.UNIT_WORK, work / MOST_UNITS)
    cases = sum(weight.cases for weight in weights)  # perhaps a flood, which is refused later
    most_cases = max(of_work.UNIT_CASES, cases / MOST_UNITS)
    for weight in weights:
        for part in weight.parts(most, most_cases):
            share = part.count / weight.piece.count
            plan.units.append(Unit(len(plan.units), part, share * weight.work))
    plan.seconds["splitting"] += perf_counter() - started
    return plan


Weighed = tuple[Piece, list[Weight]]


def _weighed(spec: SearchSpec, scan: int, workers: Workers) -> Iterator[Weighed]:
    """The pieces, and the weights of those that are searched or scanned."""
    searched: dict[int, list[Weight]] = {}

    def pieces() -> Iterator[Piece]:
        for piece, of_piece in _by_parts(spec, scan, workers):
            if of_piece:
                searched[piece.lo] = of_piece
            yield piece

    for piece in merged(pieces()):
        if piece.rule is Rule.SCANNED:
            yield piece, list(weigh(spec, piece))
        else:
            yield piece, searched.pop(piece.lo, [])


def _by_parts(spec: SearchSpec, scan: int, workers: Workers) -> Iterator[Weighed]:
    """The pieces before neighbours are merged, with weights if searched; by processes if many."""
    parts = cut(spec)
    first = list(islice(parts, MANY_PARTS))
    if len(first) < MANY_PARTS:
        yield from _by_pieces(spec, _pieces_of(spec, scan, first), workers)
        return
    rest = iter(lambda: list(islice(parts, PARTS_AT_ONCE)), [])
    items = ((spec, scan, some) for some in chain([first], rest))
    for weighed in workers.ordered(_weigh_parts, items):
        yield from weighed


def _weigh_parts(item: tuple[SearchSpec, int, list[Part]]) -> list[Weighed]:
    """The work of a process."""
    spec, scan, parts = item
    return _weigh_all(spec, _pieces_of(spec, scan, parts))


def _pieces_of(spec: SearchSpec, scan: int, parts: Iterable[Part]) -> Iterator[Piece]:
    for part in parts:
        yield from split_part(spec, part, scan)


def _by_pieces(spec: SearchSpec, pieces: Iterator[Piece], workers: Workers) -> Iterator[Weighed]:
    """The pieces with their weights; by processes, of which there are several, if many."""
    most = MANY_PIECES if workers.processes > 1 else None
    for piece in islice(pieces, most):
        yield from _weigh_all(spec, [piece])
    rest = iter(lambda: list(islice(pieces, PIECES_AT_ONCE)), [])
    for weighed in workers.ordered(partial(_weigh_all, spec), rest):
        yield from weighed


def _weigh_all(spec: SearchSpec, pieces: Iterable[Piece]) -> list[Weighed]:
    return [(p, list(weigh(spec, p)) if p.rule is Rule.SEARCHED else []) for p in pieces]


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
