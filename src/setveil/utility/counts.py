"""Plain counts: what was published as it was, generalized, suppressed."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Transactions
from setveil.recoding import Recoding


def counts(original: Transactions, published: Transactions, recoding: Recoding) -> dict[str, int | float]:
    """Count items and occurrences by what became of them, and the mean row length before and after.

    Items are those that occur in the original. An item is unchanged if it is published under its own label.
    """
    image = recoding.image_of(original.vocabulary)
    occurrences = original.supports()
    labels = recoding.published.labels
    unchanged = np.array(
        [to >= 0 and labels[to] == item for item, to in zip(original.vocabulary.labels, image, strict=True)],
        bool,
    )
    suppressed = image < 0
    generalized = ~unchanged & ~suppressed
    return {
        "unchanged_items": int(unchanged.sum()),
        "generalized_items": int(generalized.sum()),
        "suppressed_items": int(suppressed.sum()),
        "published_labels": int((published.supports() > 0).sum()),
        "unchanged_occurrences": int(occurrences[unchanged].sum()),
        "generalized_occurrences": int(occurrences[generalized].sum()),
        "suppressed_occurrences": int(occurrences[suppressed].sum()),
        "mean_row_length_before": original.n_occurrences / max(original.n_rows, 1),
        "mean_row_length_after": published.n_occurrences / max(published.n_rows, 1),
    }
