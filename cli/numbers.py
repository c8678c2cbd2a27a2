"""Negative numbers on the command line, without a `--` before them."""

import re

import click

_NEGATIVE_NUMBER = re.compile(r"-(?:\.?[0-9].*|inf|infinity)", re.IGNORECASE)


class NumberArgs(click.Command):
    """A command whose arguments may be negative numbers: `hrcase check exp -1 -0x1.8p-3 -inf`.

    Give it to click as `@click.command(cls=NumberArgs)`. Options may stand anywhere. An option
    takes its value from the next token or after `=`; only a single short option may have one.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move everything that is no option behind a `--`, which click reads as arguments."""
        value_counts = self._value_counts()
        options: list[str] = []
        arguments: list[str] = []
        rest = list(args)
        while rest:
            token = rest.pop(0)
            if token == "--":
                arguments += rest
                break
            if not token.startswith("-") or token == "-" or _NEGATIVE_NUMBER.fullmatch(token):
                arguments.append(token)
                continue
            values = value_counts.get(token, 0)
            options += [token, *rest[:values]]
            if len(rest) < values:
                return super().parse_args(ctx, options)  # click says which value is missing
            del rest[:values]
        return super().parse_args(ctx, [*options, "--", *arguments])

    def _value_counts(self) -> dict[str, int]:
        """How many tokens each option takes after its name."""
        return {
            name: parameter.nargs
            for parameter in self.params
            if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
            for name in parameter.opts
        }
