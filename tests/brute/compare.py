"""A search's whole answer against the reference, argument by argument."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brute.reference import Nearest, Value, check_record, evaluate, nearest
from hrcase.formats import scale
from hrcase.memory import SearchResult
from hrcase.pieces import Piece, Settlement
from hrcase.spec import SearchSpec

Reference = dict[int, Nearest]


def check_result(result: SearchResult, reference: Reference) -> int:
    """Assert that rows, settled ranges and exact cases are those of the reference.

    Args:
        reference: the nearest breakpoint of each argument asked for, where there is one.

    Returns:
        How many cases there are, rows and settled ones together.
    """
    spec = result.spec
    expected = {i for i, found in reference.items() if is_case(found, spec.bits)}
    rows = [spec.inp.ordinal(case.x) for case in result.cases]
    settled = [i for piece in result.settled for i in settled_cases(spec, piece, reference)]
    listed = set(rows) | set(settled)
    assert rows == sorted(set(rows))
    assert len(listed) == len(rows) + len(settled), "listed twice"
    assert expected - listed == set(), "missed"
    assert listed - expected == set(), "not a case"
    counted = (i for i, found in sorted(reference.items()) if found.is_exact)
    assert list(result.exact) == [i for i in counted if not is_image(result, i)]
    for ordinal, case in zip(rows, result.cases, strict=True):
        check_record(case, reference[ordinal], spec.out)
    return len(expected)


def is_case(found: Nearest, bits: int) -> bool:
    """Whether the distance is below 2^-bits ulp and not 0."""
    return not found.is_exact and found.within(bits)


def settled_cases(spec: SearchSpec, piece: Piece, reference: Reference) -> Iterator[int]:
    """The cases that the theorem of a settled piece states."""
    settlement = piece.settlement
    assert settlement is not None
    for ordinal in range(piece.lo, piece.hi):
        if settlement.kind == "b":
            yield ordinal
            if settlement.near is not None:
                found = reference[ordinal]
                position = found.position * found.value.sign
                assert settlement.near == scale(position, found.half_ulp)
        elif settlement.kind == "c" and is_named(spec, settlement, ordinal, reference):
            yield ordinal


def is_named(spec: SearchSpec, settlement: Settlement, ordinal: int, reference: Reference) -> bool:
    """Whether a theorem of kind "c" says that an argument is a case."""
    which = settlement.which
    if which == "images":
        period = re.search(r"has the period (\d+)", settlement.reason)
        assert period is not None
        value = evaluate(spec.function_name, *reduced(spec, ordinal, int(period[1])))
        if value is not None and not value.exact:
            assert value.sign == reference[ordinal].value.sign, "no period"
        image = None if value is None else nearest(value, spec.out, spec.rounding)
        return image is not None and is_case(image, spec.bits)
    if which == "powers":
        return is_near_power(spec, ordinal)
    if which == "poles":
        return bool(spec.inp.value(ordinal).denominator != 1)
    assert which == "breakpoints"
    if is_breakpoint(spec, ordinal, -1 if "whose x/2 is" in settlement.reason else 0):
        assert not reference[ordinal].is_exact  # so the theorem lists this one
        return True
    return False


def is_near_power(spec: SearchSpec, ordinal: int) -> bool:
    """Whether x^N is a breakpoint, less than 2^-bits ulp above one, or at most that below one."""
    m, e = spec.inp.parts(ordinal)
    n = int(spec.function_name.removeprefix("compound:"))
    near = nearest(Value(1, m**n, n * e, True), spec.out, spec.rounding)
    distance = None if near is None else scale(near.offset, near.exponent + spec.bits)
    return distance is not None and -1 <= distance < 1


def reduced(spec: SearchSpec, ordinal: int, period: int) -> tuple[int, int]:
    """(m, e) of the argument that differs by a multiple of the period and is nearest to 0."""
    x = spec.inp.value(ordinal)
    r = x - period * ((2 * x + period) // (2 * period))
    assert 2 * abs(r) <= period
    return spec.inp.parts(spec.inp.ordinal(r))


def is_image(result: SearchResult, ordinal: int) -> bool:
    """Whether an argument lies where exact results are not counted."""
    return any(
        piece.lo <= ordinal < piece.hi
        for piece in result.settled
        if piece.settlement is not None and piece.settlement.which == "images"
    )


def is_breakpoint(spec: SearchSpec, ordinal: int, slope_log2: int) -> bool:
    """Whether the argument, or its half, is itself a breakpoint of the output format."""
    m, e = spec.inp.parts(ordinal)
    value = Value(1 if m >= 0 else -1, abs(m), e + slope_log2, True)
    here = nearest(value, spec.out, spec.rounding)
    return here is not None and here.is_exact
