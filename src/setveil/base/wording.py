"""Numbers in sentences, and texts of others on a terminal."""

from __future__ import annotations

import re

# Characters that move the cursor, change colours or reverse the direction: all but line breaks and tabs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Escape control characters, so that names in data cannot steer a terminal; JSON stays the same JSON.

    >>> print(visible("tea\x1b[2J\r, milk"))
    tea\u001b[2J\u000d, milk
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Write a count with thousands separators, with its noun where one is given.

    >>> count(31022), count(1, "row"), count(5000, "row"), count(0, "branch", "branches")
    ('31,022', '1 row', '5,000 rows', '0 branches')
    """
    noun = noun if number == 1 else plural or f"{noun}s" if noun else ""
    return f"{number:,} {noun}".rstrip()


def about_events(text: str, noun: str) -> str:
    """Say of rows that are events what a sentence of setveil says of people.

    >>> about_events("Anyone who knows 2 items of a person's row finds the person.", "order")
    'Anyone who knows 2 items of an order finds the order.'
    >>> about_events("the items of one person; other files about the same people", "row")
    'the items of one row; other files about the same rows'
    """
    for pattern, put in _OF_PEOPLE:
        text = pattern.sub(put.format(a="an" if noun[0] in "aeiou" else "a", noun=noun), text)
    return text


_OF_PEOPLE = (
    (re.compile(r"\ba (?:single )?person(?:'s row)?\b"), "{a} {noun}"),
    (re.compile(r"\ba (?:single )?person\b"), "{a} {noun}"),
    (re.compile(r"\b(the|each|every|one|any|that|of) person(?:'s row)?\b"), "\\1 {noun}"),
    (re.compile(r"\b(the same|of|many|several|all|whose|single) (?:people|persons)\b"), "\\1 {noun}s"),
)


def are(number: int) -> str:
    """Choose the verb for a count."""
    return "is" if number == 1 else "are"
