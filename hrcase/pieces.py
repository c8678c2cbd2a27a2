"""What a search is split into: pieces under one rule, and what is not searched at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gmpy2 import mpq


class Rule(StrEnum):
    """How the arguments of a piece are decided."""

    SEARCHED = "searched"
    SCANNED = "scanned"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a theorem says of a settled piece.

    Attributes:
        kind: "a" no argument is a case; "b" every argument is; "c" those that the reason names;
            "d" the bits that were tried do not tell which are.
        reason: the theorem, applied.
        near: for "b" and "d" and slope 0, the breakpoint that all of them are near.
        which: for "c", those that are "breakpoints" themselves, "images" of cases elsewhere, all
            that are no "poles", or those whose "powers" are breakpoints or near one.
    """

    kind: str
    reason: str
    near: mpq | None = None
    which: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive arguments under one rule.

    Attributes:
        lo, hi: ordinals of the input format, half open.
        rule: how they are decided.
        key: the output binade (hrcase.lattice.binade_key) of a searched piece; a searched piece
            lies in one input binade too.
        settlement: the theorem of a settled piece.
    """

    lo: int
    hi: int
    rule: Rule
    key: int = 0
    settlement: Settlement | None = None

    @property
    def count(self) -> int:
        """How many arguments it holds."""
        return self.hi - self.lo


@dataclass(frozen=True, slots=True)
class Removed:
    """Arguments asked for at which the function is not defined, or not searched."""

    lo: int
    hi: int
    reason: str
