"""How few rows fit somebody of whom also one absent item is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setveil.attacker._absence_walk import look_from
from setveil.data.transactions import Transactions
from setveil.kernels.rows import frozen, invert
from setveil.progress import Progress, silent


def absence_risk(
    rows: Transactions,
    signs: Sequence[Sequence[str]],
    ms: Sequence[int],
    ts: Sequence[int],
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Count the rows that up to m known items and one absent one narrow down, where both are chosen best.

    Parameters
    ----------
    rows : Transactions
        An original, or a release.
    signs : sequence of sequence of str
        What excludes rows for who knows that something is absent: labels of which a row shows none.
    ms, ts : sequence of int
        Numbers of known items, and thresholds.

    Returns
    -------
    list of dict
        For each m `rows_below`, the rows of which some known items, at most m, and an absent one, or either,
        fit fewer than t rows; `fewest` rows that fit any, None where nothing can be known.
    """
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
    longest, found = int(np.diff(indptr).max(initial=0)), []
    for m in ms:
        fewest = np.full(weights.size, rows.n_rows, np.int64)
        known = np.zeros(weights.size, np.bool_)
        for first in range(-1, rows.n_items if weights.size else -1):
            if first % 64 == 0:
                progress("rows that an absent item singles out", first / max(rows.n_items, 1))
            look_from(
                indptr, items, weights, ends, facts, starts, holders, len(signs), first,
                max(min(m, longest), 1), fewest, known,
            )  # fmt: skip
        found.append(
            {
                "m": m,
                "rows_below": {str(t): int(weights[known & (fewest < t)].sum()) for t in ts},
                "fewest": int(fewest[known].min()) if known.any() else None,
            }
        )
    return found
