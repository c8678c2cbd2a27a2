"""hrcase selftest: ask engines what is known."""

import json

import click

from hrcase.cli.work import engines
from hrcase.selftest import Answer, selftest


@click.command(name="selftest")
@click.option(
    "--long", "is_long", is_flag=True, help="All shapes of kernels, and methods compared on exp."
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help="auto, cpu, cuda:N, cuda:all, or several with commas.",
)
@click.option("--threads", type=click.IntRange(min=1), help="Default: all processors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an answer.")
def command(is_long: bool, device: str, threads: int | None, as_json: bool) -> None:
    """Ask engines questions with known answers, a line each on stdout.

    The kernels are compiled if need be. Exit code 6 if an answer is wrong: do not use that device.
    """
    with engines(device, threads) as found:
        for engine in found:
            if not as_json:
                click.echo(f"{engine.name}:")
            for answer in selftest(engine, is_long):
                click.echo(_as_json(engine.name, answer) if as_json else _as_text(answer))
    if not as_json:
        click.echo("all answers are right")


def _as_text(answer: Answer) -> str:
    verdict = "as known" if answer.is_right else f"WRONG, {answer.known} are known"
    if answer.is_right and answer.source != "arithmetic":
        verdict = f"the same as by {answer.source}"
    return f"  {answer.question}: {answer.candidates} candidates, {verdict}"


def _as_json(engine: str, answer: Answer) -> str:
    return json.dumps(
        {
            "device": engine,
            "question": answer.question,
            "candidates": answer.candidates,
            "known": answer.known,
            "source": answer.source,
            "right": answer.is_right,
        }
    )
