"""Numbers as the bytes of C's types float, double and long double (that of the x87)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format
from hrcase.roundings import Number


@dataclass(frozen=True, slots=True)
class CType:
    """A floating-point type of C, little-endian.

    Attributes:
        name: as C spells it.
        suffix: of its constants, and of the names of the functions that take it.
        form: its numbers.
        size: bytes in memory, padding included.
        sign_bit: its place; the exponent stands below it.
        has_leading_bit: the leading bit of the significand is stored (x87).
    """

    name: str
    suffix: str
    form: Format
    size: int
    sign_bit: int
    has_leading_bit: bool = False

    @property
    def fraction_bits(self) -> int:
        """Bits of the significand after the leading one."""
        return self.form.precision - 1

    def pack(self, numbers: Iterable[Number]) -> bytes:
        """An array of the type."""
        return b"".join(self._bits(x).to_bytes(self.size, "little") for x in numbers)

    def unpack(self, data: bytes) -> Iterator[Number | None]:
        """The numbers of an array; None for each that is not a number."""
        used = (1 << (self.sign_bit + 1)) - 1
        for at in range(0, len(data), self.size):
            yield self._number(int.from_bytes(data[at : at + self.size], "little") & used)

    def _bits(self, x: Number) -> int:
        """Ordinals of the IEEE formats are their bits; the x87 writes the leading one too."""
        bits = x.magnitude
        if self.has_leading_bit:
            exponent, fraction = divmod(bits, 1 << self.fraction_bits)
            leading = min(exponent, 1)
            bits = (2 * exponent + leading << self.fraction_bits) + fraction
        return bits + (x.negative << self.sign_bit)

    def _number(self, bits: int) -> Number | None:
        negative, magnitude = divmod(bits, 1 << self.sign_bit)
        if self.has_leading_bit:
            exponent, significand = divmod(magnitude, 1 << self.form.precision)
            leading, fraction = divmod(significand, 1 << self.fraction_bits)
            if leading != min(exponent, 1):  # no number since the 80387
                return None
            magnitude = (exponent << self.fraction_bits) + fraction
        if magnitude > self.form.max_ordinal + 1:
            return None
        return Number(bool(negative), magnitude)


C_TYPES = {
    c_type.form.name: c_type
    for c_type in (
        CType("float", "f", FORMATS["binary32"], 4, 31),
        CType("double", "", FORMATS["binary64"], 8, 63),
        CType("long double", "l", FORMATS["x87"], 16, 79, has_leading_bit=True),
    )
}


def c_type_of(form: Format) -> CType:
    """The type of C that has these numbers; raises InputError where there is none."""
    if form.name not in C_TYPES:
        raise InputError(
            f"no type of C has the numbers of {form.name}; libraries are asked in "
            f"{', '.join(C_TYPES)}; give one of these with --format"
        )
    return C_TYPES[form.name]
