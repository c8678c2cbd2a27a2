"""Split what is asked into pieces: searched, scanned or settled, without gap or overlap.

The split is the same for every function and format. It rests on three facts only:

* a function's entry says where it is defined (`lo`, `hi`, `poles`) and which tails its own
  theorems settle (`tails`);
* between neighbours of `Function.critical_points` and poles f is monotone, so that a comparison
  at the two ends of a range holds on all of it, and the first argument beyond a level is found by
  bisection;
* MPFR rounds correctly, so that f(x) >= t and f(x) > t are decided exactly for dyadic t
  (hrcase.enclosure.at_least, above).

What is nearly constant, or nearly x, is settled in hrcase.flat. Of an expression nothing of this
is known: hrcase.isolation and hrcase.levels split it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

import gmpy2
from flint import ctx as flint_context
from gmpy2 import mpq

from hrcase import levels
from hrcase.enclosure import lower_bound, rounded, upper_bound
from hrcase.errors import InputError
from hrcase.flat import FlatLine
from hrcase.formats import (
    VANISHING,
    Format,
    binade_end,
    first_ordinal_above_0,
    first_ordinal_where,
    least_image,
    scale,
)
from hrcase.functions import Expression
from hrcase.functions.base import RealPoint, Tail
from hrcase.hexfloat import to_hex
from hrcase.isolation import Run
from hrcase.lattice import binade_key, overflow_key
from hrcase.pieces import Piece, Removed, Rule, Settlement
from hrcase.spec import SearchSpec

DEFAULT_SCAN = 256
"""Ranges of at most so many arguments are evaluated one by one: cheaper than a polynomial."""

Range = tuple[int, int]
"""Ordinals, half open."""

Part = Piece | Range | Run
"""A tail or 0; or arguments among which f is monotone; a Run of an expression."""


def removed(spec: SearchSpec) -> list[Removed]:
    """The parts of the region at which the function is not defined, or not searched.

    Poles within a settled tail are no part of this list: its theorem names them.

    Raises:
        InputError: nothing else is left, or a part was asked for by name at which f is defined,
            but not searched.
    """
    f = spec.function
    if isinstance(f, Expression):
        return levels.removed(spec)
    first, end = _domain(spec)
    parts = []
    for lo, hi in spec.region.ranges:
        for part in ((lo, min(hi, first)), (max(lo, end), hi)):
            if part[0] < part[1]:
                parts.append(Removed(*part, f.outside))
    asked = sum(hi - lo for lo, hi in spec.region.ranges)
    where = spec.region.text or "the range"
    beyond = sum(part.hi - part.lo for part in parts)
    if asked == beyond or (parts and not spec.region.is_open and f.outside_is_error):
        raise InputError(f"{f.outside}; {where} reaches beyond; give a range inside")
    for lo, hi, tail in _by_tails(spec):
        if tail is None:
            for pole in _poles(spec, lo, hi):
                reason = f"a pole of {f.name}, {to_hex(spec.inp.value(pole))}"
                parts.append(Removed(pole, pole + 1, reason))
    if asked == sum(part.hi - part.lo for part in parts):
        raise InputError(f"{where} holds nothing but poles of {f.name}; give a wider range")
    return sorted(parts, key=lambda part: part.lo)


def _domain(spec: SearchSpec) -> Range:
    """Ordinals of the arguments between the ends of the domain."""
    f, inp = spec.function, spec.inp
    first, end = inp.ceil_ordinal(f.lo), inp.ceil_ordinal(f.hi)
    if first <= inp.max_ordinal and inp.value(first) == f.lo and not f.closed:
        first += 1
    if end <= inp.max_ordinal and inp.value(end) == f.hi and f.closed:
        end += 1
    return first, end


def _by_tails(spec: SearchSpec) -> Iterator[tuple[int, int, Tail | None]]:
    """The region within the domain, cut where tails begin and end; ascending."""
    inp = spec.inp
    first, end = _domain(spec)
    tails = []
    for tail in _tails(spec):
        begin, beyond = inp.ceil_ordinal(tail.lo), inp.ceil_ordinal(tail.hi)
        if beyond <= inp.max_ordinal and inp.value(beyond) == tail.hi:
            beyond += 1
        tails.append((begin, beyond, tail))
    for lo, hi in spec.region.ranges:
        lo, hi = max(lo, first), min(hi, end)
        for begin, beyond, tail in tails:
            if lo < min(begin, hi):
                yield lo, min(begin, hi), None
            if max(lo, begin) < min(hi, beyond):
                yield max(lo, begin), min(hi, beyond), tail
            lo = max(lo, min(hi, beyond))
        if lo < hi:
            yield lo, hi, None


def _tails(spec: SearchSpec) -> list[Tail]:
    """What the function's own theorems settle, and where it is nearly s x in one go; ascending.

    For 0 < |x| <= s 2^-(M + p + 1), p the output precision, |f(x) - s x| <= x^2 is below
    2^-M ulp(f(x)), also where f(x) lies in the binade below that of s x (docs/functions.md,
    section 2). If s x is a number of the output format, each x is a case near s x itself, and
    none is near a midpoint.
    """
    f, inp, out = spec.function, spec.inp, spec.out
    tails = f.tails(inp, out, spec.bits, spec.rounding)
    bound = scale(1, f.slope_log2 - spec.bits - out.precision - 1)
    least = least_image(inp, out, f.slope_log2)
    if bound < f.identity_below and least is not None and least <= bound:
        line = f.tangent
        if spec.rounding == "nearest":
            kind, reason = "a", f"{f.identity_reason}, so {line} is the nearest number, no midpoint"
        else:
            kind = "b"
            reason = (
                f"{f.identity_reason}, so f(x) is within 2^-{spec.bits} ulp of {line}, and not on "
                "it"
            )
        tails += [Tail(-bound, -least, kind, reason), Tail(least, bound, kind, reason)]
    return sorted(tails, key=lambda tail: tail.lo)


def _poles(spec: SearchSpec, lo: int, hi: int) -> list[int]:
    """Ordinals of the poles in a range that are arguments."""
    inp = spec.inp
    found = []
    for pole in spec.function.poles(inp.value(lo), inp.value(hi - 1)):
        ordinal = inp.ceil_ordinal(pole)
        if lo <= ordinal < hi and inp.value(ordinal) == pole:
            found.append(ordinal)
    return found


def split(spec: SearchSpec, scan: int = DEFAULT_SCAN) -> Iterator[Piece]:
    """The pieces of a search, ascending; together with `removed` they tile the region.

    Args:
        scan: ranges of at most so many arguments are scanned.
    """
    return merged(piece for part in cut(spec) for piece in split_part(spec, part, scan))


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
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


def cut(spec: SearchSpec) -> Iterator[Part]:
    """Tails, 0, and the ranges between them on which f is monotone; ascending."""
    if isinstance(spec.function, Expression):
        yield from levels.cut(spec)
        return
    for lo, hi, tail in _by_tails(spec):
        if tail is not None:
            settlement = Settlement(tail.kind, tail.reason, which=tail.which)
            yield Piece(lo, hi, Rule.SETTLED, 0, settlement)
            continue
        poles = set(_poles(spec, lo, hi))
        single = sorted(poles | ({0} if lo <= 0 < hi else set()))
        for point in single:
            yield from _monotone_ranges(spec, lo, point)
            if point not in poles:
                yield Piece(point, point + 1, Rule.SCANNED)
            lo = point + 1
        yield from _monotone_ranges(spec, lo, hi)


def split_part(spec: SearchSpec, part: Part, scan: int) -> Iterator[Piece]:
    """The pieces of what `cut` gave."""
    if isinstance(part, Piece):
        yield part
    elif isinstance(part, Run):
        yield from levels.split_run(spec, part, scan)
    else:
        yield from _split_monotone(spec, *part, scan)


def _monotone_ranges(spec: SearchSpec, lo: int, hi: int) -> Iterator[Range]:
    """Cut [lo, hi) at the critical points of f, and at poles that are no arguments."""
    if lo >= hi:
        return
    f, inp = spec.function, spec.inp
    ends = inp.value(lo), inp.value(hi - 1)
    cuts = [_first_from(spec, point) for point in f.critical_points(*ends)]
    cuts += [inp.ceil_ordinal(pole) for pole in f.poles(*ends)]
    cuts += _cuts_near_ends(spec)
    inner = sorted({cut for cut in cuts if lo < cut < hi})
    yield from pairwise([lo, *inner, hi])


def _cuts_near_ends(spec: SearchSpec) -> Iterator[int]:
    """Cuts 2^8, 2^12, ... numbers from a finite end of the domain.

    f may be singular there, as asin is at 1: polynomials then reach a share of the distance to the
    end. Between two of these cuts they are of about the same length.
    """
    f, first, end = spec.function, *_domain(spec)
    for point, edge, side in ((f.lo, first, 1), (f.hi, end, -1)):
        if abs(point) <= spec.inp.max_value:
            yield from (edge + side * (1 << i) for i in range(8, spec.inp.precision, 4))


def _first_from(spec: SearchSpec, point: RealPoint) -> int:
    """Ordinal of the first number that is not below an irrational point, or an exact one."""
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
    """Cut a monotone range by output binades; short ones are scanned."""
    length = 1 << spec.inp.precision  # of the one before: many are alike
    while lo < hi:
        key, end = _to_binade_end(spec, lo, hi, length)
        length = end - lo
        if abs(key) != overflow_key(spec.out):
            yield from _split_span(spec, lo, end, key, scan)
        elif end - lo <= scan:
            yield Piece(lo, end, Rule.SCANNED)
        else:
            reason = f"|f(x)| >= 2^{spec.out.emax + 1}: beyond the last breakpoint"
            yield Piece(lo, end, Rule.SETTLED, key, Settlement("a", reason))
        lo = end


def _to_binade_end(spec: SearchSpec, lo: int, hi: int, length: int) -> tuple[int, int]:
    """The output binade of f at lo, and the first argument of [lo, hi] beyond it; f is monotone.

    Args:
        length: a guess of how many arguments it holds.
    """
    out, first, last = spec.out, _towards_0(spec, lo), _towards_0(spec, hi - 1)
    key, last_key = _key(out, first), _key(out, last)
    if key == last_key:
        return key, hi
    # f leaves its binade across +-2^exponent, away from 0 or towards it
    grows = key == 0 or (key > 0) == (last_key > key)
    exponent = out.emin + abs(key) - (0 if grows else 1)
    negative = key < 0 or (key == 0 and last_key < 0)

    @cache
    def beyond(ordinal: int) -> float:
        y = _towards_0(spec, ordinal)
        distance = _distance(y, exponent) if y != 0 and (y < 0) == negative else -FAR
        return distance if grows else -distance

    return key, first_ordinal_above_0(lo, hi - 1, beyond, length)


FAR, NEARBY = 1e6, 1e-30


def _distance(y: gmpy2.mpfr, exponent: int) -> float:
    """About log2 |y| - exponent; positive if and only if |y| >= 2^exponent, else negative."""
    steps = gmpy2.get_exp(y) - 1 - exponent
    if not -2 <= steps <= 1:
        return float(steps)
    ratio = abs(y) * gmpy2.exp2(-exponent)  # rounded, but this is a guess
    return max(float(ratio - 1), NEARBY) if steps >= 0 else min(float(1 - 1 / ratio), -NEARBY)


def _towards_0(spec: SearchSpec, ordinal: int) -> gmpy2.mpfr:
    """f, rounded towards 0: in the same output binade."""
    return rounded(spec.function, *spec.inp.parts(ordinal), 64, gmpy2.RoundToZero)


def _key(out: Format, y: gmpy2.mpfr) -> int:
    """The output binade of a value."""
    return 0 if y == 0 else binade_key(out, gmpy2.get_exp(y) - 1, y < 0)


def _split_span(spec: SearchSpec, lo: int, hi: int, key: int, scan: int) -> Iterator[Piece]:
    """A monotone range in one output binade: what is too near a breakpoint for rows, the rest."""
    line = FlatLine(spec, key, 0, "f is monotone and nearly constant")
    head, tail = line.deep_ends(lo, hi)
    if lo < head:
        yield from line.pieces(lo, head)
    if head < tail:
        yield from _split_shallow(line, head, tail, scan)
    if tail < hi:
        yield from line.pieces(tail, hi)


def _split_shallow(line: FlatLine, lo: int, hi: int, scan: int) -> Iterator[Piece]:
    """Short; or its flat ends, and the rest by input binades."""
    if hi - lo <= scan:
        yield Piece(lo, hi, Rule.SCANNED)
        return
    head, tail = line.flat_ends(lo, hi, scan)
    if head - lo > scan:
        yield from line.pieces(lo, head)
        lo = head
    tail = max(lo, tail) if hi - tail > scan else hi
    while lo < tail:
        end = min(tail, binade_end(line.spec.inp, lo))
        if end - lo <= scan:
            yield Piece(lo, end, Rule.SCANNED)
        else:
            yield from _split_binade(line.spec, lo, end, line.key)
        lo = end
    if tail < hi:
        yield from line.pieces(tail, hi)


def _split_binade(spec: SearchSpec, lo: int, hi: int, key: int) -> Iterator[Piece]:
    """One input binade, one output binade, f monotone: nearly x, or searched."""
    f, inp = spec.function, spec.inp
    bound = max(abs(inp.value(lo)), abs(inp.value(hi - 1)))
    if bound < f.identity_below:
        reason = f"{f.identity_reason}, so f(x) - {f.tangent} is monotone and small"
        line = FlatLine(spec, key, scale(1, f.slope_log2), reason)
        finer = spec.lattice(key).spacing_exponent - inp.parts(lo)[1] - f.slope_log2
        if finer <= 0 and line.is_flat(lo, hi):
            yield from line.pieces(lo, hi)
            return
        if finer > 0 and line.stays_within(lo, hi, finer):
            reason = f"{reason}: exactly the x whose {f.tangent} is a breakpoint of {spec.out.name}"
            yield Piece(lo, hi, Rule.SETTLED, key, Settlement("c", reason, which="breakpoints"))
            return
    yield Piece(lo, hi, Rule.SEARCHED, key)
