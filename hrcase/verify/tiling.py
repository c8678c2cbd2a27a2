"""Nothing is left out and nothing is done twice: ranges, pieces, units, blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hrcase.functions import Expression
from hrcase.spec import SearchSpec
from hrcase.verify.document import Certificate, Piece, Range, Unit
from hrcase.verify.enclosed import require_undefined
from hrcase.verify.findings import Contradiction, Findings, at, within


def check_tiling(certificate: Certificate, findings: Findings) -> None:
    """Raises Contradiction at the first gap or overlap."""
    spec = certificate.spec
    for before, after in pairwise(certificate.pieces):
        if before.lo > after.lo:
            raise Contradiction(
                "tiling",
                f"the piece at {at(spec.inp, after.lo)} comes after that at "
                f"{at(spec.inp, before.lo)}",
            )
    parts = sorted(
        [
            *((p.lo, p.hi) for p in certificate.pieces),
            *((lo, hi) for lo, hi, _ in certificate.outside),
        ]
    )
    _tile(spec, parts, list(spec.region.ranges), "pieces")
    units = [(unit.lo, unit.hi) for unit in certificate.units]
    _tile(spec, units, [(p.lo, p.hi) for p in certificate.pieces if p.rule != "settled"], "units")
    for piece, unit in with_pieces(certificate):
        blocks = [(block.lo, block.hi) for block in unit.blocks]
        _tile(spec, blocks, [(unit.lo, unit.hi)] if piece.rule == "searched" else [], "blocks")
        for block in unit.blocks:
            _one_input_binade(spec, block.lo, block.hi)
    findings.proved.append(
        f"pieces tile the range: {len(certificate.pieces)} pieces, {len(units)} units and "
        f"{sum(len(unit.blocks) for unit in certificate.units)} blocks, no gap, no overlap"
    )


def with_pieces(certificate: Certificate) -> Sequence[tuple[Piece, Unit]]:
    """The units, each with its piece; they are known to tile the pieces."""
    pieces = iter([piece for piece in certificate.pieces if piece.rule != "settled"])
    found = []
    piece = next(pieces, None)
    for unit in certificate.units:
        while piece is not None and piece.hi <= unit.lo:
            piece = next(pieces, None)
        assert piece is not None
        found.append((piece, unit))
    return found


def _tile(spec: SearchSpec, tiles: Sequence[Range], whole: Sequence[Range], what: str) -> None:
    """Check that ascending half-open ranges tile others."""
    following = iter(tiles)
    for lo, hi in whole:
        at_now = lo
        while at_now < hi:
            tile = next(following, (hi, hi))
            if not (tile[0] == at_now and at_now < tile[1] <= hi):
                raise Contradiction(
                    "tiling",
                    f"the {what} do not tile {within(spec.inp, at_now, hi)}: the next one begins "
                    f"at ordinal {tile[0]} instead of {at_now} and ends before {tile[1]}",
                )
            at_now = tile[1]
    extra = next(following, None)
    if extra is not None:
        raise Contradiction("tiling", f"the {what} go beyond what is asked, at ordinals {extra}")


def _one_input_binade(spec: SearchSpec, lo: int, hi: int) -> None:
    (first, exponent), (last, other) = spec.inp.parts(lo), spec.inp.parts(hi - 1)
    if not (exponent == other and first * last > 0):
        raise Contradiction(
            "tiling", f"the block at {at(spec.inp, lo)} does not lie in one binade of x"
        )


def check_outside(certificate: Certificate, findings: Findings) -> None:
    """What is not searched lies beyond the ends of the domain, or is a pole."""
    require_outside(certificate.spec, ((lo, hi) for lo, hi, _ in certificate.outside))
    bits = certificate.spec.function.decided_bits
    if certificate.outside:
        findings.proved.append(
            f"{len(certificate.outside)} ranges that are left out lie outside of the domain"
            + (f", or are single arguments at which {bits} bits show no value" if bits else "")
        )


def require_outside(spec: SearchSpec, ranges: Iterable[Range]) -> None:
    """Raises Contradiction where f is defined in one of these half-open ranges."""
    f, inp = spec.function, spec.inp
    for lo, hi in ranges:
        if isinstance(f, Expression):
            require_undefined(spec, lo, hi)
            continue
        first, last = inp.value(lo), inp.value(hi - 1)
        is_outside = not f.contains(first) and not f.contains(last)
        is_beyond = last <= f.lo or first >= f.hi or (lo + 1 == hi)
        if not (is_outside and is_beyond):
            raise Contradiction(
                "domain",
                f"{f.name} is defined somewhere in {within(inp, lo, hi)}, which is left out",
            )
