"""How large a certificate of a whole function is, and what its proofs take to verify.

    python benchmarks/certificates.py [FUNCTION ...]

Nothing is searched: units are planned as a job does, and kept as if they had given no case. So the
certificate lacks the cases, some 24 bytes each. Then everything is verified that needs no search:
tiling, settled pieces, polynomials, remainders, budgets. A line a function: units, blocks, bytes,
and seconds of this process to plan and keep, to certify, to read and to verify.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from time import process_time

from hrcase.formats import FORMATS
from hrcase.job.certificate import write_certificate
from hrcase.job.digests import blocks_digest, candidates_digest
from hrcase.job.directory import create
from hrcase.job.store import Session, Store
from hrcase.job.units import Unit, make_plan
from hrcase.job.walk import UnitResult
from hrcase.pieces import Rule
from hrcase.plan import Tuning, plan
from hrcase.spec import SearchSpec, default_bits, everything
from hrcase.verify.document import Certificate, read_certificate
from hrcase.verify.findings import Findings
from hrcase.verify.polynomials import check_polynomials
from hrcase.verify.settled import check_settled
from hrcase.verify.tiling import check_outside, check_tiling

DOUBLE = FORMATS["binary64"]
AT_A_TIME = 2000


def main() -> None:
    for name in sys.argv[1:] or ["exp"]:
        with tempfile.TemporaryDirectory() as place:
            print(name, measure(name, Path(place)), flush=True)


def measure(name: str, place: Path) -> str:
    bits = default_bits(DOUBLE)
    spec = SearchSpec(name, DOUBLE, DOUBLE, bits, "all", everything(DOUBLE))
    times = [process_time()]
    with closing(create(place / "job", make_plan(spec))) as job:
        keep_all(job.store)
        times.append(process_time())
        path = place / "certificate.json"
        with open(path, "w", encoding="utf-8") as stream:
            write_certificate(job.store, stream, lambda: None)
    times.append(process_time())
    certificate = read_certificate(path)
    times.append(process_time())
    verify_proofs(certificate)
    times.append(process_time())
    blocks = sum(len(unit.blocks) for unit in certificate.units)
    seconds = [f"{after - before:.1f}" for before, after in pairwise(times)]
    return f"{len(certificate.units)} {blocks} {path.stat().st_size} {' '.join(seconds)}"


def keep_all(store: Store) -> None:
    """Keep all units as if they had been searched and had no candidates."""
    session = store.begin_session(Session("", "", "planned only", "farey", "", ""))
    for first in range(0, len(store.units), AT_A_TIME):
        units = store.units[first : first + AT_A_TIME]
        store.add([kept(store.spec, unit) for unit in units], session)


def kept(spec: SearchSpec, unit: Unit) -> UnitResult:
    is_searched = unit.piece.rule is Rule.SEARCHED
    blocks = list(plan(spec, unit.piece, Tuning(method="farey"))) if is_searched else []
    counts = Counter(candidates=0, domains=1 << 24, scanned=1 << 26, hits=9, subdomains=0)
    tested = sum(block.count for block in blocks if block.block is not None)
    counts["tested_arguments"] = tested
    digests = blocks_digest(blocks), candidates_digest([])
    return UnitResult(unit, [], [], unit.piece.count - tested, counts, 1.0, "cuda:0", *digests)


def verify_proofs(certificate: Certificate) -> None:
    findings = Findings()
    check_tiling(certificate, findings)
    check_outside(certificate, findings)
    check_settled(certificate, findings, 0)
    check_polynomials(certificate, findings, lambda: None)


if __name__ == "__main__":
    main()
