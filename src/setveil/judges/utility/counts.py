"""Plain counts: what was published as it was, generalized, suppressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from setveil.judges.utility import FACTS, GROUPS, ITEMS, Case, Measure, StudyColumn, Utility
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums

if TYPE_CHECKING:
    from setveil.releases.published.group_files import PublishedGroups


def counts(original: Sums, published: Sums, recoding: AnyRecoding) -> dict[str, int | float]:
    """Count items and occurrences that are unchanged, generalized or suppressed, and mean lengths of rows.

    Items are those that occur in the original. An occurrence is unchanged if its label is the item; an item
    is unchanged, or suppressed, if all its occurrences are.
    """
    item, label, rows = recoding.tally(original)
    ids = original.vocabulary.ids
    own = np.array([ids.get(label, -2) for label in recoding.published.labels] + [-1], np.int64)
    unchanged, suppressed = own[label] == item, label < 0
    occurrences = original.supports()
    unchanged_items = int((rows[unchanged] == occurrences[item[unchanged]]).sum())
    suppressed_items = int((rows[suppressed] == occurrences[item[suppressed]]).sum())
    return {
        "unchanged_items": unchanged_items,
        "generalized_items": int((occurrences > 0).sum()) - unchanged_items - suppressed_items,
        "suppressed_items": suppressed_items,
        "published_labels": int((published.supports() > 0).sum()),
        "unchanged_occurrences": int(rows[unchanged].sum()),
        "generalized_occurrences": int(rows[~unchanged & ~suppressed].sum()),
        "suppressed_occurrences": int(rows[suppressed].sum()),
        **_row_lengths(original, published),
    }


def group_counts(original: Sums, groups: PublishedGroups) -> dict[str, int | float]:
    """Count the unchanged occurrences, those counted in groups, and the mean row length."""
    return {
        "unchanged_items": int((groups.qid.supports() > 0).sum()),
        "unchanged_occurrences": groups.qid.n_occurrences,
        "sensitive_items": len(set(groups.item.tolist())),
        "sensitive_occurrences": int(groups.count.sum()),
        **_row_lengths(original, groups.qid),
    }


def _row_lengths(original: Sums, published: Sums) -> dict[str, float]:
    return {
        "mean_row_length_before": original.n_occurrences / max(original.n_rows, 1),
        "mean_row_length_after": published.n_occurrences / max(published.n_rows, 1),
    }


def _all(case: Case) -> dict[str, int | float]:
    if case.groups is not None:
        return group_counts(case.original, case.groups)
    return counts(case.original, case.published, case.recoding)


def _of(name: str) -> Callable[[Case], int | float]:
    def count(case: Case) -> int | float:
        found: int | float = case.once(_all)[name]
        return found

    return count


def _column(name: str) -> StudyColumn:
    def value(utility: Utility) -> int | None:
        return utility.get(name)

    return StudyColumn(name, value, int)


# Name, unit, kinds of recodings, which direction is better, columns of a study's table.
_ALL = (*ITEMS, *FACTS)
_EVERY = (
    ("unchanged_items", "items", _ALL + GROUPS, "more", ("unchanged_items",)),
    ("generalized_items", "items", _ALL, "less", ("generalized_items",)),
    ("suppressed_items", "items", _ALL, "less", ("suppressed_items", "suppressed_occurrences")),
    ("published_labels", "labels", _ALL, "", ("published_labels",)),
    ("unchanged_occurrences", "occurrences", _ALL + GROUPS, "more", ()),
    ("generalized_occurrences", "occurrences", _ALL, "less", ()),
    ("suppressed_occurrences", "occurrences", _ALL, "less", ()),
    ("sensitive_items", "items", GROUPS, "", ()),
    ("sensitive_occurrences", "occurrences", GROUPS, "", ()),
    ("mean_row_length_before", "items", _ALL + GROUPS, "", ()),
    ("mean_row_length_after", "items", _ALL + GROUPS, "", ()),
)
MEASURES = tuple(
    Measure(
        name=name,
        compute=_of(name),
        place=place,
        kinds=kinds,
        unit=unit,
        high=None,
        better=better,  # type: ignore[arg-type]  # a literal
        columns=tuple(map(_column, columns)),
    )
    for place, (name, unit, kinds, better, columns) in enumerate(_EVERY, 10)
)
