"""hrcase beside another program: the same search, by turns, on one thread.

    python benchmarks/side_by_side.py RIVAL [--runs 5]

RIVAL searches exp as a command that takes the first x, the number of arguments, M - 1, log2 of a
domain and a word that asks for the list; it prints one hexadecimal x a line and, in a last line,
`sec=SECONDS`. The lists are compared before anything is timed. Every program is timed by the
seconds that it states itself, without its start; the best of the runs counts, since whatever else
the machine does can only add to them. The rival runs with several lengths of a domain, and the
ratios are to the best of them: hrcase chooses its length itself.
"""

from __future__ import annotations

import argparse
import csv
import io
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hrcase.formats import format_by_name
from hrcase.hexfloat import parse_number, to_hex
from hrcase.spec import interval

LOW, HIGH, BITS = "0.25", "0.25001", 36
METHODS = ("regular", "lefevre")
RIVAL_DOMAIN_LOG2 = (14, 15, 16)


@dataclass(frozen=True)
class Answer:
    """What one run gave: the arguments, ascending, in hexadecimal; and its own seconds."""

    found: tuple[str, ...]
    seconds: float


def argument_count() -> int:
    """Number of binary64 x with LOW <= x < HIGH."""
    low, high = parse_number(LOW), parse_number(HIGH)
    ((first, end),) = interval(format_by_name("binary64"), low, high, f"{LOW},{HIGH}").ranges
    return end - first


def run_hrcase(method: str) -> Answer:
    """Search with one thread and one of the three-distance tests."""
    options = ["--interval", f"{LOW},{HIGH}", "--bits", str(BITS)]
    options += ["--device", "cpu", "--threads", "1", "--method", method]
    done = run([sys.executable, "-P", "-m", "hrcase.cli", "search", "exp", *options])
    rows = csv.DictReader(io.StringIO(done.stdout))
    return Answer(tuple(row["x"] for row in rows), stated(r"^seconds +([0-9.]+) in all", done))


def run_rival(program: str, domain_log2: int, count: int) -> Answer:
    """The same search with the other program; what it finds beyond HIGH is left out."""
    done = run([program, LOW, str(count), str(BITS - 1), str(domain_log2), "list"])
    numbers = [parse_number(line) for line in done.stdout.splitlines() if line.startswith("0x")]
    found = sorted(x for x in numbers if x < parse_number(HIGH))
    return Answer(tuple(map(to_hex, found)), stated(r"sec=([0-9.]+)", done))


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; stop with its message if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}; give the path of a built rival")
    if done.returncode:
        sys.exit(
            f"{' '.join(command)} failed with exit code {done.returncode}: "
            f"{done.stderr.strip() or 'it says nothing'}; make it work alone first"
        )
    return done


def stated(pattern: str, done: subprocess.CompletedProcess[str]) -> float:
    """The seconds that a program printed."""
    match = re.search(pattern, done.stdout + done.stderr, re.MULTILINE)
    if match is None:
        sys.exit(f"{done.args[0]} did not print {pattern!r}; give a rival that does")
    return float(match[1])


def measure(programs: dict[str, Callable[[], Answer]], runs: int) -> dict[str, float]:
    """Best seconds of each program, run by turns; the first turn only compares what they find."""
    lists = {name: program().found for name, program in programs.items()}
    if len(set(lists.values())) != 1:
        sys.exit(f"the lists differ, so that no time means anything: {lists}; compare them first")
    print(f"{len(next(iter(lists.values())))} cases, the same in every list")
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(runs):
        for name, program in programs.items():
            best[name] = min(best[name], program().seconds)
    return best


def main() -> None:
    """Compare, time and print a line a program."""
    parser = argparse.ArgumentParser(description="hrcase beside a rival: exp, one thread, by turns")
    parser.add_argument("rival", help="the other program, built")
    parser.add_argument("--runs", type=int, default=5, help="how often each is timed")
    options = parser.parse_args()
    count = argument_count()
    programs: dict[str, Callable[[], Answer]] = {
        f"rival, N = 2^{n}": partial(run_rival, options.rival, n, count) for n in RIVAL_DOMAIN_LOG2
    }
    rivals = list(programs)
    programs |= {f"hrcase {method}": partial(run_hrcase, method) for method in METHODS}
    print(f"exp on [{LOW}, {HIGH}), M = {BITS}: {count} arguments; {platform.platform()}")
    best = measure(programs, max(options.runs, 1))
    fastest_rival = min(best[name] for name in rivals)
    for name, seconds in best.items():
        ratio = fastest_rival / seconds
        print(f"{name:15} {seconds:8.3f} s  {count / seconds:.3g} arguments/s  {ratio:.2f} x rival")


if __name__ == "__main__":
    main()
