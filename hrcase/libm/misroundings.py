"""What a library returns at given arguments, held against f(x) correctly rounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import Protocol

from hrcase.enclosure import Interval, OutOfReach, TooWide, by_mpfr
from hrcase.formats import Format, scale
from hrcase.functions.base import Function
from hrcase.libm.child import Answers
from hrcase.libm.encoding import CType
from hrcase.roundings import MODES, Number, roundings
from hrcase.ziv import identical_bits, most_precision, nearest_breakpoint

BATCH = 1 << 13
"""Arguments handed to a library at a time."""

MOST_FAULTS = 20
"""After so many calls without a result a library is not asked any more."""


class Library(Protocol):
    """Something that evaluates a function.

    Attributes:
        name: what the user calls it.
        modes: those of roundings.MODES that it has, in that order.
        c_type: of its arguments and results.
    """

    name: str
    modes: tuple[str, ...]
    c_type: CType

    def ask(self, arguments: Sequence[Number], most_faults: int) -> Answers:
        """The function at each argument, in each mode; stops after so many faults."""


@dataclass(frozen=True, slots=True)
class Misrounding:
    """A result that is not the correctly rounded one.

    Attributes:
        x, got, want: numbers of the format; got is None where it is no number.
        mode: the rounding mode.
        identical_bits: of f(x) after the round bit; None where f(x) is a breakpoint, or too near
            to one to tell.
    """

    x: Number
    got: Number | None
    want: Number
    mode: str
    identical_bits: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without a result: at x, in a mode, and what became of it (hrcase.libm.child.Fault)."""

    x: Number
    mode: str
    what: str
    is_hang: bool


Wanted = Sequence[tuple[Number, tuple[Number, ...]]]
"""Arguments, with f(x) in each of MODES."""


@dataclass
class Tally:
    """What was done, as far as it went.

    Attributes:
        arguments: that the library was asked at.
        undefined: arguments at which f has no value; the library was not asked.
        compared, misrounded: results by mode.
        failures: calls without a result.
        not_asked: arguments left over after MOST_FAULTS failures.
    """

    arguments: int = 0
    undefined: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    misrounded: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    not_asked: int = 0

    def share(self, mode: str) -> float:
        """The share of results that are misrounded."""
        return self.misrounded[mode] / max(self.compared[mode], 1)


def misroundings(
    f: Function, library: Library, arguments: Iterable[Number], tally: Tally
) -> Iterator[Misrounding | Failure]:
    """Every result that is not f(x) correctly rounded, and every call without one, in order.

    Signs of zeros count, and so does infinity where f(x) overflows. Flags are not looked at.

    Args:
        tally: brought up to date on the way.

    Raises:
        MissingFunction, ToolchainError, NoDevice: the library cannot be asked.
    """
    form, rest = library.c_type.form, iter(arguments)
    sizes = chain([1], repeat(BATCH))  # one alone: a function that is missing is missing at once
    while batch := list(islice(rest, next(sizes))):
        wanted = [(x, values) for x in batch if (values := roundings(f, form, form, x)) is not None]
        tally.undefined += len(batch) - len(wanted)
        if tally.failures >= MOST_FAULTS:
            tally.not_asked += len(wanted)
        else:
            yield from _ask(f, library, wanted, tally)


def _ask(
    f: Function, library: Library, wanted: Wanted, tally: Tally
) -> Iterator[Misrounding | Failure]:
    answers = library.ask([x for x, _ in wanted], MOST_FAULTS - tally.failures)
    failed = {(fault.index, fault.mode): fault for fault in answers.faults}
    reached = -(-answers.calls // len(library.modes))
    tally.arguments += reached
    tally.not_asked += len(wanted) - reached
    results = islice(answers.results, answers.calls)
    for index, (x, values) in enumerate(wanted[:reached]):
        for mode, got in zip(library.modes, results, strict=False):
            want = values[MODES.index(mode)]
            if (fault := failed.get((index, mode))) is not None:
                tally.failures += 1
                yield Failure(x, mode, fault.what, fault.is_hang)
                continue
            tally.compared[mode] += 1
            if got != want:
                tally.misrounded[mode] += 1
                yield Misrounding(x, got, want, mode, equal_bits(f, library.c_type.form, x))


def equal_bits(f: Function, form: Format, x: Number) -> int | None:
    """The bits of f(x) after the round bit that are all equal, as in HRCase.

    None where f(x) is a number or a midpoint, or too near to one to tell.
    """
    m, e = form.parts(x.magnitude)
    m = -m if x.negative else m
    exact = f.exact(scale(m, e))
    if exact is not None:
        return _bits(form, (exact, exact))
    precision = 2 * form.precision + 64
    while precision <= most_precision(f):
        try:
            bits = _bits(form, by_mpfr(f, m, e, precision))
        except TooWide:
            bits = None
        except OutOfReach:
            return None
        if bits is not None:
            return bits
        precision *= 2
    return None


def _bits(form: Format, y: Interval) -> int | None:
    point = nearest_breakpoint(form, "all", y)
    return identical_bits(point) if point is not None and point.low > 0 else None
