"""hrcase status: how far jobs are."""

import json
from pathlib import Path

import click

from hrcase.cli.errors import print_error
from hrcase.errors import HrcaseError
from hrcase.job.status import status_of


@click.command(name="status")
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=Path)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a job on stdout.")
@click.pass_context
def command(context: click.Context, directories: tuple[Path, ...], as_json: bool) -> None:
    """Say how far jobs are, from their files alone; they may be at work."""
    exit_code = 0
    for directory in directories:
        try:
            status = status_of(directory)
        except HrcaseError as error:
            print_error(str(error))
            exit_code = error.exit_code
            continue
        if as_json:
            click.echo(json.dumps(status.to_json()))
        else:
            click.echo("\n".join(status.lines()))
    if exit_code:
        context.exit(exit_code)
