"""Counts by ranges of x: one binade each, or several where there are more than a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hrcase.formats import Format, scale
from hrcase.pieces import Piece

MOST_RANGES = 160
"""Ranges of x that a page tells apart."""

Binade = tuple[int, int]
"""Sign and exponent of x; (0, 0) is zero."""


@dataclass(slots=True)
class Tally:
    """Counts over some arguments.

    Attributes:
        arguments: searched or evaluated.
        cases: of all of them.
        lawful: of those in pieces where the law applies.
        expected: what it says for these.
        reasons: why it does not apply to the others.
        most_bits: the most identical bits of a case, by the kind of its breakpoint.
        most_lawful: the same of cases in pieces where the law applies.
    """

    arguments: int = 0
    cases: int = 0
    lawful: int = 0
    expected: float = 0.0
    reasons: set[str] = field(default_factory=set)
    most_bits: dict[str, int] = field(default_factory=dict)
    most_lawful: dict[str, int] = field(default_factory=dict)

    def see(self, kind: str, bits: int, is_lawful: bool) -> None:
        """Count a case."""
        self.cases += 1
        self.lawful += is_lawful
        _raise(self.most_bits, kind, bits)
        if is_lawful:
            _raise(self.most_lawful, kind, bits)

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.arguments += other.arguments
        self.cases += other.cases
        self.lawful += other.lawful
        self.expected += other.expected
        self.reasons |= other.reasons
        for mine, others in (
            (self.most_bits, other.most_bits),
            (self.most_lawful, other.most_lawful),
        ):
            for kind, bits in others.items():
                _raise(mine, kind, bits)


def _raise(most: dict[str, int], kind: str, bits: int) -> None:
    most[kind] = max(bits, most.get(kind, bits))


@dataclass(frozen=True, slots=True)
class Range:
    """Binades of one sign, 2^first <= |x| < 2^(last+1), with what was counted there.

    Attributes:
        sign: of x; 0 is x = 0 alone.
    """

    sign: int
    first: int
    last: int
    tally: Tally


def binade_of(x: str) -> Binade:
    """The binade of a number as `hexfloat.to_hex` writes it."""
    if x.startswith("0x0"):
        return 0, 0
    return -1 if x[0] == "-" else 1, int(x[x.rindex("p") + 1 :])


def binades_of(inp: Format, piece: Piece) -> Iterator[tuple[Binade, int]]:
    """The binades of a piece, ascending, with the number of its arguments in each."""
    lo = piece.lo
    while lo < piece.hi:
        m, e = inp.parts(lo)
        exponent = e + abs(m).bit_length() - 1
        if lo > 0:
            binade, end = (1, exponent), inp.ceil_ordinal(scale(1, exponent + 1))
        elif lo == 0:
            binade, end = (0, 0), 1
        else:
            binade, end = (-1, exponent), 1 - inp.ceil_ordinal(scale(1, exponent))
        end = min(end, piece.hi)
        yield binade, end - lo
        lo = end


def ranges_of(tallies: Mapping[Binade, Tally]) -> list[Range]:
    """At most about MOST_RANGES ranges, ascending in x; neighbouring binades in groups of 2^n."""
    step = 1
    while len({_group(binade, step) for binade in tallies}) > MOST_RANGES:
        step *= 2
    totals: dict[tuple[int, int], Tally] = {}
    exponents: dict[tuple[int, int], list[int]] = {}
    for binade in sorted(tallies, key=lambda binade: binade[0] * (binade[1] + (1 << 20))):
        group = _group(binade, step)
        totals.setdefault(group, Tally()).add(tallies[binade])
        exponents.setdefault(group, []).append(binade[1])
    return [
        Range(group[0], min(exponents[group]), max(exponents[group]), tally)
        for group, tally in totals.items()
    ]


def _group(binade: Binade, step: int) -> tuple[int, int]:
    return binade[0], binade[1] // step
