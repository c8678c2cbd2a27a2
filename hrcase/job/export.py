"""The list of a complete job, streamed: the same bytes that a search without a job gives."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from hrcase.cases import Row
from hrcase.claim import Claim, make_claim, undecided_among
from hrcase.errors import InputError, Interrupted
from hrcase.export.csv import write_csv
from hrcase.export.thin import Thinning
from hrcase.export.values import c_type_of, write_c, write_values
from hrcase.export.wc import write_wc
from hrcase.formats import FORMATS, Format
from hrcase.hexfloat import parse_number
from hrcase.job.directory import reading
from hrcase.job.store import Store
from hrcase.pieces import Rule
from hrcase.spec import SearchSpec

DOUBLE = FORMATS["binary64"]
SUFFIXES = {
    "csv": (".csv",),
    "wc": (".wc",),
    "bin": (".bin",),
    "values": (".csv",),
    "c": (".c", ".h"),
}
"""The kinds of lists, and how the names of their files end."""


def require_complete(store: Store) -> None:
    """Raises Interrupted when a unit of the job is not done."""
    done, units, directory = len(store.done()), len(store.own), store.path.parent
    if done < units:
        raise Interrupted(
            f"the job {directory} is not complete: {done} of {units} units are done, and a list of "
            f"them would say too much; run: hrcase resume {directory}"
        )


def require_whole(store: Store) -> None:
    """Raises Interrupted when the job is not complete, or a part of a search."""
    require_complete(store)
    if store.shard != (1, 1):
        index, of = store.shard
        raise Interrupted(
            f"the job {store.path.parent} is part {index} of {of} of a search, and a list of it "
            "would say too much; run: hrcase merge PARTS --job DIR, and export that"
        )


@contextmanager
def reading_whole(directory: Path, cases_too: bool = True) -> Iterator[Store]:
    """The file of a complete job, to read it only; what it holds is checked before.

    Whether it is complete is seen first: reading ten million cases takes a minute.

    Args:
        cases_too: False for one who reads them all anyway, which checks them, and can take back
            what he wrote before he met a damaged one.

    Raises:
        Interrupted: as `require_whole`.
        InputError: there is no job.
        CorruptState: it is damaged.
    """
    with reading(directory) as store:
        require_whole(store)
        _ = store.spec  # an entry of the registry that has changed is said before all is read
        if cases_too:
            store.verify()
        else:
            store.verify_all_but_cases()
        yield store


def claim_of(store: Store) -> Claim:
    """What the list of a job says.

    Raises:
        Interrupted: as `require_whole`.
    """
    require_whole(store)
    done = store.done()
    settled = [piece for piece in store.pieces if piece.rule is Rule.SETTLED]
    cases, exact = sum(unit.cases for unit in done), sum(unit.all_exact for unit in done)
    versions = {session.version for session in store.sessions()}
    undecided = undecided_among(store.spec, store.exact_ordinals())
    return make_claim(store.spec, settled, store.outside, cases, exact, versions, undecided)


def write_text(store: Store, kind: str, stream: TextIO, thinning: Thinning | None = None) -> Claim:
    """Write the list, or the hardest cases of it; the claim of what was written.

    Args:
        kind: of SUFFIXES, but for "bin".

    Raises:
        Interrupted: as `claim_of`.
        InputError: a table in C would be empty; and as `write_c`.
    """
    claim, rows = _listed(store, thinning)
    spec, arguments = store.spec, (row[0] for row in rows)
    if kind == "wc":
        write_wc(stream, claim.to_text(), arguments)
    elif kind == "values":
        write_values(stream, spec, arguments)
    elif kind == "c":
        if claim.cases == 0:
            raise InputError(
                f"the list of {store.path.parent} has no cases, and no array of C is empty; "
                "give --to csv"
            )
        write_c(stream, spec, claim.to_text(), arguments)
    else:
        write_csv(stream, spec.function_name, spec.inp.name, rows)
    return claim


def _listed(store: Store, thinning: Thinning | None) -> tuple[Claim, Iterable[Row]]:
    """What is to be written, and its claim, which stands above it."""
    claim = claim_of(store)
    if thinning is None:
        return claim, store.rows()
    kept = list(thinning.rows(store.rows()))
    return thinning.claim(claim, len(kept)), kept


def refuse_wide(inp: Format) -> None:
    """Raises InputError for a format with numbers that are no doubles."""
    is_wide = inp.precision > DOUBLE.precision or inp.emax > DOUBLE.emax
    if is_wide or inp.parts(1)[1] < DOUBLE.parts(1)[1]:
        raise InputError(
            f"a .bin list holds doubles, and not every number of {inp.name} is one; give --to csv "
            "or --to wc"
        )


def refuse_kind(kind: str, spec: SearchSpec) -> None:
    """Raises InputError where a list of this kind cannot hold the numbers of the formats."""
    if kind == "bin":
        refuse_wide(spec.inp)
    elif kind == "c":
        for form in (spec.inp, spec.out):
            c_type_of(form)


def write_binary(store: Store, stream: BinaryIO, thinning: Thinning | None = None) -> Claim:
    """Write the arguments as little-endian doubles, what LLVM libc reads; the claim of them.

    Raises:
        Interrupted: as `claim_of`.
        InputError: as `refuse_wide`.
    """
    claim, rows = _listed(store, thinning)
    refuse_wide(store.spec.inp)
    for row in rows:
        stream.write(struct.pack("<d", float(parse_number(row[0]))))
    return claim
