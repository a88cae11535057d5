"""Numbers in sentences."""

from __future__ import annotations


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Write a count with thousands separators, with its noun where one is given.

    Examples
    --------
    >>> count(31022), count(1, "row"), count(5000, "row"), count(0, "branch", "branches")
    ('31,022', '1 row', '5,000 rows', '0 branches')
    """
    noun = noun if number == 1 else plural or f"{noun}s" if noun else ""
    return f"{number:,} {noun}".rstrip()


def are(number: int) -> str:
    """Choose the verb for a count."""
    return "is" if number == 1 else "are"
