"""Functions of a shared library, called in a child process: whatever they do, this one goes on."""

from __future__ import annotations

import mmap
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hrcase.errors import InputError
from hrcase.libm.encoding import CType
from hrcase.roundings import MODES, Number
from hrcase.toolchain import ToolchainError, compile_program

DRIVER = Path(__file__).with_name("driver.c")
HEADER = struct.Struct("<QQ240s")
LOADED, NO_LIBRARY = 1, 2
_HANG = "time-limit"
FIRST_LOOK, LONGEST_LOOK = 0.001, 0.05
"""Seconds between looks at the child; the first may be its end."""


class MissingFunction(InputError):
    """The library, or the function in it, is not there."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A call that gave no result.

    Attributes:
        index: of the argument.
        mode: one of MODES.
        what: what ended it, without spaces: "SIGSEGV", "exit-status-3", "time-limit-of-5-s".
        is_hang: it was ended because it did not end itself.
    """

    index: int
    mode: str
    what: str
    is_hang: bool


@dataclass
class Answers:
    """What a library said.

    Attributes:
        results: one in each mode of the library for each argument, None for what is no number;
            those of calls that failed, or were not made, mean nothing.
        faults: the calls that failed, ascending.
        calls: made, those that failed included.
    """

    results: list[Number | None] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    calls: int = 0


class SharedLibrary:
    """A function of a shared library, asked in all rounding modes (hrcase.libm.misroundings).

    Attributes:
        modes: MODES.
        name: the library as it was asked for; once it was loaded, its path.
    """

    modes: tuple[str, ...] = MODES

    def __init__(self, library: str, symbol: str, c_type: CType, time_limit: float) -> None:
        """Raises ToolchainError if there is no C compiler.

        Args:
            library: a path, or a bare name that the system's loader looks up.
            time_limit: seconds that a call may take.
        """
        self.name, self.symbol, self.c_type = library, symbol, c_type
        self._library, self.time_limit = library, time_limit
        options = (f"-DREAL={c_type.name}", f"-DMANTISSA={c_type.form.precision}")
        self._program = compile_program(DRIVER, options, ("-ldl", "-lm"))

    def ask(self, arguments: Sequence[Number], most_faults: int) -> Answers:
        """The function at each argument; stops after so many faults.

        Raises:
            MissingFunction: there is no such library or function, or it cannot be loaded.
            ToolchainError: the child cannot be run.
        """
        packed = self.c_type.pack(arguments)
        calls, answers = len(arguments) * len(MODES), Answers()
        with TemporaryDirectory(prefix="hrcase-libm-") as directory:
            path = Path(directory) / "calls"
            path.write_bytes(bytes(HEADER.size) + packed + bytes(calls * self.c_type.size))
            with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
                while answers.calls < calls and len(answers.faults) < most_faults:
                    answers.faults += self._run(path, memory, answers, calls)
                results = memory[HEADER.size + len(packed) :]
        answers.results = list(self.c_type.unpack(results))
        return answers

    def _run(self, path: Path, memory: mmap.mmap, answers: Answers, calls: int) -> Iterator[Fault]:
        """One child, from the call that is next; the fault that ended it, if one did."""
        memory[: HEADER.size] = HEADER.pack(answers.calls, 0, b"")
        words = (self._library, self.symbol, str(path), str(calls // len(MODES)))
        end = self._wait((*words, str(answers.calls)), memory)
        at, state, message = HEADER.unpack(memory[: HEADER.size])
        text = message.partition(b"\0")[0].decode(errors="replace")
        if state != LOADED:
            raise self._missing(state, text or end)
        self.name = text or self.name
        answers.calls = at
        if at < calls:
            answers.calls += 1
            is_hang = end.startswith(_HANG)
            yield Fault(at // len(MODES), MODES[at % len(MODES)], end, is_hang)

    def _wait(self, words: Sequence[str], memory: mmap.mmap) -> str:
        """Run the child until it ends, or no longer gets on; how it ended."""
        try:
            quiet = subprocess.DEVNULL
            child = subprocess.Popen(
                (str(self._program), *words), stdin=quiet, stdout=quiet, stderr=quiet
            )
        except OSError as error:
            raise ToolchainError(
                f"cannot run {self._program}: {error.strerror}; type "
                '"export HRCASE_CACHE=DIRECTORY" with a directory from which programs can be run'
            ) from error
        try:
            last, since, look = -1, time.monotonic(), FIRST_LOOK
            while True:
                try:
                    return _end_in_words(child.wait(look))
                except subprocess.TimeoutExpired:
                    look = min(2 * look, LONGEST_LOOK)
                at, now = HEADER.unpack(memory[: HEADER.size])[0], time.monotonic()
                if at != last:
                    last, since = at, now
                elif now - since > self.time_limit:
                    return f"{_HANG}-of-{self.time_limit:g}-s"
        finally:
            child.kill()
            child.wait()

    def _missing(self, state: int, why: str) -> MissingFunction:
        if state == 0:
            return MissingFunction(
                f"{self._library} cannot be loaded: the process that did so ended with {why}; "
                "repair the library, or give another --library"
            )
        if state == NO_LIBRARY:
            return MissingFunction(
                f"there is no library {self._library}: {why}; give --library a path with a slash "
                "(./libm.so), or a name that the loader knows, such as libm.so.6"
            )
        return MissingFunction(
            f"{self._library} has no function {self.symbol} of its own: {why}; give the name that "
            "it has there with --symbol"
        )


def _end_in_words(status: int) -> str:
    if status >= 0:
        return f"exit-status-{status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal-{-status}"
