"""The tables of a job's file, and what SQLite's errors mean for it.

SQLite's pages carry no checksum. Here every row is covered by a digest: tables that never change by
one over the whole table, in `about`; sessions and finished units by one of their own; the cases of
a unit by one in the unit's row. A rollback journal with synchronous=EXTRA: docs/jobs.md says why.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hrcase.errors import CorruptState, ExportError, HrcaseError, JobMismatch, TryAgain

VERSION = 2
APPLICATION_ID = 0x68726331  # "hrc1"
BUSY_SECONDS = 60.0

TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT, digest TEXT) WITHOUT ROWID",
    "CREATE TABLE piece (number INTEGER PRIMARY KEY, lo TEXT, hi TEXT, rule TEXT, key INTEGER,"
    " settlement TEXT)",
    "CREATE TABLE outside (number INTEGER PRIMARY KEY, lo TEXT, hi TEXT, reason TEXT)",
    "CREATE TABLE unit (number INTEGER PRIMARY KEY, lo TEXT, hi TEXT, rule TEXT, key INTEGER,"
    " work REAL)",
    "CREATE TABLE session (number INTEGER PRIMARY KEY, started TEXT, host TEXT, devices TEXT,"
    " method TEXT, version TEXT, kernels TEXT, digest TEXT)",
    "CREATE TABLE done (unit INTEGER PRIMARY KEY, session INTEGER, device TEXT, seconds REAL,"
    " counts TEXT, rejected INTEGER, cases INTEGER, exact INTEGER, blocks TEXT, candidates TEXT,"
    " found TEXT, digest TEXT)",
    "CREATE TABLE hard_case (unit INTEGER, place INTEGER, x TEXT, y_nearest TEXT, breakpoint TEXT,"
    " side TEXT, log2_distance TEXT, distance_ulp TEXT, identical_bits TEXT,"
    " PRIMARY KEY (unit, place)) WITHOUT ROWID",
    "CREATE TABLE exact_case (unit INTEGER, place INTEGER, ordinal TEXT,"
    " PRIMARY KEY (unit, place)) WITHOUT ROWID",
)
"""Ordinals are text: those of the x87 format need 80 bits."""

_TRY_AGAIN = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
}
_NOT_ALLOWED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


def connect(path: Path) -> sqlite3.Connection:
    """Open a file that exists; to read only, where it may not be written."""
    uri = f"{path.resolve().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # A byte that went wrong must not stop the digest from being taken.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection


def create(path: Path) -> sqlite3.Connection:
    """An empty file of jobs."""
    path.touch()
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    with transaction(connection):
        for table in TABLES:
            connection.execute(table)
    return connection


def check_header(path: Path) -> None:
    """Raises CorruptState when the file has no rollback journal; it is not opened for that."""
    with open(path, "rb") as stream:
        header = stream.read(20)
    if header[18:] != b"\x01\x01":
        raise CorruptState(f"{path} is damaged or is not a file of jobs: see bytes 18 and 19")


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Look at what kind of file it is.

    Raises:
        CorruptState: it is no file of jobs, or its tables are not these.
        JobMismatch: an earlier version made it.
    """
    ((application,),) = connection.execute("PRAGMA application_id")
    ((version,),) = connection.execute("PRAGMA user_version")
    tables = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
    if application == APPLICATION_ID and 1 <= version < VERSION:
        raise JobMismatch(
            f"{path} was made by an earlier hrcase, with schema {version}; this one has schema "
            f"{VERSION}; use the version that made it, or search again in a new directory"
        )
    if application != APPLICATION_ID or version != VERSION or tables != set(TABLES):
        raise CorruptState(f"{path} is damaged or is not a file of jobs of schema {VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """All that is done inside, or nothing of it."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.ProgrammingError):  # closed while a reader had not read to the end
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def _may_write(path: Path) -> bool:
    """Whether a file and its directory are there, to be written by us."""
    return os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


@contextmanager
def own_errors(path: Path) -> Iterator[None]:
    """SQLite's errors in our words.

    Raises:
        TryAgain: the disk is full or fails, or another process holds the file for long.
        ExportError: the file may not be read or written.
        CorruptState: anything else: the file is damaged.
    """
    try:
        yield
    except HrcaseError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ
        # It also says "cannot open" where the disk has no room for a journal.
        is_allowed = code & 0xFF == sqlite3.SQLITE_CANTOPEN and _may_write(path)
        if (code & 0xFF in _TRY_AGAIN and not is_short) or is_allowed:
            raise TryAgain(
                f"cannot use {path}: {error}; what was kept before is safe; free space or mend the "
                f"disk, then run: hrcase resume {path.parent}"
            ) from error
        if code & 0xFF in _NOT_ALLOWED:
            raise ExportError(
                f"cannot use {path}: {error}; give yourself the right to read and write "
                f"{path.parent} and the files in it"
            ) from error
        raise CorruptState(f"{path} is damaged: {error}") from error
    except (UnicodeError, OverflowError) as error:  # of what SQLite says, or holds
        raise CorruptState(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise TryAgain(f"cannot use {path}: {error.strerror}; mend that and try again") from error
