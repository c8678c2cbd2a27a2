"""The case list as CSV, byte for byte reproducible."""

from collections.abc import Iterable
from typing import TextIO

from hrcase.cases import Row

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


def write_csv(stream: TextIO, function: str, format_name: str, rows: Iterable[Row]) -> None:
    """Write the header and one line a case, in the order given.

    `function` and `format_name` fill the first two columns; x and y_nearest are exact
    (`hexfloat.to_hex`, `inf` where the nearest number is infinite); distances are in ulps. No field
    holds a comma, so none is quoted.
    """
    stream.write(",".join(HEADER) + "\n")
    for row in rows:
        stream.write(f"{function},{format_name},{','.join(row)}\n")
