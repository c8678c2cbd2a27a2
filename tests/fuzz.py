"""Broken inputs for every reader: seeds, a seeded mutator, and what a reader may do with them.

A reader may accept its input or refuse it with one line on stderr and an exit code that its entry
allows. It may not raise anything else, take more than some seconds of processor time, or leave
anything behind. tests/test_fuzz.py gives each a few hundred inputs; by hand:

    python tests/fuzz.py --count 100000 [--reader NAME] [--seed N]

A new reader is one entry of READERS.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import signal
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
from broken import altered_certificate, altered_database, altered_json, mutated
from brute.tables import exp_line, text_of

from hrcase.cli import main
from hrcase.cli.batch import read_batch
from hrcase.engine.cpu import CpuEngine
from hrcase.errors import HrcaseError
from hrcase.export.csv import HEADER
from hrcase.hexfloat import format_bound, parse_bound, parse_interval
from hrcase.job.crew import Crew
from hrcase.sample import Distances
from hrcase.tables.line import read_lines
from hrcase.tables.search import search

SECONDS = 10.0
"""Of processor time an input may take; most take a thousandth."""

REFUSALS = (HrcaseError, click.ClickException)

Feed = Callable[[bytes, Path], int]
"""Give an input to a reader, in an empty directory; the exit code."""


class Wrong(AssertionError):
    """A reader did what it may not do."""


class Hang(BaseException):
    """A reader took too long."""


@dataclass(frozen=True)
class Reader:
    """One entry.

    Attributes:
        seeds: makes inputs that it accepts.
        feed: gives it one.
        codes: exit codes that are answers.
        tokens: that the mutator puts in, besides TOKENS.
        alter: changes a seed instead of the mutator.
    """

    seeds: Callable[[], tuple[bytes, ...]]
    feed: Feed
    codes: frozenset[int] = frozenset({0, 2})
    tokens: tuple[bytes, ...] = ()
    alter: Callable[[random.Random, bytes], bytes] | None = None

    def broken(self, generator: random.Random, seeds: tuple[bytes, ...]) -> bytes:
        """An input: a seed that was changed."""
        if self.alter is None:
            return mutated(generator, self.tokens, seeds)
        return self.alter(generator, generator.choice(seeds))


def given(*seeds: bytes) -> Callable[[], tuple[bytes, ...]]:
    """Seeds that need not be made."""
    return lambda: seeds


def command(*arguments: str, file: str = "") -> Feed:
    """A command line; {file} stands for a file of that name, {text} for the input as a word."""

    def feed(content: bytes, directory: Path) -> int:
        path = directory / file
        if file:
            path.write_bytes(content)
        text = content.decode("utf-8", "surrogateescape")
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", "strict")
        err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        with redirect_stdout(out), redirect_stderr(err):
            code = main.run([word.format(file=path, text=text) for word in arguments])
        for stream in (out, err):
            stream.seek(0)
        said = err.read().splitlines()
        errors = [line for line in said if line.startswith("hrcase: error: ")]
        if code in (1, 2) and (len(errors) != 1 or "a bug in hrcase" in errors[0]):
            raise Wrong(f"exit code {code}, and on stderr: {said}")
        if code == 2 and out.read():
            raise Wrong("something on stdout before the error")
        return code

    return feed


def library(read: Callable[[bytes, Path], object]) -> Feed:
    """A function of the library, which may raise hrcase's errors, or those of the command line."""

    def feed(content: bytes, directory: Path) -> int:
        try:
            read(content, directory)
        except REFUSALS as error:
            if not str(error):
                raise Wrong("an error without words") from error
            return error.exit_code
        return 0

    return feed


def _batch(content: bytes, directory: Path) -> None:
    """Only read: what it asks for may take days. The command must refuse what is refused."""
    file = directory / "a.toml"
    file.write_bytes(content)
    try:
        read_batch(file)
    except REFUSALS as error:
        code = command("batch", "{file}", "--jobs", f"{directory}/jobs", file="a.toml")(
            content, directory
        )
        if code != error.exit_code:
            raise Wrong(
                f"read_batch would exit with {error.exit_code}, batch with {code}"
            ) from None
        raise


def _table(content: bytes, directory: Path) -> None:
    """Lines are read; those that are short are run."""
    lines = list(read_lines(io.BytesIO(content), "table"))
    with Crew([CpuEngine(1)]) as crew:
        for _ in search((line for line in lines if line.count < 1 << 12), crew):
            pass


def _words(content: bytes, directory: Path) -> None:
    """An interval; what is read and printed is read as the same."""
    bounds = parse_interval(content.decode("utf-8", "surrogateescape"))
    for bound in bounds:
        dyadic = isinstance(bound, float) or bound.denominator.bit_count() == 1
        if dyadic and parse_bound(format_bound(bound)) != bound:
            raise Wrong(f"{bound} is read differently once it was printed")


def _distances(content: bytes, directory: Path) -> None:
    """What `hrcase sample` is asked for; only read."""
    Distances.parse(content.decode("utf-8", "surrogateescape"))


CPU = ("--device", "cpu", "--threads", "1")
SCANNED = ("exp", "--format", "binary16", "--interval", "1,1.25", "--bits", "8")
SEARCHED = ("exp", "--format", "binary32", "--interval", "1,1.0005", "--bits", "14")
"""One block with a polynomial."""

SETTLED = ("exp", "--format", "binary32", "--interval", "0x1.fffp-17,0x1.0008p-16", "--bits", "14")
"""Two settled pieces with a scanned one between them."""


@cache
def _made(asked: tuple[str, ...] = SCANNED) -> dict[str, bytes]:
    """The files of a complete job, its list with the claim, and its certificate."""
    with tempfile.TemporaryDirectory() as place:
        job, silent = f"{place}/job", io.StringIO()
        for words in (
            ["search", *asked, *CPU, "--job", job, "--output", f"{place}/a.csv"],
            ["certify", job, "--output", f"{place}/a.json"],
        ):
            with redirect_stdout(silent), redirect_stderr(silent):
                code = main.run(words)
            if code:
                raise Wrong(f"nothing was made: {silent.getvalue()}")
        files = (path for path in Path(place).rglob("*") if path.is_file())
        return {path.name: path.read_bytes() for path in files}


def _small_job() -> dict[str, bytes]:
    return {name: content for name, content in _made().items() if not name.startswith("a.")}


def _certificate() -> tuple[bytes, ...]:
    return (_made()["a.json"],)


def _certificates() -> tuple[bytes, ...]:
    return tuple(_made(asked)["a.json"] for asked in (SCANNED, SEARCHED, SETTLED))


def _database() -> tuple[bytes, ...]:
    return (_small_job()["job.sqlite"],)


def _claim() -> tuple[bytes, ...]:
    return (_made()["a.csv.claim.json"],)


def _listed(content: bytes, directory: Path) -> int:
    """`verify` of a list whose claim is the input."""
    (directory / "a.csv").write_bytes(_made()["a.csv"])
    (directory / "a.csv.claim.json").write_bytes(content)
    return command("verify", f"{directory}/a.csv", "--sample", "1")(b"", directory)


def _job(content: bytes, directory: Path) -> int:
    """`status`, then `export`, of a job whose database is the input."""
    for name, whole in _small_job().items():
        (directory / name).write_bytes(content if name == "job.sqlite" else whole)
    code = command("status", str(directory))(b"", directory)
    export, output = ("export", str(directory), "--to", "csv"), directory / "a.csv"
    shown = command(*export)(b"", directory)
    kept = command(*export, "--output", str(output))(b"", directory)
    if kept != shown or output.exists() != (kept == 0):
        raise Wrong(f"export to stdout gives exit code {shown}, to a file {kept}")
    return max(code, shown)


CSV = (",".join(HEADER) + "\n").encode() + (
    b"exp,binary64,0x1.001e6892695eep+0,0x1.5c19ff7a48046p+1,midpoint,below,-45.527,1.972314156e-14,44\n"
    b"exp,binary64,0x1.008eb56314daap+0,0x1.5cb2d4d0a9186p+1,number,below,-45.092,2.666302669e-14,44\n"
)
WC = b"# a claim\n0x1.8p-3\n-0x1.001e6892695eep+0 # hard\n\nnan\n+inf\n1e-3\nsnan\n"
BIN = struct.pack("<5d", 1.5, -0.0, float("nan"), 5e-324, float("-inf"))
BACSEL = (
    b"BaCSeL 4.0\n*** x=4549788078159242*2^-53, distance is: 1.138341287e-14\n"
    b"*** x=4504746622776930*2^-53, distance is: 1.171239464e-14\nfound 2\n"
)
TOML = b"""[defaults]
format = "binary32"
bits = 17
[[search]]
function = "exp"
interval = "1,2"
[[search]]
name = "sine"
function = "sin"
exponent-range = "-1:-1"
sign = "positive"
rounding = "nearest"
max-cases = 1000
"""
MANY = (
    b"every",
    b"[[search]]",
    b"true",
    b"-",
    b"[" * 9000,
    b"1" * 5000,
    b'"\\u0000"',
    b"1979-13-01",
)
TABLES = (
    exp_line(1.0, 3000, 4, 3).encode(),
    (exp_line(-0.25, 2000, 6, 4) + "\n\n# more\n" + text_of(2.0, 4000, 2, [5, 7])).encode(),
)
ARGUMENTS = (b"0x1.8p-3", b"-1", b"0.25", b"0x1.00002385331bep-2", b"1e-300", b"710")
EXPRESSIONS = (
    b"exp(-x*x)/2",
    b"log(1+exp(x))",
    b"sin(x)/x",
    b"(x^2-2)*pi+0x1.8p-3",
    b"-x^-3/e+1/3",
)
WORDS = (
    b"x",
    b"(",
    b")",
    b"^",
    b"*",
    b"/",
    b"-",
    b"exp(",
    b"tgamma(",
    b"cosh(",
    b"pi",
    b"^-1",
    b"^99",
)
NAMES = (b"exp", b"pown:3", b"rootn:-2", b"compound:5", b"lgamma")
LISTS = frozenset({0, 2, 7})
CERTIFICATES = LISTS | {3}
JSON = (
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[[]]",
    b'""',
    b'"x"',
    b"-1",
    b"1.5",
    b"1e999",
    b"1" * 5000,
    b"[" * 9000,
    b'{"":' * 9000,
)
JOB = frozenset({0, 2, 3, 4, 8})
VERIFY = command("verify", "{file}", "--sample", "1", file="a.json")
COMPARE = ("compare", "{file}", "{file}")

READERS: dict[str, Reader] = {
    "csv": Reader(given(CSV), command(*COMPARE, file="a.csv"), LISTS),
    "wc": Reader(given(WC), command(*COMPARE, file="a.wc"), LISTS),
    "bin": Reader(given(BIN), command(*COMPARE, file="a.bin"), LISTS),
    "bacsel": Reader(given(BACSEL), command(*COMPARE, file="a.out"), LISTS),
    "bacsel-decided": Reader(
        given(BACSEL), command(*COMPARE, "--bits", "45", "--function", "exp2", file="a.out"), LISTS
    ),
    "batch": Reader(given(TOML), library(_batch), tokens=MANY),
    "tables": Reader(given(*TABLES), library(_table)),
    "intervals": Reader(given(b"1,2", b"-inf,0x1p-3", b"0.25,0.25001"), library(_words)),
    "names": Reader(given(*NAMES), command("functions", "--", "{text}"), tokens=WORDS),
    "expressions": Reader(
        given(*EXPRESSIONS), command("check", "--expr", "{text}", "--", "0.75"), tokens=WORDS
    ),
    "distances": Reader(given(b"2^-35:2^-12", b"2^-60:2^-3"), library(_distances)),
    "arguments": Reader(given(*ARGUMENTS), command("check", "exp", "--", "{text}")),
    "certificate": Reader(_certificate, VERIFY, CERTIFICATES, JSON),
    "certificate-values": Reader(_certificates, VERIFY, CERTIFICATES, alter=altered_certificate),
    "claim": Reader(_claim, _listed, LISTS, JSON),
    "claim-values": Reader(_claim, _listed, LISTS, alter=altered_json),
    "job": Reader(_database, _job, JOB),
    "job-values": Reader(_database, _job, JOB, alter=altered_database),
}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hang after so much processor time."""

    def stop(*_: object) -> None:
        raise Hang

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def fuzz(name: str, count: int, seed: int) -> Counter[int]:
    """Give a reader so many inputs; how often each exit code came.

    Raises:
        Wrong: it did what it may not do; the message holds the input.
    """
    reader, generator = READERS[name], random.Random(f"{name} {seed}")
    seeds = reader.seeds()
    codes: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        for number in range(count):
            content = reader.broken(generator, seeds) if number else seeds[0]
            room = Path(directory, "room")
            room.mkdir()
            started = time.process_time()
            try:
                with limited(SECONDS):
                    code = reader.feed(content, room)
                if code not in reader.codes:
                    raise Wrong(f"exit code {code}")
                left = [path.name for path in room.iterdir() if not _is_given(path.name)]
                if left and code != 8:
                    raise Wrong(f"left behind: {left}")
            except (Exception, Hang) as error:
                took = time.process_time() - started
                what = f"{name}, seed {seed}, input {number}: {type(error).__name__} {error}"
                raise Wrong(f"{what} after {took:.1f} s; {content[:2000]!r}") from error
            codes[code] += 1
            shutil.rmtree(room)
    return codes


def _is_given(name: str) -> bool:
    return name.startswith("a.") or name in _small_job()


def main_by_hand() -> None:
    """The script."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", choices=READERS)
    given = parser.parse_args()
    for name in [given.reader] if given.reader else READERS:
        started = time.monotonic()
        codes = fuzz(name, given.count, given.seed)
        seconds = time.monotonic() - started
        shown = ", ".join(f"{count} with exit code {code}" for code, count in sorted(codes.items()))
        print(f"{name}: {shown}; {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main_by_hand()
