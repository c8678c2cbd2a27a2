"""Files that are there after a power cut, disks that fail, and paths that the system refuses."""

import errno
import os
from pathlib import Path

_FULL_OR_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
_PATH_IS_WRONG = {errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS}


def is_full_or_fails(error: OSError) -> bool:
    """Whether the disk is to blame, and not what was asked for."""
    return error.errno in _FULL_OR_FAILS


def is_path_refused(error: OSError) -> bool:
    """Whether the system refuses the path itself: too long, a loop of links, no permission.

    The disk is not to blame then, and trying again would not help; another path does.
    """
    return error.filename is not None and error.errno in _PATH_IS_WRONG


def sync(path: Path) -> None:
    """Force a file, or the entries of a directory, to the disk. Raises OSError if that fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
