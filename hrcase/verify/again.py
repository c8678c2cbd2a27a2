"""Searching again, by another method: sub-intervals that a seed chooses, or everything.

A sub-interval gets a Taylor polynomial of its own (not the one of the certificate); what may be
near a breakpoint by `hrcase.verify.near` is evaluated, and must be what is listed.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from flint import arb
from gmpy2 import mpq

from hrcase.formats import scale
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis
from hrcase.verify.balls import coefficients, precision
from hrcase.verify.classify import CASE, EXACT, classify
from hrcase.verify.exact import ClosedForms
from hrcase.verify.findings import Contradiction, at
from hrcase.verify.near import Target, line_length, near_integers
from hrcase.verify.polynomials import Geometry, remainder_bound

DEGREE = 4
BITS = 320
LONGEST_LOG2 = 40
LINES = 1 << 10
"""Counts that a sub-interval takes, about: a tenth of a second."""

FEW = 32
"""Arguments of each sub-interval that are evaluated one by one as well."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What is listed in a place: ordinals, ascending.

    Attributes:
        exact: None where nobody says which are exact.
        forms: of exact results that are counted, not listed.
    """

    cases: Sequence[int]
    exact: Sequence[int] | None
    forms: ClosedForms | None = None

    def within(self, lo: int, hi: int) -> Listed:
        """That of a part of a piece, with the exact results in closed form."""
        cases, exact = _part(self.cases, lo, hi), None
        if self.exact is not None:
            counted = self.forms.within(lo, hi) if self.forms else None
            exact = [*_part(self.exact, lo, hi), *(counted or ())]
        return Listed(cases, exact)


def _part(ordinals: Sequence[int], lo: int, hi: int) -> list[int]:
    return list(ordinals[bisect_left(ordinals, lo) : bisect_left(ordinals, hi)])


@dataclass
class Covered:
    """How much was searched again, places that overlap taken together.

    Attributes:
        ranges: half-open, in any order; they may overlap.
        found: cases in them.
        most_window: the windows of all binades are about the same; the largest one.
    """

    ranges: list[tuple[int, int]] = field(default_factory=list)
    evaluated: int = 0
    found: set[int] = field(default_factory=set)
    most_window: float = 0.0

    @property
    def arguments(self) -> int:
        """Those in the ranges, each counted once."""
        total, end = 0, None
        for lo, hi in sorted(self.ranges):
            first = lo if end is None else max(lo, end)
            total += max(0, hi - first)
            end = hi if end is None else max(end, hi)
        return total

    def in_words(self, arguments: int) -> str:
        """What was searched, of so many arguments."""
        return (
            f"{len(self.ranges)} sub-intervals, {self.arguments:.4g} of {arguments:.4g} arguments, "
            f"by counting points near lines, {self.evaluated} arguments of them evaluated: "
            f"{len(self.found)} cases, as listed; {self.chances(arguments)}"
        )

    def chances(self, arguments: int) -> str:
        """With which chance something missing would have been seen; 2w is the law's share."""
        share = self.arguments / arguments
        expected = 2 * self.most_window * self.arguments
        return (
            f"one missing case, anywhere, would have been seen with chance {share:.3g}; a list "
            f"that lacks a share q of its cases with chance 1 - exp(-{expected:.3g} q)"
        )


def target_of(spec: SearchSpec, axis: Axis, lo: int, hi: int) -> tuple[Target, Geometry] | None:
    """A polynomial on a range within one binade of x and of f(x), with a window for all cases; None
    where the range is too long for one of this degree."""
    remainder = remainder_bound(spec, axis, lo, hi, DEGREE + 1)
    if 4 * remainder > axis.window:
        return None
    place, modulus = Geometry(spec, lo, hi), 1 << BITS
    integers, rounding = [], mpq(0)
    with precision(BITS + 2 * spec.out.precision):
        series = coefficients(spec.function, arb((place.centre, place.exponent)), DEGREE)
        for j, ball in enumerate(series):
            mid, radius = (_exact(part) for part in (ball.mid(), ball.rad()))
            unit = scale(modulus, place.exponent * j) / axis.spacing
            value = mid * unit - (0 if j else axis.offset * modulus)
            integers.append(int(value // 1))
            rounding += (1 + radius * unit) * place.reach**j
    error = axis.window + remainder + rounding / modulus
    if error >= mpq(1, 2):
        return None
    return Target(integers, modulus, int(error * modulus) + 1), place


def _exact(point: arb) -> mpq:
    m, e = (int(part) for part in point.man_exp())
    return scale(m, e)


def search_place(
    spec: SearchSpec, axis: Axis, lo: int, hi: int, listed: Listed, covered: Covered
) -> None:
    """Search a part of a range that begins at an ordinal, and compare it with what is listed.

    Raises:
        Contradiction: something is missing, or is listed that should not be.
    """
    end = min(hi, lo + (1 << LONGEST_LOG2))
    found = target_of(spec, axis, lo, end)
    while found is None and end - lo > FEW:
        end = lo + (end - lo) // 2
        found = target_of(spec, axis, lo, end)
    few = range(lo, min(lo + FEW, end))
    if found is None:
        end, near = few.stop, list(few)
    else:
        target, place = found
        end = min(end, lo + LINES * line_length(target, 0))
        last = place.lo + end - lo
        near = [lo + u - place.lo for u in near_integers(target, place.lo, last)]
    compare(spec, lo, end, near, listed)
    compare(spec, lo, few.stop, few, listed)
    covered.ranges.append((lo, end))
    covered.evaluated += len(few) + len(near)
    covered.found |= set(listed.within(lo, end).cases)
    covered.most_window = max(covered.most_window, float(axis.window))


def compare(spec: SearchSpec, lo: int, hi: int, near: Iterable[int], listed: Listed) -> None:
    """Evaluate all arguments of a range that may be cases, and compare them with the list."""
    verdicts = {ordinal: classify(spec, ordinal) for ordinal in near}
    here = listed.within(lo, hi)
    for kind, stated in ((CASE, here.cases), (EXACT, here.exact)):
        if stated is None:
            continue
        found = {i for i, verdict in verdicts.items() if verdict == kind}
        for ordinal in sorted(found ^ set(stated)):
            word = "is missing" if ordinal in found else "is listed, and the search gives it not"
            raise Contradiction("search", f"{at(spec.inp, ordinal)}, {kind}, {word}")
    undecided = [ordinal for ordinal, verdict in verdicts.items() if verdict is None]
    if undecided:
        raise Contradiction(
            "search", f"{at(spec.inp, undecided[0])} could not be told from a breakpoint"
        )


def choose(generator: random.Random, ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """(place in the sequence, ordinal) of an argument of ranges, each as likely as the others."""
    total = sum(hi - lo for lo, hi in ranges)
    offset = generator.randrange(total)
    for place, (lo, hi) in enumerate(ranges):
        if offset < hi - lo:
            return place, lo + offset
        offset -= hi - lo
    raise AssertionError("an offset below the sum lies in one of the parts")
