"""Terms that pages explain: a `?` next to a term opens its entry, without network and without script.

The entries are those of docs/glossary.md; a test compares the two, word by word.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import NamedTuple


class GlossaryEntry(NamedTuple):
    """An entry: how docs/glossary.md begins it, and what it says."""

    title: str
    text: str


ENTRIES: dict[str, GlossaryEntry] = {
    "k": GlossaryEntry(
        "k.",
        "The number of rows among which everyone hides: at least k rows fit what an attacker knows.",
    ),
    "m": GlossaryEntry(
        "m.",
        "The number of items of a person that an attacker may know. inf means any number.",
    ),
    "rho": GlossaryEntry(
        "rho.",
        "The greatest probability with which someone learns a sensitive item of a person, between 0 and 1.",
    ),
    "promise": GlossaryEntry(
        "Promise",
        "or guarantee. What a release assures, with its numbers: a privacy model and its parameters.",
    ),
    "row": GlossaryEntry(
        "Row.",
        "One record, usually one person or one visit: a set of items. Order and repetition within a "
        "row mean nothing. A row may be empty; it still counts as a person.",
    ),
    "occurrence": GlossaryEntry(
        "Occurrence.",
        "One item in one row. 5,000 rows of six items have 30,000 occurrences.",
    ),
    "fact": GlossaryEntry(
        "Fact.",
        "A code with what belongs to it, such as a period and a band of an amount. A part of a fact is its "
        "code, its period or its band; what is published of it is a box, which represents all facts in it.",
    ),
    "itemset": GlossaryEntry(
        "Itemset.",
        "A set of items. A row holds an itemset if it holds each of its items.",
    ),
    "support": GlossaryEntry(
        "Support",
        "of an item or itemset. The number of rows that hold it. An itemset is frequent if its "
        "support reaches a chosen number of rows, and rare if it is held by some rows, but by fewer "
        "than k.",
    ),
    "label": GlossaryEntry(
        "Label.",
        "The text that is published for an item: the item itself, or a broader name. A label "
        "represents one or more items.",
    ),
    "recoding": GlossaryEntry(
        "Recoding.",
        "Which label each item is published under. It is global if an item gets the same label in "
        "every row, and local if it may get different ones",
    ),
    "generalization": GlossaryEntry(
        "Generalization.",
        "Publishing an item under a label that represents more items.",
    ),
    "suppression": GlossaryEntry(
        "Suppression.",
        "Leaving something out. A suppressed item is missing from every row (total suppression). Rows"
        " are never suppressed; a row that loses all its items stays as an empty row.",
    ),
    "hierarchy": GlossaryEntry(
        "Hierarchy.",
        "A tree of names. The leaves are the items; each inner node is a broader name for all leaves "
        "below it; the root represents everything.",
    ),
    "cut": GlossaryEntry(
        "Cut.",
        "Nodes of a hierarchy, exactly one on every path from the root to a leaf. "
        "Publishing every item as the node of the cut above it is a global recoding.",
    ),
    "class": GlossaryEntry(
        "Class.",
        "All rows of a published table with the same quasi-identifiers.",
    ),
    "quasi-identifier": GlossaryEntry(
        "Quasi-identifier.",
        "A column or an item that someone may know of a person, and by which the row can be found.",
    ),
    "sensitive item": GlossaryEntry(
        "Sensitive item, private item.",
        "An item that nobody must learn about a person.",
    ),
    "risk": GlossaryEntry(
        "Risk.",
        "The number of rows that match 1, 2, 3 ... known items, in an original or in a release. A row is "
        "unique if it is the only match.",
    ),
    "series": GlossaryEntry(
        "Series.",
        "Several releases about the same people. Its guarantee, (k, m)-series, is about their joined table: "
        "for every person and every choice of at most m known items, at least k people show all tokens of "
        "these items, what the rows of the releases show of them.",
    ),
    "ledger": GlossaryEntry(
        "Ledger.",
        "The internal record of a series: who is in which release, under keyed codes, with their items and "
        "labels.",
    ),
    "withheld": GlossaryEntry(
        "Withheld.",
        "A person whose row is not in a release of a series, because it would be found whatever it showed.",
    ),
    "NCP": GlossaryEntry(
        "NCP",
        "normalized certainty penalty. The average, over all occurrences, of the share of all items "
        "that the published label represents.",
    ),
    "LM": GlossaryEntry(
        "LM",
        "loss metric. The average, over all occurrences, of the share of the other items that the "
        "item can be mistaken for.",
    ),
    "R": GlossaryEntry(
        "R, T, f.",
        "Of tables: what the columns lost, what the items lost, and both together, weighed by --share.",
    ),
    "query error": GlossaryEntry(
        "Query error.",
        "How far off the answers to random counting queries typically are: the median of their "
        "relative errors. The queries ask for two items, of a table for columns and items.",
    ),
    "ARE": GlossaryEntry(
        "ARE",
        "average relative error. The mean of the relative errors of the same queries, which a few "
        "rare itemsets can make large.",
    ),
    "optimum": GlossaryEntry(
        "Optimum.",
        "The least loss of all valid releases of one kind along one hierarchy. A lower bound is a "
        "loss below which none of them can be, and the gap is the part of a release's loss that might"
        " be avoidable. Without a gap a release is proven to be the best.",
    ),
    "Pareto-optimal": GlossaryEntry(
        "Pareto-optimal.",
        "A release than which no other one is better in one respect and no worse in the others.",
    ),
}

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
