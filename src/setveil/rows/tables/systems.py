"""Which system of codes each item is of, where a column says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.rows.data.named_columns import Column
from setveil.rows.data.set_fields import split_column
from setveil.rows.hierarchy.systems.known import BOTH
from setveil.rows.hierarchy.systems.reading import named_system
from setveil.rows.tables.how import How
from setveil.rows.tables.opened import column_pairs


def systems_said(source: Any, system: str, item_column: str | None, column: str, how: How) -> dict[str, str]:
    """Read from a long table to which version of ICD (``9``, ``ICD-10-CM``, in `column`) each item belongs.

    Only the versions of ``icd9+icd10`` are distinguished; other systems and tables are a RequestError. Other
    versions, and items of two, are a DataError.
    """
    if system != BOTH:
        raise RequestError(f"--system-column tells two systems apart, got --system {system}.")
    if item_column is None or not isinstance(source, str):
        raise RequestError(
            "--system-column is read with --item-column, from one long table.",
            hint="Or write 9: or 10: before each code.",
        )
    said: dict[str, str] = {}
    both = set()
    for item, version in _items_of(column_pairs(source, (item_column, column), how), item_column, how):
        home = named_system(version)
        if home is None:
            raise DataError(
                f"Column {shorten(column)} says {shorten(version)} of {shorten(item)}, expected 9 or 10, "
                "with or without ICD."
            )
        if said.setdefault(item, home) != home:
            both.add(item)
    if both:
        raise DataError(
            f"{len(both):,} texts are codes of both systems and would be one item: {listed(sorted(both))}.",
            hint="Write the version before each code when the table is made, such as 9:V10 and 10:V10.",
        )
    return said


def _items_of(pairs: Sequence[tuple[str, str]], name: str, how: How) -> Iterator[tuple[str, str]]:
    if how.delimiter is None:
        yield from ((cell, version) for cell, version in pairs if cell)
        return
    cells = Column(np.arange(len(pairs)), [cell for cell, _ in pairs], lambda _: "The file")
    indptr, items, labels = split_column(
        cells, name, how.delimiter, in_brackets=how.delimiter == ",", whole_brackets=True
    )
    for (_, version), (start, end) in zip(pairs, pairwise(indptr.tolist()), strict=True):
        yield from ((labels[item], version) for item in items[start:end].tolist())
