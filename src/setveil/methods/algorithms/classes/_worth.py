"""How far a reader's answers would be off, by which it is decided how many classes there are.

It compares estimates of pairs with the rows themselves, so it is internal: only the choice is published. The
estimates are those of `setveil.releases.published.class_estimates`, but raise unlisted items regardless of
totals.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.label_chances import label_chances
from setveil.kernels.rows import Ids, Ints, frozen, invert, recode_rows, take_rows
from setveil.methods.algorithms.classes._solving import Solved
from setveil.methods.algorithms.classes._splitting import Piece
from setveil.releases.published._class_fitting import paces
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

Floats = NDArray[np.float64]

NUMBER = 1000  # pairs
_ROWS = 1 << 13  # that are looked at together


@dataclass(frozen=True, eq=False)
class Look:
    """What a reader sees of the pairs in a class: (items,) or (pairs,) each."""

    room: Ints  # rows of the label of each item, or of the class
    listed: Ints  # rows of its line; -1: none
    most: Ints  # the most rows if it is not listed
    level: Floats  # rows that it has at least, for its label to be full
    shown: NDArray[np.bool_]  # whether its label is shown
    gone: NDArray[np.bool_]  # whether it was left out
    both: Floats  # of each pair: rows that show the labels of both, times q where these are one
    published: bool


class Looks:
    """What a reader sees of several classes: the arrays of their `Look`, a line for each class."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self.room = np.stack([look.room for look in looks])
        self.listed = np.stack([look.listed for look in looks])
        self.most = np.stack([look.most for look in looks])
        self.level = np.stack([look.level for look in looks])
        self.shown = np.stack([look.shown for look in looks])
        self.gone = np.stack([look.gone for look in looks])
        self.both = np.stack([look.both for look in looks])
        self.published = np.array([look.published for look in looks])


class Worth:
    """Judges classes, with counts of at least `least` rows, by pairs from random rows in canonical order."""

    def __init__(self, data: Transactions, tree: Hierarchy, secrets: Collection[str], least: int) -> None:
        self.data, self.tree, self.least = data, tree, least
        self.leaf_of_item = tree.locate(data.vocabulary)
        public = np.array([name not in secrets for name in data.vocabulary.labels], bool)
        first, second = _drawn_pairs(data, public)
        self.items, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        self.first, self.second = places[: first.size], places[first.size :]
        self.supports = data.supports()[self.items]
        self.true = _together(data, first, second)

    def look(self, piece: Piece, solved: Solved) -> Look:
        """See a class as a reader does."""
        data, least = self.data, self.least
        n_rows = piece.rows.size
        image = np.full(data.n_items, -1, np.int32)
        image[solved.items] = solved.nodes
        indptr, items = take_rows(data.indptr, data.items, piece.rows)
        own = np.bincount(items, minlength=data.n_items)
        nodes, label = np.unique(image[image >= 0], return_inverse=True)
        of_item = np.full(data.n_items, -1, np.int32)
        of_item[image >= 0] = label.ravel()
        shown_ptr, shown = recode_rows(indptr, items, of_item)
        sizes = np.bincount(shown, minlength=nodes.size)
        empty = int((np.diff(shown_ptr) == 0).sum())
        published = not 0 < empty < least
        held = np.where(own >= least, own, 0)
        there = np.flatnonzero((of_item >= 0) & (held > 0))
        members = self.tree.leaf_counts[nodes] if nodes.size else np.zeros(0, np.int64)
        free = members - np.bincount(of_item[there], minlength=nodes.size)
        lack = sizes - np.bincount(of_item[there], weights=held[there], minlength=nodes.size)
        level = np.where((lack > 0) & (free > 0), lack / np.maximum(free, 1), 0.0)
        chances = _chances(
            of_item[there].astype(np.int64), held[there], level, free, sizes, lack.astype(np.float64)
        )

        at = self._labels(nodes, of_item)
        visible = at >= 0
        room = np.where(visible, sizes[at] if nodes.size else 0, n_rows)
        listed = np.where((own[self.items] >= least) & (visible | published), own[self.items], -1)
        gone = (own[self.items] > 0) & (of_item[self.items] < 0)
        most = np.where(visible | published, np.minimum(least - 1, room), np.where(gone, room, 0))
        one = visible[self.first] & visible[self.second] & (at[self.first] == at[self.second])
        chance: Floats = np.where(one, chances[at[self.first]] if nodes.size else 1.0, 1.0)
        both = chance * self._supports(shown_ptr, shown, nodes.size, at, n_rows)
        return Look(
            room, listed, most, np.where(visible, level[at] if nodes.size else 0.0, 0.0), visible, gone,
            both, published,
        )  # fmt: skip

    def _labels(self, nodes: Ids, of_item: Ids) -> Ints:
        """Find the label that represents each item, also of items that the class does not hold; -1: none."""
        at = of_item[self.items].astype(np.int64)
        low, high = self.tree.low[nodes], self.tree.high[nodes]
        order = np.argsort(low)
        place = np.empty(self.tree.n_leaves, np.int64)
        place[self.tree.leaf_order] = np.arange(self.tree.n_leaves)
        where = place[self.leaf_of_item[self.items]]
        if nodes.size:
            before = np.searchsorted(low[order], where, side="right") - 1
            label = order[np.maximum(before, 0)]
            inside = (before >= 0) & (where < high[label])
            at = np.where(at >= 0, at, np.where(inside, label, -1))
        return frozen(at, np.int64)

    def _supports(self, indptr: Ints, shown: Ids, labels: int, at: Ints, n_rows: int) -> Ints:
        """Count the rows that show the labels of both items of each pair."""
        one, other = at[self.first], at[self.second]
        used = np.unique(np.concatenate([one, other]))
        used = used[used >= 0]
        place = np.full(labels + 1, used.size, np.int64)  # last: none, which all rows show
        place[used] = np.arange(used.size)
        first, second = place[one], place[other]
        found = np.zeros(one.size, np.int64)
        for start in range(0, n_rows, _ROWS):
            end = min(start + _ROWS, n_rows)
            cells = np.zeros((used.size + 1, end - start), bool)
            inside = place[shown[indptr[start] : indptr[end]]]
            cells[inside, np.repeat(np.arange(end - start), np.diff(indptr[start : end + 1]))] = True
            cells[used.size] = True
            bits = np.packbits(cells, axis=1)
            found += np.bitwise_count(bits[first] & bits[second]).sum(1, dtype=np.int64)
        return found

    def paces(self, looks: Looks) -> Floats:
        """Deal what is left of the totals."""
        listed, most, published = looks.listed, looks.most, looks.published[:, None]
        lines = np.maximum(listed, 0).sum(0)
        rest = self.supports - lines
        sure = ~(looks.gone & ~published).any(0) & (self.supports >= self.least)
        sure &= (rest == 0) | (rest >= self.least)
        half = (lines > 0) & (looks.shown | published).all(0)
        rest = np.where(sure, rest, np.where(half, self.least / 2, 0))
        free = (listed < 0) & (most > 0)
        return paces(rest, np.where(free, looks.room, 0).T, np.where(free, most, 0).T)

    def expected(self, looks: Looks, pace: Floats) -> Floats:
        """Estimate the rows of classes that hold each pair: float64 (classes, pairs)."""
        unlisted = np.maximum(np.minimum(looks.most, pace * looks.room), looks.level)
        rows = np.where(looks.listed >= 0, looks.listed, unlisted)
        share = rows / np.maximum(looks.room, 1)
        both: Floats = looks.both * share[:, self.first] * share[:, self.second]
        return both

    def off(self, expected: Floats) -> float:
        """Compare estimates with the rows: mean relative error."""
        if not self.true.size:
            return 0.0
        return float(np.mean(np.abs(np.minimum(expected, self._most()) - self.true) / self.true))

    def _most(self) -> Ints:
        return frozen(np.minimum(self.supports[self.first], self.supports[self.second]), np.int64)

    def error(self, looks: Sequence[Look]) -> float:
        """Estimate all pairs of all classes, and say how far they are off."""
        seen = Looks(looks)
        return self.off(self.expected(seen, self.paces(seen)).sum(axis=0))


def _drawn_pairs(data: Transactions, public: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Draw pairs of items, each of a random row."""
    image = np.where(public, np.arange(data.n_items), -1).astype(np.int32)
    indptr, items = recode_rows(data.indptr, data.items, image)
    long = np.flatnonzero(np.diff(indptr) >= 2)
    if not long.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    words = np.random.PCG64(0).random_raw(3 * NUMBER).reshape(3, NUMBER)
    rows = long[(words[0] % np.uint64(long.size)).astype(np.int64)]
    lengths = np.diff(indptr)[rows].astype(np.uint64)
    one = (words[1] % lengths).astype(np.int64)
    other = (words[2] % (lengths - np.uint64(1))).astype(np.int64)
    other += other >= one
    return items[indptr[rows] + one].astype(np.int64), items[indptr[rows] + other].astype(np.int64)


def _together(data: Transactions, first: Ints, second: Ints) -> Ints:
    """Count the rows that hold both items of each pair."""
    starts, rows, _ = invert(data.indptr, data.items, data.n_items)
    out = np.zeros(first.size, np.int64)
    for j, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        ours, theirs = rows[starts[a] : starts[a + 1]], rows[starts[b] : starts[b + 1]]
        out[j] = np.intersect1d(ours, theirs, assume_unique=True).size
    return out


def _chances(label: Ints, rows: Ints, level: Floats, free: Ints, sizes: Ints, lack: Floats) -> Floats:
    """Find q of each label."""
    raised = np.flatnonzero((level > 0) & (free > 0))
    every = np.concatenate([label, raised])
    order = np.argsort(every, kind="stable")
    bounds = np.searchsorted(every[order], np.arange(sizes.size + 1))
    share = np.concatenate([rows, level[raised]]).astype(np.float64)
    times = np.concatenate([np.ones(label.size, np.int64), free[raised]])
    chances = np.ones(sizes.size)
    label_chances(
        frozen(bounds[:-1], np.int64), frozen(bounds[1:], np.int64), frozen(share[order], np.float64),
        frozen(times[order], np.int64), frozen(sizes, np.int64), frozen(np.maximum(-lack, 0), np.float64),
        chances,
    )  # fmt: skip
    return chances
