"""Writes docs/commands.md to stdout: every command of `hrcase` with the help that it prints."""

from collections.abc import Iterator

import click

from hrcase.cli.main import COMMANDS, hrcase

WIDTH = 88

HEAD = """\
# Every command

What `hrcase COMMAND --help` prints, and nothing else: `make docs` writes this page, and a test
compares it with the program.
"""


def page() -> str:
    """The page."""
    return "\n".join(_parts()) + "\n"


def _parts() -> Iterator[str]:
    yield HEAD
    with click.Context(hrcase, info_name="hrcase") as context:
        yield _block("hrcase", hrcase, context)
        for name in COMMANDS:
            command = hrcase.get_command(context, name)
            assert command is not None
            yield _block(f"hrcase {name}", command, context)


def _block(title: str, command: click.Command, parent: click.Context) -> str:
    is_root = command is hrcase
    context = click.Context(
        command,
        info_name=title.split()[-1],
        parent=None if is_root else parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    lines = command.get_help(context).splitlines()
    return "\n".join([f"## {title}", "", *(f"    {line}".rstrip() for line in lines), ""])


if __name__ == "__main__":
    print(page(), end="")
