"""The case list as CSV, byte for byte reproducible."""

from collections.abc import Iterable
from typing import TextIO

from hrcase.cases import HRCase
from hrcase.hexfloat import format_bound, to_hex

HEADER = (
    "function",
    "format",
    "x",
    "y_nearest",
    "breakpoint",
    "side",
    "log2_distance",
    "distance_ulp",
    "identical_bits",
)


def fields_of(case: HRCase) -> tuple[str, ...]:
    """The columns of a case after the first two, as text."""
    return (
        to_hex(case.x),
        format_bound(case.y_nearest),
        case.breakpoint,
        case.side,
        case.log2_distance,
        case.distance_ulp,
        str(case.identical_bits),
    )


def write_csv(stream: TextIO, function: str, format_name: str, cases: Iterable[HRCase]) -> None:
    """Write the header and one line a case, in the order given.

    `function` and `format_name` fill the first two columns; `x` and `y_nearest` are exact
    (`hexfloat.to_hex`, `inf` where the nearest number is infinite); distances are in ulps. No field
    holds a comma, so none is quoted.
    """
    write_rows(stream, function, format_name, map(fields_of, cases))


def write_rows(
    stream: TextIO, function: str, format_name: str, rows: Iterable[tuple[str, ...]]
) -> None:
    """As `write_csv`, of rows that `fields_of` made."""
    stream.write(",".join(HEADER) + "\n")
    for row in rows:
        stream.write(f"{function},{format_name},{','.join(row)}\n")
