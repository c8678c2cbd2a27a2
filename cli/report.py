"""hrcase report: a page about a complete job."""

from pathlib import Path

import click

from hrcase.cli.outputs import check_suffix
from hrcase.job.directory import require_job
from hrcase.report.page import write_report


@click.command(name="report")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), required=True, help="FILE.html.")
def command(directory: Path, output: Path) -> None:
    """Write a page about the complete job in DIR: its claim, and what follows from it.

    The bits needed to round the function correctly, cases by binade beside the law, the hardest
    cases, settled ranges, time and device. One HTML file, without scripts, to be read on a screen,
    on a phone or on paper.
    """
    require_job(directory)
    check_suffix(output, (".html",))
    write_report(directory, output)
    click.echo(f"the report stands in {output}", err=True)
