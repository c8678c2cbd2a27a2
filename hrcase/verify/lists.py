"""Lists of cases, CSV or .wc, with the claim beside them: each row, and samples of what is between.

A list without polynomials proves nothing; what can be done is to do parts of it again.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path

from hrcase.cases import HRCase
from hrcase.claim import complete_sentence
from hrcase.errors import InputError
from hrcase.export.reader import read_list
from hrcase.hexfloat import parse_number
from hrcase.spec import SearchSpec
from hrcase.verify.again import Covered, Listed, choose, compare, search_place
from hrcase.verify.asked import check_asked
from hrcase.verify.axis import Axis
from hrcase.verify.cases import check_rows
from hrcase.verify.classify import CASE, UNTOLD, classify
from hrcase.verify.document import spec_of
from hrcase.verify.findings import Contradiction, Findings, at
from hrcase.verify.monotone import one_axis
from hrcase.verify.tiling import require_outside
from hrcase.verify.whole import Effort
from hrcase.ziv import Vanishes, refine

_RANGE = re.compile(r"\[(\S+), (\S+)\](?: \(\d+ arguments\), \(([abcd])\))?.*", re.DOTALL)

LONGEST_PLACE = 1 << 36
"""Arguments next to a place of the sample that are looked at together, at most."""


def verify_list(path: Path, effort: Effort) -> Findings:
    """Check a list against its claim, FILE.claim.json, and samples of its ranges.

    Raises:
        InputError: the list or its claim cannot be read.
        Contradiction: naming the check.
    """
    claim = _claim_beside(path)
    spec = spec_of(claim.get("asked"), path.with_name(path.name + ".claim.json"))
    findings = Findings()
    entries = read_list(path)
    if not (
        entries.function in (None, spec.function_name)
        and entries.format_name in (None, spec.inp.name)
    ):
        raise Contradiction(
            "claim",
            f"{path} is of {entries.function} in {entries.format_name}, its claim of "
            f"{spec.function_name} in {spec.inp.name}",
        )
    if claim.get("cases") != len(entries.entries):
        raise Contradiction(
            "claim", f"{path} has {len(entries.entries)} rows, its claim says {claim.get('cases')}"
        )
    cases = [spec.inp.ordinal(entry.x) for entry in entries.entries]
    if path.suffix == ".csv":
        rows = path.read_text(encoding="utf-8").splitlines()[1:]
        verify_rows(spec, (tuple(row.split(",")[2:]) for row in rows), findings)
    _check_order(spec, cases)
    findings.rerun.append(f"{len(cases)} rows, each by MPFR and by Arb, and their order")
    if claim.get("complete") is not True:
        findings.stated.append("the list is not complete, by its claim: nothing was searched")
        return findings
    check_asked(spec)
    expected = complete_sentence(spec, bool(claim.get("removed")))
    if claim.get("sentence") != expected:
        raise Contradiction(
            "claim", f"it says {claim.get('sentence')!r}; of this search it is {expected!r}"
        )
    _sample(spec, claim, cases, findings, effort)
    findings.stated.append(
        "settled ranges, and that everything else was searched: see a certificate"
    )
    return findings


def verify_rows(spec: SearchSpec, rows: Iterable[tuple[str, ...]], findings: Findings) -> None:
    """Compute the columns of each row of a CSV list anew.

    Raises:
        Contradiction: a row says something else.
    """
    count = 0
    for row in rows:
        try:
            case = refine(spec, spec.inp.ordinal(parse_number(row[0])))
        except Vanishes:
            expected: tuple[str, ...] = ("of a settled range",)
        else:
            expected = case.row if isinstance(case, HRCase) else ("no case",)
        if row != expected:
            raise Contradiction(
                "rows",
                f"the row of x = {row[0]} says {', '.join(row[1:])}; it is "
                f"{', '.join(expected[1:] or expected)}",
            )
        count += 1
    findings.rerun.append(f"{count} rows of the list, column by column")


def _claim_beside(path: Path) -> dict[str, object]:
    beside = path.with_name(path.name + ".claim.json")
    try:
        claim = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"cannot read the claim {beside} of {path}: {error}; without it a list says nothing "
            "about what is not in it; write both with: hrcase search ... --output FILE.csv"
        ) from error
    if not isinstance(claim, dict) or "asked" not in claim:
        raise InputError(
            f"{beside} is no claim of this version: it has no field 'asked'; write list and claim "
            "anew with: hrcase search ... --output FILE.csv"
        )
    return claim


def _check_order(spec: SearchSpec, cases: list[int]) -> None:
    ranges = spec.region.ranges
    for case in cases:
        if not any(lo <= case < hi for lo, hi in ranges):
            raise Contradiction(
                "order", f"{at(spec.inp, case)} lies outside of what the claim covers"
            )
    check_rows(spec, ranges[0][0], ranges[-1][1], cases, CASE)


def _sample(
    spec: SearchSpec, claim: dict[str, object], cases: list[int], findings: Findings, effort: Effort
) -> None:
    """Search places of the ranges; in settled ones evaluate an argument."""
    removed = _ranges(spec, claim, "removed")
    require_outside(spec, ((lo, hi) for lo, hi, _ in removed))
    settled = _ranges(spec, claim, "settled") + removed
    generator, covered, listed = random.Random(effort.seed), Covered(), Listed(cases, None)
    on_place = effort.tell("sampling", effort.sample)
    skipped = 0
    for _ in range(effort.sample):
        place, ordinal = choose(generator, spec.region.ranges)
        inside = [kind for lo, hi, kind in settled if lo <= ordinal < hi]
        on_place()
        if inside:
            skipped += 1
            _check_settled(spec, ordinal, inside[0])
            continue
        after = [lo for lo, _, _ in settled if lo > ordinal]
        end = min([spec.region.ranges[place][1], *after])
        _search(spec, ordinal, end, listed, covered)
    arguments = sum(hi - lo for lo, hi in spec.region.ranges)
    findings.sampled.append(
        f"seed {effort.seed}: {covered.in_words(arguments)}; {skipped} more places, in settled "
        "ranges, evaluated"
    )


def _check_settled(spec: SearchSpec, ordinal: int, kind: str) -> None:
    """An argument of a settled range of kind (a) is no case, one of kind (b) is one."""
    verdict = classify(spec, ordinal) if kind in ("a", "b") else None
    if verdict not in (None, UNTOLD) and (verdict == CASE) != (kind == "b"):
        raise Contradiction(
            "settled", f"{at(spec.inp, ordinal)} is {verdict}, in a range of kind ({kind})"
        )


def _search(spec: SearchSpec, lo: int, hi: int, listed: Listed, covered: Covered) -> None:
    """Search what begins at an ordinal, as far as x and f(x) stay in one binade."""
    found = _binade_from(spec, lo, hi)
    if found is None:
        compare(spec, lo, lo + 1, [lo], listed)
        covered.ranges.append((lo, lo + 1))
    else:
        search_place(spec, found[0], lo, found[1], listed, covered)


def _binade_from(spec: SearchSpec, lo: int, hi: int) -> tuple[Axis, int] | None:
    """An axis for a range that begins at an ordinal, and its end; None if it is next to nothing."""
    length = min(hi - lo, LONGEST_PLACE)
    while length > 1:
        end = lo + length
        if spec.inp.parts(lo)[1] == spec.inp.parts(end - 1)[1] and lo * (end - 1) > 0:
            try:
                return one_axis(spec, lo, end), end
            except Contradiction:
                pass  # f leaves the binade, or it was not seen that it does not: a shorter one
        length //= 2
    return None


def _ranges(spec: SearchSpec, claim: dict[str, object], name: str) -> list[tuple[int, int, str]]:
    """The ranges that lines of a claim begin with, and the kind of each."""
    lines = claim.get(name)
    found = []
    for line in lines if isinstance(lines, list) else []:
        match = _RANGE.fullmatch(str(line))
        if match is None:
            raise InputError(
                f"cannot read the range of {str(line)[:80]!r} in the claim; write it anew"
            )
        first, last = (spec.inp.ordinal(parse_number(match[i])) for i in (1, 2))
        found.append((first, last + 1, match[3] or ""))
    return sorted(found)
