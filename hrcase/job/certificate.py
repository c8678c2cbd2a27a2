"""Writing a job down as a certificate: what somebody needs who wants to check it without hrcase.

docs/certificate.md says what each field means and how the verifier (hrcase.verify) treats it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TextIO

from gmpy2 import mpq

from hrcase.claim import ends
from hrcase.errors import JobMismatch
from hrcase.formats import Format, scale
from hrcase.hexfloat import to_hex
from hrcase.job.digests import blocks_digest
from hrcase.job.export import claim_of
from hrcase.job.identity import Json
from hrcase.job.store import Done, Store
from hrcase.job.units import Unit
from hrcase.pieces import Piece, Rule
from hrcase.plan import PlannedBlock, Tuning, plan
from hrcase.version import version

SCHEMA = 1


def write_certificate(store: Store, stream: TextIO, on_unit: Callable[[], None]) -> None:
    """Write the certificate of a complete job, unit by unit.

    The blocks of each unit are planned anew and compared with the digest of those that ran.

    Args:
        on_unit: called after each unit.

    Raises:
        Interrupted: the job is not complete, or a part of a search.
        JobMismatch: this program plans other blocks than the one that did a unit.
    """
    claim = claim_of(store)
    written = _Written(stream)
    written.add('{"schema": ' + str(SCHEMA))
    inp = store.spec.inp
    for name, value in (
        ("hrcase", version()),
        ("claim", claim.to_json()),
        ("entry", store.spec_json["entry"]),
        ("pieces", [_piece(inp, piece) for piece in store.pieces]),
        ("outside", [[*ends(inp, part.lo, part.hi), part.reason] for part in store.outside]),
        ("sessions", [asdict(session) for session in store.sessions()]),
    ):
        written.add(f',\n"{name}": {_dump(value)}')
    written.add(',\n"units": [')
    for place, unit in enumerate(_units(store, store.done())):
        written.add((",\n" if place else "\n") + _dump(unit))
        on_unit()
    written.add("]")
    stream.write(f',\n"digest": "{written.digest}"}}\n')


class _Written:
    """A stream with the SHA-256 of what went through it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._total = stream, hashlib.sha256()

    def add(self, text: str) -> None:
        """Write some text."""
        self._stream.write(text)
        self._total.update(text.encode())

    @property
    def digest(self) -> str:
        """Of all that was added."""
        return self._total.hexdigest()


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _piece(inp: Format, piece: Piece) -> Json:
    first, last = ends(inp, piece.lo, piece.hi)
    written: Json = {"first": first, "last": last, "rule": piece.rule.value}
    if piece.settlement is not None:
        s = piece.settlement
        near = None if s.near is None else to_hex(s.near)
        written |= {"kind": s.kind, "near": near, "which": s.which, "reason": s.reason}
    return written


def _units(store: Store, done: list[Done]) -> Iterator[Json]:
    """The units, ascending, each with its blocks, its cases and its exact cases."""
    # --double-check makes it two methods; the blocks of the first one are those in the digest.
    methods = [session.method.partition(" and ")[0] for session in store.sessions()]
    by_number = {unit.number: unit for unit in store.units}
    for kept, (cases, exact) in zip(done, store.found(), strict=True):
        unit = by_number[kept.unit]
        blocks = _blocks(store, unit, methods[kept.session])
        if blocks_digest(blocks) != kept.blocks:
            raise JobMismatch(
                f"hrcase {version()} plans other blocks than those that unit {unit.number} of "
                f"{store.path.parent} ran, so that it cannot state them; certify it with the "
                "program that did it, or search again with --job and a new name"
            )
        yield _unit(store, unit, kept, blocks) | {"cases": cases, "exact": exact}


def _blocks(store: Store, unit: Unit, method: str) -> list[PlannedBlock]:
    if unit.piece.rule is not Rule.SEARCHED:
        return []
    return list(plan(store.spec, unit.piece, Tuning(method=method)))


def _unit(store: Store, unit: Unit, kept: Done, blocks: Iterable[PlannedBlock]) -> Json:
    inp, piece = store.spec.inp, unit.piece
    first, last = ends(inp, piece.lo, piece.hi)
    return {
        "first": first,
        "last": last,
        "session": kept.session,
        "device": kept.device,
        "counts": dict(sorted(kept.counts.items())),
        "rejected": kept.rejected,
        "candidates": kept.candidates,
        "ran": kept.blocks,
        "blocks": [_block(inp, block) for block in blocks],
    }


def _block(inp: Format, planned: PlannedBlock) -> Json:
    """A block: its polynomial, exactly, and the terms of its error budget."""
    written: Json = {"first": to_hex(inp.value(planned.first)), "method": "evaluated"}
    block, budget = planned.block, planned.budget
    if block is None or budget is None:
        return written
    written["method"] = planned.method
    written["limbs"] = block.limbs
    written["run"] = block.run_log2
    written["group"] = block.group_log2
    if block.domain_log2:
        written["domain"] = block.domain_log2
        written["curve"] = [to_hex(budget.quadratic_bound), to_hex(budget.cubic_bound)]
    terms = (
        budget.target,
        budget.remainder,
        budget.coefficient_rounding,
        budget.dropped_terms,
        budget.run_truncation,
    )
    written["errors"] = [to_hex(term) for term in terms]
    bits = 64 * block.limbs
    written["polynomial"] = [
        to_hex(_modulo_one(scale(c, -bits)) if j < 2 else scale(c, -bits))
        for j, c in enumerate(block.coefficients)
    ]
    return written


def _modulo_one(value: mpq) -> mpq:
    """The representative in [-1/2, 1/2): shorter, and as good for arguments that are integers."""
    return value - (2 * value + 1) // 2
