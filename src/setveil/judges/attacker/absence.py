"""The fewest rows that fit a person if one absent item is known, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.attacker._absence_walk import look_from
from setveil.judges.attacker.knowledge import classes_of
from setveil.kernels.rows import Ints, frozen, invert, take_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.tables.table import Table


def absence_risk(
    rows: Transactions,
    signs: Sequence[Sequence[str]],
    ms: Sequence[int],
    ts: Sequence[int],
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Count the rows that up to m known items and one absent one narrow down, both chosen best.

    `signs` are labels that a row lacks if something is known to be absent. For each m, `rows_below` counts
    rows with at most m known items and an absent one, or either, that fit fewer than t rows; `fewest` rows
    fit any such knowledge, None if nothing can be known.
    """
    found = []
    for m in ms:
        weights, fewest, known = _fewest(rows, signs, m, progress)
        found.append(
            {
                "m": m,
                "rows_below": {str(t): int(weights[known & (fewest < t)].sum()) for t in ts},
                "fewest": int(fewest[known].min()) if known.any() else None,
            }
        )
    return found


def table_absence_risk(
    table: Table | PublishedTable,
    signs: Sequence[Sequence[str]],
    ms: Sequence[int],
    ts: Sequence[int],
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Count the same in each class of a table; a sign has its labels that occur there, and m may be 0."""
    sets = table.item_rows
    of_row = classes_of(table)
    order = np.argsort(of_row, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(of_row[order])) + 1) if order.size else []
    below = {m: dict.fromkeys(ts, 0) for m in ms}
    least: dict[int, list[int]] = {m: [] for m in ms}
    for number, part in enumerate(parts):
        progress("rows that an absent item singles out", number / len(parts))
        indptr, items = take_rows(sets.indptr, sets.items, part)
        used, ids = np.unique(items, return_inverse=True)
        labels = Vocabulary([sets.vocabulary.labels[x] for x in used.tolist()])
        rows = Transactions(indptr, frozen(ids, np.int32), labels)
        shown = {tuple(label for label in some if label in labels.ids): None for some in signs}
        for m in ms:
            weights, fewest, _ = _fewest(rows, [some for some in shown if some], m, silent)
            for t in ts:
                below[m][t] += int(weights[fewest < t].sum())
            least[m].append(int(fewest.min()))
    return [
        {
            "m": m,
            "rows_below": {str(t): rows for t, rows in below[m].items()},
            "fewest": min(least[m], default=None),
        }
        for m in ms
    ]


def _fewest(
    rows: Transactions, signs: Sequence[Sequence[str]], m: int, progress: Progress
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Count how many rows each distinct row represents, the fewest that fit, and whether any can be known."""
    indptr, items, weights = rows.distinct
    ids = {label: at for at, label in enumerate(rows.vocabulary.labels)}
    of_label: list[list[int]] = [[] for _ in ids]
    for number, labels in enumerate(signs):
        for label in labels:
            of_label[ids[label]].append(number)
    shown = [
        sorted({sign for item in items[start:end].tolist() for sign in of_label[item]})
        for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    ]
    ends = frozen(np.cumsum([0, *map(len, shown)]), np.int64)
    facts = frozen(np.array([sign for some in shown for sign in some], np.int64), np.int64)
    starts, holders, _ = invert(frozen(indptr, np.int64), items, rows.n_items)
    longest = int(np.diff(indptr).max(initial=0))
    fewest = np.full(weights.size, rows.n_rows, np.int64)
    known = np.zeros(weights.size, np.bool_)
    for first in range(-1, rows.n_items if weights.size and m else min(weights.size, 1) - 1):
        if first % 64 == 0:
            progress("rows that an absent item singles out", first / max(rows.n_items, 1))
        look_from(
            indptr, items, weights, ends, facts, starts, holders, len(signs), first, max(min(m, longest), 1),
            fewest, known,
        )  # fmt: skip
    return weights, fewest, known
