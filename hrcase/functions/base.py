"""What an entry of the registry says of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpq

from hrcase.formats import Format, Infinite

RealPoint = Callable[[], arb]
"""A real number as an enclosure at flint's current precision."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Arguments lo <= x <= hi that a theorem of the function's own settles.

    Attributes:
        kind, which: as in hrcase.pieces.Settlement.
        reason: the theorem; it names the poles among them, which are no cases.
    """

    lo: mpq | Infinite
    hi: mpq | Infinite
    kind: str
    reason: str
    which: str = ""


def nowhere(lo: mpq | Infinite, hi: mpq | Infinite) -> Iterator[RealPoint]:
    """For functions that are monotone on each interval of their domain."""
    del lo, hi
    return iter(())


def no_poles(lo: mpq, hi: mpq) -> Iterator[mpq]:
    """For functions that are defined everywhere between the ends of their domain."""
    del lo, hi
    return iter(())


def zero_if_between(lo: mpq, hi: mpq) -> Iterator[mpq]:
    """For functions with a pole at 0 and nowhere else."""
    if lo <= 0 <= hi:
        yield mpq(0)


def no_tails(inp: Format, out: Format, bits: int, rounding: str) -> list[Tail]:
    """For functions whose every range the general theorems take care of."""
    del inp, out, bits, rounding
    return []


NONE_KNOWN = (
    "no dyadic x with a dyadic value is known; that there is none is not proved, and a search that "
    "met one would stop with an error"
)


def never(x: mpq) -> mpq | None:
    """The rule of a function without a dyadic value at a dyadic argument, as far as is known."""
    del x
    return None


def only_at(point: int, value: int) -> Callable[[mpq], mpq | None]:
    """The rule of a function whose one dyadic value at a dyadic argument is this."""
    return lambda x: mpq(value) if x == point else None


@dataclass(frozen=True)
class Function:
    """A real function of one variable, with what a search must know of it.

    Attributes:
        name: what the user types.
        formula: what it is, in a few characters.
        mpfr: f(x) correctly rounded in the precision and direction of a context.
        arb: an enclosure of f over a ball, at flint's current precision.
        series: f of the power series x + t, where x may be a ball: the coefficients enclose
            f^(j)(x)/j! for every x of that ball.
        exact: f(x) where it is a dyadic rational, or known to be another one; None elsewhere.
        exact_rule: the theorem behind `exact`, in a sentence.
        exponent: (a, b) where f(x) = x^(a/b), a, b >= 1 without a common factor: exact results then
            have a closed form (hrcase.exact_powers). None elsewhere.
        monotone: the reason why f is strictly monotone between consecutive critical points,
            poles, 0 and ends of the domain.
        lo, hi: f is defined and searched for lo < x < hi (reals; +-inf allowed).
        closed: f is defined at lo and hi too.
        outside: what is said of the arguments beyond lo and hi.
        outside_is_error: f is defined there, but not searched: asking for it is an error.
        poles: the dyadic points between two bounds, both included, at which f is not defined;
            ascending.
        poles_in_words: what they are.
        critical_points: the points between two bounds where f may stop being monotone,
            ascending, and perhaps one more at either end. A rational one is an exact ball.
        symmetry: "odd", "even" or "".
        copies_from: for |x| from this bound on a binade holds several copies of the same cases,
            as `copies` says; None where no binade does. Only the law depends on it (hrcase.law).
        tails: what theorems of its own settle (input and output format, M, rounding choice),
            ascending and disjoint.
        tails_in_words: these theorems, before the numbers are put in.
        identity_below: for |x| < this bound, at most 1, f(x) - s x, s = 2^slope_log2, is strictly
            monotone on each side of 0, |f(x)| < 1 and |f(x) - s x| <= x^2 (0 where that is not
            so); `identity_reason` proves the first, docs/functions.md the others.
        slope_log2: log2 of the slope at 0, at most 0, of a function with an `identity_below`.
        bracket: numbers lo <= f(x) <= hi by directed rounding in a precision, NaN where there are
            none; for functions whose values are not rounded correctly. None for the others.
        decided_bits: 0 where `exact` is a theorem. Else B: where an evaluation with B bits does
            not tell f(x) from a breakpoint, it counts as exact.
        evaluators: how the two evaluators compute f.
        known_cases: (x, log2 of the distance in ulps) from the literature, in binary64.
    """

    name: str
    formula: str
    mpfr: Callable[[gmpy2.context, gmpy2.mpfr], gmpy2.mpfr]
    arb: Callable[[arb], arb]
    series: Callable[[arb_series], arb_series]
    exact: Callable[[mpq], mpq | None]
    exact_rule: str
    monotone: str
    lo: mpq | Infinite = float("-inf")
    hi: mpq | Infinite = float("inf")
    closed: bool = False
    outside: str = ""
    outside_is_error: bool = False
    poles: Callable[[mpq, mpq], Iterator[mpq]] = no_poles
    poles_in_words: str = ""
    critical_points: Callable[[mpq, mpq], Iterator[RealPoint]] = nowhere
    symmetry: str = ""
    copies_from: mpq | None = None
    copies: str = ""
    tails: Callable[[Format, Format, int, str], list[Tail]] = no_tails
    tails_in_words: str = ""
    identity_below: mpq = field(default_factory=lambda: mpq(0))
    identity_reason: str = ""
    slope_log2: int = 0
    bracket: Callable[[int, gmpy2.mpfr], tuple[gmpy2.mpfr, gmpy2.mpfr]] | None = None
    decided_bits: int = 0
    exponent: tuple[int, int] | None = None
    evaluators: str = "MPFR and Arb, each by a function of its own"
    known_cases: tuple[tuple[str, float], ...] = ()

    @property
    def tangent(self) -> str:
        """What f(x) is nearly, next to 0, if it has an `identity_below`: x, or x/2."""
        return f"x/{1 << -self.slope_log2}" if self.slope_log2 else "x"

    def contains(self, x: mpq) -> bool:
        """Whether f is defined and searched at x."""
        inside = self.lo <= x <= self.hi if self.closed else self.lo < x < self.hi
        return bool(inside) and next(self.poles(x, x), None) is None
