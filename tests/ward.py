"""A table of eight patients: age, sex, and the codes of their diagnoses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from naive.rt_table import Column, Parts, Table, built_ranges, flat

AGES = ("34", "36", "41", "45", "47", "62", "64", "71")
SEXES = tuple("FFMMFMMF")
CODES = tuple(
    frozenset(codes.split())
    for codes in ("I21 J18", "I21", "J18 J44", "I50 J44", "I50", "I21 J44", "I21 I50", "J18")
)
ITEMS: dict[str, str | None] = {
    **dict.fromkeys(("I21", "I50"), "Heart"),
    **dict.fromkeys(("J18", "J44"), "Lung"),
    **dict.fromkeys(("Heart", "Lung"), "ALL"),
    "ALL": None,
}


def ward(*, ranges: bool = True) -> Table:
    """Ages as they are, or with a hierarchy of cells of ten years."""
    tree = None if ranges else built_ranges(AGES, 10)
    return Table((Column("age", AGES, tree, numeric=True), Column("sex", SEXES, flat(SEXES))), CODES, ITEMS)


def numbered(parts: Iterable[Sequence[int]]) -> list[list[int]]:
    """Parts with their rows numbered from 1, in increasing order."""
    return [sorted(row + 1 for row in part) for part in parts]


def parts(*rows: Sequence[int]) -> Parts:
    """Parts of rows that are numbered from 1."""
    return [tuple(row - 1 for row in part) for part in rows]
