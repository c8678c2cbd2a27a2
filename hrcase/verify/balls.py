"""Ball arithmetic on ranges of arguments, with flint's precision put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flint import arb, arb_series
from flint import ctx as flint_context

from hrcase.formats import Format
from hrcase.functions.base import Function


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """flint's working precision, which is global to the process."""
    previous, flint_context.prec = flint_context.prec, bits
    try:
        yield
    finally:
        flint_context.prec = previous


def hull(inp: Format, lo: int, hi: int) -> arb:
    """A ball that holds all arguments of a half-open range, at flint's current precision."""
    return arb(inp.parts(lo)).union(arb(inp.parts(hi - 1)))


def coefficients(f: Function, x: arb, degree: int) -> list[arb]:
    """Enclosures of f^(j)(xi)/j!, j = 0 .. degree, for all xi of a ball."""
    # flint takes what lies beyond its cap, 10 terms unless it is set, for 0.
    previous, flint_context.cap = flint_context.cap, degree + 2
    try:
        series = f.series(arb_series([x, 1], prec=degree + 1))
    finally:
        flint_context.cap = previous
    return [series[j] for j in range(degree + 1)]
