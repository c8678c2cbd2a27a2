"""hrcase search: list every hard-to-round case."""

import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from hrcase import memory as walk
from hrcase.claim import bits_in_words, range_text, settled_line
from hrcase.cli.asked import asked_options
from hrcase.cli.errors import UsageError
from hrcase.cli.outputs import (
    EXACT_OPTION,
    check_exact,
    check_output,
    export_exact,
    export_job,
    write_exact_cases,
    write_list,
)
from hrcase.cli.progress import Watch
from hrcase.cli.work import Means, engines, means_options, start_job
from hrcase.domain import split
from hrcase.errors import Interrupted
from hrcase.export.csv import write_csv
from hrcase.hexfloat import to_hex
from hrcase.pieces import Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec

MOST_SHOWN = 20
"""Arguments in a line of the summary; the claim has all of them."""


@click.command(name="search")
@asked_options
@means_options
@click.option(
    "--job",
    "directory",
    type=click.Path(path_type=Path),
    help="Keep all state in this new directory; hrcase resume goes on with it. Default: in memory.",
)
@click.option(
    "--shard",
    "shard_text",
    metavar="I/N",
    help="Make a job of part I of N only; hrcase merge puts the parts together. Default: 1/1.",
)
@click.option(
    "--max-cases",
    type=click.IntRange(min=1),
    default=walk.DEFAULT_MOST_CASES,
    help="Refuse a search that would give more cases.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="FILE.csv or FILE.wc. Default: stdout."
)
@EXACT_OPTION
@click.option("--explain", is_flag=True, help="Print the error budget and search nothing.")
def command(
    spec: SearchSpec,
    directory: Path | None,
    shard_text: str | None,
    max_cases: int,
    output: Path | None,
    exact: Path | None,
    explain: bool,
    **given: Any,
) -> None:
    """List every hard-to-round case of FUNCTION.

    Bounds are exact: hexadecimal (0x1.8p-3), decimal taken as the exact rational, or inf. Without
    a range the whole domain is searched. The list goes to stdout as CSV, or to --output, with
    the claim (what the list says, to the letter) beside it in FILE.claim.json. Progress and
    summary go to stderr.
    """
    means = Means(**given)
    if explain:
        click.echo("\n".join(_budgets(spec, Tuning(method=means.method))))
        return
    if output is not None:
        check_output(output)
    if exact is not None:
        check_exact(exact)
    if directory is not None:
        shard = _shard(shard_text)
        start_job(spec, directory, max_cases, means, shard)
        if output is not None and shard == (1, 1):
            export_job(directory, output.suffix[1:], output)
        if exact is not None and shard == (1, 1):
            export_exact(directory, exact)
        return
    for option, value in (
        ("--shard", shard_text),
        ("--max-time", means.max_time),
        ("--cluster", means.cluster),
    ):
        if value is not None:
            raise UsageError(f"{option} needs a job that can go on later; give --job DIR too")
    started = time.monotonic()
    try:
        with engines(means.device, means.threads) as found, Watch(sys.stderr) as watch:
            result = walk.search(
                spec,
                means.method,
                means.threads,
                means.tuning,
                max_cases,
                watch.see,
                found,
                partial(click.echo, err=True),
            )
    except walk.Stopped as stopped:
        raise Interrupted(_remainder(spec, stopped)) from None
    write_list(result.spec, result.rows, result.claim, output)
    if exact is not None:
        write_exact_cases(result.spec, result.claim, result.exact, exact)
    click.echo(f"device    {', '.join(engine.name for engine in found)}", err=True)
    for line in summary(result, time.monotonic() - started):
        click.echo(line, err=True)


def _shard(text: str | None) -> tuple[int, int]:
    """I/N as numbers."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text or "1/1")
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard {text} is not I/N with 1 <= I <= N; give, say, 2/5")
    return int(found[1]), int(found[2])


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


def _remainder(spec: SearchSpec, stopped: walk.Stopped) -> str:
    """Print what is finished and what remains; the error line."""
    for lo, hi in stopped.finished:
        click.echo(f"finished   {range_text(spec.inp, lo, hi)}", err=True)
    for piece in stopped.ranges:
        click.echo(f"  not rows: {settled_line(spec.inp, piece)}", err=True)
    for lo, hi in stopped.remaining:
        end = to_hex(spec.inp.value(hi)) if hi <= spec.inp.max_ordinal else "inf"
        click.echo(f"remaining  --interval {to_hex(spec.inp.value(lo))},{end}", err=True)
    if stopped.rows is None:
        return (
            "stopped by Ctrl-C; no list was written, the cases found are too many to show here; "
            "search again, in parts, with --interval"
        )
    click.echo(f"{len(stopped.rows)} cases in the finished intervals:", err=True)
    write_csv(sys.stderr, spec.function_name, spec.inp.name, stopped.rows)
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
        f"cases     {len(result.rows)}, and {s.exact} exact ones that are not listed",
        *_undecided(result),
        f"expected  {s.expected:.1f} in the searched pieces, where {s.found_searched} were found",
    ]
    for reason, count in s.lawless.items():
        lines.append(f"          the law does not apply to {count:.6g} arguments: {reason}")
    stages = ", ".join(f"{name} {value:.2f}" for name, value in s.seconds.items())
    lines.append(f"seconds   {seconds:.2f} in all ({stages})")
    lines.append(f"rate      {arguments / seconds:.3g} arguments/s")
    return lines


def _undecided(result: walk.SearchResult) -> list[str]:
    """The arguments of an expression that may be exact or not."""
    ordinals, spec = result.undecided, result.spec
    if not ordinals:
        return []
    shown = ", ".join(to_hex(spec.inp.value(i)) for i in ordinals[:MOST_SHOWN])
    rest = f", and {len(ordinals) - MOST_SHOWN} more" if len(ordinals) > MOST_SHOWN else ""
    beyond = f"exact or beyond {spec.function.decided_bits} bits"
    return [f"undecided {len(ordinals)} of the exact ones are {beyond}: {shown}{rest}"]


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
