"""How errors of the command line look: one line, with the way out at its end."""

import click

PREFIX = "hrcase: error: "


class UsageError(click.ClickException):
    """The command line is wrong; the message says what; why; what to type next."""

    exit_code = 2


def print_error(message: str, pointer: str = "") -> None:
    """Print one error on stderr as a single line; below it, where in a text it is."""
    click.echo(PREFIX + " ".join(message.split()), err=True)
    if pointer:
        click.echo(pointer, err=True)


def one_line(error: click.ClickException) -> str:
    """The message of a click error, with the command that shows the help where click knows it."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message}; run: {error.ctx.command_path} --help"
    return message
