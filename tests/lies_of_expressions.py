"""Alterations of certificates of expressions, beside those of tests/lies.py."""

from __future__ import annotations

from typing import Any

from lies import BINARY16, Alter, Json, Lie, neighbour, set_function, settled, without_units

from hrcase.hexfloat import parse_number


def kind(of: str, to: str, near: Any = None) -> Alter:
    """The first settled piece of a kind gets another one, and another breakpoint."""

    def alter(data: Json) -> None:
        settled(data, of).update(kind=to, near=near)

    return alter


def settle_longest(rule: str, to: str) -> Alter:
    """The longest piece under a rule is said to be settled."""

    def alter(data: Json) -> None:
        pieces = [piece for piece in data["pieces"] if piece["rule"] == rule]
        piece = max(pieces, key=length)
        without_units(data, piece)
        piece |= {"rule": "settled", "kind": to, "near": None, "which": "", "reason": "a theorem"}

    return alter


def length(piece: Json) -> int:
    first, last = (BINARY16.ordinal(parse_number(piece[end])) for end in ("first", "last"))
    return last - first


def longer(of: str) -> Alter:
    """A settled piece of a kind takes the first argument of the scanned one after it."""

    def alter(data: Json) -> None:
        piece = settled(data, of)
        after = data["pieces"][data["pieces"].index(piece) + 1]
        unit = next(unit for unit in data["units"] if unit["first"] == after["first"])
        assert after["rule"] == "scanned" and after["last"] != after["first"]
        piece["last"] = after["first"]
        if unit["cases"] and unit["cases"][0] == after["first"]:
            del unit["cases"][0]
        else:
            unit["rejected"] -= 1
        after["first"] = unit["first"] = neighbour(after["first"], 1)

    return alter


def untold_to_far(data: Json) -> None:
    """An argument that bits do not tell from a breakpoint is said to be far from all."""
    unit = next(unit for unit in data["units"] if unit["exact"])
    unit["exact"].pop()
    unit["rejected"] += 1


def case_for_untold(data: Json) -> None:
    unit = next(unit for unit in data["units"] if unit["exact"])
    unit["cases"].append(unit["exact"].pop())


def value_to_none(data: Json) -> None:
    """One argument more has no value."""
    data["outside"][-1][1] = data["pieces"][0]["first"]
    piece, unit = data["pieces"][0], data["units"][0]
    piece["first"] = unit["first"] = neighbour(piece["first"], 1)
    unit["rejected"] -= 1


EXPRESSION_LIES = {
    "another expression": Lie(set_function("expr:log(1+x)+x*x/1024"), "polynomial"),
    "another domain": Lie(set_function("expr:log(1+x/2)"), "domain"),
    "a to b": Lie(kind("a", "b"), "settled", "nearly-x"),
    "a to d": Lie(kind("a", "d"), "settled", "nearly-x"),
    "a to c": Lie(kind("a", "c"), "settled", "nearly-x"),
    "a has a breakpoint": Lie(kind("a", "a", "0x1p+0"), "settled", "tails"),
    "along x, b to a": Lie(kind("b", "a"), "settled", "nearly-x"),
    "along x, b to d": Lie(kind("b", "d"), "settled", "nearly-x"),
    "along x, b near a value": Lie(kind("b", "b", "0x1p-14"), "settled", "nearly-x"),
    "near 1, b to a": Lie(kind("b", "a"), "settled", "tails"),
    "near 1, b to d": Lie(kind("b", "d", "0x1p+0"), "settled", "tails"),
    "near another number": Lie(kind("b", "b", "0x1.004p+0"), "settled", "tails"),
    "near no breakpoint": Lie(kind("b", "b", "0x1.0002p+0"), "settled", "tails"),
    "near 1, d to a": Lie(kind("d", "a"), "undecided", "tails"),
    "near 1, d to b": Lie(kind("d", "b", "0x1p+0"), "undecided", "tails"),
    "not told from another number": Lie(kind("d", "d", "0x1.004p+0"), "settled", "tails"),
    "not told from a line": Lie(kind("d", "d"), "settled", "tails"),
    "along x, d to a": Lie(kind("d", "a"), "undecided", "untold"),
    "along x, d to b": Lie(kind("d", "b"), "undecided", "untold"),
    "along x, d to a value": Lie(kind("d", "d", "0x1p-10"), "settled", "untold"),
    "searched to a": Lie(settle_longest("searched", "a"), "settled", "sinc"),
    "searched to b": Lie(settle_longest("searched", "b"), "settled", "nearly-x"),
    "searched to d": Lie(settle_longest("searched", "d"), "settled", "nearly-x"),
    "scanned to a": Lie(settle_longest("scanned", "a"), "settled", "tails"),
    "scanned to d": Lie(settle_longest("scanned", "d"), "settled", "tails"),
    "a, one argument longer": Lie(longer("a"), "settled", "sinc"),
    "untold to far": Lie(untold_to_far, "search", "untold"),
    "untold to a case": Lie(case_for_untold, "cases", "untold"),
    "one argument without a value": Lie(value_to_none, "domain"),
}
