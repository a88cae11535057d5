"""What is known of someone and fits too few people, by values of what is generalized and suppressed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen, invert, take_rows
from setveil.methods.histories._joined import ABSENT, LEFT_OUT, Joined
from setveil.methods.histories._joined_loops import mark_owned, rows_of_classes
from setveil.methods.histories._walk_loops import walk

Floats = NDArray[np.float64]
AT_MOST = 100_000  # sets that are listed at a time
STEPS = 200_000_000  # after which the walk pauses
MOST_SHOWN = 2_000_000  # ways to show units that are looked at; of more, those of the least values
SLACK = 1e-6  # values that differ by less are equal


@dataclass(frozen=True)
class Options:
    """What each leaf of the forest may be shown as, and at what value."""

    ends: Ints  # int64 (n_leaves + 1,)
    nodes: Ids  # int32: of each leaf; LEFT_OUT: nothing
    values: Floats


NO_OPTIONS = Options(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))  # no label is free


def options_of_image(image: Ids) -> Options:
    """Show each leaf as one node, or nothing."""
    n = image.size
    return Options(np.arange(n + 1), frozen(image, np.int32), np.zeros(n))


def options_of_values(joined: Joined, up: Floats, gone: Floats, limit: float) -> Options:
    """Show each leaf as every node that values of cuts and suppression below the limit leave open."""
    forest = joined.forest
    above = np.where(forest.parent >= 0, up[forest.parent], 0.0)
    leaf = np.arange(forest.n_leaves)
    node, last = leaf.copy(), np.full(forest.n_leaves, np.inf)
    found: list[tuple[Ints, Ints, Floats]] = []
    while leaf.size:
        value = above[node] + gone[leaf]
        # A higher node with the same value is shown by more people.
        takes = (value < limit) & (value < last[leaf] - SLACK)
        found.append((leaf[takes], node[takes], value[takes]))
        last[leaf[takes]] = value[takes]
        up_there = forest.parent[node]
        leaf, node = leaf[up_there >= 0], up_there[up_there >= 0]
    dropped = np.flatnonzero(gone > SLACK)
    found.append((dropped, np.full(dropped.size, LEFT_OUT), np.zeros(dropped.size)))
    leaves, nodes, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(leaves, kind="stable")
    ends = np.zeros(forest.n_leaves + 1, np.int64)
    np.cumsum(np.bincount(leaves, minlength=forest.n_leaves), out=ends[1:])
    return Options(ends, nodes[order].astype(np.int32), values[order])


@dataclass(frozen=True)
class Failing:
    """Sets of known items that someone has and that fit too few people, with units of that person."""

    classes: Ints  # int64 (n, size): the sets, -1 behind the last
    rows: Ints  # int64 (n,): somebody who has each

    @property
    def size(self) -> int:
        return int(self.rows.size)


class Walk:
    """The classes of known items under given options, who shows them, and who has them.

    A class is what known items are shown as: a row of tokens, ABSENT where it tells nothing of a release.
    """

    def __init__(self, joined: Joined, options: Options, limit: float = 1.0) -> None:
        self.joined, self.limit = joined, limit
        unit, tokens, value = self._shown_units(options)
        classes, number = np.unique(tokens, axis=0, return_inverse=True)
        number = number.reshape(-1)
        needs = joined.masks_of(classes)
        starts, holders = joined.holders
        lengths = np.append(np.diff(starts), joined.n_rows)
        shortest = lengths[np.where(classes >= 0, classes, -1)].min(axis=1, initial=joined.n_rows)
        ends = np.zeros(classes.shape[0] + 1, np.int64)
        rows = np.zeros(int(shortest.sum()), np.int32)
        filled = rows_of_classes(
            frozen(classes, np.int32), needs, starts, holders, joined.masks,
            np.zeros(classes.shape[1], np.int64), ends, rows,
        )  # fmt: skip
        rows = rows[:filled]
        support = (
            np.add.reduceat(np.append(joined.weights[rows], 0), ends[:-1]) if ends.size > 1 else ends[:0]
        )
        support[ends[1:] == ends[:-1]] = 0
        order = np.argsort(support, kind="stable")
        self.class_ends, self.class_rows = take_rows(ends, rows, order)
        self.classes, self.needs = frozen(classes[order], np.int32), frozen(needs[order], np.int64)
        self.support = frozen(support[order], np.int64)
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        number = rank[number]
        self.values = np.full(order.size, np.inf)
        np.minimum.at(self.values, number, value)
        by_unit = np.lexsort((value, unit))
        self.unit_ends = np.zeros(joined.tokens.shape[0] + 1, np.int64)
        np.cumsum(np.bincount(unit, minlength=joined.tokens.shape[0]), out=self.unit_ends[1:])
        self.class_of = frozen(number[by_unit], np.int64)
        self.value_of = value[by_unit]
        self.shown_ends, self.shown, places = invert(self.class_ends, self.class_rows, joined.n_rows)
        self.owned = np.zeros(self.shown.size, np.uint8)
        self.owned_there = np.zeros(self.shown.size, np.uint8)
        mark_owned(
            joined.indptr, joined.units, self.unit_ends, self.class_of, self.shown_ends, self.shown, places,
            np.full(order.size, -1, np.int64), self.owned, self.owned_there,
        )  # fmt: skip

    def _shown_units(self, options: Options) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Show each unit by all combinations of options of its leaves: units, tokens, values."""
        joined = self.joined
        tokens = joined.tokens
        unit, value = np.arange(tokens.shape[0]), np.zeros(tokens.shape[0])
        counts, starts = (
            np.append(np.diff(options.ends), 1),
            np.append(options.ends[:-1], 0),
        )  # ABSENT: the last
        for t in joined.free.tolist():
            leaf = tokens[:, t]
            times = counts[np.where(leaf >= 0, leaf, -1)]
            again = np.repeat(np.arange(unit.size), times)
            nth = np.arange(again.size) - np.repeat(np.cumsum(times) - times, times)
            unit, value, tokens, leaf = unit[again], value[again], tokens[again], leaf[again]
            at = starts[np.where(leaf >= 0, leaf, -1)] + nth
            if options.nodes.size:
                tokens[:, t] = np.where(leaf >= 0, options.nodes[at], leaf)
                value += np.where(leaf >= 0, options.values[at], 0.0)
            stays = np.flatnonzero(value < self.limit)
            if stays.size > MOST_SHOWN:  # fewer clauses are found then; labels are checked as a whole
                stays = np.sort(stays[np.argsort(value[stays], kind="stable")[:MOST_SHOWN]])
            unit, value, tokens = unit[stays], value[stays], tokens[stays]
        if joined.promise.presence == "ignored":
            tokens = np.where(tokens == LEFT_OUT, ABSENT, tokens)
            telling = (tokens != ABSENT).any(axis=1)
            unit, value, tokens = unit[telling], value[telling], tokens[telling]
        return unit, tokens, value

    def failing(self, size: int, *, limit: float | None = None, most: int = AT_MOST) -> Iterator[Failing]:
        """List failing sets of up to `size` classes, this many at a time."""
        marks = np.zeros(0, np.uint8)
        first = 0
        while first < self.values.size:
            out, owners = np.full((most, size), -1, np.int64), np.zeros(most, np.int64)
            found, first = self._walk(first, size, limit, out, owners, marks)
            if found:
                yield Failing(out[:found], owners[:found])

    def exposed(self, size: int) -> NDArray[np.bool_]:
        """Tell which rows have a failing set of up to `size` classes: bool (rows,)."""
        marks = np.zeros(self.joined.n_rows, np.uint8)
        first = 0
        while first < self.values.size:
            _, first = self._walk(
                first, size, None, np.zeros((0, size), np.int64), np.zeros(0, np.int64), marks
            )
        return marks.astype(bool)

    def _walk(
        self,
        first: int,
        size: int,
        limit: float | None,
        out: Ints,
        owners: Ints,
        marks: NDArray[np.uint8],
    ) -> tuple[int, int]:
        joined, n = self.joined, self.values.size
        is_old, old = earlier_releases(joined)
        found, following = walk(
            first, size, joined.promise.k, self.limit if limit is None else limit, self.values,
            self.class_ends, self.class_rows, self.owned_there, self.support, self.shown_ends, self.shown,
            self.owned, self.classes, self.needs, is_old, old, *joined.counting,
            np.zeros((size, joined.n_rows), np.int32), np.zeros((size, joined.n_rows), np.uint8),
            np.zeros((size, n), np.int64), np.full((size, n), -1, np.int64), np.zeros((size, n), np.int64),
            np.zeros(size * joined.tokens.shape[1], np.int64), np.zeros(size, np.int64), np.zeros(size),
            np.zeros((3, size), np.int64), out, owners, marks, STEPS,
        )  # fmt: skip
        return int(found), int(following)


def earlier_releases(joined: Joined) -> tuple[NDArray[np.uint8], int]:
    """Tell which releases are before the new one: uint8 (releases,), and their bits; 0 if there is none."""
    n = joined.tokens.shape[1]
    is_old = np.zeros(n, np.uint8)
    if joined.new <= 0:
        return is_old, 0
    is_old[: joined.new] = 1
    return is_old, (1 << joined.new) - 1
