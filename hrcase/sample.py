"""Medium-hard arguments: a reproducible sample of those within a range of distances.

A library's fast path gives up when f(x) is within some distance of a breakpoint. A wrong bound
shows at arguments about as hard as that, which are too many to list and too rare to be met by
chance. So for each j of the range's powers of two 2^-j the same number of arguments is drawn, all
of them nearer than 2^-j ulp:

* windows of consecutive arguments, as long as HITS such arguments take by the statistical law, are
  drawn uniformly from all that is asked;
* where f passes a breakpoint or more in a window, or the window is SHORT, a search lists its
  arguments that are within the range, and lots are drawn for HITS of them;
* elsewhere f is nearly constant, or nearly x, and such arguments come in long rows or not at all.
  From the beginning of the window Newton's steps along f lead to a distance that is drawn.

However an argument was found, both evaluators decide that it is within the range.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, islice

from hrcase.cases import HRCase
from hrcase.claim import BREAKPOINTS, Claim, asked_json, bits_in_words, range_text
from hrcase.domain import removed
from hrcase.engine import Engine
from hrcase.errors import InputError
from hrcase.formats import Format, scale
from hrcase.hexfloat import to_hex
from hrcase.memory import Stopped, search
from hrcase.pieces import Removed
from hrcase.slope import Range, Tangent, binade
from hrcase.spec import Region, SearchSpec
from hrcase.version import version
from hrcase.ziv import refine

USUAL_HARDEST = 35

HITS = 4
"""Arguments to expect in a window, and the most to take from one: so they are from many places."""

LEAST_AT_ONCE, AT_ONCE = 4, 48
"""Windows searched in one go; more would be split by worker processes, which take long to start."""

PATIENCE = 100
"""So many times the windows that should be enough are drawn before fewer arguments are found so."""

FEW = 1 << 12
"""So many windows are all put in order; of more, distinct ones are drawn."""

SHORT = 256
"""Windows of at most so many arguments are searched, wherever they are: few cases, at worst."""

LOT_BITS = 256


@dataclass(frozen=True, slots=True)
class Distances:
    """2^-hardest < distance in ulps < 2^-easiest."""

    hardest: int
    easiest: int

    @classmethod
    def usual(cls, inp: Format, hardest: int = USUAL_HARDEST) -> Distances:
        """2^-hardest:2^-12, or nearer to 1 where a format has hardly any arguments so near."""
        return cls(max(5, min(hardest, inp.precision - 6)), max(3, min(12, inp.precision // 3)))

    @classmethod
    def parse(cls, text: str) -> Distances:
        """Read 2^-A:2^-B; raises InputError."""
        found = re.fullmatch(r"2\^-(\d{1,4}):2\^-(\d{1,4})", text.strip())
        if found is None or not 3 <= int(found[2]) < int(found[1]):
            raise InputError(
                f"the distance {text!r} is not 2^-A:2^-B with 3 <= B < A, the smaller one first; "
                "give, say, 2^-35:2^-12"
            )
        return cls(int(found[1]), int(found[2]))

    def has(self, case: HRCase) -> bool:
        """Whether a case that is nearer than 2^-easiest is not as near as 2^-hardest."""
        return case.identical_bits + 1 < self.hardest

    def __str__(self) -> str:
        return f"2^-{self.hardest}:2^-{self.easiest}"


@dataclass
class Sample:
    """A sample, and how it was drawn.

    Attributes:
        spec: the region; its bits are those of the greatest distance.
        cases: ascending in x, each once.
        outside: arguments at which f is not defined, or not searched.
        windows: that were drawn.
    """

    spec: SearchSpec
    distances: Distances
    seed: int
    cases: list[HRCase] = field(default_factory=list)
    outside: list[Removed] = field(default_factory=list)
    windows: int = 0

    @property
    def claim(self) -> Claim:
        """What the list says: that it is a sample."""
        spec, inp = self.spec, self.spec.inp
        where = f"{spec.region.text} and " if spec.region.text else ""
        harder = self.distances.hardest
        sentence = (
            f"A sample, not complete: {len(self.cases)} of the x of {inp.name} with {where}"
            f"2^-{harder} < min_b |{spec.function_name}(x) - b| < 2^-{spec.bits} ulp, for output "
            f"format {spec.out.name}; b ranges over {BREAKPOINTS[spec.rounding]}. For each j from "
            f"{spec.bits} to {harder - 1} the same number was drawn, to one, from those nearer "
            f"than 2^-j ulp, with seed {self.seed}: windows uniformly, and at most {HITS} "
            "arguments from each (docs/libm.md)."
        )
        return Claim(
            complete=False,
            asked=asked_json(spec),
            sentence=sentence,
            bits_in_words=bits_in_words(spec.bits),
            cases=len(self.cases),
            exact_rule=spec.function.exact_rule,
            exact_count=0,
            settled=(),
            removed=tuple(f"{range_text(inp, r.lo, r.hi)}: {r.reason}" for r in self.outside),
            symmetries=(),
            proved="each x lies within the distances, by MPFR and by Arb.",
            rerun=f"hrcase sample with seed {self.seed} and the same version draws the same list.",
            trusted=f"MPFR, Arb, hrcase {version()}.",
        )


def sample(
    spec: SearchSpec,
    distances: Distances,
    count: int,
    seed: int,
    engine: Engine | Sequence[Engine] | None = None,
) -> Sample:
    """Draw arguments.

    Args:
        spec: what to draw from; its bits do not matter.
        count: how many; fewer are given where there are not so many.
        seed: the same seed draws the same arguments, whatever the engine.
        engine: as in `hrcase.memory.search`.

    Raises:
        InputError: the region is not searched anywhere, or the distances are out of range.
        ToolchainError, SelfTestFailed: as `hrcase.memory.search`.
    """
    spec = replace(spec, bits=distances.easiest)
    replace(spec, bits=distances.hardest)  # refuses what is out of range
    drawn = Sample(spec, distances, seed, outside=removed(spec))
    ranges = list(_ranges(drawn))
    taken: dict[HRCase, None] = {}
    levels = range(distances.easiest, distances.hardest)
    for done, bits in enumerate(levels, start=1):
        wanted = count * done // len(levels) - len(taken)
        taken |= dict.fromkeys(_draw(drawn, ranges, bits, wanted, taken, engine))
    drawn.cases = sorted(taken, key=lambda case: case.x)
    return drawn


def _ranges(drawn: Sample) -> Iterator[Range]:
    """What is asked without what is outside."""
    for lo, hi in drawn.spec.region.ranges:
        for part in drawn.outside:
            if lo < min(part.lo, hi):
                yield lo, min(part.lo, hi)
            lo = max(lo, min(part.hi, hi))
        if lo < hi:
            yield lo, hi


def _draw(
    drawn: Sample,
    ranges: list[Range],
    bits: int,
    wanted: int,
    taken: Collection[HRCase],
    engine: Engine | Sequence[Engine] | None,
) -> list[HRCase]:
    """Up to so many new cases nearer than 2^-bits."""
    spec, seed = replace(drawn.spec, bits=bits), f"{drawn.seed} {bits}"
    law = 2 if spec.rounding == "all" else 1  # an argument is a case with probability 2^(law-bits)
    width = min(HITS << bits - law, 1 << spec.inp.precision - 1)  # at most a binade
    order = _Tiles(ranges, width).in_random_order(seed)
    found: dict[HRCase, None] = {}
    most = drawn.windows + PATIENCE * (AT_ONCE + wanted // HITS)
    while len(found) < wanted and drawn.windows < most:
        missing = 2 * (wanted - len(found)) // HITS
        windows = list(islice(order, max(LEAST_AT_ONCE, min(missing, AT_ONCE))))
        if not windows:
            break
        drawn.windows += len(windows)
        of_windows = _from_windows(drawn, spec, windows, seed, engine)
        found |= dict.fromkeys(case for case in of_windows if case not in taken)
    return sorted(found, key=lambda case: _lot(seed, to_hex(case.x)))[:wanted]


def _from_windows(
    drawn: Sample,
    spec: SearchSpec,
    windows: list[Range],
    seed: str,
    engine: Engine | Sequence[Engine] | None,
) -> Iterator[HRCase]:
    """Cases within the distances from these windows, no more than HITS from each."""
    tangents = {w: None if w[1] - w[0] <= SHORT else Tangent.at(spec, w[0]) for w in windows}
    steep = sorted(
        (lo, hi)
        for (lo, hi), tangent in tangents.items()
        if hi - lo <= SHORT or (tangent is not None and not tangent.is_flat(hi - lo))
    )
    if steep:
        region = Region(spec.region.text, tuple(steep), is_open=True)
        try:
            found = search(replace(spec, region=region), threads=1, engine=engine).cases
        except Stopped:
            raise KeyboardInterrupt from None  # what was found in some windows is of no use
        starts = [spec.inp.value(lo) for lo, _ in steep]
        cases = filter(drawn.distances.has, found)
        for _, of_window in groupby(cases, key=lambda case: bisect_right(starts, case.x)):
            yield from sorted(of_window, key=lambda case: _lot(seed, to_hex(case.x)))[:HITS]
    for window in sorted(set(windows).difference(steep)):
        if (tangent := tangents[window]) is not None:
            yield from filter(drawn.distances.has, _along_slope(tangent, seed))


class _Tiles:
    """Ranges cut into windows of equal width, but for the last of each."""

    def __init__(self, ranges: list[Range], width: int) -> None:
        self._ranges, self._width = ranges, width
        self._ends = list(accumulate(-(-(hi - lo) // width) for lo, hi in ranges))
        self.count = self._ends[-1]

    def window(self, number: int) -> Range:
        """The window with this number, from 0 on."""
        at = bisect_right(self._ends, number)
        lo, hi = self._ranges[at]
        first = lo + self._width * (number - (self._ends[at - 1] if at else 0))
        return first, min(first + self._width, hi)

    def in_random_order(self, seed: str) -> Iterator[Range]:
        """Windows, each once; all of them where they are few."""
        if self.count <= FEW:
            numbers: Iterable[int] = sorted(range(self.count), key=lambda n: _lot(seed, n))
        else:
            numbers = _distinct(_lot(seed, n) % self.count for n in itertools.count())
        return map(self.window, numbers)


def _distinct(numbers: Iterable[int]) -> Iterator[int]:
    seen: set[int] = set()
    for number in numbers:
        if number not in seen:
            seen.add(number)
            yield number


def _along_slope(tangent: Tangent, seed: str) -> Iterator[HRCase]:
    """Up to HITS cases in the input binade where a flat window begins, at distances drawn."""
    spec, within = tangent.spec, binade(tangent.spec.inp, tangent.ordinal)
    for n in range(HITS):
        lot = _lot(seed, "distance", tangent.ordinal, n)
        distance = tangent.axis.window(spec.bits) * scale(lot >> 1, 1 - LOT_BITS)
        ordinal = tangent.solve(distance if lot & 1 else -distance, within)
        if ordinal is not None:
            case = refine(spec, ordinal)
            if isinstance(case, HRCase):
                yield case


def _lot(*what: object) -> int:
    """A number of LOT_BITS bits that looks random: the same for ever, unlike a generator's."""
    text = " ".join(map(str, what))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
