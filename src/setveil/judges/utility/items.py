"""Errors of a reader's estimates for single items that stay unchanged."""

from __future__ import annotations

import numpy as np

from setveil.judges.utility import CHUNKS, NOISY, Case, Measure, StudyColumn
from setveil.judges.utility.are import by_name


def item_error(case: Case) -> float | None:
    """Average |estimated - true| / true over all items that occur; one that is not told counts as 1."""
    supports = case.original.supports()
    labels = [x for x, n in zip(case.original.vocabulary.labels, supports.tolist(), strict=True) if n]
    if not labels:
        return None
    true = supports[supports > 0]
    return float(np.mean(np.abs(case.once(by_name).of_items(labels) - true) / true))


MEASURES = (
    Measure(
        name="item_error",
        title="item error",
        meaning="mean relative error of the rows of single items, as a reader estimates them",
        compute=item_error,
        place=6,
        kinds=(*CHUNKS, *NOISY),
        high=None,
        columns=(StudyColumn("item_error_mean", lambda utility: utility.get("item_error")),),
        reading="Over all items that occur: 0 is exact; an item that is not told at all counts as 1.",
    ),
)
