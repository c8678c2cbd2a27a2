"""hrcase export: the list of a complete job."""

from pathlib import Path

import click

from hrcase.cli.errors import UsageError
from hrcase.cli.outputs import EXACT_OPTION, check_exact, check_output, export_exact, export_job
from hrcase.export.thin import Thinning
from hrcase.job.directory import require_job
from hrcase.job.export import SUFFIXES


@click.command(name="export")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "kind",
    type=click.Choice(list(SUFFIXES)),
    required=True,
    help="csv; wc, CORE-MATH's list; bin, little-endian doubles; values, x with f(x) in four "
    "rounding modes; c, the same as a table in C.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N hardest cases alone. Default: all.",
)
@click.option(
    "--per-binade",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N hardest of each input binade. Default: all.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Default: stdout.")
@EXACT_OPTION
def command(
    directory: Path,
    kind: str,
    top: int | None,
    per_binade: int | None,
    output: Path | None,
    exact: Path | None,
) -> None:
    """Write the list of the complete job in DIR, as `hrcase search` would have.

    With --output the claim stands beside the list in FILE.claim.json. A list made shorter by --top
    or --per-binade says so in its claim.
    """
    if top is not None and per_binade is not None:
        raise UsageError("--top excludes --per-binade; each says what to keep; give one of them")
    require_job(directory)
    if output is not None:
        check_output(output, SUFFIXES[kind])
    if exact is not None:
        check_exact(exact)
    count = top if per_binade is None else per_binade
    thinning = None if count is None else Thinning(count, per_binade is not None)
    export_job(directory, kind, output, thinning)
    if exact is not None:
        export_exact(directory, exact)
