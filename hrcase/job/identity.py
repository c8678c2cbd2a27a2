"""What makes two searches the same job, and how a job's directory writes it down."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from gmpy2 import mpq

from hrcase.errors import JobMismatch
from hrcase.formats import Format
from hrcase.functions import Expression, Function, function_by_name
from hrcase.functions.tree import functions_in
from hrcase.hexfloat import to_hex
from hrcase.pieces import Settlement
from hrcase.spec import Region, SearchSpec

Json = dict[str, Any]


def digest(*parts: object) -> str:
    """SHA-256 over some values that JSON can hold, in a form without ambiguity."""
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()


def entry_version(function: Function) -> str:
    """Names what the registry says of a function, as far as a result states or relies on it.

    Of an expression: also of the functions in it.
    """
    f = function
    parts = functions_in(f.node) if isinstance(f, Expression) else []
    words = [f.name, f.formula, f.exact_rule, f.poles_in_words, f.symmetry, f.tails_in_words]
    words += [] if f.exponent is None else [str(f.exponent)]
    ends = str(f.lo), str(f.hi), f.closed, str(f.identity_below)
    return digest(*words, *ends, *map(entry_version, parts))[:16]


def spec_to_json(spec: SearchSpec) -> Json:
    """All of a spec; `spec_from_json` reads it."""
    return {
        "function": spec.function_name,
        "entry": entry_version(spec.function),
        "format": asdict(spec.inp),
        "output_format": asdict(spec.out),
        "bits": spec.bits,
        "rounding": spec.rounding,
        "ranges": [list(part) for part in spec.region.ranges],
        "text": spec.region.text,
        "is_open": spec.region.is_open,
    }


def spec_from_json(data: Json) -> SearchSpec:
    """The spec that was written down.

    Raises:
        JobMismatch: the registry's entry is another one by now.
        InputError: the registry has no such function.
    """
    name = data["function"]
    now = entry_version(function_by_name(name))
    if data["entry"] != now:
        raise JobMismatch(
            f"the job was made with entry {data['entry']} of {name}, this hrcase has {now}: what "
            "it knows of the function is not the same; use the version that made the job, or "
            "search again in a new directory"
        )
    ranges = tuple((int(lo), int(hi)) for lo, hi in data["ranges"])
    return SearchSpec(
        name,
        Format(**data["format"]),
        Format(**data["output_format"]),
        data["bits"],
        data["rounding"],
        Region(data["text"], ranges, data["is_open"]),
    )


def is_same(one: Json, other: Json) -> bool:
    """Whether two written specs ask the same, whatever words gave the range."""
    words = ("text", "is_open")
    return all(one[name] == other[name] for name in one if name not in words)


def in_words(data: Json) -> str:
    """A written spec on one line."""
    inp = Format(**data["format"])
    ends = [(inp.value(lo), inp.value(hi - 1)) for lo, hi in data["ranges"]]
    where = data["text"] or " or ".join(f"{to_hex(a)} <= x <= {to_hex(b)}" for a, b in ends)
    return (
        f"{data['function']} (entry {data['entry']}), {data['format']['name']} to "
        f"{data['output_format']['name']}, --bits {data['bits']}, --rounding {data['rounding']}, "
        f"{where}"
    )


def settlement_to_json(settlement: Settlement | None) -> str | None:
    """A theorem applied, as text."""
    if settlement is None:
        return None
    near = None if settlement.near is None else str(settlement.near)
    return json.dumps({**asdict(settlement), "near": near})


def settlement_from_json(text: str | None) -> Settlement | None:
    """What `settlement_to_json` wrote."""
    if text is None:
        return None
    data = json.loads(text)
    near = data.pop("near")
    return Settlement(**data, near=None if near is None else mpq(near))
