"""The record a search gives: one hard-to-round case."""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq


@dataclass(frozen=True, slots=True)
class HRCase:
    """An argument whose exact result is close to a breakpoint, but not on it.

    Attributes:
        x: the argument.
        y_nearest: f(x) rounded to nearest, ties impossible; a float inf where it overflows.
        breakpoint: "number" or "midpoint": which kind the nearest breakpoint is.
        side: where f(x) lies relative to that breakpoint, "above" or "below".
        log2_distance: log2 of the distance in ulps, correctly rounded to 3 decimals.
        distance_ulp: the distance in ulps, correctly rounded to 10 digits.
        identical_bits: k = floor(-log2(distance in ulps)) - 1, the identical bits after
            the round bit.
    """

    x: mpq
    y_nearest: mpq | float
    breakpoint: str
    side: str
    log2_distance: str
    distance_ulp: str
    identical_bits: int
