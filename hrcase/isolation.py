"""Where an expression is defined, and where it is monotone: found by ball arithmetic.

A range of consecutive arguments is enclosed in a ball. Where the ball shows that f' has one sign,
the range is a *run*; where it shows that f'' has one, f' is monotone, and the argument at which it
changes its sign is found by bisection; where all of f lies in one gap between breakpoints, or all
of it near a breakpoint, the range is settled. Other ranges are cut in two, down to single
arguments, which are evaluated, or removed where f is not defined. docs/expressions.md
has the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import gmpy2
from flint import arb
from gmpy2 import mpfr, mpq

from hrcase.errors import InputError
from hrcase.formats import Format, first_ordinal_where, scale
from hrcase.functions import Expression
from hrcase.functions.exactly import rational_value
from hrcase.functions.rounding import as_rational
from hrcase.functions.undefined import NotDefined, Undecided
from hrcase.hexfloat import to_hex
from hrcase.lattice import key_of, largest_breakpoint, overflow_key
from hrcase.pieces import Piece, Removed, Rule, Settlement
from hrcase.samples import RANGE_PRECISION, Samples, dyadic
from hrcase.spec import SearchSpec
from hrcase.ziv import Rejection, refine

MOST_RANGES = 1 << 14
"""Balls looked at before a search is refused."""

FLOOD, PROBES = 1 << 16, 8
"""More than FLOOD arguments are refused if all those tried are on or near breakpoints."""

NEAR_0 = 8
"""Next to 0, f is looked at up to 1, 1/2, ... 2^(1-NEAR_0)."""

MOST_EXACT = 1 << 24
"""Exact results of a linear f that are a search's to tell from cases; more are refused."""

LARGE = 1 << 18
"""Values beyond 2^LARGE overflow in every format."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive arguments on which f is strictly monotone.

    Attributes:
        direction: 1 where f grows, -1 where it falls.
    """

    lo: int
    hi: int
    direction: int


Part = Removed | Run | Piece
"""Of a region: without values, monotone, or scanned or settled."""


@lru_cache(maxsize=4)
def parts(spec: SearchSpec) -> tuple[Part, ...]:
    """The region in parts, ascending; they tile it.

    Raises:
        InputError: f is defined nowhere, or it would take too many parts: the range is named.
    """
    assert isinstance(spec.function, Expression)
    found: list[Part] = []
    for part in _Isolation(spec, spec.function).parts():
        if found and _are_one(found[-1], part):
            found[-1] = replace(found[-1], hi=part.hi)
        else:
            found.append(part)
    if all(isinstance(part, Removed) for part in found):
        raise InputError(
            f"{spec.function.formula} has no value in {spec.region.text or 'the whole format'}: "
            f"{'; '.join(sorted({p.reason for p in found if isinstance(p, Removed)}))}; "
            "give another range"
        )
    return tuple(found)


def _are_one(before: Part, after: Part) -> bool:
    """Whether neighbours are alike: the ball of a run holds the first argument after it."""
    if before.hi != after.lo or type(before) is not type(after):
        return False
    return replace(before, lo=after.lo, hi=after.hi) == after


class _Isolation:
    def __init__(self, spec: SearchSpec, f: Expression) -> None:
        self.spec, self.f, self.samples = spec, f, Samples(spec, f)
        self.looked_at = 0

    def parts(self) -> Iterator[Part]:
        for lo, hi in self.spec.region.ranges:
            if hi - lo > FLOOD and all(self._is_exact(i) for i in probes(self.spec.inp, lo, hi)):
                raise looks_identical(self.spec, lo, hi)
            self._refuse_floods(lo, hi)
        for lo, hi in self.spec.region.ranges:
            for a, b in ((lo, min(hi, 0)), (max(lo, 0), min(hi, 1)), (max(lo, 1), hi)):
                if a < b:
                    yield from self._one_sign(a, b)

    def _refuse_floods(self, lo: int, hi: int) -> None:
        """A linear f with a short rational slope is on a breakpoint again and again.

        If it is s x + t, and s ulp(x) is a/b of the breakpoints' spacing in lowest terms, that
        happens at each b-th argument of a binade, or at none. Whether f is linear is a guess,
        from some of its values: nothing rests on it but this refusal.
        """
        found = self._slope(lo, hi)
        if found is None or found[0] == 0:
            return
        slope, points = found
        periods = []
        for x, y in points:
            axis = self.spec.lattice(key_of(self.spec.out, y))
            _, e = self.spec.inp.parts(self.spec.inp.ordinal(x))
            periods.append(int(scale(slope, e - axis.spacing_exponent).denominator))
        if hi - lo > MOST_EXACT * min(periods):
            raise InputError(
                f"{self.f.formula} seems to be linear, and on a breakpoint at one argument in "
                f"{min(periods)}, if at any: its cases would be lost among these; give an "
                f"--interval of fewer arguments, or another expression"
            )

    def _slope(self, lo: int, hi: int) -> tuple[mpq, list[tuple[mpq, mpq]]] | None:
        """Of an f that seems to be linear, its slope and some points; None for others."""
        points = []
        for ordinal in probes(self.spec.inp, lo, hi):
            x = self.spec.inp.value(ordinal)
            try:
                y = rational_value(self.f.node, x)
            except NotDefined:
                return None
            if y is None:
                return None
            points.append((x, y))
        slopes = {(y - v) / (x - u) for (u, v), (x, y) in pairwise(points) if x != u}
        return (slopes.pop(), points) if len(slopes) == 1 else None

    def _is_exact(self, ordinal: int) -> bool:
        """Whether f(x) is a breakpoint, or not told from one."""
        is_defined = self.f.contains(self.spec.inp.value(ordinal))
        return is_defined and refine(self.spec, ordinal) is Rejection.EXACT

    def _one_sign(self, lo: int, hi: int) -> Iterator[Part]:
        """What is next to 0 first: ranges of so many binades, and removable singularities."""
        inp = self.spec.inp
        for exponent in range(0, -NEAR_0, -1):
            edge = inp.ceil_ordinal(scale(1, exponent))
            if 0 < lo < edge and (direction := self.samples.slope_sign_around_zero(edge)):
                edge = min(edge, hi)
                yield Run(lo, edge, direction)
                if edge < hi:
                    yield from self._explore(edge, hi, hi)
                return
            if hi <= 0 and -edge < hi and (direction := self.samples.slope_sign_around_zero(-edge)):
                edge = max(-edge, lo)
                if lo < edge:
                    yield from self._explore(lo, edge, hi)
                yield Run(edge, hi, direction)
                return
        yield from self._explore(lo, hi, hi)

    def _explore(self, lo: int, hi: int, end: int) -> Iterator[Part]:
        """The parts of [lo, hi), one sign; `end` is where arguments of this sign end.

        The ball holds the first argument beyond too, so that runs join.
        """
        if hi - lo == 1:
            yield self._single(lo)
            return
        self._count(lo, end)
        last = min(hi, end - 1)
        try:
            part = self._whole(lo, hi, last)
        except NotDefined as error:
            yield Removed(lo, hi, f"{self.f.formula} has no value: {error}")
            return
        if part is not None:
            yield from part
            return
        middle = self._cut(lo, hi)
        yield from self._explore(lo, middle, end)
        yield from self._explore(middle, hi, end)

    def _cut(self, lo: int, hi: int) -> int:
        """Next to the middle; at a power of two where the range holds several binades."""
        middle, inp = (lo + hi) // 2, self.spec.inp
        m, e = inp.parts(middle)
        ordinal = inp.ceil_ordinal(scale(1 if m > 0 else -1, e + m.bit_length() - 1))
        return ordinal if lo < ordinal < hi else middle

    def _count(self, lo: int, end: int) -> None:
        self.looked_at += 1
        if self.looked_at > MOST_RANGES:
            inp = self.spec.inp
            bounds = f"{to_hex(inp.value(lo))} and {to_hex(inp.value(end - 1))}"
            raise InputError(
                f"{self.f.formula} could not be split between {bounds}: ball arithmetic looked at "
                f"{MOST_RANGES} ranges and does not see where it turns, ends or crosses binades; "
                f"give an --interval that ends below, or begins above"
            )

    def _single(self, ordinal: int) -> Part:
        formula = self.f.formula
        try:
            self.f.require_defined(self.spec.inp.value(ordinal))
        except NotDefined as error:
            return Removed(ordinal, ordinal + 1, f"{formula} has no value: {error}")
        except Undecided:
            bits = self.f.decided_bits
            reason = f"{bits} bits do not tell whether {formula} has a value"
            return Removed(ordinal, ordinal + 1, reason)
        return Piece(ordinal, ordinal + 1, Rule.SCANNED)

    def _whole(self, lo: int, hi: int, last: int) -> list[Part] | None:
        """The parts of a range of which one enclosure says enough; None where it does not."""
        finest = self.f.decided_bits + self.spec.out.precision + 64
        for precision in (RANGE_PRECISION, finest):
            bounds = self.samples.bounds(lo, last, precision)
            if bounds is None:
                return None
            settled = self._settled(lo, hi, *map(_number, bounds))
            if settled is not None:
                return [settled]
            if not _is_limited(*bounds):
                break
        return self._by_balls(lo, hi, last)

    def _by_balls(self, lo: int, hi: int, last: int) -> list[Part] | None:
        ball = self.samples.hull(lo, last)
        found = self.samples.coefficients(ball, RANGE_PRECISION)
        if found is None:
            return None
        _, slope, bend = found
        if slope.is_finite() and not slope.contains(0):
            return [Run(lo, hi, 1 if slope > 0 else -1)]
        values = self._values(ball, found)
        settled = self._settled(lo, hi, dyadic(values.lower()), dyadic(values.upper()))
        if settled is not None:
            return [settled]
        if bend.is_finite() and not bend.contains(0):
            return self._turn(lo, hi, last)
        return None

    def _turn(self, lo: int, hi: int, last: int) -> list[Part] | None:
        """f' is monotone: at most two runs, and between them the argument where f turns."""
        first, final = self.samples.slope_side(lo), self.samples.slope_side(last)
        if first == 0 or final == 0:
            return None
        if first == final:
            return [Run(lo, hi, first)]
        u = first_ordinal_where(lo, hi, lambda i: self.samples.slope_side(i) != first)
        v = first_ordinal_where(u, hi, lambda i: self.samples.slope_side(i) == final)
        if v - u > 1:  # f' is too near 0 for its sign: cut and look at less
            return None
        between: list[Part] = [self._single(i) for i in range(u, v)]
        return [Run(lo, u, first), *between, *([Run(v, hi, final)] if v < hi else [])]

    def _values(self, ball: arb, found: list[arb]) -> arb:
        """f over a ball: as it comes, or by the mean value theorem."""
        value, slope = found[0], found[1]
        centre = self.samples.over(ball.mid(), RANGE_PRECISION)
        if centre is None or not slope.is_finite():
            return value
        other = centre + slope * (ball - ball.mid())
        return other if other.rad() < value.rad() else value

    def _settled(self, lo: int, hi: int, low: mpq, high: mpq) -> Piece | None:
        """A range whose values, between low and high, lie in one gap or near one breakpoint."""
        spec = self.spec
        key = key_of(spec.out, low)
        if key != key_of(spec.out, high):
            return None
        if abs(key) == overflow_key(spec.out):
            return Piece(lo, hi, Rule.SETTLED, key, beyond(spec))
        axis, window = spec.lattice(key), spec.window(key)
        first, final = axis.position(low), axis.position(high)
        below = int(first // 1)
        if below + window <= first and final <= below + 1 - window:
            return Piece(lo, hi, Rule.SETTLED, key, gap(spec))
        k = int((2 * first + 1) // 2)
        if not (k - window < first and final < k + window):
            return None
        near = axis.value(k)
        if abs(near) > largest_breakpoint(spec.out, spec.rounding):
            return Piece(lo, hi, Rule.SETTLED, key, gap(spec))
        if not first <= k <= final:
            return Piece(lo, hi, Rule.SETTLED, key, close(spec, near))
        if final - first < scale(1, -self.f.decided_bits):
            return Piece(lo, hi, Rule.SETTLED, key, undecided(spec, near))
        return None


def probes(inp: Format, lo: int, hi: int) -> Iterator[int]:
    """Some ordinals of a long range: evenly spaced among them, and among the numbers."""
    step = (hi - lo) // PROBES
    yield from range(lo + step // 3 | 1, hi, step)
    first, width = inp.value(lo), inp.value(hi - 1) - inp.value(lo)
    for i in range(PROBES):
        yield inp.ceil_ordinal(first + width * mpq(3 * i + 1, 3 * PROBES))


def looks_identical(spec: SearchSpec, lo: int, hi: int) -> InputError:
    """The error where every argument tried is on or near a breakpoint: no search gives less."""
    first, last = to_hex(spec.inp.value(lo)), to_hex(spec.inp.value(hi - 1))
    return InputError(
        f"{spec.function.formula} is on breakpoints or near them at all of {2 * PROBES} arguments "
        f"tried between {first} and {last}: it seems to be identical to something simpler there, "
        "or constant; give another expression or --interval"
    )


def _number(end: mpfr) -> mpq:
    """A bound as a rational; one beyond 2^LARGE, outwards or inwards, as +-2^LARGE."""
    if not gmpy2.is_finite(end) or gmpy2.get_exp(end) > LARGE:
        return scale(1 if end > 0 else -1, LARGE)
    return as_rational(end)


def _is_limited(low: mpfr, high: mpfr) -> bool:
    """Whether bounds are so near to each other that more precision may bring them nearer."""
    width = high - low
    return bool(gmpy2.is_finite(width) and width <= abs(high) * 2.0 ** (64 - RANGE_PRECISION))


def beyond(spec: SearchSpec) -> Settlement:
    """All values overflow."""
    return Settlement("a", f"|f(x)| >= 2^{spec.out.emax + 1}: beyond the last breakpoint")


def gap(spec: SearchSpec) -> Settlement:
    """All values lie between the windows of two breakpoints."""
    return Settlement("a", f"enclosed: no breakpoint within 2^-{spec.bits} ulp")


def close(spec: SearchSpec, near: mpq | None) -> Settlement:
    """All values lie near a breakpoint, and not on it; None: near a multiple of x."""
    target = "its breakpoint next to a multiple of x" if near is None else to_hex(near)
    return Settlement("b", f"enclosed: within 2^-{spec.bits} ulp of {target}, not on it", near)


def undecided(spec: SearchSpec, near: mpq | None) -> Settlement:
    """B bits do not tell the values from one number; None: from a multiple of x."""
    target = "a multiple of x" if near is None else to_hex(near)
    bits = spec.function.decided_bits
    return Settlement("d", f"exact or beyond {bits} bits: f(x) is not told from {target}", near)
