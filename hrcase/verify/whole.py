"""All checks of a certificate, in an order in which each may rely on those before it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from math import expm1, log1p

from hrcase.claim import make_claim, undecided_among
from hrcase.pieces import Piece as ClaimedPiece
from hrcase.pieces import Removed, Rule, Settlement
from hrcase.spec import SearchSpec
from hrcase.verify.again import Covered, Listed, choose, compare, search_place
from hrcase.verify.asked import check_asked
from hrcase.verify.axis import Axis
from hrcase.verify.cases import candidates_digest, check_cases, target_of_block
from hrcase.verify.document import Certificate, Unit
from hrcase.verify.exact import ClosedForms
from hrcase.verify.findings import Contradiction, Findings, at
from hrcase.verify.law import check_law
from hrcase.verify.near import near_integers
from hrcase.verify.polynomials import Geometry, check_polynomials
from hrcase.verify.settled import check_settled
from hrcase.verify.tiling import check_outside, check_tiling, with_pieces

MOST_SCANNED = 1 << 13
"""Scanned arguments that are all evaluated again; of more, so many."""

DEFAULT_SAMPLE = 64


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to do again.

    Attributes:
        sample: sub-intervals of the searched pieces.
        seed: which ones.
        is_full: everything instead.
        tell: told the name of each stage and its number of steps; what it returns is called after
            each of them.
    """

    sample: int
    seed: int
    is_full: bool
    tell: Callable[[str, int], Callable[[], None]]


def verify_certificate(certificate: Certificate, effort: Effort) -> Findings:
    """Check a certificate; what was established.

    Raises:
        Contradiction: naming the check and the numbers.
    """
    findings = Findings()
    check_asked(certificate.spec)
    check_tiling(certificate, findings)
    check_outside(certificate, findings)
    _check_claim(certificate)
    check_settled(certificate, findings, effort.seed)
    units = len(certificate.units)
    axes = check_polynomials(certificate, findings, effort.tell("polynomials", units))
    forms = ClosedForms(certificate.spec, certificate.pieces, axes)
    check_cases(certificate, forms, findings, effort.tell("cases", units))
    listed = _listed(certificate, forms)
    check_law(certificate, axes, findings)
    if effort.is_full:
        _search_all(certificate, listed, findings, effort.tell("searching", units))
    else:
        _search_some(certificate, axes, listed, findings, effort)
    _scan(certificate, listed, findings, effort)
    findings.stated.append(
        f"which devices searched ({'; '.join(sorted(certificate.devices)) or 'none'}), in how many "
        "steps and seconds, and that they ran the blocks stated"
    )
    return findings


def claim_of(certificate: Certificate) -> dict[str, object]:
    """The claim that the rest of a certificate gives, as JSON has it."""
    units = certificate.units
    settled = [
        ClaimedPiece(
            p.lo, p.hi, Rule.SETTLED, settlement=Settlement(p.kind, p.reason, p.near, p.which)
        )
        for p in certificate.pieces
        if p.rule == "settled"
    ]
    claim = make_claim(
        certificate.spec,
        settled,
        [Removed(*part) for part in certificate.outside],
        sum(len(unit.cases) for unit in units),
        sum(len(unit.exact) + unit.in_closed_form for unit in units),
        certificate.versions,
        undecided_among(certificate.spec, chain.from_iterable(unit.exact for unit in units)),
    )
    data: dict[str, object] = json.loads(json.dumps(claim.to_json()))
    return data


def _check_claim(certificate: Certificate) -> None:
    expected, stated = claim_of(certificate), certificate.claim
    for name in sorted(expected.keys() | stated.keys()):
        if expected.get(name) != stated.get(name):
            raise Contradiction(
                "claim",
                f"its {name} is {str(stated.get(name))[:300]!r}, the certificate gives "
                f"{str(expected.get(name))[:300]!r}",
            )


def _listed(certificate: Certificate, forms: ClosedForms) -> Listed:
    units = certificate.units
    cases = chain.from_iterable(unit.cases for unit in units)
    return Listed(list(cases), list(chain.from_iterable(unit.exact for unit in units)), forms)


def _search_some(
    certificate: Certificate,
    axes: dict[int, Axis],
    listed: Listed,
    findings: Findings,
    effort: Effort,
) -> None:
    """Search sub-intervals that the seed chooses, each argument as likely to be in one."""
    spec, covered = certificate.spec, Covered()
    pieces = [(p.lo, p.hi) for p in certificate.pieces if p.rule == "searched"]
    if not pieces or not effort.sample:
        return
    on_place = effort.tell("sampling", effort.sample)
    generator = random.Random(effort.seed)
    for _ in range(effort.sample):
        place, lo = choose(generator, pieces)
        search_place(spec, axes[pieces[place][0]], lo, pieces[place][1], listed, covered)
        on_place()
    arguments = sum(hi - lo for lo, hi in pieces)
    findings.sampled.append(f"seed {effort.seed}: {covered.in_words(arguments)}")


def _search_all(
    certificate: Certificate, listed: Listed, findings: Findings, on_unit: Callable[[], None]
) -> None:
    """Search all blocks, and compare candidates with their digests and cases with the lists."""
    spec, arguments = certificate.spec, 0
    for piece, unit in with_pieces(certificate):
        if piece.rule == "searched":
            near = _candidates(spec, unit)
            actual = candidates_digest(near)
            if not (actual == unit.candidates and len(near) == unit.counts.get("candidates", 0)):
                raise Contradiction(
                    "candidates",
                    f"the unit at {at(spec.inp, unit.lo)} has {len(near)} candidates with digest "
                    f"{actual}, {unit.counts.get('candidates', 0)} with {unit.candidates} are "
                    "stated",
                )
            evaluated = [range(b.lo, b.hi) for b in unit.blocks if not b.limbs]
            compare(spec, unit.lo, unit.hi, chain(near, *evaluated), listed)
            arguments += unit.hi - unit.lo
        on_unit()
    findings.rerun.append(
        f"all {arguments:.6g} arguments of searched pieces, by counting points near lines: the "
        "candidates of every unit, and no case is missing"
    )


def _candidates(spec: SearchSpec, unit: Unit) -> list[int]:
    found = []
    for block in unit.blocks:
        if block.limbs:
            place = Geometry(spec, block.lo, block.hi)
            near = near_integers(target_of_block(block), place.lo, place.hi)
            found += [block.lo + u - place.lo for u in near]
    return found


def _scan(certificate: Certificate, listed: Listed, findings: Findings, effort: Effort) -> None:
    """Evaluate what was scanned: all of it, or as much of it as the seed chooses."""
    spec = certificate.spec
    ranges = [(p.lo, p.hi) for p in certificate.pieces if p.rule == "scanned"]
    ranges += [(b.lo, b.hi) for u in certificate.units for b in u.blocks if not b.limbs]
    total = sum(hi - lo for lo, hi in ranges)
    if not total:
        return
    if effort.is_full or total <= MOST_SCANNED:
        on_range = effort.tell("scanning", len(ranges))
        for lo, hi in ranges:
            compare(spec, lo, hi, range(lo, hi), listed)
            on_range()
        findings.rerun.append(f"{total} arguments that are evaluated one by one: all of them")
        return
    generator = random.Random(effort.seed)
    on_argument = effort.tell("scanning", MOST_SCANNED)
    for _ in range(MOST_SCANNED):
        _, ordinal = choose(generator, ranges)
        compare(spec, ordinal, ordinal + 1, [ordinal], listed)
        on_argument()
    chance = -expm1(MOST_SCANNED * log1p(-1 / total))  # one may be chosen twice
    findings.sampled.append(
        f"{MOST_SCANNED} of {total} arguments that are evaluated one by one (seed "
        f"{effort.seed}): one missing case among them would have been seen with chance {chance:.3g}"
    )
