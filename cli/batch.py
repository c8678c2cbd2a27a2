"""hrcase batch: several searches, one after another, resumable as a whole."""

import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from hrcase.asked import spec_of
from hrcase.cli.work import Means, means_options, resume_job, start_job
from hrcase.errors import InputError, Interrupted, JobMismatch
from hrcase.functions import REGISTRY
from hrcase.job.directory import FILE, disk_errors, spec_kept
from hrcase.job.identity import in_words, is_same, spec_to_json
from hrcase.job.status import status_of
from hrcase.memory import DEFAULT_MOST_CASES
from hrcase.spec import SearchSpec

EVERY = "every"
OPTIONS = {
    "interval": "interval_text",
    "exponent-range": "exponents",
    "sign": "sign",
    "format": "input_name",
    "output-format": "output_name",
    "bits": "bits",
    "rounding": "rounding",
}
"""Keys of a search in a batch, and what `spec_of` calls them."""

LONGEST_NAME = 200
"""Of a job, in bytes: file systems take 255, and a job has a longer name while it is made."""

KEYS = {*OPTIONS, "function", "name", "max-cases"}


@dataclass(frozen=True)
class Search:
    """One search of a batch; `name` is that of its job's directory."""

    name: str
    spec: SearchSpec
    most_cases: int


@click.command(name="batch")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--jobs",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the jobs are, a directory each. Default: FILE without its suffix, here.",
)
@means_options
def command(file: Path, directory: Path | None, **given: Any) -> None:
    """Do the searches of FILE, a TOML file, in their order; each becomes a job.

    The same command goes on after a stop: jobs that are complete are passed over, the others are
    resumed or made. docs/jobs.md describes FILE.
    """
    searches = read_batch(file)
    jobs = directory or Path(file.stem)
    for search in searches:
        _require_same(jobs / search.name, search)
    with disk_errors(jobs):
        jobs.mkdir(parents=True, exist_ok=True)
    means = Means(**given)
    deadline = None if means.max_time is None else time.monotonic() + means.max_time
    for number, search in enumerate(searches, 1):
        if deadline is not None:
            means = replace(means, max_time=max(0.0, deadline - time.monotonic()))
        click.echo(f"{number} of {len(searches)}: {search.name}", err=True)
        try:
            _go_on(jobs / search.name, search, means)
        except Interrupted as error:
            what = str(error).partition("; to go on")[0]
            again = f"hrcase batch {file} --jobs {jobs}"
            raise Interrupted(f"{search.name}: {what}; to go on, run: {again}") from None


def _go_on(directory: Path, search: Search, means: Means) -> None:
    if not (directory / FILE).exists():
        start_job(search.spec, directory, search.most_cases, means)
    elif not status_of(directory).is_complete:
        resume_job(directory, means)
    else:
        click.echo(f"{search.name} is complete", err=True)


def _require_same(directory: Path, search: Search) -> None:
    """Raises JobMismatch when there is a job of this name that asks something else."""
    if (directory / FILE).exists():
        kept, asked = spec_kept(directory), spec_to_json(search.spec)
        if not is_same(kept, asked):
            raise JobMismatch(
                f"the job {directory} asks: {in_words(kept)}; the batch asks: {in_words(asked)}; "
                "give --jobs with another directory, or rename the search in the batch"
            )


def read_batch(file: Path) -> list[Search]:
    """The searches of a TOML file: tables `[[search]]`, with what `[defaults]` gives them all.

    Raises:
        InputError: the file or a search of it is wrong.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # numbers too long, tables too deep
        raise InputError(f"cannot read {file}: {error}; correct it as TOML") from error
    tables, defaults = data.pop("search", []), data.pop("defaults", {})
    is_batch = isinstance(tables, list) and isinstance(defaults, dict) and tables and not data
    if not is_batch or not all(isinstance(table, dict) for table in tables):
        raise InputError(
            f"{file} is no batch: it needs tables [[search]], may have a table [defaults], and "
            "nothing else; see docs/jobs.md"
        )
    searches = [one for table in tables for one in _searches(file, {**defaults, **table})]
    names = [search.name for search in searches]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{file} has two searches called {name!r}; give each a name = ...")
    return searches


def _searches(file: Path, table: dict[str, Any]) -> Iterator[Search]:
    """The searches of a table: one, or one a function."""
    unknown = sorted(set(table) - KEYS)
    if unknown or not isinstance(table.get("function"), str):
        what = f"does not know the key {unknown[0]!r}" if unknown else "needs function = ..."
        raise InputError(f"{file}: a search {what}; its keys are {', '.join(sorted(KEYS))}")
    function = table["function"]
    for one in REGISTRY if function == EVERY else (function,):
        name = table.get("name", one)
        if function == EVERY and "name" in table:
            name = f"{name}-{one}"
        if not isinstance(name, str) or not _names_a_directory(name):
            raise InputError(f"{file}: {name!r} cannot name a directory; give another name = ...")
        most = table.get("max-cases", DEFAULT_MOST_CASES)
        options = {OPTIONS[key]: table[key] for key in OPTIONS if key in table}
        _require_types(file, options, most)
        yield Search(name, spec_of(one, **options), most)


def _names_a_directory(name: str) -> bool:
    """On every file system, with what is put before and after it while a job is made."""
    is_short = 0 < len(name.encode()) <= LONGEST_NAME
    return is_short and name.isprintable() and "/" not in name and not name.startswith(".")


def _require_types(file: Path, options: dict[str, Any], most: object) -> None:
    for name, value in (*options.items(), ("bits", most)):
        kind = int if name == "bits" else str
        if not isinstance(value, kind) or isinstance(value, bool):
            word = "an integer" if kind is int else "a text in quotes"
            raise InputError(f"{file}: {value!r} should be {word}; write it so")
