"""How sensitive items may be left out: whole, or in some of the rows that are alike in their public items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ints, frozen

OCCURRENCES, ITEMS, NOTHING = "occurrences", "items", "nothing"


@dataclass(frozen=True)
class Sensitive:
    """The sensitive items of distinct rows, and the variables that say how many of them are suppressed."""

    labels: tuple[str, ...]  # the sensitive items, those alone that some row holds
    indptr: Ints  # int64 (n + 1,): where the entries of each distinct row begin
    # item, count: int64 (entries,): a sensitive item of the row, by its place in `labels`, and in how many of
    # the rows that the distinct row stands for it is
    item: Ints
    count: Ints
    holders: Ints  # int64 (labels,): how many rows hold each
    leaf: Ints  # int64 (labels,): the leaf that it is where it may be known; -1: it may not
    # OCCURRENCES: a variable for each entry tells how many rows lose the item. ITEMS: one for each item is 1
    # if all do. (Not where items are leaves: leaves have variables already.) NOTHING: there are none.
    hide: str

    @classmethod
    def from_rows(
        cls,
        labels: tuple[str, ...],
        group: Ints,
        n_groups: int,
        row: Ints,
        item: Ints,
        hide: str,
        leaf: Ints | None = None,
    ) -> Sensitive:
        """Count sensitive items: occurrence i is that of item ``item[i]`` in row ``row[i]`` of a group."""
        n = max(len(labels), 1)
        keys, counts = np.unique(group[row] * n + item, return_counts=True)
        starts = np.searchsorted(keys, np.arange(n_groups + 1) * n)
        return cls(
            labels,
            frozen(starts, np.int64),
            frozen(keys % n, np.int64),
            frozen(counts, np.int64),
            frozen(np.bincount(item, minlength=len(labels)), np.int64),
            frozen(np.full(len(labels), -1) if leaf is None else leaf, np.int64),
            hide,
        )

    @property
    def is_known(self) -> bool:
        """Whether sensitive items may be known."""
        return bool((self.leaf >= 0).any())

    @property
    def n_variables(self) -> int:
        """Number of variables in addition to those of leaves."""
        if self.is_known or self.hide == NOTHING:
            return 0
        return self.item.size if self.hide == OCCURRENCES else len(self.labels)

    @property
    def most(self) -> Ints:
        """Greatest value of each variable."""
        return self.count if self.hide == OCCURRENCES else np.ones(self.n_variables, np.int64)

    @property
    def amounts(self) -> list[int]:
        """How many occurrences each variable suppresses, per unit."""
        if not self.n_variables:
            return []
        return [1] * self.item.size if self.hide == OCCURRENCES else self.holders.tolist()

    @property
    def owner(self) -> Ints:
        """The item of each variable."""
        return self.item if self.hide == OCCURRENCES else np.arange(self.n_variables)

    def merged(
        self,
        group: Ints,
        n_groups: int,
        hidden: NDArray[np.float64],
        wanted: NDArray[np.bool_],
    ) -> tuple[Ints, Ints, Ints, NDArray[np.float64]]:
        """Sum the entries of wanted items, and what is `hidden` of each, over groups of rows."""
        n = max(len(self.labels), 1)
        row = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        some = wanted[self.item]
        keys, place = np.unique(group[row[some]] * n + self.item[some], return_inverse=True)
        starts = np.searchsorted(keys, np.arange(n_groups + 1) * n)
        count = np.zeros(keys.size, np.int64)
        np.add.at(count, place, self.count[some])
        return (
            frozen(starts, np.int64),
            frozen(keys % n, np.int64),
            frozen(count, np.int64),
            np.bincount(place, hidden[some], keys.size).astype(np.float64),
        )


_NONE: Ints = np.zeros(0, np.int64)
NOBODY = Sensitive.from_rows((), _NONE, 0, _NONE, _NONE, NOTHING)
