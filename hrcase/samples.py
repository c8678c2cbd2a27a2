"""An expression at single arguments and over ranges of them, by ball arithmetic.

Comparisons are decided with more and more precision, up to B bits (`Function.decided_bits`); what B
bits do not decide is said to be undecided, and never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import arb, arb_series
from flint import ctx as flint_context
from gmpy2 import mpfr, mpq

from hrcase.formats import scale
from hrcase.functions import Expression
from hrcase.functions.around_zero import around_zero
from hrcase.functions.balls import ball_series, ball_value
from hrcase.functions.brackets import bracket, directed
from hrcase.functions.rounding import exactly
from hrcase.functions.undefined import NotDefined, Undecided
from hrcase.spec import SearchSpec
from hrcase.taylor import flint_precision

RANGE_PRECISION = 128
TERMS = 3
"""f, f' and f''/2 are enclosed over ranges."""

CONSTANT = mpq(0)
"""The slope where f itself is compared."""


class Samples:
    """f on the numbers of the input format."""

    def __init__(self, spec: SearchSpec, f: Expression) -> None:
        self.spec, self.f, self.inp = spec, f, spec.inp
        self.least = spec.out.precision + spec.bits + 64
        self._values: dict[tuple[int, int], arb | None] = {}
        self._middles: dict[int, mpq] = {}

    def precisions(self, first: int) -> Iterator[int]:
        """Doubling, up to B."""
        while first < self.f.decided_bits:
            yield first
            first *= 2
        yield self.f.decided_bits

    def point(self, ordinal: int) -> arb:
        """An argument, exactly."""
        return arb(self.inp.parts(ordinal))

    def hull(self, first: int, last: int) -> arb:
        """A ball that holds all reals between two arguments of one sign."""
        return self.point(first).union(self.point(last))

    def bounds(self, first: int, last: int, precision: int) -> tuple[mpfr, mpfr] | None:
        """Bounds of f between two arguments by MPFR; None where f may be undefined there.

        They do what balls do not: ranges over many binades, values that overflow.

        Raises:
            NotDefined: f is defined nowhere between them.
        """
        ends = exactly(self.inp.value(first)), exactly(self.inp.value(last))
        try:
            return bracket(self.f.node, directed(precision), ends)
        except Undecided:
            return None

    def value(self, ordinal: int, precision: int) -> arb | None:
        """An enclosure of f at an argument, None where the precision gives none."""
        key = ordinal, precision
        if key not in self._values:
            if len(self._values) > MOST_KEPT:
                self._values.clear()
            self._values[key] = self.over(self.point(ordinal), precision)
        return self._values[key]

    def middle(self, ordinal: int) -> mpq:
        """About f(x), where nothing rests on it."""
        if ordinal not in self._middles:
            if len(self._middles) > MOST_KEPT:
                self._middles.clear()
            self._middles[ordinal] = self._middle(ordinal)
        return self._middles[ordinal]

    def _middle(self, ordinal: int) -> mpq:
        for precision in self.precisions(self.least):
            ball = self.value(ordinal, precision)
            if ball is not None and (ball == 0 or ball.rel_accuracy_bits() >= self.least - 32):
                break
        return mpq(0) if ball is None else dyadic(ball.mid())

    def side(self, ordinal: int, level: mpq, slope: mpq = CONSTANT) -> int:
        """The sign of f(x) - slope x - level; 0 where it is 0, or B bits do not tell.

        Args:
            level, slope: dyadic.
        """
        target = level + slope * self.inp.value(ordinal) if slope else level
        bound = exact_ball(target)
        for precision in self.precisions(self.least):
            ball = self.value(ordinal, precision)
            if ball is not None and not ball.overlaps(bound):
                return 1 if ball > bound else -1
            if precision == self.least:
                exact = self.f.exact(self.inp.value(ordinal))
                if exact is not None:
                    return int(exact > target) - int(exact < target)
        return 0

    def over(self, ball: arb, precision: int) -> arb | None:
        """An enclosure of f over a ball; None where f may be undefined on it."""
        with flint_precision(precision):
            try:
                return ball_value(self.f.node, ball)
            except (NotDefined, Undecided):
                return None

    def slope_sign_around_zero(self, ordinal: int, slope: mpq = CONSTANT) -> int:
        """The sign of f' - slope between 0 and a number, that included; 0 where it is not shown.

        f may be undefined at 0, by a removable singularity.
        """
        cap, flint_context.cap = flint_context.cap, TERMS_AROUND_0 + 1
        with flint_precision(RANGE_PRECISION):
            ball = self.point(ordinal).union(arb(0))
            try:
                found = around_zero(self.f.node, ball, TERMS_AROUND_0)
            except Undecided:
                return 0
            finally:
                flint_context.cap = cap
            bound = exact_ball(slope)
            return found.slope_sign(bound) if ordinal > 0 else found.slope_sign_below(bound)

    def slope_side(self, ordinal: int) -> int:
        """The sign of f' at an argument; 0 where it is 0, or B bits do not tell."""
        for precision in self.precisions(RANGE_PRECISION):
            slope = self.coefficients(self.point(ordinal), precision, 2)
            if slope is not None and not slope[1].contains(0):
                return 1 if slope[1] > 0 else -1
        return 0

    def coefficients(self, x: arb, precision: int, terms: int = TERMS) -> list[arb] | None:
        """Enclosures of f^(j)/j! over a ball; None where f may be undefined on it.

        Raises:
            NotDefined: f is defined nowhere on the ball.
        """
        cap, flint_context.cap = flint_context.cap, terms + 1
        with flint_precision(precision):
            try:
                series = ball_series(self.f.node, arb_series([x, 1], prec=terms))
            except Undecided:
                return None
            finally:
                flint_context.cap = cap
        found = [series[j] for j in range(terms)]
        return found if found[0].is_finite() else None


MOST_KEPT = 1 << 14
TERMS_AROUND_0 = 8


def exact_ball(value: mpq) -> arb:
    """A dyadic number as a ball without radius."""
    return arb((int(value.numerator), 1 - int(value.denominator.bit_length())))


def dyadic(point: arb) -> mpq:
    """A ball without radius as a number; 0 if it is too near to 0 to be written out."""
    m, e = (int(part) for part in point.man_exp())
    if e < -MOST_WRITTEN:
        return mpq(0)
    return scale(m, min(e, MOST_WRITTEN))


MOST_WRITTEN = 1 << 18
