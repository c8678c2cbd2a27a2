"""Lines of the certified exp tables: hrcase against a direct scan of their difference table.

    PYTHONPATH=tests python benchmarks/table_lines.py [--log2-n 30]

Makes lines from exp's Taylor polynomial (tests/brute/tables.py), builds the scan (table_scan.c)
for their shape, runs both, one thread each, compares the candidates, and prints seconds and their
ratio. Seconds are of the processor, so that other jobs beside matter little; those of hrcase are of
a whole process for one line, and of a line among many.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from brute.tables import CONSTANT, exp_line

HERE = Path(__file__).parent

VALUES, WORDS = 6, 5
HARD = float.fromhex("0x1.83d4bcdebb3f4p+2")
PLACES = (HARD, 0.25, -1.5, 1.0, 40.0)
MANY = 256


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log2-n", type=int, default=30)
    n = 1 << parser.parse_args().log2_n
    with tempfile.TemporaryDirectory() as directory:
        scan = Path(directory) / "scan"
        options = ["-O3", "-march=native", f"-DWORDS={WORDS}", f"-DVALUES={VALUES}"]
        subprocess.run(["gcc", *options, HERE / "table_scan.c", "-o", scan], check=True)
        for x0 in PLACES:
            step = math.ulp(x0)
            line = exp_line(x0 - (n // 2 * step if x0 == HARD else 0), n, VALUES, WORDS)
            for constant in (CONSTANT, CONSTANT << 16):
                compare(str(scan), line, constant)


def compare(scan: str, line: str, constant: int) -> None:
    """Both programs on one line."""
    direct, slow = run([scan, str(constant)], line)
    wanted = [int(j) for j in direct.split()]
    hrcase = [sys.executable, "-m", "hrcase.cli", "tables", "-", "--threads", "1"]
    hrcase += ["--device", "cpu", "--constant", str(constant)]
    run(hrcase, line)  # compiles the kernels
    listed, fast = run(hrcase, line)
    found = [int(text.split("j = ")[1].split(",")[0]) for text in listed.splitlines()]
    if found != wanted:
        sys.exit(f"DIFFERENT: {found} and {wanted}")
    _, many = run(hrcase, "\n".join([line] * MANY))
    one = (many - fast) / (MANY - 1)
    print(
        f"{line.split()[0]:24} n = {line.split()[1]}, constant {constant:#x}: {len(found)} "
        f"candidates, the same; scan {slow:.2f} s, hrcase {fast:.2f} s with its start, "
        f"{one:.4f} s a line among many: ratio {slow / fast:.1f}, {slow / one:.0f}",
        flush=True,
    )


def run(command: list[str], line: str) -> tuple[str, float]:
    """Output and seconds of the processor."""
    before = os.times()
    done = subprocess.run(command, input=line, capture_output=True, text=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system
    return done.stdout, spent - before.children_user - before.children_system


if __name__ == "__main__":
    main()
