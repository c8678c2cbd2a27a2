"""Functions that gmpy2 lacks, by their definitions, as a reference.

From the definitions alone: nothing of hrcase is used. Which values are exact is stated here anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import gmpy2
from gmpy2 import mpfr, mpq

BITS = 600


class Arithmetic:
    """MPFR with a precision, and constants."""

    def __init__(self, precision: int) -> None:
        self.context = gmpy2.context(precision=precision)
        self.pi = self.context.const_pi()
        self.log2, self.log10 = self.context.log(mpfr(2)), self.context.log(mpfr(10))

    def real(self, x: mpq) -> mpfr:
        return self.context.plus(mpfr(x, self.context.precision))

    def half_turns(self, x: mpq) -> mpfr:
        """pi times x reduced to [-1, 1]."""
        return self.context.mul(self.pi, self.real(x - 2 * ((x + 1) // 2)))


@cache
def arithmetic(precision: int) -> Arithmetic:
    return Arithmetic(precision)


def evaluate(name: str, x: mpq, bits: int) -> tuple[mpfr, bool]:
    """f(x) rounded to some bits, and whether f(x) is a dyadic rational; nan where undefined."""
    family, _, n = name.partition(":")
    if family in RATIONAL:
        return rational(RATIONAL[family](x, int(n)), bits)
    if family == "rootn":
        return root(x, int(n), bits)
    cancelled = 64 * (int(x.denominator.bit_length()) // 64)  # as in 2^x - 1 for small x
    at = arithmetic(BITS + cancelled)
    y, is_exact = FORMULAS[name](at, x), EXACT[name](x)
    if is_exact and name not in ("exp2m1", "exp10m1"):  # integers, halves or quarters
        y = at.context.div(at.context.rint(at.context.mul(y, 4)), 4)
    return gmpy2.context(precision=bits).plus(y), is_exact


MEMBERS = [
    *(f"pown:{n}" for n in (2, 3, 5, -1, -2)),
    *(f"rootn:{n}" for n in (2, 3, 4, -3)),
    *(f"compound:{n}" for n in (2, 12, -1)),
]
"""Of the families those that are tested everywhere."""


def power(x: mpq, n: int) -> mpq | None:
    """x^n by multiplication; None for 0 to a negative power."""
    product = mpq(1)
    for _ in range(abs(n)):
        product *= x
    if n > 0:
        return product
    return 1 / product if product else None


RATIONAL: dict[str, Callable[[mpq, int], mpq | None]] = {
    "pown": power,
    "compound": lambda x, n: power(1 + x, n) if x >= -1 else None,
}


def rational(value: mpq | None, bits: int) -> tuple[mpfr, bool]:
    """A rational rounded, and whether nothing was lost."""
    if value is None:
        return mpfr("nan"), False
    y = gmpy2.context(precision=bits).div(value.numerator, value.denominator)
    return y, y.rc == 0


def root(x: mpq, n: int, bits: int) -> tuple[mpfr, bool]:
    """The n-th root: of the integer a 2^(n k) b^(n-1), over 2^k b, for x = a/b."""
    if (x < 0 and n % 2 == 0) or (x == 0 and n < 0):
        return mpfr("nan"), False
    size, shift = abs(x), bits + 64
    if n < 0:
        size, n = 1 / size, -n
    whole, remainder = gmpy2.iroot_rem(
        (size.numerator << n * shift) * size.denominator ** (n - 1), n
    )
    value = mpq(whole, size.denominator << shift)
    y, is_exact = rational(value if x >= 0 else -value, bits)
    return y, is_exact and remainder == 0


def exp2m1(at: Arithmetic, x: mpq) -> mpfr:
    return at.context.sub(at.context.exp2(at.real(x)), 1)


def exp10m1(at: Arithmetic, x: mpq) -> mpfr:
    return at.context.sub(at.context.exp10(at.real(x)), 1)


def log1p(at: Arithmetic, x: mpq) -> mpfr:
    return at.context.log(at.real(1 + x)) if x > -1 else mpfr("nan")


def tanpi(at: Arithmetic, x: mpq) -> mpfr:
    angle = at.half_turns(x)
    is_pole = x.denominator == 2
    return mpfr("nan") if is_pole else at.context.div(at.context.sin(angle), at.context.cos(angle))


FORMULAS: dict[str, Callable[[Arithmetic, mpq], mpfr]] = {
    "exp2m1": exp2m1,
    "exp10m1": exp10m1,
    "log2p1": lambda at, x: at.context.div(log1p(at, x), at.log2),
    "log10p1": lambda at, x: at.context.div(log1p(at, x), at.log10),
    "sinpi": lambda at, x: at.context.sin(at.half_turns(x)),
    "cospi": lambda at, x: at.context.cos(at.half_turns(x)),
    "tanpi": tanpi,
    "asinpi": lambda at, x: at.context.div(at.context.asin(at.real(x)), at.pi),
    "acospi": lambda at, x: at.context.div(at.context.acos(at.real(x)), at.pi),
    "atanpi": lambda at, x: at.context.div(at.context.atan(at.real(x)), at.pi),
}

POWERS_OF_10 = {mpq(10) ** k for k in range(100)}


def is_power_of_2(x: mpq) -> bool:
    return 1 in (x.numerator, x.denominator) and (x.numerator * x.denominator).bit_count() == 1


EXACT: dict[str, Callable[[mpq], bool]] = {
    "exp2m1": lambda x: x.denominator == 1 and x > -300,  # below, 2^x - 1 has too many bits
    "exp10m1": lambda x: x.denominator == 1 and x >= 0,
    "log2p1": lambda x: x > -1 and is_power_of_2(1 + x),
    "log10p1": lambda x: 1 + x in POWERS_OF_10,
    "sinpi": lambda x: x.denominator <= 2,
    "cospi": lambda x: x.denominator <= 2,
    "tanpi": lambda x: x.denominator in (1, 4),
    "asinpi": lambda x: x in (-1, 0, 1),
    "acospi": lambda x: x in (-1, 0, 1),
    "atanpi": lambda x: x in (-1, 0, 1),
}
