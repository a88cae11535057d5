"""How a table whose columns have roles is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class How:
    """How a table is read; None: detected, or there is none.

    Attributes
    ----------
    format : {"csv", "parquet", "jsonl"}, optional
        By default detected from the name and the content; ``.xlsx`` always from the content.
    encoding, separator : str, optional
        Of text, and between its fields.
    delimiter : str, optional
        Between the items of one field; by default a semicolon.
    item_columns : str or sequence of str, optional
        Several columns with an item each, instead of one with all.
    items : path or data frame, optional
        A long table with the items of each id, instead of a column.
    id_column : str, optional
        The column that says whom a line is about.
    item_column : str, optional
        The column of `items` that holds the item; by default the one besides the ids.
    not_ids : tuple of str
        Columns that are no ids of persons, although they look so.
    """

    format: str | None = None
    encoding: str | None = None
    separator: str | None = None
    delimiter: str | None = None
    item_columns: str | Sequence[str] | None = None
    items: Any = None
    id_column: str | None = None
    item_column: str | None = None
    not_ids: tuple[str, ...] = ()
