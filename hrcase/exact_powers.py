"""Exact results of f(x) = x^(a/b) in closed form: counted and listed without evaluating any.

Theorem (docs/functions.md, section 4). Let a, b >= 1 have no common factor, the |x| considered be
multiples of 2^e in one binade, and the breakpoints multiples of 2^s (or odd multiples of 2^(s-1),
where only midpoints count) in the binade of f(x). f(x) is a breakpoint if and only if |x| = z^b
with z a multiple of 2^T, T = max(ceil(e/b), ceil(s/a)) (or an odd multiple of 2^T, T = (s-1)/a, an
integer and at least e/b).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import gmpy2
import numpy as np
from numpy.typing import NDArray

from hrcase.pieces import Piece, Rule
from hrcase.spec import SearchSpec

MOST_PRECISION = 64
"""Significands of so many bits are worked with as 64-bit words."""

IN_CLOSED_FORM = "exact_in_closed_form"
"""The counter of a unit that says how many of them it has."""

CHUNK = 1 << 16
"""So many are listed at a time."""


@dataclass(frozen=True, slots=True)
class ExactPowers:
    """Those of consecutive arguments x = m 2^e, in one binade of x and one of f(x).

    Attributes:
        lo: ordinal of the first of these arguments.
        significand: m of that one, signed.
        root, shift: |m| = n^root 2^shift of an exact result.
        numbers: the n, in ascending order of x.
    """

    lo: int
    significand: int
    root: int
    shift: int
    numbers: range

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        """Their ordinals, ascending."""
        for i in range(0, len(self.numbers), CHUNK):
            for offset in self._offsets(self.numbers[i : i + CHUNK]).tolist():
                yield self.lo + offset

    def some(self, most: int) -> ExactPowers:
        """At most so many of them, the first one among them."""
        step = max(1, -(-len(self.numbers) // most))
        return replace(self, numbers=self.numbers[::step])

    def offsets(self) -> NDArray[np.int64]:
        """Their ordinals less lo, ascending."""
        return self._offsets(self.numbers)

    def _offsets(self, numbers: range) -> NDArray[np.int64]:
        if not numbers:
            return np.empty(0, dtype=np.int64)
        n = np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.int64).astype(np.uint64)
        m, first = n**self.root << self.shift, np.uint64(abs(self.significand))
        return (m - first if self.significand > 0 else first - m).astype(np.int64)


def exact_powers(spec: SearchSpec, lo: int, hi: int, spacing_exponent: int) -> ExactPowers | None:
    """Those of the arguments lo..hi - 1; None where the function's entry has no closed form.

    Args:
        lo, hi: ordinals, all in one binade of x and of f(x), none of them 0.
        spacing_exponent: log2 of the distance of two breakpoints there.
    """
    exponent = spec.function.exponent
    if exponent is None or spec.inp.precision > MOST_PRECISION:
        return None
    a, b = exponent
    (m, e), (last, _) = spec.inp.parts(lo), spec.inp.parts(hi - 1)
    least = -(-e // b)
    if spec.rounding == "nearest":
        trailing, rest = divmod(spacing_exponent - 1, a)
        step, is_empty = 2, rest != 0 or trailing < least
    else:
        trailing, step, is_empty = max(least, -(-spacing_exponent // a)), 1, False
    if is_empty:
        return ExactPowers(lo, m, b, 0, range(0))
    shift = b * trailing - e
    smallest, largest = sorted((abs(m), abs(last)))
    first = _root_up(-(-smallest >> shift), b)
    if step == 2:
        first |= 1
    numbers = range(first, int(gmpy2.iroot(largest >> shift, b)[0]) + 1, step)
    return ExactPowers(lo, m, b, shift, numbers if m > 0 else numbers[::-1])


def exact_in(spec: SearchSpec, piece: Piece) -> ExactPowers | None:
    """Those of a piece, or of a part of one; None where it is not searched, or as above."""
    if piece.rule is not Rule.SEARCHED:
        return None
    return exact_powers(spec, piece.lo, piece.hi, spec.lattice(piece.key).spacing_exponent)


def _root_up(value: int, b: int) -> int:
    """The least n with n^b >= value."""
    root, is_exact = gmpy2.iroot(value, b)
    return int(root) if is_exact else int(root) + 1


class ExactOrdinals:
    """Ordinals of exact results, ascending; those in closed form are worked out when asked for."""

    def __init__(self, parts: Sequence[Sequence[int] | ExactPowers]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[int]:
        for part in self._parts:
            yield from part
