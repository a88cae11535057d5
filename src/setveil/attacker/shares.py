"""What the rows of a class have in common: what is learned without finding the very row."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from setveil.attacker.knowledge import classes_of
from setveil.data.relational import Table
from setveil.kernels.rows import Ints
from setveil.published.table_files import PublishedTable


def sensitive_shares(table: Table | PublishedTable, items: Collection[str] = ()) -> list[dict[str, Any]]:
    """Find, for each kept column and sensitive item, the class that has one value in common most.

    Whoever knows all quasi-identifiers of a person knows the class, and so every value that its rows share.

    Parameters
    ----------
    table : Table or PublishedTable
        An original, in which a class has equal values, or what is published.
    items : collection of str
        Sensitive items. Those that no row shows are left out.

    Returns
    -------
    list of dict
        As JSON types; first the kept columns, then the items in their order in the table. `column`, or
        `item`; `share`, the greatest share of the rows of one class that have the same `value` (of an item:
        that show it), `rows` of the `class_rows` of the `class`, which is given by its quasi-identifiers;
        `overall`, the share of all rows that have it; `all_alike`, the number of rows in classes whose rows
        all have the same value. Of classes with equal shares the one of most rows is named, then of most
        frequent value, then the first.

    Examples
    --------
    >>> import numpy as np
    >>> from setveil.data.relational import TextColumn
    >>> from setveil.data.transactions import Transactions
    >>> wards = TextColumn("ward", np.array([0, 0, 1], np.int32), ("A", "B"))
    >>> died = TextColumn("died", np.array([1, 1, 0], np.int32), ("no", "yes"))
    >>> table = PublishedTable((wards,), Transactions.from_rows([[], [], []]), (died,))
    >>> sensitive_shares(table)[0]["share"], sensitive_shares(table)[0]["class"]
    (1.0, {'ward': 'A'})
    """
    data = table.sets if isinstance(table, PublishedTable) else table
    if not data.n_rows:
        return []
    of_row = classes_of(table)
    found = [
        {"column": column.name, **_share(table, of_row, np.arange(data.n_rows), column.codes, column.labels)}
        for column in table.kept
    ]
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    for item, label in enumerate(data.vocabulary.labels):
        holding = row[data.items == item] if label in items else row[:0]
        if holding.size:
            codes = np.zeros(holding.size, np.int32)
            found.append({"item": label, **_share(table, of_row, holding, codes, (label,))})
    return found


def _share(
    table: Table | PublishedTable, of_row: Ints, rows: Ints, codes: Any, labels: tuple[str, ...]
) -> dict[str, Any]:
    """Find the class with the greatest share of one value; `codes` are those of the rows that have any."""
    sizes = np.bincount(of_row)
    keys, counts = np.unique(of_row[rows] * len(labels) + codes, return_counts=True)
    which, value = np.divmod(keys, len(labels))
    overall = np.bincount(codes, minlength=len(labels))
    first = np.full(sizes.size, of_row.size)
    np.minimum.at(first, of_row, np.arange(of_row.size))
    whole = sizes[which]
    # Of the greatest quotients, which are exact enough as floats: counts are far below 2^26, or equal.
    near = np.flatnonzero(counts / whole >= (counts / whole).max())
    best = max(
        near.tolist(),
        key=lambda i: (int(whole[i]), int(overall[value[i]]), -int(first[which[i]]), -int(value[i])),
    )
    at = int(first[which[best]])
    return {
        "value": labels[int(value[best])],
        "share": int(counts[best]) / int(whole[best]),
        "rows": int(counts[best]),
        "class_rows": int(whole[best]),
        "class": {column.name: column.labels[int(column.codes[at])] for column in table.columns},
        "overall": int(overall[value[best]]) / of_row.size,
        "all_alike": int(whole[counts == whole].sum()),
    }
