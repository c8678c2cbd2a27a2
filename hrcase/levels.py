"""Cut the runs of an expression at levels: output binades, flat ends, what is nearly r x.

f is monotone on a run, so that the arguments below a level, those above it, and those of which B
bits do not tell, are three ranges (`_Cutter.crossing`). Everything here is such cuts;
docs/expressions.md has the proofs. hrcase/domain.py and hrcase/flat.py do the same for functions
that MPFR rounds correctly, and the names are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import log2

from gmpy2 import mpq

from hrcase import flat
from hrcase.formats import binade_end, first_ordinal_above_0, first_ordinal_where, floor_log2, scale
from hrcase.functions import Expression
from hrcase.isolation import (
    FLOOD,
    NEAR_0,
    Run,
    beyond,
    close,
    gap,
    looks_identical,
    parts,
    probes,
    undecided,
)
from hrcase.lattice import key_of, largest_breakpoint, overflow_key
from hrcase.pieces import Piece, Removed, Rule, Settlement
from hrcase.samples import CONSTANT, RANGE_PRECISION, Samples, exact_ball
from hrcase.spec import SearchSpec
from hrcase.taylor import flint_precision
from hrcase.ziv import Rejection, refine

MOST_HALVINGS = 12
"""So often an input binade on which f is nearly r x is cut in two."""

NEARLY = mpq(1, 256)
"""f rises by nearly r times what x does, relative to r, where it is looked at as nearly r x."""


def removed(spec: SearchSpec) -> list[Removed]:
    """The parts of the region at which an expression has no value, or none that is known.

    Raises:
        InputError: as hrcase.isolation.parts.
    """
    return [part for part in parts(spec) if isinstance(part, Removed)]


def cut(spec: SearchSpec) -> Iterator[Piece | Run]:
    """What is scanned or settled, and the runs between; ascending, with `removed` a tiling.

    Raises:
        InputError: as hrcase.isolation.parts.
    """
    for part in parts(spec):
        if not isinstance(part, Removed):
            yield part


def split_run(spec: SearchSpec, run: Run, scan: int) -> Iterator[Piece]:
    """The pieces of a run, ascending.

    Raises:
        InputError: as hrcase.isolation.looks_identical.
    """
    assert isinstance(spec.function, Expression)
    cutter = _Cutter(spec, spec.function, scan)
    yield from cutter.by_output_binade(run.lo, run.hi, run.direction)


def _first(
    lo: int,
    hi: int,
    holds: Callable[[int], bool],
    distance: Callable[[int], float],
    length: int | None = None,
) -> int:
    """Least ordinal of [lo, hi) where a condition holds, which stays true once true; else hi.

    Args:
        distance, length: it grows, and is about 0 after about so many ordinals, but neither changes
            the answer.
    """
    if lo == hi or holds(lo):
        return lo
    if not holds(hi - 1):
        return hi

    @cache
    def level(ordinal: int) -> float:
        about = distance(ordinal)
        return max(about, LEAST) if holds(ordinal) else min(about, -LEAST)

    return first_ordinal_above_0(lo, hi - 1, level, (hi - lo) // 4 if length is None else length)


LEAST, MOST = 1e-30, 1e30


def _steps(value: mpq, level: mpq) -> float:
    """About log2(value/level), with the sign of value - level."""
    ratio, sign = value / level, 1 if level > 0 else -1
    if ratio <= 0:
        return -sign * MOST
    if abs(ratio - 1) < mpq(1, 2):
        return sign * float(ratio - 1)
    exponent = floor_log2(ratio)
    return sign * (exponent + log2(float(scale(ratio, -exponent))))


def _to_float(value: mpq) -> float:
    """About a rational of any size."""
    return float(max(-MOST, min(value, MOST)))


class _Cutter:
    def __init__(self, spec: SearchSpec, f: Expression, scan: int) -> None:
        self.spec, self.f, self.scan = spec, f, scan
        self.samples = Samples(spec, f)

    def crossing(
        self,
        lo: int,
        hi: int,
        level: mpq,
        direction: int,
        slope: mpq = CONSTANT,
        length: int | None = None,
    ) -> tuple[int, int]:
        """(u, v): f - slope x has not reached a level before u, and has passed it from v on.

        It is monotone in this direction; [u, v) is where it is on the level, or B bits do not tell.

        Args:
            length: a guess of u - lo, which never changes the answer.
        """

        @cache
        def side(ordinal: int) -> int:
            return direction * self.samples.side(ordinal, level, slope)

        def distance(ordinal: int) -> float:
            y = self.samples.middle(ordinal) - slope * self.spec.inp.value(ordinal)
            return direction * (_steps(y, level) if level else _to_float(y))

        u = _first(lo, hi, lambda i: side(i) >= 0, distance, length)
        if u == hi or side(u) > 0:
            return u, u
        return u, first_ordinal_where(u + 1, hi, lambda i: side(i) > 0)

    def by_output_binade(self, lo: int, hi: int, direction: int) -> Iterator[Piece]:
        """Cut a run by output binades."""
        length = 1 << self.spec.inp.precision  # of the one before: many are alike
        while lo < hi:
            key = self._key(lo)
            low, high = self._edges(key)
            entry, leave = (low, high) if direction > 0 else (high, low)
            if entry is not None and self.samples.side(lo, entry) * direction <= 0:
                _, v = self.crossing(lo, hi, entry, direction)
                yield from self._on(lo, v, key, entry)
                lo = v
                continue
            u, v = hi, hi
            if leave is not None:
                u, v = self.crossing(lo, hi, leave, direction, length=length)
            length = u - lo
            if lo < u:
                yield from self._span(lo, u, key, direction)
            if u < v:
                assert leave is not None
                yield from self._on(u, v, key, leave)
            lo = v

    def _key(self, ordinal: int) -> int:
        """The output binade of f at an argument; next to an edge, that below or above it."""
        key = key_of(self.spec.out, self.samples.middle(ordinal))
        while True:
            low, high = self._edges(key)
            if low is not None and self.samples.side(ordinal, low) < 0:
                key -= 1
            elif high is not None and self.samples.side(ordinal, high) > 0:
                key += 1
            else:
                return key

    def _edges(self, key: int) -> tuple[mpq | None, mpq | None]:
        """The ends of an output binade; None where it has none."""
        out = self.spec.out
        if key == 0:
            return -scale(1, out.emin), scale(1, out.emin)
        low = scale(1, out.emin + abs(key) - 1)
        high = None if abs(key) == overflow_key(out) else 2 * low
        return (low, high) if key > 0 else (None if high is None else -high, -low)

    def _on(self, lo: int, hi: int, key: int, value: mpq | None) -> Iterator[Piece]:
        """Arguments of which B bits do not tell on which side of a value f is."""
        if lo < hi <= lo + self.scan:
            yield Piece(lo, hi, Rule.SCANNED)
        elif lo < hi:
            yield Piece(lo, hi, Rule.SETTLED, key, undecided(self.spec, value))

    def _span(self, lo: int, hi: int, key: int, direction: int) -> Iterator[Piece]:
        """A monotone range in one output binade: flat ends, and the rest by input binades."""
        if hi - lo <= self.scan:
            yield Piece(lo, hi, Rule.SCANNED)
            return
        if abs(key) == overflow_key(self.spec.out):
            yield Piece(lo, hi, Rule.SETTLED, key, beyond(self.spec))
            return
        head, tail = self._flat_ends(lo, hi, key)
        if head - lo > self.scan:
            yield from self._flat(lo, head, key, direction)
            lo = head
        tail = max(lo, tail) if hi - tail > self.scan else hi
        while lo < tail:
            end = min(tail, binade_end(self.spec.inp, lo))
            yield from self._binade(lo, end, key)
            lo = end
        if tail < hi:
            yield from self._flat(tail, hi, key, direction)

    def _flat_ends(self, lo: int, hi: int, key: int) -> tuple[int, int]:
        """About where f has passed FLAT_LINES breakpoints from the first argument on; and back."""
        position = self._position(key)
        first, final = position(lo), position(hi - 1)
        if abs(final - first) <= flat.FLAT_LINES:
            return hi, hi

        def passed(ordinal: int) -> float:
            return _to_float(abs(position(ordinal) - first) - flat.FLAT_LINES)

        def left(ordinal: int) -> float:
            return _to_float(flat.FLAT_LINES - abs(final - position(ordinal)))

        head = _first(lo, hi, lambda i: passed(i) >= 0, passed)
        return head, _first(head, hi, lambda i: left(i) > 0, left)

    def _position(self, key: int, slope: mpq = CONSTANT) -> Callable[[int], mpq]:
        """Where f - slope x about is on the axis of breakpoints, of an ordinal."""
        axis, inp = self.spec.lattice(key), self.spec.inp

        def position(ordinal: int) -> mpq:
            return axis.position(self.samples.middle(ordinal) - slope * inp.value(ordinal))

        return position

    def _binade(self, lo: int, hi: int, key: int) -> Iterator[Piece]:
        """One input binade, one output binade: scanned, nearly r x, or searched."""
        if hi - lo <= self.scan:
            yield Piece(lo, hi, Rule.SCANNED)
            return
        slope = self._nearly(lo, hi, key)
        if slope is not None:
            yield from self._along(lo, hi, key, slope, MOST_HALVINGS)
            return
        self._refuse_floods(lo, hi)
        yield Piece(lo, hi, Rule.SEARCHED, key)

    def _nearly(self, lo: int, hi: int, key: int) -> mpq | None:
        """r = +-2^s, where f - r x seems nearly constant, and r x is a multiple of the spacing."""
        slope = self._power_of_two(lo, hi)
        if slope is None:
            return None
        spacing, top = self.spec.lattice(key).spacing_exponent, overflow_key(self.spec.out) - 1
        if floor_log2(abs(slope)) + self.spec.inp.parts(lo)[1] < spacing or abs(key) == top:
            return None
        # The chord of a curve may have this slope too: the middle tells.
        middle = (lo + hi) // 2
        halves = (lo, middle + 1), (middle, hi)
        return slope if all(self._is_flat(*half, key, slope) for half in halves) else None

    def _is_flat(self, lo: int, hi: int, key: int, slope: mpq) -> bool:
        """Whether f - slope x passes few breakpoints from the first argument to the last."""
        position = self._position(key, slope)
        return bool(abs(position(lo) - position(hi - 1)) <= flat.FLAT_LINES)

    def _along(self, lo: int, hi: int, key: int, slope: mpq, halvings: int) -> Iterator[Piece]:
        """What is nearly r x, in parts on which balls show that f - r x is monotone."""
        direction = self._direction(lo, hi, slope)
        if direction and self._is_flat(lo, hi, key, slope):
            yield from self._flat(lo, hi, key, direction, slope)
        elif hi - lo <= self.scan:
            yield Piece(lo, hi, Rule.SCANNED)
        elif halvings and not direction:
            middle = (lo + hi) // 2
            yield from self._along(lo, middle, key, slope, halvings - 1)
            yield from self._along(middle, hi, key, slope, halvings - 1)
        else:
            self._refuse_floods(lo, hi)
            yield Piece(lo, hi, Rule.SEARCHED, key)

    def _power_of_two(self, lo: int, hi: int) -> mpq | None:
        """That which f rises by along a range, next to what x does; None where it is not near."""
        samples, inp = self.samples, self.spec.inp
        rise = samples.middle(hi - 1) - samples.middle(lo)
        ratio = rise / (inp.value(hi - 1) - inp.value(lo))
        if ratio == 0:
            return None
        slope = scale(1 if ratio > 0 else -1, floor_log2(abs(ratio) * mpq(4, 3)))
        return slope if abs(ratio - slope) < NEARLY * abs(slope) else None

    def _direction(self, lo: int, hi: int, slope: mpq) -> int:
        """The sign of f' - slope on a range; 0 where balls do not show one."""
        beyond = self.spec.inp.ceil_ordinal(scale(1, 1 - NEAR_0))
        if max(abs(lo), abs(hi)) <= beyond:
            sign = self.samples.slope_sign_around_zero(hi if lo > 0 else lo, slope)
            if sign:
                return sign
        ball = self.samples.hull(lo, hi - 1)
        for precision in self.samples.precisions(RANGE_PRECISION):
            over = self.samples.coefficients(ball, precision)
            at = self.samples.coefficients(ball.mid(), precision, 2)
            if over is None or at is None:
                return 0
            with flint_precision(precision):
                plain = over[1] - exact_ball(slope)
                by_mean_value = at[1] - exact_ball(slope) + 2 * over[2] * (ball - ball.mid())
            for excess in (plain, by_mean_value):
                if excess.is_finite() and not excess.contains(0):
                    return 1 if excess > 0 else -1
        return 0

    def _flat(
        self, lo: int, hi: int, key: int, direction: int, slope: mpq = CONSTANT
    ) -> Iterator[Piece]:
        """G = (f - slope x)/spacing - offset is monotone and passes few integers."""
        axis, window = self.spec.lattice(key), self.spec.window(key)
        ends = [self._position(key, slope)(i) for i in (lo, hi - 1)]
        lines = range(int(min(ends) // 1) - 1, int(max(ends) // 1) + 3)
        for k in lines if direction > 0 else reversed(lines):
            cuts = [lo]
            levels = [axis.value(k + direction * end) for end in (-window, mpq(0), window)]
            for level in levels:
                cuts += self.crossing(cuts[-1], hi, level, direction, slope)
            yield from self._settled(lo, cuts[1], key, gap(self.spec))
            yield from self._on(cuts[1], cuts[2], key, None if slope else levels[0])
            yield from self._near(cuts[2:6], key, levels[1], slope)
            yield from self._on(cuts[5], cuts[6], key, None if slope else levels[2])
            lo = cuts[6]
        yield from self._settled(lo, hi, key, gap(self.spec))

    def _near(self, cuts: list[int], key: int, value: mpq, slope: mpq) -> Iterator[Piece]:
        """Arguments near a breakpoint: before it, on it, and after it."""
        lo, on, off, hi = cuts
        near = None if slope else value
        if not slope and abs(value) > largest_breakpoint(self.spec.out, self.spec.rounding):
            yield from self._settled(lo, hi, key, gap(self.spec))
            return
        first, end = on, off
        if not slope and lo < on and self._is_deep(on - 1, value):
            first = first_ordinal_where(lo, on, lambda i: self._is_deep(i, value))
        if not slope and off < hi and self._is_deep(off, value):
            end = first_ordinal_where(off, hi, lambda i: not self._is_deep(i, value))
        settlement = close(self.spec, near)
        is_short = hi - lo <= flat.MOST_ROWS and off - on <= self.scan
        if (first, end) == (on, off) and is_short and not slope:
            if lo < hi:
                yield Piece(lo, hi, Rule.SCANNED)
            return
        # Nearly r x: next to 0 rows would be many, and need very many bits.
        rows = self._settled if slope else self._rows
        yield from rows(lo, first, key, settlement)
        yield from self._settled(first, on, key, settlement)
        yield from self._on(on, off, key, near)
        yield from self._settled(off, end, key, settlement)
        yield from rows(end, hi, key, settlement)

    def _is_deep(self, ordinal: int, value: mpq) -> bool:
        """Whether |f(x) - value| < 2^-DEEP, so that a row would need very many bits."""
        step = scale(1, -flat.DEEP)
        below, above = (self.samples.side(ordinal, value + end) for end in (-step, step))
        return below > 0 > above

    def _rows(self, lo: int, hi: int, key: int, settlement: Settlement) -> Iterator[Piece]:
        if hi - lo > flat.MOST_ROWS:
            yield Piece(lo, hi, Rule.SETTLED, key, settlement)
        elif lo < hi:
            yield Piece(lo, hi, Rule.SCANNED)

    def _settled(self, lo: int, hi: int, key: int, settlement: Settlement) -> Iterator[Piece]:
        if lo < hi:
            yield Piece(lo, hi, Rule.SETTLED, key, settlement)

    def _refuse_floods(self, lo: int, hi: int) -> None:
        """Raises InputError where f seems to be on or near breakpoints everywhere."""
        if hi - lo > FLOOD and all(
            refine(self.spec, i) is not Rejection.TOO_FAR for i in probes(self.spec.inp, lo, hi)
        ):
            raise looks_identical(self.spec, lo, hi)
