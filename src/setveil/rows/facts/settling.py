"""The published dates of facts: the years that enough rows share, and all that lies beyond them as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.rows.data.transactions import Transactions
from setveil.rows.facts import dates
from setveil.rows.facts.bands import Bands, ends_of
from setveil.rows.facts.facts import MISSING, Attribute, Facts, SetColumn

T = TypeVar("T", bound=Transactions)
Ids = NDArray[np.integer]


def settled(data: T, least: int) -> T:
    """List the possible values of each date and amount, by what at least `least` rows share.

    Dates before the first year that enough rows share are one value, ``<1990``, those after the last one
    another, ``>=2025``. The last band of days since a person's first line is open, from the last one that
    enough rows reach. Nothing depends on single dates.
    """
    found: Any = data  # rows of facts, or a table of them
    return found.with_facts(_settled(data.facts, least)) if data.has_facts else data


def _settled(facts: Facts, least: int) -> Facts:
    row = np.repeat(np.arange(facts.n_rows), facts.row_lengths())
    of_column = facts.column[facts.items]
    columns: list[SetColumn] = []
    occurrences = []
    for at, column in enumerate(facts.columns):
        mine = of_column == at
        parts = facts.parts[facts.items[mine], : len(column.part_names)].copy()
        attributes = []
        for place, one in enumerate(column.attributes, 1):
            made, image = _attribute(one, row[mine], parts[:, place], least)
            parts[:, place] = image[parts[:, place]]
            attributes.append(made)
        columns.append(replace(column, attributes=tuple(attributes)))
        occurrences.append((row[mine], parts))
    made_of = zip(facts.columns, columns, strict=True)
    if all(
        a.tree is b.tree for old, new in made_of for a, b in zip(old.attributes, new.attributes, strict=True)
    ):
        return replace(facts, columns=tuple(columns), settled_by=least)
    return replace(facts.with_parts(columns, occurrences, facts.n_rows), settled_by=least)


def _attribute(one: Attribute, row: Ids, leaf: Ids, least: int) -> tuple[Attribute, NDArray[np.int32]]:
    """Settle the values of an attribute; the new leaf of each of its leaves."""
    labels = one.tree.labels[: one.tree.n_leaves]
    if one.kind == "amount":
        bounds = one.level.rpartition(":")[2].split(",")
        values = Bands([Decimal(bound) for bound in bounds]).labels
        return replace(one, values=(*values, MISSING)), np.arange(len(labels), dtype=np.int32)
    width = dates.days_since_first(one.level)
    if width is None:
        new, values = _years(one.level, labels, row, leaf, least)
    else:
        new, values = _since_first(width, labels, row, leaf, least)
    tree = one.tree
    if new != list(labels):
        used = dict.fromkeys(new)
        if width is None:
            tree = dates.tree_of_periods(list(used), one.level)
        else:
            tree = Bands([Decimal(_start(label)) for label in values], below=False).tree(used)
    image = np.array([tree.id(label) for label in new], np.int32)
    return replace(one, tree=tree, values=(*values, MISSING)), image


def _years(level: str, labels: Sequence[str], row: Ids, leaf: Ids, least: int) -> tuple[list[str], list[str]]:
    """Put dates outside the years of enough rows together; the new labels, and all that there can be."""
    years = [dates.year_of(label) for label in labels]
    known = np.array([-1 if year is None else year for year in years], np.int64)[leaf]
    there = known >= 0
    rows_of = np.bincount(np.unique(np.stack([row[there], known[there]]), axis=1)[1])
    shared = np.flatnonzero(rows_of >= max(least, 1)).tolist()
    if not shared:
        return [label if label == MISSING else dates.OTHER for label in labels], [dates.OTHER]
    first, last = shared[0], shared[-1]
    before, after = f"<{first:04}", f">={last + 1:04}"
    new = [
        label if year is None or first <= year <= last else before if year < first else after
        for label, year in zip(labels, years, strict=True)
    ]
    return new, [before, *dates.periods_of(level, first, last), after]


def _since_first(
    width: int, labels: Sequence[str], row: Ids, leaf: Ids, least: int
) -> tuple[list[str], list[str]]:
    """Open the last band that enough rows reach; the new labels, and all bands."""
    starts = [-1 if label == MISSING else _start(label) for label in labels]
    found = np.array(starts, np.int64)[leaf]
    rows, place = np.unique(row, return_inverse=True)
    last = np.full(rows.size, -1, np.int64)
    np.maximum.at(last, place.reshape(-1), found)
    reached = np.sort(last[last >= 0])[::-1]
    end = int(reached[min(max(least, 1), reached.size) - 1]) if reached.size >= max(least, 1) else 0
    bands = Bands([Decimal(at) for at in range(0, end + 1, width)], below=False)
    new = [
        label if start < 0 else bands.labels[min(start, end) // width]
        for label, start in zip(labels, starts, strict=True)
    ]
    return new, bands.labels


def _start(label: str) -> int:
    ends = ends_of(label)
    return int(ends[0] or 0) if ends else 0
