"""What a search of every function over the whole of binary64 takes: a table of estimates.

    python benchmarks/registry.py [NAME ...]

Pieces are counted. Seconds are estimated, not measured: the fractions that the Farey walk passes,
6/pi^2 times the integral of A2^(1/3), and the starts of its runs, in
fractions (hrcase.cost), at RATE fractions a second. Cases are those of the law 2 w an argument.
Exact results are those in closed form (hrcase.exact_powers); CORES processor cores take out of the
candidates one each SECONDS_AN_EXACT.
Of odd and even functions the positive half is split, and counted twice.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from hrcase.cost import FRACTION, START, fractions, to_double
from hrcase.domain import split
from hrcase.exact_powers import exact_in
from hrcase.formats import FORMATS
from hrcase.functions import REGISTRY, function_by_name
from hrcase.pieces import Piece, Rule
from hrcase.spec import SearchSpec, default_bits, everything, one_sign
from hrcase.taylor import Stretch, derivative_bound

RATE = 2e11
CORES, SECONDS_AN_EXACT = 16, 3e-7
LONGEST_RUN = 2.0**27
BINARY64 = FORMATS["binary64"]


def work(spec: SearchSpec, piece: Piece) -> float:
    """Fractions that a piece costs."""
    passed = integral(spec, piece.key, piece.lo, piece.hi)
    return passed + piece.count * START / FRACTION / LONGEST_RUN


def integral(spec: SearchSpec, key: int, lo: int, hi: int) -> float:
    """Of the fractions an argument; halved where they differ much, as next to a pole."""
    middle = (lo + hi) // 2
    ends = [density(spec, key, i) for i in (lo, middle, hi - 1)]
    if hi - lo > 1 << 16 and max(ends) > 4 * min(ends):
        return integral(spec, key, lo, middle) + integral(spec, key, middle, hi)
    return (hi - lo) * (ends[0] + 4 * ends[1] + ends[2]) / 6


def density(spec: SearchSpec, key: int, ordinal: int) -> float:
    """Fractions an argument, at most 1: from there on a scan costs less."""
    here = Stretch(*spec.inp.parts(ordinal), 0, 0)
    bound = derivative_bound(spec.function, spec.lattice(key), here, 2)
    return min(fractions(to_double(bound)), 1.0)


def row(name: str) -> str:
    """One line of the table."""
    f, started = function_by_name(name), time.perf_counter()
    region = one_sign(BINARY64, "positive") if f.symmetry else everything(BINARY64)
    halves = 2 if f.symmetry else 1
    spec = SearchSpec(name, BINARY64, BINARY64, default_bits(BINARY64), "all", region)
    pieces: Counter[str] = Counter()
    arguments: Counter[str] = Counter()
    passed, cases, exact = 0.0, 0.0, 0
    for piece in split(spec):
        pieces[piece.rule] += halves
        arguments[piece.rule] += halves * piece.count
        if piece.rule is Rule.SEARCHED:
            passed += halves * work(spec, piece)
            cases += halves * piece.count * 2 * float(spec.window(piece.key))
            exact += halves * len(exact_in(spec, piece) or ())
    binades = [arguments[rule] / 2**52 for rule in (Rule.SEARCHED, Rule.SETTLED)]
    return (
        f"| {name} | {pieces[Rule.SEARCHED]} | {binades[0]:.0f} | {binades[1]:.0f} | "
        f"{arguments[Rule.SCANNED]} | {passed / RATE:.3g} | {cases:.3g} | "
        f"{exact:.4g} | {exact * SECONDS_AN_EXACT / CORES:.3g} | "
        f"{time.perf_counter() - started:.0f} |"
    )


def main() -> None:
    """Print the table."""
    columns = "function pieces searched settled scanned GPU_seconds cases exact seconds splitting"
    print(f"| {' | '.join(columns.split())} |")
    print("| --- " * len(columns.split()) + "|")
    for name in sys.argv[1:] or REGISTRY:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
