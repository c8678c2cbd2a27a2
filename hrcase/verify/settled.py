"""Settled pieces: their theorems (docs/method.md, 6 to 8) proved again, by comparisons at ends."""

from __future__ import annotations

import random
from functools import partial

from gmpy2 import mpq

from hrcase.formats import Format, first_ordinal_where, scale
from hrcase.functions import Expression
from hrcase.functions.base import Tail
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis, axis_at, side
from hrcase.verify.classify import CASE, UNTOLD, classify
from hrcase.verify.document import Certificate, Piece
from hrcase.verify.enclosed import check_enclosed
from hrcase.verify.findings import Contradiction, Findings, at, within
from hrcase.verify.line import Line
from hrcase.verify.monotone import binade_parts, monotone_parts

MOST_GAPS = 64
"""Breakpoints that f passes on a flat piece between two cuts, at most."""

PLACES = 6
"""Of each settled piece, evaluated."""


def check_settled(certificate: Certificate, findings: Findings, seed: int) -> None:
    """Prove each settled piece, and evaluate some of its arguments.

    What is settled of an expression is proved by hrcase.verify.enclosed.

    Raises:
        Contradiction: no theorem gives what the piece says, or an argument does not fit.
    """
    spec = certificate.spec
    generator = random.Random(seed)
    by_entry, evaluated = 0, 0
    settled = [piece for piece in certificate.pieces if piece.rule == "settled"]
    of_expression = isinstance(spec.function, Expression)
    for piece in settled:
        if of_expression:
            check_enclosed(spec, piece)
        elif _tail_of(spec, piece) is not None:
            by_entry += 1
        else:
            _prove(spec, piece)
        evaluated += _evaluate_some(spec, piece, generator)
    if not settled:
        return
    findings.proved.append(
        f"{len(settled) - by_entry} settled pieces, by comparisons at their ends"
        + (", and by enclosures of f and f'" if of_expression else "")
    )
    if by_entry:
        findings.stated.append(
            f"{by_entry} settled pieces stand on a theorem of the function's own "
            "(docs/functions.md, section 3)"
        )
    untold = sum(piece.kind == "d" for piece in settled)
    if untold:
        findings.stated.append(
            f"of the arguments of {untold} settled pieces of kind (d) nothing is said: bits do not "
            "tell which are cases"
        )
    findings.sampled.append(
        f"settled pieces: {evaluated} arguments evaluated, as their kinds say (seed {seed})"
    )


def _tail_of(spec: SearchSpec, piece: Piece) -> Tail | None:
    """The theorem of the entry that covers a piece, if there is one of its kind."""
    first, last = spec.inp.value(piece.lo), spec.inp.value(piece.hi - 1)
    for tail in spec.function.tails(spec.inp, spec.out, spec.bits, spec.rounding):
        is_inside = tail.lo <= first and last <= tail.hi
        stated = piece.kind, piece.which, piece.near
        if is_inside and (tail.kind, tail.which, None) == stated:
            return tail
    return None


def _prove(spec: SearchSpec, piece: Piece) -> None:
    asked = (piece.kind, piece.which, piece.near is None)
    known = (("a", "", True), ("b", "", False), ("b", "", True), ("c", "breakpoints", True))
    if asked not in known:
        raise Contradiction(
            "settled", f"no theorem settles {within(spec.inp, piece.lo, piece.hi)} as {asked[:2]}"
        )
    for lo, hi in monotone_parts(spec, piece.lo, piece.hi):
        for first, end, axis in binade_parts(spec, lo, hi):
            if axis is None:
                _beyond(spec, first, end, piece)
            elif piece.kind == "a":
                _no_case(spec, first, end, axis)
            elif piece.near is not None:
                _near_value(spec, first, end, axis, piece)
            elif piece.kind == "b":
                _near_argument(spec, first, end, axis)
            else:
                _on_breakpoints(spec, first, end, axis)


def _fails(spec: SearchSpec, lo: int, hi: int, why: str) -> Contradiction:
    return Contradiction("settled", f"{within(spec.inp, lo, hi)} is not as its piece says: {why}")


def _beyond(spec: SearchSpec, lo: int, hi: int, piece: Piece) -> None:
    """f is monotone and both ends are beyond 2^(emax+1) on one side (lemma 2): no case."""
    limit = scale(1, spec.out.emax + 1)
    ends = {side(spec, i, limit) >= 0 for i in (lo, hi - 1)}
    below = {side(spec, i, -limit) <= 0 for i in (lo, hi - 1)}
    if piece.kind != "a" or True not in (ends == {True}, below == {True}):
        raise _fails(spec, lo, hi, "f lies beyond all breakpoints at its first argument")


def _identity_parts(spec: SearchSpec, lo: int, hi: int) -> list[tuple[int, int]]:
    """A range cut by input binades, on which f(x) - s x is monotone by the entry; [] where not."""
    inp, bound = spec.inp, spec.function.identity_below
    if lo <= 0 < hi or max(abs(inp.value(lo)), abs(inp.value(hi - 1))) >= bound:
        return []
    parts = []
    while lo < hi:
        end = first_ordinal_where(lo, hi, partial(_leaves, inp, inp.parts(lo)[1]))
        parts.append((lo, end))
        lo = end
    return parts


def _leaves(inp: Format, exponent: int, ordinal: int) -> bool:
    return inp.parts(ordinal)[1] != exponent


def _slope(spec: SearchSpec) -> mpq:
    """s, where the entry says that f(x) is nearly s x."""
    return scale(1, spec.function.slope_log2)


def _step(spec: SearchSpec, ordinal: int) -> mpq:
    """The distance of neighbouring s x, around an argument."""
    return scale(1, spec.inp.parts(ordinal)[1] + spec.function.slope_log2)


def _no_case(spec: SearchSpec, lo: int, hi: int, axis: Axis) -> None:
    """No argument is a case: G passes few breakpoints, each between two arguments (theorem 6)."""
    stop = Line(spec, axis, 0).first_near(lo, hi, MOST_GAPS)
    if stop is None:
        return
    parts = _identity_parts(spec, lo, hi)
    for first, end in parts:
        if _step(spec, first) % axis.spacing != 0:
            raise _fails(spec, first, end, f"{spec.function.tangent} is no multiple of the spacing")
        stop = Line(spec, axis, _slope(spec)).first_near(first, end, MOST_GAPS)
        if stop is not None:
            break
    if stop is not None:
        raise _fails(spec, lo, hi, f"f may be near a breakpoint at {at(spec.inp, stop)}")


def _require_near(line: Line, lo: int, hi: int, k: int) -> None:
    if not line.are_near(lo, hi, k):
        raise _fails(line.spec, lo, hi, "somewhere f is not near, or on, its breakpoint")


def _near_value(spec: SearchSpec, lo: int, hi: int, axis: Axis, piece: Piece) -> None:
    """Every argument is a case, near one breakpoint."""
    assert piece.near is not None
    position = axis.position(piece.near)
    if position.denominator != 1 or not axis.is_breakpoint(int(position)):
        raise _fails(spec, lo, hi, f"{piece.near} is no breakpoint")
    _require_near(Line(spec, axis, 0), lo, hi, int(position))


def _near_argument(spec: SearchSpec, lo: int, hi: int, axis: Axis) -> None:
    """Every argument is a case, near the breakpoint next to s x (theorem 6 with slope s)."""
    parts = _identity_parts(spec, lo, hi)
    if not parts:
        raise _fails(spec, lo, hi, "the entry does not say that f(x) - s x is monotone there")
    line = Line(spec, axis, _slope(spec))
    for first, end in parts:
        if _step(spec, first) % axis.spacing != 0:
            raise _fails(spec, first, end, f"{spec.function.tangent} is no multiple of the spacing")
        k = line.floor(first)
        _require_near(line, first, end, k if line.side(first, k + axis.window) < 0 else k + 1)


def _on_breakpoints(spec: SearchSpec, lo: int, hi: int, axis: Axis) -> None:
    """Exactly the x whose s x is a breakpoint are cases (theorem 7)."""
    parts = _identity_parts(spec, lo, hi)
    if not parts:
        raise _fails(spec, lo, hi, "the entry does not say that f(x) - s x is monotone there")
    for first, end in parts:
        step = _step(spec, first)
        reach = min(axis.window * axis.spacing, step - axis.window * axis.spacing)
        for i in (first, end - 1):
            y = _slope(spec) * spec.inp.value(i)
            near = side(spec, i, y - reach) > 0 > side(spec, i, y + reach)
            if not near or side(spec, i, y) == 0 or step >= axis.spacing:
                why = f"f(x) is not near enough to {spec.function.tangent} at {at(spec.inp, i)}"
                raise _fails(spec, first, end, why)


def _evaluate_some(spec: SearchSpec, piece: Piece, generator: random.Random) -> int:
    """Evaluate some arguments of a piece; how many were decided."""
    places = {
        piece.lo,
        piece.hi - 1,
        *(generator.randrange(piece.lo, piece.hi) for _ in range(PLACES)),
    }
    decided = 0
    for ordinal in sorted(places):
        expected = _expected(spec, piece, ordinal)
        verdict = None if expected is None else classify(spec, ordinal)
        if verdict in (None, UNTOLD) or expected is None:
            continue
        decided += 1
        if (verdict == CASE) != expected:
            raise Contradiction(
                "settled",
                f"{at(spec.inp, ordinal)} is {verdict}, in a piece of kind ({piece.kind})",
            )
    return decided


def _expected(spec: SearchSpec, piece: Piece, ordinal: int) -> bool | None:
    """Whether an argument is a case, by its piece; None where that takes another argument."""
    x = spec.inp.value(ordinal)
    if piece.kind != "c":
        return None if piece.kind == "d" else piece.kind == "b"
    if not spec.function.contains(x) or piece.which in ("images", "powers"):
        return None
    if piece.which == "poles":
        return True
    y = _slope(spec) * x
    axis = axis_at(spec, y)
    return axis is not None and axis.position(y).denominator == 1
