"""hrcase functions: what the registry knows."""

import json
from collections.abc import Iterator

import click

from hrcase.cli.asked import EXPRESSION_OPTION, function_of
from hrcase.functions import FAMILIES, PARAMETER, REGISTRY, Expression, Function, function_by_name


@click.command(name="functions")
@click.argument("name", required=False)
@EXPRESSION_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(name: str | None, expression: str | None, as_json: bool) -> None:
    """List the functions that can be searched, or say all about NAME or an expression of them.

    NAME is exp, say, or pown:3, of a family with an integer.

    That is: where it is defined and searched, its symmetry, where it turns, which values are
    exact and why, what theorems settle its tails, and how it is evaluated twice.
    """
    is_list = name is None and expression is None
    chosen = REGISTRY.values() if is_list else [function_by_name(function_of(name, expression))]
    for f in chosen:
        facts = dict(_facts(f))
        if as_json:
            click.echo(json.dumps({"name": f.name, "formula": f.formula, **facts}))
        elif is_list:
            click.echo(_line(f.name, f.formula, facts["domain"]))
        else:
            click.echo(f.name if isinstance(f, Expression) else f"{f.name}(x) = {f.formula}")
            for key, value in facts.items():
                click.echo(f"  {key:13}{value}")
    for family in FAMILIES.values() if is_list else ():
        if as_json:
            facts = {"name": f"{family.name}:N", "formula": family.formula, "parameter": PARAMETER}
            click.echo(json.dumps(facts))
        else:
            click.echo(_line(f"{family.name}:N", family.formula, f"for {PARAMETER}"))


def _line(name: str, formula: str, domain: str) -> str:
    return f"{name:12}{formula:20}{domain}"


def _facts(f: Function) -> Iterator[tuple[str, str]]:
    if isinstance(f, Expression):
        yield "domain", "where all functions in it are; a search finds it, and names what is not"
        yield "monotone", f.monotone
        yield "exact cases", f.exact_rule
        yield "evaluators", f.evaluators
        return
    yield "domain", _domain(f)
    yield "symmetry", f.symmetry or "none"
    yield "monotone", f.monotone
    yield "exact cases", f.exact_rule
    yield "near 0", _near_zero(f)
    yield "tails", f.tails_in_words or "flat ranges are found and settled by the general theorem"
    yield "evaluators", f.evaluators
    if f.known_cases:
        cases = (f"{x} (2^{log2_distance:.3f} ulp)" for x, log2_distance in f.known_cases)
        yield "known cases", ", ".join(cases)


def _domain(f: Function) -> str:
    sign = "<=" if f.closed else "<"
    lo = "" if isinstance(f.lo, float) else f"{f.lo} {sign} "
    hi = "" if isinstance(f.hi, float) else f" {sign} {f.hi}"
    words = f"{lo}x{hi}" if lo or hi else "every x"
    words += f", except {f.poles_in_words}" if f.poles_in_words else ""
    return words + (" (defined beyond, but not searched)" if f.outside_is_error else "")


def _near_zero(f: Function) -> str:
    if not f.identity_below:
        return "nothing special"
    return f"nearly {f.tangent} for |x| < {f.identity_below}: {f.identity_reason}"
