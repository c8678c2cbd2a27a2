"""f, or f minus a multiple of x, along the breakpoints: compared at single arguments.

Where G of `Line` is monotone, what holds at two arguments holds between them (theorem 6 of
docs/method.md).
"""

from __future__ import annotations

from functools import partial

from gmpy2 import mpq

from hrcase.formats import first_ordinal_where
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis, enclosures, side


class Line:
    """G(x) = (f(x) - slope x)/spacing - offset, slope 0 or +-2^s."""

    def __init__(self, spec: SearchSpec, axis: Axis, slope: mpq | int) -> None:
        self.spec, self.axis, self.slope = spec, axis, slope

    def level(self, ordinal: int, position: mpq | int) -> mpq:
        """The f(x) at which G(x) is a position."""
        return self.axis.value(position) + self.slope * self.spec.inp.value(ordinal)

    def side(self, ordinal: int, position: mpq | int) -> int:
        """The sign of G(x) - position: exactly. Raises as hrcase.verify.axis.side."""
        return side(self.spec, ordinal, self.level(ordinal, position))

    def about(self, ordinal: int) -> mpq:
        """G(x), where nothing rests on it."""
        y = mpq(0)
        for low, high in enclosures(self.spec, ordinal):
            y = low
            if high - low < self.axis.spacing:
                break
        return self.axis.position(y - self.slope * self.spec.inp.value(ordinal))

    def nearest(self, ordinal: int) -> int:
        """The integer next to G(x), about."""
        return int((2 * self.about(ordinal) + 1) // 2)

    def floor(self, ordinal: int) -> int:
        """floor(G(x))."""
        k = int(self.about(ordinal) // 1)
        while self.side(ordinal, k + 1) >= 0:
            k += 1
        while self.side(ordinal, k) < 0:
            k -= 1
        return k

    def is_not_free(self, k: int, ordinal: int) -> bool:
        """Whether G(x) is not in [k, k + 1], or less than the window away from a breakpoint."""
        low, high = (self.slope != 0 or self.axis.is_breakpoint(i) for i in (k, k + 1))
        after = self.side(ordinal, k + self.axis.window if low else k) >= 0
        return not after or self.side(ordinal, k + 1 - self.axis.window if high else k + 1) > 0

    def first_near(self, lo: int, hi: int, gaps: int) -> int | None:
        """The first argument near a breakpoint, or beyond so many of them; None if there is none.

        G is monotone on the range.
        """
        for _ in range(gaps):
            k = self.floor(lo)
            if self.is_not_free(k, lo):
                return lo
            lo = first_ordinal_where(lo, hi, partial(self.is_not_free, k))
            if lo == hi:
                return None
        return lo

    def are_near(self, lo: int, hi: int, k: int) -> bool:
        """Whether 0 < |G - k| < w at all arguments of a range on which G is strictly monotone."""
        window = self.axis.window
        if not all(self.side(i, k - window) > 0 > self.side(i, k + window) for i in (lo, hi - 1)):
            return False
        first, last = (self.side(i, k) for i in (lo, hi - 1))
        if first == last:
            return first != 0
        crossed = first_ordinal_where(lo, hi, lambda i: self.side(i, k) != first)
        return first != 0 and self.side(crossed, k) != 0
