"""What an entry of the registry says of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gmpy2
from flint import arb, arb_series
from gmpy2 import mpq

from hrcase.formats import Infinite

RealPoint = Callable[[], arb]
"""A real number as an enclosure at flint's current precision."""


def no_critical_points(lo: mpq | Infinite, hi: mpq | Infinite) -> Iterator[RealPoint]:
    """For functions that are monotone on each interval of their domain."""
    del lo, hi
    return iter(())


@dataclass(frozen=True)
class Function:
    """A real function of one variable, with what a search must know of it.

    Attributes:
        name: what the user types.
        mpfr: f(x) correctly rounded in the precision and direction of a context.
        arb: an enclosure of f over a ball, at flint's current precision.
        series: f of a power series whose constant term may be a ball: the coefficients enclose
            f^(j)(x)/j! for every x of that ball.
        lo, hi: f is defined and searched for lo < x < hi (reals; +-inf allowed).
        outside: what is said of the arguments beyond lo and hi.
        outside_is_error: f is defined there, but not searched: asking for it is an error.
        monotone: the reason why f is monotone between consecutive critical points.
        critical_points: the points between two bounds where f may stop being monotone,
            ascending; f is monotone between neighbours.
        exact: f(x) where it is a dyadic rational, None where it is not. Must be complete.
        exact_rule: the theorem behind `exact`, in a sentence.
        identity_below: for |x| < this bound f(x) - x is monotone on each side of 0
            (0 where that is not so); `identity_reason` proves it.
        known_cases: (x, log2 of the distance in ulps) from the literature, in binary64.
    """

    name: str
    mpfr: Callable[[gmpy2.context, gmpy2.mpfr], gmpy2.mpfr]
    arb: Callable[[arb], arb]
    series: Callable[[arb_series], arb_series]
    exact: Callable[[mpq], mpq | None]
    exact_rule: str
    monotone: str
    lo: mpq | Infinite = float("-inf")
    hi: mpq | Infinite = float("inf")
    outside: str = ""
    outside_is_error: bool = False
    critical_points: Callable[[mpq | Infinite, mpq | Infinite], Iterator[RealPoint]] = (
        no_critical_points
    )
    identity_below: mpq = field(default_factory=lambda: mpq(0))
    identity_reason: str = ""
    known_cases: tuple[tuple[str, float], ...] = ()

    def contains(self, x: mpq) -> bool:
        """Whether f is defined and searched at x."""
        return bool(self.lo < x < self.hi)
