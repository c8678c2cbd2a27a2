"""Alterations of certificates: each makes one statement false, and names the check that sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from hrcase.formats import FORMATS, Format
from hrcase.functions import function_by_name
from hrcase.hexfloat import parse_number, to_hex
from hrcase.job.identity import entry_version

Json = dict[str, Any]
Alter = Callable[[Json], None]

BINARY16 = FORMATS["binary16"]


@dataclass(frozen=True)
class Lie:
    """An alteration, and the check that must see it.

    Attributes:
        needs_all: only a search of everything sees it for sure.
    """

    alter: Alter
    check: str
    label: str = "log1p"
    needs_all: bool = False


def unit_with_blocks(data: Json, most: bool = False) -> Json:
    units = [unit for unit in data["units"] if unit["blocks"] and len(unit["blocks"][0]) > 2]
    found: Json = max(units, key=lambda unit: len(unit["cases"])) if most else units[0]
    return found


def block(data: Json) -> Json:
    found: Json = unit_with_blocks(data)["blocks"][0]
    return found


def settled(data: Json, kind: str) -> Json:
    found: Json = next(piece for piece in data["pieces"] if piece.get("kind") == kind)
    return found


def times(text: str, factor: mpq) -> str:
    return to_hex(parse_number(text) * factor)


def error(place: int) -> Alter:
    def alter(data: Json) -> None:
        errors = block(data)["errors"]
        errors[place] = times(errors[place], mpq(1, 2) if place != 1 else mpq(1, 64))

    return alter


def coefficient(place: int) -> Alter:
    """Off by so much that the rounding stated no longer covers it, times a power of the reach."""

    def alter(data: Json) -> None:
        of_block = block(data)
        off = parse_number(of_block["errors"][2]) * 4
        value = parse_number(of_block["polynomial"][place]) + off
        of_block["polynomial"][place] = to_hex(value)

    return alter


def put(*path: Any, value: Any) -> Alter:
    """Set a field; a callable gets the value there was."""

    def alter(data: Json) -> None:
        place: Any = data
        for step in path[:-1]:
            place = step(place) if callable(step) else place[step]
        old = place[path[-1]]
        place[path[-1]] = value(old) if callable(value) else value

    return alter


def set_asked(name: str, value: Any) -> Alter:
    return put("claim", "asked", name, value=value)


def set_function(name: str) -> Alter:
    def alter(data: Json) -> None:
        data["claim"]["asked"]["function"] = name
        data["entry"] = entry_version(function_by_name(name))

    return alter


def toy_output(**changes: int) -> Alter:
    """Another output format, under a name that stands for no known one."""
    return set_asked("output_format", lambda form: {**form, "name": "toy", **changes})


def neighbour(text: str, step: int, inp: Format = BINARY16) -> str:
    return to_hex(inp.value(inp.ordinal(parse_number(text)) + step))


def drop_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    del unit["cases"][len(unit["cases"]) // 2]
    unit["counts"]["candidates"] -= 1


def add_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    unit["cases"][1:1] = [neighbour(unit["cases"][0], 1)]
    unit["counts"]["candidates"] += 1


def case_for_rejected(data: Json) -> None:
    """A case is said to have been too far away: no count changes."""
    unit = unit_with_blocks(data, most=True)
    del unit["cases"][0]
    unit["rejected"] += 1


def swap_cases(data: Json) -> None:
    cases = unit_with_blocks(data, most=True)["cases"]
    cases[0], cases[1] = cases[1], cases[0]


def drop_exact(data: Json) -> None:
    unit = next(unit for unit in data["units"] if unit["exact"])
    del unit["exact"][0]
    unit["rejected"] += 1


def exact_for_case(data: Json) -> None:
    unit = unit_with_blocks(data, most=True)
    unit["exact"].append(unit["cases"].pop())


def more_exact(data: Json) -> None:
    """One more exact result in closed form, and one more candidate."""
    unit = next(unit for unit in data["units"] if unit["counts"].get("exact_in_closed_form"))
    unit["counts"]["exact_in_closed_form"] += 1
    unit["counts"]["candidates"] += 1


def list_exact(data: Json) -> None:
    """An exact result is listed and not counted."""
    unit = next(unit for unit in data["units"] if unit["counts"].get("exact_in_closed_form"))
    unit["counts"]["exact_in_closed_form"] -= 1
    unit["exact"].append(unit["first"])


def list_and_count_exact(data: Json) -> None:
    """An exact result is listed, where all of them are counted."""
    unit = next(unit for unit in data["units"] if unit["counts"].get("exact_in_closed_form"))
    unit["exact"].append(unit["first"])
    unit["counts"]["candidates"] += 1


def without_units(data: Json, piece: Json) -> None:
    first, last = parse_number(piece["first"]), parse_number(piece["last"])
    data["units"] = [u for u in data["units"] if not first <= parse_number(u["first"]) <= last]


def settle(data: Json) -> None:
    """A searched piece is said to hold no case."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched")
    piece = data["pieces"][place]
    without_units(data, piece)
    piece |= {"rule": "settled", "kind": "a", "near": None, "which": "", "reason": "a theorem"}


def leave_out(data: Json) -> None:
    """A searched piece is said to lie outside of the domain."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched")
    piece = data["pieces"].pop(place)
    without_units(data, piece)
    data["outside"].append([piece["first"], piece["last"], "no log there"])


def widen_range(data: Json) -> None:
    """One argument more is asked for, also in the words."""
    asked = data["claim"]["asked"]
    asked["ranges"] = [[asked["ranges"][0][0], neighbour(asked["ranges"][0][1], 1)]]
    asked["text"] = f"-1.001 <= x < {neighbour(asked['ranges'][0][1], 1)}"


def keep_one_piece(data: Json) -> None:
    """The ranges shrink to what one piece covers; the sentence still speaks of all of it."""
    piece = next(piece for piece in data["pieces"] if piece["rule"] == "searched")
    for other in data["pieces"]:
        if other is not piece:
            without_units(data, other)
    data["pieces"], data["outside"] = [piece], []
    data["claim"]["asked"]["ranges"] = [[piece["first"], piece["last"]]]


def reorder_pieces(data: Json) -> None:
    """A scanned piece comes before those below it, whose units seem to be its own: no blocks."""
    place = max(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "scanned")
    piece = data["pieces"][place]
    at = next(i for i, unit in enumerate(data["units"]) if unit["first"] == piece["first"])
    for unit in data["units"][:at]:
        first, last = (BINARY16.ordinal(parse_number(unit[end])) for end in ("first", "last"))
        rejected = last - first + 1 - len(unit["cases"]) - len(unit["exact"])
        unit |= {"blocks": [], "counts": {}, "rejected": rejected}
    data["pieces"].insert(0, data["pieces"].pop(place))
    data["units"].insert(0, data["units"].pop(at))


def shift_pieces(data: Json) -> None:
    one, other = data["pieces"][0], data["pieces"][1]
    one["last"], other["first"] = neighbour(one["last"], 1), neighbour(other["first"], 1)


def shift_everything(data: Json) -> None:
    """Piece, unit and block begin two arguments later, which are scanned instead."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["rule"] == "searched" and i)
    before, piece = data["pieces"][place - 1], data["pieces"][place]
    assert before["rule"] == "scanned"
    moved = piece["first"]
    unit = next(u for u in data["units"] if u["first"] == moved)
    last = next(u for u in data["units"] if u["last"] == before["last"])
    before["last"] = last["last"] = neighbour(moved, 1)
    for one in (piece, unit, unit["blocks"][0]):
        one["first"] = neighbour(moved, 2)
    last["rejected"] += 2


def drop_unit(data: Json) -> None:
    data["units"].remove(unit_with_blocks(data))


def merge_binades(data: Json) -> None:
    """Two searched pieces, units and blocks become one, across a power of two."""
    place = next(i for i, piece in enumerate(data["pieces"]) if piece["last"] == "-0x1p-1")
    one, other = data["pieces"][place : place + 2]
    assert one["rule"] == other["rule"] == "searched"
    gone = next(unit for unit in data["units"] if unit["first"] == other["first"])
    unit = next(unit for unit in data["units"] if unit["last"] == one["last"])
    unit["last"] = gone["last"]
    one["last"] = other["last"]
    data["units"].remove(gone)
    data["pieces"].remove(other)


def drop_all_cases(data: Json) -> None:
    for unit in data["units"]:
        unit["rejected"] += len(unit["cases"])
        unit["cases"] = []


def scan_for_search(data: Json) -> None:
    """A searched piece is said to have been scanned, its blocks left out."""
    unit = unit_with_blocks(data)
    piece = next(p for p in data["pieces"] if p["first"] == unit["first"])
    piece["rule"] = "scanned"


LIES = {
    "exact results, one more": Lie(more_exact, "counts", "roots"),
    "exact results, one listed instead": Lie(list_exact, "counts", "roots"),
    "exact results, one listed too": Lie(list_and_count_exact, "cases", "roots"),
    "M, larger": Lie(set_asked("bits", lambda m: m + 1), "cases"),
    "M, smaller": Lie(set_asked("bits", lambda m: m - 1), "target"),
    "rounding": Lie(set_asked("rounding", "nearest"), "polynomial"),
    "function": Lie(set_function("log2p1"), "binade"),
    "function, next to it": Lie(set_function("atanh"), "binade"),
    "range": Lie(widen_range, "tiling"),
    "range, not in words": Lie(
        set_asked("ranges", lambda r: [[r[0][0], neighbour(r[0][1], 1)]]), "asked"
    ),
    "words for the range": Lie(set_asked("text", ""), "asked"),
    "words of a sign": Lie(set_asked("text", "x < 0"), "asked"),
    "words of binades": Lie(set_asked("text", "2^-3 <= |x| < 2^0, x < 0"), "asked"),
    "words without meaning": Lie(set_asked("text", "x in [-1, 0)"), "asked"),
    "name of the format": Lie(put("claim", "asked", "format", "name", value="binary64"), "asked"),
    "precision under a known name": Lie(
        put("claim", "asked", "output_format", "precision", value=10), "asked"
    ),
    "output precision": Lie(toy_output(precision=10), "polynomial"),
    "output emin": Lie(toy_output(emin=1), "polynomial"),
    "all but one piece left out": Lie(keep_one_piece, "asked"),
    "pieces": Lie(shift_pieces, "tiling"),
    "pieces in another order": Lie(reorder_pieces, "tiling"),
    "pieces, units and blocks": Lie(shift_everything, "polynomial"),
    "blocks across binades": Lie(merge_binades, "tiling"),
    "unit left out": Lie(drop_unit, "tiling"),
    "searched to scanned": Lie(scan_for_search, "tiling"),
    "searched to settled": Lie(settle, "settled"),
    "searched to outside": Lie(leave_out, "domain"),
    "kind a to b": Lie(put(lambda d: settled(d, "a"), "kind", value="b"), "settled", "nearly-x"),
    "kind b to a": Lie(put(lambda d: settled(d, "b"), "kind", value="a"), "settled", "nearly-x"),
    "kind c to a": Lie(put(lambda d: settled(d, "c"), "kind", value="a"), "settled", "finer"),
    "which": Lie(put(lambda d: settled(d, "c"), "which", value="images"), "settled", "finer"),
    "near": Lie(
        put(lambda d: settled(d, "b"), "near", value="0x1.000002p+0"), "settled", "nearly-1"
    ),
    "near left out": Lie(put(lambda d: settled(d, "b"), "near", value=None), "settled", "nearly-1"),
    "block's beginning": Lie(
        put(block, "first", value=lambda first: neighbour(first, 1)), "tiling"
    ),
    "limbs": Lie(put(block, "limbs", value=1), "form"),
    "method": Lie(put(block, "method", value="guess"), "form"),
    "run": Lie(put(block, "run", value=lambda run: run + 8), "dropped terms", "regular"),
    "group": Lie(put(block, "group", value=50), "dropped terms"),
    "domain": Lie(put(block, "domain", value=lambda n: n + 20), "form", "regular"),
    "domain of two arguments": Lie(put(block, "domain", value=1), "form", "regular"),
    "target": Lie(error(0), "target"),
    "remainder": Lie(error(1), "remainder"),
    "rounding of coefficients": Lie(error(2), "polynomial"),
    "dropped terms": Lie(error(3), "dropped terms", "regular"),
    "truncation": Lie(error(4), "truncation"),
    "curvature": Lie(
        put(block, "curve", 0, value=lambda text: times(text, mpq(1, 4))), "curvature", "regular"
    ),
    "cubic": Lie(
        put(block, "curve", 1, value=lambda text: times(text, mpq(1, 1 << 60))),
        "curvature",
        "regular",
    ),
    **{f"coefficient {j}": Lie(coefficient(j), "polynomial") for j in range(4)},
    "case dropped": Lie(drop_case, "candidates", needs_all=True),
    "case said to be far": Lie(case_for_rejected, "search", needs_all=True),
    "all cases dropped": Lie(drop_all_cases, "law", "regular"),
    "case added": Lie(add_case, "cases"),
    "cases swapped": Lie(swap_cases, "order"),
    "exact case dropped": Lie(drop_exact, "search", "nearly-1"),
    "case said to be exact": Lie(exact_for_case, "cases"),
    "candidates counted": Lie(
        put(unit_with_blocks, "counts", "candidates", value=lambda n: n + 1), "counts"
    ),
    "rejected": Lie(put(unit_with_blocks, "rejected", value=lambda n: n + 1), "counts"),
    "tested": Lie(
        put(unit_with_blocks, "counts", "tested_arguments", value=0), "counts", "regular"
    ),
    "candidates' digest": Lie(
        put(unit_with_blocks, "candidates", value="0" * 64), "candidates", needs_all=True
    ),
}
