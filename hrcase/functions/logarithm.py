"""log."""

from __future__ import annotations

from gmpy2 import mpq

from hrcase.functions.base import Function


def _log_exact(x: mpq) -> mpq | None:
    return mpq(0) if x == 1 else None


LOG = Function(
    name="log",
    mpfr=lambda context, x: context.log(x),
    arb=lambda x: x.log(),
    series=lambda x: x.log(),
    lo=mpq(0),
    outside="log is not defined for x <= 0",
    exact=_log_exact,
    exact_rule="log(x) is rational for rational x only at x = 1 (Lindemann)",
    monotone="log' = 1/x > 0",
    known_cases=(("0x1.62a88613629b6p+678", -65.151), ("0x1.fd15daa6ce332p+732", -62.027)),
)
