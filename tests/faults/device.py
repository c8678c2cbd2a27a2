"""Single bit flips in the memory of an emulated device, between its kernels and on the way to us.

Device memory is an array here (tests/fake_cuda.py), so that a bit is flipped when some kernel has
ended, in what it or an earlier one has left for a later one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import emulated_cuda
import numpy as np
import pytest
from fake_cuda import FakeCuda, Words

from faults.flips import WORD, Rates, candidates, units
from hrcase.engine import lane
from hrcase.engine.cuda import CudaEngine
from hrcase.engine.lane import COUNTERS, Lane
from hrcase.engine.trust import WrongAnswer, require_sound
from hrcase.errors import HrcaseError


@dataclass(frozen=True)
class Flip:
    """A bit of device memory.

    Attributes:
        after: the kernel that has just ended; "" for what is copied to the host.
        where: a list by the name of its counter, "cubics", "starts" or "counters".
    """

    method: str
    after: str
    where: str


LISTS = {
    "cubics": Flip("farey", "expand_runs", "cubics"),
    "starts": Flip("farey", "start_walks", "starts"),
    "starts, after the walk": Flip("farey", "walk", "starts"),
    "roots near a class": Flip("farey", "walk", "near"),
    "hits": Flip("farey", "take_crowds", "hits"),
    "candidates on the device": Flip("farey", "decide", "candidates"),
    "failing domains": Flip("regular", "domains_regular", "failing"),
    "failing subdomains": Flip("regular", "subdomains_regular", "subfailing"),
    "hits, regular": Flip("regular", "scan_subdomains", "hits"),
    "counters, after the walk": Flip("farey", "walk", "counters"),
    "counters, before the decision": Flip("farey", "take_crowds", "counters"),
    "counters, at the end": Flip("farey", "check_walks", "counters"),
    "transfer of the candidates": Flip("farey", "", "candidates"),
    "transfer of the counters": Flip("farey", "", "counters"),
}


@contextmanager
def emulated() -> Iterator[tuple[CudaEngine, FakeCuda]]:
    """An emulated device with short lists."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        patch.setattr(lane, "FIRST_CAPACITY", 1 << 12)
        patch.setattr(lane, "FIRST_CROWDS", 1 << 4)
        patch.setattr(lane, "MOST_ENTRIES", 1 << 20)  # what a device has room for fills a machine
        cuda = emulated_cuda.emulate(patch, Path(place))
        engine = CudaEngine()
        yield engine, cuda
        engine.close()


def rates_of(engine: CudaEngine, flip: Flip, trials: int, seed: int) -> Rates:
    """The rates of so many trials."""
    generator, rates = random.Random(seed), Rates()
    for _ in range(trials):
        number = generator.randrange(len(units(flip.method)))
        other = "regular" if flip.method == "farey" else "farey"
        right, by_other = candidates(number, flip.method), candidates(number, other)
        told: list[int] = []
        with pytest.MonkeyPatch.context() as patch:
            flipped = _arm(patch, engine, flip, generator)
            kept = _keep_answers(patch, told)
            alarm = False
            try:
                found = engine.run(units(flip.method)[number], flip.method)[0].tolist()
            except WrongAnswer:
                alarm, found = True, kept[0] if kept else []
            except HrcaseError:  # out of memory for an absurd list
                alarm, found = True, []
        if flipped():
            rates.count(found, right, by_other, alarm)
    return rates


def _keep_answers(patch: pytest.MonkeyPatch, told: list[int]) -> list[list[int]]:
    """What the host would have taken for the candidates, had nothing been checked."""
    kept: list[list[int]] = []

    def note(block: Any, method: str, counters: Any, entries: Any, *rest: Any) -> None:
        kept.append((np.unique(entries) + (block.lo - 1)).tolist())
        require_sound(block, method, counters, entries, *rest)

    patch.setattr(lane, "require_sound", note)
    return kept


def _arm(
    patch: pytest.MonkeyPatch, engine: CudaEngine, flip: Flip, generator: random.Random
) -> Callable[[], bool]:
    """Flip one bit at the next chance; whether that was done."""
    done: list[bool] = []

    def strike(words: Words) -> None:
        if len(words) and not done:
            done.append(True)
            place, bit = generator.randrange(len(words)), generator.randrange(WORD)
            words[place] ^= np.uint64(1 << bit)

    call = Lane._call

    def call_and_strike(self: Lane, kernels: Any, name: str, *rest: Any, **more: Any) -> None:
        call(self, kernels, name, *rest, **more)
        if name == flip.after:
            strike(_words_in_use(self, flip.where))

    def copy_and_strike(to: Words, memory: Any, stream: Any) -> None:
        to[:] = memory.words[: len(to)]
        if flip.after == "" and (flip.where == "counters") == (len(to) == len(COUNTERS)):
            strike(to)

    with engine._current():
        engine._require_trust(*_shape(flip))
    patch.setattr(Lane, "_call", call_and_strike)
    patch.setattr(engine.cuda, "memcpy_dtoh_async", copy_and_strike)
    return lambda: bool(done)


def _shape(flip: Flip) -> tuple[int, int]:
    block = units(flip.method)[0]
    return block.degree, block.limbs


def _words_in_use(of: Lane, where: str) -> Words:
    counters: Words = of.counters.words
    if where == "counters":
        return counters
    buffer = {"cubics": of.cubics, "starts": of.starts}.get(where)
    if buffer is not None:
        whole: Any = buffer.memory
        words: Words = whole.words
        return words
    told = dict(zip(COUNTERS, map(int, counters), strict=True))
    # The walk's threads have a place each before those that are counted.
    places = lane.THREADS * (told["domains"] // lane.THREADS + 1) if where == "near" else 0
    memory: Any = of.lists[where].memory
    words = memory.words[: (places + told[where]) * lane.ENTRY_BYTES[where] // 8]
    return words
