"""Reading a certificate: JSON with exactly the fields of docs/certificate.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gmpy2 import mpq

from hrcase.claim import KINDS
from hrcase.errors import InputError, JobMismatch
from hrcase.exact_powers import IN_CLOSED_FORM
from hrcase.formats import Format
from hrcase.hexfloat import parse_number
from hrcase.job.identity import entry_version
from hrcase.spec import Region, SearchSpec
from hrcase.verify.findings import Contradiction

SCHEMA = 1
DIGEST = ',\n"digest": "'

Range = tuple[int, int]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive arguments with one polynomial, or (limbs 0) evaluated one by one.

    Attributes:
        lo, hi: ordinals, half open.
        run, group, domain: log2 of their lengths; group None, domain 0 where there are none.
        curve: bounds of the quadratic and the cubic coefficient, for domains.
        errors: target, remainder, rounding of the coefficients, dropped terms, truncation.
        polynomial: in units of the breakpoints' spacing, the first two modulo 1.
    """

    lo: int
    hi: int
    method: str
    limbs: int = 0
    run: int = 0
    group: int | None = None
    domain: int = 0
    curve: tuple[mpq, ...] = ()
    errors: tuple[mpq, ...] = ()
    polynomial: tuple[mpq, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive arguments under one rule, with the theorem where that is "settled"."""

    lo: int
    hi: int
    rule: str
    kind: str = ""
    near: mpq | None = None
    which: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a piece, and what it gave."""

    lo: int
    hi: int
    counts: dict[str, int]
    rejected: int
    candidates: str
    ran: str
    blocks: list[Block]
    cases: list[int]
    exact: list[int]

    @property
    def in_closed_form(self) -> int:
        """Exact results that are counted, not listed."""
        return self.counts.get(IN_CLOSED_FORM, 0)


@dataclass(frozen=True, slots=True)
class Certificate:
    """All that a certificate says.

    Attributes:
        claim: as it stands there.
        outside: with the reason of each.
        versions: of hrcase that took part.
        devices: that took part.
    """

    spec: SearchSpec
    claim: dict[str, Any]
    pieces: list[Piece]
    outside: list[tuple[int, int, str]]
    versions: set[str]
    devices: set[str]
    units: list[Unit]


def read_certificate(path: Path) -> Certificate:
    """A certificate, its form and its digest checked.

    Raises:
        InputError: it cannot be read, or is no certificate of this schema.
        JobMismatch: the registry has another entry of the function.
        Contradiction: its text does not match its digest.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as error:
        raise InputError(f"cannot read {path}; {error.strerror}; give a certificate") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no certificate, or not whole: it is no JSON ({error}); make it again with: "
            "hrcase certify JOB --output FILE.json"
        ) from error
    form = Form(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        said = data.get("schema") if isinstance(data, dict) else None
        raise form.wrong("schema", f"it is {said!r}, and this hrcase reads {SCHEMA}")
    body, _, digest = text.rpartition(DIGEST)
    actual = hashlib.sha256(body.encode()).hexdigest()
    if digest != actual + '"}\n':
        raise Contradiction("digest", f"{path} says {data.get('digest')!r}, its text has {actual}")
    return form.certificate(data)


def spec_of(asked: object, path: Path) -> SearchSpec:
    """What a claim says was asked.

    Raises:
        InputError: it is not in the form of `hrcase.claim.asked_json`.
    """
    return Form(path).spec(asked)


class Form:
    """The form of a certificate. Every method takes what stands at a place, and raises InputError
    with the place where that is not what it should be."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def wrong(self, where: str, why: str) -> InputError:
        return InputError(
            f"{self.path} is no certificate of schema {SCHEMA}: see {where}: {why}; make it again "
            "with: hrcase certify JOB --output FILE.json"
        )

    def fields(self, value: Any, where: str, names: str, also: str = "") -> dict[str, Any]:
        """An object with the names, and perhaps all of some more."""
        if not isinstance(value, dict):
            raise self.wrong(where, "it is no object")
        wanted, more = set(names.split()), set(also.split())
        if value.keys() not in (wanted, wanted | more):
            odd = sorted(map(str, value.keys() ^ wanted))
            raise self.wrong(where, f"missing or unknown: {', '.join(odd)[:200]}")
        return value

    def one(self, value: Any, where: str, kind: type[T]) -> T:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(where, f"{str(value)[:60]!r} is no {kind.__name__}")
        if isinstance(value, str) and not value.isprintable():  # it may come to be printed
            raise self.wrong(where, f"{value[:60]!r} is no printable text")
        return value

    def count(self, value: Any, where: str, most: int) -> int:
        number = self.one(value, where, int)
        if not 0 <= number <= most:
            raise self.wrong(where, f"{number} is not in 0..{most}")
        return number

    def every(self, value: Any, where: str, of: Callable[[Any, str], T]) -> list[T]:
        return [
            of(one, f"{where}[{place}]") for place, one in enumerate(self.one(value, where, list))
        ]

    def number(self, value: Any, where: str) -> mpq:
        try:
            number = parse_number(self.one(value, where, str))
        except InputError as error:
            raise self.wrong(where, str(error)) from error
        if abs(number.denominator).bit_length() > 1 << 17 or number.denominator.bit_count() != 1:
            raise self.wrong(where, f"{value[:60]!r} is no dyadic number of a sensible size")
        return number

    def ordinal(self, value: Any, where: str, inp: Format) -> int:
        try:
            return inp.ordinal(self.number(value, where))
        except InputError as error:
            raise self.wrong(where, str(error)[:300]) from error

    def range(self, first: Any, last: Any, where: str, inp: Format) -> Range:
        return self.ordinal(first, where, inp), self.ordinal(last, where, inp) + 1

    def certificate(self, data: dict[str, Any]) -> Certificate:
        names = "schema hrcase claim entry pieces outside sessions units digest"
        self.fields(data, "the whole", names)
        claim = self.one(data["claim"], "claim", dict)
        spec = self.spec(claim.get("asked"))
        inp = spec.inp
        now = entry_version(spec.function)
        if data["entry"] != now:
            raise JobMismatch(
                f"{self.path} was made with entry {str(data['entry'])[:40]} of "
                f"{spec.function_name}, this hrcase has {now}; verify it with the version that "
                "made it"
            )
        sessions = self.every(data["sessions"], "sessions", self.session)
        return Certificate(
            spec=spec,
            claim=claim,
            pieces=self.every(data["pieces"], "pieces", lambda v, w: self.piece(v, w, inp)),
            outside=self.every(data["outside"], "outside", lambda v, w: self.outside(v, w, inp)),
            versions={session["version"] for session in sessions},
            devices={session["devices"] for session in sessions},
            units=self.every(
                data["units"], "units", lambda v, w: self.unit(v, w, inp, len(sessions))
            ),
        )

    def spec(self, asked: Any) -> SearchSpec:
        """What `hrcase.claim.asked_json` wrote."""
        where = "claim.asked"
        names = "function format output_format bits rounding ranges text"
        values = self.fields(asked, where, names)
        inp, out = (self.format(values[n], f"{where}.{n}") for n in ("format", "output_format"))
        ranges = [
            self.range(*self.pair(ends, f"{where}.ranges"), f"{where}.ranges", inp)
            for ends in self.one(values["ranges"], f"{where}.ranges", list)
        ]
        name = self.one(values["function"], f"{where}.function", str)
        bits = self.one(values["bits"], f"{where}.bits", int)
        rounding = self.one(values["rounding"], f"{where}.rounding", str)
        text = self.one(values["text"], f"{where}.text", str)
        return SearchSpec(name, inp, out, bits, rounding, Region(text, tuple(ranges)))

    def format(self, value: Any, where: str) -> Format:
        values = self.fields(value, where, "name precision emin emax subnormals")
        for name, kind in (("name", str), ("subnormals", bool)):
            self.one(values[name], f"{where}.{name}", kind)
        for name in ("precision", "emin", "emax"):
            if abs(self.one(values[name], f"{where}.{name}", int)) > 1 << 20:
                raise self.wrong(f"{where}.{name}", f"{values[name]} is beyond every format")
        return Format(**values)

    def pair(self, value: Any, where: str) -> tuple[Any, Any]:
        if len(self.one(value, where, list)) != 2:
            raise self.wrong(where, "it is no pair")
        first, last = value
        return first, last

    def session(self, value: Any, where: str) -> dict[str, str]:
        values = self.fields(value, where, "started host devices method version kernels")
        return {name: self.one(text, f"{where}.{name}", str) for name, text in values.items()}

    def piece(self, value: Any, where: str, inp: Format) -> Piece:
        values = self.fields(value, where, "first last rule", "kind near which reason")
        lo, hi = self.range(values["first"], values["last"], where, inp)
        rule = self.one(values["rule"], f"{where}.rule", str)
        if rule not in ("searched", "scanned", "settled") or (rule == "settled") != (
            len(values) > 3
        ):
            raise self.wrong(f"{where}.rule", f"{rule[:20]!r} does not go with the other fields")
        if rule != "settled":
            return Piece(lo, hi, rule)
        near = values["near"]
        kind, which, reason = (
            self.one(values[name], f"{where}.{name}", str) for name in ("kind", "which", "reason")
        )
        if kind not in KINDS:
            raise self.wrong(f"{where}.kind", f"{kind[:20]!r} is none of {', '.join(KINDS)}")
        level = None if near is None else self.number(near, f"{where}.near")
        return Piece(lo, hi, rule, kind, level, which, reason)

    def outside(self, value: Any, where: str, inp: Format) -> tuple[int, int, str]:
        values = self.one(value, where, list)
        if len(values) != 3:
            raise self.wrong(where, "it is no triple of first, last and reason")
        first, last, reason = values
        return *self.range(first, last, where, inp), self.one(reason, where, str)

    def unit(self, value: Any, where: str, inp: Format, sessions: int) -> Unit:
        names = "first last session device counts rejected candidates ran blocks cases exact"
        values = self.fields(value, where, names)
        lo, hi = self.range(values["first"], values["last"], where, inp)
        self.count(values["session"], f"{where}.session", sessions - 1)
        self.one(values["device"], f"{where}.device", str)
        counts = self.one(values["counts"], f"{where}.counts", dict)
        for name, number in counts.items():
            self.count(number, f"{where}.counts.{name}", 1 << 100)
        blocks = self.every(values["blocks"], f"{where}.blocks", lambda v, w: self.block(v, w, inp))
        ends = [*(block["lo"] for block in blocks[1:]), hi][: len(blocks)]
        return Unit(
            lo,
            hi,
            counts,
            self.count(values["rejected"], f"{where}.rejected", 1 << 100),
            self.one(values["candidates"], f"{where}.candidates", str),
            self.one(values["ran"], f"{where}.ran", str),
            [Block(hi=end, **block) for block, end in zip(blocks, ends, strict=True)],
            *(
                self.every(values[n], f"{where}.{n}", lambda v, w: self.ordinal(v, w, inp))
                for n in ("cases", "exact")
            ),
        )

    def block(self, value: Any, where: str, inp: Format) -> dict[str, Any]:
        """The fields of a Block, but its end."""
        if isinstance(value, dict) and value.get("method") == "evaluated":
            values = self.fields(value, where, "first method")
            return {"lo": self.ordinal(values["first"], where, inp), "method": "evaluated"}
        names = "first method limbs run group errors polynomial"
        values = self.fields(value, where, names, "domain curve")
        group = values["group"]
        numbers = {
            name: tuple(self.every(values.get(name, []), f"{where}.{name}", self.number))
            for name in ("curve", "errors", "polynomial")
        }
        if len(numbers["errors"]) != 5 or not 2 <= len(numbers["polynomial"]) <= 100:
            raise self.wrong(where, "it needs five errors and a polynomial of degree 1 to 99")
        if len(numbers["curve"]) != (2 if "domain" in values else 0):
            raise self.wrong(f"{where}.curve", "it needs two bounds")
        return {
            "lo": self.ordinal(values["first"], f"{where}.first", inp),
            "method": self.one(values["method"], f"{where}.method", str),
            "limbs": self.count(values["limbs"], f"{where}.limbs", 100),
            "run": self.count(values["run"], f"{where}.run", 60),
            "group": None if group is None else self.count(group, f"{where}.group", 60),
            "domain": self.count(values.get("domain", 0), f"{where}.domain", 60),
            **numbers,
        }
