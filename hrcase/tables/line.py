"""A line of the certified exp tables of Théry and Zimmermann (2026).

    x0 n k l  B_0 B_1 ... B_(k-1)

Each B_i is l words of 64 bits, the least significant first. It is the value P(i) of a
polynomial P of degree k - 1, in units of 2^-(64 l), modulo 1. The line stands for the arguments
x0 + j ulp(x0), 0 <= j < n. Their program takes the difference table of the B_i and steps it, so
that P(j) = sum Delta_i C(j, i) modulo 1 in exact integers, and reports j when

    top word of (P(j) + WINDOW 2^-64)  <=  2 WINDOW.

Fields are separated by blanks. x0 is a binary64 number, hexadecimal or an exact decimal; the others
are integers, decimal or hexadecimal with 0x. Empty lines and lines that begin with # say nothing.
Source: docs/tables.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from typing import BinaryIO

from gmpy2 import mpq, mpz

from hrcase.errors import InputError
from hrcase.formats import FORMATS, scale
from hrcase.hexfloat import parse_number

WORD = 64
WINDOW = 0x600000
"""Their window constant, 3 * 2^-43 of the modulus."""

MOST_VALUES = MOST_WORDS = 64
"""Largest k and l that are read; far above what polynomials of exp need."""

LONGEST = 1 << 18
"""Bytes of a line: more than MOST_VALUES * MOST_WORDS words take."""

_DOUBLE = FORMATS["binary64"]
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32}")
_NAMES = ("x0", "n", "k", "l")


@dataclass(frozen=True)
class TableLine:
    """What a line says.

    Attributes:
        number: of the line in its file, from 1.
        significand, exponent: x0 = significand 2^exponent, and 2^exponent is its ulp.
        count: n.
        words: l.
        values: B_0 .. B_(k-1), each 0 <= B_i < 2^(64 l).
    """

    number: int
    significand: int
    exponent: int
    count: int
    words: int
    values: tuple[int, ...]

    @property
    def bits(self) -> int:
        """log2 of the modulus, in units of P."""
        return WORD * self.words

    @cached_property
    def differences(self) -> tuple[mpz, ...]:
        """Delta_0 .. Delta_(k-1) at j = 0, each the one of least size modulo 2^(64 l)."""
        row = [mpz(value) for value in self.values]
        found = []
        while row:
            found.append(self.signed(row[0]))
            row = [after - before for before, after in pairwise(row)]
        return tuple(found)

    def signed(self, value: mpz) -> mpz:
        """The integer of [-2^(64 l - 1), 2^(64 l - 1)) that is `value` modulo 2^(64 l)."""
        half = mpz(1) << self.bits - 1
        return (value + half) % (2 * half) - half

    def differences_at(self, j: int) -> list[mpz]:
        """The difference table at j, any integer, as `differences` is the one at 0.

        Delta_i(j) = sum_m Delta_(i+m) C(j, m) (Vandermonde), and C(j, m) is an integer, so that
        reducing the Delta modulo 2^(64 l) changes no value of P by anything but integers.
        """
        binomials = self._binomials(j)
        return [
            self.signed(sum(map(mpz.__mul__, self.differences[i:], binomials), mpz(0)))
            for i in range(len(self.values))
        ]

    def top_word(self, j: int, window: int) -> int:
        """The top word of P(j) + window 2^-64, which their program compares with 2 window."""
        value = sum(map(mpz.__mul__, self.differences, self._binomials(j)), mpz(0))
        return self._top(value, window)

    def _binomials(self, j: int) -> list[mpz]:
        """C(j, 0) .. C(j, k - 1)."""
        row = [mpz(1)]
        for m in range(1, len(self.values)):
            row.append(row[-1] * (j - m + 1) // m)
        return row

    def scan(self, first: int, count: int, window: int) -> Iterator[int]:
        """Every j of [first, first + count) that is reported, by stepping the table."""
        table = self.differences_at(first)
        for j in range(first, first + count):
            if self._top(table[0], window) <= 2 * window:
                yield j
            for i in range(len(table) - 1):
                table[i] += table[i + 1]
            table[0] = self.signed(table[0])

    def _top(self, value: mpz, window: int) -> int:
        return int(((value >> self.bits - WORD) + window) % (1 << WORD))

    def argument(self, j: int) -> mpq:
        """x0 + j ulp(x0)."""
        return scale(self.significand + j, self.exponent)


def read_lines(stream: BinaryIO, name: str) -> Iterator[TableLine]:
    """The lines of a file, one after another.

    Args:
        name: of the file, for errors.

    Raises:
        InputError: a line is malformed or cannot be read; the message names line and field.
    """
    for number in count(1):
        try:
            text = stream.readline(LONGEST + 1)
        except OSError as error:
            raise _refused(name, number, f"it cannot be read ({error.strerror})") from error
        if not text:
            return
        if len(text) > LONGEST:
            raise _refused(name, number, f"it is longer than {LONGEST} bytes")
        try:
            fields = text.decode("ascii").split()
        except UnicodeDecodeError as error:
            raise _refused(name, number, f"byte {error.start + 1} is not ASCII") from None
        if fields and not fields[0].startswith("#"):
            yield _parse(fields, name, number)


def _parse(fields: list[str], name: str, number: int) -> TableLine:
    def refuse(field: int, why: str) -> InputError:
        what = _NAMES[field] if field < len(_NAMES) else f"word {field - len(_NAMES) + 1}"
        shown = repr(fields[field][:40]) if field < len(fields) else "missing"
        return _refused(name, number, f"field {field + 1} ({what}) is {shown}; {why}")

    def integer(field: int, least: int, most: int, words: str) -> int:
        text = fields[field] if field < len(fields) else ""
        base = 16 if text[1:2] in ("x", "X") else 10
        value = int(text, base) if _INTEGER.fullmatch(text) else -1
        if not least <= value <= most:
            raise refuse(field, f"it must be {words}, decimal or with 0x")
        return value

    try:
        ordinal = _DOUBLE.ordinal(parse_number(fields[0]))
    except InputError:
        raise refuse(0, "it must be a binary64 number, exactly, such as 0x1.8p-3") from None
    if ordinal == 0:
        raise refuse(0, "it must not be 0, which has no ulp")
    significand, exponent = _DOUBLE.parts(ordinal)
    last = (1 << _DOUBLE.precision) - significand
    steps = integer(1, 1, last + 1, f"from 1 to {last + 1}, so that x0 + (n - 1) ulp is a number")
    k = integer(2, 1, MOST_VALUES, f"from 1 to {MOST_VALUES}")
    words = integer(3, 1, MOST_WORDS, f"from 1 to {MOST_WORDS}")
    if len(fields) != len(_NAMES) + k * words:
        found = len(fields) - len(_NAMES)
        raise _refused(name, number, f"k l = {k * words} words should follow x0 n k l, not {found}")
    whole = [
        integer(field, 0, (1 << WORD) - 1, "a word of 64 bits")
        for field in range(len(_NAMES), len(fields))
    ]
    values = (
        sum(word << WORD * place for place, word in enumerate(whole[i : i + words]))
        for i in range(0, len(whole), words)
    )
    return TableLine(number, significand, exponent, steps, words, tuple(values))


def _refused(name: str, number: int, why: str) -> InputError:
    return InputError(f"{name}:{number}: not a line of the tables; {why}; correct it or remove it")
