"""Programs on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence


def run(command: Sequence[str], columns: int, **variables: str) -> tuple[int, str]:
    """The exit code of a program, and all that a terminal of so many columns gets of it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    environment |= {"TERM": "xterm-256color", **variables}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += (more := os.read(ours, 1 << 16))
            except OSError:  # the other side is closed
                break
            if not more:
                break
    os.close(ours)
    return process.returncode, shown.decode()


def without_codes(text: str) -> str:
    """The text without what moves the cursor or colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def has_colours(text: str) -> bool:
    """Whether a code sets a colour."""
    return re.search(r"\x1b\[[0-9;]*3[0-9]", text) is not None
