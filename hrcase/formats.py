"""Binary floating-point formats, and their numbers as ordinals.

Every finite number of a format has an *ordinal*: 0 for zero, 1 for the smallest positive
number, and so on upwards; -i for the negative of ordinal i. Ordinals are the whole project's way
to say "consecutive arguments": they grow with the value, step by one, and a half-open range of
ordinals is an exact set of arguments (both zeros are one argument, as they are one real number).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from gmpy2 import mpq, mpz

from hrcase.errors import InputError

Infinite = float
"""+inf or -inf, where a bound or a rounded value may be infinite."""


VANISHING = 1 << 16
"""2^-VANISHING is far below the distance of 0 to any other breakpoint, and to any threshold."""


@dataclass(frozen=True)
class Format:
    """A format of precision p: numbers m 2^(e-p+1), 2^(p-1) <= m < 2^p, emin <= e <= emax.

    Attributes:
        name: what the user calls it.
        precision: p, in bits, the leading one counted.
        emin: exponent of the smallest normal number, 2^emin.
        emax: exponent of the largest binade, [2^emax, 2^(emax+1)).
        subnormals: whether multiples of 2^(emin-p+1) below 2^emin are numbers too.
    """

    name: str
    precision: int
    emin: int
    emax: int
    subnormals: bool = True

    def __post_init__(self) -> None:
        """Raises InputError where docs/method.md proves nothing."""
        if self.precision < 2 or self.emin > self.emax:
            raise InputError(
                f"format {self.name!r} has no numbers: precision {self.precision}, "
                f"exponents {self.emin}..{self.emax}; give precision >= 2 and emin <= emax"
            )
        if self.emax < 0:
            raise InputError(
                f"format {self.name!r} ends below 1, at 2^{self.emax + 1}, and results next to 1 "
                "would have no breakpoint above them; give emax >= 0"
            )
        if 5 * self.precision - self.emin >= VANISHING:
            raise InputError(
                f"format {self.name!r} has numbers too small to tell from results that are as good "
                f"as 0 (below 2^-{VANISHING}): precision {self.precision}, emin {self.emin}; "
                f"give 5 * precision - emin < {VANISHING}"
            )

    @cached_property
    def _skipped(self) -> int:
        """Bit patterns of subnormals that a format without subnormals leaves out."""
        return 0 if self.subnormals else (1 << (self.precision - 1)) - 1

    @cached_property
    def max_ordinal(self) -> int:
        """Ordinal of the largest finite number."""
        binades = self.emax - self.emin + 1
        return ((binades + 1) << (self.precision - 1)) - 1 - self._skipped

    @property
    def max_value(self) -> mpq:
        """The largest finite number."""
        return self.value(self.max_ordinal)

    def ulp_exponent(self, exponent: int) -> int:
        """log2 of the ulp in [2^exponent, 2^(exponent+1)); constant where subnormal."""
        if exponent < self.emin:
            return self.emin - self.precision + 1 if self.subnormals else self.emin
        return exponent - self.precision + 1

    def parts(self, ordinal: int) -> tuple[int, int]:
        """(m, e) with value m 2^e, m signed, e the exponent of the number's ulp."""
        bits = abs(ordinal) + (self._skipped if ordinal else 0)
        leading = 1 << (self.precision - 1)
        binade = max(bits >> (self.precision - 1), 1)
        m = bits - (binade - 1) * leading
        return (m if ordinal >= 0 else -m), self.emin + binade - 1 - self.precision + 1

    def value(self, ordinal: int) -> mpq:
        """The number with this ordinal, exactly.

        Raises:
            InputError: the ordinal is beyond the largest number.
        """
        if abs(ordinal) > self.max_ordinal:
            raise InputError(
                f"{self.name} has no number with ordinal {ordinal}; the last is {self.max_ordinal}"
            )
        m, e = self.parts(ordinal)
        return scale(m, e)

    def ceil_ordinal(self, value: mpq | Infinite) -> int:
        """Least ordinal whose number is >= value; max_ordinal + 1 where there is none."""
        if isinstance(value, float):
            return self.max_ordinal + 1 if value > 0 else -self.max_ordinal
        if value <= 0:
            return -min(self._floor_magnitude(-value), self.max_ordinal)
        floor = self._floor_magnitude(value)
        if floor > self.max_ordinal:
            return self.max_ordinal + 1
        return floor if self.value(floor) == value else floor + 1

    def ordinal(self, value: mpq) -> int:
        """Ordinal of an exact number of the format.

        Raises:
            InputError: value is not a number of the format.
        """
        ordinal = self.ceil_ordinal(value)
        if abs(ordinal) > self.max_ordinal or self.value(ordinal) != value:
            raise InputError(f"{value} is not a number of {self.name}; give one that is")
        return ordinal

    def round_magnitude(self, value: mpq) -> tuple[int, int, int]:
        """Ordinals of an exact value >= 0 rounded down, to nearest (ties to even), and up.

        max_ordinal + 1 stands for infinity: to nearest, from 2^emax (2 - 2^-p) on.
        """
        down = self._floor_magnitude(value)
        if down > self.max_ordinal:
            return self.max_ordinal, down, down
        m, e = self.parts(down)
        if not down and not self.subnormals:
            e = self.emin
        above = scale(value, -e) - m  # how far above `down`, in gaps to the next number
        if not above:
            return down, down, down
        up = down + 1
        even = 0 if self.subnormals else 1  # parity of the ordinals of even significands
        is_up = 2 * above > 1 or (2 * above == 1 and up % 2 == even)
        return down, (up if is_up else down), up

    def _floor_magnitude(self, value: mpq) -> int:
        """Largest ordinal whose number is <= value >= 0; max_ordinal + 1 above 2^(emax+1)."""
        if value == 0:
            return 0
        exponent = floor_log2(value)
        if exponent > self.emax:
            return self.max_ordinal + 1
        if exponent < self.emin and not self.subnormals:
            return 0
        m = int(scale(value, -self.ulp_exponent(exponent)))
        binade = max(exponent - self.emin + 1, 1)
        return m + (binade - 1) * (1 << (self.precision - 1)) - self._skipped


def scale(value: mpq | int, exponent: int) -> mpq:
    """value * 2^exponent, exactly."""
    power = mpz(1) << abs(exponent)
    return mpq(value) * power if exponent >= 0 else mpq(value) / power


def floor_log2(value: mpq) -> int:
    """floor(log2(value)) of an exact value > 0."""
    m, d = value.numerator, value.denominator
    estimate = m.bit_length() - d.bit_length()
    reaches = m >= d << estimate if estimate >= 0 else m << -estimate >= d
    return int(estimate if reaches else estimate - 1)


def binade_end(f: Format, ordinal: int) -> int:
    """First ordinal beyond the binade that holds a number, which is not 0."""
    exponent = floor_log2(abs(f.value(ordinal)))
    if ordinal > 0:
        return f.ceil_ordinal(scale(1, exponent + 1))
    return 1 - f.ceil_ordinal(scale(1, exponent))


def least_image(inp: Format, out: Format, slope_log2: int) -> mpq | None:
    """The least x > 0 of one format from which on 2^slope_log2 x is a number of another.

    None where there is none; numbers beyond the largest are left out of account.
    """
    if inp.precision > out.precision:
        return None
    if out.subnormals and inp.parts(1)[1] + slope_log2 >= out.parts(1)[1]:
        return inp.value(1)
    return max(inp.value(1), scale(1, out.emin - slope_log2))


FORMATS = {
    f.name: f
    for f in (
        Format("binary16", 11, -14, 15),
        Format("bfloat16", 8, -126, 127),
        Format("binary32", 24, -126, 127),
        Format("binary64", 53, -1022, 1023),
        Format("x87", 64, -16382, 16383),
    )
}


def format_by_name(name: str) -> Format:
    """A named format.

    Raises:
        InputError: no format has this name.
    """
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(f"unknown format {name!r}; the formats are {known}")
    return FORMATS[name]


NEAR = 128
"""An answer so near to an end is found with few questions."""


def first_ordinal_where(lo: int, hi: int, condition: Callable[[int], bool]) -> int:
    """Least ordinal of [lo, hi) where a condition that stays true once true holds; else hi."""
    for at in (lo + NEAR, hi - NEAR):
        if lo <= at < hi:
            lo, hi = (lo, at) if condition(at) else (at + 1, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if condition(middle):
            hi = middle
        else:
            lo = middle + 1
    return lo


def first_ordinal_above_0(lo: int, hi: int, level: Callable[[int], float], step: int) -> int:
    """Least ordinal of (lo, hi] with level > 0, where level(lo) < 0 < level(hi).

    By regula falsi, in its Illinois form: about ten questions where a level is smooth. Where four
    of them do not make the range sixteen times shorter the next one halves it, so that there are
    at most five times as many as by bisection.

    Args:
        level: negative up to some ordinal, positive from the next one on.
        step: a guess of how far the answer is from lo; it never changes the answer.
    """
    a, b, below, above = lo, hi, level(lo), level(hi)
    while a < (at := a + 2 * step) < b and (value := level(at)) < 0:
        a, below, step = at, value, 4 * step
    if a < at < b:
        b, above = at, value
    questions, last, wanted = 0, 0.0, (b - a) >> 4
    while b - a > 1:
        share = below / (below - above)
        if questions == 4:
            if b - a > wanted:
                share = 0.5
            questions, wanted = 0, (b - a) >> 4
        at = min(max(a + round(share * (b - a)), a + 1), b - 1)
        value = level(at)
        if value < 0:
            a, below, above = at, value, above / 2 if last < 0 else above
        else:
            b, above, below = at, value, below / 2 if last > 0 else below
        questions, last = questions + 1, value
    return b
