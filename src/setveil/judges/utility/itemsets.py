"""Frequent itemsets and rules of the original that survive in a release by total suppression."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.utility import Compared, Measure, StudyColumn, Utility
from setveil.judges.utility._estimate_loops import count_label_sets
from setveil.judges.utility._pair_counts import count_beside
from setveil.kernels.rows import (
    Ids,
    Ints,
    distinct_rows,
    frozen,
    holders,
    item_supports,
    merge_rows,
    ranks_of,
    recode_rows,
    take_rows,
)
from setveil.rows.data.transactions import Transactions

_FEW = 300  # itemsets of one length that are listed rather than counted
DETAILED = 6  # lengths that are counted one by one where nothing else is asked for


def surviving_itemsets(
    original: Transactions,
    published: Transactions,
    threshold: int,
    *,
    max_length: int | None = None,
    private: Collection[str] = (),
    progress: Progress = silent,
) -> dict[str, Any]:
    """Count the frequent itemsets and rules that a release still contains.

    An itemset of at most `max_length` items survives if all are unchanged; so do its supports, as total
    suppression guarantees, which `supports_unchanged` checks. `by_length` goes up to 6 by default. Rules go
    from public items to a private one, are frequent together, and survive with all their items, with the same
    confidences if supports are the same. All numbers are exact (`setveil.kernels.itemset_counts`). Xu, Fung,
    Wang, Fu, Pei, ICDM 2008, section 3, doi:10.1109/ICDM.2008.98
    """
    for name, value in (("support threshold", threshold), ("greatest length", max_length)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise RequestError(f"The {name} must be an integer of at least 1, got {value!r}.")
    ids = original.vocabulary.ids
    kept = np.zeros(original.n_items, bool)
    kept[[ids[label] for label in published.vocabulary.labels if label in ids]] = True
    frequent = original.supports() >= threshold
    longest = math.inf if max_length is None else max_length

    def count(items: NDArray[np.bool_], largest: float) -> int:
        return _count(_only(original, items), threshold, largest, lambda: progress("counting itemsets"))

    progress("counting itemsets")
    most = int(min(longest, DETAILED if max_length is None else longest))
    listed = list(_listed(original, frequent, threshold, most))
    by_length: list[dict[str, int]] = []
    before = (0, 0)
    for length in range(1, most + 1):
        if length <= len(listed):
            now = before[0] + len(listed[length - 1]), before[1] + int(kept[listed[length - 1]].all(1).sum())
        else:
            now = count(frequent, length), count(frequent & kept, length)
        if now[0] == before[0]:
            break  # no itemset is so long, so none is longer
        by_length.append({"length": length, "frequent": now[0] - before[0], "kept": now[1] - before[1]})
        before = now
    if max_length is None and len(by_length) == DETAILED:
        before = count(frequent, math.inf), count(frequent & kept, math.inf)

    is_private = np.array([label in set(private) for label in original.vocabulary.labels], bool)
    rules = _rules(original, frequent & ~is_private, frequent & is_private, threshold, longest - 1, progress)
    rules_kept = _rules(
        original,
        frequent & kept & ~is_private,
        frequent & kept & is_private,
        threshold,
        longest - 1,
        progress,
    )
    return {
        "threshold": threshold,
        "max_length": max_length,
        "frequent": before[0],
        "kept": before[1],
        "by_length": by_length,
        "supports_unchanged": _same_rows(original, published),
        "rules": rules,
        "rules_kept": rules_kept,
    }


def _listed(
    data: Transactions, frequent: NDArray[np.bool_], threshold: int, longest: int
) -> Iterator[NDArray[np.intp]]:
    """List frequent itemsets by length, if they are so few that counting takes longer to prepare."""
    alone = np.flatnonzero(frequent)
    level = alone[:, None]
    yield level
    if longest == 1 or alone.size > _FEW:
        return
    indptr, items, weights, n = _only(data, frequent)
    starts, held_by = holders(indptr, items, n)
    together = np.zeros((n, n), np.int64)
    for item in range(n):
        count_beside(indptr, items, weights, held_by[starts[item] : starts[item + 1]], together[item])
    level = np.argwhere(np.triu(together >= threshold, 1))
    yield alone[level]
    for length in range(3, longest + 1):
        if len(level) > _FEW:
            return
        present = set(map(tuple, level.tolist()))
        longer = [
            first + second[-1:]
            for first, second in combinations(sorted(present), 2)
            if first[:-1] == second[:-1] and present.issuperset(combinations(first + second[-1:], length - 1))
        ]
        level = np.array(longer, np.intp).reshape(-1, length)
        found = np.empty(len(level), np.int64)
        ends = frozen(np.arange(0, level.size + 1, length), np.int64)
        count_label_sets(starts, held_by, weights, ends, frozen(level.ravel(), np.int32), data.n_rows, found)
        level = level[found >= threshold]
        yield alone[level]


def _only(data: Transactions, items: NDArray[np.bool_]) -> tuple[Ints, Ids, Ints, int]:
    """Cut the rows down to some items, numbered again; and how many rows each represents."""
    image = np.where(items, np.cumsum(items) - 1, -1).astype(np.int32)
    return *_recoded(data, image), int(items.sum())


def _recoded(data: Transactions, image: Ids) -> tuple[Ints, Ids, Ints]:
    """Replace the items of the rows, and merge rows that are equal then."""
    indptr, items, weights = data.distinct
    return distinct_rows(*recode_rows(indptr, items, image), weights)


def _count(
    rows: tuple[Ints, Ids, Ints, int], threshold: int, largest: float, tick: Callable[[], None]
) -> int:
    """Count the itemsets of at most `largest` items in at least `threshold` rows."""
    if largest < 1:
        return 0
    from setveil.kernels.itemset_counts import ItemsetFamily

    return ItemsetFamily(*rows, threshold, largest).counts(tick)[0]


def _rules(
    data: Transactions,
    public: NDArray[np.bool_],
    private: NDArray[np.bool_],
    threshold: int,
    largest: float,
    progress: Progress,
) -> int:
    """Count the rules from at most `largest` public items to one private item."""
    if not private.any():
        return 0
    total = 0
    indptr, items, weights = data.distinct
    starts, held_by = data.holders
    for s in np.flatnonzero(private).tolist():
        with_s = held_by[starts[s] : starts[s + 1]]
        some, theirs = take_rows(indptr, items, with_s.astype(np.int64)), weights[with_s]
        ids = np.flatnonzero(public & (item_supports(*some, theirs, data.n_items) >= threshold))
        rows = distinct_rows(*recode_rows(*some, ranks_of(ids, data.n_items)), theirs)
        total += _count((*rows, ids.size), threshold, largest, lambda: progress("counting rules"))
    return total


def _same_rows(original: Transactions, published: Transactions) -> bool:
    """Compare the published rows, in any order, with the original ones cut down to the labels of both."""
    ids = published.vocabulary.ids
    image = np.array([ids.get(label, -1) for label in original.vocabulary.labels], np.int32)
    common = np.zeros(published.n_items, bool)
    common[image[image >= 0]] = True
    keep = np.where(common, np.arange(published.n_items), -1).astype(np.int32)
    if published.n_rows != original.n_rows:
        return False
    before, after = _recoded(original, image), _recoded(published, keep)
    indptr = frozen(np.concatenate((before[0], before[0][-1] + after[0][1:])), np.int64)
    group, first, _ = merge_rows(indptr, frozen(np.concatenate((before[1], after[1])), np.int32))
    times = np.zeros((2, first.size), np.int64)
    times[0, group[: before[2].size]] = before[2]
    times[1, group[before[2].size :]] = after[2]
    return bool(np.array_equal(times[0], times[1]))


def _kept(utility: Utility) -> int | None:
    """Count those kept; none is reported where an item is published as itself in some of its rows only."""
    found = utility.get("itemsets", {})
    return found.get("kept") if found.get("supports_unchanged") else None


MEASURES = (
    Measure(
        name="itemsets",
        title="itemsets kept",
        meaning="share of the original's frequent itemsets that are published unchanged",
        compute=None,  # who asks says how frequent and how long
        place=40,
        needs="itemsets",
        better="more",
        number=lambda found: found["kept"] / found["frequent"] if found.get("frequent") else None,
        reported=False,  # the page of a run has a section about what is answered
        columns=(
            StudyColumn(
                "itemsets_frequent", lambda utility: utility.get("itemsets", {}).get("frequent"), int
            ),
            StudyColumn("itemsets_kept", _kept, int),
        ),
        compared=(
            Compared(
                "itemsets_kept",
                "itemsets kept",
                "Share of the original's frequent itemsets all of whose items are published under their own "
                "names. More is better.",
                "itemsets_kept",
                "itemsets_frequent",
                percent=True,
                section="answers",
                place=6,
                handed_out=True,
                own_names=True,
                reading="counts itemsets whose items are unchanged; a broader label does not count, "
                "though it tells something.",
            ),
        ),
    ),
)
