"""The items that give rows away most often."""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.attacker._revealing_pairs import revealed_rows
from setveil.attacker.knowledge import Knowledge, supports_of
from setveil.progress import Progress

MOST_REVEALING = 20
STEPS_AT_ONCE = 20_000_000


def revealing_items(
    known: Knowledge, largest: int, below: int, effort: int, progress: Progress
) -> dict[str, Any]:
    """List the items that single out most rows, alone or beside another one that is needed for it.

    Of tables, items in classes that are large enough without any.
    """
    rows = known.rows
    supports = supports_of(rows)
    if 2 * int((rows.lengths**2).sum()) > effort:
        largest = min(largest, 1)
    out, count = np.zeros(supports.size, np.int64), np.zeros(supports.size, np.int64)
    first = 0
    while first < supports.size and largest:
        progress("items that single out rows", first / supports.size)
        first = revealed_rows(
            *rows[:5], supports, below, largest, first, STEPS_AT_ONCE, count, out
        )  # fmt: skip
    if known.columns:
        out[known.fit[rows.tidlists[rows.starts[:-1]]] < below] = 0
    item = known.item_of[rows.order]
    found = np.bincount(item, out, len(known.labels)).astype(np.int64)
    shown = np.bincount(item, supports, len(known.labels)).astype(np.int64)
    entries = sorted((-n, i) for i, n in enumerate(found.tolist()) if n)
    return {
        "m": largest,
        "below": below,
        "exact": True,
        "items": [
            {"item": known.labels[i], "support": int(shown[i]), "rows": -n}
            for n, i in entries[:MOST_REVEALING]
        ],
    }
