"""Frequent itemsets and rules of the original that survive in a release by total suppression."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.errors import RequestError
from setveil.kernels.itemset_counts import ItemsetFamily
from setveil.kernels.rows import Ids, Ints, distinct_rows, merge_rows, recode_rows, take_rows
from setveil.progress import Progress, silent
from setveil.utility import Column, Compared, Measure, Utility

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
    """Count how many frequent itemsets and rules of the original a release still holds.

    An itemset survives if all its items are published under their own labels. Total suppression promises
    that its support is then what it was; that is checked for all of them at once, by comparing the published
    rows with the original ones cut down to the published labels.

    Parameters
    ----------
    original, published : Transactions
        The rows before and after; their order does not matter.
    threshold : int
        Least support, in rows, of a frequent itemset; at least 1.
    max_length : int, optional
        Count itemsets of at most so many items; None: of any length.
    private : collection of str
        Private items, for the rules.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    dict
        `threshold`, `max_length` (None: any);
        `frequent`, `kept`: frequent itemsets of the original, and how many of them survive;
        `by_length`: the same for each length, up to `max_length` (up to 6 where none is given);
        `supports_unchanged`: whether every surviving one has its original support;
        `rules`, `rules_kept`: rules from public items (one or more, with the private one at most
        `max_length`) to a private item that are together frequent, and how many still have all their items.
        Their confidences (the private item's share of the rows with the public ones) are unchanged where
        supports are.
        Nothing is listed: all numbers are counted (see `setveil.kernels.itemset_counts`), exactly, as
        Python's integers.

    References
    ----------
    Xu, Fung, Wang, Fu, Pei, ICDM 2008, section 3, doi:10.1109/ICDM.2008.98
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

    by_length: list[dict[str, int]] = []
    before = (0, 0)
    for length in range(1, int(min(longest, DETAILED if max_length is None else longest)) + 1):
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


def _only(data: Transactions, items: NDArray[np.bool_]) -> tuple[Ints, Ids, int]:
    """Cut the rows down to some items, numbered anew."""
    image = np.where(items, np.cumsum(items) - 1, -1).astype(np.int32)
    return *recode_rows(data.indptr, data.items, image), int(items.sum())


def _count(rows: tuple[Ints, Ids, int], threshold: int, largest: float, tick: Callable[[], None]) -> int:
    """Count the itemsets of at most `largest` items in at least `threshold` rows."""
    indptr, items, n = rows
    if largest < 1:
        return 0
    return ItemsetFamily(*distinct_rows(indptr, items), n, threshold, largest).counts(tick)[0]


def _rules(
    data: Transactions,
    public: NDArray[np.bool_],
    private: NDArray[np.bool_],
    threshold: int,
    largest: float,
    progress: Progress,
) -> int:
    """Count the rules from at most `largest` public items to one private item."""
    row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
    indptr, items, _ = _only(data, public)
    total = 0
    for s in np.flatnonzero(private).tolist():
        some = take_rows(indptr, items, row_of[data.items == s])
        ids = np.flatnonzero(np.bincount(some[1], minlength=1) >= threshold)
        image = np.full(int(some[1].max(initial=0)) + 1, -1, np.int32)
        image[ids] = np.arange(ids.size)
        rows = *recode_rows(*some, image), ids.size
        total += _count(rows, threshold, largest, lambda: progress("counting rules"))
    return total


def _same_rows(original: Transactions, published: Transactions) -> bool:
    """Whether the published rows are the original ones cut down to the labels of both, in any order."""
    ids = published.vocabulary.ids
    image = np.array([ids.get(label, -1) for label in original.vocabulary.labels], np.int32)
    common = np.zeros(published.n_items, bool)
    common[image[image >= 0]] = True
    before = recode_rows(original.indptr, original.items, image)
    keep = np.where(common, np.arange(published.n_items), -1).astype(np.int32)
    after = recode_rows(published.indptr, published.items, keep)
    n = original.n_rows
    if published.n_rows != n:
        return False
    indptr = np.concatenate((before[0], before[0][-1] + after[0][1:]))
    group, first, _ = merge_rows(indptr, np.concatenate((before[1], after[1])))
    times = [np.bincount(part, minlength=first.size) for part in (group[:n], group[n:])]
    return bool(np.array_equal(times[0], times[1]))


def _kept(utility: Utility) -> int | None:
    """Count those kept; none is told where an item is published as itself in some of its rows only."""
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
        told=False,  # the page of a run has a section about what is answered
        columns=(
            Column("itemsets_frequent", lambda utility: utility.get("itemsets", {}).get("frequent"), int),
            Column("itemsets_kept", _kept, int),
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
                reading="counts itemsets whose items keep their own names; a broader name does not count, "
                "though it tells something.",
            ),
        ),
    ),
)
