"""hrcase search: list every hard-to-round case."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from hrcase import search as walk
from hrcase.claim import bits_in_words, range_text, settled_line
from hrcase.cli.errors import UsageError
from hrcase.domain import Rule, split
from hrcase.engine.choose import engine_for
from hrcase.errors import Interrupted
from hrcase.export import atomic_write, check_writable
from hrcase.export.csv import write_csv
from hrcase.export.wc import write_wc
from hrcase.formats import FORMATS, Format, format_by_name
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_interval, to_hex
from hrcase.lattice import ROUNDINGS
from hrcase.plan import Tuning, next_block
from hrcase.spec import (
    SIGNS,
    Region,
    SearchSpec,
    default_bits,
    exponent_range,
    interval,
    one_sign,
)

SUFFIXES = (".csv", ".wc")
SECONDS_BETWEEN_LINES = 60.0


@click.command(name="search")
@click.argument("function")
@click.option("--exponent-range", metavar="A:B", help="2^A <= |x| < 2^(B+1).")
@click.option("--interval", "interval_text", metavar="LO,HI", help="LO <= x < HI, exact bounds.")
@click.option("--sign", type=click.Choice(SIGNS), help="Sign of x. Default: both.")
@click.option("--format", "input_name", default="binary64", help=f"One of {', '.join(FORMATS)}.")
@click.option("--output-format", "output_name", help="Format of f(x). Default: that of x.")
@click.option(
    "--bits",
    type=int,
    help="M: list x when f(x) is within 2^-M ulp of a breakpoint, that is, with at least M - 1 "
    "identical bits after the round bit (BaCSeL -m M). Default: p - 9, never below 6.",
)
@click.option(
    "--rounding",
    type=click.Choice(ROUNDINGS),
    default="all",
    help="Breakpoints: all, midpoints (nearest), or numbers (directed).",
)
@click.option(
    "--method",
    type=click.Choice(("farey", "regular", "lefevre")),
    default=walk.DEFAULT_METHOD,
    show_default=True,
    help="The Farey walk, or a three-distance test. It never changes the result.",
)
@click.option("--device", default="auto", help="auto, cpu, cuda or cuda:N. Never the result.")
@click.option("--threads", type=click.IntRange(min=1), help="Default: all processors.")
@click.option(
    "--max-cases",
    type=click.IntRange(min=1),
    default=walk.DEFAULT_MOST_CASES,
    help="Refuse a search that would give more cases.",
)
@click.option("--output", type=click.Path(path_type=Path), help="FILE.csv or FILE.wc.")
@click.option("--explain", is_flag=True, help="Print the error budget and search nothing.")
def command(
    function: str,
    exponent_range: str | None,
    interval_text: str | None,
    sign: str | None,
    input_name: str,
    output_name: str | None,
    bits: int | None,
    rounding: str,
    method: str,
    device: str,
    threads: int | None,
    max_cases: int,
    output: Path | None,
    explain: bool,
) -> None:
    """List every hard-to-round case of FUNCTION.

    Bounds are exact: hexadecimal (0x1.8p-3), decimal taken as the exact rational, or inf. Without
    a range the whole domain is searched. The list goes to stdout as CSV, or to --output, with
    the claim (what the list says, to the letter) beside it in FILE.claim.json. Progress and
    summary go to stderr.
    """
    function_by_name(function)
    inp = format_by_name(input_name)
    out = format_by_name(output_name or input_name)
    region = _region(inp, exponent_range, interval_text, sign)
    spec = SearchSpec(
        function, inp, out, default_bits(out) if bits is None else bits, rounding, region
    )
    if explain:
        click.echo("\n".join(_budgets(spec, Tuning(method=method))))
        return
    if output is not None:
        _check_output(output)
    engine, notice = engine_for(device, threads)
    if notice is not None:
        click.echo(notice, err=True)
    started = time.monotonic()
    try:
        with closing(engine), _Watch(sys.stderr) as watch:
            result = walk.search(spec, method, threads, None, max_cases, watch.see, engine)
    except walk.Stopped as stopped:
        raise Interrupted(_remainder(spec, stopped)) from None
    _give(result, output)
    click.echo(f"device    {engine.name}", err=True)
    for line in summary(result, time.monotonic() - started):
        click.echo(line, err=True)


def _budgets(spec: SearchSpec, tuning: Tuning) -> Iterator[str]:
    """The error budget of the first block of each searched piece, term by term."""
    for piece in split(spec):
        if piece.rule is not Rule.SEARCHED:
            continue
        planned = next_block(spec, piece, piece.lo, tuning)
        if planned.block is None or planned.budget is None:
            continue
        block = planned.block
        domains = f"domains of 2^{block.domain_log2}, " if block.domain_log2 else ""
        yield (
            f"{range_text(spec.inp, piece.lo, piece.hi)}: degree {block.degree}, {block.limbs} "
            f"limbs, blocks of {planned.count} arguments, runs of 2^{block.run_log2}, {domains}"
            f"method {planned.method}; w is 2^-{spec.bits} ulp"
        )
        yield from planned.budget.explain(1 << block.domain_log2 if block.domain_log2 else 0)


def _region(
    inp: Format, exponents: str | None, interval_text: str | None, sign: str | None
) -> Region:
    if interval_text is not None:
        if exponents is not None or sign is not None:
            raise UsageError(
                "--interval excludes --exponent-range and --sign; its bounds carry their signs; "
                "give one of them"
            )
        lo, hi = parse_interval(interval_text)
        low_text, high_text = (part.strip() for part in interval_text.split(","))
        return interval(inp, lo, hi, f"{low_text} <= x < {high_text}")
    if exponents is None:
        return one_sign(inp, sign or "both")
    try:
        first, last = (int(part) for part in exponents.split(":"))
    except ValueError:
        raise UsageError(
            f"--exponent-range {exponents!r} is not A:B with two integers; give, say, -3:4"
        ) from None
    return exponent_range(inp, first, last, sign or "both")


def _check_output(output: Path) -> None:
    if output.suffix not in SUFFIXES:
        raise UsageError(
            f"--output {output} ends in neither .csv nor .wc; the suffix says the file's type; "
            "give FILE.csv or FILE.wc"
        )
    check_writable(output)
    check_writable(_claim_path(output))


def _claim_path(output: Path) -> Path:
    return output.with_name(output.name + ".claim.json")


def _give(result: walk.SearchResult, output: Path | None) -> None:
    """Write the list: to stdout, or with its claim beside it."""
    if output is None:
        _write(result, sys.stdout, ".csv")
        return
    with atomic_write(output) as stream:
        _write(result, stream, output.suffix)
    with atomic_write(_claim_path(output)) as stream:
        json.dump(result.claim.to_json(), stream, indent=2)
        stream.write("\n")


def _write(result: walk.SearchResult, stream: TextIO, suffix: str) -> None:
    spec = result.spec
    if suffix == ".wc":
        write_wc(stream, result.claim.to_text(), result.cases)
    else:
        write_csv(stream, spec.function_name, spec.inp.name, result.cases)


def _remainder(spec: SearchSpec, stopped: walk.Stopped) -> str:
    """Print what is finished and what remains; the error line."""
    for lo, hi in stopped.finished:
        click.echo(f"finished   {range_text(spec.inp, lo, hi)}", err=True)
    for piece in stopped.ranges:
        click.echo(f"  not rows: {settled_line(spec.inp, piece)}", err=True)
    for lo, hi in stopped.remaining:
        end = to_hex(spec.inp.value(hi)) if hi <= spec.inp.max_ordinal else "inf"
        click.echo(f"remaining  --interval {to_hex(spec.inp.value(lo))},{end}", err=True)
    if stopped.cases is None:
        return (
            "stopped by Ctrl-C; no list was written, the cases found are too many to show here; "
            "search again, in parts, with --interval"
        )
    click.echo(f"{len(stopped.cases)} cases in the finished intervals:", err=True)
    write_csv(sys.stderr, spec.function_name, spec.inp.name, stopped.cases)
    return (
        "stopped by Ctrl-C; no list was written, what was found stands above; "
        "search the remaining intervals with the options above"
    )


def summary(result: walk.SearchResult, seconds: float) -> list[str]:
    """What was done, for people: one line a fact."""
    s, spec = result.statistics, result.spec
    arguments = sum(s.arguments.values())
    lines = [bits_in_words(spec.bits)]
    for rule in Rule:
        lines.append(f"{rule.value:9} {s.pieces[rule]:8} pieces  {s.arguments[rule]:.6g} arguments")
    for piece in result.settled:
        assert piece.settlement is not None
        if piece.settlement.kind != "a":
            where = range_text(spec.inp, piece.lo, piece.hi)
            lines.append(f"  not rows, kind ({piece.settlement.kind}): {where}")
    for part in result.removed:
        lines.append(f"  not covered: {range_text(spec.inp, part.lo, part.hi)}: {part.reason}")
    lines += _phases(s)
    lines += [
        f"survivors {s.counts['candidates']} candidates, {s.rejected} of them too far",
        f"cases     {len(result.cases)}, and {s.exact} exact ones that are not listed",
        f"expected  {s.expected:.1f} in the searched pieces, where {s.found_searched} were found",
    ]
    stages = ", ".join(f"{name} {value:.2f}" for name, value in s.seconds.items())
    lines.append(f"seconds   {seconds:.2f} in all ({stages})")
    lines.append(f"rate      {arguments / seconds:.3g} arguments/s")
    return lines


def _phases(s: walk.Statistics) -> list[str]:
    """What the kernels did."""
    if s.method == "farey":
        return [
            f"walks     {s.counts['domains']} runs",
            f"cubics    {s.counts['scanned']} arguments decided, {s.counts['hits']} hits",
        ]
    return [
        f"phase 1   {s.counts['domains']} domains tested",
        f"phase 2   {s.counts['subdomains']} subdomains tested",
        f"phase 3   {s.counts['scanned']} arguments scanned, {s.counts['hits']} hits",
    ]


class _Watch:
    """Progress on stderr: a bar on a terminal, a line a minute elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.started = self.spoken = time.monotonic()
        self.bar: Progress | None = None
        if stream.isatty():
            self.bar = Progress(
                TextColumn("searching"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[found]} candidates"),
                console=Console(file=stream),
                transient=True,
            )
            self.task = self.bar.add_task("search", total=None, found=0)

    def __enter__(self) -> "_Watch":
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def see(self, progress: walk.Progress) -> None:
        """Show how far the search is."""
        if self.bar is not None:
            self.bar.update(
                self.task,
                completed=progress.done,
                total=progress.total,
                found=progress.candidates,
            )
            return
        now = time.monotonic()
        if now - self.spoken < SECONDS_BETWEEN_LINES:
            return
        self.spoken = now
        share = progress.done / max(progress.total, progress.done, 1.0)
        left = (now - self.started) * (1 - share) / max(share, 1e-9)
        click.echo(
            f"{100 * share:.1f} % done, {progress.candidates} candidates, {left:.0f} s left",
            file=self.stream,
        )
