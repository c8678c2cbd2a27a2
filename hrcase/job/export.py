"""The list of a complete job, streamed: the same bytes that a search without a job gives."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from hrcase.claim import Claim, make_claim, undecided_among
from hrcase.errors import InputError, Interrupted
from hrcase.export.csv import write_rows
from hrcase.export.wc import write_arguments
from hrcase.formats import FORMATS, Format
from hrcase.hexfloat import parse_number
from hrcase.job.store import Store
from hrcase.pieces import Rule

DOUBLE = FORMATS["binary64"]


def require_complete(store: Store) -> None:
    """Raises Interrupted when a unit of the job is not done."""
    done, units, directory = len(store.done()), len(store.own), store.path.parent
    if done < units:
        raise Interrupted(
            f"the job {directory} is not complete: {done} of {units} units are done, and a list of "
            f"them would say too much; run: hrcase resume {directory}"
        )


def claim_of(store: Store) -> Claim:
    """What the list of a job says.

    Raises:
        Interrupted: the job is not complete.
    """
    require_complete(store)
    if store.shard != (1, 1):
        index, of = store.shard
        raise Interrupted(
            f"the job {store.path.parent} is part {index} of {of} of a search, and a list of it "
            "would say too much; run: hrcase merge PARTS --job DIR, and export that"
        )
    done = store.done()
    settled = [piece for piece in store.pieces if piece.rule is Rule.SETTLED]
    cases, exact = sum(unit.cases for unit in done), sum(unit.exact for unit in done)
    versions = {session.version for session in store.sessions()}
    undecided = undecided_among(store.spec, store.exact_ordinals())
    return make_claim(store.spec, settled, store.outside, cases, exact, versions, undecided)


def write_text(store: Store, kind: str, stream: TextIO) -> None:
    """Write the list as "csv" or "wc"; raises Interrupted as `claim_of`."""
    claim, spec = claim_of(store), store.spec
    if kind == "wc":
        write_arguments(stream, claim.to_text(), _arguments(store))
    else:
        write_rows(stream, spec.function_name, spec.inp.name, store.rows())


def refuse_wide(inp: Format) -> None:
    """Raises InputError for a format with numbers that are no doubles."""
    is_wide = inp.precision > DOUBLE.precision or inp.emax > DOUBLE.emax
    if is_wide or inp.parts(1)[1] < DOUBLE.parts(1)[1]:
        raise InputError(
            f"a .bin list holds doubles, and not every number of {inp.name} is one; give --to csv "
            "or --to wc"
        )


def write_binary(store: Store, stream: BinaryIO) -> None:
    """Write the arguments as little-endian doubles, what LLVM libc reads.

    Raises:
        Interrupted: as `claim_of`.
        InputError: as `refuse_wide`.
    """
    claim_of(store)
    refuse_wide(store.spec.inp)
    for argument in _arguments(store):
        stream.write(struct.pack("<d", float(parse_number(argument))))


def _arguments(store: Store) -> Iterator[str]:
    return (row[0] for row in store.rows())
