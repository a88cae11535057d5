"""Terms that pages explain: a `?` next to a term opens its entry, without network and without script.

The entries come from docs/glossary.md: edit that page.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import NamedTuple

from setveil.base.plain_json import read_json


class GlossaryEntry(NamedTuple):
    """The bold title of an entry of docs/glossary.md, and its text up to the first link."""

    title: str
    text: str


# Written from docs/glossary.md by `python tests/report/test_glossary.py`.
_FILE = Path(__file__).with_name("glossary.json")
ENTRIES = {term: GlossaryEntry(**entry) for term, entry in read_json(_FILE.read_bytes()).items()}

# Terms that an entry explains together with another one.
_TOGETHER = {"T": "R", "f": "R", "h": "rho"}

STYLESHEET = Path(__file__).with_name("terms.css")
STYLE = STYLESHEET.read_text(encoding="utf-8")


def ask(term: str) -> str:
    """Make the `?` that opens the entry of a term, as HTML; `with_entries` adds the entry to the page.

    The sign itself is drawn by the style, so that anyone who copies the text around it does not copy it.
    """
    named = html.escape(_named(ENTRIES[term]))
    return (
        f'<button type="button" class="term" popovertarget="{_place(term)}" aria-label="What is {named}?">'
        "</button>"
    )


def named(title: str) -> str:
    """Write the name of a figure, a text, with the `?` of its entry where it has one, as HTML."""
    return f"{html.escape(title)}{term_button(title)}"


def term_button(title: str) -> str:
    """Make the `?` of a figure or parameter; nothing where no entry explains it."""
    entry = _TOGETHER.get(title, title)
    return ask(entry) if entry in ENTRIES else ""


def in_brackets(text: str) -> str:
    """Make the `?` for a measure that a text names in brackets, or begins with; nothing where none."""
    found = re.search(r"\((LM|NCP|R|T|f)\)", text) or re.match(r"(query error)\b", text, re.IGNORECASE)
    return term_button(found[1].lower() if found and " " in found[1] else found[1]) if found else ""


def with_entries(page: str) -> str:
    """Add to a whole page the entries that its `?` open."""
    places = set(re.findall(r'popovertarget="(term-[a-z-]+)"', page))
    entries = "\n".join(
        f'<aside popover class="entry" id="{_place(term)}"><p>{_definition(entry)}</p></aside>'
        for term, entry in ENTRIES.items()
        if _place(term) in places
    )
    if not entries:
        return page
    head, _, tail = page.rpartition("</body>")
    return f"{head}{entries}\n</body>{tail}"


def _definition(entry: GlossaryEntry) -> str:
    """Write an entry as docs/glossary.md does, where some titles begin a sentence."""
    after = ":" if entry.title.endswith(".") else "" if entry.text.startswith("of ") else ","
    text = html.escape(entry.text.removesuffix("."), quote=False)
    return f"<b>{html.escape(_named(entry))}</b>{after} {text}."


def _named(entry: GlossaryEntry) -> str:
    return entry.title.removesuffix(".")


def _place(term: str) -> str:
    return f"term-{term.lower().replace(' ', '-')}"
