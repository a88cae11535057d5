"""Supports before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.judges.utility import FACTS, ITEMS, Case, Measure, StudyColumn
from setveil.judges.utility.are import counts_estimator, median
from setveil.judges.utility.estimates import Estimator
from setveil.kernels.count import add_supports
from setveil.kernels.rows import frozen
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums, counts_itself, in_memory


def label_supports(original: Sums, published: Sums, recoding: AnyRecoding) -> list[dict[str, Any]]:
    """Compare the support of each published label, in item order, with the original rows with its items.

    A global recoding keeps all these supports, so an error means that rows were changed, added or lost. A
    local recoding publishes an item under several labels, so that each of them is short of rows.
    """
    before = _original_supports(original, recoding)
    after = dict(zip(published.vocabulary.labels, published.supports().tolist(), strict=True))
    known = set(recoding.published.labels)
    members = recoding.member_counts.tolist()
    rows = [
        (label, members[i], after.get(label, 0), int(before[i]))
        for i, label in enumerate(recoding.published.labels)
        if before[i] or label in after
    ] + [(label, 0, support, 0) for label, support in after.items() if label not in known]
    return [
        {
            "label": label,
            "items": items,
            "support": support,
            "original_support": had,
            "relative_error": abs(support - had) / had if had else None,
        }
        for label, items, support, had in rows
    ]


def _original_supports(original: Sums, recoding: AnyRecoding) -> NDArray[np.int64]:
    """Count, for each published label, the rows of the original with any of the items it represents."""
    item, label = recoding.memberships()
    ends = np.cumsum(np.bincount(item, minlength=len(recoding.items)))
    labels = np.split(label, ends[:-1]) if ends.size else []
    of_item = [labels[recoding.items.ids[x]] for x in original.vocabulary.labels]
    starts = np.cumsum([0, *map(len, of_item)])
    n = len(recoding.published)
    labels_of = frozen(starts, np.int64), frozen(np.concatenate([label[:0], *of_item]), np.int32)
    if counts_itself(original):
        return original.supports_of_groups(*labels_of, n)
    supports = np.zeros(n, np.int64)
    add_supports(*in_memory(original).distinct, *labels_of, np.full(n, -1, np.int64), supports)
    return supports


def support_errors(
    original: Sums,
    published: Sums,
    recoding: AnyRecoding,
    estimator: Estimator | None = None,
) -> dict[str, Any]:
    """Summarize how well supports can still be read from the release, of labels and of items.

    For items that occur, a reader spreads the support of every label evenly over its items (a suppressed
    item: error 1). With an estimator, from counts next to the rows, these are `from_rows`.
    """
    errors = [
        1.0 if entry["relative_error"] is None else entry["relative_error"]
        for entry in label_supports(original, published, recoding)
    ]
    supports = original.supports()
    present = supports > 0

    def spread(estimate: NDArray[np.float64]) -> dict[str, float]:
        off = np.abs(estimate[present] - supports[present]) / supports[present]
        both = (float(off.mean()), median(off)) if off.size else (0.0, 0.0)
        return dict(zip(("mean", "median"), both, strict=True))

    of_items: dict[str, Any] = spread(item_estimates(original, published, recoding))
    if estimator is not None:
        of_items = {**spread(estimator.of_items(original.vocabulary.labels)), "from_rows": of_items}
    return {
        "label_support_error": {
            "mean": float(np.mean(errors or [0.0])),
            "max": float(max(errors, default=0.0)),
        },
        "item_support_error": of_items,
    }


def item_estimates(original: Sums, published: Sums, recoding: AnyRecoding) -> NDArray[np.float64]:
    """Estimate how many rows contain each item, by spreading every label evenly over its items."""
    after = dict(zip(published.vocabulary.labels, published.supports().tolist(), strict=True))
    labels = zip(recoding.published.labels, recoding.member_counts.tolist(), strict=True)
    spread = np.array([after.get(label, 0) / max(members, 1) for label, members in labels])
    item, label = recoding.memberships()
    estimate = np.bincount(item, spread[label], len(recoding.items))
    ids = recoding.items.ids
    return np.asarray(estimate[[ids[item] for item in original.vocabulary.labels]], np.float64)


def errors_of_items(case: Case) -> dict[str, Any]:
    """Measure how far a reader's numbers of rows of single items are off (see `support_errors`)."""
    found: dict[str, Any] = case.once(_both)["item_support_error"]
    return found


def _both(case: Case) -> dict[str, Any]:
    return support_errors(case.original, case.published, case.recoding, case.once(counts_estimator))


MEASURES = (
    Measure(
        name="label_support_error",
        meaning="mean relative error of the published items' supports",
        compute=lambda case: case.once(_both)["label_support_error"],
        place=30,
        kinds=(*ITEMS, *FACTS),
        high=None,
        number=lambda found: found.get("mean"),
        columns=(),
    ),
    Measure(
        name="item_support_error",
        meaning="median relative error of an item's support as a reader estimates it",
        compute=errors_of_items,
        place=31,
        kinds=(*ITEMS, *FACTS),
        high=None,
        number=lambda found: found.get("median"),
        columns=(
            StudyColumn("item_error", lambda utility: utility.get("item_support_error", {}).get("median")),
        ),
    ),
)
