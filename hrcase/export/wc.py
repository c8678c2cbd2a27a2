"""The case list in CORE-MATH's `.wc` form: a claim in comments, then one argument a line."""

import textwrap
from collections.abc import Iterable
from typing import TextIO

COMMENT_WIDTH = 78


def write_wc(stream: TextIO, claim: str, arguments: Iterable[str]) -> None:
    """Write `claim` as '# ' comment lines, then the arguments, which are in hexadecimal.

    Line ends in the claim are kept; longer lines are wrapped between words. The form has no place
    for expected values: its readers compute them.
    """
    for paragraph in claim.splitlines():
        for line in wrapped(paragraph):
            stream.write(f"# {line}".rstrip() + "\n")
    for argument in arguments:
        stream.write(argument + "\n")


def wrapped(paragraph: str) -> list[str]:
    """The paragraph's lines; a long word (a list of bounds) is never cut in two."""
    lines = textwrap.wrap(paragraph, COMMENT_WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines or [""]
