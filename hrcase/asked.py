"""From the words of a search, on the command line, in a file or in a program, to what is asked."""

from __future__ import annotations

from hrcase.errors import InputError
from hrcase.formats import Format, format_by_name
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_interval
from hrcase.spec import (
    Region,
    SearchSpec,
    default_bits,
    exponent_range,
    interval,
    one_sign,
)


def spec_of(
    function: str,
    *,
    exponents: str | None = None,
    interval_text: str | None = None,
    sign: str | None = None,
    input_name: str = "binary64",
    output_name: str | None = None,
    bits: int | None = None,
    rounding: str = "all",
) -> SearchSpec:
    """The spec; the arguments are the options of `hrcase search`.

    Args:
        exponents: "A:B", for 2^A <= |x| < 2^(B+1).
        interval_text: "LO,HI", exact bounds, for LO <= x < HI.
        bits: default p - 9, never below 6, p being the precision of f(x).

    Raises:
        InputError: one of them is wrong, or two exclude each other.
    """
    function = function_by_name(function).name  # of an expression, the canonical spelling
    inp = format_by_name(input_name)
    out = format_by_name(output_name or input_name)
    region = _region(inp, exponents, interval_text, sign)
    return SearchSpec(
        function, inp, out, default_bits(out) if bits is None else bits, rounding, region
    )


def _region(
    inp: Format, exponents: str | None, interval_text: str | None, sign: str | None
) -> Region:
    if interval_text is not None:
        if exponents is not None or sign is not None:
            raise InputError(
                "--interval excludes --exponent-range and --sign; its bounds carry their signs; "
                "give one of them"
            )
        lo, hi = parse_interval(interval_text)
        low_text, high_text = (part.strip() for part in interval_text.split(","))
        return interval(inp, lo, hi, f"{low_text} <= x < {high_text}")
    if exponents is None:
        return one_sign(inp, sign or "both")
    try:
        first, last = (int(part) for part in exponents.split(":"))
    except ValueError:
        raise InputError(
            f"--exponent-range {exponents!r} is not A:B with two integers; give, say, -3:4"
        ) from None
    return exponent_range(inp, first, last, sign or "both")
