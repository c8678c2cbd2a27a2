"""The options that say what is searched: those of `search`, `plan` and `sample`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from hrcase.asked import spec_of
from hrcase.formats import FORMATS
from hrcase.lattice import ROUNDINGS
from hrcase.spec import SIGNS

Command = Callable[..., None]

OPTIONS = (
    click.argument("function"),
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
    "function",
    "exponents",
    "interval_text",
    "sign",
    "input_name",
    "output_name",
    "bits",
    "rounding",
)


NO_BITS = tuple(word for word in WORDS if word != "bits")


def asked_options(command: Command, words: tuple[str, ...] = WORDS) -> Command:
    """FUNCTION and the options that say what is asked; the command gets `spec` in their place."""

    @wraps(command)
    def with_spec(**given: Any) -> None:
        command(spec=spec_of(**{word: given.pop(word) for word in words}), **given)

    decorated: Command = with_spec
    for word, option in reversed(tuple(zip(WORDS, OPTIONS, strict=True))):
        if word in words:
            decorated = option(decorated)
    return decorated


def region_options(command: Command) -> Command:
    """As `asked_options`, without --bits."""
    return asked_options(command, NO_BITS)
