"""How an input is broken for tests/fuzz.py: its bytes, or values of it with its form kept.

Bytes that are broken at random seldom get a JSON document or a database beyond its parser.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hrcase.verify.document import DIGEST

TOKENS = (
    *(b"", b"\x00", b"\r\n", b"\r", b"\n", b",", b" ", b"\t", b'"', b"#", b"*", b"=", b"\xff\xfe"),
    *(b"nan", b"inf", b"-inf", b"-", b"+", b"0", b"-0", b"1", b"9" * 400, b"0x", b"0x1p", b"1/3"),
    *(b"1e1000000", b"-1e-1000000", b"0x1p10000000", b"0x1p-10000000", b"1e99999999999", b"1_0"),
    *(b"18446744073709551616", b"-1", b"4503599627370497", "१".encode(), "\u2028".encode()),
    *(b"\xed\xa0\x80", "\ufeff".encode(), b"%s", b"{}", b"../x", b"/", b"\x1b[31m"),
)


def mutated(generator: random.Random, tokens: tuple[bytes, ...], seeds: tuple[bytes, ...]) -> bytes:
    """A seed that was changed a few times."""
    content = bytearray(generator.choice(seeds))
    for _ in range(generator.choice((1, 1, 1, 2, 3, 8))):
        at, to = sorted(generator.randrange(len(content) + 1) for _ in range(2))
        kind = generator.randrange(8)
        if kind == 0 and content:
            content[at - 1] ^= 1 << generator.randrange(8)
        elif kind == 1:
            del content[at : min(to, at + generator.choice((1, 2, 20, 1000)))]
        elif kind == 2:
            content[at:at] = content[at:to] * generator.choice((1, 2, 30))
        elif kind == 3:
            del content[at:]
        elif kind == 4:
            content[at:at] = bytes(
                generator.randrange(256) for _ in range(generator.choice((1, 4)))
            )
        elif kind == 5:
            other = generator.choice(seeds)
            cut = generator.randrange(len(other) + 1)
            content[at:] = other[cut:]
        else:  # a token, or instead of a word
            token = generator.choice((*TOKENS, *tokens))
            words = [found.start() for found in re.finditer(rb"[ ,=*:\[\]{}\n]", content)]
            if kind == 6 and len(words) > 1:
                place = generator.randrange(len(words) - 1)
                at, to = words[place] + 1, words[place + 1]
            else:
                to = at
            content[at:to] = token
    return bytes(content)


TEXTS = (
    *("", "x", "nan", "inf", "-0x1p+0", "0x1p-99999999", "0x1p+99999999", "0x1p+0", "1e999", "1/3"),
    *("0x1.0000000000000000000001p+0", "searched", "scanned", "settled", "farey", "evaluated", "b"),
    *("exp", "expr:exp(x)", "pown:-3", "binary32", "nearest", "\0", "\u2028", "\udc80", "z" * 3000),
)
NUMBERS = (0, 1, -1, 2, 3, 64, 65, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 10**400, 0.5, 1e308)
VALUES: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": 0}, *TEXTS, *NUMBERS)

Way = tuple[Any, ...]


def places(node: Any, path: Way = ()) -> Iterator[Way]:
    """The way to each value within a document, itself excepted."""
    if isinstance(node, dict):
        steps: Iterator[tuple[Any, Any]] = iter(node.items())
    elif isinstance(node, list):
        steps = iter(enumerate(node))
    else:
        return
    for step, below in steps:
        yield (*path, step)
        yield from places(below, (*path, step))


def altered(generator: random.Random, document: Any) -> Any:
    """A copy with one to three values put elsewhere, left out, doubled or replaced."""
    document = copy.deepcopy(document)
    for _ in range(generator.choice((1, 1, 2, 3))):
        ways = list(places(document))
        if not ways:
            break
        *way, last = generator.choice(ways)
        around = _at(document, way)
        kind = generator.randrange(6)
        if kind == 0:
            del around[last]
        elif kind == 1 and isinstance(around, list):
            around.insert(last, copy.deepcopy(around[last]))
        elif kind == 1:
            around[generator.choice(TEXTS)] = copy.deepcopy(around[last])
        elif kind == 2:
            around[last] = copy.deepcopy(_at(document, generator.choice(ways)))
        elif kind == 3:
            around[last] = _near(generator, around[last])
        else:
            around[last] = generator.choice(VALUES)
    return document


def _at(document: Any, way: Way | list[Any]) -> Any:
    for step in way:
        document = document[step]
    return document


def _near(generator: random.Random, value: Any) -> Any:
    """A value of the same type, a little different."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return generator.choice((value + 1, value - 1, -value, value * 2))
    if isinstance(value, str):
        at = generator.randrange(len(value) + 1)
        return value[:at] + generator.choice(("", "0", "f", "-", "x")) + value[at + 1 :]
    if isinstance(value, list):
        return value[::-1]
    return [list(pair) for pair in value.items()]


def altered_json(generator: random.Random, content: bytes) -> bytes:
    """As `altered`."""
    return json.dumps(altered(generator, json.loads(content))).encode()


def altered_certificate(generator: random.Random, content: bytes) -> bytes:
    """As `altered`, with the digest of what then stands there."""
    document = json.loads(content)
    del document["digest"]
    body = json.dumps(altered(generator, document)).removesuffix("}")
    return (body + DIGEST + hashlib.sha256(body.encode()).hexdigest() + '"}\n').encode()


CELLS = (
    *(None, 0, 1, -1, 1 << 62, -(1 << 63), 0.5, float("inf"), b"", b"\xff\x00", "", "x", "-", "[]"),
    *("{}", "null", "[1]", "1" * 5000, "[" * 9000, "0x1p+0", "nan", "9" * 60, "\0", "\u2028"),
)


def altered_database(generator: random.Random, content: bytes) -> bytes:
    """An SQLite file with cells set anew, rows left out or doubled, digests as they were."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "database")
        file.write_bytes(content)
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA synchronous = OFF")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = sorted(name for (name,) in tables)
        for _ in range(generator.choice((1, 1, 2, 3))):
            _alter_row(generator, connection, generator.choice(names))
        connection.commit()
        connection.close()
        return file.read_bytes()


def _alter_row(generator: random.Random, connection: sqlite3.Connection, table: str) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    if not rows:
        marks = ", ".join("?" for _ in columns)
        cells = [generator.choice(CELLS) for _ in columns]
        with suppress(sqlite3.IntegrityError):
            connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", cells)
        return
    row, column = generator.choice(rows), generator.choice(columns)
    where = f"{columns[0]} = ?"
    if generator.randrange(6) == 0:
        connection.execute(f"DELETE FROM {table} WHERE {where}", row[:1])
    else:
        value = generator.choice((*CELLS, *generator.choice(rows)))
        set_it = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {where}"
        with suppress(sqlite3.IntegrityError):  # a text for the number of a row
            connection.execute(set_it, (value, row[0]))
