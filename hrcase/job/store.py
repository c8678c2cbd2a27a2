"""The file of a job: what is asked, its units, and what each of them gave."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from hrcase.errors import CorruptState, VerificationFailed
from hrcase.exact_powers import IN_CLOSED_FORM, exact_in
from hrcase.hexfloat import to_hex
from hrcase.job import schema
from hrcase.job.identity import (
    Json,
    digest,
    settlement_from_json,
    settlement_to_json,
    spec_from_json,
    spec_to_json,
)
from hrcase.job.units import Plan, Unit, in_shard, plan_digest
from hrcase.job.walk import UnitResult
from hrcase.pieces import Piece, Removed, Rule
from hrcase.spec import SearchSpec

Row = tuple[Any, ...]

_ENCODER = json.JSONEncoder(default=repr)


@dataclass(frozen=True, slots=True)
class Session:
    """A time in which a program worked on a job.

    Attributes:
        started: UTC, ISO 8601.
        devices: names of the engines.
        version: of hrcase.
        kernels: digest of the kernels' sources.
    """

    started: str
    host: str
    devices: str
    method: str
    version: str
    kernels: str


@dataclass(frozen=True, slots=True)
class Done:
    """What is kept of a finished unit besides its cases.

    Attributes:
        cases, exact: rows kept; exact results in closed form are counted in `counts` alone.
    """

    unit: int
    session: int
    device: str
    seconds: float
    counts: Counter[str]
    rejected: int
    cases: int
    exact: int
    blocks: str
    candidates: str

    @property
    def all_exact(self) -> int:
        """Exact results, with those in closed form."""
        return self.exact + self.counts[IN_CLOSED_FORM]


class Store:
    """An open file of a job.

    Every method raises CorruptState for what does not match its digest, and TryAgain where the disk
    is full or fails.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with schema.own_errors(path), ExitStack() as on_error:
            schema.check_header(path)
            self._connection = schema.connect(path)
            on_error.callback(self._connection.close)
            schema.check(self._connection, path)
            self._about = self._read_about()
            on_error.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @staticmethod
    def create(path: Path, plan: Plan) -> None:
        """Write a new job."""
        tables: dict[str, list[Row]] = {
            "piece": [
                (n, str(p.lo), str(p.hi), p.rule.value, p.key, settlement_to_json(p.settlement))
                for n, p in enumerate(plan.pieces)
            ],
            "outside": [(n, str(p.lo), str(p.hi), p.reason) for n, p in enumerate(plan.outside)],
            "unit": [
                (n, str(p.lo), str(p.hi), p.rule.value, p.key, u.work)
                for n, u in enumerate(plan.units)
                for p in (u.piece,)
            ],
        }
        about = {
            "schema": str(schema.VERSION),
            "spec": json.dumps(spec_to_json(plan.spec)),
            "plan": plan_digest(plan.pieces, plan.outside),
            "shard": json.dumps(plan.shard),
            **{name: _table_digest(rows) for name, rows in tables.items()},
        }
        tables["about"] = [(*pair, digest("about", *pair)) for pair in about.items()]
        with (
            schema.own_errors(path),
            closing(schema.create(path)) as connection,
            schema.transaction(connection),
        ):
            for name, rows in tables.items():
                _insert(connection, name, rows)

    # What never changes.

    @property
    def spec_json(self) -> Json:
        """What is asked, as written down."""
        data: Json = json.loads(self._about["spec"])
        return data

    @cached_property
    def spec(self) -> SearchSpec:
        """What is asked; raises as `spec_from_json`."""
        return spec_from_json(self.spec_json)

    @property
    def plan(self) -> str:
        """The digest of the pieces, their words left out."""
        return self._about["plan"]

    @cached_property
    def shard(self) -> tuple[int, int]:
        """(I, N): which of the units are to be done here."""
        index, of = json.loads(self._about["shard"])
        return index, of

    @cached_property
    def own(self) -> list[Unit]:
        """The units that are to be done here: all of them, or those of the shard."""
        return [unit for unit in self.units if in_shard(unit.number, self.shard)]

    @property
    def parts(self) -> tuple[str, str]:
        """Digests of the pieces and of the units: equal for the shards of one search."""
        return self._about["plan"], self._about["unit"]

    @cached_property
    def pieces(self) -> list[Piece]:
        """All pieces, ascending."""
        return [
            Piece(int(lo), int(hi), Rule(rule), key, settlement_from_json(settlement))
            for _, lo, hi, rule, key, settlement in self._table("piece")
        ]

    @cached_property
    def outside(self) -> list[Removed]:
        """The arguments that are not searched."""
        rows = self._table("outside")
        return [Removed(int(lo), int(hi), str(reason)) for _, lo, hi, reason in rows]

    @cached_property
    def units(self) -> list[Unit]:
        """All units, ascending."""
        return [
            Unit(number, Piece(int(lo), int(hi), Rule(rule), key), work)
            for number, lo, hi, rule, key, work in self._table("unit")
        ]

    # What grows.

    def begin_session(self, session: Session) -> int:
        """Note who works from now on; the number of the session."""
        with schema.own_errors(self.path), schema.transaction(self._connection):
            ((last,),) = self._connection.execute("SELECT max(number) FROM session")
            row = (0 if last is None else last + 1, *astuple(session))
            _insert(self._connection, "session", [(*row, digest("session", *row))])
        return int(row[0])

    def sessions(self) -> list[Session]:
        """All sessions, in order."""
        with schema.own_errors(self.path):
            return [Session(*row[1:-1]) for row in self._session_rows()]

    def _session_rows(self) -> list[Row]:
        rows = list(self._connection.execute("SELECT * FROM session ORDER BY number"))
        for row in rows:
            self._require(row[-1] == digest("session", *row[:-1]), f"the words of session {row[0]}")
        return rows

    def add(self, results: Sequence[UnitResult], session: int) -> None:
        """Keep what some units gave, all of it or nothing; a unit kept before is left as it is.

        Raises:
            VerificationFailed: a unit was done before, and gave something else.
        """
        with schema.own_errors(self.path), schema.transaction(self._connection):
            for result in results:
                self._add(result, session)

    def _add(self, result: UnitResult, session: int) -> None:
        number = result.unit.number
        cases = [(number, i, *row) for i, row in enumerate(result.rows)]
        exact = [(number, i, str(ordinal)) for i, ordinal in enumerate(result.exact)]
        found = _table_digest([*cases, *exact])
        digests = (result.blocks, result.candidates, found)
        if self._is_kept(number, digests, result.device):
            return
        counts = json.dumps(dict(sorted(result.counts.items())))
        work: Row = (number, session, result.device, result.seconds, counts, result.rejected)
        row = (*work, len(cases), len(exact), *digests)
        _insert(self._connection, "hard_case", cases)
        _insert(self._connection, "exact_case", exact)
        _insert(self._connection, "done", [(*row, digest("done", *row))])

    def _is_kept(self, number: int, digests: Sequence[str], device: str) -> bool:
        """Whether a unit is kept; raises VerificationFailed if with another answer.

        Args:
            digests: of its blocks, of its candidates, of its cases; the last two count.
        """
        where = "SELECT candidates, found, device FROM done WHERE unit = ?"
        for *kept, by in self._connection.execute(where, (number,)):
            if tuple(kept) != tuple(digests[1:]):
                raise VerificationFailed(
                    f"unit {number} of {self.path.parent} was done twice and gave two answers, the "
                    f"first one on {by or 'the CPU'}, the second one on {device or 'the CPU'}: a "
                    "device or a program is wrong; run: hrcase bench on both"
                )
            return True
        return False

    def done(self) -> list[Done]:
        """The finished units, ascending."""
        with schema.own_errors(self.path):
            rows = list(self._connection.execute("SELECT * FROM done ORDER BY unit"))
        return [self._done(row)[0] for row in rows]

    def _done(self, row: Row) -> tuple[Done, str]:
        """A finished unit, and the digest of its cases."""
        self._require(row[-1] == digest("done", *row[:-1]), f"the figures of unit {row[0]}")
        *figures, found, _ = row
        unit, session, device, seconds, counts, *rest = figures
        counted = Counter(json.loads(counts))
        return Done(unit, session, device, seconds, counted, *rest), found

    def verify(self) -> None:
        """Read everything there is. Raises CorruptState for what does not match its digest."""
        self.verify_all_but_cases()
        for _ in self.rows():
            pass

    def verify_all_but_cases(self) -> None:
        """As `verify`, without the cases: so much takes no time."""
        self.sessions()
        units = {unit.number for unit in self.units}
        for done in self.done():
            self._require(done.unit in units, f"the figures of unit {done.unit}")
        self._require(len(self.pieces) + len(self.outside) > 0, "the pieces")

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The cases of the finished units as columns of a CSV list, ascending in x."""
        for _, cases in self.results():
            yield from cases

    def results(self) -> Iterator[tuple[Done, list[tuple[str, ...]]]]:
        """The finished units, ascending, each with the cases of `rows`.

        Those of a unit come after they were found to match its digest.
        """
        for unit, listed, _ in self._found():
            yield unit, [case[2:] for case in listed]

    def found(self) -> Iterator[tuple[list[str], list[str]]]:
        """Of each finished unit, ascending: its cases and its exact cases, in hexadecimal."""
        for _, listed, exact in self._found():
            values = (self.spec.inp.value(int(ordinal)) for *_, ordinal in exact)
            yield [case[2] for case in listed], [to_hex(value) for value in values]

    def _found(self) -> Iterator[tuple[Done, list[Row], list[Row]]]:
        """The finished units with their rows of cases and of exact cases, as `results` gives."""
        with schema.own_errors(self.path), schema.transaction(self._connection, "DEFERRED"):
            execute = self._connection.execute
            cases = execute("SELECT * FROM hard_case ORDER BY unit, place")
            exact = execute("SELECT * FROM exact_case ORDER BY unit, place")
            for row in execute("SELECT * FROM done ORDER BY unit"):
                unit, found = self._done(row)
                # Not fetchmany: Python 3.11 takes fetchmany(0) for all there is.
                listed, also = list(islice(cases, unit.cases)), list(islice(exact, unit.exact))
                self._require(
                    _table_digest([*listed, *also]) == found, f"the cases of unit {unit.unit}"
                )
                yield unit, listed, also
            rest = cases.fetchone() or exact.fetchone()
            self._require(rest is None, "the cases")

    def exact_ordinals(self) -> Iterator[int]:
        """Those of the finished units, ascending; `verify` checks the rows among them."""
        pieces = {unit.number: unit.piece for unit in self.units}
        query = "SELECT ordinal FROM exact_case WHERE unit = ? ORDER BY place"
        for done in self.done():
            exact = exact_in(self.spec, pieces[done.unit]) or ()
            self._require(done.counts[IN_CLOSED_FORM] == len(exact), "the numbers of exact cases")
            yield from exact
            with schema.own_errors(self.path):
                rows = self._connection.execute(query, (done.unit,)).fetchall()
            for (text,) in rows:
                is_ordinal = re.fullmatch(r"-?\d{1,30}", str(text)) is not None
                self._require(is_ordinal, f"the exact cases of unit {done.unit}")
                ordinal, most = int(text), self.spec.inp.max_ordinal
                self._require(abs(ordinal) <= most, f"the exact cases of unit {done.unit}")
                yield ordinal

    def sound(self) -> Iterator[tuple[Row, list[Row], list[Row]]]:
        """Of a damaged file, the finished units whose rows all match their digests."""
        for unit in self.units:
            try:
                yield from self._sound(unit.number)
            except (sqlite3.Error, UnicodeError, CorruptState):
                continue

    def _sound(self, number: int) -> Iterator[tuple[Row, list[Row], list[Row]]]:
        execute = self._connection.execute
        for row in execute("SELECT * FROM done WHERE unit = ?", (number,)):
            done, found = self._done(row)
            of_unit = f"WHERE unit = {number} ORDER BY place"
            cases = list(execute(f"SELECT * FROM hard_case {of_unit}"))
            exact = list(execute(f"SELECT * FROM exact_case {of_unit}"))
            if done.unit == number and _table_digest([*cases, *exact]) == found:
                yield row, cases, exact

    def copy_sound(self, damaged: Store) -> int:
        """Take over what is sound of a damaged file of the same job; how many units that is."""
        with schema.own_errors(self.path), schema.transaction(self._connection):
            sessions: list[Row] = []
            with suppress(sqlite3.Error, UnicodeError, CorruptState):
                sessions = list(damaged._session_rows())
            _insert(self._connection, "session", sessions)
            return sum(self._copy(row, *lists) for row, *lists in damaged.sound())

    def copy_all(self, part: Store) -> None:
        """Take over the sessions and units of another job with the same units.

        Raises:
            VerificationFailed: a unit was done here and there, and gave two answers.
        """
        with schema.own_errors(self.path):
            offset = len(self.sessions())
            for session in part.sessions():
                self.begin_session(session)
            with schema.transaction(self._connection):
                for (unit, session, *rest, _), *lists in part.sound():
                    row = (unit, session + offset, *rest)
                    if not self._is_kept(unit, rest[-3:], rest[0]):
                        self._copy((*row, digest("done", *row)), *lists)

    def _copy(self, row: Row, cases: list[Row], exact: list[Row]) -> bool:
        _insert(self._connection, "hard_case", cases)
        _insert(self._connection, "exact_case", exact)
        _insert(self._connection, "done", [row])
        return True

    def _read_about(self) -> dict[str, str]:
        rows = list(self._connection.execute("SELECT * FROM about"))
        for name, value, kept in rows:
            self._require(kept == digest("about", name, value), "the words of the search")
        about = {name: value for name, value, _ in rows}
        wanted = {"schema", "spec", "plan", "shard", "piece", "outside", "unit"}
        self._require(about.keys() == wanted, "the words of the search")
        self._require(about["schema"] == str(schema.VERSION), "the versions of the schema")
        return about

    def _table(self, name: str) -> list[Row]:
        """A table that never changes, whole."""
        with schema.own_errors(self.path):
            rows = list(self._connection.execute(f"SELECT * FROM {name} ORDER BY number"))
        self._require(_table_digest(rows) == self._about[name], f"the rows of table {name!r}")
        return rows

    def _require(self, holds: bool, what: str) -> None:
        if not holds:
            raise CorruptState(f"{self.path} is damaged: {what} do not match their digest")


def _table_digest(rows: Iterable[Row]) -> str:
    """SHA-256 over rows, each on a line of JSON."""
    total = hashlib.sha256()
    for row in rows:
        total.update(_ENCODER.encode(row).encode() + b"\n")
    return total.hexdigest()


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    if rows:
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
