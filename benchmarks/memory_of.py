"""Memory of a command and all that it starts: python benchmarks/memory_of.py hrcase ...

Four times a second it adds up the proportional set sizes of these processes (a page that n of them
share counts 1/n to each; /proc/PID/smaps_rollup), and their resident set sizes, which count such a
page n times. At the end it prints the highest of either sum, the wall time, and the processor time.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

EVERY = 0.25
"""Seconds between two looks."""


def main() -> int:
    """Run the command; its exit code."""
    if len(sys.argv) < 2:
        print("which command? python benchmarks/memory_of.py COMMAND ...", file=sys.stderr)
        return 2
    started, peaks = time.monotonic(), {"Pss": 0, "Rss": 0}
    with subprocess.Popen(sys.argv[1:]) as process:
        while process.poll() is None:
            looks = [kilobytes(pid) for pid in with_children(process.pid)]
            for name in peaks:
                peaks[name] = max(peaks[name], sum(look.get(name, 0) for look in looks))
            time.sleep(EVERY)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"memory    {peaks['Pss'] / 1024:.0f} MiB at most (Rss, shared pages counted in each "
        f"process: {peaks['Rss'] / 1024:.0f}); {time.monotonic() - started:.1f} s, "
        f"{used.ru_utime + used.ru_stime:.1f} s of processors",
        file=sys.stderr,
    )
    return process.returncode


def with_children(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in read(f"/proc/{pid}/task", os.listdir):
        for child in read(f"/proc/{pid}/task/{task}/children", lines):
            for one in child.split():
                yield from with_children(int(one))


def kilobytes(pid: int) -> dict[str, int]:
    """The sums of /proc/PID/smaps_rollup; none of a process that has ended."""
    fields = (line.split() for line in read(f"/proc/{pid}/smaps_rollup", lines))
    return {name.rstrip(":"): int(size) for name, size, unit, *_ in fields if unit == "kB"}


def lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def read(path: str, how: Callable[[str], list[str]]) -> list[str]:
    """What a path of /proc holds, by lines or by names; nothing when the process has ended."""
    try:
        return how(path)
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
