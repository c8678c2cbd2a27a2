"""Running lines of the certified tables by the Farey walk. The proof is in docs/tables.md.

A line's P is exact in the binomial basis; the engines want P around a centre in powers of u. The
change of basis is exact in rationals; rounding its coefficients to 2^-(64 limbs), and dropping
terms where the degree is beyond those of the kernels, are bounded and stand in the block's window
(hrcase.plan, hrcase.budget). So an engine gives every j that the line's own test reports, and
perhaps others next to the window's edge; each is decided by the line's exact integers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from math import factorial

from gmpy2 import mpq, mpz

from hrcase.cost import EVALUATION
from hrcase.errors import InputError
from hrcase.formats import scale
from hrcase.job.crew import Crew, Landed
from hrcase.plan import DEGREES, MOST_LIMBS, SLACK, PlannedBlock, Tuning, encode, limbs_for
from hrcase.tables.line import WINDOW, WORD, TableLine
from hrcase.taylor import Stretch, TaylorModel

SHORTEST = 1 << 10
"""Blocks are longer than that."""

MOST_SCANNED = 1 << 16
"""Where no block fits so many steps are scanned, a fraction of a second."""

SAMPLES, MOST_SAMPLED = 64, 8
"""Of so many steps of a line at most so many are candidates; of a line of exp next to none is."""

_WALK = Tuning(method="farey")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A step that the line's test reports.

    Attributes:
        line: the line.
        j: the step, x = x0 + j ulp(x0).
        top_word: of P(j) + the window, at most twice the window's constant.
    """

    line: TableLine
    j: int
    top_word: int

    @property
    def x(self) -> mpq:
        """The argument."""
        return self.line.argument(self.j)


def search(
    lines: Iterable[TableLine],
    crew: Crew,
    window: int = WINDOW,
    done: Callable[[TableLine, int], None] | None = None,
) -> Iterator[Candidate]:
    """Every candidate of the lines, in their order, ascending in j.

    A few slices are in flight at a time; nothing else is held.

    Args:
        window: the constant that is added to the top word, 1 <= window < 2^62.
        done: told that so many steps of a line are done.

    Raises:
        InputError: a line is malformed, or its polynomial is not smooth.
        HrcaseError: as the engines.
    """
    flying: deque[tuple[TableLine, PlannedBlock, Future[Landed] | None]] = deque()

    def land() -> Iterator[Candidate]:
        line, part, future = flying.popleft()
        yield from _candidates(line, part, future, window)
        if done is not None:
            done(line, part.count)

    try:
        for line in lines:
            for block in blocks(line, window):
                for part in block.slices(crew.slice_work):
                    flying.append((line, part, crew.submit(part) if part.block else None))
                    while len(flying) >= crew.capacity:
                        yield from land()
        while flying:
            yield from land()
    finally:
        for _, _, future in flying:
            if future is not None:
                future.cancel()


def _candidates(
    line: TableLine, part: PlannedBlock, future: Future[Landed] | None, window: int
) -> Iterator[Candidate]:
    """What a part gives, each j decided by the line's own test."""
    if future is None:
        found = list(line.scan(part.first, part.count, window))
    else:
        found = [part.first + offset for offset in future.result().offsets.tolist()]
    for j in found:
        top = line.top_word(j, window)
        if top <= 2 * window:
            yield Candidate(line, j, top)


def blocks(line: TableLine, window: int) -> Iterator[PlannedBlock]:
    """The line as blocks for an engine, ascending; their ordinals are the j, and tile [0, n).

    Raises:
        InputError: its polynomial is not smooth enough for any block, or too flat: what it gives
            would fill the memory.
    """
    _refuse_flood(line, window)
    first = 0
    while first < line.count:
        block = _next_block(line, window, first)
        yield block
        first += block.count


def _refuse_flood(line: TableLine, window: int) -> None:
    """Raises InputError for a long line many of whose steps are candidates."""
    if line.count <= MOST_SCANNED:
        return
    sampled = [(line.count - 1) * i // (SAMPLES - 1) for i in range(SAMPLES)]
    found = sum(line.top_word(j, window) <= 2 * window for j in sampled)
    if found > MOST_SAMPLED:
        raise InputError(
            f"line {line.number} cannot be run; {found} of {SAMPLES} steps looked at are "
            "candidates, where there is hardly one in 10^12 for exp; check its words and their "
            "order (least significant first), or give it in parts of at most "
            f"{MOST_SCANNED} steps"
        )


def _next_block(line: TableLine, window: int, first: int) -> PlannedBlock:
    """The longest block from `first` on whose windows can be proved, else a scan of the rest."""
    # The test reports -window <= top word < window + 1: |P(j) cmod 1| <= (window + 1) 2^-64.
    target = scale(window + 1, -WORD)
    left = length = line.count - first
    while length > SHORTEST:
        half = length // 2
        stretch = Stretch(0, 0, -half, length - half)
        model = _model(line, first + half, stretch.half_length, target)
        limbs = limbs_for(target, stretch, min(len(line.values), len(model.coefficients)) - 1)
        if limbs <= MOST_LIMBS and model.remainder * SLACK <= target:
            block = encode(first, stretch, model, target, limbs, _WALK)
            if block is not None:
                return block
        length = 1 << (length - 1).bit_length() - 1
    if left > MOST_SCANNED:
        raise InputError(
            f"line {line.number} cannot be run; its differences do not shrink, so that no "
            f"{SHORTEST} steps from step {first} on are near a polynomial of degree 3, as those of "
            "exp are; check its words and their order (least significant first), or remove it"
        )
    return PlannedBlock(first, left, None, "scan", EVALUATION, None)


def _model(line: TableLine, centre: int, reach: int, target: mpq) -> TaylorModel:
    """P(centre + u) in powers of u, exactly; terms beyond the kernels' degrees are a remainder.

    Of the kernels' degrees the least is taken whose remainder for |u| <= reach is small.
    """
    k = len(line.values)
    differences = line.differences_at(centre)
    unit = scale(mpq(1, factorial(k - 1)), -line.bits)
    coefficients = [
        sum(map(mpz.__mul__, column, differences), mpz(0)) * unit for column in _powers(k)
    ]
    sizes = [abs(c) * reach**m for m, c in enumerate(coefficients)]
    for degree in DEGREES:
        remainder = sum(sizes[degree + 1 :], mpq(0))
        if remainder * SLACK <= target:
            break
    kept = coefficients[: degree + 1]
    kept += [mpq(0)] * (degree + 1 - len(kept))
    return TaylorModel(tuple((c, c) for c in kept), remainder)


@lru_cache(maxsize=8)
def _powers(k: int) -> tuple[tuple[mpz, ...], ...]:
    """Row m, column i: the coefficient of u^m in (k-1)! C(u, i), an integer."""
    columns = []
    falling = [mpz(1)]  # u (u-1) ... (u-i+1)
    for i in range(k):
        share = factorial(k - 1) // factorial(i)
        columns.append([c * share for c in falling] + [mpz(0)] * (k - 1 - i))
        shifted = [mpz(0), *falling]
        falling = [a - i * b for a, b in zip(shifted, [*falling, mpz(0)], strict=True)]
    return tuple(zip(*columns, strict=True))
