"""Errors that hrcase raises on purpose, and the exit code that each one means.

| code | meaning |
| --- | --- |
| 0 | complete |
| 1 | unexpected: a bug in hrcase |
| 2 | usage: the command line or a file named in it is wrong |
| 3 | the job exists already, or does not match what is asked |
| 4 | stopped early, resumable |
| 5 | try again: device busy, out of memory |
| 6 | self-test failed |
| 7 | verification failed, lists differ |
| 8 | corrupt state, quarantined |
| 9 | no usable device |

The message of each error is one line: what happened; why; what to type next.
"""

SHOWN = 36
"""Characters of an expression that are shown on either side of an error."""


class HrcaseError(Exception):
    """Base of every error raised on purpose; `exit_code` is what the program then exits with."""

    exit_code = 1


class InputError(HrcaseError, ValueError):
    """A value, a file or an option given by the user is wrong."""

    exit_code = 2


class ExpressionError(InputError):
    """An expression is wrong at one of its characters.

    Attributes:
        pointer: two lines, the expression and a caret below the character.
    """

    def __init__(self, what: str, text: str, at: int, way_out: str) -> None:
        super().__init__(f"{what}, at character {at + 1} of the expression; {way_out}")
        self.pointer = _pointer(text, at)


def _pointer(text: str, at: int) -> str:
    """The part of a text around a character, printable and in one line, and a caret below."""
    first = max(0, at - SHOWN)
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[first : at + SHOWN])
    return f"  {shown}\n  {' ' * (at - first)}^"


class ExportError(HrcaseError, OSError):
    """A result cannot be written where it was asked for."""

    exit_code = 2


class JobMismatch(HrcaseError):
    """The job exists already, or it is not the job that is asked for."""

    exit_code = 3


class Interrupted(HrcaseError):
    """Stopped before the end, with everything that was done kept: the job can be resumed."""

    exit_code = 4


class TryAgain(HrcaseError):
    """A resource was short for the moment (device busy, out of memory)."""

    exit_code = 5


class SelfTestFailed(HrcaseError):
    """A kernel or an evaluator gave a wrong answer to a question with a known one."""

    exit_code = 6


class VerificationFailed(HrcaseError):
    """A result does not stand up to the check that was asked for."""

    exit_code = 7


class CorruptState(HrcaseError):
    """Stored state does not match its digest; it was set aside, not used."""

    exit_code = 8


class NoDevice(HrcaseError):
    """No usable device for the engine asked for."""

    exit_code = 9
