"""Functions that gmpy2 lacks, by their definitions, with BITS bits, as a reference.

From the definitions alone: nothing of hrcase is used. Which values are exact is stated here anew.
"""

from __future__ import annotations

from collections.abc import Callable

import gmpy2
from gmpy2 import mpfr, mpq

BITS = 800
"""Far more than cancellation costs in the formats of the tests: 2^x - 1 near 2^-150, say."""

C = gmpy2.context(precision=BITS)
PI, LOG2, LOG10 = C.const_pi(), C.log(2), C.log(10)


def evaluate(name: str, x: mpq, bits: int) -> tuple[mpfr, bool]:
    """f(x) rounded to some bits, and whether f(x) is a dyadic rational; nan where undefined."""
    y = FORMULAS[name](x)
    is_exact = EXACT[name](x)
    if is_exact and name not in ("exp2m1", "exp10m1"):  # integers, halves or quarters
        y = C.div(C.rint(C.mul(y, 4)), 4)
    return gmpy2.context(precision=bits).plus(y), is_exact


def real(x: mpq) -> mpfr:
    return C.plus(mpfr(x, BITS))


def half_turns(x: mpq) -> mpfr:
    """pi times x reduced to [-1, 1]."""
    return C.mul(PI, real(x - 2 * ((x + 1) // 2)))


def tanpi(x: mpq) -> mpfr:
    angle = half_turns(x)
    is_pole = x.denominator == 2
    return mpfr("nan") if is_pole else C.div(C.sin(angle), C.cos(angle))


FORMULAS: dict[str, Callable[[mpq], mpfr]] = {
    "exp2m1": lambda x: C.sub(C.exp2(real(x)), 1),
    "exp10m1": lambda x: C.sub(C.exp10(real(x)), 1),
    "log2p1": lambda x: C.div(C.log(real(1 + x)), LOG2) if x > -1 else mpfr("nan"),
    "log10p1": lambda x: C.div(C.log(real(1 + x)), LOG10) if x > -1 else mpfr("nan"),
    "sinpi": lambda x: C.sin(half_turns(x)),
    "cospi": lambda x: C.cos(half_turns(x)),
    "tanpi": tanpi,
    "asinpi": lambda x: C.div(C.asin(real(x)), PI),
    "acospi": lambda x: C.div(C.acos(real(x)), PI),
    "atanpi": lambda x: C.div(C.atan(real(x)), PI),
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
