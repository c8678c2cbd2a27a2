"""Arguments with f(x) correctly rounded in the four modes: as CSV, and as a table in C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from hrcase.errors import InputError, SelfTestFailed
from hrcase.export.wc import wrapped
from hrcase.formats import Format
from hrcase.hexfloat import parse_number
from hrcase.roundings import MODES, Number, number_of, roundings
from hrcase.spec import SearchSpec

C_TYPES = {
    "binary16": ("float", "f"),
    "bfloat16": ("float", "f"),
    "binary32": ("float", "f"),
    "binary64": ("double", ""),
    "x87": ("long double", "L"),
}
"""The type of C that holds the numbers of a format, and the suffix of its constants."""


def write_values(stream: TextIO, spec: SearchSpec, arguments: Iterable[str]) -> None:
    """Write `x,rn,ru,rd,rz`, one line an argument, all in hexadecimal; `inf` and `-0x0p+0` too."""
    stream.write(",".join(("x", *map(str.lower, MODES))) + "\n")
    for x, values in _evaluated(spec, arguments):
        texts = [x.text(spec.inp), *(value.text(spec.out) for value in values)]
        stream.write(",".join(texts) + "\n")


def write_c(stream: TextIO, spec: SearchSpec, claim: str, arguments: Iterable[str]) -> None:
    """Write a C99 source: the claim as a comment, and an array of the arguments with their values.

    Raises:
        InputError: no type of C has the numbers of a format.
    """
    (x_type, x_suffix), (y_type, y_suffix) = (c_type_of(form) for form in (spec.inp, spec.out))
    name = "hard_" + re.sub(r"\W", "_", spec.function_name)
    stream.write("/*\n")
    for paragraph in claim.splitlines():
        for line in wrapped(paragraph):
            stream.write(f" * {line.replace('*/', '* /')}".rstrip() + "\n")
    stream.write(
        " *\n * rn, ru, rd and rz are f(x) rounded to nearest, up, down and to zero.\n */\n"
        "#include <math.h>\n\n"
        f"static const struct {{\n    {x_type} x;\n    {y_type} rn, ru, rd, rz;\n}} {name}[] = {{\n"
    )
    for x, values in _evaluated(spec, arguments):
        texts = [_constant(x, spec.inp, x_suffix)]
        texts += [_constant(value, spec.out, y_suffix) for value in values]
        stream.write(f"    {{{', '.join(texts)}}},\n")
    stream.write("};\n")


def c_type_of(form: Format) -> tuple[str, str]:
    """As in C_TYPES; raises InputError for another format."""
    if form.name not in C_TYPES:
        raise InputError(
            f"no type of C has the numbers of {form.name}; give --to csv, or a job with one of "
            f"{', '.join(C_TYPES)}"
        )
    return C_TYPES[form.name]


def _constant(number: Number, form: Format, suffix: str) -> str:
    text = number.text(form)
    return text.replace("inf", "INFINITY") if "inf" in text else text + suffix


def _evaluated(
    spec: SearchSpec, arguments: Iterable[str]
) -> Iterator[tuple[Number, tuple[Number, ...]]]:
    for argument in arguments:
        x = number_of(spec.inp, parse_number(argument))
        values = roundings(spec.function, spec.inp, spec.out, x)
        if values is None:
            raise SelfTestFailed(
                f"{argument} is a case of {spec.function_name}, and has no value; please report it"
            )
        yield x, values
