"""Certificates of small jobs, and of the lies that are made of them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from lies import Json, Lie

from hrcase.engine.cpu import CpuEngine
from hrcase.job.certificate import write_certificate
from hrcase.job.crew import Crew
from hrcase.job.directory import create, reading
from hrcase.job.run import LocalHands, work_on
from hrcase.job.stop import Stop
from hrcase.job.units import make_plan
from hrcase.plan import Tuning
from hrcase.spec import SearchSpec
from hrcase.verify.document import DIGEST, Form, read_certificate
from hrcase.verify.findings import Contradiction, Findings
from hrcase.verify.polynomials import digest_of
from hrcase.verify.whole import Effort, claim_of, verify_certificate
from hrcase.workers import Workers


def job_of(spec: SearchSpec, directory: Path, tuning: Tuning | None = None) -> Path:
    """A complete job."""
    job = create(directory, make_plan(spec))
    with Stop(None) as stop, Workers(1) as workers:
        hands = LocalHands(Crew([CpuEngine(1)]), workers)
        work_on(job, None, tuning or Tuning(), hands, stop, None)
    job.close()
    return directory


def certified(job: Path) -> Path:
    """Its certificate, beside it."""
    path = job.with_suffix(".json")
    with reading(job) as store, open(path, "w", encoding="utf-8") as stream:
        write_certificate(store, stream, lambda: None)
    return path


def effort(is_full: bool = False, sample: int = 1) -> Effort:
    return Effort(sample, 0, is_full, lambda name, steps: lambda: None)


def verified(path: Path, is_full: bool = False, sample: int = 1) -> Findings:
    return verify_certificate(read_certificate(path), effort(is_full, sample))


def sealed(data: Json, path: Path, remade: bool = True) -> Path:
    """Write an altered certificate with all digests, and the claim, recomputed."""
    data = {name: value for name, value in data.items() if name != "digest"}
    form = Form(path)
    if remade:
        certificate = form.certificate({**data, "digest": ""})
        for unit, parsed in zip(data["units"], certificate.units, strict=True):
            unit["ran"] = digest_of(parsed.blocks)
        data["claim"] = claim_of(certificate)
    body = json.dumps(data)[:-1]
    path.write_text(body + DIGEST + hashlib.sha256(body.encode()).hexdigest() + '"}\n')
    return path


def check_refused(lie: Lie, files: Mapping[str, Path], tmp_path: Path) -> None:
    """Assert that what a lie makes of a certificate, its digests made anew, is refused by name."""
    data = json.loads(files[lie.label].read_text())
    true = copy.deepcopy(data)
    lie.alter(data)
    assert data != true
    altered = sealed(data, tmp_path / "altered.json")
    with pytest.raises(Contradiction) as caught:
        verified(altered, lie.needs_all)
    assert caught.value.check == lie.check, str(caught.value)
    assert caught.value.exit_code == 7
