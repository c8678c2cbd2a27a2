"""Where lists go: FILE.csv, FILE.wc or FILE.bin, each with its claim beside it."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from hrcase.cases import Row
from hrcase.claim import Claim
from hrcase.cli.errors import UsageError
from hrcase.export import atomic_write, atomic_write_bytes, check_writable
from hrcase.export.csv import write_csv
from hrcase.export.exact import write_exact
from hrcase.export.thin import Thinning
from hrcase.export.wc import write_wc
from hrcase.job.export import claim_of, reading_whole, refuse_kind, write_binary, write_text
from hrcase.job.store import Store
from hrcase.spec import SearchSpec

SUFFIXES = (".csv", ".wc")

EXACT_OPTION = click.option(
    "--exact",
    type=click.Path(path_type=Path),
    metavar="FILE.wc",
    help="Write the exact cases there too. Default: they are only counted.",
)


def check_output(output: Path, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Refuse a bad output before the work: UsageError, or ExportError."""
    check_suffix(output, suffixes)
    check_writable(claim_path(output))


def check_suffix(output: Path, suffixes: tuple[str, ...]) -> None:
    """As `check_output`, of a file without a claim beside it."""
    if output.suffix not in suffixes:
        raise UsageError(
            f"--output {output} does not end in {' or '.join(suffixes)}; the suffix says the "
            f"file's type; give {' or '.join(f'FILE{suffix}' for suffix in suffixes)}"
        )
    check_writable(output)


def claim_path(output: Path) -> Path:
    """Where the claim of a list stands."""
    return output.with_name(output.name + ".claim.json")


def write_claim(claim: Claim, output: Path) -> None:
    """Write the claim beside its list."""
    with atomic_write(claim_path(output)) as stream:
        json.dump(claim.to_json(), stream, indent=2)
        stream.write("\n")


def write_list(spec: SearchSpec, rows: Iterable[Row], claim: Claim, output: Path | None) -> None:
    """Write cases: to stdout as CSV, or to a file of either kind with the claim beside it."""
    if output is None:
        write_csv(sys.stdout, spec.function_name, spec.inp.name, rows)
        return
    with atomic_write(output, claim_path(output)) as stream:
        if output.suffix == ".wc":
            write_wc(stream, claim.to_text(), (row[0] for row in rows))
        else:
            write_csv(stream, spec.function_name, spec.inp.name, rows)
    write_claim(claim, output)


def check_exact(output: Path) -> None:
    """Refuse a bad place for the exact cases before the work: UsageError, or ExportError."""
    if output.suffix != ".wc":
        raise UsageError(
            f"--exact {output} does not end in .wc, the form of that list; give FILE.wc"
        )
    check_writable(output)


def write_exact_cases(
    spec: SearchSpec, claim: Claim, ordinals: Iterable[int], output: Path
) -> None:
    """Write the exact cases of a search."""
    with atomic_write(output) as stream:
        write_exact(stream, spec, claim, ordinals)


def export_exact(directory: Path, output: Path) -> None:
    """Write the exact cases of a complete job; raises as `export_job`."""
    with reading_whole(directory) as store:
        write_exact_cases(store.spec, claim_of(store), store.exact_ordinals(), output)


def export_job(
    directory: Path, kind: str, output: Path | None, thinning: Thinning | None = None
) -> None:
    """Write the list of a complete job: to stdout, or to a file with its claim beside it.

    Everything is checked before the first byte is written to stdout, or the file is renamed.

    Args:
        kind: of SUFFIXES.
        thinning: which cases to keep; default all.

    Raises:
        Interrupted: the job is not complete.
        CorruptState: it is damaged.
        InputError: there is no such job, or its list cannot be of this kind.
    """
    with reading_whole(directory, cases_too=output is None) as store:
        claim_of(store)
        refuse_kind(kind, store.spec)
        if output is None:
            _to_stdout(store, kind, thinning)
            return
        if kind == "bin":
            with atomic_write_bytes(output, claim_path(output)) as stream:
                claim = write_binary(store, stream, thinning)
        else:
            with atomic_write(output, claim_path(output)) as text:
                claim = write_text(store, kind, text, thinning)
        write_claim(claim, output)


def _to_stdout(store: Store, kind: str, thinning: Thinning | None) -> None:
    if kind == "bin":
        write_binary(store, sys.stdout.buffer, thinning)
        sys.stdout.buffer.flush()
    else:
        write_text(store, kind, sys.stdout, thinning)
