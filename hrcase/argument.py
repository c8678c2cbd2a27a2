"""Everything there is to say of one input."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpq

from hrcase.enclosure import (
    Interval,
    OutOfReach,
    TooWide,
    above,
    at_least,
    by_mpfr,
    exact_value,
    rounded,
)
from hrcase.errors import InputError, SelfTestFailed
from hrcase.formats import Format, Infinite
from hrcase.functions.base import Function
from hrcase.hexfloat import to_hex
from hrcase.ziv import (
    MOST_PRECISION,
    confirm,
    decimal,
    describe,
    most_precision,
    nearest_breakpoint,
    require_exact,
    round_to,
)

MODES = {"RN": "nearest", "RU": "up", "RD": "down", "RZ": "zero"}


@dataclass(frozen=True, slots=True)
class Report:
    """What `hrcase check` says of one input.

    Attributes:
        value: f(x) in decimal, correctly rounded to 10 digits.
        rounded: f(x) rounded in each mode, keys as in MODES.
        breakpoint, kind: the nearest breakpoint, and "number" or "midpoint".
        side: "above", "below", or "on" for an exact case.
        distance_ulp, log2_distance, identical_bits: as in HRCase; "0", "-inf" and None
            for an exact case.
    """

    x: mpq
    value: str
    rounded: dict[str, mpq | Infinite]
    breakpoint: mpq
    kind: str
    side: str
    distance_ulp: str
    log2_distance: str
    identical_bits: int | None

    @property
    def is_exact(self) -> bool:
        """Whether f(x) is a number or a midpoint."""
        return self.side == "on"


def check(f: Function, inp: Format, out: Format, x: mpq) -> Report:
    """All about f at one number of a format.

    Raises:
        InputError: x is no number of the format, or f is not defined there, or f(x) is
            beyond every exponent in use, or too near to a breakpoint to say how near, or an
            expression is not told from one.
        SelfTestFailed: MPFR and Arb contradict each other.
    """
    m, e = inp.parts(_ordinal(inp, x))
    if next(f.poles(x, x), None) is not None:
        raise InputError(f"{f.name} has a pole at x = {to_hex(x)}; give another x")
    if not f.contains(x):
        raise InputError(f"{f.outside}; x = {to_hex(x)} lies there; give another x")
    exact = f.exact(x)
    if exact is not None:
        require_exact(f, m, e, exact, 2 * out.precision + 64)
        report = _report(out, x, (exact, exact))
        assert report is not None
        return report
    precision = 2 * out.precision + 64
    try:
        while precision <= most_precision(f):
            with suppress(TooWide):
                y = by_mpfr(f, m, e, precision)
                report = _report(out, x, y)
                if report is not None:
                    confirm(f, m, e, precision, lambda ball: _report(out, x, ball), report, y)
                    return report
            precision *= 2
    except OutOfReach as error:
        where = "0 (number), above or below" if error.vanishes else "beyond the last one"
        raise InputError(
            f"{error} at x = {to_hex(x)}: the nearest breakpoint is {where}; give another x"
        ) from None
    if f.decided_bits:
        raise InputError(
            f"{f.decided_bits} bits do not tell {f.name} at {to_hex(x)} from a number or a "
            "midpoint: it may be exact; give another x"
        )
    near = exact_value(rounded(f, m, e, out.precision + 2, gmpy2.RoundToNearest))
    for side, holds in (("above", above(f, m, e, near)), ("below", not at_least(f, m, e, near))):
        if holds:
            raise InputError(
                f"{f.name}({to_hex(x)}) is {side} the breakpoint {to_hex(near)}, and so near that "
                f"{MOST_PRECISION} bits do not show the distance; give another x"
            )
    raise SelfTestFailed(
        f"{f.name}({to_hex(x)}) is on a breakpoint to {MOST_PRECISION} bits, but not exact by the "
        "function's rule; please report it"
    )


def _ordinal(inp: Format, x: mpq) -> int:
    try:
        return inp.ordinal(x)
    except InputError:
        pass
    above = max(-inp.max_ordinal + 1, min(inp.ceil_ordinal(x), inp.max_ordinal))
    raise InputError(
        f"{decimal(abs(x))} with this sign is not a {inp.name} number; its neighbours are "
        f"{to_hex(inp.value(above - 1))} and {to_hex(inp.value(above))}; give one of them"
    )


def _report(out: Format, x: mpq, y: Interval) -> Report | None:
    """The report that an enclosure of f(x) shows; None where it is too wide."""
    rounded = {}
    for name, mode in MODES.items():
        low, high = (round_to(out, end, mode) for end in y)
        if low != high:
            return None
        rounded[name] = low
    point = nearest_breakpoint(out, "all", y)
    value = _common_text(y)
    if point is None or value is None:
        return None
    kind = "midpoint" if point.is_midpoint else "number"
    if point.high == 0:
        return Report(x, value, rounded, point.value, kind, "on", "0", "-inf", None)
    case = describe(out, x, point, y) if point.low > 0 else None
    if case is None:
        return None
    return Report(
        x,
        value,
        rounded,
        point.value,
        kind,
        case.side,
        case.distance_ulp,
        case.log2_distance,
        case.identical_bits,
    )


def _common_text(y: Interval) -> str | None:
    texts = {_signed_decimal(end) for end in y}
    return texts.pop() if len(texts) == 1 else None


def _signed_decimal(value: mpq) -> str:
    if value == 0:
        return "0"
    return ("-" if value < 0 else "") + decimal(abs(value))
