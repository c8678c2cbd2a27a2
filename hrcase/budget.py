"""The error budget of a block: every inequality between f and the kernels, term by term.

Unit: the spacing of the breakpoints, which are the integers. F is the position of f(x).
From the outside in:

    |F - k| < w                        what is asked
    |P - k| <= w + remainder + rounding of the coefficients          = block window
        remainder: Taylor (hrcase.taylor). Rounding: C_j is an integer multiple of
        2^-B (B = 64 limbs); |c_j - C_j 2^-B| <= r_j costs r_j h^j.
        The kernels' arithmetic on P is exact modulo 2^B, so nothing is added for it.
    |Q - k| <= block window + dropped terms + truncation             = run window
        Q is the cubic of a run of R arguments, |t| <= R/2 around its centre: the terms
        j >= 4 of the shifted P are dropped, at most B_j (R/2)^j each, and the coefficients
        0..3 are cut to 128 bits: at most 2^-128 (R/2)^j each.
    |line - k| <= run window + A2 N^2/8 + A3 N^3/8 + N 2^-53 + 2^-52 = domain window
        a2 s^2 lies in [0, a2 N^2/4] for |s| <= N/2; its middle is folded into the line.
        A3 |s|^3 <= A3 N^3/8. The slope is rounded to FRACTION_BITS = 52 bits (2^-53 a step),
        the value at the left end is cut (2^-52): lemma of cuda/tabulate.cuh.

B_j bounds |P^(j)/j!| on all run centres, A2 bounds |A2 + 3 A3 t| on all domain centres, A3 the
cubic coefficient. Each bound is an exact rational; roundings go upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from gmpy2 import mpq

from hrcase.formats import floor_log2, scale

FRACTION_BITS = 52
"""Bits of the coarsest arithmetic of the three-distance tests (cuda/arithmetic.cuh, Doubles)."""

RUN_BITS = 128
GROUP_BITS, GROUP_COEFFICIENTS = 256, 6  # as in cuda/polynomial.cuh

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The terms of one block's windows, in units of the breakpoints' spacing."""

    target: mpq
    remainder: mpq
    coefficient_rounding: mpq
    dropped_terms: mpq
    run_truncation: mpq
    quadratic_bound: mpq
    cubic_bound: mpq

    @property
    def block_window(self) -> mpq:
        """E of the candidate decision |P cmod 1| <= E."""
        return self.target + self.remainder + self.coefficient_rounding

    @property
    def run_window(self) -> mpq:
        """The window for the run's cubic."""
        return self.block_window + self.dropped_terms + self.run_truncation

    def domain_window(self, length: int) -> mpq:
        """The window for the line of a domain of `length` arguments."""
        quadratic = self.quadratic_bound * length**2 / 8
        cubic = self.cubic_bound * length**3 / 8
        return self.run_window + quadratic + cubic + line_rounding(length)

    def explain(self, length: int) -> list[str]:
        """The budget for people: one line a term, with its share of the target.

        Args:
            length: of a domain; 0 where there are none.
        """
        terms = {
            "target w": self.target,
            "Taylor remainder": self.remainder,
            "rounding of the coefficients": self.coefficient_rounding,
            "block window": self.block_window,
            "terms of degree 4 and more of a run": self.dropped_terms,
            "run coefficients cut to 128 bits": self.run_truncation,
            "run window": self.run_window,
        }
        if length:
            terms |= self._domain_terms(length)
        return [
            f"{name:38} {float(value):.4e}  {float(value / self.target):12.6f} w"
            for name, value in terms.items()
        ]

    def _domain_terms(self, length: int) -> dict[str, mpq]:
        return {
            f"quadratic term, N = {length}": self.quadratic_bound * length**2 / 8,
            f"cubic term, N = {length}": self.cubic_bound * length**3 / 8,
            f"line rounded to {FRACTION_BITS} bits": line_rounding(length),
            "domain window": self.domain_window(length),
        }


def line_rounding(length: int) -> mpq:
    """What the fixed point of a domain's line costs: slope, then value (cuda/tabulate.cuh)."""
    return scale(length, -FRACTION_BITS - 1) + scale(1, -FRACTION_BITS)


def shifted_bounds(magnitudes: Sequence[Number], reach: int) -> list[Number]:
    """Bounds of |P^(j)/j!| for |u| <= reach, j = 0 .. d, from bounds of |c_j|.

    They are the coefficients of the polynomial with these magnitudes around `reach`: pass i of the
    repeated Horner scheme leaves the i-th of them in place i.
    """
    bounds = list(magnitudes)
    for i in range(len(bounds)):
        for j in range(len(bounds) - 2, i - 1, -1):
            bounds[j] += bounds[j + 1] * reach
    return bounds


def run_terms(
    magnitudes: Sequence[int], bits: int, half_length: int, run_log2: int
) -> tuple[mpq, mpq, mpq, mpq]:
    """(dropped terms, truncation, quadratic bound, cubic bound) of runs of 2^run_log2 arguments.

    Run centres lie within half_length + R of the block's centre, domain centres within R of
    their run's: the last run and the last domain may reach beyond the block.

    Args:
        magnitudes: bounds of |c_j| in units of 2^-bits.
    """
    run = 1 << run_log2
    half = run // 2
    bounds = shifted_bounds(magnitudes, half_length + run)
    bounds += [0] * (4 - len(bounds))
    ulp = scale(1, -RUN_BITS)
    dropped = scale(sum(bound * half**j for j, bound in enumerate(bounds[4:], 4)), -bits)
    truncation = scale(sum(half**j for j in range(4)), -RUN_BITS)
    cubic = scale(bounds[3], -bits) + ulp
    quadratic = scale(bounds[2], -bits) + ulp + 3 * cubic * run
    return dropped, truncation, quadratic, cubic


def group_terms(
    magnitudes: Sequence[int], bits: int, half_length: int, run_log2: int, group_log2: int
) -> tuple[mpq, mpq]:
    """(dropped terms, truncation) of cubics that come from the polynomials of groups of runs.

    A group is 2^group_log2 runs; its polynomial is P around its centre, cut to GROUP_COEFFICIENTS
    of GROUP_BITS bits (cuda/polynomial.cuh, Group). Group centres lie within half_length + the
    length of a group of the block's centre. Around a run's centre, at most half a group away, its
    terms of degree 4 and 5 are dropped, and the rest is cut to RUN_BITS bits.

    Args:
        magnitudes: bounds of |c_j| in units of 2^-bits.
    """
    half, half_group = 1 << run_log2 - 1, 1 << run_log2 + group_log2 - 1
    bounds = shifted_bounds(magnitudes, half_length + 2 * half_group)
    cut = 1 << max(bits - GROUP_BITS, 0)  # what a coefficient loses, at most
    kept = [bound + cut for bound in bounds[:GROUP_COEFFICIENTS]]
    beyond = enumerate(bounds[GROUP_COEFFICIENTS:], GROUP_COEFFICIENTS)
    dropped = sum(bound * half_group**j for j, bound in beyond)
    dropped += sum(b * half**j for j, b in enumerate(shifted_bounds(kept, half_group)[4:], 4))
    truncation = scale(sum(half**j for j in range(4)), -RUN_BITS)
    truncation += scale(cut * sum(half_group**j for j in range(GROUP_COEFFICIENTS)), -bits)
    return scale(dropped, -bits), truncation


BOUND_BITS = 24
"""Bounds of errors are rounded up to so many bits: short enough to be written down."""


def rounded_up(bound: mpq) -> mpq:
    """The least number of BOUND_BITS bits that is not below a bound >= 0."""
    if bound == 0:
        return bound
    step = floor_log2(bound) - BOUND_BITS + 1
    return scale(ceil_scaled(scale(bound, -step), 0), step)


def ceil_scaled(value: mpq, bits: int) -> int:
    """Least integer n with value <= n 2^-bits, bits >= 0."""
    return int(-((-value.numerator << bits) // value.denominator))
