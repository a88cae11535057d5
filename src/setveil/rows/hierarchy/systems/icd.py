"""How codes of ICD-9-CM and ICD-10 are read: their category, its block and its chapter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from setveil.rows.hierarchy.systems import ranges
from setveil.rows.hierarchy.systems.code import NotPlacedError, Path, growing

_NINE = re.compile(r"([0-9]{3}|V[0-9]{2})(?:\.?([0-9]{1,2}))?|(E[0-9]{3})(?:\.?([0-9]))?")
_TEN = re.compile(r"([A-Z][0-9A][0-9AB])(?:\.?([0-9A-Z]{1,4}))?")
_MANY = re.compile(r"[0-9]{4,}\.[0-9]*")
_PARTS = ("", ".", "")  # what stands before a category, the sign after it, and those that follow


@cache
def _homes(table: str) -> dict[str, Path]:
    out: dict[str, Path] = {}
    for line in table.strip().replace("\n ", " ").splitlines():
        chapter, _, blocks = line.partition(": ")
        for words in blocks.split():
            block, *others = words.split(",")
            out.update(dict.fromkeys([*_categories(block), *others], (chapter, block)))
    return out


def _categories(block: str) -> Iterator[str]:
    """List the categories of a block: ``Y85-Y89``, ``X85-Y09``, ``O94-O9A``, ``D3A``."""
    first, _, last = block.partition("-")
    if first[-1].isalpha():
        yield first
        return
    letters = first.rstrip("0123456789")
    width, top = len(first) - len(letters), (last or first).replace("A", "9")
    for letter in (letters, *([top[0]] if letters and top[0] != letters else [])):
        begins = int(first[len(letters) :]) if letter == letters else 0
        ends = int(top[len(letters) :]) if letter == top[: len(letters)] else 10**width - 1
        yield from (f"{letter}{number:0{width}d}" for number in range(begins, ends + 1))


def place9(text: str) -> Path:
    """Place a code of ICD-9-CM.

    >>> place9("250.01"), place9("25001") == place9("250.01"), place9("E8490")[-2:]
    (('240-279', '249-259', '250', '250.0', '250.01'), True, ('E849', 'E849.0'))
    """
    found = _NINE.fullmatch(text)
    if found is None:
        many = _MANY.fullmatch(text) is not None
        raise NotPlacedError(
            "more than three digits before the dot" if many else "not of the form 250.01, V45.1 or E849.0"
        )
    category, rest = found[1] or found[3], found[2] or found[4] or ""
    home = _homes(ranges.ICD9).get(category)
    if home is None:
        raise NotPlacedError("outside the chapters of ICD-9-CM")
    return tuple(dict.fromkeys((*home, *growing((category, *rest), _PARTS))))


def place10(text: str) -> Path:
    """Place a code of ICD-10 or ICD-10-CM.

    >>> place10("E11.9"), place10("E119") == place10("E11.9"), place10("S72001A")[-2:]
    (('E00-E90', 'E08-E14', 'E11', 'E11.9'), True, ('S72.001', 'S72.001A'))
    """
    found = _TEN.fullmatch(text)
    if found is None:
        raise NotPlacedError("not of the form E11.9 or S72.001A")
    category, rest = found[1], found[2] or ""
    homes = _homes(ranges.ICD10)
    home = homes.get(category) or homes.get(f"{category[:2]}9")
    if home is None or (category not in homes and category[2].isdigit()):
        raise NotPlacedError("outside the chapters of ICD-10")
    return tuple(dict.fromkeys((*home, *growing((category, *rest), _PARTS))))
