"""`hrcase report`: the numbers of the page, and the page as a document."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jobs import hrcase, start

from hrcase.formats import FORMATS
from hrcase.hexfloat import to_hex
from hrcase.pieces import Piece, Rule
from hrcase.report import charts
from hrcase.report.figures import HARDEST, Figures, figures_of
from hrcase.report.page import page_of
from hrcase.report.tally import MOST_RANGES, Range, Tally, binade_of, binades_of, ranges_of

BINARY16 = FORMATS["binary16"]
ASKED = ("exp", "--format", "binary32", "--exponent-range=-26:7", "--bits", "21")
"""Both signs, settled ranges, results that overflow; ranges with the law and without."""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete job."""
    directory = tmp_path_factory.mktemp("report") / "job"
    done = start("search", "--device", "cpu", "--threads", "1", *ASKED, "--job", str(directory))
    _, err = done.communicate()
    assert done.returncode == 0, err
    return directory


@pytest.fixture(scope="module")
def figures(job: Path) -> Figures:
    return figures_of(job)


@pytest.fixture(scope="module")
def page(figures: Figures) -> str:
    return page_of(figures)


@pytest.fixture
def rows(job: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """The list of the job."""
    exit_code, out, _ = hrcase(capsys, "export", str(job), "--to", "csv")
    assert exit_code == 0
    return list(csv.DictReader(io.StringIO(out)))


class Document(HTMLParser):
    """What stands in a page; tags must be balanced."""

    VOID = frozenset({"meta"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.tables: list[list[list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        around = tuple(str(a.get("class", "")) for _, a in self.open)
        self.elements.append((tag, dict(attrs), around))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        around = tuple(str(a.get("class", "")) for _, a in self.open)
        self.elements.append((tag, dict(attrs), around))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(tag in ("td", "th") for tag, _ in self.open):
            self.tables[-1][-1][-1] += data

    def table(self, *head: str) -> list[list[str]]:
        """The rows of the tables whose columns begin with these."""
        return [
            row for table in self.tables for row in table[1:] if table[0][: len(head)] == list(head)
        ]


def test_counts_are_those_of_the_list(figures: Figures, rows: list[dict[str, str]]) -> None:
    assert figures.total.cases == len(rows) > 500
    assert sum(r.tally.cases for r in figures.ranges) == len(rows)
    by_bits = Counter(int(row["identical_bits"]) for row in rows)
    assert figures.lawful_bits + figures.other_bits == by_bits
    assert figures.total.lawful == figures.lawful_bits.total() > 0 < figures.other_bits.total()
    for r in figures.ranges:
        mine = [
            row
            for row in rows
            if 2.0**r.first <= r.sign * float.fromhex(row["x"]) < 2.0 ** (r.last + 1)
        ]
        assert r.tally.cases == len(mine)
        assert r.tally.lawful == len(mine) or r.tally.reasons
        assert r.tally.lawful == 0 or r.tally.expected
        for kind in ("number", "midpoint"):
            bits = [int(row["identical_bits"]) for row in mine if row["breakpoint"] == kind]
            assert r.tally.most_bits.get(kind) == max(bits, default=None)


def test_arguments_are_those_that_are_not_settled(figures: Figures) -> None:
    asked = sum(hi - lo for lo, hi in figures.spec.region.ranges)
    settled = sum(arguments for _, arguments, *_ in figures.settled)
    assert figures.settled and figures.total.arguments + settled == asked


def test_the_law_says_what_the_counts_are(figures: Figures) -> None:
    """Whole binades hold 16 cases, except where f overflows or is settled."""
    whole = {r.tally.expected for r in figures.ranges if not r.tally.reasons}
    assert 16.0 in whole
    assert abs(figures.total.lawful - figures.total.expected) < 5 * figures.total.expected**0.5
    at = [figures.expected_at(bits) for bits in range(20, 90)]
    assert sum(at) == pytest.approx(figures.total.expected)
    assert at[0] == pytest.approx(2 * at[1])


def test_what_is_needed_is_enough_and_not_too_much(
    figures: Figures, rows: list[dict[str, str]]
) -> None:
    for kind in ("number", "midpoint"):
        distances = [float(row["distance_ulp"]) for row in rows if row["breakpoint"] == kind]
        m = figures.needed_bits(figures.total.most_bits[kind])
        assert 2.0**-m < min(distances) <= 2.0 ** (1 - m)
    assert figures.needed_bits(None) == figures.spec.bits + 1


def test_the_hardest_are_the_hardest(figures: Figures, rows: list[dict[str, str]]) -> None:
    for kind in ("number", "midpoint"):
        mine = sorted(
            (float(row["log2_distance"]), float(row["distance_ulp"]), row["x"])
            for row in rows
            if row["breakpoint"] == kind
        )
        lists = [figures.hardest[kind, is_lawful] for is_lawful in (True, False)]
        assert all(0 < len(found) <= HARDEST for found in lists)
        named = sorted((float(row[4]), float(row[5])) for found in lists for row in found)
        assert named[:HARDEST] == [entry[:2] for entry in mine[:HARDEST]]
        for found in lists:
            assert found == sorted(found, key=lambda row: (float(row[4]), float(row[5])))


def test_the_page_needs_nothing_else(page: str) -> None:
    document = Document(page)
    tags = {tag for tag, _, _ in document.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for _, attributes, _ in document.elements:
        assert not {"src", "href", "onload", "onclick", "style"} & set(attributes)
    links = set(re.findall(r"(?:https?:|url\()[^\s\"')]*", page))
    assert links == {"http://www.w3.org/2000/svg", "url(#lawless"}
    assert "@import" not in page


def test_the_page_is_for_phones_paper_and_readers(page: str) -> None:
    document = Document(page)
    meta = [attributes for tag, attributes, _ in document.elements if tag == "meta"]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in meta
    assert "@media print" in page and '<html lang="en">' in page
    for tag, attributes, around in document.elements:
        if tag == "table" or (tag == "svg" and attributes.get("role") == "img"):
            assert "scroll" in around, "what is wide must scroll on its own"
        if tag == "svg":
            assert attributes.get("aria-label") or attributes.get("aria-hidden") == "true"
        if tag == "th":
            assert attributes["scope"] == "col"
    headings = [tag for tag, _, _ in document.elements if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1" and set(headings[1:]) == {"h2"}


def test_the_page_shows_the_numbers(page: str, figures: Figures) -> None:
    document = Document(page)
    assert figures.claim.sentence.replace("<", "&lt;") in page
    needed = document.table("rounding", "x", "k at most")
    assert [row[:2] for row in needed[:4]] == [
        ["to nearest", "all"],
        ["to nearest", "x < 0"],
        ["to nearest", "x > 0"],
        ["to nearest", "where the law applies"],
    ]
    m = figures.needed_bits(figures.total.most_bits["midpoint"])
    assert needed[0][2:] == [str(m - 2), f"2^-{m}", f"2^-{m + 24}"]
    ranges = document.table("|x| in")
    assert [int(row[2]) for row in ranges] == [r.tally.cases for r in figures.ranges]
    assert ranges[0][0] == "[2^6, 2^7), x < 0"
    assert len(document.table("from, to")) == len(figures.settled)
    assert document.table("device")[0][0].startswith("cpu")
    assert [row[2] for row in document.table("started")] == ["farey"]


def test_charts_draw_what_was_counted(figures: Figures) -> None:
    document = Document(charts.cases_by_range(figures.ranges))
    drawn = [a for tag, a, _ in document.elements if tag == "rect"]
    bars, lawless = ([a for a in drawn if a["class"] == kind] for kind in ("bar", "lawless"))
    laws = [a for _, a, _ in document.elements if a.get("class") == "law"]
    with_bars = [r for r in figures.ranges if r.tally.lawful]
    with_law = [r for r in figures.ranges if r.tally.expected]
    assert len(bars) == len(with_bars) > 0
    assert len(lawless) == sum(r.tally.cases > r.tally.lawful for r in figures.ranges) > 0
    assert len(laws) == len(with_law)
    unit = charts.GROUND - float(str(laws[with_law.index(whole(figures))]["y1"]))
    for bar, r in zip(bars, with_bars, strict=True):
        height = float(str(bar["height"]))
        assert height + float(str(bar["y"])) == pytest.approx(charts.GROUND)
        assert height / unit == pytest.approx(r.tally.lawful / 16, abs=0.01)


def whole(figures: Figures) -> Range:
    """A range where the law expects 16 cases."""
    return next(r for r in figures.ranges if r.tally.expected == 16)


def test_a_bar_beyond_the_chart_has_an_arrow() -> None:
    tally, high = Tally(expected=4.0, lawful=5, cases=5), Tally(cases=99, reasons={"why"})
    few = [Range(1, 0, 0, tally), Range(1, 1, 1, high)]
    assert charts.cases_by_range(few).count('class="arrow"') == 1
    assert charts.cases_by_range(few[:1]).count('class="arrow"') == 0


def test_the_same_job_gives_the_same_page(job: Path, page: str, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    done = start("report", str(job), "--output", str(output))
    _, err = done.communicate()
    assert (done.returncode, err) == (0, f"the report stands in {output}\n")
    assert output.read_text() == page


def test_only_a_complete_job_has_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, output = tmp_path / "job", tmp_path / "page.html"
    output.write_text("old")
    asked = ("search", "--device", "cpu", "exp", "--interval", "1,2", "--job", str(directory))
    assert hrcase(capsys, *asked, "--max-time", "0")[0] == 4
    exit_code, out, err = hrcase(capsys, "report", str(directory), "--output", str(output))
    assert (exit_code, out) == (4, "")
    assert f"run: hrcase resume {directory}" in err
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job", "page.html"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--output", "page.html"), "run: hrcase search FUNCTION"),
        (("JOB", "--output", "page.txt"), "give FILE.html"),
        (("JOB", "--output", "nowhere/page.html"), "nowhere"),
        (("JOB",), "run: hrcase report --help"),
    ],
)
def test_wrong_words(
    job: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    given_words = [str(job) if word == "JOB" else word for word in words]
    exit_code, out, err = hrcase(capsys, "report", *given_words)
    assert (exit_code, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_a_damaged_job_has_no_report(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "job"
    copy.mkdir()
    data = (job / "job.sqlite").read_bytes()
    x = b"0x1.fffffep-24"
    assert x in data
    (copy / "job.sqlite").write_bytes(data.replace(x, b"0x1.fffffcp-24"))
    output = tmp_path / "page.html"
    exit_code, _, err = hrcase(capsys, "report", str(copy), "--output", str(output))
    assert exit_code == 8, err
    assert not output.exists()


@given(st.data())
def test_binades_of_a_piece(data: st.DataObject) -> None:
    last = BINARY16.max_ordinal
    lo = data.draw(st.integers(-last, last - 1))
    hi = data.draw(st.integers(lo + 1, min(last, lo + 3000)))
    by_hand = Counter(binade_of(to_hex(BINARY16.value(i))) for i in range(lo, hi))
    found = list(binades_of(BINARY16, Piece(lo, hi, Rule.SCANNED)))
    assert dict(found) == dict(by_hand) and len(found) == len(by_hand)


@given(st.sets(st.tuples(st.sampled_from([-1, 1]), st.integers(-16445, 16383)), min_size=1))
def test_ranges_keep_all_and_stay_few(binades: set[tuple[int, int]]) -> None:
    ranges = ranges_of({binade: Tally(cases=1) for binade in binades})
    assert len(ranges) <= MOST_RANGES
    assert sum(r.tally.cases for r in ranges) == len(binades)
    ends = [r.sign * (e + (1 << 20)) for r in ranges for e in (r.first, r.last)[:: r.sign]]
    assert ends == sorted(ends)


def test_many_binades_are_put_together() -> None:
    ranges = ranges_of({(1, e): Tally(arguments=1) for e in range(-1074, 1024)})
    assert 80 < len(ranges) <= MOST_RANGES
    assert {r.tally.arguments for r in ranges[1:-1]} == {16}
