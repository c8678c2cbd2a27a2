"""Every integer u at which a polynomial comes near an integer: a search by counting.

How many of n points a x + b, x = 0 .. n-1, lie within w of multiples of m is a difference of two
sums of floors, each of which takes the steps of Euclid's algorithm. Where the count of a line is 0
nothing is near; else the range is halved, and at the end P itself is asked. It is far slower than
the kernels and has nothing in common with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHORT = 8
"""Ranges of so many u are asked one by one."""

LINE_BITS = 128
LONGEST_LOG2 = 40


@dataclass(frozen=True, slots=True)
class Target:
    """P(u) = sum C_j u^j in units of 1/modulus; u is near when |P(u) cmod modulus| <= window."""

    coefficients: Sequence[int]
    modulus: int
    window: int

    def is_near(self, u: int) -> bool:
        """Whether P(u) is within the window of a multiple of the modulus."""
        value = 0
        for coefficient in reversed(self.coefficients):
            value = value * u + coefficient
        return (value + self.window) % self.modulus <= 2 * self.window


def near_integers(target: Target, lo: int, hi: int) -> Iterator[int]:
    """Every u of [lo, hi) that is near, ascending."""
    while lo < hi:
        end = hi
        while True:
            centre = (lo + end) // 2
            shifted = _shifted(target, centre)
            half = max(end - centre, centre - lo)
            dropped = sum(abs(c) * half**j for j, c in enumerate(shifted) if j >= 4)
            if dropped <= target.window or end - lo <= SHORT:
                break
            end = lo + (end - lo + 1) // 2
        cubic = [*shifted[:4], 0, 0, 0][:4]
        for first, last in _split(cubic, target, dropped, lo - centre, end - centre):
            yield from _on_line(target, cubic, dropped, centre, first, last)
        lo = end


def line_length(target: Target, centre: int) -> int:
    """How many u around a place one count takes, about."""
    shifted = [*_shifted(target, centre), 0, 0]
    n = SHORT
    while n < 1 << LONGEST_LOG2 and _is_worth_it(target, shifted, target.window, 2 * n):
        n *= 2
    return n


def _is_worth_it(target: Target, q: Sequence[int], window: int, n: int) -> bool:
    """Whether fewer than half of all lines of n points would have one that is near."""
    error = window + abs(q[2]) * (n // 2) ** 2 + abs(q[3]) * (n // 2) ** 3
    return 4 * error * n < target.modulus


def _split(
    q: Sequence[int], target: Target, dropped: int, lo: int, hi: int
) -> Iterator[tuple[int, int]]:
    """A range in parts that one count each takes."""
    n = SHORT
    steepest = [q[0], q[1], abs(q[2]) + 3 * abs(q[3]) * max(abs(lo), abs(hi)), q[3]]
    window = target.window + dropped
    while n < hi - lo and _is_worth_it(target, steepest, window, 2 * n):
        n *= 2
    for first in range(lo, hi, n):
        yield first, min(first + n, hi)


def _on_line(
    target: Target, q: Sequence[int], dropped: int, centre: int, lo: int, hi: int
) -> Iterator[int]:
    """Every near u = centre + t, lo <= t < hi, q being P around the centre."""
    if hi - lo <= SHORT:
        yield from (u for u in range(centre + lo, centre + hi) if target.is_near(u))
        return
    middle = (lo + hi) // 2
    half = max(hi - middle, middle - lo)
    slope = q[1] + 2 * q[2] * middle + 3 * q[3] * middle**2
    value = ((q[3] * middle + q[2]) * middle + q[1]) * middle + q[0]
    curve = abs(q[2] + 3 * q[3] * middle)
    error = target.window + dropped + curve * half**2 + abs(q[3]) * half**3
    if _may_be_near(target.modulus, slope, value - slope * (middle - lo), error, hi - lo):
        yield from _on_line(target, q, dropped, centre, lo, middle)
        yield from _on_line(target, q, dropped, centre, middle, hi)


def _may_be_near(modulus: int, slope: int, start: int, error: int, n: int) -> bool:
    """Whether one of slope x + start, 0 <= x < n, is within an error of a multiple of the modulus;
    true also where it is nearly so."""
    if 2 * error + 1 >= modulus:
        return True
    cut = max(0, modulus.bit_length() - LINE_BITS)
    if cut:
        modulus, slope, start = modulus >> cut, slope >> cut, start >> cut
        error = (error >> cut) + n + 2
        if 2 * error + 1 >= modulus:
            return True
    upper = floor_sum(n, modulus, slope % modulus, (start + error) % modulus)
    return upper != floor_sum(
        n, modulus, slope % modulus, (start + error) % modulus - 2 * error - 1
    )


def floor_sum(n: int, m: int, a: int, b: int) -> int:
    """The sum of floor((a x + b)/m) over 0 <= x < n."""
    total = 0
    while n > 0:
        more, a = divmod(a, m)
        total += more * (n * (n - 1) // 2)
        more, b = divmod(b, m)
        total += more * n
        last = a * n + b
        if last < m:
            break
        n, b = divmod(last, m)
        m, a = a, m
    return total


def _shifted(target: Target, centre: int) -> list[int]:
    """The coefficients around a centre, each the representative modulo 1 nearest to 0."""
    q, modulus = list(target.coefficients), target.modulus
    for i in range(len(q) - 1):
        for j in range(len(q) - 2, i - 1, -1):
            q[j] += q[j + 1] * centre
    return [(c + modulus // 2) % modulus - modulus // 2 for c in q]
