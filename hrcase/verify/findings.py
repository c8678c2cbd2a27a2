"""What the checks say: contradictions as errors, and what was established as lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from hrcase.errors import VerificationFailed
from hrcase.formats import Format
from hrcase.hexfloat import to_hex


class Contradiction(VerificationFailed):
    """A check failed.

    Attributes:
        check: its name, as docs/certificate.md has it.
        what: where it failed, and the numbers.
    """

    def __init__(self, check: str, what: str) -> None:
        self.check, self.what = check, what
        super().__init__(
            f"check {check}: {what}; the result does not stand as it is: search again, and keep "
            "this one as evidence"
        )


def at(inp: Format, ordinal: int) -> str:
    """An argument in words."""
    return f"x = {to_hex(inp.value(ordinal))}"


def within(inp: Format, lo: int, hi: int) -> str:
    """A half-open range of ordinals in words."""
    return f"[{to_hex(inp.value(lo))}, {to_hex(inp.value(hi - 1))}]"


@dataclass
class Findings:
    """What was established.

    Attributes:
        proved: for all arguments, up to what docs/certificate.md lists as trusted.
        rerun: done again, all of it.
        sampled: done again, a part of it; with the chances.
        stated: taken from the file, and not checked.
    """

    proved: list[str] = field(default_factory=list)
    rerun: list[str] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """All of it, each line with what it is."""
        names = ("proved", "rerun", "sampled", "stated")
        return [f"{name:8} {line}" for name in names for line in getattr(self, name)]
