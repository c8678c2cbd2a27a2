"""The claim: the one sentence that every output carries, filled in by the program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from hrcase.formats import Format
from hrcase.hexfloat import to_hex
from hrcase.pieces import Piece, Removed
from hrcase.spec import SearchSpec
from hrcase.version import version

BREAKPOINTS = {
    "all": "representable numbers and midpoints",
    "nearest": "midpoints",
    "directed": "representable numbers",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a search says, as data and as text.

    Attributes:
        complete: whether every case is listed.
        asked: what was searched for, for programs (`asked_json`).
        sentence: the claim proper.
        bits_in_words: the threshold in the words of the field.
        exact_rule, exact_count: the exact cases, which are never rows.
        settled: one line a settled range.
        removed: one line a range where f is undefined or not searched.
        symmetries: images that were derived and not searched.
        proved, rerun, trusted: what the result stands on.
    """

    complete: bool
    asked: dict[str, object]
    sentence: str
    bits_in_words: str
    cases: int
    exact_rule: str
    exact_count: int
    settled: tuple[str, ...]
    removed: tuple[str, ...]
    symmetries: tuple[str, ...]
    proved: str
    rerun: str
    trusted: str

    def to_json(self) -> dict[str, object]:
        """The claim for the sidecar file."""
        return asdict(self)

    def to_text(self) -> str:
        """The claim as a paragraph, for the header of a list."""
        parts = [
            self.sentence,
            f"{self.cases} cases.",
            f"Exact cases: {self.exact_rule}; {self.exact_count} of them here.",
            "Settled ranges: " + ("; ".join(self.settled) or "none") + ".",
            "Not covered: " + ("; ".join(self.removed) or "none") + ".",
            "Symmetries applied: " + ("; ".join(self.symmetries) or "none") + ".",
            f"Proved: {self.proved} Re-run: {self.rerun} Trusted: {self.trusted}",
        ]
        return " ".join(parts)


def bits_in_words(bits: int) -> str:
    """The threshold as help, summary and claim say it."""
    return (
        f"M = {bits}: distance < 2^-{bits} ulp, that is, at least {bits - 1} identical bits "
        f"after the round bit (BaCSeL -m {bits})"
    )


def make_claim(
    spec: SearchSpec,
    settled: list[Piece],
    removed: list[Removed],
    cases: int,
    exact: int,
    versions: Collection[str] = (),
    undecided: Sequence[int] = (),
) -> Claim:
    """Fill in the claim of a complete search.

    Args:
        exact: how many exact cases were met, and arguments that are not told from them.
        undecided: ordinals of these (`undecided_among`).
        versions: of hrcase that took part in it; default this one.
    """
    return Claim(
        complete=True,
        asked=asked_json(spec),
        sentence=complete_sentence(spec, bool(removed)),
        bits_in_words=bits_in_words(spec.bits),
        cases=cases,
        exact_rule=spec.function.exact_rule + undecided_in_words(spec.inp, undecided),
        exact_count=exact,
        settled=tuple(settled_line(spec.inp, piece) for piece in settled),
        removed=tuple(f"{range_text(spec.inp, r.lo, r.hi)}: {r.reason}" for r in removed),
        symmetries=(),
        proved="pieces tile the range; Taylor remainders by ball arithmetic; windows as in "
        "docs/method.md; settled ranges by exact comparison at their ends"
        + (", and by enclosures as in docs/expressions.md." if spec.function.decided_bits else "."),
        rerun="each case evaluated by MPFR and by Arb.",
        trusted=f"compiler, processor, MPFR, Arb, the proofs in docs/, "
        f"hrcase {', '.join(sorted(versions)) or version()}.",
    )


def complete_sentence(spec: SearchSpec, is_cut: bool) -> str:
    """The claim proper of a complete search.

    Args:
        is_cut: f is not defined, or not searched, in a part of what was asked for.
    """
    f = spec.function
    where = f"{spec.region.text} and " if spec.region.text else ""
    elsewhere = ", or in one that is not covered" if is_cut else ""
    kinds = "(b) or (c) below"
    if f.decided_bits:
        kinds = "(b), (c) or (d) below, or is named among the exact cases"
    return (
        f"For {f.name} with input format {spec.inp.name} and output format {spec.out.name}, "
        f"every x of {spec.inp.name} with {where}0 < min_b |f(x) - b| < 2^-{spec.bits} ulp(f(x)) "
        f"is listed, or lies in a settled range of kind {kinds}{elsewhere}; b ranges over "
        f"{BREAKPOINTS[spec.rounding]}; ulp is that of the binade of f(x), constant where f(x) "
        f"is subnormal."
    )


def asked_json(spec: SearchSpec) -> dict[str, object]:
    """A spec as JSON can hold it, each range by its first and last argument."""
    return {
        "function": spec.function_name,
        "format": asdict(spec.inp),
        "output_format": asdict(spec.out),
        "bits": spec.bits,
        "rounding": spec.rounding,
        "ranges": [ends(spec.inp, lo, hi) for lo, hi in spec.region.ranges],
        "text": spec.region.text,
    }


def ends(inp: Format, lo: int, hi: int) -> list[str]:
    """The first and the last argument of a half-open range of ordinals, in hexadecimal."""
    return [to_hex(inp.value(lo)), to_hex(inp.value(hi - 1))]


def undecided_among(spec: SearchSpec, exact: Iterable[int]) -> list[int]:
    """Of arguments that count as exact, those of an expression that are not known to be."""
    f = spec.function
    if not f.decided_bits:
        return []
    return [ordinal for ordinal in exact if f.exact(spec.inp.value(ordinal)) is None]


def undecided_in_words(inp: Format, ordinals: Sequence[int]) -> str:
    """All of them, neighbours as ranges."""
    if not ordinals:
        return ""
    ranges: list[list[int]] = []
    for ordinal in ordinals:
        if ranges and ranges[-1][1] == ordinal:
            ranges[-1][1] += 1
        else:
            ranges.append([ordinal, ordinal + 1])
    where = ", ".join(
        to_hex(inp.value(lo)) if hi == lo + 1 else range_text(inp, lo, hi) for lo, hi in ranges
    )
    return f"; {len(ordinals)} of them may be cases beyond these bits: {where}"


def range_text(inp: Format, lo: int, hi: int) -> str:
    """A range of ordinals as the user would write it."""
    return "[{}, {}]".format(*ends(inp, lo, hi))


KINDS = {
    "a": "no argument is a case",
    "b": "every argument is a case",
    "c": "the cases are exactly those named",
    "d": "the bits named do not tell which arguments are cases",
}


def settled_line(inp: Format, piece: Piece) -> str:
    """One settled range in words."""
    where, count, kind, meaning, reason = settled_words(inp, piece)
    return f"{where} ({count} arguments), ({kind}) {meaning}: {reason}"


def settled_words(inp: Format, piece: Piece) -> tuple[str, int, str, str, str]:
    """(where, how many arguments, kind, what that means, the theorem) of a settled piece."""
    assert piece.settlement is not None
    s = piece.settlement
    return range_text(inp, piece.lo, piece.hi), piece.count, s.kind, KINDS[s.kind], s.reason
