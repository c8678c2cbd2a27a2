"""Working on a job: what is left of its units, until it is complete or shall stop."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from hrcase.errors import Interrupted, JobMismatch
from hrcase.job.crew import Crew
from hrcase.job.directory import Job
from hrcase.job.progress import Progress, Watcher, progress_at
from hrcase.job.stop import Stop
from hrcase.job.store import Session
from hrcase.job.units import Plan, make_plan, plan_digest
from hrcase.job.walk import Task, Walk
from hrcase.plan import Tuning
from hrcase.toolchain import kernels_digest
from hrcase.version import version
from hrcase.workers import Workers


class Hands(Protocol):
    """Who does the work.

    Attributes:
        in_words: their names.
        progress: how far they are.
        workers: processes of this machine that plan; None where the search has none of them.
    """

    @property
    def in_words(self) -> str: ...

    @property
    def workers(self) -> Workers | None: ...

    progress: Progress | None

    def run(self, task: Task) -> bool:
        """Do units, keep what they give; whether all of them were done."""


class LocalHands:
    """The engines and processes of this machine."""

    def __init__(self, crew: Crew, workers: Workers) -> None:
        self.crew, self.workers, self.in_words = crew, workers, crew.in_words
        self.progress: Progress | None = None

    def run(self, task: Task) -> bool:
        """As Walk.run."""
        walk = Walk(task, self.crew, self.workers)
        try:
            return walk.run()
        finally:
            self.progress = walk.progress


def work_on(
    job: Job, plan: Plan | None, tuning: Tuning, hands: Hands, stop: Stop, watch: Watcher | None
) -> None:
    """Do what is left of a job.

    Args:
        plan: of the job, where it was just made; a job that is resumed is split anew, to see
            whether this program splits it as the one that made it.

    Raises:
        JobMismatch: it does not.
        Interrupted: stopped; all that was done is kept.
        HrcaseError: as `hands.run`; all that was done is kept.
    """
    store = job.store
    plan = plan or _same_plan(job, hands.workers)
    done = store.done()
    cases = {unit.unit: unit.cases for unit in done}
    left = [unit for unit in store.own if unit.number not in cases]
    if not left:
        return
    session = store.begin_session(_session(hands, tuning))
    candidates = sum(unit.counts["candidates"] for unit in done)
    start = progress_at(store.spec, store.own, cases, candidates)
    keep = partial(store.add, session=session)
    task = Task(store.spec, tuning, left, plan.shapes, keep, start, watch, stop)
    try:
        is_done = hands.run(task)
    except KeyboardInterrupt:
        is_done, stop.reason = False, "by Ctrl-C"
    if not is_done:
        kept = hands.progress or start
        raise Interrupted(
            f"stopped {stop.reason}; {kept.units} of {kept.of_units} units are done and kept; to "
            f"go on, run: hrcase resume {job.directory}"
        )


def _same_plan(job: Job, workers: Workers | None) -> Plan:
    plan = make_plan(job.store.spec, workers=workers)
    if plan_digest(plan.pieces, plan.outside) != job.store.plan:
        raise JobMismatch(
            f"hrcase {version()} splits this search in another way than the program that made the "
            f"job {job.directory}, so that their parts do not fit together; use that program, or "
            "search again with --job and a new name"
        )
    return plan


def _session(hands: Hands, tuning: Tuning) -> Session:
    return Session(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
        devices=hands.in_words,
        method=tuning.method + (f" and {tuning.second}" if tuning.second else ""),
        version=version(),
        kernels=kernels_digest(),
    )
