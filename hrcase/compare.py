"""Comparing two lists of cases as sets of arguments."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.export.reader import CaseList, Entry

Interval = tuple[mpq | float, mpq | float]

Verdict = Callable[[CaseList, Entry], bool]
"""Whether an entry of a list that hrcase did not write is below the threshold."""


@dataclass(frozen=True, slots=True)
class Side:
    """What was read of one list; each argument counts once in `kept` and in `loose`.

    kept: arguments of the interval that the comparison is about.
    loose: arguments whose distance is not below the threshold.
    outside: entries outside of the interval.
    duplicates: arguments that stand in the list more than once, in ascending order.
    """

    kept: frozenset[mpq]
    loose: frozenset[mpq]
    outside: int
    duplicates: tuple[mpq, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two lists side by side; `missing` and `extra` are in ascending order."""

    a: Side
    b: Side
    common: int
    missing: tuple[mpq, ...]
    extra: tuple[mpq, ...]

    @property
    def equal(self) -> bool:
        """Neither list has an argument that the other lacks."""
        return not self.missing and not self.extra


def compare_lists(
    a: CaseList,
    b: CaseList,
    bits: int | None = None,
    interval: Interval | None = None,
    verdict: Verdict | None = None,
) -> Comparison:
    """What `b` lacks of `a` (missing) and has beyond it (extra).

    With `bits` = M an entry with a distance of 2^-M ulp or more is never missing or extra: lists
    made for different thresholds can be compared at the stricter one. The distance is what our own
    lists state; of others `verdict` decides (hrcase.judge), and without it an entry that states
    none always counts. An argument loose in one list and present in the other is no difference.
    With `interval` = (LO, HI) only LO <= x < HI counts.

    Raises InputError when both lists name their function and format, and differ in them; and when
    a list's distances count that are not ours and nobody decides. And as `verdict`.
    """
    _same_subject(a, b)
    side_a, side_b = (_side(cases, bits, interval, verdict) for cases in (a, b))
    return Comparison(
        a=side_a,
        b=side_b,
        common=len(side_a.kept & side_b.kept),
        missing=tuple(sorted(side_a.kept - side_b.kept - side_b.loose)),
        extra=tuple(sorted(side_b.kept - side_a.kept - side_a.loose)),
    )


def _side(
    cases: CaseList, bits: int | None, interval: Interval | None, verdict: Verdict | None
) -> Side:
    low, high = interval or (float("-inf"), float("inf"))
    inside = [entry for entry in cases.entries if low <= entry.x < high]
    seen = Counter(entry.x for entry in inside)
    loose = set() if bits is None else set(_loose(cases, inside, bits, verdict))
    duplicates = sorted(x for x, count in seen.items() if count > 1)
    outside = len(cases.entries) - len(inside)
    return Side(frozenset(seen) - loose, frozenset(loose), outside, tuple(duplicates))


def _loose(
    cases: CaseList, entries: list[Entry], bits: int, verdict: Verdict | None
) -> Iterator[mpq]:
    """The arguments of these entries that are not below the threshold."""
    if not cases.is_ours and verdict is None and cases.states_distances:
        raise InputError(
            f"{cases.path} states distances that hrcase did not compute, and --bits needs to know "
            "them; which function they are of is not known; give --function NAME"
        )
    for entry in entries:
        if cases.is_ours:
            is_loose = entry.distance is not None and entry.distance * 2**bits >= 1
        else:
            is_loose = verdict is not None and not verdict(cases, entry)
        if is_loose:
            yield entry.x


def _same_subject(a: CaseList, b: CaseList) -> None:
    for what, of_a, of_b in (
        ("functions", a.function, b.function),
        ("formats", a.format_name, b.format_name),
    ):
        if of_a is not None and of_b is not None and of_a != of_b:
            raise InputError(
                f"{a.path} and {b.path} are of different {what}; one is of {of_a}, the other of "
                f"{of_b}; give two lists of the same function and format"
            )
