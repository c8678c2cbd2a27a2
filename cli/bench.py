"""hrcase bench: methods and devices on the same piece."""

import json
import sys
from contextlib import ExitStack, closing
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from hrcase.bench import Bench, bench, stage_words
from hrcase.engine import METHODS, Engine
from hrcase.engine.choose import engine_for, has_cuda_device
from hrcase.errors import NoDevice
from hrcase.formats import format_by_name
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_interval
from hrcase.spec import SearchSpec, default_bits, interval

SEARCH_METHODS = tuple(method for method in METHODS if method != "scan")
PIECE, PIECE_BITS = "1,0x1.0008p0", 34
"""The interval [1, 1 + 2^-13) and threshold of the published GPU search: 2^39 arguments."""

PLAIN_WIDTH = 160
"""Columns of the table where the output is no terminal."""


@click.command(name="bench")
@click.argument("function", default="exp")
@click.option(
    "--interval", "interval_text", metavar="LO,HI", default=PIECE, help="The piece, LO <= x < HI."
)
@click.option("--bits", type=int, help=f"M. Default: p - 9, or {PIECE_BITS} for the default piece.")
@click.option("--format", "format_name", default="binary64", help="Number format.")
@click.option(
    "--method",
    "methods",
    type=click.Choice(SEARCH_METHODS),
    multiple=True,
    help="May be repeated. Default: all.",
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    help="cpu, cuda or cuda:N; may be repeated. Default: the CPU, and a CUDA device if there is.",
)
@click.option("--runs", type=click.IntRange(min=1), default=3, help="Timed runs; the best counts.")
@click.option("--threads", type=click.IntRange(min=1), help="Default: all processors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(
    function: str,
    interval_text: str,
    bits: int | None,
    format_name: str,
    methods: tuple[str, ...],
    devices: tuple[str, ...],
    runs: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Time methods and devices on the same piece of FUNCTION (default: exp).

    Each searches once untimed: the lists of cases must be equal, else nothing is timed and the
    exit code is 7. Then they run by turns. Times are those of whole searches. What the share of
    the limit is a share of is told in the header of hrcase/bench.py.
    """
    function_by_name(function)
    form = format_by_name(format_name)
    if bits is None:
        bits = PIECE_BITS if interval_text == PIECE else default_bits(form)
    region = interval(form, *parse_interval(interval_text), interval_text)
    spec = SearchSpec(function, form, form, bits, "all", region)
    with ExitStack() as stack:
        engines = _engines(devices, threads)
        for engine in engines:
            stack.enter_context(closing(engine))
        result = bench(spec, methods or SEARCH_METHODS, engines, runs, threads)
    if as_json:
        about = {"function": function, "interval": interval_text, "bits": bits, "runs": runs}
        click.echo(json.dumps(about | asdict(result)))
    else:
        click.echo(f"{function} on [{interval_text}), M = {bits}: {result.arguments} arguments,")
        click.echo(f"{result.cases} cases, the same in every row; best of {runs} runs by turns")
        _print(result)


def _engines(devices: tuple[str, ...], threads: int | None) -> list[Engine]:
    """The engines asked for, or all that can be used."""
    if devices:
        return [_engine(device, threads) for device in dict.fromkeys(devices)]
    engines = [_engine("cpu", threads)]
    if has_cuda_device():
        try:
            engines.append(_engine("cuda", threads))
        except NoDevice as error:
            click.echo(f"leaving out the CUDA device: {error}", err=True)
    return engines


def _engine(device: str, threads: int | None) -> Engine:
    engine, notice = engine_for(device, threads)
    if notice is not None:
        click.echo(notice, err=True)
    return engine


def _print(result: Bench) -> None:
    table = Table("device", "method")
    for title in ("seconds", "arguments/s", "ratio", "share of the limit"):
        table.add_column(title, justify="right")
    for row in result.rows:
        share = "no limit known" if row.limit_share is None else f"{100 * row.limit_share:.1f} %"
        rate, ratio = f"{row.arguments_per_second:.3g}", f"{row.ratio:.2f}"
        table.add_row(row.device, row.method, f"{row.seconds:.3f}", rate, ratio, share)
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    console.print(table)
    for row in result.rows:
        for words in stage_words(row):
            click.echo(f"{row.method} on {row.device}, {words}")
