"""A search compared with an evaluation of every argument: one call does all."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from brute.compare import Reference, check_result
from brute.reference import Value, nearest, values
from hrcase.formats import Format
from hrcase.memory import SearchResult, search
from hrcase.plan import Tuning
from hrcase.spec import Region, SearchSpec

SHORT = Tuning(domain_log2=6, scan=16)
"""Few arguments are scanned, so that pieces and kernels decide the most."""


@lru_cache(maxsize=1)
def evaluated(name: str, inp: Format, region: Region) -> dict[int, Value]:
    ordinals = (i for lo, hi in region.ranges for i in range(lo, hi))
    return dict(values(name, inp, ordinals))


@lru_cache(maxsize=1)
def reference(name: str, inp: Format, region: Region, out: Format, rounding: str) -> Reference:
    found = {i: nearest(y, out, rounding) for i, y in evaluated(name, inp, region).items()}
    return {i: near for i, near in found.items() if near is not None}


def check(spec: SearchSpec, method: str, tuning: Tuning = SHORT) -> SearchResult:
    """Search, compare, and see that the rules together took every argument."""
    result = search(spec, method, threads=1, tuning=tuning)
    expected = reference(spec.function_name, spec.inp, spec.region, spec.out, spec.rounding)
    assert check_result(result, expected) > 0
    asked = sum(hi - lo for lo, hi in spec.region.ranges)
    removed = sum(part.hi - part.lo for part in result.removed)
    assert sum(result.statistics.arguments.values()) == asked - removed
    return result


def settled_kinds(result: SearchResult) -> Counter[str]:
    """How many arguments were settled, by kind of theorem."""
    kinds: Counter[str] = Counter()
    for piece in result.settled:
        assert piece.settlement is not None
        kinds[piece.settlement.kind] += piece.count
    return kinds
