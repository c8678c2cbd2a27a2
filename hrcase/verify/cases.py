"""The cases of a certificate: each evaluated again, and the counts of units added up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from itertools import pairwise

from hrcase.spec import SearchSpec
from hrcase.verify.classify import CASE, EXACT, classify
from hrcase.verify.document import Block, Certificate, Piece, Unit
from hrcase.verify.exact import ClosedForms, some_of_unit
from hrcase.verify.findings import Contradiction, Findings, at, within
from hrcase.verify.near import Target
from hrcase.verify.polynomials import Geometry, windows
from hrcase.verify.tiling import with_pieces

OnUnit = Callable[[], None]


def check_cases(
    certificate: Certificate, forms: ClosedForms, findings: Findings, on_unit: OnUnit
) -> None:
    """Evaluate each case and each exact case, and check how many arguments units decided.

    Args:
        forms: of exact cases, some of which are evaluated.
        on_unit: called after each unit.

    Raises:
        Contradiction: one is none, is no candidate, or numbers do not add up.
    """
    spec, evaluated = certificate.spec, 0
    for piece, unit in with_pieces(certificate):
        check_rows(spec, unit.lo, unit.hi, unit.cases, CASE)
        check_rows(spec, unit.lo, unit.hi, unit.exact, EXACT)
        some = some_of_unit(spec, unit, forms)
        check_rows(spec, unit.lo, unit.hi, some, EXACT)
        evaluated += len(some)
        _check_candidates(spec, unit)
        _check_counts(spec, piece, unit)
        on_unit()
    cases, exact = (sum(len(getattr(u, n)) for u in certificate.units) for n in ("cases", "exact"))
    findings.rerun.append(f"{cases} cases and {exact} exact ones, each by MPFR and by Arb")
    counted = sum(unit.in_closed_form for unit in certificate.units)
    if counted:
        findings.sampled.append(
            f"{counted} exact cases in closed form (docs/functions.md, section 4), counted again: "
            f"{evaluated} evaluated"
        )


def check_rows(spec: SearchSpec, lo: int, hi: int, ordinals: list[int], kind: str) -> None:
    """Arguments of a range, ascending, each of one kind by both evaluators."""
    for before, after in pairwise([lo - 1, *ordinals, hi]):
        if before >= after:
            raise Contradiction(
                "order",
                f"ordinal {after} comes after {before} among those of {within(spec.inp, lo, hi)}",
            )
    for ordinal in ordinals:
        verdict = classify(spec, ordinal)
        if verdict != kind:
            raise Contradiction(
                "cases", f"{at(spec.inp, ordinal)} is listed as {kind}, and is {verdict}"
            )


def target_of_block(block: Block) -> Target:
    """What the engines searched for on a block."""
    modulus = 1 << 64 * block.limbs
    return Target([int(c * modulus) for c in block.polynomial], modulus, windows(block)[0])


def _check_candidates(spec: SearchSpec, unit: Unit) -> None:
    """By lemma 10 each case of a block is a candidate of it."""
    for block in unit.blocks:
        inside = [case for case in unit.cases if block.lo <= case < block.hi] if block.limbs else []
        if not inside:
            continue
        target, place = target_of_block(block), Geometry(spec, block.lo, block.hi)
        for case in inside:
            if not target.is_near(place.u(case)):
                raise Contradiction(
                    "candidates", f"{at(spec.inp, case)} is a case, and no candidate of its block"
                )


def _check_counts(spec: SearchSpec, piece: Piece, unit: Unit) -> None:
    """What was decided: candidates, and what was evaluated one by one."""
    if piece.rule == "scanned":
        evaluated, tested = unit.hi - unit.lo, 0
    else:
        evaluated = sum(block.hi - block.lo for block in unit.blocks if not block.limbs)
        tested = sum(
            block.hi - block.lo for block in unit.blocks if block.limbs and block.method != "scan"
        )
    counts = unit.counts
    decided = len(unit.cases) + len(unit.exact) + unit.in_closed_form + unit.rejected
    stated = counts.get("candidates", 0) + evaluated
    sums = [("decided", decided, stated), ("tested", counts.get("tested_arguments", 0), tested)]
    if piece.rule == "searched":
        sums.append(("evaluated", counts.get("evaluated", 0), evaluated))
    for name, left, right in sums:
        if left != right:
            raise Contradiction(
                "counts",
                f"the unit at {at(spec.inp, unit.lo)}: {left} arguments are said to be {name}, its "
                f"blocks and candidates give {right}",
            )


def candidates_digest(ordinals: Iterable[int]) -> str:
    """SHA-256 over ordinals, ascending, each in decimal on a line."""
    return hashlib.sha256("".join(f"{ordinal}\n" for ordinal in ordinals).encode()).hexdigest()
