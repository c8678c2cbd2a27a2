"""Files that are there after a power cut."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Force a file, or the entries of a directory, to the disk. Raises OSError if that fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
