"""hrcase merge: parts of a search as one job."""

from pathlib import Path

import click

from hrcase.job.merge import merge


@click.command(name="merge")
@click.argument("parts", metavar="PART...", nargs=-1, required=True, type=Path)
@click.option(
    "--job",
    "directory",
    required=True,
    type=click.Path(path_type=Path),
    help="The new job.",
)
def command(parts: tuple[Path, ...], directory: Path) -> None:
    """Make one complete job of the jobs PART..., which `search --shard I/N` made.

    It checks that they are parts of one search, that together they leave nothing out, and that
    what was done twice gave one answer.
    """
    merge(parts, directory)
    click.echo(f"to have the list, run: hrcase export {directory} --to csv", err=True)
