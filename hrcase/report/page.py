"""A report as one HTML page that needs nothing beside it: no scripts, no fonts, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from math import sqrt
from pathlib import Path

from hrcase.export import atomic_write
from hrcase.report.charts import cases_by_range, histogram, power
from hrcase.report.figures import Figures, Row, figures_of
from hrcase.report.tally import Range, Tally
from hrcase.version import version

MODES = {"midpoint": "to nearest", "number": "up, down, to zero"}
"""The rounding modes that a kind of breakpoint decides."""

KINDS = {"all": ("midpoint", "number"), "nearest": ("midpoint",), "directed": ("number",)}
"""The kinds of breakpoints of each rounding choice."""

ON_LINE, TEXT, HEX, NUMBER = "range", "words", "hex", "number"
"""How the cells of a column are set; also names of classes in page.css."""


def write_report(directory: Path, output: Path) -> None:
    """Write the page of a complete job, whole or not at all.

    Raises:
        InputError, Interrupted, CorruptState: as `figures_of`.
        ExportError: the page cannot be written.
    """
    text = page_of(figures_of(directory))
    with atomic_write(output) as stream:
        stream.write(text)


def page_of(figures: Figures) -> str:
    """The page."""
    spec = figures.spec
    style = files("hrcase.report").joinpath("page.css").read_text(encoding="utf-8")
    title = f"{spec.function_name}: hard-to-round cases"
    parts = [
        _claim(figures),
        _needed(figures),
        _by_range(figures),
        _by_bits(figures),
        _hardest(figures),
        _not_rows(figures),
        _time(figures),
        _range_by_range(figures),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>Hard-to-round cases of {escape(spec.function_name)}</h1>\n"
        f'<p class="asks">{escape(_asks(figures))}</p>\n'
        + "\n".join(parts)
        + f'\n</main>\n<footer><p class="note">Made by hrcase {escape(version())}, from the files '
        "of the job alone.</p></footer>\n</body>\n</html>\n"
    )


def _asks(figures: Figures) -> str:
    spec = figures.spec
    where = spec.region.text or f"every x of {spec.inp.name}"
    return (
        f"{spec.function.formula}, {spec.inp.name} to {spec.out.name}, {where}, "
        f"breakpoints: {spec.rounding}, M = {spec.bits}"
    )


def _claim(figures: Figures) -> str:
    claim = figures.claim
    facts = {
        "Threshold": claim.bits_in_words,
        "Exact cases": f"{claim.exact_rule}; {claim.exact_count} of them here, none is listed",
        "Symmetries applied": "; ".join(claim.symmetries) or "none",
        "Proved": claim.proved,
        "Re-run": claim.rerun,
        "Trusted": claim.trusted,
    }
    return (
        f'<h2>The claim</h2>\n<p class="claim">{escape(claim.sentence)} '
        f"Cases listed: {claim.cases}.</p>\n{_facts(facts)}"
    )


def _needed(figures: Figures) -> str:
    """What it takes to round the function correctly, by mode and by sign of x."""
    spec = figures.spec
    rows = []
    for kind in KINDS[spec.rounding]:
        for name, most_bits in _wholes(figures):
            most = most_bits.get(kind)
            m = figures.needed_bits(most)
            rows.append(
                (
                    MODES[kind],
                    name,
                    "no case" if most is None else str(most),
                    power(-m),
                    power(-spec.out.precision - m),
                )
            )
    intro = (
        f"Whoever knows f(x) to within the error in the table can round it to {spec.out.name} "
        "correctly. This holds for every x that was searched or evaluated, exact cases apart; in "
        "settled ranges of other kinds than (a) f(x) may be nearer to a breakpoint than that, and "
        "the theorem says to which. The relative error is for results that are not subnormal. k is "
        "the most bits after the round bit that are all equal."
    )
    head = (
        ("rounding", ON_LINE),
        ("x", ON_LINE),
        ("k at most", NUMBER),
        ("error, ulps", NUMBER),
        ("relative error", NUMBER),
    )
    left_out = [MODES[kind] for kind in MODES if kind not in KINDS[spec.rounding]]
    more = f" Not searched for: rounding {left_out[0]}." if left_out else ""
    return f"<h2>Bits needed to round correctly</h2>\n<p>{escape(intro + more)}</p>\n" + _table(
        "The same for each range of x stands at the end.", head, rows
    )


def _wholes(figures: Figures) -> Iterator[tuple[str, dict[str, int]]]:
    """The most identical bits of all x, of each sign where there are two, and by the law."""
    yield "all", figures.total.most_bits
    signs = {r.sign for r in figures.ranges}
    if {-1, 1} <= signs:
        for sign, name in ((-1, "x < 0"), (1, "x > 0")):
            total = Tally()
            for r in figures.ranges:
                if r.sign == sign:
                    total.add(r.tally)
            yield name, total.most_bits
    if figures.total.reasons and figures.total.expected:
        yield "where the law applies", figures.total.most_lawful


def _by_range(figures: Figures) -> str:
    total, symmetry = figures.total, figures.spec.function.symmetry
    is_mirrored = bool(symmetry) and {-1, 1} <= {r.sign for r in figures.ranges}
    words = (
        f"Cases where the law applies: {total.lawful}; {total.expected:.1f} are expected, "
        f"with a standard deviation of {sqrt(total.expected * (2 if is_mirrored else 1)):.1f}"
        f"{f' (f is {symmetry}: each case has a mirror image)' if is_mirrored else ''}."
    )
    if not total.expected:
        words = "The law applies to no part of this search."
    key = (
        _key(
            '<rect class="bar" x="1" y="1" width="22" height="12"/>', "cases where the law applies"
        )
        + _key('<rect class="lawless" x="1" y="1" width="22" height="12"/>', "cases elsewhere")
        + _key('<line class="law" x1="0" y1="7" x2="24" y2="7"/>', "the law, where it applies")
    )
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in sorted(total.reasons))
    lawless = ""
    if reasons:
        lawless = (
            f"<p>Elsewhere, {total.cases - total.lawful} cases, it does not apply:</p>\n"
            f"<ul>{reasons}</ul>\n"
        )
    law = (
        "The law: were f(x) spread evenly between breakpoints, a share of 2w of all arguments "
        "would be cases, w being the threshold in units of their distance. It is no theorem, and "
        "nothing here rests on it; a count far from it would be a reason to look again. Bars that "
        "end in an arrow are higher than the chart; the table at the end has their numbers."
    )
    return (
        f"<h2>Cases by binade</h2>\n<p>{escape(words)}</p>\n{lawless}"
        f'<div class="figure"><ul class="key">{key}</ul>\n'
        f"{_scroll('Chart: cases by range of x', cases_by_range(figures.ranges))}</div>\n"
        f'<p class="note">{escape(law)}</p>'
    )


def _by_bits(figures: Figures) -> str:
    every = {*figures.lawful_bits, *figures.other_bits}
    rows = [
        (
            str(bits),
            str(figures.lawful_bits[bits]),
            f"{figures.expected_at(bits):.1f}",
            str(figures.other_bits[bits]),
        )
        for bits in sorted(every)
    ]
    key = _key(_swatch("bar"), "cases") + _key(
        '<path class="diamond" d="M12 2l5 5l-5 5l-5 -5z"/>', "the law"
    )
    head = tuple((name, NUMBER) for name in ("k", "cases", "the law", "cases elsewhere"))
    return (
        '<h2>Cases by k</h2>\n<div class="figure">'
        "<p>How many cases have k identical bits after the round bit, where the law applies: "
        f'each bit more, half as many.</p>\n<ul class="key">{key}</ul>\n'
        f"{_scroll('Chart: cases by k', histogram(figures))}</div>\n"
        + _table("The same in numbers.", head, rows)
    )


def _hardest(figures: Figures) -> str:
    head = (
        ("x", HEX),
        ("f(x) to nearest", HEX),
        ("f(x) lies", ON_LINE),
        ("log2 of the distance in ulps", NUMBER),
        ("k", NUMBER),
    )
    parts = ["<h2>The hardest cases</h2>"]
    for kind in KINDS[figures.spec.rounding]:
        for is_lawful, where in ((True, "where the law applies"), (False, "elsewhere")):
            rows = [_hardest_row(row) for row in figures.hardest.get((kind, is_lawful), [])]
            caption = f"Nearest to a {kind}, {where}; for rounding {MODES[kind]}."
            if rows:
                parts.append(_table(caption, head, rows))
    if not figures.total.cases:
        parts.append("<p>There are none.</p>")
    return "\n".join(parts)


def _hardest_row(row: Row) -> tuple[str, ...]:
    x, y, kind, side, log2_distance, _, bits = row
    return x, y, f"{side} the {kind}", log2_distance, bits


def _not_rows(figures: Figures) -> str:
    """Settled ranges, and what is not covered."""
    parts = ["<h2>Settled ranges</h2>"]
    if figures.settled:
        head = (
            ("from, to", HEX),
            ("arguments", NUMBER),
            ("kind", ON_LINE),
            ("theorem", TEXT),
        )
        rows = [
            (where, f"{arguments:.6g}", f"({kind}) {meaning}", reason)
            for where, arguments, kind, meaning, reason in figures.settled
        ]
        parts.append(_table("A theorem decides all arguments of a range at once.", head, rows))
    else:
        parts.append("<p>None: every argument was searched or evaluated.</p>")
    if figures.removed:
        columns = (("from, to", HEX), ("reason", TEXT))
        parts.append(_table("Not covered by the claim.", columns, figures.removed))
    return "\n".join(parts)


def _time(figures: Figures) -> str:
    rows = [(name, f"{seconds:.2f}") for name, seconds in figures.seconds.items()]
    head = (("device", TEXT), ("seconds of kernels", NUMBER))
    sessions = [
        (s.started, s.devices, s.method, s.version, s.kernels[:12]) for s in figures.sessions
    ]
    names = ("started", "devices", "method", "hrcase", "kernels")
    caption = "Sessions of work. Kernels: the first digits of the digest of their sources."
    if rows:
        times = _table("Seconds are summed over threads and lanes.", head, rows)
    else:
        times = "<p>No kernel ran: every argument was evaluated, or settled by a theorem.</p>"
    return (
        f"<h2>Time and device</h2>\n{times}\n"
        f"{_table(caption, tuple((name, ON_LINE) for name in names), sessions)}"
    )


def _range_by_range(figures: Figures) -> str:
    kinds = KINDS[figures.spec.rounding]
    head = (
        ("|x| in", ON_LINE),
        ("arguments", NUMBER),
        ("cases", NUMBER),
        ("lawful cases", NUMBER),
        ("the law", NUMBER),
        *((f"error, ulps, {MODES[kind]}", NUMBER) for kind in kinds),
        ("the law does not apply", TEXT),
    )
    rows = []
    for r in figures.ranges:
        t = r.tally
        rows.append(
            (
                _range(r),
                f"{t.arguments:.6g}",
                str(t.cases),
                str(t.lawful) if t.expected else "",
                f"{t.expected:.1f}" if t.expected else "",
                *(power(-figures.needed_bits(t.most_bits.get(kind))) for kind in kinds),
                "; ".join(sorted(t.reasons)),
            )
        )
    caption = (
        "Ranges of x that were searched or evaluated, ascending in x. Lawful cases are those where "
        "the law applies; the error that rounding allows is the one of the first table."
    )
    return f"<h2>Range by range</h2>\n{_table(caption, head, rows)}"


def _range(r: Range) -> str:
    if r.sign == 0:
        return "x = 0"
    return f"[{power(r.first)}, {power(r.last + 1)}), x {'<' if r.sign < 0 else '>'} 0"


def _facts(facts: dict[str, str]) -> str:
    items = (f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"<dl>{''.join(items)}</dl>"


def _swatch(kind: str) -> str:
    return f'<rect class="{kind}" x="1" y="1" width="22" height="12"/>'


def _key(mark: str, text: str) -> str:
    return f'<li><svg viewBox="0 0 24 14" aria-hidden="true">{mark}</svg>{escape(text)}</li>'


def _table(caption: str, head: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    """A table: names of the columns with how their cells are set, and rows of text."""
    names = "".join(f'<th scope="col" class="{kind}">{escape(name)}</th>' for name, kind in head)
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}">{escape(cell)}</td>'
            for cell, (_, kind) in zip(row, head, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    inner = f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    return f'<p class="caption">{escape(caption)}</p>\n' + _scroll(f"Table: {caption}", inner)


def _scroll(name: str, inner: str) -> str:
    """What is wider than a phone scrolls on its own, also from the keyboard."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">{inner}</div>'
    )
