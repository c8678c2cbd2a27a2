"""hrcase selftest: ask engines what is known."""

import click

from hrcase.cli.work import engines
from hrcase.selftest import selftest


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
def command(is_long: bool, device: str, threads: int | None) -> None:
    """Ask engines questions with known answers, a line each on stdout.

    The kernels are compiled if need be. Exit code 6 if an answer is wrong: do not use that device.
    """
    with engines(device, threads) as found:
        for engine in found:
            click.echo(f"{engine.name}:")
            for line in selftest(engine, is_long):
                click.echo(f"  {line}")
    click.echo("all answers are right")
