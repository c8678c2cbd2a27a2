"""Parts of a search that were done apart (`--shard I/N`) as one job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hrcase.claim import range_text
from hrcase.errors import Interrupted, JobMismatch, VerificationFailed
from hrcase.job.directory import create, plan_of, reading
from hrcase.job.identity import in_words, is_same
from hrcase.job.store import Store
from hrcase.job.units import Plan
from hrcase.pieces import Rule


def merge(parts: Sequence[Path], directory: Path) -> None:
    """Make a complete job of parts, each of which is checked whole.

    Raises:
        JobMismatch: they are not parts of one search, or the new job exists.
        Interrupted: a unit was done in none of them.
        VerificationFailed: a unit gave two answers, or the units do not tile what is asked.
        CorruptState, InputError: a part is damaged, or no job.
    """
    with ExitStack() as opened:
        stores = [opened.enter_context(reading(part, whole=True)) for part in parts]
        for store in stores[1:]:
            _require_same(stores[0], store)
        _require_all(stores)
        plan = replace(plan_of(stores[0]), shard=(1, 1))
        prove_tiling(plan)

        def fill(whole: Store) -> None:
            for store in stores:
                whole.copy_all(store)

        create(directory, plan, fill).close()


def prove_tiling(plan: Plan) -> None:
    """Check by exact arithmetic that a plan leaves nothing out and does nothing twice.

    Pieces and what is not searched tile the ranges asked for; units tile the pieces that are not
    settled.

    Raises:
        VerificationFailed: they do not.
    """
    ranges = sorted([*((p.lo, p.hi) for p in plan.pieces), *((p.lo, p.hi) for p in plan.outside)])
    units = [(unit.piece.lo, unit.piece.hi) for unit in plan.units]
    open_pieces = [(p.lo, p.hi) for p in plan.pieces if p.rule is not Rule.SETTLED]
    for tiles, whole, what in (
        (ranges, list(plan.spec.region.ranges), "the pieces"),
        (units, open_pieces, "the units"),
    ):
        gap = first_gap(tiles, whole)
        if gap is not None:
            raise VerificationFailed(
                f"{what} do not tile what is asked: see {range_text(plan.spec.inp, *gap)}; this is "
                "a bug in hrcase; please report the command"
            )


def first_gap(
    tiles: Sequence[tuple[int, int]], whole: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Where ascending half-open ranges do not tile others; None where they do."""
    following = iter(tiles)
    for lo, hi in whole:
        while lo < hi:
            tile = next(following, None)
            if tile is None or tile[0] != lo or not lo < tile[1] <= hi:
                return lo, hi
            lo = tile[1]
    return next(following, None)


def _require_same(first: Store, other: Store) -> None:
    if not is_same(first.spec_json, other.spec_json):
        raise JobMismatch(
            f"the parts ask different things. {first.path.parent} asks: "
            f"{in_words(first.spec_json)}. {other.path.parent} asks: {in_words(other.spec_json)}. "
            "Give the parts of one search"
        )
    if first.parts != other.parts:
        raise JobMismatch(
            f"{first.path.parent} and {other.path.parent} ask the same, but were cut into units by "
            "different versions of hrcase; do one of them again with the version of the other"
        )


def _require_all(stores: Sequence[Store]) -> None:
    done = {unit.unit for store in stores for unit in store.done()}
    missing = [unit for unit in stores[0].units if unit.number not in done]
    if not missing:
        return
    _, of = stores[0].shard
    shards = sorted({unit.number % of + 1 for unit in missing})
    piece = missing[0].piece
    raise Interrupted(
        f"{len(missing)} of {len(stores[0].units)} units were done in none of the parts, first "
        f"{range_text(stores[0].spec.inp, piece.lo, piece.hi)}; they belong to --shard "
        f"{', '.join(f'{shard}/{of}' for shard in shards[:20])}; give these parts too, or resume "
        "them until they are complete"
    )
