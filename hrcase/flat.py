"""Ranges on which f is nearly constant, or nearly x: settled by comparisons at their ends.

Theorem (flat range). On a range of consecutive arguments let r, 0 or 2^-k, be such that
G(x) = (f(x) - r x)/spacing - offset is monotone and r x/spacing is an integer for each of its x.
Then F = G modulo 1, and for an integer k the arguments with |G(x) - k| < w are consecutive; they
are the cases near the breakpoint r x + (k + offset) spacing, except where f(x) equals it. All
others, for k running from the floor to the ceiling of G on the range, are no cases.
  r = 0 serves where f is nearly constant (exp near 0, the tails), r = 1 where f(x) is nearly x,
r = 1/2 where it is nearly x/2 (j1).

Theorem (nearly x, finer input). If r x is a multiple of 2^-g spacings, g > 0, and
|f(x) - r x| < min(w, 2^-g - w) spacings on a range, then its cases are exactly those x with
f(x) != r x whose r x is itself a breakpoint: any other r x is 2^-g off at least.
"""

from __future__ import annotations

from collections.abc import Iterator

import gmpy2
from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, above, at_least, by_mpfr, exact_value, rounded
from hrcase.errors import SelfTestFailed
from hrcase.formats import first_ordinal_where, scale
from hrcase.hexfloat import to_hex
from hrcase.lattice import largest_breakpoint
from hrcase.pieces import Piece, Rule, Settlement
from hrcase.spec import SearchSpec
from hrcase.taylor import derivative_sign

MOST_ROWS = 1 << 16
"""A flat range in which each of more arguments is a case is stated as a range, not as rows."""

DEEP = 1 << 10
"""Values nearer than 2^-DEEP to a breakpoint are stated as a range: rows would need such bits."""

MOST_PRECISION = 1 << 17
"""Enough bits to tell f(x) - x from 0 at the least number of every format with a use."""

FLAT_LINES = 2
"""A range is flat when G passes at most so many integers."""


class FlatLine:
    """G(x) = (f(x) - slope x)/spacing - offset on ranges where it is monotone.

    Args:
        key: the output binade of the ranges.
        slope: 0, or a power of two.
        reason: why G is monotone.
    """

    def __init__(self, spec: SearchSpec, key: int, slope: mpq | int, reason: str) -> None:
        self.spec, self.key, self.slope, self.reason = spec, key, slope, reason
        self.axis = spec.lattice(key)
        self.window = spec.window(key)

    def _level(self, ordinal: int, position: mpq | int) -> mpq:
        return self.axis.value(position) + self.slope * self.spec.inp.value(ordinal)

    def at_least(self, ordinal: int, position: mpq | int) -> bool:
        """Whether G >= position at an argument."""
        level = self._level(ordinal, position)
        return at_least(self.spec.function, *self.spec.inp.parts(ordinal), level)

    def above(self, ordinal: int, position: mpq | int) -> bool:
        """Whether G > position at an argument."""
        level = self._level(ordinal, position)
        return above(self.spec.function, *self.spec.inp.parts(ordinal), level)

    def floor(self, ordinal: int) -> int:
        """floor(G) at an argument."""
        inp, f = self.spec.inp, self.spec.function
        try:
            bounds = by_mpfr(f, *inp.parts(ordinal), self.spec.out.precision + 64)
        except OutOfReach:  # a zero of f, since what vanishes is settled
            bounds = mpq(0), mpq(0)
        x = self.slope * inp.value(ordinal)
        k, high = (int(self.axis.position(y - x) // 1) for y in bounds)
        while k < high and self.at_least(ordinal, k + 1):
            k += 1
        return k

    def flat_ends(self, lo: int, hi: int, scan: int) -> tuple[int, int]:
        """Where G has passed FLAT_LINES integers from the first argument on; from the last back.

        The two ends overlap when the whole range is flat. An end of at most `scan` arguments is
        not looked for.
        """
        first, last = self.floor(lo), self.floor(hi - 1)
        rising = first < last if first != last else self._rises(lo, hi)
        after, before = first + FLAT_LINES, last + 1 - FLAT_LINES
        if not rising:
            after, before = first + 1 - FLAT_LINES, last + FLAT_LINES
        head, tail = lo, hi
        if not self._has_passed(lo + scan, after, rising):
            head = first_ordinal_where(lo, hi, lambda i: self._has_passed(i, after, rising))
        if self._has_passed(hi - 1 - scan, before, rising):
            tail = first_ordinal_where(lo, hi, lambda i: self._has_passed(i, before, rising))
        return head, tail

    def _has_passed(self, ordinal: int, k: int, rising: bool) -> bool:
        """Whether G has come to an integer from below, or below it from above."""
        return self.at_least(ordinal, k) == rising

    def is_flat(self, lo: int, hi: int) -> bool:
        """Whether G passes at most FLAT_LINES integers on a range."""
        return abs(self.floor(lo) - self.floor(hi - 1)) <= FLAT_LINES

    def deep_ends(self, lo: int, hi: int) -> tuple[int, int]:
        """(head, tail): in [lo, head) and [tail, hi) f is too near a number or midpoint for rows.

        However short they are, they are for `pieces`: Ziv's loop may end before it tells f(x) from
        the breakpoint, as for tanh far out.
        """
        bounds = self._bounds(lo, self._precision)
        value = self._half_ulps(bounds)
        head = lo
        if self._is_deep(lo, value, bounds):
            head = first_ordinal_where(lo, hi, lambda i: not self._is_deep(i, value))
        tail = hi
        if head < hi:
            bounds = self._bounds(hi - 1, self._precision)
            value = self._half_ulps(bounds)
            if self._is_deep(hi - 1, value, bounds):
                tail = first_ordinal_where(head, hi, lambda i: self._is_deep(i, value))
        return head, tail

    def _half_ulps(self, bounds: tuple[mpq, mpq]) -> mpq:
        """The number or midpoint nearest to f(x), whatever breakpoints are asked for."""
        half_ulp = self.axis.ulp_exponent - 1
        return scale((2 * scale(bounds[0], -half_ulp) + 1) // 2, half_ulp)

    @property
    def _precision(self) -> int:
        """Bits at which f(x) that is too near to a breakpoint looks equal to it."""
        return 4 * self.spec.out.precision + 64

    def stays_within(self, lo: int, hi: int, finer: int) -> bool:
        """Whether |f(x) - slope x| < min(w, 2^-finer - w) spacings on a range."""
        reach = min(self.window, scale(1, -finer) - self.window)
        if reach <= 0:
            return False
        low, high = (bound - self.axis.offset for bound in (-reach, reach))
        return all(self.above(i, low) and not self.at_least(i, high) for i in (lo, hi - 1))

    def pieces(self, lo: int, hi: int) -> Iterator[Piece]:
        """Cut a flat range where it comes near an integer and where it leaves it."""
        first, last = self.floor(lo), self.floor(hi - 1)
        rising = self._rises(lo, hi)
        levels = range(min(first, last), max(first, last) + 2)
        for k in levels if rising else reversed(levels):
            near, leave = self._crossings(lo, hi, k, rising)
            yield from self._gap(lo, near)
            yield from self._near(near, leave, k, rising)
            lo = leave
        yield from self._gap(lo, hi)

    def _rises(self, lo: int, hi: int) -> bool:
        """Whether G grows along a range; of one argument either answer serves.

        Raises:
            SelfTestFailed: it seems to be constant.
        """
        if hi - lo == 1:
            return True
        ends = lo, hi - 1
        precision = self.spec.out.precision + 64
        while precision <= (MOST_PRECISION if self.slope else 2 * DEEP):
            (low, up), (last_low, last_up) = (self._bounds(i, precision) for i in ends)
            if up < last_low:
                return True
            if last_up < low:
                return False
            precision *= 2
        signs = {derivative_sign(self.spec.function, *self.spec.inp.parts(i)) for i in ends} - {0}
        if self.slope or len(signs) != 1:
            where = " and ".join(to_hex(self.spec.inp.value(i)) for i in ends)
            raise SelfTestFailed(
                f"{self.spec.function.name} does not seem to be monotone between {where}, as its "
                "entry in hrcase/functions says; please report it"
            )
        return signs == {1}

    def _bounds(self, ordinal: int, precision: int) -> tuple[mpq, mpq]:
        """Rigorous bounds of f(x) - slope x."""
        m, e = self.spec.inp.parts(ordinal)
        x = self.slope * self.spec.inp.value(ordinal)
        low, up = (
            exact_value(rounded(self.spec.function, m, e, precision, direction)) - x
            for direction in (gmpy2.RoundDown, gmpy2.RoundUp)
        )
        return low, up

    def _crossings(self, lo: int, hi: int, k: int, rising: bool) -> tuple[int, int]:
        """The first argument within the window of k, and the first one beyond it."""
        low, high = k - self.window, k + self.window
        if rising:
            near = first_ordinal_where(lo, hi, lambda i: self.above(i, low))
            return near, first_ordinal_where(near, hi, lambda i: self.at_least(i, high))
        near = first_ordinal_where(lo, hi, lambda i: not self.at_least(i, high))
        return near, first_ordinal_where(near, hi, lambda i: not self.above(i, low))

    def _gap(self, lo: int, hi: int) -> Iterator[Piece]:
        if lo < hi:
            reason = f"{self.reason}: no breakpoint within 2^-{self.spec.bits} ulp"
            yield Piece(lo, hi, Rule.SETTLED, self.key, Settlement("a", reason))

    def _near(self, lo: int, hi: int, k: int, rising: bool) -> Iterator[Piece]:
        """Arguments that are all within the window of k."""
        value = self.axis.value(k)
        if lo < hi and abs(value) > largest_breakpoint(self.spec.out, self.spec.rounding):
            yield from self._gap(lo, hi)
            return
        first, end = self._deep(lo, hi, value)
        yield from self._rows(lo, first, k, rising)
        if first < end:
            yield Piece(first, end, Rule.SETTLED, self.key, self._all_near(value))
        yield from self._rows(end, hi, k, rising)

    def _rows(self, lo: int, hi: int, k: int, rising: bool) -> Iterator[Piece]:
        """Arguments near k: evaluated one by one, or as a range where there are many."""
        if hi - lo <= MOST_ROWS:
            if lo < hi:
                yield Piece(lo, hi, Rule.SCANNED)
            return
        reach = (lambda i: self.at_least(i, k)) if rising else (lambda i: not self.above(i, k))
        on = first_ordinal_where(lo, hi, reach)
        is_exact = on < hi and self.at_least(on, k) and not self.above(on, k)
        settlement = self._all_near(self.axis.value(k))
        end = on if is_exact else hi
        if lo < end:
            yield Piece(lo, end, Rule.SETTLED, self.key, settlement)
        if is_exact:
            yield Piece(on, on + 1, Rule.SCANNED)
            if on + 1 < hi:
                yield Piece(on + 1, hi, Rule.SETTLED, self.key, settlement)

    def _all_near(self, value: mpq) -> Settlement:
        target = to_hex(value)
        if self.slope:
            target = f"its breakpoint next to {self.spec.function.tangent}"
        reason = f"{self.reason}: within 2^-{self.spec.bits} ulp of {target}, and not on it"
        return Settlement("b", reason, None if self.slope else value)

    def _deep(self, lo: int, hi: int, value: mpq) -> tuple[int, int]:
        """The arguments at either end of a range that are too near a value for rows; (hi, hi)."""
        if lo < hi and not self.slope:
            if self._is_deep(hi - 1, value):
                return first_ordinal_where(lo, hi, lambda i: self._is_deep(i, value)), hi
            if self._is_deep(lo, value):
                return lo, first_ordinal_where(lo, hi, lambda i: not self._is_deep(i, value))
        return hi, hi

    def _is_deep(self, ordinal: int, value: mpq, bounds: tuple[mpq, mpq] | None = None) -> bool:
        """Whether 0 < |f(x) - value| < 2^-DEEP; looked at closely only where MPFR sees no more.

        Args:
            bounds: of f(x), where they are known.
        """
        f, parts = self.spec.function, self.spec.inp.parts(ordinal)
        low, high = bounds or self._bounds(ordinal, self._precision)
        if not low <= value <= high or low == high:
            return False
        step = scale(1, -DEEP)
        return above(f, *parts, value - step) and not at_least(f, *parts, value + step)
