"""How far a job is: from its files alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from hrcase.job.directory import ASIDE, is_running, reading
from hrcase.job.identity import Json, in_words
from hrcase.job.progress import progress_at
from hrcase.job.store import Session


@dataclass(frozen=True, slots=True)
class Status:
    """A job at a glance.

    Attributes:
        asks: what is asked, on one line.
        spec: the same as data.
        shard: (I, N): the units that are counted here are part I of N.
        is_running: a process works on it.
        share: of the work that is done, by the cost model, from 0 to 1.
        units, of_units, arguments, of_arguments: done and in all.
        cases, exact: found; exact ones are not listed.
        expected, searched_cases: over the searched units that are done: cases that the law 2w
            predicts, and cases found.
        candidates, rejected: of the kernels, and those too far from a breakpoint.
        seconds: of the kernels, summed over threads and lanes.
        seconds_by_device: the same by device.
        damaged: names of damaged files that were kept aside.
    """

    directory: str
    asks: str
    spec: Json
    shard: tuple[int, int]
    is_complete: bool
    is_running: bool
    share: float
    units: int
    of_units: int
    arguments: int
    of_arguments: int
    cases: int
    exact: int
    searched_cases: int
    expected: float
    candidates: int
    rejected: int
    seconds: float
    seconds_by_device: dict[str, float]
    sessions: list[Session]
    damaged: list[str]

    def to_json(self) -> Json:
        """All of it as data."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """For people: one line a fact."""
        state = "complete" if self.is_complete else f"{100 * self.share:.1f} % done"
        yield f"job       {self.directory}: {state}{', being worked on' * self.is_running}"
        yield f"asks      {self.asks}"
        part = "" if self.shard == (1, 1) else ", those of part {} of {}".format(*self.shard)
        yield f"units     {self.units} of {self.of_units}{part}"
        yield f"arguments {self.arguments:.6g} of {self.of_arguments:.6g}, searched or evaluated"
        yield f"survivors {self.candidates} candidates, {self.rejected} of them too far"
        yield f"cases     {self.cases}, and {self.exact} exact ones that are not listed"
        yield (
            f"expected  {self.expected:.1f} in the searched units that are done, where "
            f"{self.searched_cases} were found"
        )
        by_device = ", ".join(f"{name} {s:.2f}" for name, s in self.seconds_by_device.items())
        yield f"seconds   {self.seconds:.2f} of kernels{f' ({by_device})' if by_device else ''}"
        yield f"sessions  {len(self.sessions)}"
        for session in self.sessions[-3:]:
            yield (
                f"          {session.started} on {session.host}: {session.devices}, "
                f"{session.method}, hrcase {session.version}, kernels {session.kernels[:12]}"
            )
        for name in self.damaged:
            yield f"damaged   {name}"


def status_of(directory: Path) -> Status:
    """Look at a job.

    Raises:
        InputError: there is none.
        CorruptState: it is damaged.
    """
    running = is_running(directory)
    with reading(directory) as store:
        done = store.done()
        at = progress_at(store.spec, store.own, {unit.unit: unit.cases for unit in done})
        seconds: dict[str, float] = {}
        for unit in done:
            if unit.device:
                seconds[unit.device] = seconds.get(unit.device, 0.0) + unit.seconds
        return Status(
            directory=str(directory),
            asks=in_words(store.spec_json),
            spec=store.spec_json,
            shard=store.shard,
            is_complete=at.units == at.of_units,
            is_running=running,
            share=at.done / at.total if at.total else 1.0,
            units=at.units,
            of_units=at.of_units,
            arguments=at.arguments,
            of_arguments=at.of_arguments,
            cases=sum(unit.cases for unit in done),
            exact=sum(unit.all_exact for unit in done),
            searched_cases=at.cases,
            expected=at.expected,
            candidates=sum(unit.counts["candidates"] for unit in done),
            rejected=sum(unit.rejected for unit in done),
            seconds=sum(seconds.values()),
            seconds_by_device=seconds,
            sessions=store.sessions(),
            damaged=sorted(path.name for path in directory.glob(ASIDE + "*")),
        )
