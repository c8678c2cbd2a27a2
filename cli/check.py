"""hrcase check: everything there is to say of single inputs."""

import json

import click

from hrcase.argument import Report, check
from hrcase.cli.numbers import NumberArgs
from hrcase.formats import FORMATS, format_by_name
from hrcase.functions import function_by_name
from hrcase.hexfloat import format_bound, parse_number, to_hex


@click.command(cls=NumberArgs, name="check")
@click.argument("function")
@click.argument("x", nargs=-1, required=True)
@click.option("--format", "input_name", default="binary64", help=f"One of {', '.join(FORMATS)}.")
@click.option("--output-format", "output_name", help="Format of f(x). Default: that of x.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    function: str, x: tuple[str, ...], input_name: str, output_name: str | None, as_json: bool
) -> None:
    """Say how close FUNCTION(X) is to a breakpoint.

    X is hexadecimal (0x1.8p-3) or decimal, and must be a number of the format, exactly. Negative
    X need no `--`. Printed are f(x) rounded to nearest (RN), up (RU), down (RD) and to zero (RZ),
    the nearest breakpoint, and how far f(x) is from it, in ulps of its binade.
    """
    f, inp = function_by_name(function), format_by_name(input_name)
    out = format_by_name(output_name or input_name)
    reports = [check(f, inp, out, parse_number(text)) for text in x]
    for report in reports:
        if as_json:
            click.echo(json.dumps(_as_json(function, report)))
        else:
            click.echo("\n".join(_lines(function, report)))


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


def _lines(function: str, report: Report) -> list[str]:
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
        f"{function}({to_hex(report.x)}) = {report.value}",
        f"  rounded     {rounded}",
        f"  breakpoint  {to_hex(report.breakpoint)} ({report.kind})",
        f"  distance    {distance}",
    ]
