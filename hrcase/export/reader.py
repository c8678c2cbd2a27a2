"""Reading case lists, whoever wrote them: our CSV, CORE-MATH's `.wc`, `.bin`, BaCSeL's output.

Every line is understood or refused with its file, number and text: a line passed over in silence
could be the one case that matters.
"""

import math
import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.export.csv import HEADER
from hrcase.hexfloat import parse_bound, parse_number


@dataclass(frozen=True, slots=True)
class Entry:
    """One argument of a list, with the distance (in ulps) where the list states it.

    `line` is its line, or the place of the number in a `.bin` file, from 1.
    """

    x: mpq
    distance: mpq | None
    line: int


@dataclass(frozen=True, slots=True)
class CaseList:
    """What a file holds: its entries in file order, and what the file says of them.

    `skipped` counts what is no finite argument (nan, snan, ±inf) in a `.wc` or `.bin` file.
    `function` and `format_name` are None where the file does not say them.
    `is_ours`: the distances were computed by hrcase. Those of BaCSeL were not, and are no proof.
    """

    path: Path
    entries: tuple[Entry, ...]
    skipped: int
    function: str | None
    format_name: str | None
    is_ours: bool = False

    @property
    def states_distances(self) -> bool:
        """Whether some entry states its distance."""
        return any(entry.distance is not None for entry in self.entries)


_Lines = Iterable[tuple[int, str]]

_DOUBLE = struct.Struct("<d")
_NOT_FINITE = re.compile(r"[+-]?(?:s?nan|inf|infinity)", re.IGNORECASE)
_BACSEL = re.compile(
    r"\*\*\* x=(-?[0-9]+)(?:\*2\^(-?[0-9]+))?, distance is: ([0-9.]+(?:[eE][+-]?[0-9]+)?)"
)


def read_list(path: str | Path) -> CaseList:
    """Read a `.csv` file with our header, a `.wc`, a `.bin`, or (any other suffix) BaCSeL's output.

    Raises InputError when the file cannot be read, or a line of it is not understood.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".wc": _read_wc}
    read: Callable[[Path, _Lines], CaseList] = readers.get(path.suffix.lower(), _read_bacsel)
    try:
        if path.suffix.lower() == ".bin":
            return _read_bin(path, path.read_bytes())
        with open(path, encoding="utf-8", errors="replace", newline="") as stream:
            return read(path, enumerate((line.rstrip("\r\n") for line in stream), start=1))
    except OSError as error:
        raise InputError(
            f"cannot read {path}; {error.strerror}; give the path of a case list"
        ) from error


def _read_wc(path: Path, lines: _Lines) -> CaseList:
    entries = []
    skipped = 0
    for number, line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if _NOT_FINITE.fullmatch(text):
            skipped += 1
            continue
        if "," in text:
            raise _wrong_line(
                path, number, line, "it has two arguments; only functions of one are read"
            )
        entries.append(Entry(_number(path, number, line, text), None, number))
    return CaseList(path, tuple(entries), skipped, None, None)


def _read_bin(path: Path, content: bytes) -> CaseList:
    """Doubles, little-endian, one after another."""
    if len(content) % _DOUBLE.size:
        raise InputError(
            f"{path} has {len(content)} bytes, which is no whole number of doubles; it is cut off "
            "or no .bin file; get it again, or rename it to what it is"
        )
    numbers = [number for (number,) in _DOUBLE.iter_unpack(content)]
    entries = tuple(
        Entry(mpq(number), None, place)
        for place, number in enumerate(numbers, start=1)
        if math.isfinite(number)
    )
    return CaseList(path, entries, len(numbers) - len(entries), None, None)


def _read_csv(path: Path, lines: _Lines) -> CaseList:
    numbered = iter(lines)
    _, header = next(numbered, (1, ""))
    if header != ",".join(HEADER):
        raise _wrong_line(path, 1, header, f"the header must be {','.join(HEADER)}")
    entries = []
    named: tuple[str, str] | None = None
    for number, line in numbered:
        row = line.split(",")
        if len(row) != len(HEADER):
            raise _wrong_line(path, number, line, f"it has {len(row)} fields, not {len(HEADER)}")
        named = named or (row[0], row[1])
        if (row[0], row[1]) != named:
            raise _wrong_line(
                path, number, line, f"the lines above are of {named[0]} in {named[1]}"
            )
        entries.append(_csv_entry(path, number, line, row))
    function, format_name = named or (None, None)
    return CaseList(path, tuple(entries), 0, function, format_name, is_ours=True)


def _csv_entry(path: Path, number: int, line: str, row: list[str]) -> Entry:
    """The entry of one row, all of whose fields must be what the header says."""
    x, y, breakpoint_kind, side, log2_distance, distance_ulp, bits = row[2:]
    if breakpoint_kind not in ("number", "midpoint"):
        raise _wrong_line(path, number, line, "breakpoint must be 'number' or 'midpoint'")
    if side not in ("above", "below"):
        raise _wrong_line(path, number, line, "side must be 'above' or 'below'")
    if not re.fullmatch(r"-?[0-9]+", bits):
        raise _wrong_line(path, number, line, "identical_bits must be an integer")
    _number(path, number, line, log2_distance)
    try:
        parse_bound(y)
    except InputError as error:
        raise _wrong_line(path, number, line, "y_nearest is not a number") from error
    distance = _number(path, number, line, distance_ulp)
    return Entry(_number(path, number, line, x), distance, number)


def _read_bacsel(path: Path, lines: _Lines) -> CaseList:
    """BaCSeL prints its cases among the lines of its log; a case begins with '***'."""
    entries = []
    for number, line in lines:
        if not line.startswith("***"):
            continue
        match = _BACSEL.fullmatch(line.strip())
        if not match:
            raise _wrong_line(path, number, line, "expected '*** x=T*2^E, distance is: D'")
        significand = _number(path, number, line, match[1])
        scale = _number(path, number, line, f"0x1p{match[2] or 0}")
        distance = _number(path, number, line, match[3])
        entries.append(Entry(significand * scale, distance, number))
    if not entries:
        raise InputError(
            f"no case in {path}; its name ends neither in .csv nor in .wc, and as BaCSeL's output "
            "it has no line that begins with '***'; rename it to what it is"
        )
    return CaseList(path, tuple(entries), 0, None, None)


def _number(path: Path, number: int, line: str, text: str) -> mpq:
    try:
        return parse_number(text)
    except InputError as error:
        raise _wrong_line(path, number, line, f"{text[:60]!r} is not a finite number") from error


def _wrong_line(path: Path, number: int, line: str, why: str) -> InputError:
    return InputError(
        f"{path}:{number}: cannot read {line[:120]!r}; {why}; correct the line or remove it"
    )
