"""Plain counts: what was published as it was, generalized, suppressed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.published.recoding import AnyRecoding


def counts(original: Transactions, published: Transactions, recoding: AnyRecoding) -> dict[str, int | float]:
    """Count items and occurrences by what became of them, and the mean row length before and after.

    Items are those that occur in the original. An occurrence is unchanged if it is published under its own
    label; an item, if all its occurrences are. An item is suppressed if all its occurrences are.
    """
    image = recoding.images(original)
    ids = original.vocabulary.ids
    own = np.array([ids.get(label, -2) for label in recoding.published.labels] + [-1], np.int64)
    unchanged = own[image] == original.items
    suppressed = image < 0
    occurrences = original.supports()
    unchanged_items = _count_full(original.items[unchanged], occurrences)
    suppressed_items = _count_full(original.items[suppressed], occurrences)
    return {
        "unchanged_items": unchanged_items,
        "generalized_items": int((occurrences > 0).sum()) - unchanged_items - suppressed_items,
        "suppressed_items": suppressed_items,
        "published_labels": int((published.supports() > 0).sum()),
        "unchanged_occurrences": int(unchanged.sum()),
        "generalized_occurrences": int((~unchanged & ~suppressed).sum()),
        "suppressed_occurrences": int(suppressed.sum()),
        "mean_row_length_before": original.n_occurrences / max(original.n_rows, 1),
        "mean_row_length_after": published.n_occurrences / max(published.n_rows, 1),
    }


def _count_full(items: NDArray[np.int32], occurrences: NDArray[np.int64]) -> int:
    """Count the items that occur, all of whose occurrences are listed."""
    listed = np.bincount(items, minlength=occurrences.size)
    return int(((listed == occurrences) & (occurrences > 0)).sum())
