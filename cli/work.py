"""What the commands that work on jobs share: engines, stopping, progress, the last words."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from hrcase.cli.progress import Watch, write_log
from hrcase.engine import Engine
from hrcase.job.crew import Crew, engines_for
from hrcase.job.directory import LOG, Job, create, open_job, refuse_existing
from hrcase.job.run import Hands, LocalHands, work_on
from hrcase.job.status import status_of
from hrcase.job.stop import Stop
from hrcase.job.units import Plan, make_plan
from hrcase.plan import Tuning, second_method
from hrcase.spec import SearchSpec
from hrcase.workers import Workers

METHODS = ("farey", "regular", "lefevre")
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Means:
    """By what a job is worked on; none of it has a say in the result."""

    method: str
    device: str
    threads: int | None
    max_time: float | None
    cluster: str | None = None
    double_check: bool = False

    @property
    def tuning(self) -> Tuning:
        """What the plan is told."""
        return Tuning(
            method=self.method,
            second=second_method(self.method) if self.double_check else None,
        )

    @property
    def processes(self) -> int:
        """Worker processes on this machine."""
        return self.threads or os.cpu_count() or 1


def means_options(command: Command) -> Command:
    """--method, --device, --threads, --max-time, --cluster and --double-check."""
    for option in (
        click.option(
            "--double-check",
            is_flag=True,
            help="Search everything twice, by the method and by another one (regular, or farey); "
            "stop with exit code 7 where they differ.",
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="Work on a job on a dask cluster: tcp://HOST:PORT, or local:N processes. "
            "Default: here.",
        ),
        click.option(
            "--max-time",
            type=click.FloatRange(min=0),
            metavar="SECONDS",
            help="Stop a job after so long, as Ctrl-C does. Default: no limit.",
        ),
        click.option("--threads", type=click.IntRange(min=1), help="Default: all processors."),
        click.option(
            "--device",
            default="auto",
            help="auto, cpu, cuda:N, cuda:all, or several with commas. Never the result.",
        ),
        click.option(
            "--method",
            type=click.Choice(METHODS),
            default="farey",
            show_default=True,
            help="The Farey walk, or a three-distance test. It never changes the result.",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def engines(device: str, threads: int | None) -> Iterator[list[Engine]]:
    """The engines that --device names; closed at the end."""
    found, notice = engines_for(device, threads)
    if notice is not None:
        click.echo(notice, err=True)
    try:
        yield found
    finally:
        for engine in found:
            engine.close()


def start_job(
    spec: SearchSpec,
    directory: Path,
    most_cases: int,
    means: Means,
    shard: tuple[int, int] = (1, 1),
) -> None:
    """Make a job and work on it until it is complete; raises as `create` and `work_on`."""
    refuse_existing(directory, spec, shard)
    with Workers(means.processes) as workers:
        plan = replace(make_plan(spec, workers=workers), shard=shard)
        plan.refuse_floods(most_cases)
        with closing(create(directory, plan)) as job:
            _work(job, plan, means, workers)
    _tell_complete(directory)


def resume_job(directory: Path, means: Means) -> None:
    """Go on with a job until it is complete; raises as `open_job` and `work_on`."""
    with closing(open_job(directory)) as job, Workers(means.processes) as workers:
        _work(job, None, means, workers)
    _tell_complete(directory)


def _work(job: Job, plan: Plan | None, means: Means, workers: Workers) -> None:
    log = job.directory / LOG
    with (
        _logged(log),
        Stop(means.max_time) as stop,
        _hands(means, log, workers) as hands,
        Watch(sys.stderr, log) as watch,
    ):
        work_on(job, plan, means.tuning, hands, stop, watch.see)


@contextmanager
def _hands(means: Means, log: Path, workers: Workers) -> Iterator[Hands]:
    if means.cluster is not None:
        from hrcase.job.cluster import ClusterHands, connected

        workers.end()
        with connected(means.cluster) as client:
            yield ClusterHands(client, means.device)
        return
    with engines(means.device, means.threads) as found:
        yield LocalHands(Crew(found, partial(_tell_trouble, log)), workers)


@contextmanager
def _logged(log: Path) -> Iterator[None]:
    """A line in the log for the beginning and the end of the work."""
    write_log(log, f"process {os.getpid()} begins")
    try:
        yield
    except BaseException as error:
        write_log(log, f"process {os.getpid()} ends: {error or type(error).__name__}")
        raise
    write_log(log, "complete")


def _tell_complete(directory: Path) -> None:
    status = status_of(directory)
    for line in status.lines():
        click.echo(line, err=True)
    command = f"export {directory} --to csv"
    if status.shard != (1, 1):
        command = f"merge {directory} OTHER-PARTS --job DIR"
    click.echo(f"to have the list, run: hrcase {command}", err=True)


def _tell_trouble(log: Path, line: str) -> None:
    click.echo(line, err=True)
    write_log(log, line)
