"""Item-level rows drawn at random from all those that a release and its counts allow.

A draw deals items to the rows that show their labels, in agreement with counts.csv. It uses nothing but what
is published, so it reveals nothing new: it is one guess among very many, for any program for transaction
data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, GuaranteeError, shorten
from setveil.base.wording import count
from setveil.judges.reconstruction._loops import (
    State,
    deal_all,
    deal_lacking,
    draw_rows,
    mix,
    new_deal,
)
from setveil.kernels.rows import invert
from setveil.releases.published.counts import FILE as COUNTS
from setveil.releases.published.counts import Counts
from setveil.releases.published.recoding import LocalRecoding
from setveil.releases.published.shared import Shared
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

Ints = NDArray[np.int64]

_STEPS = 1 << 20  # of mixing between two signs of life
_MOST = 1 << 31  # occurrences of a draw


@dataclass(frozen=True, eq=False)
class LabelRows:
    """The rows that show a label, and what is known of its items."""

    rows: NDArray[np.int32]  # int32 (S,): the rows that show it, ascending
    items: Ints  # int64 (leaves,): the items that it stands for: positions in `Puzzle.items`, ascending
    supports: Ints  # int64 (leaves,): in how many of the rows each of them is; 0: counts.csv does not list it
    lacking: int  # how many occurrences of unlisted items the rows hold at least


@dataclass(frozen=True, eq=False)
class Puzzle:
    """All that a release and its counts say of the rows behind it."""

    shared: Shared
    counts: Counts
    items: tuple[str, ...]  # every item that may occur, in item order
    parts: tuple[LabelRows, ...]  # what rows show, label by label, in item order
    # Suppressed items that are listed, and their supports. A local recoding may suppress an item in some rows
    # only: these show no label that stands for it.
    hidden: tuple[tuple[int, int], ...]

    @property
    def listed(self) -> str:
        """Say what lists the rows of items."""
        return f"{count(len(self.counts.items), 'line')} of {COUNTS}"

    def draw(self, seed: int, mix: int, progress: Callable[[float], None]) -> Transactions:
        """Draw rows, and check them against all that is published."""
        rows = reconstruct(self, seed, mix, progress)
        require_consistent(self, rows)
        return rows

    @property
    def occurrences(self) -> int:
        """Number of (row, item) pairs of each draw under labels."""
        return sum(int(part.supports.sum()) + part.lacking for part in self.parts)


def puzzle_of(shared: Shared) -> Puzzle:
    """Take from a release what its rows must be."""
    counts = shared.counts
    if counts is None:
        raise DataError(
            "The release has no counts of items: nothing tells which item of a label is likelier, so that "
            "no rows of items can be drawn from it.",
            hint="Counts are published unless they were asked not to be, for models that allow them "
            "(km-anonymity, constraints, k-anonymity, kkm and mixed-km), and where nothing is sensitive.",
        )
    shown = {label: rows for label, rows in shared.supports().items() if rows}
    needed = {
        label: shown[label] - sum(counts.by_label.get(label, {}).values())
        for label in shared.others & {*shown}
    }
    shared = with_other_items(shared, needed, counts.least)
    members = {label: frozenset(shared.under(label)) for label in shown}
    _require_possible_lines(counts, shown, members, shared)
    _require_distinct(shared, members)
    hidden = counts.by_label.get("", {})
    items = item_order({*hidden, *(item for inside in members.values() for item in inside)})
    place = {item: i for i, item in enumerate(items)}
    if not items:
        raise DataError("The release shows no item, and its counts list none: there is nothing to draw.")
    starts, rows, _ = invert(shared.rows.indptr, shared.rows.items, shared.rows.n_items)
    parts = []
    for label in item_order(shown):
        inside = np.array(sorted(place[item] for item in members[label]), np.int64)
        listed = counts.by_label.get(label, {})
        supports = np.array([listed.get(items[i], 0) for i in inside.tolist()], np.int64)
        at = shared.rows.vocabulary.ids[label]
        lacking = _lacking(label, supports, shown[label], counts.least)
        parts.append(LabelRows(rows[starts[at] : starts[at + 1]], inside, supports, lacking))
    for item, number in hidden.items() if _is_local(shared) else ():
        _require_room(item, number, _bare_rows(place[item], parts, shared.rows.n_rows).size)
    puzzle = Puzzle(
        shared, counts, tuple(items), tuple(parts), tuple((place[item], s) for item, s in hidden.items())
    )
    if puzzle.occurrences + sum(hidden.values()) >= _MOST:
        raise DataError(f"{COUNTS} lists more than {_MOST:,} occurrences, more than a draw can contain.")
    return puzzle


def with_other_items(shared: Shared, lacking: Mapping[str, int], least: int) -> Shared:
    """Give labels the unlisted items that `lacking` occurrences need, each in fewer than `least` rows."""
    return shared.with_more({x: -(-max(n, 0) // max(least - 1, 1)) for x, n in lacking.items()})


def _is_local(shared: Shared) -> bool:
    """Return whether an item may be published under several labels, and suppressed in some rows only."""
    return bool(shared.about.get("recoding") == LocalRecoding.kind)


def _bare_rows(item: int, parts: Sequence[LabelRows], n_rows: int) -> NDArray[np.int32]:
    """List the rows that show no label of an item, ascending."""
    bare = np.ones(n_rows, bool)
    for part in parts:
        if item in part.items:
            bare[part.rows] = False
    return np.flatnonzero(bare).astype(np.int32)


def _require_room(item: str, number: int, bare: int) -> None:
    if number > bare:
        raise _contradiction(
            f"{shorten(item)} is listed as suppressed in {number:,} rows, but only {bare:,} rows show no "
            "label that represents it."
        )


def _require_possible_lines(
    counts: Counts, shown: dict[str, int], members: dict[str, frozenset[str]], shared: Shared
) -> None:
    """Refuse lines that the rows contradict."""
    n_rows = shared.rows.n_rows
    labelled = frozenset().union(*([] if _is_local(shared) else members.values()))
    seen: set[tuple[str, str]] = set()
    for number, (item, label, rows) in enumerate(counts.lines(), 2):
        where, name, under = f"{COUNTS}, line {number}", shorten(item), shorten(label)
        most = shown.get(label, 0) if label else n_rows
        wrong = ""
        if (item, label) in seen:
            wrong = f"the item {name} is listed under {under} a second time"
        elif label and not most:
            wrong = f"the item {name} is listed under {under}, which no row shows"
        elif label and item not in members[label]:
            wrong = f"the item {name} is listed under {under}, which does not represent it"
        elif not label and item in labelled:
            wrong = f"the item {name} is listed as suppressed, but a label that rows show represents it"
        elif not counts.least <= rows <= most:
            shows = f"that show {under}" if label else "of the release"
            wrong = (
                f"{name} is in {rows:,} rows, expected at least {counts.least:,} and at most the "
                f"{most:,} rows {shows}"
            )
        if wrong:
            raise _contradiction(f"{where}: {wrong}.")
        seen.add((item, label))


def _lacking(label: str, supports: Ints, n_rows: int, least: int) -> int:
    """Count the occurrences of unlisted items that the rows of a label need, so that each holds something."""
    lacking = max(n_rows - int(supports.sum()), 0)
    unlisted = int(np.count_nonzero(supports == 0))
    if lacking > unlisted * max(min(least - 1, n_rows), 0):
        raise _contradiction(
            f"{n_rows:,} rows show {shorten(label)}, but by {COUNTS} its items are in "
            f"{int(supports.sum()):,}, and {unlisted:,} more items of it are each in fewer than {least:,}."
        )
    return lacking


def _contradiction(message: str) -> DataError:
    return DataError(message, hint="Rows, about.json and counts.csv must come from the same release.")


def _require_distinct(shared: Shared, members: dict[str, frozenset[str]]) -> None:
    """Refuse a row that shows two labels of one item: nothing tells which of them an occurrence would be."""
    labels_of: dict[str, list[str]] = {}
    for label, inside in members.items():
        for item in inside:
            labels_of.setdefault(item, []).append(label)
    supports = shared.supports()
    others: dict[str, set[str]] = {}  # of each label those with an item of it that fewer rows show
    for labels in labels_of.values():
        by_rows = sorted(labels, key=lambda label: (-supports[label], label))
        for j, label in enumerate(by_rows[1:], 1):
            for wider in by_rows[:j]:
                others.setdefault(wider, set()).add(label)
    starts, rows, _ = invert(shared.rows.indptr, shared.rows.items, shared.rows.n_items)
    ids = shared.rows.vocabulary.ids
    shows = np.zeros(shared.rows.n_rows, bool)
    for wider, labels_within in others.items():
        span = slice(starts[ids[wider]], starts[ids[wider] + 1])
        shows[rows[span]] = True
        for label in sorted(labels_within):
            both = rows[starts[ids[label]] : starts[ids[label] + 1]]
            if shows[both].any():
                row = int(both[shows[both]][0])
                raise DataError(
                    f"Row {row} of the release shows {shorten(wider)} and {shorten(label)}, which represent "
                    "the same items: no recoding of single rows publishes an item twice in a row."
                )
        shows[rows[span]] = False


def reconstruct(
    puzzle: Puzzle, seed: int, mixing: int = 10, report: Callable[[float], None] = lambda done: None
) -> Transactions:
    """Draw rows of items, in the published order, that the release and every line of counts.csv allow.

    Label by label, in item order: occurrences that the rows lack go to unlisted items. All occurrences are
    shuffled, and the first of them go to the rows, one to each, so that none is empty; the rest of an item
    goes to random rows that lack it. The steps of mixing (`mix`), `mixing` times the label's occurrences,
    leave all deals equally likely, and lead from each deal to all others. Suppressed items that are listed go
    to random rows that show no label of theirs. The same puzzle, seed and mixing give the same rows on every
    platform.
    """
    state = np.random.PCG64(seed).random_raw(1)
    rows, items = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    whole = max(puzzle.occurrences, 1)
    done = 0

    def deal(part: LabelRows, supports: Ints) -> None:
        made = new_deal(supports, part.rows.size)
        deal_all(state, made, made.item.copy())
        steps = mixing * made.item.size
        for step in range(0, steps, _STEPS):
            mix(state, made, min(_STEPS, steps - step))
            report((done + made.item.size * step / steps) / whole)
        held = np.arange(made.item.size) - made.first[made.item] + made.starts[made.item]
        rows.append(part.rows[made.rows[held]].astype(np.int64))
        items.append(part.items[made.item])

    with np.errstate(over="ignore"):
        for part in puzzle.parts:
            report(done / whole)
            if part.items.size == 1:  # nothing to draw: all of these rows hold it
                rows.append(part.rows.astype(np.int64))
                items.append(np.full(part.rows.size, part.items[0]))
            else:
                deal(part, _completed(part, state, puzzle.counts.least))
            done += items[-1].size
        everywhere = np.arange(puzzle.shared.rows.n_rows, dtype=np.int32)
        labelled = set(
            np.concatenate([np.zeros(0, np.int64), *(part.items for part in puzzle.parts)]).tolist()
        )
        for item, number in puzzle.hidden:
            some = item in labelled
            order = _bare_rows(item, puzzle.parts, everywhere.size) if some else everywhere
            draw_rows(state, order, number)
            rows.append(order[:number].astype(np.int64))
            items.append(np.full(number, item))
    return _rows_of(puzzle, np.concatenate(rows), np.concatenate(items))


def _completed(part: LabelRows, state: State, least: int) -> Ints:
    """Draw the supports of unlisted items that the rows of a label need, next to those that are listed."""
    supports = part.supports.copy()
    deal_lacking(state, supports, np.flatnonzero(supports == 0), min(least - 1, part.rows.size), part.lacking)
    return supports


def _rows_of(puzzle: Puzzle, rows: Ints, items: Ints) -> Transactions:
    """Put pairs of a row and an item together."""
    n = puzzle.shared.rows.n_rows
    width = len(puzzle.items)
    keys = np.sort(rows * width + items)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(keys // width, minlength=n), out=indptr[1:])
    return Transactions.from_codes(indptr, (keys % width).astype(np.int32), puzzle.items)


def require_consistent(puzzle: Puzzle, drawn: Transactions) -> None:
    """Check rows against all that is published, by other means than those they were drawn by."""
    problem = _inconsistency(puzzle, drawn)
    if problem:
        raise GuaranteeError(
            f"The rows that were drawn contradict the release: {problem}. Nothing was written.",
            hint="This is a defect of setveil; please report it.",
        )


def _inconsistency(puzzle: Puzzle, drawn: Transactions) -> str:
    """Say what of the release is not true of some rows; empty if all is."""
    release, names = puzzle.shared.rows, drawn.vocabulary.labels
    labels = release.vocabulary.labels
    above: dict[str, list[int]] = {}
    for position, label in enumerate(labels):
        for item in dict.fromkeys(puzzle.shared.under(label)):
            above.setdefault(item, []).append(position)
    # Pairs of an item and a label that stands for it, and every occurrence beside each such pair of its item.
    pairs = [(item, to) for item, name in enumerate(names) for to in above.get(name, ())]
    image = np.array([to for _, to in pairs], np.int64)
    several = np.bincount(np.array([item for item, _ in pairs], np.int64), minlength=drawn.n_items)
    times = several[drawn.items]
    occurrence = np.repeat(np.arange(drawn.n_occurrences), times)
    nth = np.arange(occurrence.size) - np.repeat(np.cumsum(times) - times, times)
    pair = (np.cumsum(several) - several)[drawn.items[occurrence]] + nth
    # Of these, the ones whose label the row shows.
    cells = _row_numbers(release) * len(labels) + release.items
    wanted = _row_numbers(drawn)[occurrence] * len(labels) + image[pair]
    cell = np.minimum(np.searchsorted(cells, wanted), max(cells.size - 1, 0))
    there = cells[cell] == wanted if cells.size else np.zeros(0, bool)

    if drawn.n_rows != release.n_rows:
        return f"{drawn.n_rows:,} rows for {release.n_rows:,}"
    images = np.bincount(occurrence[there], minlength=drawn.n_occurrences)
    most_one = images.max(initial=0) <= 1 if _is_local(puzzle.shared) else np.array_equal(images, times > 0)
    if not most_one:
        return "a row contains an item but does not show its one label"
    if np.bincount(cell[there], minlength=cells.size).min(initial=1) == 0:
        return "a row shows a label but contains none of its items"
    rows = np.bincount(pair[there], minlength=len(pairs)).tolist()
    bare = np.bincount(drawn.items[images == 0], minlength=drawn.n_items).tolist()
    found = {(names[item], labels[to]): n for (item, to), n in zip(pairs, rows, strict=True) if n}
    found |= {(name, ""): n for name, n in zip(names, bare, strict=True) if n}
    listed = {(item, to): n for item, to, n in puzzle.counts.lines()}
    for key in sorted(found.keys() | listed.keys()):
        n = found.get(key, 0)
        if n != listed[key] if key in listed else (n >= puzzle.counts.least or not key[1]):
            return f"{shorten(key[0])} under {shorten(key[1])} is in {n:,} rows"
    return ""


def _row_numbers(rows: Transactions) -> Ints:
    """Row of each occurrence."""
    return np.repeat(np.arange(rows.n_rows), rows.row_lengths())
