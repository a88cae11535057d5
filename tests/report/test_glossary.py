"""The entries that pages open are those of docs/glossary.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from setveil.report import glossary
from setveil.report.drawing import blocks

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")


def plain(markdown: str) -> str:
    """Take a text without its marks: links, emphasis, code, line ends."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]", "", text).split())


SAID = plain(PAGE)


@pytest.mark.parametrize("term", glossary.ENTRIES)
def test_entry_is_that_of_the_documentation(term: str) -> None:
    title, text = glossary.ENTRIES[term]
    assert re.search(rf"(?:^|\n|\. )\*\*{re.escape(title)}\*\*", PAGE), (
        f"docs/glossary.md has no entry {title!r}"
    )
    assert re.search(rf"\b{re.escape(title)},? {re.escape(text)}", SAID), (
        f"docs/glossary.md says otherwise: {title}"
    )


def test_a_page_holds_the_entries_that_it_asks_for_once() -> None:
    page = blocks.page(
        "Title", f"<p>k{glossary.ask('k')} and k{glossary.ask('k')}, LM{glossary.ask('LM')}</p>"
    )
    asked = re.findall(r'popovertarget="([^"]+)"', page)
    assert asked == ["term-k", "term-k", "term-lm"]
    assert re.findall(r'<aside popover class="entry" id="([^"]+)"', page) == ["term-k", "term-lm"]
    assert 'aria-label="What is k?"' in page
    assert "aside" not in blocks.page("Title", "<p>Nothing is asked.</p>")


def test_places_differ() -> None:
    places = {glossary.ask(term) for term in glossary.ENTRIES}
    assert len(places) == len(glossary.ENTRIES)
    assert all(re.search(r'popovertarget="term-[a-z-]+"', place) for place in places)
