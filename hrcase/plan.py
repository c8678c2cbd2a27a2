"""From a searched piece to blocks: degree, limbs, lengths and N, chosen per block.

The choices touch speed alone: whatever they are, the windows are proved for them
(hrcase.budget). They follow from the sizes of the Taylor coefficients:

* a block is as long as degree DEGREE allows with a remainder of w/SLACK, a power of two;
* a run is as long as its dropped terms stay below w/RUN_SLACK;
* a domain holds N arguments, the power of two that costs least an argument. A domain fails with
  chance 2 E1 N, then costs 8 tests more, and each of its subdomains fails with chance 2 E2 N/8,
  then costs a scan. With the quadratic term alone E1 = A2 N^2/8, so N ~ A2^(-1/3), whatever the
  binade.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2

from gmpy2 import mpq

from hrcase.budget import ErrorBudget, ceil_scaled, run_terms
from hrcase.domain import Piece
from hrcase.engine import Block
from hrcase.formats import scale
from hrcase.spec import SearchSpec
from hrcase.taylor import Stretch, TaylorModel, derivative_bound, taylor_model

DEGREE = 8
SHORT_DEGREE = 3
SLACK = 1024
RUN_SLACK = 4
SCAN_COST = mpq(1, 32)
"""Scanning an argument costs so much of a domain's test (CPU and device, roughly)."""

PARCEL_BLOCKS = 64
LONGEST_LOG2 = 46
"""A block is at most so long, so that its u and its windows fit everywhere."""

LONGEST_RUN_LOG2 = 27
LEAST_DOMAIN_LOG2, MOST_DOMAIN_LOG2 = 6, 30
MOST_LIMBS = 7
SHORTEST_LOG2 = 4
"""Where not even so few arguments have a polynomial they are scanned."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Choices that a test may fix. None lets the plan choose.

    Attributes:
        domain_log2: log2 of N.
        scan: ranges of at most so many arguments are scanned (None: hrcase.domain.DEFAULT_SCAN).
    """

    domain_log2: int | None = None
    scan: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block ready for an engine.

    Attributes:
        first: ordinal of its first argument, u = block.lo.
        block: the engine's input; None where the arguments must be scanned.
        budget: the proof of its windows.
        count: how many arguments it holds.
        domains: whether it has domains; where not, the method is the scan of its cubics.
    """

    first: int
    count: int
    block: Block | None
    budget: ErrorBudget | None
    domains: bool

    @property
    def work(self) -> float:
        """What it costs, in domain tests; a scanned argument counts as a hundredth of one."""
        if self.block is None or not self.domains:
            return self.count / 100
        return self.count / (1 << self.block.domain_log2)

    def ordinal(self, u: int) -> int:
        """The ordinal of a candidate."""
        assert self.block is not None
        return self.first + u - self.block.lo

    def slices(self, most_work: float) -> Iterator[PlannedBlock]:
        """Parts of at most about so much work, whole runs each, with the same polynomial."""
        if self.block is None:
            yield self
            return
        run = 1 << self.block.run_log2
        runs = max(1, int(most_work / max(self.work, 1) * self.count) // run)
        for lo in range(self.block.lo, self.block.hi, runs * run):
            block = replace(self.block, lo=lo, hi=min(lo + runs * run, self.block.hi))
            first = self.ordinal(lo)
            yield replace(self, first=first, count=block.hi - block.lo, block=block)


def plan(spec: SearchSpec, piece: Piece, tuning: Tuning) -> Iterator[PlannedBlock]:
    """The blocks of a searched piece, ascending; they tile it."""
    for parcel in parcels(spec, piece, tuning):
        yield from plan_parcel(spec, tuning, parcel)


def parcels(spec: SearchSpec, piece: Piece, tuning: Tuning) -> list[Piece]:
    """Parts of a searched piece that are planned on their own, by whatever process.

    Blocks end at their ends, so that the blocks, and with them the candidates, are the same
    however many processes plan.
    """
    length = PARCEL_BLOCKS * next_block(spec, piece, piece.lo, tuning).count
    cuts = range(piece.lo, piece.hi, length)
    return [replace(piece, lo=lo, hi=min(lo + length, piece.hi)) for lo in cuts]


def plan_parcel(spec: SearchSpec, tuning: Tuning, parcel: Piece) -> list[PlannedBlock]:
    """The blocks of a parcel."""
    blocks, lo = [], parcel.lo
    while lo < parcel.hi:
        blocks.append(next_block(spec, parcel, lo, tuning))
        lo += blocks[-1].count
    return blocks


def next_block(spec: SearchSpec, piece: Piece, lo: int, tuning: Tuning) -> PlannedBlock:
    """The block that begins at ordinal lo of a piece."""
    m, exponent = spec.inp.parts(lo)
    left = piece.hi - lo
    axis, window = spec.lattice(piece.key), spec.window(piece.key)
    degree, length = _length(spec, piece, m, exponent, left)
    while length >= 1 << SHORTEST_LOG2 or length == left:
        half = length // 2
        stretch = Stretch(m + half, exponent, -half, length - half)
        limbs = _limbs(window, stretch, degree)
        if limbs <= MOST_LIMBS:
            precision = 64 * limbs + spec.out.precision + 64
            model = taylor_model(spec.function, axis, stretch, degree, precision)
            if model.remainder * SLACK <= window:
                planned = encode(lo, stretch, model, window, limbs, tuning)
                if planned is not None:
                    return planned
        length = _shorter(length)
    return PlannedBlock(lo, min(left, 1 << SHORTEST_LOG2), None, None, False)


def _shorter(length: int) -> int:
    """The next power of two below a length."""
    return 1 << (length - 1).bit_length() - 1 if length > 1 else 0


def _length(spec: SearchSpec, piece: Piece, m: int, exponent: int, left: int) -> tuple[int, int]:
    """(degree, length): a first guess from the next Taylor coefficient at the start."""
    window = spec.window(piece.key)
    axis = spec.lattice(piece.key)
    here = Stretch(m, exponent, 0, 0)
    length = 0
    for degree in (SHORT_DEGREE, DEGREE):
        bound = derivative_bound(spec.function, axis, here, degree + 1)
        longest = LONGEST_LOG2
        if bound > 0:
            longest = min(longest, 1 + int(_log2(window / SLACK / bound) / (degree + 1)))
        length = min(left, 1 << max(longest, 0))
        if length == left:
            break
    return degree, length


def _log2(value: mpq) -> float:
    """log2 of a positive rational of any size, good enough for a guess."""
    shift = int(value.numerator.bit_length() - value.denominator.bit_length())
    return shift + log2(float(scale(value, -shift)))


def _limbs(window: mpq, stretch: Stretch, degree: int) -> int:
    """Limbs so that rounding the coefficients costs at most w/SLACK."""
    bits = degree * stretch.half_length.bit_length() - _log2(window / SLACK) + 4
    return max(2, ceil(bits / 64))


def encode(
    first: int, stretch: Stretch, model: TaylorModel, window: mpq, limbs: int, tuning: Tuning
) -> PlannedBlock | None:
    """Coefficients as integers, runs and domains, windows; None where no run is short enough."""
    bits = 64 * limbs
    half = stretch.half_length
    integers, rounding = [], mpq(0)
    for j, (low, high) in enumerate(model.coefficients):
        integer = int((scale(low + high, bits) + 1) // 2)
        nearest = scale(integer, -bits)
        rounding += max(abs(low - nearest), abs(high - nearest)) * half**j
        integers.append(integer)
    magnitudes = [abs(scale(c, -bits)) for c in integers]
    budget, run_log2 = _runs(stretch, magnitudes, window, model.remainder, rounding)
    if budget.run_window >= mpq(1, 2):
        return None
    if tuning.domain_log2 is None:
        domain_log2 = _domain_log2(budget, run_log2)
    else:
        domain_log2 = min(tuning.domain_log2, run_log2)
    has_domains = domain_log2 >= LEAST_DOMAIN_LOG2
    lengths = [1 << domain_log2, max(1, 1 << domain_log2 - 3)] if has_domains else []
    windows = [ceil_scaled(budget.domain_window(n), 64) for n in lengths]
    has_domains = has_domains and max(windows) < 1 << 62
    block = Block(
        degree=len(integers) - 1,
        limbs=limbs,
        coefficients=tuple(integers),
        window=ceil_scaled(budget.block_window, bits),
        lo=stretch.lo,
        hi=stretch.hi,
        run_log2=run_log2,
        run_window=ceil_scaled(budget.run_window, 128),
        domain_log2=domain_log2,
        domain_windows=(windows[0], windows[1]) if has_domains else (0, 0),
    )
    return PlannedBlock(first, stretch.hi - stretch.lo, block, budget, has_domains)


def _runs(
    stretch: Stretch, magnitudes: list[mpq], window: mpq, remainder: mpq, rounding: mpq
) -> tuple[ErrorBudget, int]:
    """The longest runs whose own errors stay below w/RUN_SLACK, and the whole budget."""
    longest = max(1, (stretch.hi - stretch.lo - 1).bit_length())
    run_log2 = min(LONGEST_RUN_LOG2, max(longest, LEAST_DOMAIN_LOG2))
    while True:
        terms = run_terms(magnitudes, stretch.half_length, run_log2)
        if run_log2 == LEAST_DOMAIN_LOG2 or (terms[0] + terms[1]) * RUN_SLACK <= window:
            return ErrorBudget(window, remainder, rounding, *terms), run_log2
        run_log2 -= 1


def _domain_log2(budget: ErrorBudget, run_log2: int) -> int:
    """log2 of the N that costs least an argument; 0 where a scan costs less than any."""
    choices = range(LEAST_DOMAIN_LOG2, min(run_log2, MOST_DOMAIN_LOG2) + 1)
    best = min(choices, key=lambda domain_log2: cost(budget, domain_log2))
    return best if cost(budget, best) < SCAN_COST else 0


def cost(budget: ErrorBudget, domain_log2: int) -> mpq:
    """Expected work an argument, in domain tests, with domains of 2^domain_log2 arguments."""
    n = 1 << domain_log2
    fails = min(mpq(1), 2 * n * budget.domain_window(n))
    scans = min(mpq(1), n * budget.domain_window(n // 8) / 4)
    return (1 + 8 * fails) / n + scans * SCAN_COST
