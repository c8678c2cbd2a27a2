"""Exact printing and reading of numbers, at any precision.

A double, and so `float.hex`, cannot carry a 64-bit significand; everything that hrcase prints or
reads as a number goes through this module, and nothing in it rounds.
"""

import re

from gmpy2 import mpq, mpz

from hrcase.errors import InputError

INFINITY = float("inf")

# Bounds that keep a typing error such as 1e999999999 from filling the memory. They are far above
# any format: binary256 ends at 2^262144.
MAX_DECIMAL_EXPONENT = 10**6
MAX_BINARY_EXPONENT = 10**7
MAX_CHARACTERS = 10**6

_HEX = re.compile(
    r"([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?[0-9]+))?"
)
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)


def to_hex(value: mpq) -> str:
    """Spell a dyadic rational as C's `%a` does: lower case, no trailing zeros (`0x1.8p-1`).

    The leading digit is always 1, also for subnormals; zero is `0x0p+0`.
    Raises InputError when the denominator is not a power of two.
    """
    numerator, denominator = abs(value.numerator), value.denominator
    if denominator.bit_count() != 1:
        raise InputError(
            f"cannot print {_shown(str(value))} in hexadecimal; its denominator is not a power of "
            "two; print it as a fraction"
        )
    if numerator == 0:
        return "0x0p+0"
    fraction_bits = numerator.bit_length() - 1
    exponent = fraction_bits - (denominator.bit_length() - 1)
    width = -(-fraction_bits // 4)
    fraction = (numerator - (mpz(1) << fraction_bits)) << (4 * width - fraction_bits)
    digits = f"{fraction:x}".rjust(width, "0").rstrip("0")
    sign = "-" if value < 0 else ""
    return f"{sign}0x1{'.' if digits else ''}{digits}p{exponent:+d}"


def format_bound(value: mpq | float) -> str:
    """Spell a number that may be infinite: `to_hex`, or `inf`, or `-inf`."""
    if isinstance(value, float):
        return "inf" if _infinity(value) > 0 else "-inf"
    return to_hex(value)


def parse_number(text: str) -> mpq:
    """Read one finite number exactly: C hexadecimal, an integer, or a decimal.

    A decimal is the rational that it says: `0.25001` is 25001/100000, not the nearest double.
    Raises InputError for everything else, infinities, nan and fractions included, and for
    exponents beyond MAX_BINARY_EXPONENT or MAX_DECIMAL_EXPONENT in size.
    """
    stripped = text.strip()
    if len(stripped) > MAX_CHARACTERS:
        raise InputError(
            f"cannot read a number of {len(stripped)} characters; more than {MAX_CHARACTERS} are "
            "refused; write it with an exponent"
        )
    if match := _HEX.fullmatch(stripped):
        return _from_digits(match, base=16, radix=2, limit=MAX_BINARY_EXPONENT)
    if match := _DECIMAL.fullmatch(stripped):
        return _from_digits(match, base=10, radix=10, limit=MAX_DECIMAL_EXPONENT)
    reason = "it is infinite" if _INFINITE.fullmatch(stripped) else "it is not a finite number"
    raise InputError(
        f"cannot read {_shown(text)} as a number; {reason}; write it like 0x1.8p-3, -3 or 0.25001"
    )


def parse_bound(text: str) -> mpq | float:
    """Read a number as `parse_number` does, or `inf`, `+inf`, `-inf` as a float.

    Raises InputError for everything else.
    """
    if match := _INFINITE.fullmatch(text.strip()):
        return -INFINITY if match[1] == "-" else INFINITY
    return parse_number(text)


def parse_interval(text: str) -> tuple[mpq | float, mpq | float]:
    """Read `LO,HI`, the half-open interval LO <= x < HI of exact bounds.

    Raises InputError when there are not two bounds, or LO is not below HI.
    """
    parts = text.split(",")
    if len(parts) != 2:
        raise InputError(
            f"cannot read {_shown(text)} as an interval; it has {len(parts)} parts, not 2; "
            "write it like 1,2 or 0x1p-1,inf"
        )
    low, high = parse_bound(parts[0]), parse_bound(parts[1])
    if not low < high:
        raise InputError(
            f"the interval {_shown(text)} is empty; LO <= x < HI needs LO below HI; "
            "write the smaller bound first"
        )
    return low, high


def _from_digits(match: re.Match[str], base: int, radix: int, limit: int) -> mpq:
    """The value sign * whole.fraction * radix^exponent of a matched number."""
    sign, whole, fraction, exponent_text = match.groups(default="")
    exponent = _exponent(exponent_text, limit, match.string)
    digits = mpz((whole + fraction) or "0", base)
    value = mpq(digits, mpz(base) ** len(fraction))
    power = mpz(radix) ** abs(exponent)
    value = value * power if exponent >= 0 else value / power
    return -value if sign == "-" else value


def _exponent(text: str, limit: int, number: str) -> int:
    """The exponent, refused before it is turned into a power; "" is 0."""
    size = text.lstrip("+-0") or "0"
    if len(size) > len(str(limit)) or int(size) > limit:
        raise InputError(
            f"cannot read {_shown(number)} as a number; its exponent is beyond {limit}; "
            "write inf for an unbounded interval"
        )
    return -int(size) if text.startswith("-") else int(size)


def _infinity(value: float) -> float:
    """`value` itself, when it is infinite: finite floats are no exact values of hrcase."""
    if abs(value) != INFINITY:
        raise InputError(
            f"cannot print the float {value!r} exactly; only infinities are floats in hrcase; "
            "pass finite numbers as gmpy2.mpq"
        )
    return value


def _shown(text: str) -> str:
    """`text` quoted and short enough for one line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
