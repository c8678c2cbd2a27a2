"""hrcase sample: medium-hard arguments at random."""

import time
from pathlib import Path

import click

from hrcase.cli.asked import region_options
from hrcase.cli.outputs import check_output, write_list
from hrcase.cli.work import engines
from hrcase.sample import Distances, sample
from hrcase.spec import SearchSpec


@click.command(name="sample")
@region_options
@click.option(
    "--distance",
    metavar="2^-A:2^-B",
    help="In ulps, from a breakpoint: the smaller one first. Default: 2^-35:2^-12 in binary64, in "
    "narrow formats less.",
)
@click.option(
    "--count",
    type=click.IntRange(1, 10**6),
    default=1000,
    show_default=True,
    metavar="N",
    help="How many.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="S",
    help="The same number draws the same arguments.",
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="auto, cpu, cuda:N, cuda:all, or several with commas. Never the result.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="FILE.csv or FILE.wc. Default: stdout."
)
def command(
    spec: SearchSpec, distance: str | None, count: int, seed: int, device: str, output: Path | None
) -> None:
    """Draw arguments at which FUNCTION is between two distances from a breakpoint.

    Of each factor of two in the distance there are about as many, from all over the range. The same
    seed draws the same list. It is a sample, not complete, and says so in FILE.claim.json or in its
    header.
    """
    distances = Distances.usual(spec.inp) if distance is None else Distances.parse(distance)
    if output is not None:
        check_output(output)
    started = time.monotonic()
    with engines(device, None) as found:
        drawn = sample(spec, distances, count, seed, found)
    write_list(drawn.spec, (case.row for case in drawn.cases), drawn.claim, output)
    click.echo(
        f"a sample, not complete: {len(drawn.cases)} of {count} asked, seed {seed}; "
        f"{drawn.windows} windows, {time.monotonic() - started:.1f} s",
        err=True,
    )
    if len(drawn.cases) < count:
        click.echo(
            "there are no more, or they are too rare; widen the range or --distance", err=True
        )
