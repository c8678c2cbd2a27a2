"""Distances to the nearest breakpoint by the million: the C library's functions.

Their error is bounded by a margin of 16 ulps of double: the GNU C library states at most 4 ulps for
the five of double precision, the others have those of long double and three roundings more, and
the tests look at some of each. What lies within the margin of a decision is decided by
brute.reference.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from brute.compare import Reference, is_case
from brute.reference import EVERY_FUNCTION, nearest, values
from hrcase.spec import SearchSpec

Distances: TypeAlias = NDArray[np.float64]
Ordinals: TypeAlias = NDArray[np.int64]

CHUNK = 1 << 22

LATTICES = {"all": (2, 0.0), "directed": (1, 0.0), "nearest": (1, 0.5)}
"""Breakpoints in an ulp; how far they are moved."""


def margin(spec: SearchSpec) -> float:
    """16 ulps of double of a position, which is below 2^p ulps, in the breakpoints' spacing."""
    return float(LATTICES[spec.rounding][0] * 2.0 ** (spec.out.precision - 53 + 4))


class Brute:
    """The compiled loop."""

    def __init__(self, directory: Path) -> None:
        source, binary = Path(__file__).with_name("distances.cpp"), directory / "distances.so"
        options = ["-O2", "-std=c++17", "-fno-math-errno", "-shared", "-fPIC"]
        subprocess.run(["g++", *options, "-o", str(binary), str(source)], check=True)
        self._loop = ctypes.CDLL(str(binary)).distances
        number, long, double = ctypes.c_int, ctypes.c_long, ctypes.c_double
        self._loop.argtypes = [number, long, long, number, number, number, number, double]
        self._loop.argtypes += [ctypes.c_void_p]
        self._loop.restype = None
        self._asked: tuple[object, ...] = ()
        self._bits = 0
        self._near: Reference = {}

    def distances(self, spec: SearchSpec, lo: int, hi: int) -> Distances:
        """Of the arguments with ordinals lo <= i < hi, of one binade, in spacings."""
        m, exponent = spec.inp.parts(lo)
        assert spec.inp.parts(hi - 1) == (m + hi - 1 - lo, exponent), "more than one binade"
        found = np.empty(hi - lo, dtype=np.float64)
        function = list(EVERY_FUNCTION).index(spec.function_name)
        out, lattice = spec.out, LATTICES[spec.rounding]
        self._loop(
            function, m, hi - lo, exponent, out.precision, out.emin, *lattice, found.ctypes.data
        )
        return found

    def cases(self, spec: SearchSpec, lo: int, hi: int) -> tuple[Reference, list[int]]:
        """All cases, and the ordinals of all exact results, of lo <= i < hi, of one binade.

        When the same range is asked for with more bits, its cases are looked for among those that
        were found before: fewer bits, more cases.
        """
        asked = (spec.function_name, spec.inp, spec.out, spec.rounding, lo, hi)
        if self._asked != asked or spec.bits < self._bits:
            self._asked, self._bits = asked, spec.bits
            self._near = decide(spec, self._within(spec, lo, hi))
        cases = {i: near for i, near in self._near.items() if is_case(near, spec.bits)}
        return cases, [i for i, near in self._near.items() if near.is_exact]

    def _within(self, spec: SearchSpec, lo: int, hi: int) -> list[int]:
        """Arguments, ascending, whose distance is within the window, or perhaps is."""
        slack, window = margin(spec), target(spec)
        assert slack <= window / 4
        within: list[int] = []
        for first in range(lo, hi, CHUNK):
            found = self.distances(spec, first, min(first + CHUNK, hi))
            within += [first + int(i) for i in np.flatnonzero(found <= window + slack)]
        return within


def target(spec: SearchSpec) -> float:
    """2^-bits ulp in spacings."""
    return float(LATTICES[spec.rounding][0] * 2.0**-spec.bits)


def decide(spec: SearchSpec, ordinals: list[int]) -> Reference:
    """The nearest breakpoints of some arguments, by MPFR."""
    found = {
        i: nearest(y, spec.out, spec.rounding)
        for i, y in values(spec.function_name, spec.inp, ordinals)
    }
    return {i: near for i, near in found.items() if near is not None}
