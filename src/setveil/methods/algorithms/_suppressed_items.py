"""Total suppression: some items are suppressed in all rows, the others are published as themselves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from setveil.base.tracing import Trace
from setveil.kernels.rows import Ints, frozen
from setveil.releases.published.recoding import Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary


def final_recoding(
    data: Transactions, order: list[tuple[int, str]], details: dict[str, Any]
) -> tuple[Recoding, dict[str, Any]]:
    """Publish every item as itself, but for the chosen ones; `details` gain which, and in what order."""
    labels = data.vocabulary.labels
    gone = sorted(v for v, _ in order)
    details = {
        "suppressed": [labels[v] for v in gone],
        "order": [{"item": labels[v], "score": score} for v, score in order],
        **details,
    }
    return recoding_without(data, gone), details


def report_alone(trace: Trace, data: Transactions, order: list[tuple[int, str]]) -> None:
    """Write a step for each item that must be suppressed whatever else is."""
    labels = data.vocabulary.labels
    for item, reason in order:
        trace.step(violated=[[labels[item]]], reason=reason, candidates=[], chosen=labels[item])


def recoding_without(data: Transactions, gone: list[int]) -> Recoding:
    """Publish every item as itself, but for those that are gone (ids of the data)."""
    labels = data.vocabulary.labels
    kept = np.setdiff1d(np.arange(data.n_items), gone)
    image = np.full(data.n_items, -1, np.int32)
    image[kept] = np.arange(kept.size)
    published = Vocabulary([labels[v] for v in kept.tolist()])
    return Recoding(data.vocabulary, published, frozen(image, np.int32), data.n_items)


def greatest_counts(share: Fraction, n: int) -> Ints:
    """Find how many of 0, 1, ..., n rows may contain an item: int64 (n + 1,), read-only."""
    return frozen([rows * share.numerator // share.denominator for rows in range(n + 1)], np.int64)
