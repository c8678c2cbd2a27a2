"""Each slack constant of the Farey walk is needed: without it, something planted is lost.

The arguments are planted where only the slack holds them (brute.blocks). Most constants are needed
only if arithmetic is as bad as docs/farey.md allows, so that the kernels are spoiled: every
approximate reciprocal is off by 2^-19, every addition to x by 6 2^-52 H. That the walk as it is
loses nothing, spoiled or not, is in tests/test_farey.py.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from brute.blocks import is_lost, kernels, long_walk_block, planted_block

EXACT, SPOILED = ("-O1",), ("-O1", "-DFAREY_SPOIL=-0x1p-19")

VALUE = "fused(run.drift, magnitude(value), walk.q * run.window)"
WINDOW = "fused(drift, 0.5 + f.a2 * half * half, f.window)"

BROKEN = {
    "LEMMA_5_STEP": (SPOILED, planted_block, [("STEP = 0x1.5p-37", "STEP = 0")]),
    "LEMMA_5_ADDITION": (SPOILED, long_walk_block, [("ADDITION = 0x1p-52", "ADDITION = 0")]),
    "LEMMA_6_FACTOR": (SPOILED, planted_block, [("6_FACTOR = 16", "6_FACTOR = 1")]),
    "LEMMA_8_FACTOR": (EXACT, planted_block, [("8_FACTOR = 1.5", "8_FACTOR = 0.9")]),
    "LEMMA_9_RUN": (SPOILED, planted_block, [("RUN = 0x1.1p-38", "RUN = 0")]),
    "LEMMA_11_ROUNDING": (EXACT, planted_block, [("ROUNDING = 0x1p-50", "ROUNDING = 0")]),
    "kappa |V|": (SPOILED, planted_block, [(VALUE, "walk.q * run.window")]),
    "kappa a2 H^2": (SPOILED, planted_block, [(WINDOW, "fused(drift, 0.5, f.window)")]),
    "E": (EXACT, planted_block, [(WINDOW, "drift * (0.5 + f.a2 * half * half)")]),
    "T": (EXACT, planted_block, [("run.reach = 0.5 *", "run.reach = 0.45 *")]),
    "|A3| H^3/4": (EXACT, planted_block, [("(window) + cubic_term", "(window)")]),
    "a2 H^2/2": (EXACT, planted_block, [("qd * (f.window + bend)", "qd * f.window")]),
    "end": (EXACT, planted_block, [("run.end = static_cast<double>(last)", "run.end = -half")]),
}
"""How kernels are compiled, what to plant, and what takes the place of which text of a source."""


@pytest.mark.parametrize("name", BROKEN)
def test_without_it_something_is_lost(name: str, tmp_path: Path) -> None:
    options, plant, edits = BROKEN[name]
    generator = random.Random(7)
    with kernels(tmp_path, *options, edits=edits):
        assert any(is_lost(plant(generator)) for _ in range(5000))
