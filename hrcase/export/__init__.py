"""Writing results: whole files or none.

A search may take days; its result must not be lost to a full disk, nor half a file be taken for a
complete list.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar

from hrcase.disk import is_full_or_fails, is_path_refused, sync
from hrcase.errors import ExportError, TryAgain

Stream = TypeVar("Stream", TextIO, BinaryIO)


def check_writable(path: str | Path) -> None:
    """Refuse an output path now rather than at the end of a long search.

    Raises ExportError when the directory is missing or not writable, when the name is too long, or
    when `path` is something that a rename must not replace (a directory, a device, a pipe).
    """
    target = Path(os.path.realpath(path))
    try:
        target.stat()
    except OSError as error:  # that there is no such file is no error
        if is_path_refused(error):
            raise ExportError(
                f"cannot write {path}; {error.strerror}; give a shorter output path, or one in "
                "another directory"
            ) from error
    if not target.parent.is_dir():
        raise ExportError(
            f"cannot write {path}; the directory {target.parent} does not exist; "
            f"run: mkdir -p {target.parent}"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ExportError(
            f"cannot write {path}; no permission to write in {target.parent}; "
            "give an output path in another directory"
        )
    if target.exists() and not target.is_file():
        raise ExportError(
            f"cannot write {path}; it is not a regular file; "
            "give the name of a file, new or to be replaced"
        )


def atomic_write(path: str | Path, outdated: Path | None = None) -> AbstractContextManager[TextIO]:
    """Open a text stream whose content stands at `path` at the end of the block, or not at all.

    The text goes to a temporary file in the same directory, is forced to the disk, and is renamed
    over `path`; the directory is forced to the disk last, since the rename lives there. When the
    block raises, the temporary file is removed and an earlier file at `path` stays as it was.
    Lines end in '\\n' on every system.

    Args:
        outdated: a file that says something of the earlier content; it is removed just before the
            rename, so that it never stands beside the new content.

    Raises:
        ExportError: the file cannot be written there.
        TryAgain: the disk is full or fails.
    """
    return _atomic(path, outdated, lambda new: open(new, "x", encoding="utf-8", newline="\n"))


def atomic_write_bytes(
    path: str | Path, outdated: Path | None = None
) -> AbstractContextManager[BinaryIO]:
    """As `atomic_write`, for bytes."""
    return _atomic(path, outdated, lambda new: open(new, "xb"))


@contextmanager
def _atomic(
    path: str | Path, outdated: Path | None, open_new: Callable[[Path], Stream]
) -> Iterator[Stream]:
    check_writable(path)
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".hrcase-{secrets.token_hex(8)}.tmp"
    try:
        with open_new(temporary) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if outdated is not None:
            outdated.unlink(missing_ok=True)
            sync(outdated.parent)
        os.replace(temporary, target)
        sync(target.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError) or isinstance(error, ExportError | BrokenPipeError):
            raise
        kind = TryAgain if is_full_or_fails(error) else ExportError
        raise kind(
            f"cannot write {path}; {error.strerror or error}; "
            "free space there or give another output path"
        ) from error
