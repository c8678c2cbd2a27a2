"""hrcase export: the list of a complete job."""

from pathlib import Path

import click

from hrcase.cli.outputs import check_output, export_job
from hrcase.job.directory import require_job


@click.command(name="export")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "kind",
    type=click.Choice(("csv", "wc", "bin")),
    required=True,
    help="csv; wc, CORE-MATH's list; bin, little-endian doubles.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Default: stdout.")
def command(directory: Path, kind: str, output: Path | None) -> None:
    """Write the list of the complete job in DIR, as `hrcase search` would have.

    With --output the claim stands beside the list in FILE.claim.json.
    """
    require_job(directory)
    if output is not None:
        check_output(output, (f".{kind}",))
    export_job(directory, kind, output)
