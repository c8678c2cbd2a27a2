"""The two charts of a report, as SVG that stands in the page: no scripts, no fonts, no files.

What a mark means never hangs on its colour: bars are filled as far as the law applies, and hatched
above; the law is a line or a diamond. A table below each chart has its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from hrcase.report.figures import Figures
from hrcase.report.tally import Range

WIDTH, HEIGHT = 720, 270
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 12, 46
GROUND = HEIGHT - BOTTOM
SPACE = WIDTH - LEFT - RIGHT
LABEL = 58
ROOM = 1.15
"""The vertical axis ends so far above the highest mark of the law."""

PATTERN = (
    '<defs><pattern id="{0}" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect class="paper" width="5" height="5"/>'
    '<line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>'
)


def power(exponent: int, sign: int = 1) -> str:
    """A power of two, or the negative of one, as text."""
    return f"{'-' if sign < 0 else ''}2^{exponent}"


def cases_by_range(ranges: Sequence[Range]) -> str:
    """Bars of cases, a range of x each; the law as a line across those where it applies."""
    lawful = [r.tally.expected for r in ranges if r.tally.expected]
    counts = [max(r.tally.lawful, r.tally.expected) for r in ranges]
    highest = ROOM * max(counts) if lawful else max([r.tally.cases for r in ranges], default=1)
    scale = Linear(max(highest, 1.0))
    step = SPACE / max(len(ranges), 1)
    marks = [PATTERN.format("lawless"), *_axis(scale, "cases")]
    for number, r in enumerate(ranges):
        marks += _column(LEFT + number * step, step, r, scale)
    marks += _exponents(ranges, step)
    about = "Cases by range of x, with the number that the law expects."
    return _svg("Cases by range of x", about, marks)


def _column(x: float, step: float, r: Range, scale: Linear) -> Iterator[str]:
    """The bar of a range in two parts; one that is too high is cut and says so with an arrow."""
    tally = r.tally
    bar = max(step - (1.5 if step > 4 else 0.4), 0.5)
    top, middle = scale.at(tally.cases), scale.at(tally.lawful)
    for kind, high, low, cases in (
        ("bar", middle, GROUND, tally.lawful),
        ("lawless", top, middle, tally.cases - tally.lawful),
    ):
        if cases:
            yield (
                f'<rect class="{kind}" x="{x:.1f}" y="{high:.1f}" width="{bar:.1f}" '
                f'height="{low - high:.1f}"><title>{cases} cases</title></rect>'
            )
    if tally.cases > scale.highest:
        yield f'<path class="arrow" d="M{x + bar / 2 - 3:.1f} {TOP}l3 -6l3 6z"/>'
    if tally.expected:
        y = scale.at(tally.expected)
        yield f'<line class="law" x1="{x:.1f}" y1="{y:.1f}" x2="{x + step:.1f}" y2="{y:.1f}"/>'


def _exponents(ranges: Sequence[Range], step: float) -> Iterator[str]:
    """Labels below the columns, at least LABEL units apart."""
    last = -100.0
    for number, r in enumerate(ranges):
        x = LEFT + (number + 0.5) * step
        is_turn = number > 0 and ranges[number - 1].sign != r.sign
        if is_turn:
            turn = LEFT + number * step
            yield f'<line class="turn" x1="{turn:.1f}" y1="{TOP}" x2="{turn:.1f}" y2="{GROUND}"/>'
        if x - last < LABEL or x > WIDTH - RIGHT - 12:
            continue
        last = x
        text = "0" if r.sign == 0 else power(r.first, r.sign)
        yield _tick(x, text)
    for sign, text in ((-1, "x < 0"), (1, "x > 0")):
        where = [n for n, r in enumerate(ranges) if r.sign == sign]
        if where:
            x = LEFT + (where[0] + where[-1] + 1) / 2 * step
            yield f'<text class="name" x="{x:.1f}" y="{HEIGHT - 6}">{escape(text)}</text>'


def histogram(figures: Figures) -> str:
    """Bars of cases by identical bits, where the law applies; diamonds for the law. Logarithmic."""
    least = figures.spec.bits - 1
    most = max([least + 3, *figures.lawful_bits])
    while figures.expected_at(most + 1) >= 0.5:
        most += 1
    scale = Logarithmic(max(figures.total.expected, max(figures.lawful_bits.values(), default=1)))
    step = SPACE / (most - least + 1)
    bar, marks, points = step * 0.7, [*_axis(scale, "cases")], []
    for number, bits in enumerate(range(least, most + 1)):
        middle = LEFT + (number + 0.5) * step
        cases, law = figures.lawful_bits[bits], figures.expected_at(bits)
        if cases:
            y = scale.at(cases)
            marks.append(
                f'<rect class="bar" x="{middle - bar / 2:.1f}" y="{y:.1f}" width="{bar:.1f}" '
                f'height="{GROUND - y:.1f}"><title>k = {bits}: {cases} cases</title></rect>'
            )
        if law >= scale.LEAST:
            points.append((middle, scale.at(law)))
        if step >= 22 or number % 2 == 0:
            marks.append(_tick(middle, str(bits)))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks.append(f'<polyline class="law" points="{path}"/>')
    marks += [
        f'<path class="diamond" d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"/>' for x, y in points
    ]
    name = "k, identical bits after the round bit"
    marks.append(f'<text class="name" x="{LEFT + SPACE / 2}" y="{HEIGHT - 6}">{name}</text>')
    return _svg("Cases by k", "How many cases have k identical bits, with the law.", marks)


@dataclass(frozen=True)
class Linear:
    """A vertical axis from 0 to `highest`."""

    highest: float

    def at(self, value: float) -> float:
        """The height of a value, cut at both ends."""
        return GROUND - (GROUND - TOP) * min(max(value / self.highest, 0.0), 1.0)

    def ticks(self) -> list[int]:
        """About four round numbers."""
        rough = self.highest / 4
        unit = 10 ** floor(log10(rough)) if rough > 1 else 1
        step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
        return list(range(0, int(self.highest) + 1, int(step)))


@dataclass(frozen=True)
class Logarithmic:
    """A vertical axis from LEAST to the power of ten above `highest`."""

    highest: float
    LEAST = 0.5

    @property
    def _decades(self) -> int:
        return max(1, ceil(log10(max(self.highest, 1.0))))

    def at(self, value: float) -> float:
        """The height of a value, cut at the lower end."""
        whole = self._decades - log10(self.LEAST)
        share = (log10(max(value, self.LEAST)) - log10(self.LEAST)) / whole
        return GROUND - (GROUND - TOP) * share

    def ticks(self) -> list[int]:
        """The powers of ten."""
        return [10**n for n in range(self._decades + 1)]


def _axis(scale: Linear | Logarithmic, name: str) -> Iterator[str]:
    for value in scale.ticks():
        y = scale.at(value)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
        yield f'<text class="value" x="{LEFT - 5}" y="{y + 4:.1f}">{value}</text>'
    middle = (TOP + GROUND) / 2
    yield f'<text class="name" transform="translate(11 {middle}) rotate(-90)">{name}</text>'


def _tick(x: float, text: str) -> str:
    return f'<text class="tick" x="{x:.1f}" y="{GROUND + 16}">{text}</text>'


def _svg(title: str, about: str, marks: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(about)}"><title>{escape(title)}</title>\n'
        + "\n".join(marks)
        + f'\n<line class="axis" x1="{LEFT}" y1="{GROUND}" x2="{WIDTH - RIGHT}" y2="{GROUND}"/>'
        + "\n</svg>"
    )
