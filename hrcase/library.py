"""hrcase from a program: `import hrcase`, then the functions here. docs/library.md shows them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

import numpy as np
from gmpy2 import mpq
from numpy.typing import NDArray

from hrcase import argument, memory
from hrcase.argument import Report
from hrcase.asked import spec_of
from hrcase.cases import HRCase
from hrcase.errors import InputError
from hrcase.formats import format_by_name
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_number, to_hex
from hrcase.job.crew import engines_for
from hrcase.job.directory import reading
from hrcase.job.export import require_whole
from hrcase.memory import SearchResult

ROW = np.dtype([("x", np.float64), ("is_midpoint", np.bool_), ("log2_distance", np.float64)])
"""What `arrays` keeps of a case."""


def search(
    function: str,
    *,
    interval: str | None = None,
    exponent_range: str | None = None,
    sign: str | None = None,
    format: str = "binary64",
    output_format: str | None = None,
    bits: int | None = None,
    rounding: str = "all",
    method: str = memory.DEFAULT_METHOD,
    device: str = "auto",
    threads: int | None = None,
    max_cases: int = memory.DEFAULT_MOST_CASES,
) -> SearchResult:
    """Every hard-to-round case, in memory, with the claim; as `hrcase search` without a job.

    >>> result = search("exp", interval="1,1.0001", bits=39)
    >>> for case in result.cases:
    ...     print(to_hex(case.x), case.breakpoint, case.identical_bits)
    0x1.00013bb84afd7p+0 midpoint 38
    0x1.0002bdf650f0ep+0 number 38
    0x1.00033aeba9bb9p+0 number 38
    >>> result.claim.sentence[:52]
    'For exp with input format binary64 and output format'

    Args:
        function: a name of `hrcase.functions.REGISTRY`.
        interval: "LO,HI", exact bounds, for LO <= x < HI.
        exponent_range: "A:B", for 2^A <= |x| < 2^(B+1). Without both the whole domain.
        sign: "both" (the default), "positive" or "negative"; not with an interval.
        format, output_format: of x, and of f(x), by default the same.
        bits: M; cases are within 2^-M ulp of a breakpoint. Default p - 9, never below 6.
        rounding: breakpoints: "all", "nearest" (midpoints) or "directed" (numbers).
        method: "farey", "regular" or "lefevre"; it never changes the result.
        device: "auto", "cpu", "cuda:N", "cuda:all", or several with commas.
        threads: of the CPU, default all processors.
        max_cases: refuse when more are expected.

    Raises:
        InputError: an argument is wrong, or too many cases are expected.
        NoDevice: the device cannot be used, or there is no compiler.
        SelfTestFailed: a device or an evaluator is wrong.
        hrcase.memory.Stopped: after KeyboardInterrupt; it holds what was found.
    """
    spec = spec_of(
        function,
        exponents=exponent_range,
        interval_text=interval,
        sign=sign,
        input_name=format,
        output_name=output_format,
        bits=bits,
        rounding=rounding,
    )
    engines, notice = engines_for(device, threads)
    if notice is not None:
        warnings.warn(notice, stacklevel=2)
    try:
        return memory.search(spec, method, threads, most_cases=max_cases, engine=engines)
    finally:
        for engine in engines:
            engine.close()


def read(job: str | PathLike[str]) -> Iterator[HRCase]:
    """The cases of a complete job, ascending in x, one after another: none is kept in memory.

    Raises:
        InputError: there is no job at this place.
        Interrupted: it is not complete, or a part of a search.
        CorruptState: it is damaged; also while cases are read.
    """
    directory = Path(job)
    with reading(directory) as store:
        require_whole(store)
    return _cases(directory)


def _cases(directory: Path) -> Iterator[HRCase]:
    with reading(directory) as store:
        yield from map(HRCase.of_row, store.rows())


def arrays(cases: Iterable[HRCase]) -> NDArray[np.void]:
    """Cases as a numpy array with the fields `x`, `is_midpoint` and `log2_distance` (in ulps).

    >>> found = arrays(search("exp", interval="1,1.0001", bits=39).cases)
    >>> found["log2_distance"].tolist()
    [-39.366, -39.405, -39.763]
    >>> found["is_midpoint"].tolist()
    [True, False, False]

    Raises:
        InputError: an x is no double.
    """
    return np.fromiter(map(_row, cases), dtype=ROW)


def _row(case: HRCase) -> tuple[float, bool, float]:
    x = float(case.x)
    if not math.isfinite(x) or mpq(x) != case.x:
        raise InputError(
            f"x = {to_hex(case.x)} is no double, and would be rounded in an array; take the cases "
            "one by one"
        )
    return x, case.breakpoint == "midpoint", float(case.log2_distance)


def check(
    function: str,
    x: str | float | mpq,
    *,
    format: str = "binary64",
    output_format: str | None = None,
) -> Report:
    """How close f(x) is to a breakpoint, and what it rounds to; as `hrcase check`.

    >>> report = check("exp", "0x1.00002385331bep-2")
    >>> report.kind, report.side, report.identical_bits, to_hex(report.rounded["RN"])
    ('number', 'above', 35, '0x1.48b5ef2ae1dbdp+0')

    Args:
        x: text as on the command line, or a number; a number of the format, exactly.

    Raises:
        InputError: an argument is wrong, or f is not defined at x.
    """
    inp = format_by_name(format)
    out = format_by_name(output_format or format)
    return argument.check(function_by_name(function), inp, out, _exact(x))


def _exact(x: str | float | mpq) -> mpq:
    if isinstance(x, str):
        return parse_number(x)
    if isinstance(x, float) and not math.isfinite(x):
        raise InputError(f"x = {x} is no number; give a finite one")
    return mpq(x)
