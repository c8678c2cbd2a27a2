"""The pages of docs/: the commands as the program prints them, links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_page_of_commands_is_what_the_program_prints() -> None:
    script = [sys.executable, str(ROOT / ".ci" / "commands.py")]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert printed.count("\n## hrcase ") > 10
    kept = (ROOT / "docs" / "commands.md").read_text()
    assert printed == kept, (
        "docs/commands.md is not what the program prints; run: "
        "python .ci/commands.py > docs/commands.md"
    )


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert page.name not in ("README.md", "index.md") or len(links) > 5
    for link in links:
        assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_menu_names_pages_that_exist() -> None:
    menu = (ROOT / ".ci" / "mkdocs.yml").read_text()
    named = re.findall(r"([\w-]+\.md)$", menu, re.MULTILINE)
    assert "index.md" in named
    assert set(named) <= {page.name for page in PAGES}
