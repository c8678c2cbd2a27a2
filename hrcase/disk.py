"""Files that are there after a power cut, and disks that are full or fail."""

import errno
import os
from pathlib import Path

_FULL_OR_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}


def is_full_or_fails(error: OSError) -> bool:
    """Whether the disk is to blame, and not what was asked for."""
    return error.errno in _FULL_OR_FAILS


def sync(path: Path) -> None:
    """Force a file, or the entries of a directory, to the disk. Raises OSError if that fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
