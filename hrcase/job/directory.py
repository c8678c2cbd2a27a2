"""A job's directory: there as a whole or not at all, one writer, damaged files kept aside.

DIR/job.sqlite   the job (hrcase.job.store)
DIR/lock         held by the process that works on it; the lock ends with its process
DIR/log          what was said, a line a minute
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from hrcase.disk import is_path_refused, sync
from hrcase.errors import CorruptState, HrcaseError, InputError, JobMismatch, TryAgain
from hrcase.job.identity import Json, in_words, is_same, spec_to_json
from hrcase.job.store import Store
from hrcase.job.units import Plan
from hrcase.spec import SearchSpec

FILE, LOCK, LOG = "job.sqlite", "lock", "log"
ASIDE, MADE = FILE + ".damaged-", FILE + ".new"
_NOTHING_LEFT = "nothing of it could be taken over; search again with --job and a new name"


class Job:
    """A job that this process works on: it holds the lock."""

    def __init__(self, directory: Path, lock: BinaryIO, store: Store) -> None:
        self.directory, self.store, self._lock = directory, store, lock

    def close(self) -> None:
        """Let go of the file and of the lock."""
        self.store.close()
        self._lock.close()


def refuse_existing(directory: Path, spec: SearchSpec, shard: tuple[int, int] = (1, 1)) -> None:
    """Raises JobMismatch when there is a job at this place, whatever it asks."""
    if not (directory / FILE).exists():
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InputError(
                f"{directory} exists and is no job; a job gets a directory of its own; give --job "
                "with a new name"
            )
        return
    with reading(directory) as store:
        kept, of_kept = store.spec_json, store.shard
    asked = spec_to_json(spec)
    if is_same(kept, asked) and of_kept == shard:
        raise JobMismatch(
            f"the job {directory} exists already and asks the same; to go on with it, run: hrcase "
            f"resume {directory}"
        )
    raise JobMismatch(
        f"the job {directory} exists already and asks something else. It asks: {in_words(kept)}"
        f"{_part(of_kept)}. You ask: {in_words(asked)}{_part(shard)}. Give --job with "
        f"a new name, or run: hrcase resume {directory}"
    )


def _part(shard: tuple[int, int]) -> str:
    return "" if shard == (1, 1) else ", --shard {}/{}".format(*shard)


def spec_kept(directory: Path) -> Json:
    """What the job at this place asks, as `spec_to_json` writes it."""
    with reading(directory) as store:
        return store.spec_json


def create(directory: Path, plan: Plan, fill: Callable[[Store], None] | None = None) -> Job:
    """Make a job beside its place and rename it, with the lock held from the beginning.

    Args:
        fill: puts into it what it shall hold when it appears.

    Raises:
        TryAgain: another process makes it at this moment; the disk is full or fails.
        JobMismatch: it exists.
        InputError: its place cannot be written, or is taken.
    """
    refuse_existing(directory, plan.spec, plan.shard)
    made = directory.parent / f".{directory.name}.new"
    if not directory.parent.is_dir():
        raise InputError(
            f"cannot make the job {directory}: {directory.parent} does not exist; run: mkdir -p "
            f"{directory.parent}"
        )
    with ExitStack() as on_error, disk_errors(directory):
        made.mkdir(exist_ok=True)
        lock = on_error.enter_context(_lock(made, directory))
        for left in made.iterdir():  # of a process that was killed
            if left.name != LOCK:
                left.unlink()
        Store.create(made / FILE, plan)
        if fill is not None:
            with closing(Store(made / FILE)) as store:
                fill(store)
        sync(made)
        os.rename(made, directory)
        sync(directory.parent)
        job = Job(directory, lock, Store(directory / FILE))
        on_error.pop_all()
        return job


def open_job(directory: Path) -> Job:
    """Open a job to go on with it, all that it holds being checked.

    Raises:
        InputError: there is no job.
        TryAgain: another process works on it.
        CorruptState: it was damaged; the file is kept aside, what is sound of it was taken over.
        JobMismatch: another registry made it.
    """
    require_job(directory)
    with ExitStack() as on_error:
        with disk_errors(directory):
            lock = on_error.enter_context(_lock(directory, directory))
            if not (directory / FILE).exists():  # a crash while a damaged file was replaced
                _finish_taking_over(directory)
        try:
            job = Job(directory, lock, verified(directory))
        except CorruptState as error:
            raise CorruptState(f"{error}; {_set_aside(directory)}") from error
        on_error.pop_all()
        return job


def verified(directory: Path) -> Store:
    """The file of a job, all that it holds having been checked."""
    store = Store(directory / FILE)
    try:
        _ = store.spec  # an entry of the registry that has changed is said before all is read
        store.verify()
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def reading(directory: Path, whole: bool = False) -> Iterator[Store]:
    """The file of a job, to read it only; others may be at work.

    Args:
        whole: check all that it holds before.

    Raises:
        InputError: there is no job.
        CorruptState: it is damaged.
    """
    require_job(directory)
    try:
        with closing(verified(directory) if whole else Store(directory / FILE)) as store:
            yield store
    except CorruptState as error:
        raise CorruptState(f"{error}; to mend it, run: hrcase resume {directory}") from error


def require_job(directory: Path) -> None:
    """Raises InputError when there is no job at this place, CorruptState when nothing is left."""
    if (directory / FILE).is_file():
        return
    aside = sorted(directory.glob(ASIDE + "*"))
    if aside and not (directory / MADE).is_file():
        raise CorruptState(
            f"{directory / FILE} was damaged, is kept as {aside[-1]}; {_NOTHING_LEFT}"
        )
    if not aside:
        raise InputError(
            f"{directory} is no job: there is no {FILE} in it; run: hrcase search FUNCTION ... "
            f"--job {directory}"
        )


def is_running(directory: Path) -> bool:
    """Whether a process works on the job."""
    try:
        with open(directory / LOCK, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _set_aside(directory: Path) -> str:
    """Keep a damaged file aside and take over what is sound of it; what was done, for the user.

    The new file is whole before the damaged one is renamed, so that a crash loses neither.
    """
    file, made = directory / FILE, directory / MADE
    number = len(list(directory.glob(ASIDE + "*"))) + 1
    aside = directory / f"{ASIDE}{number}"
    with disk_errors(directory):
        made.unlink(missing_ok=True)
        taken = _take_over(file, made)
        for suffix in ("-journal", ""):
            if Path(f"{file}{suffix}").exists():
                os.rename(f"{file}{suffix}", f"{aside}{suffix}")
        sync(directory)
        if taken is not None:
            _finish_taking_over(directory)
            return f"it is kept as {aside}, and {taken}; run: hrcase resume {directory}"
    return f"it is kept as {aside}; {_NOTHING_LEFT}"


def plan_of(store: Store) -> Plan:
    """The plan that a job was made of."""
    return Plan(store.spec, store.pieces, store.outside, store.units, store.shard)


def _take_over(file: Path, made: Path) -> str | None:
    """Write what is sound of a damaged file to a new one; None where that is nothing."""
    with ExitStack() as opened:
        try:
            damaged = opened.enter_context(closing(Store(file)))
            plan = plan_of(damaged)
        except CorruptState:
            return None
        Store.create(made, plan)
        with closing(Store(made)) as store:
            count = store.copy_sound(damaged)
        return f"{count} of {len(plan.units)} units, which are sound, were taken over"


def _finish_taking_over(directory: Path) -> None:
    os.rename(directory / MADE, directory / FILE)
    sync(directory)


def _lock(directory: Path, job: Path) -> BinaryIO:
    """The lock of a directory that exists; held until the file is closed, or the process ends."""
    path = directory / LOCK
    with ExitStack() as on_error:
        file = on_error.enter_context(open(path, "a+b"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever made the job may have renamed it in the meantime.
            is_here = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())
        except BlockingIOError:
            is_here = False
        if not is_here:
            file.seek(0)
            holder = file.read(200).decode("utf-8", "replace").strip()
            raise TryAgain(
                f"another process works on the job {job}{f' ({holder})' if holder else ''}; wait "
                "for it, or stop it with Ctrl-C or SIGTERM; to look at the job, run: hrcase status "
                f"{job}"
            )
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        file.flush()
        on_error.pop_all()
        return file


@contextmanager
def disk_errors(directory: Path) -> Iterator[None]:
    """What the system says of a place for jobs, in our words.

    Raises:
        InputError: it may not be written.
        TryAgain: the disk is full or fails.
    """
    try:
        yield
    except HrcaseError:
        raise
    except OSError as error:
        if is_path_refused(error):
            raise InputError(
                f"cannot write the job {directory}: {error.strerror}; give a short name in a place "
                "that you may write"
            ) from error
        raise TryAgain(
            f"cannot write the job {directory}: {error.strerror}; free space or mend the disk and "
            "run the same command again"
        ) from error
