"""What was asked for: the words of a claim must mean the formats and ranges that are checked."""

from __future__ import annotations

import re

from hrcase.errors import InputError
from hrcase.formats import FORMATS, Format
from hrcase.hexfloat import parse_bound
from hrcase.spec import Region, SearchSpec, exponent_range, interval, one_sign
from hrcase.verify.findings import Contradiction
from hrcase.verify.text import check_text

_SIGNS = {"": "both", "x > 0": "positive", "x < 0": "negative"}
_INTERVAL = re.compile(r"(.+) <= x < (.+)")
_BINADES = re.compile(r"2\^(-?\d{1,9}) <= \|x\| < 2\^(-?\d{1,9})(?:, (x [<>] 0))?")


def check_asked(spec: SearchSpec) -> None:
    """The sentence of a claim names f and formats, and says for which x.

    Raises:
        Contradiction: an expression or a format is another one than its name says, or the ranges
            are not those that the words mean.
    """
    check_text(spec)
    for form in (spec.inp, spec.out):
        if FORMATS.get(form.name, form) != form:
            raise Contradiction(
                "asked",
                f"the format called {form.name} has precision {form.precision} and exponents "
                f"{form.emin} to {form.emax}, and {form.name} has others",
            )
    text = spec.region.text
    try:
        meant = _meant(spec.inp, text)
    except InputError as error:
        raise Contradiction("asked", f"the words {text[:100]!r} name no range: {error}") from error
    if meant.ranges != spec.region.ranges:
        raise Contradiction(
            "asked",
            f"the claim says {text[:100] or 'every x'!r}, its ranges are the ordinals "
            f"{str(spec.region.ranges)[:100]} instead of {meant.ranges}",
        )


def _meant(inp: Format, text: str) -> Region:
    """The arguments that the condition of a claim describes. Raises InputError for other words."""
    if text in _SIGNS:
        return one_sign(inp, _SIGNS[text])
    if match := _BINADES.fullmatch(text):
        sign = _SIGNS[match[3] or ""]
        return exponent_range(inp, int(match[1]), int(match[2]) - 1, sign)
    if match := _INTERVAL.fullmatch(text):
        return interval(inp, parse_bound(match[1]), parse_bound(match[2]), text)
    raise InputError("they are not in the form of a claim")
