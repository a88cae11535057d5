"""Rows of each label with each of its items, according to a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten
from setveil.kernels.label_chances import label_chances
from setveil.kernels.rows import Ints, frozen
from setveil.releases.published.shared import SharedSums

_ANY = 1 << 62


@dataclass(eq=False)
class LabelPlaces:
    """Places of items, under labels or suppressed; places of one label are consecutive.

    The last label is none: suppressed items are under it, in any row, independently of everything else.
    """

    # The places of each item that the release names. Each of its occurrences is in one of them.
    of: dict[str, tuple[int, ...]]
    # the place that stands for any item of a label; none of a local recoding, where items of a label may be
    # in rows that do not show it
    of_label: dict[str, int]
    # label, share, low, high, is_item: of each place: its label; the share of the label's rows that are
    # thought to hold the item there; the fewest and the most rows that can; whether it is an item's. The last
    # place is that of items which the release does not name.
    label: Ints
    share: NDArray[np.float64]
    low: Ints
    high: Ints
    is_item: NDArray[np.bool_]
    # sizes, chances, room: of each label: its rows; the chance that a row of independent items is not empty
    # (see `label_chances`); the occurrences there may be at most beyond one in each row
    sizes: Ints
    chances: NDArray[np.float64]
    room: Ints
    # of labels with items that have no name, the place that stands for any of them
    rest: dict[int, int]

    def standing(self, name: str) -> tuple[int, ...]:
        """List the places of an item, or of a label; those that the release does not name share one."""
        found = self.of.get(name)
        return (self.of_label.get(name, self.label.size - 1),) if found is None else found

    def only(self, names: Sequence[str]) -> Ints:
        """Find the place of each name that has one alone; -1 for those that have several."""
        found = [self.standing(name) for name in names]
        return np.array([places[0] if len(places) == 1 else -1 for places in found], np.int64)


@dataclass
class _Listing:
    """Places while they are collected."""

    of: dict[str, list[int]] = field(default_factory=dict)
    label: list[int] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def add(self, item: str, label: int, rows: float, low: int, high: int) -> None:
        self.of.setdefault(item, []).append(len(self.label))
        self.add_nameless(label, rows, low, high)

    def add_nameless(self, label: int, rows: float, low: int, high: int, times: int = 1) -> None:
        self.label.append(label)
        self.rows.append(rows)
        self.low.append(low)
        self.high.append(high)
        self.times.append(times)


def places_in(shared: SharedSums, labels: Mapping[str, int], sizes: Ints, unlisted: int) -> LabelPlaces:
    """Find the places of all items, with estimates and bounds of their rows.

    Items without a count, of at least `unlisted` rows each, share what the listed ones leave of their label's
    rows. Without counts all non-empty sets of a label's items are equally likely, so each item has the share
    2^(s-1) / (2^s - 1): the same model. `labels` are numbered from 0; `sizes`: int64 (labels + 1,), rows;
    last, all.
    """
    none = len(labels)
    listing = _Listing()
    spans = _list_labels(listing, shared, labels, sizes, unlisted)
    _list_suppressed(listing, shared, none, int(sizes[-1]), unlisted)

    of_label = {label: place for label, place in spans.of_label.items() if label not in listing.of}
    label_of, rows_of = frozen(listing.label, np.int64), frozen(listing.rows, np.float64)
    if shared.counts is not None:
        begins, ends = frozen(spans.begins, np.int64), frozen(spans.ends, np.int64)
        times = frozen(listing.times, np.int64)
        label_chances(begins, ends, rows_of, times, sizes, frozen(spans.excess, np.int64), spans.chances)
    is_item = np.ones(label_of.size, bool)
    is_item[list(of_label.values())] = False
    return LabelPlaces(
        {item: tuple(found) for item, found in listing.of.items()},
        of_label,
        label_of,
        frozen(rows_of / np.maximum(sizes[label_of], 1), np.float64),
        frozen(listing.low, np.int64),
        frozen(listing.high, np.int64),
        frozen(is_item, np.bool_),
        sizes,
        frozen(spans.chances, np.float64),
        frozen(spans.room, np.int64),
        spans.rest,
    )


class _LabelSpans(NamedTuple):
    """The consecutive places of each label, and what its counts leave open."""

    begins: Ints  # int64 (labels,)
    ends: Ints  # int64 (labels,)
    excess: Ints  # int64 (labels,): occurrences that there are at least beyond one in each row
    room: Ints  # int64 (labels + 1,): occurrences that there may be at most beyond one in each row
    chances: NDArray[np.float64]  # float64 (labels + 1,): see `LabelPlaces`
    of_label: dict[str, int]  # the place that stands for any item of a label
    rest: dict[int, int]  # the place of items without a name


def _list_labels(
    listing: _Listing, shared: SharedSums, labels: Mapping[str, int], sizes: Ints, unlisted: int
) -> _LabelSpans:
    """List the places of items under each label."""
    counts, none = shared.counts, len(labels)
    by_label: Mapping[str, Mapping[str, int]] = {} if counts is None else counts.by_label
    top = _most_uncounted(shared)
    local = _is_local(shared)
    spans = _LabelSpans(
        np.zeros(none, np.int64), np.zeros(none, np.int64), np.zeros(none, np.int64),
        np.full(none + 1, _ANY, np.int64), np.ones(none + 1), {}, {},
    )  # fmt: skip
    for label, number in labels.items():
        size, items, listed = int(sizes[number]), shared.under(label), by_label.get(label, {})
        unnamed, more = shared.unnamed(label), label in shared.others
        if not more:  # else other items may fill the rows
            _require_possible(label, size, items, listed, top, unnamed)
        total, known = sum(listed.values()), len(items) + unnamed - len(listed)
        lacking = known + more  # other items count as one: how many they are is not published
        most = min(top, size)
        fewest = min(unlisted, most)
        each = max(fewest, (size - total) / max(lacking, 1))
        least = 0 if more else max(size - total - (lacking - 1) * most, 0)
        if counts is None:
            each = size * _uniform_share(lacking)
            spans.chances[number] = 1 - 0.5**lacking
        spans.begins[number] = len(listing.label)
        for item in items:
            rows = listed.get(item)
            if rows is None:
                listing.add(item, number, each, least, most)
            else:
                listing.add(item, number, rows, rows, rows)
        if unnamed:
            spans.rest[number] = len(listing.label)
            listing.add_nameless(number, each, least, most, unnamed)
        if more:
            listing.add_nameless(number, each, max(size - total - known * most, 0), size)
        spans.ends[number] = len(listing.label)
        spans.excess[number] = max(total + lacking * fewest - size, 0)
        spans.room[number] = _ANY if more else total + lacking * most - size
        if label in shared.members and not local:
            spans.of_label[label] = len(listing.label)
            listing.add_nameless(number, size, size, size)
    return spans


def _list_suppressed(listing: _Listing, shared: SharedSums, none: int, n_rows: int, unlisted: int) -> None:
    """List the places of suppressed items, under the label number `none`."""
    counts, top, local = shared.counts, _most_uncounted(shared), _is_local(shared)
    suppressed_rows: Mapping[str, int] = {} if counts is None else counts.by_label.get("", {})
    _require_possible("", n_rows, tuple(suppressed_rows), suppressed_rows, top)
    for item, rows in suppressed_rows.items():
        listing.add(item, none, rows, rows, rows)
    hidden = min(top, n_rows) if counts is not None and counts.suppressed else n_rows
    # An item that is not listed may be under each of the labels with others, and suppressed elsewhere.
    unseen = min(hidden * (len(shared.others) + 1), n_rows) if local else hidden
    if local:
        # Some occurrences of an item may have been left out where others are under labels.
        for item in [item for item in listing.of if item not in suppressed_rows]:
            listing.add(item, none, 0, 0, hidden)
    listing.add_nameless(none, 0 if counts is None else min(unlisted, unseen), 0, unseen)


def _most_uncounted(shared: SharedSums) -> int:
    """Return in how many rows an item without a count can be at most."""
    return _ANY if shared.counts is None else shared.counts.least - 1


def _is_local(shared: SharedSums) -> bool:
    """Return whether an item may be under different labels in different rows."""
    recoding: str = shared.about.get("recoding", "global")
    return recoding != "global"


def _uniform_share(items: int) -> float:
    """Share of the non-empty sets of this many items that hold one of them; 1/2 where 2^-items is 0."""
    return 0.5 / (1 - 0.5**items)


def _require_possible(
    label: str, size: int, items: Sequence[str], listed: Mapping[str, int], top: int, unnamed: int = 0
) -> None:
    """Refuse counts that no data give whose published rows are these."""
    shown = f"{shorten(label)} is shown by {size:,} rows" if label else f"there are {size:,} rows"
    inside = set(items)
    for item, rows in listed.items():
        if item not in inside:
            raise _contradiction(
                f"{shorten(item)} is counted under {shorten(label)}, which does not represent it"
            )
        if rows > size:
            raise _contradiction(f"{shorten(item)} is counted in {rows:,}, but {shown}")
    if label and sum(listed.values()) + (len(items) + unnamed - len(listed)) * min(top, size) < size:
        raise _contradiction(f"{shown}, more than its items can be in")


def _contradiction(found: str) -> DataError:
    return DataError(
        f"The counts contradict the published rows: {found}.",
        hint="The files must come from the same release; `setveil verify` checks them.",
    )
