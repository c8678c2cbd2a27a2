"""Methods and devices on the same piece, compared before they are timed.

The limit. A device issues at most `CudaDevice.issue_slots` lane instructions a second: one
instruction a clock from each of the four schedulers of a multiprocessor, to 32 lanes. A domain of
a three-distance test takes

    INSTRUCTIONS[method] = (outside, a round):   outside + rounds * (a round)

of them, counted along the usual path through the machine code of the kernels `domains_METHOD`
(sm_90, nvcc 13.0). For "regular" the profiler counts the same to 0.1 % (docs/benchmarks.md). The
rounds are the mean over domains spread over the piece, on the device's arithmetic. The limit is
issue slots over instructions: what phase 1 alone would reach if no scheduler ever waited, no lane
ever idled and the host took no time. The share of it is the time that phase 1 would take at the
limit over the whole time of the search. For the CPU, and for a method that is not in the table, no
limit is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hrcase.cases import HRCase
from hrcase.domain import split
from hrcase.engine import Engine
from hrcase.engine.cuda import CudaEngine
from hrcase.engine.devices import cuda_device
from hrcase.engine.lines import lines_of_run
from hrcase.errors import VerificationFailed
from hrcase.hexfloat import to_hex
from hrcase.memory import SearchResult, search
from hrcase.pieces import Piece, Rule
from hrcase.plan import Tuning, next_block
from hrcase.spec import SearchSpec

INSTRUCTIONS = {"regular": (121.0, 47.0), "lefevre": (80.0, 43.0)}
SAMPLED_BLOCKS = 16


@dataclass(frozen=True)
class Row:
    """One method on one device.

    Attributes:
        seconds: of the whole search, planning to refinement; the best of the timed runs.
        arguments_per_second: arguments of the interval over seconds.
        ratio: to the first row's arguments_per_second.
        limit_share: share of the limit (see above); None where no limit is known.
        stages: seconds by stage of the search, as the host sees them; "kernels, all workers" is
            summed over the engine's workers.
        device_stages: seconds by kernel, as the device counts them; summed over streams that
            overlap. Empty for the CPU.
        device_busy: seconds with at least one block under way on the device; None for the CPU.
    """

    device: str
    method: str
    seconds: float
    arguments_per_second: float
    ratio: float
    limit_share: float | None
    stages: dict[str, float]
    device_stages: dict[str, float]
    device_busy: float | None


@dataclass(frozen=True)
class Bench:
    """The answer of a bench: how many arguments and cases the piece has, and a row each."""

    arguments: int
    cases: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _Timed:
    seconds: float
    result: SearchResult
    device_stages: dict[str, float]
    device_busy: float | None


def bench(
    spec: SearchSpec,
    methods: Sequence[str],
    engines: Sequence[Engine],
    runs: int,
    threads: int | None = None,
) -> Bench:
    """Search with every method on every engine: once to compare and to warm up, then by turns.

    Args:
        methods: an engine passes over those that it does not have.
        runs: timed runs of each; the best counts, since what else the machine does only adds.
        threads: processes for planning and refinement, default all processors.

    Raises:
        VerificationFailed: two of them find different cases.
        Also what hrcase.memory.search raises.
    """
    pairs = [(e, method) for e in engines for method in methods if method in e.methods]
    first = _agreed(spec, pairs, threads)
    best: dict[int, _Timed] = {}
    for _ in range(runs):
        for i, (engine, method) in enumerate(pairs):
            timed = _timed(spec, engine, method, threads)
            if i not in best or timed.seconds < best[i].seconds:
                best[i] = timed
    arguments = sum(first.statistics.arguments.values())
    rows = tuple(
        _row(spec, engine, method, best[i], arguments, best[0].seconds)
        for i, (engine, method) in enumerate(pairs)
    )
    return Bench(arguments, len(first.rows), rows)


def _agreed(
    spec: SearchSpec, pairs: Sequence[tuple[Engine, str]], threads: int | None
) -> SearchResult:
    """One search each; the first result, once all others are known to have the same cases."""
    (engine, method), *others = pairs
    first = search(spec, method, threads, engine=engine)
    for other_engine, other_method in others:
        result = search(spec, other_method, threads, engine=other_engine)
        if result.rows != first.rows:
            raise VerificationFailed(
                f"{other_method} on {other_engine.name} finds other cases than {method} on "
                f"{engine.name}: {_difference(first.cases, result.cases)}; one of them is wrong, "
                "so nothing was timed; compare both lists: hrcase search with each --method and "
                "--device, then hrcase compare"
            )
    return first


def _difference(cases: list[HRCase], others: list[HRCase]) -> str:
    """How two lists differ, with the first x that only one of them has."""
    odd = sorted({case.x for case in cases} ^ {case.x for case in others})
    where = f", first at {to_hex(odd[0])}" if odd else ", the same x with other distances"
    return f"{len(cases)} and {len(others)}{where}"


def _timed(spec: SearchSpec, engine: Engine, method: str, threads: int | None) -> _Timed:
    stages, busy = _device_seconds(engine)
    started = time.perf_counter()
    result = search(spec, method, threads, engine=engine)
    seconds = time.perf_counter() - started
    stages_after, busy_after = _device_seconds(engine)
    spent = {stage: after - stages.get(stage, 0.0) for stage, after in stages_after.items()}
    on_device = {stage: value for stage, value in spent.items() if value > 0}
    return _Timed(seconds, result, on_device, busy_after - busy if on_device else None)


def _device_seconds(engine: Engine) -> tuple[dict[str, float], float]:
    """Device time so far by kernel, and busy; from now on it is taken."""
    if not isinstance(engine, CudaEngine):
        return {}, 0.0
    engine.timed = True
    return dict(engine.stage_seconds), engine.busy_seconds


def _row(
    spec: SearchSpec, engine: Engine, method: str, timed: _Timed, arguments: int, first: float
) -> Row:
    statistics = timed.result.statistics
    limit = None
    if isinstance(engine, CudaEngine):
        slots = cuda_device(engine.cuda, engine.ordinal).issue_slots
        limit = seconds_at_limit(spec, method, statistics.counts["domains"], slots)
    return Row(
        device=engine.name,
        method=method,
        seconds=timed.seconds,
        arguments_per_second=arguments / timed.seconds,
        ratio=first / timed.seconds,
        limit_share=None if limit is None else limit / timed.seconds,
        stages=dict(statistics.seconds),
        device_stages=timed.device_stages,
        device_busy=timed.device_busy,
    )


def seconds_at_limit(
    spec: SearchSpec, method: str, domains: int, issue_slots: float
) -> float | None:
    """Seconds that phase 1 would take for so many domains at the limit; None where none is known.

    The rounds are those of the largest searched piece.
    """
    pieces = [piece for piece in split(spec) if piece.rule is Rule.SEARCHED]
    if method not in INSTRUCTIONS or not pieces or not domains:
        return None
    rounds = mean_rounds(spec, max(pieces, key=lambda piece: piece.count), method)
    outside, a_round = INSTRUCTIONS[method]
    return None if rounds is None else domains * (outside + a_round * rounds) / issue_slots


def mean_rounds(spec: SearchSpec, piece: Piece, method: str) -> float | None:
    """Mean rounds of the main loop over domains spread over a piece; None where it has none."""
    means = []
    for i in range(SAMPLED_BLOCKS):
        lo = piece.lo + piece.count * (2 * i + 1) // (2 * SAMPLED_BLOCKS)
        planned = next_block(spec, piece, lo, Tuning(method=method))
        if planned.block is not None and planned.method == method:
            _, rounds = lines_of_run(planned.block, 0, doubles=True).test(method)
            means.append(float(rounds.mean()))
    return sum(means) / len(means) if means else None


def stage_words(row: Row) -> Iterator[str]:
    """The stages of a row for people, longest first."""
    for title, stages in (("host", row.stages), ("device", row.device_stages)):
        ordered = sorted(stages.items(), key=lambda item: -item[1])
        if ordered:
            yield f"{title} seconds: " + ", ".join(f"{name} {s:.3f}" for name, s in ordered)
    if row.device_busy is not None:
        yield f"device busy for {row.device_busy:.3f} of {row.seconds:.3f} seconds"
