"""The ? next to a term opens its entry: on the pages of the studio, as in reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from setveil.report import glossary
from setveil.studio.pages.start import EXAMPLE
from studio_client import Client

TEMPLATES = Path(glossary.__file__).parents[1] / "studio" / "templates"
USED = {
    (file.name, term)
    for file in TEMPLATES.glob("*.html")
    for term in re.findall(r'(?:explain\(|\bterm=)"([^"]+)"', file.read_text(encoding="utf-8"))
}


def test_templates_ask_for_entries_that_there_are() -> None:
    assert {term for _, term in USED} <= glossary.ENTRIES.keys()
    assert {"k", "m", "rho", "sensitive item", "quasi-identifier", "suppression", "hierarchy", "cut"} <= {
        term for _, term in USED
    }


def test_the_first_page_says_what_this_is_and_shows_a_release(tmp_path: Path) -> None:
    client = Client(tmp_path)
    page = client.get("").text
    targets = re.findall(r'popovertarget="([^"]+)"', page)
    places = re.findall(r'<aside popover class="entry" id="([^"]+)"', page)
    assert set(targets) == set(places) == {"term-k", "term-m", "term-suppression"}
    assert page.count('class="main"') == 1  # one visible link
    assert page.index('class="main"') < page.index("Your projects</h2>")
    for before, after in EXAMPLE:
        for name in (*before, *after):
            assert f">{name}</span>" in page
    style = client.get("static", "terms.css")
    assert style.text == glossary.STYLE


def test_the_picture_of_a_release_keeps_its_promise() -> None:
    """With k = 2 and m = 2: every set of one or two published labels is in no row or in two."""
    after = [frozenset(row) for _, row in EXAMPLE]
    sets = {frozenset({a, b}) for row in after for a in row for b in row}
    assert all(sum(one <= row for row in after) >= 2 for one in sets)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("loss (LM)", "lm"),
        ("Query error: counts of", "query-error"),
        ("loss of the columns (R)", "r"),
        ("rows", ""),
    ],
)
def test_figures_are_explained_by_the_name_in_them(text: str, term: str) -> None:
    assert re.findall(r'popovertarget="term-([^"]+)"', glossary.in_brackets(text)) == ([term] if term else [])
