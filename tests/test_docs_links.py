"""Links in the documentation lead to existing files and headings, and the functions it names are where it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT

EQUATIONS = ROOT / "docs" / "equations.md"
#: ``[`file.py`](path) `name`, `name` ``: a link to a module, and the functions in it.
NAMED = re.compile(r"\]\((\.\./src/[^)]+\.py)\)((?:,? `\w+`)+)")


def prose(page: Path) -> str:
    """The text of a page without its code blocks, in which brackets mean something else."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if not re.match(r"\w+:", target)]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_to_files_and_headings(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: there is no '{path}'"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: '{target.name}' has no heading '#{anchor}'"


def test_functions_of_the_equations_are_in_the_files_they_are_linked_to():
    named = NAMED.findall(EQUATIONS.read_text(encoding="utf-8"))
    assert len(named) >= 15
    for path, names in named:
        source = (EQUATIONS.parent / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), f"{path} has no '{name}'"


def test_every_loss_and_keyword_scheme_has_a_row():
    page = EQUATIONS.read_text(encoding="utf-8")
    for room in ("losses", "keywords"):
        for module in sorted((ROOT / "src" / "masker" / room).glob("*.py")):
            if ".. math::" in module.read_text(encoding="utf-8"):
                assert f"{room}/{module.name})" in page, f"{room}/{module.name} has an equation and no row"
