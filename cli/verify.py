"""hrcase verify: what a certificate, a job or a list stands on, checked by code of its own."""

import json
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from hrcase.errors import InputError
from hrcase.verify.document import read_certificate
from hrcase.verify.findings import Contradiction, Findings
from hrcase.verify.lists import verify_list, verify_rows
from hrcase.verify.whole import DEFAULT_SAMPLE, Effort, verify_certificate


@click.command(name="verify")
@click.argument("path", metavar="FILE|JOB", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=DEFAULT_SAMPLE,
    show_default=True,
    help="Sub-intervals to search again, by another method.",
)
@click.option(
    "--seed",
    type=int,
    help="It chooses what is sampled. Default: drawn anew, and printed.",
)
@click.option("--full", is_flag=True, help="Search everything again: for small jobs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(path: Path, sample: int, seed: int | None, full: bool, as_json: bool) -> None:
    """Check a certificate (.json), a job, or a list (.csv, .wc) with its claim beside it.

    Neither engines nor planner are used. Printed is what was proved, what was done again, in whole
    or in part, and what was taken from the file. A contradiction ends with exit code 7 and names
    the check; docs/certificate.md says what each check rests on.
    """
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    try:
        with ExitStack() as bars:
            findings = _verify(path, Effort(sample, seed, full, _Bars(bars).stage))
    except Contradiction as error:
        if as_json:
            click.echo(json.dumps({"verified": False, "check": error.check, "what": error.what}))
        raise
    if as_json:
        click.echo(json.dumps({"verified": True, **asdict(findings)}))
    else:
        click.echo("\n".join(findings.lines()))


class _Bars:
    """A progress bar for each stage, on stderr."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def stage(self, name: str, steps: int) -> Callable[[], None]:
        """Begin a stage; the function to call after each of its steps."""
        self._stack.close()
        bar = click.progressbar(length=steps, label=name, file=sys.stderr)
        self._stack.enter_context(bar)
        return lambda: bar.update(1)


def _verify(path: Path, effort: Effort) -> Findings:
    if path.is_dir():
        return _verify_job(path, effort)
    if path.suffix == ".json":
        return verify_certificate(read_certificate(path), effort)
    if path.suffix in (".csv", ".wc"):
        return verify_list(path, effort)
    raise InputError(
        f"{path} is neither a certificate (.json) nor a list (.csv, .wc) nor a job; give one"
    )


def _verify_job(directory: Path, effort: Effort) -> Findings:
    """By a certificate made for it, and its rows as a list has them."""
    with _certified(directory) as (certificate, rows):
        parsed = read_certificate(certificate)
        findings = verify_certificate(parsed, effort)
        verify_rows(parsed.spec, rows, findings)
    return findings


@contextmanager
def _certified(directory: Path) -> Iterator[tuple[Path, Iterator[tuple[str, ...]]]]:
    """The certificate of a job, in a temporary file, and its rows."""
    from hrcase.job.certificate import write_certificate
    from hrcase.job.export import reading_whole

    with reading_whole(directory) as store, tempfile.TemporaryDirectory() as place:
        certificate = Path(place) / "certificate.json"
        with open(certificate, "w", encoding="utf-8", newline="\n") as stream:
            write_certificate(store, stream, lambda: None)
        yield certificate, store.rows()
