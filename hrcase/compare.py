"""Comparing two lists of cases as sets of arguments."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.export.reader import CaseList, Entry

Interval = tuple[mpq | float, mpq | float]


@dataclass(frozen=True, slots=True)
class Side:
    """What was read of one list; each argument counts once in `kept` and in `loose`.

    kept: arguments of the interval that the comparison is about.
    loose: arguments whose recorded distance is not below the threshold.
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
    a: CaseList, b: CaseList, bits: int | None = None, interval: Interval | None = None
) -> Comparison:
    """What `b` lacks of `a` (missing) and has beyond it (extra).

    With `bits` = M an entry that states a distance of 2^-M ulp or more is never missing or extra:
    lists made for different thresholds can be compared at the stricter one. An entry without a
    distance always counts. An argument loose in one list and present in the other is no difference.
    With `interval` = (LO, HI) only LO <= x < HI counts.
    Raises InputError when both lists name their function and format, and differ in them.
    """
    _same_subject(a, b)
    side_a, side_b = _side(a.entries, bits, interval), _side(b.entries, bits, interval)
    return Comparison(
        a=side_a,
        b=side_b,
        common=len(side_a.kept & side_b.kept),
        missing=tuple(sorted(side_a.kept - side_b.kept - side_b.loose)),
        extra=tuple(sorted(side_b.kept - side_a.kept - side_a.loose)),
    )


def _side(entries: Iterable[Entry], bits: int | None, interval: Interval | None) -> Side:
    low, high = interval or (float("-inf"), float("inf"))
    inside: Counter[mpq] = Counter()
    loose = set()
    outside = 0
    for entry in entries:
        if not low <= entry.x < high:
            outside += 1
            continue
        inside[entry.x] += 1
        if bits is not None and entry.distance is not None and entry.distance * 2**bits >= 1:
            loose.add(entry.x)
    duplicates = sorted(x for x, count in inside.items() if count > 1)
    return Side(frozenset(inside) - loose, frozenset(loose), outside, tuple(duplicates))


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
