"""Why an expression has no value somewhere, or why none was found."""

from __future__ import annotations


class NotDefined(ArithmeticError):
    """The expression is defined at no argument of those that were asked for; the reason."""


class Undecided(ArithmeticError):
    """The enclosures are too wide to say whether it is defined, or what its value is near."""
