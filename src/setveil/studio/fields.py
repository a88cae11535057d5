"""Options in messages, named as pages name them: by their fields."""

from __future__ import annotations

import re

# Options that pages have a field for, by its label.
_FIELDS = {
    "algorithm": "Method",
    "cell-delimiter": "Between the items of a cell",
    "class-size": "Fewest rows of a class",
    "date-format": "How dates are written",
    "delimiter": "Separator between items",
    "encoding": "How letters are written",
    "fraction": "Which share of a population are these rows?",
    "item-column": "Column with the item",
    "item-columns": "Columns with items",
    "k": "k",
    "m": "m",
    "names": "Names, if you have them",
    "normalize": "Spellings of one item",
    "not-ids": "Columns or fields whose values look like person IDs but are not",
    "per-person": "If a column differs on the lines of a person",
    "rho": "rho",
    "suppress-below": "Suppress items of fewer rows than",
    "system": "Classification",
    "system-column": "Column that says which system",
    "time-limit": "Time",
    "zeros": "Zeros that numbers begin with",
}
_CHOICES = {"zeros kept": "none is missing", "zeros lost": "a spreadsheet dropped them"}

_OPTION = re.compile(
    r"""(`[^`]*`|'[^'\n]*'|"[^"\n]*"|^ +setveil .*$)"""  # what is quoted, and whole commands, stay
    r"""|(?<![\w-])--((?:zeros (?:kept|lost))|[a-z][a-z-]*[a-z]|[a-z])(?![\w-])""",
    re.MULTILINE,
)
_MISSING = re.compile(r"add --missing ('.*?'|\S+?)(?=\.$)")
_NOT_MISSING = re.compile("--not-missing WORD reads it as")


def in_fields(text: str) -> str:
    """Write a message of the command line with the fields of pages in place of its options.

    >>> in_fields("--rho is above 0, but --plugin and `setveil risk --m 2` stay as they are.")
    '“rho” is above 0, but --plugin and `setveil risk --m 2` stay as they are.'
    """
    return _OPTION.sub(_named, text)


def note_in_fields(note: str) -> str:
    """Write a note about words for no item with the fields in which they are entered.

    >>> note_in_fields("2 lines: none (2) is read as an item. If there is no item, add --missing none.")
    '2 lines: none (2) is read as an item. If there is no item, enter none under Missing.'
    """
    return _MISSING.sub(r"enter \1 under Missing", _NOT_MISSING.sub("Entered under Not missing, it is", note))


def _named(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    if found[2] in _CHOICES:
        return f"“{_CHOICES[found[2]]}” in “{_FIELDS['zeros']}”"
    return f"“{_FIELDS[found[2]]}”" if found[2] in _FIELDS else found[0]
