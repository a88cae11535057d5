"""The items that give rows away most often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from setveil.base.progress import Progress
from setveil.base.threads import each
from setveil.judges.attacker._revealing_pairs import revealed_rows
from setveil.judges.attacker.knowledge import Knowledge, supports_of
from setveil.kernels.rows import Ints

MOST_REVEALING = 20
PIECES, TOGETHER = 64, 16


def revealing_items(
    known: Knowledge, largest: int, below: int, effort: int, progress: Progress
) -> dict[str, Any]:
    """List the items that single out most rows of large classes, alone or with one more necessary item."""
    rows = known.rows
    supports = supports_of(rows)
    if 2 * int((rows.lengths**2).sum()) > effort:
        largest = min(largest, 1)
    out = np.zeros(supports.size, np.int64)

    def count(items: tuple[int, int]) -> None:
        workspace = np.zeros(supports.size, np.int64)
        revealed_rows(*rows[:5], supports, below, largest, *items, workspace, out)

    # Items in pieces that about as many rows hold, some of them at a time.
    shares = np.arange(PIECES + 1) * int(rows.starts[-1]) // PIECES
    pieces = list(pairwise(np.searchsorted(rows.starts, shares).tolist())) if largest else []
    for i in range(0, len(pieces), TOGETHER):
        progress("items that single out rows", i / len(pieces))
        each(count, pieces[i : i + TOGETHER])
    if known.columns:
        out[known.fit[rows.tidlists[rows.starts[:-1]]] < below] = 0
    item = known.item_of[rows.order]
    found = np.bincount(item, out, len(known.labels)).astype(np.int64)
    shown = np.bincount(item, supports, len(known.labels)).astype(np.int64)
    return revealing_entries(known.labels, largest, below, shown, found)


def revealing_entries(
    labels: Sequence[str], largest: int, below: int, supports: Ints, rows: Ints
) -> dict[str, Any]:
    """List the items that single out most rows, of equals in item order; `rows`: how many each does."""
    entries = sorted((-n, i) for i, n in enumerate(rows.tolist()) if n)
    return {
        "m": largest,
        "below": below,
        "exact": True,
        "items": [
            {"item": labels[i], "support": int(supports[i]), "rows": -n} for n, i in entries[:MOST_REVEALING]
        ],
    }
