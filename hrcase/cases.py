"""The record a search gives: one hard-to-round case."""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.hexfloat import format_bound, parse_bound, parse_number, to_hex

Row = tuple[str, ...]
"""A case as the columns of a CSV list, as text, after the first two: nothing is lost by it."""


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

    @property
    def row(self) -> Row:
        """As the columns of a list."""
        return (
            to_hex(self.x),
            format_bound(self.y_nearest),
            self.breakpoint,
            self.side,
            self.log2_distance,
            self.distance_ulp,
            str(self.identical_bits),
        )

    @classmethod
    def of_row(cls, row: Row) -> HRCase:
        """The case that a row says; raises InputError where x or y_nearest is no number."""
        x, y, breakpoint, side, log2_distance, distance, bits = row
        return cls(
            parse_number(x), parse_bound(y), breakpoint, side, log2_distance, distance, int(bits)
        )
