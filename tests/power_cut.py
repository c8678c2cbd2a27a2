"""What a disk may hold after a power cut: a model, on top of what tests/failing_disk.c recorded.

A file has what was written before its last fsync. Of later writes any sectors may be there and the
others not; of later changes of its length any. A directory has the entries that it had at its last
fsync; of later changes (a file made, renamed, unlinked) those up to any one. So a file whose entry
was not forced to the disk is not there, and a renamed file may be there with nothing in it. A
sector is written whole or not at all, and what was once on the disk stays: bytes that go wrong and
disks that lie about fsync are not modelled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR = 512


class Call(NamedTuple):
    """A line of the record; `place` is an offset, or a length."""

    name: str
    path: str
    place: int
    data: bytes


def read_record(path: Path) -> Iterator[Call]:
    with open(path, "rb") as file:
        while line := file.readline():
            name, where, place, size = line.decode().split("\t")
            yield Call(name, where, int(place), file.read(int(size)))


@dataclass(eq=False)
class File:
    """What is safe, and what came later: (offset, data), or (length, None)."""

    safe: bytes = b""
    later: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        self.safe, self.later = self.after(None), []

    def after(self, chance: random.Random | None) -> bytes:
        """With all that came later, or with some of it by chance."""
        content = bytearray(self.safe)
        for place, data in self.later:
            if data is None:
                if chance is None or chance.random() < 0.5:
                    content[place:] = bytes(max(0, place - len(content)))
                continue
            for first, sector in sectors(place, data):
                if chance is None or chance.random() < 0.5:
                    content.extend(bytes(max(0, first - len(content))))
                    content[first : first + len(sector)] = sector
        return bytes(content)


def sectors(place: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Data cut where sectors of the file end."""
    first = place
    while first < place + len(data):
        end = min((first // SECTOR + 1) * SECTOR, place + len(data))
        yield first, data[first - place : end - place]
        first = end


Entries = dict[str, "File | Directory"]


@dataclass(eq=False)
class Directory:
    """The entries that are safe, those that there are, and the changes in between."""

    safe: Entries = field(default_factory=dict)
    now: Entries = field(default_factory=dict)
    later: list[dict[str, File | Directory | None]] = field(default_factory=list)

    def change(self, entries: dict[str, File | Directory | None]) -> None:
        """Set some entries, all at once; None takes one away."""
        self.now = changed(self.now, entries)
        self.later.append(entries)

    def sync(self) -> None:
        self.safe, self.later = self.now, []


def changed(entries: Entries, by: dict[str, File | Directory | None]) -> Entries:
    merged = entries | by
    return {name: node for name, node in merged.items() if node is not None}


class Disk:
    """What stands below a directory, and what becomes of it."""

    def __init__(self, root: Path) -> None:
        self._root, self.kept = root, list[str]()
        self._top = _loaded(root)

    def do(self, call: Call) -> None:
        """A call of the record; "kept" notes what was acknowledged."""
        if call.name == "kept":
            self.kept.append(call.path)
            return
        parent, name = self._find(call.path)
        node = self._top if not name else parent.now.get(name)
        if call.name in ("make", "mkdir"):
            parent.change({name: File() if call.name == "make" else Directory()})
        elif call.name == "rename":
            onto, new = self._find(call.data.decode())
            assert onto is parent
            parent.change({name: None, new: node})
        elif call.name == "unlink":
            parent.change({name: None})
        elif call.name == "sync":
            assert node is not None
            node.sync()
        else:
            assert isinstance(node, File)
            node.later.append((call.place, call.data if call.name == "write" else None))

    def _find(self, path: str) -> tuple[Directory, str]:
        """The directory of a path, and its name there; "" of the uppermost one."""
        *above, name = Path(path).relative_to(self._root).parts or ("",)
        directory = self._top
        for part in above:
            found = directory.now[part]
            assert isinstance(found, Directory)
            directory = found
        return directory, name

    def cut(self, how: str, chance: random.Random) -> dict[str, bytes | None]:
        """What there is after a cut: paths with contents, None for a directory.

        Args:
            how: "least": what is safe; "most": all that was done; "some": by chance.
        """
        return dict(_left(self._top, "", how, chance))


def _left(
    directory: Directory, above: str, how: str, chance: random.Random
) -> Iterator[tuple[str, bytes | None]]:
    changes = directory.later
    count = {"least": 0, "most": len(changes)}.get(how, chance.randint(0, len(changes)))
    entries = directory.safe
    for change in changes[:count]:
        entries = changed(entries, change)
    for name, node in entries.items():
        path = f"{above}{name}"
        if isinstance(node, Directory):
            yield path, None
            yield from _left(node, f"{path}/", how, chance)
        elif how == "least":
            yield path, node.safe
        else:
            yield path, node.after(chance if how == "some" else None)


def _loaded(root: Path) -> Directory:
    """A directory that was there long before."""
    entries: Entries = {
        path.name: _loaded(path) if path.is_dir() else File(path.read_bytes())
        for path in root.iterdir()
    }
    return Directory(entries, entries)


def write(root: Path, left: dict[str, bytes | None]) -> None:
    """Fill an empty directory."""
    for path, content in left.items():
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)
