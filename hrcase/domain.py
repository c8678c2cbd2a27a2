"""Split what is asked into pieces: searched, scanned or settled, without gap or overlap.

The split is the same for every function and format. It rests on two facts only:

* between neighbours of `Function.critical_points` f is monotone, so that a comparison at the two
  ends of a range holds on all of it, and the first argument beyond a level is found by bisection;
* MPFR rounds correctly, so that f(x) >= t and f(x) > t are decided exactly for dyadic t
  (hrcase.enclosure.at_least, above).

With F the position of f(x) on the axis of breakpoints (hrcase.lattice) and w the window:

Theorem (flat range). On a range of consecutive arguments let r in {0, 1} be such that
G(x) = (f(x) - r x)/spacing - offset is monotone and r x/spacing is an integer for each of its x.
Then F = G modulo 1, and for an integer k the arguments with |G(x) - k| < w are consecutive; they
are the cases near the breakpoint r x + (k + offset) spacing, except where f(x) equals it. All
others, for k running from the floor to the ceiling of G on the range, are no cases.
  r = 0 serves where f is nearly constant (exp near 0, the tails), r = 1 where f(x) is nearly x.

Theorem (nearly x, finer input). If x is a multiple of 2^-g spacings, g > 0, and
|f(x) - x| < min(w, 2^-g - w) spacings on a range, then its cases are exactly those x with
f(x) != x that are themselves breakpoints: any other x is 2^-g off at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise

import gmpy2
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase.enclosure import (
    OutOfReach,
    above,
    at_least,
    by_mpfr,
    exact_value,
    lower_bound,
    rounded,
    upper_bound,
)
from hrcase.errors import InputError
from hrcase.formats import VANISHING, first_ordinal_where, floor_log2, scale
from hrcase.functions.base import RealPoint
from hrcase.hexfloat import to_hex
from hrcase.lattice import binade_key, largest_breakpoint, overflow_key
from hrcase.spec import SearchSpec

DEFAULT_SCAN = 256
"""Ranges of at most so many arguments are evaluated one by one: cheaper than a polynomial."""

MOST_ROWS = 1 << 16
"""A flat range in which each of more arguments is a case is stated as a range, not as rows."""

FLAT_LINES = 2
"""A range is flat when G passes at most so many integers."""


class Rule(StrEnum):
    """How the arguments of a piece are decided."""

    SEARCHED = "searched"
    SCANNED = "scanned"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a theorem says of a settled piece.

    Attributes:
        kind: "a" no argument is a case; "b" every argument is; "c" those that are themselves
            breakpoints are.
        reason: the theorem, applied.
        near: for "b" and slope 0, the breakpoint that all of them are near.
    """

    kind: str
    reason: str
    near: mpq | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive arguments under one rule.

    Attributes:
        lo, hi: ordinals of the input format, half open.
        rule: how they are decided.
        key: the output binade (hrcase.lattice.binade_key) of a searched piece; a searched piece
            lies in one input binade too, and f is monotone on it.
        settlement: the theorem of a settled piece.
    """

    lo: int
    hi: int
    rule: Rule
    key: int = 0
    settlement: Settlement | None = None

    @property
    def count(self) -> int:
        """How many arguments it holds."""
        return self.hi - self.lo


@dataclass(frozen=True, slots=True)
class Removed:
    """Arguments asked for at which the function is not defined, or not searched."""

    lo: int
    hi: int
    reason: str


def removed(spec: SearchSpec) -> list[Removed]:
    """The parts of the region outside of the function's domain.

    Raises:
        InputError: nothing else is left, or a part was asked for by name at which f is defined,
            but not searched.
    """
    parts = []
    first, end = _domain(spec)
    for lo, hi in spec.region.ranges:
        for part in ((lo, min(hi, first)), (max(lo, end), hi)):
            if part[0] < part[1]:
                parts.append(Removed(*part, spec.function.outside))
    asked = sum(hi - lo for lo, hi in spec.region.ranges)
    left = asked - sum(part.hi - part.lo for part in parts)
    if left == 0 or (parts and not spec.region.is_open and spec.function.outside_is_error):
        raise InputError(
            f"{spec.function.outside}; {spec.region.text or 'the range'} reaches beyond; "
            "give a range inside"
        )
    return parts


def _domain(spec: SearchSpec) -> tuple[int, int]:
    """Ordinals of lo < x < hi, half open."""
    f, inp = spec.function, spec.inp
    first = inp.ceil_ordinal(f.lo)
    if first <= inp.max_ordinal and inp.value(first) == f.lo:
        first += 1
    return first, inp.ceil_ordinal(f.hi)


def split(spec: SearchSpec, scan: int = DEFAULT_SCAN) -> Iterator[Piece]:
    """The pieces of a search, ascending; together with `removed` they tile the region.

    Args:
        scan: ranges of at most so many arguments are scanned.
    """
    first, end = _domain(spec)
    for lo, hi in spec.region.ranges:
        yield from _merged(_split_range(spec, max(lo, first), min(hi, end), scan))


def _merged(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Neighbours settled by the same theorem, or both scanned, as one piece."""
    last: Piece | None = None
    for piece in pieces:
        if last is None:
            last = piece
        elif (
            piece.rule == last.rule != Rule.SEARCHED
            and piece.settlement == last.settlement
            and piece.lo == last.hi
        ):
            last = replace(last, hi=piece.hi)
        else:
            yield last
            last = piece
    if last is not None:
        yield last


def _split_range(spec: SearchSpec, lo: int, hi: int, scan: int) -> Iterator[Piece]:
    for part_lo, part_hi in ((lo, min(hi, 0)), (max(lo, 0), min(hi, 1)), (max(lo, 1), hi)):
        if part_lo == 0 and part_lo < part_hi:
            yield Piece(0, 1, Rule.SCANNED)
        elif part_lo < part_hi:
            for a, b in _monotone_ranges(spec, part_lo, part_hi):
                yield from _split_monotone(spec, a, b, scan)


def _monotone_ranges(spec: SearchSpec, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """Cut [lo, hi) at the critical points of f."""
    inp = spec.inp
    points = spec.function.critical_points(inp.value(lo), inp.value(hi - 1))
    cuts = [_first_beyond(spec, point) for point in points]
    inner = sorted({cut for cut in cuts if lo < cut < hi})
    yield from pairwise([lo, *inner, hi])


def _first_beyond(spec: SearchSpec, point: RealPoint) -> int:
    """Ordinal of the first number above an irrational point."""
    precision = spec.inp.precision + 64
    previous = flint_context.prec
    try:
        while True:
            flint_context.prec = precision
            ball = point()
            ordinals = {spec.inp.ceil_ordinal(end(ball)) for end in (lower_bound, upper_bound)}
            if len(ordinals) == 1:
                return ordinals.pop()
            precision *= 2
    finally:
        flint_context.prec = previous


def _split_monotone(spec: SearchSpec, lo: int, hi: int, scan: int) -> Iterator[Piece]:
    """Settle what vanishes at either end of a monotone range; cut the rest by output binades."""
    head = lo
    if lo < hi and _vanishes(spec, lo):
        head = first_ordinal_where(lo, hi, lambda i: not _vanishes(spec, i))
    yield from _vanished(spec, lo, head)
    tail = hi
    if head < hi and _vanishes(spec, hi - 1):
        tail = first_ordinal_where(head, hi, partial(_vanishes, spec))
    yield from _by_output_binade(spec, head, tail, scan)
    yield from _vanished(spec, tail, hi)


def _vanishes(spec: SearchSpec, ordinal: int) -> bool:
    """Whether 0 < |f(x)| < 2^-VANISHING (rounding away from zero keeps both)."""
    y = rounded(spec.function, *spec.inp.parts(ordinal), 64, gmpy2.RoundAwayZero)
    return bool(y != 0) and gmpy2.get_exp(y) <= -VANISHING


def _vanished(spec: SearchSpec, lo: int, hi: int) -> Iterator[Piece]:
    """Arguments at which f vanishes: near 0, if that is a breakpoint that counts."""
    if lo < hi:
        reason = f"0 < |f(x)| < 2^-{VANISHING}"
        near = f"{reason}: within 2^-{spec.bits} ulp of 0x0p+0, and not on it"
        settlement = Settlement("b", near, mpq(0))
        if spec.rounding == "nearest":
            settlement = Settlement("a", f"{reason}: far below the least midpoint")
        yield Piece(lo, hi, Rule.SETTLED, 0, settlement)


def _by_output_binade(spec: SearchSpec, lo: int, hi: int, scan: int) -> Iterator[Piece]:
    """Cut a monotone range by output binades, gathering short ones into scans."""
    length = 0  # of the one before: many are alike
    while lo < hi:
        key = _key_at(spec, lo)
        end = first_ordinal_where(lo + 1, hi, partial(_leaves, spec, key), guess=lo + length)
        length = end - lo
        if end - lo <= scan:
            end = min(hi, lo + scan)
            yield Piece(lo, end, Rule.SCANNED)
        elif abs(key) == overflow_key(spec.out):
            reason = f"|f(x)| >= 2^{spec.out.emax + 1}: beyond the last breakpoint"
            yield Piece(lo, end, Rule.SETTLED, key, Settlement("a", reason))
        else:
            yield from _split_span(spec, lo, end, key, scan)
        lo = end


def _key_at(spec: SearchSpec, ordinal: int) -> int:
    """The output binade of f at an argument (rounding to zero keeps floor(log2 |f|))."""
    y = rounded(spec.function, *spec.inp.parts(ordinal), 64, gmpy2.RoundToZero)
    if y == 0:
        return 0
    return binade_key(spec.out, gmpy2.get_exp(y) - 1, y < 0)


def _leaves(spec: SearchSpec, key: int, ordinal: int) -> bool:
    return _key_at(spec, ordinal) != key


def _split_span(spec: SearchSpec, lo: int, hi: int, key: int, scan: int) -> Iterator[Piece]:
    """A monotone range in one output binade: its flat ends, and the rest by input binades."""
    line = _Line(spec, key, 0, "f is monotone and nearly constant")
    head, tail = line.flat_ends(lo, hi)
    if head - lo > scan:
        yield from line.pieces(lo, head)
        lo = head
    tail = max(lo, tail) if hi - tail > scan else hi
    while lo < tail:
        end = min(tail, _binade_end(spec, lo))
        if end - lo <= scan:
            yield Piece(lo, end, Rule.SCANNED)
        else:
            yield from _split_binade(spec, lo, end, key)
        lo = end
    if tail < hi:
        yield from line.pieces(tail, hi)


def _binade_end(spec: SearchSpec, lo: int) -> int:
    """First ordinal beyond the input binade that holds ordinal lo (lo != 0)."""
    magnitude = abs(spec.inp.value(lo))
    exponent = floor_log2(magnitude)
    if lo > 0:
        return spec.inp.ceil_ordinal(scale(1, exponent + 1))
    return 1 - spec.inp.ceil_ordinal(scale(1, exponent))


def _split_binade(spec: SearchSpec, lo: int, hi: int, key: int) -> Iterator[Piece]:
    """One input binade, one output binade, f monotone: nearly x, or searched."""
    f, inp = spec.function, spec.inp
    bound = max(abs(inp.value(lo)), abs(inp.value(hi - 1)))
    if bound < f.identity_below:
        line = _Line(spec, key, 1, f"{f.identity_reason}, so f(x) - x is monotone and small")
        finer = spec.lattice(key).spacing_exponent - inp.parts(lo)[1]
        if finer <= 0 and line.is_flat(lo, hi):
            yield from line.pieces(lo, hi)
            return
        if finer > 0 and line.stays_within(lo, hi, finer):
            reason = f"{line.reason}: exactly the x that are breakpoints of {spec.out.name}"
            yield Piece(lo, hi, Rule.SETTLED, key, Settlement("c", reason))
            return
    yield Piece(lo, hi, Rule.SEARCHED, key)


class _Line:
    """G(x) = (f(x) - slope x)/spacing - offset on a range where it is monotone."""

    def __init__(self, spec: SearchSpec, key: int, slope: int, reason: str) -> None:
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
            y = by_mpfr(f, *inp.parts(ordinal), self.spec.out.precision + 64)[0]
        except OutOfReach:  # a zero of f, since what vanishes is settled
            y = mpq(0)
        k = int((self.axis.position(y - self.slope * inp.value(ordinal))) // 1) - 1
        while self.at_least(ordinal, k + 1):
            k += 1
        return k

    def flat_ends(self, lo: int, hi: int) -> tuple[int, int]:
        """Where G has passed FLAT_LINES integers from the first argument on; from the last back.

        The two ends overlap when the whole range is flat.
        """
        first, last = self.floor(lo), self.floor(hi - 1)
        if self._rises(lo, hi):
            after, before = first + FLAT_LINES, last + 1 - FLAT_LINES
            head = first_ordinal_where(lo, hi, lambda i: self.at_least(i, after))
            return head, first_ordinal_where(lo, hi, lambda i: self.at_least(i, before))
        after, before = first + 1 - FLAT_LINES, last + FLAT_LINES
        head = first_ordinal_where(lo, hi, lambda i: not self.at_least(i, after))
        return head, first_ordinal_where(lo, hi, lambda i: not self.at_least(i, before))

    def is_flat(self, lo: int, hi: int) -> bool:
        """Whether G passes at most FLAT_LINES integers on a range."""
        return abs(self.floor(lo) - self.floor(hi - 1)) <= FLAT_LINES

    def stays_within(self, lo: int, hi: int, finer: int) -> bool:
        """Whether |f(x) - x| < min(w, 2^-finer - w) spacings on a range."""
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
        """Whether G grows along a range; of one argument either answer serves."""
        precision = self.spec.out.precision + 64
        while hi - lo > 1:
            (low, up), (last_low, last_up) = (self._bounds(i, precision) for i in (lo, hi - 1))
            if up < last_low:
                return True
            if last_up < low:
                return False
            precision *= 2
        return True

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
        if hi - lo <= MOST_ROWS:
            if lo < hi:
                yield Piece(lo, hi, Rule.SCANNED)
            return
        value = self.axis.value(k)
        if abs(value) > largest_breakpoint(self.spec.out, self.spec.rounding):
            yield from self._gap(lo, hi)
            return
        reach = (lambda i: self.at_least(i, k)) if rising else (lambda i: not self.above(i, k))
        on = first_ordinal_where(lo, hi, reach)
        is_exact = on < hi and self.at_least(on, k) and not self.above(on, k)
        target = "its breakpoint next to x" if self.slope else to_hex(value)
        reason = f"{self.reason}: within 2^-{self.spec.bits} ulp of {target}, and not on it"
        settlement = Settlement("b", reason, None if self.slope else value)
        end = on if is_exact else hi
        if lo < end:
            yield Piece(lo, end, Rule.SETTLED, self.key, settlement)
        if is_exact:
            yield Piece(on, on + 1, Rule.SCANNED)
            if on + 1 < hi:
                yield Piece(on + 1, hi, Rule.SETTLED, self.key, settlement)
