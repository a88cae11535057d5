"""Expected numbers of rows that contain some items, from rows in classes and their counts.

Each class has the model of greatest entropy of `setveil.judges.utility.estimates`. The rest of an item's
total, beyond the lines of classes, is dealt to classes that do not list it, such that the rows of their
labels are filled (rules, bounds and an example in docs/classes.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten
from setveil.kernels.label_chances import label_chances
from setveil.kernels.rows import Ints, frozen
from setveil.releases.published._class_fitting import Free, fitted, paces
from setveil.releases.published._class_loops import answer_in_classes
from setveil.releases.published.class_counts import TOTAL, ClassCounts
from setveil.releases.published.class_rows import ClassRows

Floats = NDArray[np.float64]

ANY = 1 << 50  # more rows than there are
_AT_ONCE = 1 << 17  # items times classes that are looked at together
_REMEMBERED = 1 << 20  # pairs of labels whose rows are counted once for many queries
_EVEN = 1e-9  # of the rows of a label: less is rounding


class ClassAnswers(NamedTuple):
    """Answers to many queries, in their order."""

    estimate: Floats  # float64 (queries,)
    least: Ints
    greatest: Ints


@dataclass(frozen=True, eq=False)
class _Base:
    """Knowledge about some items in all classes, before totals are considered: (items, classes) each."""

    cell: Ints  # class and label; -1: left out, or not there
    size: Ints  # rows of the cell, or of the class
    listed: Ints  # rows of the line; -1: none
    most: Ints  # the most rows that an unlisted item can be in


@dataclass(frozen=True, eq=False)
class Cells:
    """The expectations for some items in all classes: (items, classes) each."""

    cell: Ints
    share: Floats
    low: Ints
    high: Ints


class ClassTable:
    """Items as a reader expects them, class by class; `items`, in item order, are those that the release has.

    A label without `members` represents itself; `others` may have unlisted members, which count as one more
    item. Without `counts`, all non-empty sets of a label's items are equally likely. An item about which
    nothing is published has `unlisted` expected rows in all classes together. `uncounted` items are
    sensitive: in no line or total, perhaps suppressed in single rows, so that queries cannot ask for them.
    """

    def __init__(
        self,
        rows: ClassRows,
        members: Mapping[str, Sequence[str]],
        counts: ClassCounts | None,
        unlisted: int = 0,
        uncounted: Collection[str] = (),
        others: Collection[str] = (),
    ) -> None:
        self.rows, self.members, self.counts = rows, members, counts
        labels = rows.vocabulary.labels
        self.of_class = frozen(rows.sizes, np.int64)
        self.n_classes = int(rows.sizes.size)
        names = dict.fromkeys(x for label in labels for x in members.get(label, (label,)))
        names |= dict.fromkeys(() if counts is None else counts.items)
        self.items = tuple(name for name in names if name not in uncounted)
        self.ids = {item: i for i, item in enumerate(self.items)}
        self.top = ANY if counts is None else min(counts.least - 1, ANY)
        self.published = np.ones(self.n_classes, bool)
        if counts is not None:
            self.published[list(counts.untold)] = False
        self._others = np.array([label in others for label in labels], bool)
        self._find_cells()
        self._place_lines()
        self._complete(unlisted)

    # --- what is published

    def _find_cells(self) -> None:
        """Find the pairs of a class and a label that it shows, and list the rows of each."""
        rows, n_labels = self.rows, max(self.rows.n_items, 1)
        of_row = np.repeat(np.arange(rows.n_rows, dtype=np.int32), rows.row_lengths())
        keys = rows.class_of_row[of_row] * n_labels + rows.items
        order = np.argsort(keys, kind="stable")
        self.keys, counts = np.unique(keys, return_counts=True)
        self.sizes: Ints = frozen(counts, np.int64)
        self.starts = frozen(np.concatenate(([0], np.cumsum(counts))), np.int64)
        self.holders = frozen(of_row[order], np.int32)
        self.class_of_cell, label_of_cell = np.divmod(self.keys, n_labels)
        self.cell_starts = frozen(
            np.searchsorted(self.class_of_cell, np.arange(self.n_classes + 1)), np.int64
        )
        under = [
            np.array([self.ids[x] for x in self.members.get(label, (label,)) if x in self.ids], np.int64)
            for label in rows.vocabulary.labels
        ]
        # The last place is that of items which the release does not name.
        self.cell = np.full((self.n_classes, len(self.items) + 1), -1, np.int32)
        self.n_members = np.zeros(self.keys.size, np.int64)
        self.more = self._others[label_of_cell] if self.keys.size else np.zeros(0, bool)
        for number, (c, label) in enumerate(
            zip(self.class_of_cell.tolist(), label_of_cell.tolist(), strict=True)
        ):
            inside = under[label]
            taken = self.cell[c, inside] >= 0
            if taken.any():
                item = self.items[int(inside[np.argmax(taken)])]
                raise DataError(
                    f"Class {c} shows two labels that represent {shorten(item)}, expected one at most.",
                    hint="The files must come from the same release; `setveil verify` checks them.",
                )
            self.cell[c, inside] = number
            self.n_members[number] = inside.size + self.more[number]

    def _place_lines(self) -> None:
        n = len(self.items)
        self.total = np.full(n + 1, -1, np.int64)
        lines = [] if self.counts is None else self.counts.lines()
        own = [(self.ids[item], c, s, label) for c, item, label, s in lines if c != TOTAL]
        for c, item, _, s in lines:
            if c == TOTAL:
                self.total[self.ids[item]] = s
        for i, c, s, label in own:
            size = int(self.sizes[self.cell[c, i]]) if self.cell[c, i] >= 0 else int(self.of_class[c])
            if s > size or bool(label) != (self.cell[c, i] >= 0):
                raise DataError(
                    f"The counts contradict the published rows: in class {c} {shorten(self.items[i])} is "
                    f"counted in {s:,} rows, but {size:,} can be.",
                    hint="The files must come from the same release; `setveil verify` checks them.",
                )
        own.sort(key=lambda line: line[:2])
        self.line_item = np.array([line[0] for line in own], np.int64)
        self.line_class = np.array([line[1] for line in own], np.int64)
        self.line_rows = np.array([line[2] for line in own], np.int64)
        self.line_starts = np.searchsorted(self.line_item, np.arange(n + 2))
        self.listed_rows = np.bincount(self.line_item, weights=self.line_rows, minlength=n + 1).astype(
            np.int64
        )

    # --- what follows from it

    def _pieces(self) -> Iterable[Ints]:
        step = max(1, _AT_ONCE // self.n_classes)
        for first in range(0, len(self.items), step):
            yield np.arange(first, min(first + step, len(self.items)))

    def _base(self, items: Ints) -> _Base:
        cell = self.cell[:, items].T.astype(np.int64)
        size = np.where(cell >= 0, self._at(self.sizes, cell), self.of_class)
        listed = np.full(cell.shape, -1, np.int64)
        starts, ends = self.line_starts[items], self.line_starts[items + 1]
        lengths = ends - starts
        at = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(
            lengths.sum()
        )
        listed[np.repeat(np.arange(items.size), lengths), self.line_class[at]] = self.line_rows[at]
        hidden = np.where(self.published, np.minimum(self.top, self.of_class), self.of_class)
        nowhere = ~self.published & (self.total[items] >= 0)[:, None]
        most = np.where(cell >= 0, np.minimum(self.top, size), np.where(nowhere, 0, hidden))
        return _Base(cell, size, listed, np.where(listed >= 0, listed, most))

    def _at(self, values: NDArray[Any], cell: Ints) -> NDArray[Any]:
        """Take what cells have; anything where there is no cell."""
        return values[cell] if values.size else np.zeros(cell.shape, values.dtype)

    def _sum(self, cell: Ints, values: NDArray[Any]) -> Floats:
        """Add up values over cells."""
        there = cell >= 0
        found: Any = np.bincount(cell[there], weights=values[there], minlength=self.keys.size)
        return np.asarray(found, np.float64)

    def _complete(self, unlisted: int) -> None:
        """Find what is expected of unlisted items, the chances of labels, and bounds."""
        n, cells = len(self.items), self.keys.size
        every = [*self._pieces(), np.array([n])]  # the last: of items that the release does not name
        self.reach_low, self.reach_high = np.zeros(n + 1, np.int64), np.full(n + 1, ANY, np.int64)
        self.pace = np.zeros(n + 1)  # share of the room that an item's rest takes in each class
        self.factor = np.ones(cells + 1)  # by which it is more or less under a label; the last: under none
        self.cell_most: Floats = np.zeros(cells)
        self.lines: Floats = np.zeros(cells)
        rests = np.zeros(n + 1)
        for items in every:
            base = self._base(items)
            self._reach(items, base)
            rests[items] = self._rests(items, base, unlisted)
            self.pace[items] = paces(rests[items], *self._free(base))
            self.cell_most += self._sum(base.cell, base.most)
            self.lines += self._sum(base.cell, np.maximum(base.listed, 0))
        self.cell_most[self.more] += ANY
        self.level = np.zeros(cells)
        if self.counts is None:
            self._uniform()
        else:
            self._raise()
            if self.n_classes > 1 and (self.level > 0).any():
                self._fit(rests)
            self._find_chances()
        self.all_low, self.all_high = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        for items in every:
            base = self._base(items)
            low = self._lowest(base)
            self.all_low[items], self.all_high[items] = low.sum(1), base.most.sum(1)
        most: Floats = np.zeros(cells)
        for items in self._pieces():
            base = self._base(items)
            most += self._sum(base.cell, self._bounds(items, base)[1])
        most[self.more] = ANY
        self.room = frozen(np.minimum(most, ANY).astype(np.int64) - self.sizes, np.int64)

    def _reach(self, items: Ints, base: _Base) -> None:
        """Find the fewest and the most rows that items can be in, by their totals or the lack of these."""
        if self.counts is None:
            return
        total, listed = self.total[items], self.listed_rows[items]
        able = (self.published | (base.cell >= 0)).all(1)
        low = np.where(total >= 0, total, np.where(able & (listed > 0), listed + 1, 0))
        self.reach_low[items] = low
        self.reach_high[items] = np.where(total >= 0, total, np.where(able, listed + self.top, ANY))

    def _rests(self, items: Ints, base: _Base, unlisted: int) -> Floats:
        """Say what each item has to be dealt to classes that do not list it."""
        if self.counts is None:
            return np.zeros(items.size)
        total, listed = self.total[items], self.listed_rows[items]
        able = (self.published | (base.cell >= 0)).all(1)
        half = (self.top + 1) / 2
        return np.where(total >= 0, total - listed, np.where(able & (listed > 0), half, unlisted))

    def _free(self, base: _Base) -> tuple[Ints, Ints]:
        """Say what room items have where they are not listed, and the most rows."""
        free = (base.listed < 0) & (base.most > 0)
        return np.where(free, base.size, 0), np.where(free, base.most, 0)

    def _dealt(self, items: Ints, base: _Base) -> Floats:
        """Say what is dealt of the rests of items to classes that do not list them."""
        rows = np.minimum(base.most, self.pace[items][:, None] * base.size * self.factor[base.cell])
        return np.where(base.listed < 0, rows, 0.0)

    def _raise(self) -> None:
        """Find the level up to which unlisted items are raised where the rows of a label are not full."""
        cells = self.keys.size
        several: list[tuple[Ints, Floats]] = []  # cells and rows of unlisted items that are expected in some
        self.waiting = self.more.astype(np.int64)  # how many unlisted items of a cell are not
        self.dealt = np.zeros(cells)
        for items in self._pieces():
            base = self._base(items)
            rows = self._dealt(items, base)
            under = (base.listed < 0) & (base.cell >= 0)
            some = under & (rows > 0)
            self.dealt += self._sum(base.cell, rows)
            several.append((base.cell[some], rows[some]))
            self.waiting += np.bincount(base.cell[under & (rows == 0)], minlength=cells)
        cell = np.concatenate([np.zeros(0, np.int64), *(part for part, _ in several)])
        rows = np.concatenate([np.zeros(0), *(part for _, part in several)])
        order = np.lexsort((rows, cell))
        self.several = cell, rows = cell[order], rows[order]
        bounds = np.searchsorted(cell, np.arange(cells + 1))
        lack = self.sizes - self.lines - self.dealt
        self.level = np.zeros(cells)
        self.open = (lack > _EVEN * self.sizes) & (self.waiting + np.diff(bounds) > 0)
        for at in np.flatnonzero(self.open).tolist():
            first, last = bounds[at : at + 2].tolist()
            self.level[at] = _raised(rows[first:last], int(self.waiting[at]), float(lack[at]))

    def _fit(self, rests: Floats) -> None:
        """Deal rests: fill labels before others are raised, unknown items to at most one row each."""
        parts = []
        for items in self._pieces():
            base = self._base(items)
            room, most = self._free(base)
            raised = np.where((room > 0) & (base.cell >= 0), self._at(self.level, base.cell), 0.0).sum(1)
            unknown = (rests[items] == 0) & (self.total[items] < 0)
            rests[items] = np.where(unknown, np.minimum(raised, 1.0), rests[items])
            some = rests[items] > 0
            parts.append(
                Free(items[some], *(part[some].astype(np.int32) for part in (base.cell, room, most)))
            )
        pace, self.factor = fitted(parts, rests, np.float64(self.sizes) - self.lines)
        known = np.concatenate([part.items for part in parts])
        self.pace[known] = pace[known]
        self._raise()

    def _uniform(self) -> None:
        """Take all non-empty sets of a label's items as equally likely."""
        self.chances = 1 - 0.5 ** self.n_members.astype(np.float64)
        self.level = self.sizes * 0.5 / np.maximum(self.chances, 0.5)

    def _find_chances(self) -> None:
        """Find q of each label."""
        cells = self.keys.size
        cell, rows = self.several
        rows = np.maximum(rows, self.level[cell])
        raised = np.flatnonzero((self.level > 0) & (self.waiting > 0))
        line_cell = self.cell[self.line_class, self.line_item]
        under = line_cell >= 0
        every = np.concatenate([line_cell[under], cell, raised])
        share = np.concatenate([self.line_rows[under], rows, self.level[raised]])
        times = np.concatenate([np.ones(int(under.sum()) + cell.size), self.waiting[raised]])
        excess = np.where(self.open, 0.0, self.lines + self.dealt - self.sizes)
        excess = np.where(excess > _EVEN * self.sizes, excess, 0.0)
        order = np.argsort(every, kind="stable")
        bounds = np.searchsorted(every[order], np.arange(cells + 1))
        self.chances = np.ones(cells)
        share = np.minimum(share, self.sizes[every])[order] if cells else share
        label_chances(
            frozen(bounds[:-1], np.int64), frozen(bounds[1:], np.int64), frozen(share, np.float64),
            frozen(times[order], np.int64), self.sizes, frozen(excess, np.float64), self.chances,
        )  # fmt: skip

    def _lowest(self, base: _Base) -> Ints:
        """Find the fewest rows of items: the rest that the other items of their labels cannot fill."""
        others = self._at(self.cell_most, base.cell) - base.most
        low = np.where(base.cell >= 0, np.maximum(0, base.size - others), 0).astype(np.int64)
        return np.where(base.listed >= 0, base.listed, low)

    def _bounds(self, items: Ints, base: _Base) -> tuple[Ints, Ints]:
        low = self._lowest(base)
        most_below = self.reach_high[items][:, None] - (self.all_low[items][:, None] - low)
        least_above = self.reach_low[items][:, None] - (self.all_high[items][:, None] - base.most)
        return np.maximum(low, least_above), np.minimum(base.most, most_below)

    # --- answers

    def cells_of(self, items: Ints) -> Cells:
        """Say what is expected of items, by their numbers: (items, classes) each."""
        base = self._base(items)
        low, high = self._bounds(items, base)
        rows = self._dealt(items, base)
        rows = np.where(base.cell >= 0, np.maximum(rows, self._at(self.level, base.cell)), rows)
        rows = np.where(base.listed >= 0, base.listed, np.minimum(rows, base.size))
        share = rows / np.maximum(base.size, 1)
        return Cells(base.cell, share, low, high)

    def number_of(self, name: str) -> int:
        """Find the number of an item; those that the release does not name share the last."""
        return self.ids.get(name, len(self.items))

    def answers_at(self, indptr: Ints, numbers: Ints, *, class_: int | None = None) -> ClassAnswers:
        """Answer queries by the numbers of their items, which differ within each; perhaps in one class alone.

        Then labels may be named as well: a number beyond those of items is that of a label.
        """
        used, places = np.unique(numbers, return_inverse=True)
        outside = used > len(self.items)
        cells = self.cells_of(np.where(outside, len(self.items), used))
        parts = [np.ascontiguousarray(part.T) for part in (cells.cell, cells.share, cells.low, cells.high)]
        for at in np.flatnonzero(outside).tolist():
            self._show_label(parts, at, int(used[at]) - len(self.items) - 1)
        first, last = (0, self.n_classes) if class_ is None else (class_, class_ + 1)
        n = indptr.size - 1
        found = ClassAnswers(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64))
        answer_in_classes(
            frozen(indptr, np.int64), frozen(places.ravel(), np.int64), first, last,
            frozen(parts[0], np.int64), frozen(parts[1], np.float64), frozen(parts[2], np.int64),
            frozen(parts[3], np.int64), frozen(~outside, np.bool_), self.sizes, self.of_class,
            frozen(self.chances, np.float64), self.room, self.starts, self.holders, self.cell_starts,
            np.empty(min(n, _REMEMBERED), np.int64), *found,
        )  # fmt: skip
        estimate, least, greatest = found
        if class_ is None:
            reach = np.append(self.reach_high, np.full(self.rows.n_items, ANY))[numbers]
            of = np.repeat(np.arange(n), np.diff(indptr))
            np.minimum.at(greatest, of, reach)
            single = np.flatnonzero(np.diff(indptr) == 1)
            alone = np.minimum(numbers[indptr[single]], len(self.items))
            listed = self.total[alone] >= 0
            single, alone = single[listed], alone[listed]
            estimate[single] = self.total[alone]
            least[single] = greatest[single] = self.total[alone]
        return ClassAnswers(np.clip(estimate, least, np.maximum(least, greatest)), least, greatest)

    def _show_label(self, parts: Sequence[NDArray[Any]], at: int, label: int) -> None:
        """Let a place represent the rows that show a label."""
        keys = np.arange(self.n_classes) * max(self.rows.n_items, 1) + label
        found = np.searchsorted(self.keys, keys)
        there = self._at(self.keys, np.minimum(found, max(self.keys.size - 1, 0))) == keys
        size = np.where(there, self._at(self.sizes, np.minimum(found, max(self.keys.size - 1, 0))), 0)
        parts[0][:, at] = np.where(there, found, -1)
        parts[1][:, at] = there
        parts[2][:, at] = np.where(there, size, 0)
        parts[3][:, at] = size


def _raised(rows: Floats, nothing: int, lack: float) -> float:
    """Find the level to which the lowest of ascending `rows`, and `nothing` zeros, rise to gain `lack`."""
    total = 0.0
    for at, value in enumerate([*rows.tolist(), np.inf]):
        number = nothing + at
        if number and (total + lack) / number <= value:
            return float((total + lack) / number)
        total += value
    return 0.0
