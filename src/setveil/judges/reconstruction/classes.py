"""Item-level rows drawn from rows in classes: every line of every class and every total is exact in each.

Supports of unlisted items are settled first, at random, so that they agree with all totals and fill the rows
of all labels; then each class is drawn by itself (see `setveil.judges.reconstruction.reconstruct`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import cast

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, GuaranteeError, shorten
from setveil.base.wording import count
from setveil.judges.reconstruction.reconstruct import LabelRows, Puzzle, reconstruct, with_other_items
from setveil.kernels.rows import frozen, invert
from setveil.releases.published.class_counts import TOTAL, ClassCounts
from setveil.releases.published.class_rows import ClassRows
from setveil.releases.published.counts import FILE as COUNTS
from setveil.releases.published.counts import Counts
from setveil.releases.published.shared import Shared
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

_NO_LIMIT = 1 << 60


@dataclass(eq=False)
class _Label:
    """A label of a class: its rows, its items, and what its lines leave of its rows."""

    number: int  # of the class
    label: str
    rows: NDArray[np.int32]
    items: tuple[str, ...]  # in item order
    listed: dict[str, int]
    need: int
    most: int  # rows of an unlisted item
    assigned: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ClassPuzzle:
    """All that a release in classes and its counts say of the rows behind it."""

    shared: Shared
    counts: ClassCounts
    items: tuple[str, ...]  # every item that may occur, in item order
    labels: tuple[_Label, ...]
    hidden: tuple[dict[str, int], ...]  # of each class the suppressed items that are listed
    parts: tuple[Shared, ...]  # each class by itself

    @property
    def rows(self) -> ClassRows:
        """The published rows."""
        return cast(ClassRows, self.shared.rows)

    @property
    def listed(self) -> str:
        """Say what lists the rows of items."""
        return f"{count(len(self.counts.items), 'line')} of {COUNTS}"

    def draw(self, seed: int, mix: int, progress: Callable[[float], None]) -> Transactions:
        """Draw rows, and check them against all that is published."""
        rows = reconstruct_classes(self, seed, mix, progress)
        require_consistent_classes(self, rows)
        return rows

    @property
    def occurrences(self) -> int:
        """Number of (row, item) pairs under labels, at least."""
        return sum(sum(one.listed.values()) + max(one.need, 0) for one in self.labels)


def class_puzzle_of(shared: Shared) -> ClassPuzzle:
    """Take from a release in classes what its rows must be."""
    counts: ClassCounts | None = shared.counts
    rows = cast(ClassRows, shared.rows)
    if counts is None:
        raise DataError(
            "The release has no counts of items: nothing tells which item of a label is likelier, so that "
            "no rows of items can be drawn from it.",
            hint="Counts are published unless they were asked not to be (--no-counts).",
        )
    lines: list[dict[str, tuple[str, int]]] = [{} for _ in rows.sizes]
    for number, item, label, n in counts.lines():
        if number != TOTAL:
            lines[number][item] = label, n
    shared = with_other_items(shared, _lacking(shared, rows, lines), counts.least)
    names = {x for label in rows.vocabulary.labels for x in shared.under(label)}
    items = item_order(names | set(counts.items))
    place = {item: i for i, item in enumerate(items)}
    labels: list[_Label] = []
    parts = []
    for number, own in enumerate(lines):
        part = rows.rows_of(number)
        parts.append(replace(shared, rows=part, counts=_as_counts(own, counts.least)))
        starts, holders, _ = invert(part.indptr, part.items, part.n_items)
        seen: set[str] = set()
        for at, label in enumerate(part.vocabulary.labels):
            inside = holders[starts[at] : starts[at + 1]]
            if not inside.size:
                continue
            under = tuple(sorted(shared.under(label), key=place.__getitem__))
            listed = {item: own[item][1] for item in under if item in own}
            if len(under) == 1 and not shared.uncounted.isdisjoint(under):
                listed = {under[0]: int(inside.size)}  # a sensitive item is in all rows that show it
            wrong = next((item for item in under if item in seen), "") or next(
                (
                    item
                    for item, n in listed.items()
                    if item in own and (own[item][0] != label or n > inside.size)
                ),
                "",
            )
            if wrong:
                raise _contradiction(f"in class {number}, {shorten(wrong)} under {shorten(label)}")
            seen.update(under)
            need = int(inside.size) - sum(listed.values())
            most = min(counts.least - 1, int(inside.size))
            labels.append(_Label(number, label, inside, under, listed, need, most))
        for item, (label, n) in own.items():
            if (label and item not in seen) or (not label and item in seen) or n > part.n_rows:
                raise _contradiction(f"in class {number}, the line of {shorten(item)}")
    hidden = tuple({item: n for item, (label, n) in own.items() if not label} for own in lines)
    if not items:
        raise DataError("The release shows no item, and its counts list none: there is nothing to draw.")
    return ClassPuzzle(shared, counts, tuple(items), tuple(labels), hidden, tuple(parts))


def _lacking(shared: Shared, rows: ClassRows, lines: list[dict[str, tuple[str, int]]]) -> dict[str, int]:
    """Count, class by class, the occurrences that labels with unlisted items need beyond the lines."""
    lacking = dict.fromkeys(shared.others, 0)
    for number, own in enumerate(lines):
        part = rows.rows_of(number)
        for label, size in zip(part.vocabulary.labels, part.supports().tolist(), strict=True):
            if label in lacking and size:
                listed = sum(n for of, n in own.values() if of == label)
                lacking[label] += max(size - listed, 0)
    return lacking


def _as_counts(own: dict[str, tuple[str, int]], least: int) -> Counts:
    return Counts.from_lines([(item, *line) for item, line in own.items()], least, suppressed=True)


def _contradiction(found: str) -> DataError:
    return DataError(
        f"The counts contradict the published rows: {found}.",
        hint="The files must come from the same release; `setveil verify` checks them.",
    )


class _Settling:
    """Settles the rows of unlisted items, in an order drawn by the seed."""

    def __init__(self, puzzle: ClassPuzzle, random: Random) -> None:
        self.puzzle, self.random = puzzle, random
        counts, g = puzzle.counts, len(puzzle.parts)
        self.labels = [replace(one, assigned={}) for one in puzzle.labels]
        self.takers: dict[str, list[_Label]] = {}
        self.hidden: list[dict[str, int]] = [{} for _ in range(g)]  # unlisted ones that were left out
        published = [number not in counts.untold for number in range(g)]
        shown: list[set[str]] = [set() for _ in range(g)]
        for one in self.labels:
            shown[one.number].update(one.items)
        listed: dict[str, int] = {}
        for number, item, _, n in counts.lines():
            if number != TOTAL:
                listed[item] = listed.get(item, 0) + n
        able = {
            item: all(t or item in s for t, s in zip(published, shown, strict=True)) for item in puzzle.items
        }
        self.least: dict[str, int] = {}
        self.left: dict[str, int] = {}
        for item in puzzle.items:
            if item in counts.totals:
                self.left[item] = self.least[item] = counts.totals[item] - listed.get(item, 0)
            else:
                self.left[item] = counts.least - 1 if able[item] else _NO_LIMIT
                self.least[item] = 1 if able[item] and item in listed else 0
        self.room: dict[str, list[int]] = {}  # classes that may have left an item out, and do not list it
        for item in puzzle.items:
            self.room[item] = [
                c for c in range(g) if published[c] and item not in shown[c] and item not in puzzle.hidden[c]
            ]

    def settle(self) -> None:
        """Fill the rows of all labels, then deal what totals leave."""
        order = [one for one in self.labels if one.need > 0]
        self.random.shuffle(order)
        order.sort(key=lambda one: (len(one.items) - len(one.listed)) * one.most - one.need)
        for one in order:
            free = [item for item in one.items if item not in one.listed]
            self.random.shuffle(free)
            one.need = self._spread(one, free)
        for one in order:
            while one.need > 0:
                if not self._supply(one, set()):
                    raise _contradiction(
                        f"with all lines and totals too few rows of class {one.number} can show "
                        f"{shorten(one.label)}"
                    )
                one.need -= 1
        labels_of: dict[str, list[_Label]] = {}
        for one in self.labels:
            for item in one.items:
                if item not in one.listed:
                    labels_of.setdefault(item, []).append(one)
        for item, least in self.least.items():
            assigned = sum(one.assigned.get(item, 0) for one in labels_of.get(item, ()))
            for _ in range(least - assigned):
                self._put(item, labels_of.get(item, []))

    def _spread(self, one: _Label, free: list[str]) -> int:
        """Take what is needed of random items, one after the other; what is still lacking."""
        need = one.need
        while need and free:
            still = []
            for item in free:
                if not need:
                    break
                if self.left[item] > 0 and one.assigned.get(item, 0) < one.most:
                    self._give(one, item)
                    self.left[item] -= 1
                    need -= 1
                    still.append(item)
            free = still
        return need

    def _give(self, one: _Label, item: str) -> None:
        if item not in one.assigned:
            one.assigned[item] = 0
            self.takers.setdefault(item, []).append(one)
        one.assigned[item] += 1

    def _supply(self, one: _Label, seen: set[str]) -> bool:
        """Bring one occurrence more to a label, if need be by moving others."""
        for item in one.items:
            if item in one.listed or item in seen or one.assigned.get(item, 0) >= one.most:
                continue
            if self.left[item] > 0:
                self.left[item] -= 1
                self._give(one, item)
                return True
            seen.add(item)
            for other in list(self.takers.get(item, ())):
                if other.assigned[item] > 0 and other is not one and self._supply(other, seen):
                    other.assigned[item] -= 1
                    self._give(one, item)
                    return True
        return False

    def _put(self, item: str, labels: list[_Label]) -> None:
        """Put an occurrence that a total demands into a random class with room."""
        counts = self.puzzle.counts
        places: list[_Label | int] = [one for one in labels if one.assigned.get(item, 0) < one.most]
        for c in self.room[item]:
            n = self.puzzle.parts[c].rows.n_rows
            if self.hidden[c].get(item, 0) < min(counts.least - 1, n):
                places.append(c)
        if not places:
            raise _contradiction(f"the total of {shorten(item)} is more than its classes can contain")
        place = self.random.choice(places)
        if isinstance(place, int):
            self.hidden[place][item] = self.hidden[place].get(item, 0) + 1
        else:
            self._give(place, item)


def reconstruct_classes(
    puzzle: ClassPuzzle, seed: int, mixing: int = 10, report: Callable[[float], None] = lambda done: None
) -> Transactions:
    """Draw rows of items, as many as published and in the same order (see `reconstruct`)."""
    random = Random(seed)  # noqa: S311  (nothing secret is drawn)
    settling = _Settling(puzzle, random)
    settling.settle()
    place = {item: i for i, item in enumerate(puzzle.items)}
    seeds = np.random.PCG64(seed).random_raw(len(puzzle.parts)).tolist()
    by_class: list[list[_Label]] = [[] for _ in puzzle.parts]
    for one in settling.labels:
        by_class[one.number].append(one)
    drawn = []
    for number, part in enumerate(puzzle.parts):
        report(number / len(puzzle.parts))
        labels = []
        for one in by_class[number]:
            supports = [one.listed.get(item, one.assigned.get(item, 0)) for item in one.items]
            kept = [(place[item], n) for item, n in zip(one.items, supports, strict=True) if n]
            labels.append(
                LabelRows(
                    one.rows, np.array([at for at, _ in kept], np.int64),
                    np.array([n for _, n in kept], np.int64), 0,
                )
            )  # fmt: skip
        hidden = puzzle.hidden[number] | settling.hidden[number]
        counts: Counts = part.counts
        alone = Puzzle(
            part, counts, puzzle.items, tuple(labels), tuple((place[item], n) for item, n in hidden.items())
        )
        drawn.append(reconstruct(alone, int(seeds[number]), mixing))
    return _joined(drawn, puzzle.items)


def _joined(parts: list[Transactions], items: tuple[str, ...]) -> Transactions:
    """Put the rows of all classes behind each other."""
    place = {item: i for i, item in enumerate(items)}
    codes = [
        np.array([place[x] for x in part.vocabulary.labels], np.int64)[part.items]
        if part.n_items
        else np.zeros(0, np.int64)
        for part in parts
    ]
    lengths = np.concatenate([np.zeros(0, np.int64), *(part.row_lengths() for part in parts)])
    indptr = frozen(np.concatenate(([0], np.cumsum(lengths))), np.int64)
    return Transactions.from_codes(indptr, np.concatenate([np.zeros(0, np.int64), *codes]), items)


def require_consistent_classes(puzzle: ClassPuzzle, drawn: Transactions) -> None:
    """Check rows against all that is published, by other means than those they were drawn by."""
    problem = _inconsistency(puzzle, drawn)
    if problem:
        raise GuaranteeError(
            f"The rows that were drawn contradict the release: {problem}. Nothing was written.",
            hint="This is a defect of setveil; please report it.",
        )


def _inconsistency(puzzle: ClassPuzzle, drawn: Transactions) -> str:
    published, counts = puzzle.rows, puzzle.counts
    if drawn.n_rows != published.n_rows:
        return f"{drawn.n_rows:,} rows for {published.n_rows:,}"
    label_of: list[dict[str, str]] = [{} for _ in puzzle.parts]
    for one in puzzle.labels:
        label_of[one.number].update(dict.fromkeys(one.items, one.label))
    found: dict[tuple[int, str], int] = {}
    classes = published.class_of_row.tolist()
    for number, row, shown in zip(classes, drawn.rows(), published.rows(), strict=True):
        own = label_of[number]
        if {own[item] for item in row if item in own} != set(shown):
            return f"a row of class {number} does not show its labels"
        for item in row:
            found[number, item] = found.get((number, item), 0) + 1
            found[TOTAL, item] = found.get((TOTAL, item), 0) + 1
    listed = {(number, item): n for number, item, _, n in counts.lines()}
    for key, n in listed.items():
        if found.get(key, 0) != n:
            return f"{shorten(key[1])} is in {found.get(key, 0):,} rows where {n:,} are listed"
    for (number, item), n in found.items():
        if item in puzzle.shared.uncounted:
            continue
        sure = number != TOTAL and (number not in counts.untold or item in label_of[number])
        if sure and (number, item) not in listed and n >= counts.least:
            return f"{shorten(item)} is in {n:,} rows of class {number}, which would be listed"
    return ""
