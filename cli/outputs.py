"""Where lists go: FILE.csv, FILE.wc or FILE.bin, each with its claim beside it."""

import json
import sys
from pathlib import Path

from hrcase.claim import Claim
from hrcase.cli.errors import UsageError
from hrcase.export import atomic_write, atomic_write_bytes, check_writable
from hrcase.job.directory import reading
from hrcase.job.export import claim_of, refuse_wide, write_binary, write_text
from hrcase.job.store import Store

SUFFIXES = (".csv", ".wc")


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


def export_job(directory: Path, kind: str, output: Path | None) -> None:
    """Write the list of a complete job: to stdout, or to a file with its claim beside it.

    Everything is checked before the first byte is written.

    Raises:
        Interrupted: the job is not complete.
        CorruptState: it is damaged.
        InputError: there is no such job, or its list cannot be of this kind.
    """
    with reading(directory, whole=True) as store:
        claim = claim_of(store)
        if kind == "bin":
            refuse_wide(store.spec.inp)
        if output is None:
            _to_stdout(store, kind)
            return
        if kind == "bin":
            with atomic_write_bytes(output) as stream:
                write_binary(store, stream)
        else:
            with atomic_write(output) as text:
                write_text(store, kind, text)
        write_claim(claim, output)


def _to_stdout(store: Store, kind: str) -> None:
    if kind == "bin":
        write_binary(store, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        write_text(store, kind, sys.stdout)
