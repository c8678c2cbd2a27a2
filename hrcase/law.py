"""Where the statistical law applies: of evenly spread values of F, a share of 2w are cases.

The law is a heuristic: no theorem says that the values of F modulo 1 are evenly spread. It is known
to fail where they cannot be:

* F passes a few breakpoints only: the list then says where these lie, nothing of chance;
* F is a quadratic polynomial up to its window w. Next to points where the Taylor coefficients of f
  are simple fractions (exp near 0) its values repeat, and cases with them. Such pieces are left out
  whatever the coefficients are;
* the same values come back within one binade (2^x moved by integers).

Nothing proved depends on this module: it says which counts are worth a comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf, log2

from flint import arb

from hrcase.pieces import Piece, Rule
from hrcase.spec import SearchSpec
from hrcase.taylor import coefficients_at, flint_precision

MANY_LOG2 = 6
"""log2 of the breakpoints that a piece must pass."""


def exception(spec: SearchSpec, piece: Piece) -> str | None:
    """Why the law does not apply to a searched piece; None where it does."""
    f = spec.function
    if f.copies_from is not None and abs(spec.inp.value(piece.lo)) >= f.copies_from:
        return f"cases come in copies: {f.copies}"
    linear, cubic = _log2_terms(spec, piece)
    if linear < MANY_LOG2:
        return f"f passes fewer than {1 << MANY_LOG2} breakpoints"
    if cubic < log2(float(spec.window(piece.key))):
        return "f is a quadratic polynomial up to the window, and its values may repeat"
    return None


def sorted_out(spec: SearchSpec, pieces: Iterable[Piece]) -> tuple[list[Piece], Counter[str]]:
    """The searched ones of some pieces where the law applies; arguments of the others by reason."""
    lawful, lawless = [], Counter[str]()
    for piece in pieces:
        if piece.rule is Rule.SEARCHED:
            reason = exception(spec, piece)
            if reason is None:
                lawful.append(piece)
            else:
                lawless[reason] += piece.count
    return lawful, lawless


def _log2_terms(spec: SearchSpec, piece: Piece) -> tuple[float, float]:
    """log2 of what the terms of order 1 and 3 at the middle add over the length of a piece.

    In units of the breakpoints' spacing; inf where there is no such term, at a singularity.
    """
    m, e = spec.inp.parts((piece.lo + piece.hi) // 2)
    with flint_precision(512 + 2 * max(0, m.bit_length() + e)):
        coefficients = coefficients_at(spec.function, arb((m, e)), 3)
        sizes = [_log2(coefficients[order]) for order in (1, 3)]
    spacing, length = spec.lattice(piece.key).spacing_exponent, log2(piece.count) + e
    return sizes[0] + length - spacing, sizes[1] + 3 * length - spacing


def _log2(value: arb) -> float:
    if not value.is_finite():
        return inf
    mantissa, exponent = value.mid().man_exp()
    return log2(abs(int(mantissa))) + int(exponent) if mantissa else -inf
