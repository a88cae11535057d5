"""Knowledge of an attacker about rows, and private items that must not be learned from it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import (
    Ids,
    Ints,
    Ranked,
    frozen,
    in_ranks,
    item_supports,
    ranked,
    ranks_of,
    recode_rows,
    take_rows,
)
from setveil.releases.published.group_files import PublishedGroups, as_groups
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.engine.pairs import is_worth_it, pair_table, reordered

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.tables.table import Table

_EXACT = 53  # bits of an integer that floating-point numbers hold exactly


class Secrets(NamedTuple):
    """The private items of distinct rows, as shares with a common denominator."""

    # indptr, item: int64 (n + 1,), int32: row r may hold the private items ``item[indptr[r]:indptr[r + 1]]``
    indptr: Ints
    item: Ids
    # int64: for each of these the sum, over the rows that r stands for, of the probability that it is there,
    # times `whole`
    shares: Ints
    # the common denominator; times the number of all rows at most 2^53, so that quotients are rounded once
    whole: int

    def probabilities(self, weights: Ints) -> NDArray[np.float64]:
        """Find the probability of each entry in its row: float64, like `shares`."""
        row = np.repeat(np.arange(weights.size), np.diff(self.indptr))
        return frozen(self.shares / (weights[row] * self.whole), np.float64)

    def peaks(self, weights: Ints) -> NDArray[np.float64]:
        """Find the greatest probability of a private item in each row: float64 (n,)."""
        out = np.zeros(weights.size)
        row = np.repeat(np.arange(weights.size), np.diff(self.indptr))
        np.maximum.at(out, row, self.probabilities(weights))
        return frozen(out, np.float64)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Rows as an attacker sees them."""

    # n_rows, empty_rows: all rows, and those of which nothing can be known: they hold no public item
    n_rows: int
    empty_rows: int
    labels: tuple[str, ...]  # the items, in item order
    # int64 (n_ids,): Position in `labels` of each id. Rows of a table have an id for each item and class, as
    # all quasi-identifiers are known.
    item_of: Ints
    # the distinct sets of public items, without the empty one; the rarest item first, of equals by id
    rows: Ranked
    fit: Ints  # int64 (n,): how many rows fit each of these where none of its items is known
    names: tuple[str, ...]  # the private items, in item order
    secrets: Secrets  # private items of the distinct rows, as positions in `names`
    # int64 (len(names),): the shares of each private item, summed over all rows, also those without public
    # items
    overall: Ints
    empty_fit: Ints  # int64 (empty_rows,): how many rows fit each of the rows without public items
    # the quasi-identifiers of a table; none: nothing but items is known, and nobody finds a row without
    columns: tuple[str, ...] = ()
    # the rows whose items are the ids here, all of them public; None: there are no such rows
    public: Transactions | None = None

    def empty_below(self, threshold: int) -> int:
        """Count the rows without public items that fewer rows fit."""
        return int((self.empty_fit < threshold).sum()) if self.columns else 0

    @property
    def longest(self) -> int:
        """Most public items of a row."""
        return int(self.rows.lengths.max(initial=0))

    def supports_of_pairs(self) -> NDArray[np.int32] | None:
        """Count the rows with each pair of ranks, if others ask for all pairs, too; None if they do not."""
        if self.public is None or not is_worth_it(self.public):
            return None
        return reordered(pair_table(self.public), self.rows.order)


def knowledge_of(rows: Transactions | PublishedGroups, private: Collection[str]) -> Knowledge:
    """Separate what may be known of rows from the private items; items that do not occur are never learned.

    For rows in groups, quasi-identifiers are known. The group's counts give all of its rows the same
    probability of a sensitive item; these are private by default.
    """
    groups = as_groups(rows)
    data, sensitive = groups.qid, groups.sensitive.labels
    wanted = set(private or sensitive)
    every = {*data.vocabulary.labels, *sensitive, *wanted} if wanted else wanted
    names = tuple(label for label in item_order(every) if label in wanted)
    ids = data.vocabulary.ids
    image = np.arange(data.n_items, dtype=np.int32)
    for label in names:
        if label in ids:
            image[ids[label]] = -1
    # By content, as some may be drawn by number; the empty row comes first.
    distinct = np.zeros(0, np.int64)
    if names:
        indptr, items = recode_rows(data.indptr, data.items, image)
        distinct, first, weights = merge_rows_by_content(indptr, items)
        indptr, items = take_rows(indptr, items, first)
    else:
        indptr, items, weights = data.distinct
    empty = 0
    if weights.size and indptr[1] == 0:
        empty = int(weights[0])
        indptr, weights, distinct = indptr[1:], weights[1:], distinct - 1

    row, name, share, whole = _shares(groups, names)
    overall = np.zeros(len(names), np.int64)
    np.add.at(overall, name, share)
    known = distinct[row] >= 0
    keys, shares = _merged(distinct[row[known]] * max(len(names), 1) + name[known], share[known], np.add)
    of_row, item = np.divmod(keys, max(len(names), 1))
    starts = np.concatenate(([0], np.cumsum(np.bincount(of_row, minlength=weights.size))))
    rarest_first = np.argsort(item_supports(indptr, items, weights, data.n_items), kind="stable")
    ranks = recode_rows(frozen(indptr, np.int64), items, ranks_of(rarest_first, data.n_items))
    return Knowledge(
        data.n_rows,
        empty,
        data.vocabulary.labels,
        np.arange(data.n_items),
        in_ranks(*ranks, frozen(weights, np.int64), rarest_first),
        np.full(weights.size, data.n_rows),
        names,
        Secrets(frozen(starts, np.int64), frozen(item, np.int32), frozen(shares, np.int64), whole),
        overall,
        np.full(empty, data.n_rows),
        public=None if names else data,
    )


def knowledge_of_table(table: Table | PublishedTable, private: Collection[str]) -> Knowledge:
    """Separate known items of a table's rows, next to all quasi-identifiers, from private ones."""
    data = table.item_rows
    of_row = classes_of(table)
    hidden = np.array([label in set(private) for label in data.vocabulary.labels], np.bool_)
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    public = ~hidden[data.items]
    keys = of_row[row[public]] * max(data.n_items, 1) + data.items[public]
    known, items = np.unique(keys, return_inverse=True)
    lengths = np.bincount(row[public], minlength=data.n_rows)
    filled = np.flatnonzero(lengths)
    indptr = frozen(np.concatenate(([0], np.cumsum(lengths[filled]))), np.int64)
    _, first, weights = merge_rows_by_content(indptr, frozen(items, np.int32))
    distinct_sets = (*take_rows(indptr, frozen(items, np.int32), first), weights)
    sizes = np.bincount(of_row)
    rarest_first = np.argsort(item_supports(*distinct_sets, known.size), kind="stable")
    nothing = np.zeros(0, np.int64)
    return Knowledge(
        data.n_rows,
        data.n_rows - filled.size,
        data.vocabulary.labels,
        known % max(data.n_items, 1),
        ranked(*distinct_sets, rarest_first, known.size),
        sizes[of_row[filled[first]]],
        (),
        Secrets(np.zeros(first.size + 1, np.int64), nothing.astype(np.int32), nothing, 1),
        nothing,
        sizes[of_row[lengths == 0]],
        tuple(column.name for column in table.columns),
    )


def classes_of(table: Table | PublishedTable) -> Ints:
    """Tell apart rows by their quasi-identifiers: a number for each class, int64 (n_rows,)."""
    found = np.zeros(table.n_rows, np.int64)
    for column in table.columns:
        found = np.unique(found * len(column.labels) + column.codes, return_inverse=True)[1]
    return found


def _shares(groups: PublishedGroups, names: tuple[str, ...]) -> tuple[Ints, Ints, Ints, int]:
    """List the private items that rows reveal: row, item, probability times `whole`, perhaps rounded down."""
    data = groups.qid
    nothing = np.zeros(0, np.int64)
    if not names:
        return nothing, nothing, nothing, 1
    position = {name: i for i, name in enumerate(names)}
    of_item = np.array([position.get(label, -1) for label in data.vocabulary.labels], np.int64)
    here = np.flatnonzero(of_item[data.items] >= 0)
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())[here]
    name = of_item[data.items[here]]
    sizes = groups.sizes
    of_sensitive = np.array([position.get(label, -1) for label in groups.sensitive.labels], np.int64)
    wanted = np.flatnonzero(of_sensitive[groups.item] >= 0)
    if not wanted.size:
        return row, name, np.ones(row.size, np.int64), 1
    group = np.repeat(np.arange(groups.n_groups), np.diff(groups.indptr))[wanted]
    whole = math.lcm(*np.unique(sizes[group]).tolist())
    bits = _EXACT - data.n_rows.bit_length()
    whole = min(whole, 1 << bits)
    count = np.minimum(groups.count[wanted], sizes[group])
    share = np.array(
        [c * whole // size for c, size in zip(count.tolist(), sizes[group].tolist(), strict=True)], np.int64
    )
    # Each row of a group has all entries of its group.
    begins = np.concatenate(([0], np.cumsum(sizes)))
    members = np.repeat(begins[group], sizes[group]) + _counting(sizes[group])
    keys = np.concatenate((row, members)) * len(names) + np.concatenate(
        (name, np.repeat(of_sensitive[groups.item[wanted]], sizes[group]))
    )
    merged, most = _merged(
        keys, np.concatenate((np.full(row.size, whole), np.repeat(share, sizes[group]))), np.maximum
    )
    return *np.divmod(merged, max(len(names), 1)), most, whole


def _counting(numbers: Ints) -> Ints:
    """Count from 0 to number - 1, for each of the numbers."""
    ends = np.cumsum(numbers)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - numbers, numbers)


def _merged(keys: Ints, values: Ints, how: Any) -> tuple[Ints, Ints]:
    """Merge the values of equal keys; keys ascending."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if not starts.size:
        return keys, values
    return keys[order][starts], how.reduceat(values[order], starts)


def nearby(secrets: Secrets, met: Ints, group: Ints, n_groups: int) -> Secrets:
    """Merge the private items of some rows by group."""
    sizes = np.diff(secrets.indptr)[met]
    at = np.repeat(secrets.indptr[met], sizes) + _counting(sizes)
    n = int(secrets.item.max(initial=0)) + 1
    keys, shares = _merged(np.repeat(group, sizes) * n + secrets.item[at], secrets.shares[at], np.add)
    of_group, item = np.divmod(keys, n)
    starts = np.concatenate(([0], np.cumsum(np.bincount(of_group, minlength=n_groups))))
    return Secrets(frozen(starts, np.int64), frozen(item, np.int32), frozen(shares, np.int64), secrets.whole)


def supports_of(rows: Ranked) -> NDArray[np.int64]:
    """Count the rows that hold each rank."""
    return frozen(item_supports(*rows[:3], rows.order.size), np.int64)
