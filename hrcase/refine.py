"""Many candidates at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hrcase.cases import HRCase
from hrcase.spec import SearchSpec
from hrcase.ziv import Rejection, refine


@dataclass
class Refined:
    """What became of some arguments.

    Attributes:
        cases: sorted by x, if the arguments were.
        exact: ordinals of those whose result lies on a breakpoint.
        rejected: how many were too far from one.
    """

    cases: list[HRCase] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)
    rejected: int = 0


def refine_chunk(spec: SearchSpec, ordinals: Iterable[int]) -> Refined:
    """Decide some arguments, in this process."""
    part = Refined()
    for ordinal in ordinals:
        verdict = refine(spec, ordinal)
        if isinstance(verdict, HRCase):
            part.cases.append(verdict)
        elif verdict is Rejection.EXACT:
            part.exact.append(ordinal)
        else:
            part.rejected += 1
    return part
