"""hrcase libm: what a library rounds wrongly."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from hrcase.cli.errors import UsageError
from hrcase.errors import VerificationFailed
from hrcase.formats import Format, format_by_name
from hrcase.functions import function_by_name
from hrcase.libm.arguments import DEFAULT_FORMAT, Arguments, drawn, listed
from hrcase.libm.child import MissingFunction, SharedLibrary
from hrcase.libm.device import CUDA, DeviceFunction
from hrcase.libm.encoding import C_TYPES, CType, c_type_of
from hrcase.libm.misroundings import Failure, Library, Misrounding, Tally, misroundings

Fields = dict[str, str | int | None]


@click.command(name="libm")
@click.argument("function")
@click.option(
    "--library",
    default="libm.so.6",
    show_default=True,
    help="A path, a name that the loader knows, or cuda: the functions of CUDA devices.",
)
@click.option("--symbol", help="Name in the library. Default: that of C (cos, cosf, cosl).")
@click.option(
    "--cases",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE|JOB",
    help="Arguments: .csv, .wc, .bin, or the directory of a job. Default: a small sample.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(C_TYPES)),
    help="float, double or long double. Default: that of the list, or binary64.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0.1),
    default=5,
    show_default=True,
    metavar="SECONDS",
    help="For one call.",
)
def command(
    function: str,
    library: str,
    symbol: str | None,
    cases: Path | None,
    format_name: str | None,
    time_limit: float,
    as_json: bool,
) -> None:
    """Call FUNCTION of a library at hard arguments, in all rounding modes.

    FUNCTION may be an expression too, as expr:TEXT, with --symbol and --cases. Prints FAIL for
    each result that is not f(x) correctly rounded, DIED and HUNG for calls that gave none, MISSING
    when there is no such function; the summary goes to stderr. Exits with 0 whatever was found,
    with 2 when the function is missing, with 7 when so many calls died that
    the rest was not made.
    """
    f = function_by_name(function)
    if f.decided_bits and (symbol is None or cases is None):
        raise UsageError(
            "an expression needs the --symbol that computes it, and --cases; to have some, run: "
            "hrcase sample --expr TEXT --interval LO,HI --output cases.csv"
        )
    form = None if format_name is None else format_by_name(format_name)
    if cases is not None:
        arguments = listed(cases, f.name, form)
    else:
        arguments = drawn(f.name, form or format_by_name(DEFAULT_FORMAT))
    c_type = c_type_of(arguments.form)
    name = symbol or f.name + c_type.suffix
    tally = Tally()
    try:
        found = _library(library, name, c_type, time_limit)
        for finding in misroundings(f, found, arguments.numbers, tally):
            click.echo(_line(_fields(f.name, arguments.form, finding), as_json))
    except MissingFunction:
        missing: Fields = {"what": "MISSING", "f": f.name, "symbol": name, "library": library}
        click.echo(_line(missing, as_json))
        raise
    sys.stdout.flush()
    for line in _summary(found, name, arguments, tally):
        click.echo(line, err=True)
    if tally.not_asked:
        raise VerificationFailed(
            f"{name} died or hung {tally.failures} times; {tally.not_asked} arguments were not "
            "tried; repair it, or give --cases without the arguments above"
        )


def _library(library: str, symbol: str, c_type: CType, time_limit: float) -> Library:
    if library == CUDA:
        return DeviceFunction(symbol, c_type)
    return SharedLibrary(library, symbol, c_type, time_limit)


def _fields(function: str, form: Format, finding: Misrounding | Failure) -> Fields:
    """What there is to say of a finding, always in the same order."""
    where = {"f": function, "x": finding.x.text(form)}
    if isinstance(finding, Failure):
        word = "HUNG" if finding.is_hang else "DIED"
        return {"what": word, **where, "mode": finding.mode, "by": finding.what}
    return {
        "what": "FAIL",
        **where,
        "got": "nan" if finding.got is None else finding.got.text(form),
        "want": finding.want.text(form),
        "mode": finding.mode,
        "k": finding.identical_bits,
    }


def _line(fields: Fields, as_json: bool) -> str:
    """The fields as JSON, or as words to search for; k=inf where f(x) is a breakpoint itself."""
    if as_json:
        return json.dumps(fields)
    words = (f"{name}={'inf' if value is None else value}" for name, value in fields.items())
    return " ".join(words).removeprefix("what=")


def _summary(library: Library, name: str, arguments: Arguments, tally: Tally) -> Iterator[str]:
    yield f"library   {library.name}, function {name}, {arguments.form.name}"
    yield f"cases     {arguments.source}"
    left_out = list(arguments.left_out)
    if tally.undefined:
        left_out.append(f"{tally.undefined} at which it is not defined")
    yield f"arguments {tally.arguments}; left out: {', '.join(left_out) or 'none'}"
    for mode in library.modes:
        yield (
            f"{mode}        {tally.misrounded[mode]} of {tally.compared[mode]} misrounded "
            f"({tally.share(mode):.2%})"
        )
    if tally.failures:
        yield f"died      {tally.failures} calls, hung ones included"
