"""From a searched piece to blocks: degree, limbs and lengths, chosen per block.

The choices touch speed alone: whatever they are, the windows are proved for them
(hrcase.budget). They follow from the sizes of the Taylor coefficients:

* a block is as long as its degree allows with a remainder of w/SLACK, a power of two; the degree is
  the lowest of DEGREES with which it ends the piece or keeps a device busy for a while. Neither
  method nor engine has a say in that, so that the candidates are the same for all of them;
* runs of the Farey walk have the length that costs least (hrcase.cost), however far their window is
  above w;
* runs for the three-distance tests are as long as their dropped terms stay below w/RUN_SLACK, and
  domains hold the number of arguments that costs least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2

from gmpy2 import mpq

from hrcase.budget import ErrorBudget, ceil_scaled, group_terms, rounded_up, run_terms
from hrcase.cost import (
    DOMAIN,
    EVALUATION,
    LEAST_DOMAIN_LOG2,
    SCAN,
    Sizes,
    best_domain,
    best_walk,
    domain_cost,
    fractions,
    own_errors,
    scan_cost,
    sizes_of,
    to_double,
)
from hrcase.engine import Block
from hrcase.formats import floor_log2, scale
from hrcase.pieces import Piece
from hrcase.spec import SearchSpec
from hrcase.taylor import Stretch, TaylorModel, derivative_bounds, taylor_model

DEGREES = (3, 8, 14)
ENOUGH_FRACTIONS = 2.0**28
"""A device walks through so many fractions in the time that planning a block takes."""

SLACK = 1024
RUN_SLACK = 4
SPARE = mpq(1025, 1024)
"""A remainder is stated so much larger than it was proved to be: whoever proves it again may use
balls that are a little wider."""

LONGEST_LOG2 = 60
"""A block is at most so long, so that its u fit the kernels."""

LONGEST_RUN_LOG2 = 27
"""Of the runs for the three-distance tests."""

SHORTEST_RUN_LOG2 = 2
"""Of the runs of a scan."""

MOST_RUNS = 1 << 19
"""Runs in one call of an engine: a device keeps something of each."""

GROUPS_LOG2 = (6, 4, 2)
"""A group of so many runs shares a polynomial if that costs next to nothing of the window."""

LIMB_STEP = 2
MOST_LIMBS = 12
"""Limbs are multiples of LIMB_STEP: each (degree, limbs) in use is a kernel to compile."""

SHORTEST_LOG2 = 4
"""Where not even so few arguments have a polynomial they are evaluated one by one."""

GUARD_BITS = 16
"""So much finer than the coefficients their rounding is counted."""

KEPT_BITS = 20
"""A coefficient is rounded where that costs w/2^KEPT_BITS: what lies below is noise, and would only
make certificates long."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the plan is told. None lets it choose; a test may fix it.

    Attributes:
        domain_log2: log2 of N.
        scan: ranges of at most so many arguments are scanned (None: hrcase.domain.DEFAULT_SCAN).
        method: for which the lengths are chosen: "regular", "lefevre", "farey" or "scan".
        second: by which every unit is searched once more, to compare; None for no second time.
    """

    domain_log2: int | None = None
    scan: int | None = None
    method: str = "regular"
    second: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block ready for an engine.

    Attributes:
        first: ordinal of its first argument, u = block.lo.
        count: how many arguments it holds.
        block: the engine's input; None where the arguments must be evaluated one by one.
        method: by which it is searched: "scan" where that costs least.
        cost: of an argument, in instructions (hrcase.cost).
        budget: the proof of its windows; None where nobody asked for it.
        is_second: it is searched to be compared with another method's answer.
    """

    first: int
    count: int
    block: Block | None
    method: str
    cost: float
    budget: ErrorBudget | None
    is_second: bool = False

    @property
    def work(self) -> float:
        """What it costs, in domain tests."""
        return self.count * self.cost / DOMAIN

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
        runs = int(most_work / self.work * self.count) // run
        runs = max(1, min(runs, MOST_RUNS))
        if runs >= self.block.runs:
            yield self
            return
        for lo in range(self.block.lo, self.block.hi, runs * run):
            block = replace(self.block, lo=lo, hi=min(lo + runs * run, self.block.hi))
            first = self.ordinal(lo)
            yield replace(self, first=first, count=block.hi - block.lo, block=block)


def plan(spec: SearchSpec, piece: Piece, tuning: Tuning) -> Iterator[PlannedBlock]:
    """The blocks of a searched piece, or of a part of one, ascending; they tile it.

    Arguments without a polynomial mostly have neighbours without one: after some as many again are
    evaluated before a polynomial is tried again, so that trying takes no time to speak of.
    """
    lo, evaluated = piece.lo, 0
    while lo < piece.hi:
        block = next_block(spec, piece, lo, tuning)
        if block.block is not None:
            evaluated = 0
        else:
            block = replace(block, count=min(max(block.count, evaluated), piece.hi - lo))
            evaluated += block.count
        yield block
        lo += block.count


def next_block(spec: SearchSpec, piece: Piece, lo: int, tuning: Tuning) -> PlannedBlock:
    """The block that begins at ordinal lo of a piece."""
    m, exponent = spec.inp.parts(lo)
    left = piece.hi - lo
    axis, window = spec.lattice(piece.key), spec.window(piece.key)
    degree, length = _degree_and_length(spec, piece, m, exponent, left)
    while length >= 1 << SHORTEST_LOG2 or length == left:
        half = length // 2
        stretch = Stretch(m + half, exponent, -half, length - half)
        limbs = limbs_for(window, stretch, degree)
        if limbs <= MOST_LIMBS:
            precision = 64 * limbs + spec.out.precision + 64
            model = taylor_model(spec.function, axis, stretch, degree, precision)
            if model.remainder * SLACK <= window:
                planned = encode(lo, stretch, model, window, limbs, tuning)
                if planned is not None:
                    return planned
        length = _shorter(length)
    count = min(left, 1 << SHORTEST_LOG2)
    return PlannedBlock(lo, count, None, "scan", EVALUATION, None)


def _shorter(length: int) -> int:
    """The next power of two below a length."""
    return 1 << (length - 1).bit_length() - 1 if length > 1 else 0


def _degree_and_length(
    spec: SearchSpec, piece: Piece, m: int, exponent: int, left: int
) -> tuple[int, int]:
    """A first guess from the Taylor coefficients at the start of the block."""
    window, axis = spec.window(piece.key), spec.lattice(piece.key)
    orders = [2, *(degree + 1 for degree in DEGREES)]
    here = Stretch(m, exponent, 0, 0)
    quadratic, *following = derivative_bounds(spec.function, axis, here, orders)
    passed = fractions(to_double(quadratic))
    for degree, bound in zip(DEGREES, following, strict=True):
        longest = LONGEST_LOG2
        if bound > 0:
            longest = min(longest, 1 + int(_log2(window / SLACK / bound) / (degree + 1)))
        length = min(left, 1 << max(longest, 0))
        if length == left or length * passed >= ENOUGH_FRACTIONS:
            break
    return degree, length


def _log2(value: mpq) -> float:
    """log2 of a positive rational of any size, good enough for a guess."""
    shift = int(value.numerator.bit_length() - value.denominator.bit_length())
    return shift + log2(float(scale(value, -shift)))


def limbs_for(window: mpq, stretch: Stretch, degree: int) -> int:
    """Limbs so that rounding the coefficients costs at most w/SLACK."""
    bits = degree * stretch.half_length.bit_length() - _log2(window / SLACK) + 4
    return LIMB_STEP * max(1, ceil(bits / (64 * LIMB_STEP)))


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A polynomial in fixed point, before its lengths are chosen."""

    stretch: Stretch
    coefficients: list[int]
    limbs: int
    target: mpq
    remainder: mpq
    rounding: mpq

    @property
    def sizes(self) -> Sizes:
        window = to_double(self.target + self.remainder + self.rounding)
        return sizes_of(self.coefficients, self.limbs, self.stretch.half_length, window)

    @property
    def length_log2(self) -> int:
        """log2 of the shortest run that holds the block."""
        return max(1, (self.stretch.hi - self.stretch.lo - 1).bit_length())

    def budget(self, run_log2: int) -> ErrorBudget:
        """The error budget with runs of 2^run_log2 arguments."""
        magnitudes = [abs(c) for c in self.coefficients]
        terms = run_terms(magnitudes, 64 * self.limbs, self.stretch.half_length, run_log2)
        return ErrorBudget(self.target, self.remainder, self.rounding, *map(rounded_up, terms))

    def grouped(self, budget: ErrorBudget, run_log2: int, group_log2: int) -> ErrorBudget:
        """The budget where the cubics come from the polynomials of groups of 2^group_log2 runs."""
        magnitudes, half = [abs(c) for c in self.coefficients], self.stretch.half_length
        terms = group_terms(magnitudes, 64 * self.limbs, half, run_log2, group_log2)
        dropped, truncation = map(rounded_up, terms)
        return replace(budget, dropped_terms=dropped, run_truncation=truncation)


def encode(
    first: int, stretch: Stretch, model: TaylorModel, window: mpq, limbs: int, tuning: Tuning
) -> PlannedBlock | None:
    """Coefficients as integers, runs and domains, windows; None where no run is short enough."""
    coefficients, rounding = _fixed_point(model, stretch.half_length, 64 * limbs, window)
    errors = rounded_up(model.remainder * SPARE), rounded_up(rounding)
    encoded = _Encoded(stretch, coefficients, limbs, window, *errors)
    return _planned(first, encoded, tuning)


def by_method(planned: PlannedBlock, method: str) -> PlannedBlock:
    """The same polynomial and window, so the same candidates, cut for another method.

    The block must have its budget. A scan, with the runs that it has, where the other method takes
    none of its runs.
    """
    block, budget = planned.block, planned.budget
    assert block is not None and budget is not None
    stretch = Stretch(0, 0, block.lo, block.hi)  # only its lengths matter from here on
    proved = budget.target, budget.remainder, budget.coefficient_rounding
    encoded = _Encoded(stretch, list(block.coefficients), block.limbs, *proved)
    other = _planned(planned.first, encoded, Tuning(method=method))
    return replace(other or replace(planned, method="scan"), is_second=True)


def second_method(method: str) -> str:
    """The method to compare another one with: the Farey walk, and a three-distance test with it."""
    return "regular" if method == "farey" else "farey"


def _planned(first: int, encoded: _Encoded, tuning: Tuning) -> PlannedBlock | None:
    stretch, coefficients, limbs = encoded.stretch, encoded.coefficients, encoded.limbs
    lengths = _walk(encoded) if tuning.method == "farey" else None
    if lengths is None:
        lengths = _domains(encoded, tuning)
    budget = lengths.budget
    if budget.run_window >= mpq(1, 2):
        return None
    block = Block(
        degree=len(coefficients) - 1,
        limbs=limbs,
        coefficients=tuple(coefficients),
        window=ceil_scaled(budget.block_window, 64 * limbs),
        lo=stretch.lo,
        hi=stretch.hi,
        run_log2=lengths.run_log2,
        run_window=ceil_scaled(budget.run_window, 128),
        domain_log2=lengths.domain_log2,
        domain_windows=lengths.domain_windows,
        group_log2=lengths.group_log2,
    )
    count = stretch.hi - stretch.lo
    return PlannedBlock(first, count, block, lengths.method, lengths.cost, budget)


def _fixed_point(
    model: TaylorModel, half_length: int, bits: int, window: mpq
) -> tuple[list[int], mpq]:
    """Integers C_j in units of 2^-bits, and a bound of sum |c_j - C_j 2^-bits| half_length^j."""
    integers, rounding = [], 0
    for j, (low, high) in enumerate(model.coefficients):
        least, most = -ceil_scaled(-low, bits + GUARD_BITS), ceil_scaled(high, bits + GUARD_BITS)
        noise = bits + floor_log2(window) - KEPT_BITS - j * half_length.bit_length()
        unit = GUARD_BITS + max(0, noise)
        nearest = ((least + most + (1 << unit)) >> (unit + 1)) << unit
        rounding += max(most - nearest, nearest - least) * half_length**j
        integers.append(nearest >> GUARD_BITS)
    return integers, scale(rounding, -bits - GUARD_BITS)


@dataclass(frozen=True, slots=True)
class _Lengths:
    """Runs and domains of a block."""

    method: str
    run_log2: int
    budget: ErrorBudget
    cost: float
    domain_log2: int = 0
    domain_windows: tuple[int, int] = (0, 0)
    group_log2: int | None = None


def _walk(encoded: _Encoded) -> _Lengths | None:
    """The runs of the Farey walk; None where a scan costs less than any."""
    run_log2, cost = best_walk(encoded.sizes, encoded.length_log2)
    if cost >= SCAN:
        return None
    budget = encoded.budget(run_log2)
    for group_log2 in GROUPS_LOG2:
        grouped = encoded.grouped(budget, run_log2, group_log2)
        if grouped.run_window - budget.run_window <= encoded.target / SLACK:
            return _Lengths("farey", run_log2, grouped, cost, group_log2=group_log2)
    return _Lengths("farey", run_log2, budget, cost)


def _domains(encoded: _Encoded, tuning: Tuning) -> _Lengths:
    """Runs and domains of the three-distance tests; no domains where a scan costs less."""
    run_log2, budget = _longest_runs(encoded)
    if tuning.domain_log2 is None:
        domain_log2, cost = best_domain(budget, run_log2)
        wanted = tuning.method in ("regular", "lefevre") and cost < SCAN
    else:
        domain_log2 = min(tuning.domain_log2, run_log2)
        cost = domain_cost(budget, domain_log2)
        wanted = domain_log2 >= LEAST_DOMAIN_LOG2
    lengths = (1 << domain_log2, 1 << domain_log2 - 3) if wanted else ()
    windows = [ceil_scaled(budget.domain_window(length), 64) for length in lengths]
    if not windows or max(windows) >= 1 << 62:
        return _scan(encoded, run_log2, budget)
    return _Lengths(tuning.method, run_log2, budget, cost, domain_log2, (windows[0], windows[1]))


def _scan(encoded: _Encoded, run_log2: int, budget: ErrorBudget) -> _Lengths:
    """The runs of a scan: the longest ones, or shorter ones if their cubics say much more.

    Next to a pole the cubic of 64 arguments may say nothing, and that of four nearly all.
    """
    if run_log2 == LEAST_DOMAIN_LOG2:
        sizes = encoded.sizes
        shorter = {log2: encoded.budget(log2) for log2 in range(SHORTEST_RUN_LOG2, run_log2)}
        costs = {
            log2: scan_cost(sizes, log2, to_double(choice.run_window))
            for log2, choice in (*shorter.items(), (run_log2, budget))
        }
        best = min(reversed(costs), key=costs.__getitem__)
        if best < run_log2:
            return _Lengths("scan", best, shorter[best], costs[best])
    return _Lengths("scan", run_log2, budget, SCAN)


def _longest_runs(encoded: _Encoded) -> tuple[int, ErrorBudget]:
    """The longest runs whose own errors stay below w/RUN_SLACK, and the whole budget."""
    run_log2 = max(LEAST_DOMAIN_LOG2, min(LONGEST_RUN_LOG2, encoded.length_log2))
    sizes, most = encoded.sizes, to_double(encoded.target) / RUN_SLACK
    while run_log2 > LEAST_DOMAIN_LOG2 and own_errors(sizes, 2.0 ** (run_log2 - 1)) > most:
        run_log2 -= 1
    while True:
        budget = encoded.budget(run_log2)
        own = budget.dropped_terms + budget.run_truncation
        if run_log2 == LEAST_DOMAIN_LOG2 or own * RUN_SLACK <= encoded.target:
            return run_log2, budget
        run_log2 -= 1
