"""hrcase check: everything there is to say of single inputs."""

import json

import click

from hrcase.argument import Report, check
from hrcase.cli.asked import EXPRESSION_OPTION, function_of
from hrcase.cli.errors import UsageError
from hrcase.cli.numbers import NumberArgs
from hrcase.formats import FORMATS, format_by_name
from hrcase.functions import Expression, Function, function_by_name
from hrcase.hexfloat import format_bound, parse_number, to_hex


@click.command(cls=NumberArgs, name="check")
@click.argument("arguments", nargs=-1, metavar="FUNCTION X...")
@EXPRESSION_OPTION
@click.option("--format", "input_name", default="binary64", help=f"One of {', '.join(FORMATS)}.")
@click.option("--output-format", "output_name", help="Format of f(x). Default: that of x.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    arguments: tuple[str, ...],
    expression: str | None,
    input_name: str,
    output_name: str | None,
    as_json: bool,
) -> None:
    """Say how close FUNCTION(X) is to a breakpoint.

    With --expr all arguments are X.

    X is hexadecimal (0x1.8p-3) or decimal, and must be a number of the format, exactly. Negative
    X need no `--`. Printed are f(x) rounded to nearest (RN), up (RU), down (RD) and to zero (RZ),
    the nearest breakpoint, and how far f(x) is from it, in ulps of its binade.
    """
    x = list(arguments)
    name = function_of(x.pop(0) if x and expression is None else None, expression)
    if not x:
        raise UsageError("Missing argument 'X...'; give X, say 0x1.8p-3")
    f, inp = function_by_name(name), format_by_name(input_name)
    out = format_by_name(output_name or input_name)
    reports = [check(f, inp, out, parse_number(text)) for text in x]
    for report in reports:
        if as_json:
            click.echo(json.dumps(_as_json(f.name, report)))
        else:
            click.echo("\n".join(_lines(f, report)))


def _as_json(function: str, report: Report) -> dict[str, object]:
    return {
        "function": function,
        "x": to_hex(report.x),
        "value": report.value,
        "rounded": {mode: format_bound(value) for mode, value in report.rounded.items()},
        "breakpoint": to_hex(report.breakpoint),
        "kind": report.kind,
        "side": report.side,
        "distance_ulp": report.distance_ulp,
        "log2_distance": report.log2_distance,
        "identical_bits": report.identical_bits,
        "exact": report.is_exact,
    }


def _lines(f: Function, report: Report) -> list[str]:
    rounded = "  ".join(f"{mode} {format_bound(y)}" for mode, y in report.rounded.items())
    if report.is_exact:
        distance = f"exact: f(x) is this {report.kind}"
    else:
        bits = max(report.identical_bits or 0, 0)
        distance = (
            f"{report.distance_ulp} ulp (2^{report.log2_distance}), {report.side} it; "
            f"{bits} identical bits after the round bit"
        )
    return [
        f"{_call(f, to_hex(report.x))} = {report.value}",
        f"  rounded     {rounded}",
        f"  breakpoint  {to_hex(report.breakpoint)} ({report.kind})",
        f"  distance    {distance}",
    ]


def _call(f: Function, x: str) -> str:
    return f"{f.formula} at x = {x}" if isinstance(f, Expression) else f"{f.name}({x})"
