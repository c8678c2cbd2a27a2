"""When a job shall stop: Ctrl-C, SIGTERM, or the end of its time."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from hrcase.errors import Interrupted

ONE_SIGNAL = 0.3
"""Signals that follow the first one so soon, in seconds, are the same: timeout(1) sends two."""

Handler = Callable[[int, FrameType | None], Any] | int | None
"""What signal.signal takes and gives."""

SHOW_CURSOR = "\x1b[?25h"


class Stop:
    """Asked by a walk whether it shall stop. As a context: signals are taken by it.

    The first Ctrl-C or SIGTERM lets what is in flight be finished and kept. The second ends the
    process at once: what was kept is on the disk.

    Attributes:
        reason: why it shall stop; "" where it shall not.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.reason = ""
        self._seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._before: dict[int, Handler] = {}
        self._taken_at = 0.0

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether to stop."""
        if self._deadline is not None and time.monotonic() > self._deadline and not self.reason:
            self.reason = f"after {self._seconds:g} seconds (--max-time)"
        return bool(self.reason)

    def _take(self, number: int, frame: FrameType | None) -> None:
        name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
        now = time.monotonic()
        if self._taken_at and now - self._taken_at < ONE_SIGNAL:
            return
        if self.reason:
            cursor = SHOW_CURSOR if sys.stderr.isatty() else ""
            os.write(2, f"{cursor}\nhrcase: stopped at once by {name}\n".encode())
            os._exit(Interrupted.exit_code)
        self.reason, self._taken_at = f"by {name}", now
        os.write(2, b"\nfinishing what is in flight; once more to stop at once\n")
