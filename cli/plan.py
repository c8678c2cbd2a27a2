"""hrcase plan: what a search would take."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict

import click

from hrcase.claim import bits_in_words
from hrcase.cli.asked import asked_options
from hrcase.cli.progress import in_time
from hrcase.estimate import Device, Estimate, estimate
from hrcase.job.identity import in_words, spec_to_json
from hrcase.job.units import Plan, make_plan
from hrcase.pieces import Rule
from hrcase.spec import SearchSpec

SHORT = 0.1
"""Fewer seconds than this are not told apart."""


@click.command(name="plan")
@asked_options
@click.option("--threads", type=click.IntRange(min=1), help="Default: all processors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(spec: SearchSpec, threads: int | None, as_json: bool) -> None:
    """Say what a search of FUNCTION would take; search nothing.

    Seconds follow from the cost model and a rate for each device: for an H200 one that was
    measured before, for the processors of this machine one that is measured now, on a part of this
    search. The options are those of `hrcase search`.
    """
    started = time.monotonic()
    plan = make_plan(spec)
    found = estimate(plan, threads or os.cpu_count() or 1)
    if as_json:
        click.echo(json.dumps(_as_json(plan, found)))
    else:
        click.echo("\n".join(_lines(plan, found)))
    click.echo(f"planned in {time.monotonic() - started:.1f} s", err=True)


def _as_json(plan: Plan, found: Estimate) -> dict[str, object]:
    pieces = [str(piece.rule) for piece in plan.pieces]
    return {
        "spec": spec_to_json(plan.spec),
        "pieces": {rule.value: pieces.count(rule.value) for rule in Rule},
        "arguments": {rule.value: plan.arguments[rule] for rule in Rule},
        "units": len(plan.units),
        **asdict(found),
    }


def _lines(plan: Plan, found: Estimate) -> Iterator[str]:
    yield f"asks      {in_words(spec_to_json(plan.spec))}"
    yield bits_in_words(plan.spec.bits)
    for rule in Rule:
        pieces = [piece for piece in plan.pieces if piece.rule is rule]
        yield f"{rule.value:9} {len(pieces):8} pieces  {plan.arguments[rule]:.6g} arguments"
    yield f"units     {len(plan.units)}"
    yield f"expected  {found.expected:.1f} cases by the law in the searched pieces"
    for reason, arguments in found.lawless.items():
        yield f"          the law does not apply to {arguments:.6g} arguments: {reason}"
    yield f"work      {found.work:.6g} domain tests (hrcase/cost.py)"
    yield (
        f"evaluated {in_time(found.processor_seconds)} of one processor, by MPFR and Arb: "
        f"{found.evaluated} arguments, and the cases"
    )
    for device in found.devices:
        yield f"kernels   {_in_words(device)}"


def _in_words(device: Device) -> str:
    if device.rate is None or device.seconds is None:
        return f"{device.name}: not known; {device.source}"
    seconds = f"{device.seconds:.3g} s" if device.seconds >= SHORT else f"below {SHORT} s"
    if device.seconds >= 100:
        seconds += f" ({in_time(device.seconds)})"
    return f"{device.name}: {seconds}, at {device.rate:.3g} domain tests a second ({device.source})"
