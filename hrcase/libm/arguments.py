"""Which arguments a library is asked at: those of a list, those of a job, or a sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hrcase.errors import InputError
from hrcase.export.reader import CaseList, Entry, read_list
from hrcase.formats import Format, format_by_name
from hrcase.hexfloat import parse_number
from hrcase.job.directory import reading
from hrcase.roundings import Number, number_of
from hrcase.sample import Distances, sample
from hrcase.spec import SearchSpec, everything

SAMPLE_HARDEST = 30
SAMPLE_COUNT = 360
SAMPLE_SEED = 1
DEFAULT_FORMAT = "binary64"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What to ask a library at.

    Attributes:
        form: the format of the numbers.
        numbers: the arguments, in the order of the list.
        source: where they come from, in words.
        left_out: what else the list has, in words: nothing is passed over in silence.
    """

    form: Format
    numbers: list[Number]
    source: str
    left_out: tuple[str, ...] = ()


def drawn(function: str, form: Format) -> Arguments:
    """A sample of arguments all over the domain, always the same one; raises as `sample`."""
    distances = Distances.usual(form, SAMPLE_HARDEST)
    spec = SearchSpec(function, form, form, distances.easiest, "all", everything(form))
    cases = sample(spec, distances, SAMPLE_COUNT, SAMPLE_SEED).cases
    source = (
        f"a sample, as of: hrcase sample {function} --format {form.name} --distance {distances} "
        f"--count {SAMPLE_COUNT} --seed {SAMPLE_SEED}"
    )
    return Arguments(form, [number_of(form, case.x) for case in cases], source)


def listed(path: Path, function: str, form: Format | None) -> Arguments:
    """The arguments of a file (.csv, .wc, .bin, else BaCSeL's output), or of a job's directory.

    A list has one zero only: it is asked for with both signs. Entries that are no numbers of the
    format are left out: published lists have some with a bit too many. Of a job that is not
    complete what it has so far is taken.

    Args:
        form: of the numbers; None for the one that the list states, else DEFAULT_FORMAT.

    Raises:
        InputError: it cannot be read, or is of another function, or has no number of the format.
        CorruptState: the job is damaged.
    """
    cases = _of_job(path) if path.is_dir() else read_list(path)
    if cases.function not in (None, function):
        raise InputError(
            f"{path} is a list of {cases.function}, not of {function}; give another list, or type "
            f"hrcase libm {cases.function}"
        )
    if form is None:
        form = format_by_name(cases.format_name or DEFAULT_FORMAT)
    numbers, strange = _split(cases.entries, form)
    left_out = []
    if cases.skipped:
        left_out.append(f"{cases.skipped} not finite")
    if strange:
        first = f"{path}:{strange[0].line}"
        if not numbers:
            raise InputError(
                f"{first}: this is no number of {form.name}, nor is any other there; give the "
                "--format of the list"
            )
        left_out.append(f"{len(strange)} no number of {form.name}, the first at {first}")
    return Arguments(form, numbers, str(path), tuple(left_out))


def _split(entries: tuple[Entry, ...], form: Format) -> tuple[list[Number], list[Entry]]:
    """The numbers of the format, and the entries that are none."""
    numbers, strange = [], []
    for entry in entries:
        try:
            number = number_of(form, entry.x)
        except InputError:
            strange.append(entry)
            continue
        numbers.append(number)
        if number.magnitude == 0:
            numbers.append(Number(True, 0))
    return numbers, strange


def _of_job(directory: Path) -> CaseList:
    with reading(directory) as store:
        entries = tuple(
            Entry(parse_number(row[0]), None, place) for place, row in enumerate(store.rows(), 1)
        )
        spec = store.spec
    return CaseList(directory, entries, 0, spec.function_name, spec.inp.name)
