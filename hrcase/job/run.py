"""Working on a job: what is left of its units, until it is complete or shall stop."""

from __future__ import annotations

import hashlib
import socket
from datetime import UTC, datetime
from functools import partial

from hrcase.errors import Interrupted, JobMismatch
from hrcase.job.crew import Crew
from hrcase.job.directory import Job
from hrcase.job.stop import Stop
from hrcase.job.store import Session
from hrcase.job.units import Plan, make_plan, plan_digest
from hrcase.job.walk import Walk, Watcher, progress_at
from hrcase.plan import Tuning
from hrcase.toolchain import source_directory
from hrcase.version import version
from hrcase.workers import Workers


def work_on(
    job: Job,
    plan: Plan | None,
    method: str,
    crew: Crew,
    workers: Workers,
    stop: Stop,
    watch: Watcher | None,
) -> None:
    """Do what is left of a job.

    Args:
        plan: of the job, where it was just made; a job that is resumed is split anew, to see
            whether this program splits it as the one that made it.

    Raises:
        JobMismatch: it does not.
        Interrupted: stopped; all that was done is kept.
        HrcaseError: as Walk.run; all that was done is kept.
    """
    store = job.store
    plan = plan or _same_plan(job)
    done = store.done()
    cases = {unit.unit: unit.cases for unit in done}
    left = [unit for unit in store.own if unit.number not in cases]
    if not left:
        return
    session = store.begin_session(_session(crew, method))
    candidates = sum(unit.counts["candidates"] for unit in done)
    start = progress_at(store.spec, store.own, cases, candidates)
    keep = partial(store.add, session=session)
    walk = Walk(store.spec, Tuning(method=method), crew, workers, keep, start, watch, stop)
    try:
        is_done = walk.run(left, plan.shapes)
    except KeyboardInterrupt:
        is_done, stop.reason = False, "by Ctrl-C"
    if not is_done:
        kept = walk.progress
        raise Interrupted(
            f"stopped {stop.reason}; {kept.units} of {kept.of_units} units are done and kept; to "
            f"go on, run: hrcase resume {job.directory}"
        )


def _same_plan(job: Job) -> Plan:
    plan = make_plan(job.store.spec)
    if plan_digest(plan.pieces, plan.outside) != job.store.plan:
        raise JobMismatch(
            f"hrcase {version()} splits this search in another way than the program that made the "
            f"job {job.directory}, so that their parts do not fit together; use that program, or "
            "search again with --job and a new name"
        )
    return plan


def _session(crew: Crew, method: str) -> Session:
    return Session(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=socket.gethostname(),
        devices=crew.in_words,
        method=method,
        version=version(),
        kernels=kernels_digest(),
    )


def kernels_digest() -> str:
    """SHA-256 over the sources of the kernels."""
    total = hashlib.sha256()
    for path in sorted(source_directory().iterdir()):
        if path.is_file():
            data = path.read_bytes()
            total.update(f"{path.name} {len(data)} ".encode() + data)
    return total.hexdigest()
