"""The entries that pages open are those of docs/glossary.md.

``python tests/report/test_glossary.py`` writes them from that page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from setveil.report import glossary
from setveil.report.drawing import blocks

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
FILE = Path(glossary.__file__).with_name("glossary.json")


def entry(title: str, paragraphs: list[str]) -> str:
    """Return the sentences of an entry before the first with a link, without marks and line ends."""
    (found,) = [one for one in paragraphs if one.startswith(f"**{title}**")]
    said = " ".join(found.removeprefix(f"**{title}**").lstrip(",").split())
    before, link, _ = said.partition("[")
    if link:
        before = before[: before.rindex(". ") + 1]
    return re.sub(r"[*`]", "", before).strip()


def written() -> str:
    """Return the entries of the page, for the terms of the file, as the file has them."""
    paragraphs = PAGE.read_text("utf-8").split("\n\n")
    entries = {
        term: {"title": known.title, "text": entry(known.title, paragraphs)}
        for term, known in glossary.ENTRIES.items()
    }
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def test_entries_are_those_of_the_documentation() -> None:
    assert FILE.read_text("utf-8") == written(), "run python tests/report/test_glossary.py"


def test_an_entry_ends_before_its_first_link() -> None:
    page = ["**Row.** One *set*.\nIt counts. See [Rows](rows.md).", "**LM**, loss metric. The `average`."]
    assert entry("Row.", page) == "One set. It counts."
    assert entry("LM", page) == "loss metric. The average."


def test_a_page_holds_the_entries_that_it_asks_for_once() -> None:
    page = blocks.page(
        "Title", f"<p>k{glossary.ask('k')} and k{glossary.ask('k')}, LM{glossary.ask('LM')}</p>"
    )
    terms = re.findall(r'popovertarget="([^"]+)"', page)
    assert terms == ["term-k", "term-k", "term-lm"]
    assert re.findall(r'<aside popover class="entry" id="([^"]+)"', page) == ["term-k", "term-lm"]
    assert 'aria-label="What is k?"' in page
    assert "aside" not in blocks.page("Title", "<p>Nothing is asked.</p>")


def test_places_differ() -> None:
    places = {glossary.ask(term) for term in glossary.ENTRIES}
    assert len(places) == len(glossary.ENTRIES)
    assert all(re.search(r'popovertarget="term-[a-z-]+"', place) for place in places)


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
