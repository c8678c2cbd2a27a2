"""`hrcase compare`: what one list of cases has and the other lacks."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from hrcase.compare import Comparison, Side, compare_lists
from hrcase.errors import VerificationFailed
from hrcase.export.reader import CaseList, read_list
from hrcase.hexfloat import parse_interval, to_hex
from hrcase.judge import Misstated, judge_for

_LIST = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(name="compare")
@click.argument("a", type=_LIST)
@click.argument("b", type=_LIST)
@click.option(
    "--bits",
    metavar="M",
    type=click.IntRange(3, 4096),
    help="Leave out entries whose distance is 2^-M ulp or more (BaCSeL -m M). Default: none.",
)
@click.option(
    "--function",
    help="With --bits: compute distances of entries that hrcase did not write as values of this "
    "function. Default for BaCSeL's output: the function that a .csv names.",
)
@click.option("--format", "format_name", help="Format of these. Default: a .csv's, or binary64.")
@click.option("--interval", metavar="LO,HI", help="Compare only LO <= x < HI. Default: every x.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@click.pass_context
def command(
    context: click.Context,
    a: Path,
    b: Path,
    bits: int | None,
    function: str | None,
    format_name: str | None,
    interval: str | None,
    as_json: bool,
) -> None:
    """Compare the lists A and B: .csv of hrcase, .wc, .bin (doubles), or the output of BaCSeL.

    Prints MISSING x for each argument of A that B lacks, EXTRA x for each argument that only B
    has; the summary goes to stderr. Exits with 0 when there is no difference, 7 when there is.
    """
    list_a, list_b = read_list(a), read_list(b)
    bounds = None if interval is None else parse_interval(interval)
    judge = None if bits is None else judge_for((list_a, list_b), bits, function, format_name)
    result = compare_lists(list_a, list_b, bits, bounds, judge)
    wrong = judge.misstated if judge else []
    click.echo(_json(list_a, list_b, result, wrong) if as_json else _lines(result), nl=as_json)
    click.echo(_summary(list_a, list_b, result), err=True)
    for found in wrong:
        what = f"{found.cases.path}:{found.entry.line}: it is {found.distance}"
        click.echo(f"WRONG DISTANCE {what}", err=True)
    if not result.equal:
        context.exit(VerificationFailed.exit_code)


def _lines(result: Comparison) -> str:
    lines = [f"MISSING {to_hex(x)}\n" for x in result.missing]
    lines += [f"EXTRA {to_hex(x)}\n" for x in result.extra]
    return "".join(lines)


def _json(
    list_a: CaseList, list_b: CaseList, result: Comparison, wrong: Sequence[Misstated]
) -> str:
    return json.dumps(
        {
            "equal": result.equal,
            "common": result.common,
            "missing": [to_hex(x) for x in result.missing],
            "extra": [to_hex(x) for x in result.extra],
            "a": _side_json(list_a, result.a, wrong),
            "b": _side_json(list_b, result.b, wrong),
        }
    )


def _side_json(cases: CaseList, side: Side, wrong: Sequence[Misstated]) -> dict[str, object]:
    return {
        "arguments": len(side.kept),
        "below_threshold": len(side.loose),
        "outside_interval": side.outside,
        "duplicates": [to_hex(x) for x in side.duplicates],
        "wrong_distances": [
            {"line": found.entry.line, "distance": found.distance}
            for found in wrong
            if found.cases is cases
        ],
    }


def _summary(list_a: CaseList, list_b: CaseList, result: Comparison) -> str:
    verdict = "no difference" if result.equal else "the lists differ"
    return "\n".join(
        (
            _side_summary("A", list_a, result.a),
            _side_summary("B", list_b, result.b),
            f"{result.common} in both, {len(result.missing)} missing (only in A), "
            f"{len(result.extra)} extra (only in B): {verdict}",
        )
    )


def _side_summary(name: str, cases: CaseList, side: Side) -> str:
    return (
        f"{name} {cases.path}: {len(side.kept)} arguments compared; left out: "
        f"{len(side.loose)} below the threshold, {side.outside} entries outside the interval, "
        f"{cases.skipped} not finite; {len(side.duplicates)} listed more than once"
    )
