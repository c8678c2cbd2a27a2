"""The list of exact cases, which no list of cases holds: claim in comments, an argument a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from hrcase.claim import Claim
from hrcase.export.wc import write_wc
from hrcase.hexfloat import to_hex
from hrcase.spec import SearchSpec


def write_exact(stream: TextIO, spec: SearchSpec, claim: Claim, ordinals: Iterable[int]) -> None:
    """Write the arguments at which f(x) is a breakpoint itself, in the form of a `.wc` list.

    Args:
        claim: of the whole search.
        ordinals: of these arguments, ascending.
    """
    words = (
        f"Exact cases, {claim.exact_count} arguments: f(x) is one of the breakpoints below at each "
        f"x of this list, and at no other x that was searched or scanned; of settled ranges their "
        f"theorems say it. Rule: {claim.exact_rule}. They were met by a search that says: "
        f"{claim.sentence}"
    )
    write_wc(stream, words, (to_hex(spec.inp.value(ordinal)) for ordinal in ordinals))
