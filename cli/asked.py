"""The options that say what is searched: those of `search`, `plan` and `sample`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from hrcase.asked import spec_of
from hrcase.cli.errors import UsageError
from hrcase.formats import FORMATS
from hrcase.functions import EXPRESSION
from hrcase.lattice import ROUNDINGS
from hrcase.spec import SIGNS

Command = Callable[..., None]

EXPRESSION_OPTION = click.option(
    "--expr",
    "expression",
    metavar="TEXT",
    help="An expression in x, 'exp(-x*x)/2', see docs/expressions.md. Default: FUNCTION.",
)

FUNCTION_OPTIONS = (click.argument("function", required=False), EXPRESSION_OPTION)

OPTIONS = (
    click.option(
        "--exponent-range",
        "exponents",
        metavar="A:B",
        help="2^A <= |x| < 2^(B+1). Default: every x.",
    ),
    click.option(
        "--interval",
        "interval_text",
        metavar="LO,HI",
        help="LO <= x < HI, exact bounds. Default: every x.",
    ),
    click.option("--sign", type=click.Choice(SIGNS), help="Sign of x. Default: both."),
    click.option(
        "--format", "input_name", default="binary64", help=f"One of {', '.join(FORMATS)}."
    ),
    click.option("--output-format", "output_name", help="Format of f(x). Default: that of x."),
    click.option(
        "--bits",
        type=int,
        help="M: list x when f(x) is within 2^-M ulp of a breakpoint, that is, with at least M - 1 "
        "identical bits after the round bit (BaCSeL -m M). Default: p - 9, never below 6.",
    ),
    click.option(
        "--rounding",
        type=click.Choice(ROUNDINGS),
        default="all",
        help="Breakpoints: all, midpoints (nearest), or numbers (directed).",
    ),
)
WORDS = (
    "exponents",
    "interval_text",
    "sign",
    "input_name",
    "output_name",
    "bits",
    "rounding",
)


NO_BITS = tuple(word for word in WORDS if word != "bits")


def function_of(function: str | None, expression: str | None) -> str:
    """The name of what was asked for: FUNCTION, or the text of --expr.

    Raises:
        UsageError: neither or both were given.
    """
    if function is not None and expression is not None:
        raise UsageError(f"--expr takes FUNCTION's place; leave out {function!r} or --expr")
    if expression is not None:
        return EXPRESSION + expression
    if function is None:
        raise UsageError("Missing argument 'FUNCTION'; give it, or --expr TEXT")
    return function


def asked_options(command: Command, words: tuple[str, ...] = WORDS) -> Command:
    """FUNCTION and the options that say what is asked; the command gets `spec` in their place."""

    @wraps(command)
    def with_spec(**given: Any) -> None:
        function = function_of(given.pop("function"), given.pop("expression"))
        command(spec=spec_of(function, **{word: given.pop(word) for word in words}), **given)

    asked = (option for word, option in zip(WORDS, OPTIONS, strict=True) if word in words)
    decorated: Command = with_spec
    for option in reversed((*FUNCTION_OPTIONS, *asked)):
        decorated = option(decorated)
    return decorated


def region_options(command: Command) -> Command:
    """As `asked_options`, without --bits."""
    return asked_options(command, NO_BITS)
