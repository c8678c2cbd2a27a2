"""How far a search is, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hrcase.job.units import Unit, expected_cases
from hrcase.pieces import Rule
from hrcase.spec import SearchSpec


@dataclass(slots=True)
class Progress:
    """How far a search is. A walk changes it in place: whoever compares copies it.

    Attributes:
        done, total: work, in domain tests.
        candidates: found so far.
        units, of_units: done and in all.
        arguments, of_arguments: the same, searched or scanned.
        cases: found in those of these units that are searched by polynomials.
        expected: cases that the law 2w predicts for the same units.
    """

    done: float
    total: float
    candidates: int
    units: int
    of_units: int
    arguments: int
    of_arguments: int
    cases: int
    expected: float


Watcher = Callable[[Progress], None]


def progress_at(
    spec: SearchSpec, units: Sequence[Unit], cases: Mapping[int, int], candidates: int = 0
) -> Progress:
    """How far a search is when some of its units are done.

    Args:
        cases: found in them, by their numbers.
    """
    done = [unit for unit in units if unit.number in cases]
    return Progress(
        done=sum(unit.work for unit in done),
        total=sum(unit.work for unit in units),
        candidates=candidates,
        units=len(done),
        of_units=len(units),
        arguments=sum(unit.piece.count for unit in done),
        of_arguments=sum(unit.piece.count for unit in units),
        cases=sum(cases[u.number] for u in done if u.piece.rule is Rule.SEARCHED),
        expected=expected_cases(spec, (unit.piece for unit in done)),
    )
