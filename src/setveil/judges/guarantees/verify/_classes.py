"""Classes of published tables in batches, with an id for each item of each class, and rare itemsets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.base.values.per_column import PerColumn
from setveil.judges.guarantees.verify.km import BRIEF_STEPS, COUNT_STEPS, MOST_SHOWN, NEVER, Survey
from setveil.releases.published.table_files import PublishedTable

BATCH = 2_000_000  # rows and occurrences of a batch

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TableClasses:
    """The rows with the same published quasi-identifiers, by their first row."""

    of_row: Ints  # int64 (n_rows,): class of each row
    # first, sizes: int64 (n_classes,): first row and number of rows of each class
    first: Ints
    sizes: Ints

    @classmethod
    def of(cls, published: PublishedTable) -> TableClasses:
        """Tell the classes of a table apart, by nothing but the labels."""
        found = np.zeros(published.n_rows, np.int64)
        for column in published.columns:
            same: dict[str, int] = {}
            code = np.array([same.setdefault(label, len(same)) for label in column.labels], np.int64)
            if code.size:
                found = np.unique(found * code.size + code[column.codes], return_inverse=True)[1]
        _, first, inverse, sizes = np.unique(
            found, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first, kind="stable")
        place = np.empty(first.size, np.int64)
        place[order] = np.arange(first.size)
        return cls(place[inverse], first[order], sizes[order])

    def named(self, published: PublishedTable, which: int) -> tuple[tuple[str, str], ...]:
        """Name the quasi-identifiers of a class: pairs of column and label."""
        row = int(self.first[which])
        return tuple((column.name, column.labels[int(column.codes[row])]) for column in published.columns)


@dataclass(frozen=True, eq=False)
class Batch:
    """The rows of some classes."""

    rows: Ints  # int64 (n,): their numbers, class by class
    # indptr, items: int64 (n + 1,), int64 (occurrences,): the same rows, of ids: ascending by class, and
    # within a class by item
    indptr: Ints
    items: Ints
    # of_class, item: int64 (n_ids,): what each id stands for
    of_class: Ints
    item: Ints


def batches(published: PublishedTable, classes: TableClasses) -> Iterator[Batch]:
    """Go through the rows, some classes at a time."""
    sets = published.sets
    lengths = np.diff(sets.indptr)
    order = np.argsort(classes.of_row, kind="stable")
    of_row = classes.of_row[order]
    n_items = max(len(sets.vocabulary.labels), 1)
    before = np.concatenate(([0], np.cumsum(lengths[order])))
    work = before + np.arange(before.size)
    ends = np.append(np.flatnonzero(np.diff(of_row)) + 1, of_row.size)  # of each class
    start = 0
    while start < order.size:
        at = int(np.searchsorted(ends, start, side="right"))  # this class at least
        end = int(ends[max(at, int(np.searchsorted(work[ends], work[start] + BATCH, side="right")) - 1)])
        rows = order[start:end]
        indptr = before[start : end + 1] - before[start]
        source = np.arange(indptr[-1]) + np.repeat(sets.indptr[rows] - indptr[:-1], lengths[rows])
        keys = np.repeat(of_row[start:end], lengths[rows]) * n_items + sets.items[source]
        known, items = np.unique(keys, return_inverse=True)
        yield Batch(rows, indptr, items.astype(np.int64), *np.divmod(known, n_items))
        start = end


class RareItemsets:
    """Itemsets of at most m ids in fewer than k rows, lot by lot; `found` has the first of the last lot."""

    def __init__(
        self,
        k: int,
        m: int | float,
        show: int,
        *,
        broken: bool = False,
        brief: bool = False,
        progress: Progress = silent,
        most: Ints | None = None,
    ) -> None:
        self.most = most  # int64 (columns,), optional: how many ids of each column an itemset may hold
        self.k, self.m, self.show, self.progress = k, m, min(show, MOST_SHOWN), progress
        self.broken = broken  # whether a violation is known
        self.most_steps = BRIEF_STEPS if brief else COUNT_STEPS  # once one is known
        self.steps = 0
        self.violations = 0
        self.found: list[tuple[tuple[int, ...], int]] = []
        self.smallest: int | None = None
        self.complete = True

    def look_at(self, indptr: Ints, items: Ints, n_ids: int, column: Ints | None = None) -> None:
        """Count rare itemsets of rows of ascending ids; `column`: int64 (n_ids,), if columns are limited."""
        self.found = []
        longest = int(np.diff(indptr).max(initial=0))
        if not longest:
            return
        if self.broken and self.steps > self.most_steps:
            self.complete = False
            return
        k = min(self.k, indptr.size)  # no support is greater, and the loops count in 64 bits
        own = None if self.most is None or column is None else (column, self.most)
        survey = Survey(indptr, items, n_ids, k, self.show, self.progress, own)
        whole = self.m >= longest and own is None  # whole rows decide: every itemset lies in one
        rarest, support = survey.rarest_row() if whole else ((), 0)
        if whole and support >= k:
            self._saw(support)
            return
        left = self.steps + self.most_steps if whole else NEVER
        survey.steps, survey.known = self.steps, self.broken
        size = 0
        while size < min(self.m, longest) and not survey.stopped:
            size += 1
            survey.count(size, left, self.most_steps)
        if whole and not survey.violations:  # the rarest row, too large to be reached one size at a time
            survey.violations, survey.first = 1, [(rarest, support)]
        self.steps = survey.steps
        self.violations += survey.violations
        self.broken |= bool(survey.violations)
        self.found = survey.first
        self.complete &= not survey.stopped
        self._saw(support if whole else survey.smallest)

    def _saw(self, support: int) -> None:
        self.smallest = support if self.smallest is None else min(self.smallest, support)


@dataclass(frozen=True)
class Overlap:
    """Two published facts that share a fact."""

    known: tuple[tuple[str, str], ...]  # the class whose rows show them, where that is looked at by class
    labels: tuple[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {**({"class": dict(self.known)} if self.known else {}), "overlap": list(self.labels)}


def own_columns(published: PublishedTable, m: int | float) -> tuple[Ints | None, Ints | None]:
    """Find the column of each item, facts or not, and how many may be known of each; None: m is a number."""
    if not isinstance(m, PerColumn):
        return None, None
    place = {name: at for at, name in enumerate(m.each)}
    sets: Any = published.sets
    if sets.has_facts:
        names = [sets.columns[at].name for at in sets.column.tolist()]
    else:
        names = [published.set_name] * sets.n_items
    m.require_columns(dict.fromkeys([*m.each, *names]))
    return np.array([place[name] for name in names], np.int64), np.array([*m.each.values()], np.int64)


def fewest(*supports: int | None) -> int | None:
    """Return the least of some supports; some may not exist."""
    least = min((float(x) for x in supports if x is not None), default=math.inf)
    return None if least == math.inf else int(least)
