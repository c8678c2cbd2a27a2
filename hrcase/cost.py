"""What a search costs, and the lengths of runs and domains that cost least.

The unit is an instruction of one lane, as a device's profiler counts them. Only speed depends on
this module: the windows are proved for whatever lengths it gives (hrcase.budget).

A run of 2^R arguments, H = 2^(R-1), costs the Farey walk

    START + its expansion from the block's polynomial,
    FRACTION for each fraction that its slope passes, 6/pi^2 A2^(1/3) of them an argument,
    PROPOSAL for each argument inside the parabola's window, which holds |A3| H^3/4,
    the decision by P for each argument inside the run's window (a hit).

Longer runs start less often; their windows grow as H^3. Where A2 H^3 < 1/8 a run is a line, and
A2 H^2/2 stands in its window. A domain of N arguments costs one test; it fails with chance 2 E1 N,
then costs eight tests more, and each of its subdomains fails with chance 2 E2 N/8, then costs a
scan. With the quadratic term alone E1 = A2 N^2/8, so that N ~ A2^(-1/3), whatever the binade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cbrt, inf, ldexp, pi

from gmpy2 import mpq

from hrcase.budget import FRACTION_BITS, ErrorBudget, shifted_bounds

DOMAIN = 660.0
"""A three-distance test of a domain (docs/benchmarks.md)."""

SCAN = DOMAIN / 32
"""An argument scanned, roughly, on CPU and device."""

EVALUATION = 320 * DOMAIN
"""An argument decided by Ziv's loop, about 0.1 ms of a core."""

START = 3250.0
"""The start of a run: the descent to its first fraction and what the walk keeps of it."""

FRACTION = 40.0
"""A step of the walk, with the integers that it crosses."""

PROPOSAL = 1350.0
"""An argument proposed by the walk, which keeps all lanes of a warp, and decided by the cubic."""

LIMB = 16.0
"""A Horner step, a limb."""

LEAST_RUN_LOG2, MOST_RUN_LOG2 = 2, 31
"""What docs/farey.md proves the walk for."""

SMALL_DENOMINATOR = 64
LARGEST_C = 8.0
"""A device walks with this c, a processor with 1 (docs/farey.md): arcs are longer there."""

LINEAR_REGIME, WIDEST_WINDOW, MOST_ORDER = 1 / 8, 1 / 8, 2.0**30  # as in cuda/farey_run.cuh
LEAST_DOMAIN_LOG2, MOST_DOMAIN_LOG2 = 6, 30


@dataclass(frozen=True)
class Sizes:
    """A block in round numbers.

    Attributes:
        degree, limbs: of its polynomial P.
        window: of P.
        bounds: of |P^(j)/j!|, j = 0 .. degree, on the block; at least four of them.
        far: |V|/q of the runs whose slopes lie on the arc of one fraction of a small q, times their
            share of the block. The slack of the walk holds a share of |V| (lemma 6): in flat
            pieces, where slopes are near 0 everywhere, it is large in every run.
    """

    degree: int
    limbs: int
    window: float
    bounds: tuple[float, ...]
    far: float = 0.0

    @property
    def expansion(self) -> float:
        """The cubic of a run, from the polynomial of its group; and a share of that one's own."""
        return (4 * 5 * 4 + 6 * self.degree * self.limbs / 64) * LIMB

    @property
    def shift(self) -> float:
        """The cubic of a run from the block's polynomial, where no group has one of its own."""
        return self.degree * (self.degree + 1) / 2 * self.limbs * LIMB

    @property
    def decision(self) -> float:
        """Evaluating P."""
        return (self.degree + 1) * self.limbs * LIMB


def sizes_of(coefficients: Sequence[int], limbs: int, half_length: int, window: float) -> Sizes:
    """The sizes of a block with these coefficients, in units of 2^(-64 limbs)."""
    magnitudes = [rough(abs(c), -64 * limbs) for c in coefficients]
    bounds = shifted_bounds(magnitudes, half_length)
    bounds += [0.0] * (4 - len(bounds))
    slope = coefficients[1] % (1 << 64 * limbs)
    far = far_of(rough(slope, -64 * limbs), bounds[2], half_length)
    return Sizes(len(coefficients) - 1, limbs, window, tuple(bounds), far)


def far_of(slope: float, a2: float, half_length: int) -> float:
    """`Sizes.far`: V/q = d^2/(4 A2), where the slope is at most d from a fraction (lemma 2)."""
    if not 0 < a2 <= 1:
        return 0.0
    near = Fraction(slope).limit_denominator(SMALL_DENOMINATOR)
    distance, change = abs(slope - float(near)), 2 * a2 * half_length
    arc = cbrt(LARGEST_C * a2) / near.denominator  # 1/(q Q), Q = (c A2)^(-1/3)
    farthest, nearest = min(distance + change, arc), max(distance - change, -arc)
    if nearest >= farthest:
        return 0.0
    return (farthest - nearest) / (2 * change) * farthest**2 / (4 * a2)


def rough(integer: int, exponent: int) -> float:
    """integer 2^exponent >= 0 to a few digits; inf where it is beyond the doubles."""
    excess = max(int(integer).bit_length() - 64, 0)
    try:
        return ldexp(float(integer >> excess), excess + exponent)
    except OverflowError:
        return inf


def to_double(value: mpq) -> float:
    """The nearest double; inf beyond the doubles."""
    try:
        return float(value)
    except OverflowError:
        return inf


def own_errors(sizes: Sizes, half: float) -> float:
    """What a run of 2 half arguments adds to the window of P: terms dropped, bits cut."""
    dropped = 0.0
    for bound in reversed(sizes.bounds[4:]):
        dropped = (dropped + bound) * half
    return dropped * half**3 + 2.0**-128 * (1 + half + half**2 + half**3)


def fractions(quadratic: float) -> float:
    """Fractions that a walk passes an argument (c = 1, docs/farey.md), A2 being `quadratic`."""
    return 6 / pi**2 * cbrt(quadratic)


def walk_cost(sizes: Sizes, run_log2: int) -> float:
    """The cost of an argument in runs of 2^run_log2; inf where the walk does not go."""
    half = 2.0 ** (run_log2 - 1)
    a2, a3 = sizes.bounds[2:4]
    hits = sizes.window + own_errors(sizes, half)
    window = hits + a3 * half**3 / 4 + 2.0**-52 * (1 + a2 * half**2)
    passed = 0.0
    if a2 * half**3 < LINEAR_REGIME:
        window += a2 * half**2 / 2
    else:
        order = max(1.0, min(1 / cbrt(a2), MOST_ORDER))
        drift = 16 * (2.0**-36 + 2.0**-52 * (4 * a2 * half * order**2 + 2))  # kappa of lemma 6
        window += drift * (1 / 2 + a2 * half**2 + sizes.far)
        passed = fractions(a2) * 2 * half + 2
    if not window <= WIDEST_WINDOW:
        return inf
    run = START + sizes.expansion + passed * FRACTION
    return run / (2 * half) + 2 * window * PROPOSAL + 2 * hits * sizes.decision


def best_walk(sizes: Sizes, most_log2: int) -> tuple[int, float]:
    """(log2 of a run, cost of an argument) of the runs of at most 2^most_log2 that cost least."""
    choices = range(LEAST_RUN_LOG2, max(LEAST_RUN_LOG2, min(most_log2, MOST_RUN_LOG2)) + 1)
    costs = {run_log2: walk_cost(sizes, run_log2) for run_log2 in choices}
    best = min(choices, key=costs.__getitem__)
    return best, costs[best]


def scan_cost(sizes: Sizes, run_log2: int, window: float) -> float:
    """The cost of an argument scanned in short runs of 2^run_log2; inf where all would be hits.

    Args:
        window: of a run's cubic.
    """
    if window >= 1 / 2:
        return inf
    return SCAN + sizes.shift / 2.0**run_log2 + 2 * window * sizes.decision


def domain_cost(budget: ErrorBudget, domain_log2: int) -> float:
    """The cost of an argument in domains of 2^domain_log2."""
    n = 2.0**domain_log2
    window, quadratic, cubic = (
        to_double(term) for term in (budget.run_window, budget.quadratic_bound, budget.cubic_bound)
    )

    def line(length: float) -> float:
        bent = (quadratic + cubic * length) * length**2 / 8
        return window + bent + (length / 2 + 1) * 2.0**-FRACTION_BITS

    fails, scans = min(1.0, 2 * n * line(n)), min(1.0, n * line(n / 8) / 4)
    return (1 + 8 * fails) / n * DOMAIN + scans * SCAN


def best_domain(budget: ErrorBudget, run_log2: int) -> tuple[int, float]:
    """(log2 of N, cost of an argument) of the domains of a run that cost least."""
    choices = range(LEAST_DOMAIN_LOG2, max(LEAST_DOMAIN_LOG2, min(run_log2, MOST_DOMAIN_LOG2)) + 1)
    costs = {domain_log2: domain_cost(budget, domain_log2) for domain_log2 in choices}
    best = min(choices, key=costs.__getitem__)
    return best, costs[best]
