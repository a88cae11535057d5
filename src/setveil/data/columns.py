"""Long tables: which column holds the ids and which the items, and which lines are a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.errors import DataError, RequestError, listed, shorten

Codes = NDArray[np.int64]

_ID = re.compile(
    r"^id|id$|id[_\W]|[_\W]id"
    r"|^(patient|person|subject|member|customer|client|user|visitor|session|visit|encounter|order|basket|invoice|receipt"
    r"|transaction|record|household|case|row)(_?(no|nr|num|number|key))?$",
    re.IGNORECASE,
)
_ITEM_WORDS = re.compile(
    "item|product|article|goods|sku|code|concept|diagnos|procedure|drug|medication|icd"
    "|page|url|link|click|event|category",
    re.IGNORECASE,
)


def guess_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """Tell id and item column by their names: the two names of a long table, or None.

    One must be named like an id, the other like an item or like an id as well. Of two that are both named
    like an id, the one that speaks of an item is the item, otherwise the first is the id.
    """
    if len(names) != 2:
        return None
    for i, j in ((0, 1), (1, 0)):
        if _ID.search(names[i]) and not _speaks_of_item(names[i]) and _speaks_of_item(names[j]):
            return names[i], names[j]
    for i, j in ((0, 1), (1, 0)):
        item_like = _speaks_of_item(names[j]) or names[j].lower().endswith("id")
        if _ID.search(names[i]) and item_like:
            return names[i], names[j]
    return None


def choose_columns(
    names: Sequence[str],
    id_column: str | None,
    item_column: str | None,
    *,
    where: str,
    first_is_id: bool = False,
) -> tuple[str, str]:
    """Settle the id and the item column of a long table.

    Parameters
    ----------
    names : sequence of str
        The columns there are.
    id_column, item_column : str, optional
        What the user named. If only one is named and there are two columns, the other one is the other.
    where : str
        The table, for messages.
    first_is_id : bool
        Whether two columns with names that say nothing are taken as id and item, in this order.
    """
    there_are = f"its columns are {listed(names, 20)}" if names else "it has no columns"
    for name in (id_column, item_column):
        if name is not None and name not in names:
            raise DataError(
                f"{where}: there is no column {shorten(name)}; {there_are}.",
                hint="Name the columns exactly as written, and check the separator.",
            )
        if name is not None and names.count(name) > 1:
            raise DataError(f"{where}: {names.count(name)} columns are named {shorten(name)}.")
    if id_column is not None and id_column == item_column:
        raise RequestError(f"The id column and the item column are both {shorten(id_column)}.")
    if len(names) < 2:
        raise DataError(
            f"{where}: a long table needs a column of ids and a column of items; {there_are}.",
            hint="Check the separator, or read it as rows of items with --format basket.",
        )
    if id_column is not None and item_column is not None:
        return id_column, item_column
    if len(names) == 2 and len(set(names)) == 2:
        if id_column is not None:
            return id_column, names[1 - names.index(id_column)]
        if item_column is not None:
            return names[1 - names.index(item_column)], item_column
        guess = guess_columns(names)
        if guess is not None:
            return guess
        if first_is_id:
            return names[0], names[1]
    raise DataError(
        f"{where}: cannot tell which column holds the ids and which the items; {there_are}.",
        hint="Name them with --id-column and --item-column (in Python id_column=, item_column=).",
    )


def _speaks_of_item(name: str) -> bool:
    return _ITEM_WORDS.search(name) is not None


def rows_by_id(ids: Codes, codes: Codes) -> tuple[NDArray[np.int64], Codes]:
    """Make one row per id, in order of first appearance.

    Parameters
    ----------
    ids : int (lines,)
        From 0; not every number needs to occur.
    codes : int (lines,)
        What each line holds.

    Returns
    -------
    indptr : int64 (rows + 1,)
        Row r holds ``codes[indptr[r]:indptr[r + 1]]``.
    codes : int (lines,)
        By row.
    """
    first = np.full(int(ids.max(initial=-1)) + 1, -1, np.int64)
    first[ids[::-1]] = np.arange(ids.size - 1, -1, -1)  # of repeated places the last write stays
    present = np.flatnonzero(first >= 0)
    rank = np.empty(first.size, np.int64)
    rank[present[np.argsort(first[present])]] = np.arange(present.size)
    row = rank[ids]
    if (row[1:] < row[:-1]).any():
        codes = codes[np.argsort(row, kind="stable")]
    indptr = np.zeros(present.size + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=present.size), out=indptr[1:])
    return indptr, codes
