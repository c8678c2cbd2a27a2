"""hrcase certify: a complete job as a certificate."""

import sys
from pathlib import Path

import click

from hrcase.cli.errors import UsageError
from hrcase.export import atomic_write, check_writable
from hrcase.job.certificate import write_certificate
from hrcase.job.directory import require_job
from hrcase.job.export import reading_whole


@click.command(name="certify")
@click.argument("directory", metavar="JOB", type=click.Path(path_type=Path))
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="The certificate, FILE.json."
)
def command(directory: Path, output: Path) -> None:
    """Write the certificate of the complete job in JOB: what its claim stands on.

    It is JSON, described field by field in docs/certificate.md; `hrcase verify` checks it.
    """
    require_job(directory)
    if output.suffix != ".json":
        raise UsageError(
            f"--output {output} does not end in .json, and a certificate is JSON; give FILE.json"
        )
    check_writable(output)
    with reading_whole(directory, cases_too=False) as store:
        units = len(store.own)
        with (
            click.progressbar(length=units, label="units", file=sys.stderr) as bar,
            atomic_write(output) as stream,
        ):
            write_certificate(store, stream, lambda: bar.update(1))
    click.echo(f"{output}: {units} units, {output.stat().st_size} bytes", err=True)
    click.echo(f"to check it, run: hrcase verify {output}", err=True)
