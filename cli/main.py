"""The program `hrcase`: finds the command, runs it, and turns what happened into an exit code."""

import importlib
import os
import sys
import traceback
from typing import NoReturn

import click

from hrcase.cli.errors import one_line, print_error
from hrcase.disk import is_full_or_fails, is_path_refused
from hrcase.errors import ExpressionError, HrcaseError, InputError, Interrupted, TryAgain

# Name and short help of each command. The module hrcase.cli.NAME defines it as `command`, and is
# imported only when that command runs: `hrcase --help` needs neither numpy nor a compiler.
COMMANDS = {
    "search": "List every hard-to-round case of a function in an interval.",
    "plan": "Say what a search would take, before it begins.",
    "resume": "Go on with a job that was stopped.",
    "status": "Say how far jobs are.",
    "export": "Write the list of a complete job.",
    "report": "Write a page about a complete job.",
    "certify": "Write the certificate of a complete job.",
    "verify": "Check a certificate, a job or a list without the search's own code.",
    "merge": "Make one job of the parts of a search.",
    "batch": "Do the searches of a file, one after another.",
    "check": "Say how close f(x) is to a breakpoint, for the arguments given.",
    "compare": "Compare two lists of cases.",
    "tables": "Run lines of the certified exp tables.",
    "sample": "Draw medium-hard arguments at random, reproducibly.",
    "libm": "Say what a library rounds wrongly.",
    "functions": "List the functions, or say all about one.",
    "selftest": "Ask processors and devices what is known, before they are trusted.",
    "devices": "List the processors and CUDA devices to search on.",
    "bench": "Time methods and devices on the same piece, results compared first.",
}


class LazyGroup(click.Group):
    """A click group that knows its commands from COMMANDS and imports them on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        found = importlib.import_module(f"hrcase.cli.{cmd_name}").command
        if not isinstance(found, click.Command):
            raise TypeError(f"hrcase.cli.{cmd_name}.command is no click command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    name="hrcase",
    invoke_without_command=True,
    context_settings={"show_default": True},
)
@click.version_option(package_name="hrcase", prog_name="hrcase")
@click.pass_context
def hrcase(context: click.Context) -> None:
    """Find the hard-to-round cases of mathematical functions, with proof.

    Exit codes: 0 complete, 1 bug, 2 usage, 3 job mismatch, 4 stopped and resumable, 5 try again,
    6 self-test failed, 7 verification failed, 8 corrupt state, 9 no device.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: list[str]) -> int:
    """Run one command line (without the program's name); its exit code.

    click's own entry point would exit with 1 on Ctrl-C and on a closed pipe, which callers of long
    searches could not tell from a bug; so the group is invoked here.
    """
    try:
        exit_code = _invoke(arguments)
        sys.stdout.flush()
        return exit_code
    except BrokenPipeError:
        return _reader_left()
    except (KeyboardInterrupt, click.Abort):
        print_error("stopped by Ctrl-C; not everything asked was done; run the same command again")
        return Interrupted.exit_code
    except click.ClickException as error:
        print_error(one_line(error))
        return error.exit_code
    except HrcaseError as error:
        print_error(str(error), error.pointer if isinstance(error, ExpressionError) else "")
        return error.exit_code
    except MemoryError:
        print_error("out of memory; the task needs more than is free; ask for a smaller interval")
        return TryAgain.exit_code
    except OSError as error:
        if is_full_or_fails(error):
            return _disk_fails(error)
        if not is_path_refused(error):
            return _unexpected(error)
        print_error(f"cannot use {error.filename}: {error.strerror}; give another path")
        return InputError.exit_code
    except Exception as error:
        return _unexpected(error)


def main() -> NoReturn:
    """Entry point of the program."""
    sys.exit(run(sys.argv[1:]))


def _invoke(arguments: list[str]) -> int:
    """Parse and run; a command that ends with `context.exit(code)` gives its own exit code."""
    try:
        with hrcase.make_context("hrcase", arguments) as context:
            hrcase.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return 0


def _reader_left() -> int:
    """Whoever read our output (`| head`) has enough: no error. Python must not flush again."""
    _drop_stdout()
    return 0


def _disk_fails(error: OSError) -> int:
    """What commands write to files they have in their own words; this is stdout, or the like."""
    _drop_stdout()
    where = f" to {error.filename}" if error.filename else ""
    print_error(
        f"cannot write{where}: {error.strerror}; what was printed is not whole; free space there, "
        "or for temporary files, and run the same command again"
    )
    return TryAgain.exit_code


def _drop_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception) -> int:
    """An exception that nobody foresaw: one line for users, the traceback for who debugs."""
    if os.environ.get("HRCASE_DEBUG"):
        traceback.print_exception(error)
    print_error(
        f"unexpected {type(error).__name__}: {error}; this is a bug in hrcase; report it with the "
        "command line and what it prints under HRCASE_DEBUG=1"
    )
    return 1
