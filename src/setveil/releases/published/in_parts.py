"""Publish rows that are on disk in parts, in the same order as if they were in memory.

Rows in memory are sorted by content, then by a random number each
(`setveil.releases.published.rows.publish`). Here the distinct rows come in the order of content, piece by
piece (`setveil.rows.engine.content`); their copies draw numbers in this order and go to buckets by the
leading bits of the number. Each bucket is sorted at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.base.staging import private_file
from setveil.kernels.rows import (
    Ids,
    Ints,
    frozen,
    item_supports,
    take_rows,
)
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import by_key
from setveil.rows.data.sums import Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.content import in_content_order
from setveil.rows.engine.counting import Piece, joined
from setveil.rows.engine.parts import OF_A_PART, RowsOnDisk, write_numbers

AT_ONCE = 1 << 20  # rows that draw their numbers at a time
OF_A_BUCKET = OF_A_PART // 2  # occurrences, about
MOST_BUCKETS = 1 << 8


@dataclass(frozen=True, eq=False)
class PublishedParts:
    """The published data of rows in parts."""

    vocabulary: Vocabulary  # labels that some row shows, in item order
    n_rows: int
    filled_rows: int  # rows with a label
    n_occurrences: int  # (row, label) pairs
    label_supports: Ints  # int64 (labels,): rows that show each
    buckets: tuple[Path, ...]  # in the order of the release; each still has to be sorted by the numbers drawn

    @property
    def n_items(self) -> int:
        """Number of labels."""
        return len(self.vocabulary)

    def supports(self) -> Ints:
        """Count, for each label, the rows that show it: int64 (n_items,)."""
        return self.label_supports.copy()

    def pieces(self, rows: int) -> Iterator[Transactions]:
        """Yield the rows in their order, this many at a time; the buckets are used up by it."""
        held: list[Piece] = []
        for bucket in self.buckets:
            held.append(_sorted_bucket(bucket))
            bucket.unlink()
            indptr, items = joined(held)
            first = 0
            while first + rows < indptr.size:
                yield self._piece(indptr[first : first + rows + 1], items)
                first += rows
            rest = indptr[first:]
            held = [(frozen(rest - rest[0], np.int64), frozen(items[rest[0] :].copy(), np.int32))]
        if held and held[0][0].size > 1:
            yield self._piece(*held[0])

    def _piece(self, indptr: Ints, items: Ids) -> Transactions:
        start, end = indptr[0], indptr[-1]
        return Transactions(frozen(indptr - start, np.int64), items[start:end], self.vocabulary)


def shown_labels(data: Sums, made: Recoding) -> tuple[Vocabulary, Ids]:
    """Find the labels that rows show, and the place among them of each label of a recoding, or -1."""
    image = made.image_of(data.vocabulary)
    shown = np.unique(image[data.supports() > 0])
    shown = shown[shown >= 0]
    place = np.full(len(made.published) + 1, -1, np.int32)
    place[shown] = np.arange(shown.size)
    return Vocabulary(made.published.labels[at] for at in shown.tolist()), frozen(place, np.int32)


def publish_parts(
    data: RowsOnDisk,
    made: Recoding,
    seed: int,
    folder: Path,
    tick: Callable[[float], None] = lambda _: None,
) -> PublishedParts:
    """Recode rows in parts, in the order of rows in memory; the empty `folder` is for rows on the way."""
    labels, place = shown_labels(data, made)
    image = frozen(place[made.image_of(data.vocabulary)], np.int32)
    buckets = _Buckets(folder, data.n_occurrences)
    numbers = np.random.PCG64(seed)
    supports = np.zeros(len(labels), np.int64)
    done = filled = 0
    for indptr, items, weights in in_content_order(data, image, folder, lambda done: tick(done / 2)):
        supports += item_supports(indptr, items, weights, supports.size)
        ends = np.cumsum(weights)
        total = int(ends[-1]) if ends.size else 0
        filled += int(weights[np.diff(indptr) > 0].sum())
        for first in range(0, total, AT_ONCE):
            copies = np.arange(first, min(first + AT_ONCE, total))
            of = np.searchsorted(ends, copies, "right")
            buckets.add(numbers.random_raw(copies.size), of, indptr, items)
            done += copies.size
            tick(0.5 + done / (2 * max(data.n_rows, 1)))
    return PublishedParts(labels, done, filled, int(supports.sum()), supports, buckets.close())


class _Buckets:
    """Files for rows by the leading bits of their numbers."""

    def __init__(self, folder: Path, occurrences: int) -> None:
        self.bits = 0
        while occurrences >> self.bits > OF_A_BUCKET and 1 << self.bits < MOST_BUCKETS:
            self.bits += 1
        self.paths = tuple(folder / f"bucket.{number:03}" for number in range(1 << self.bits))
        self.files = [private_file(path) for path in self.paths]

    def add(self, numbers: NDArray[np.uint64], rows: Ints, indptr: Ints, items: Ids) -> None:
        """Write rows by their numbers: numbers, lengths and items of those that go together."""
        into = (numbers >> np.uint64(64 - self.bits)) if self.bits else np.zeros(numbers.size, np.uint64)
        order = np.argsort(into, kind="stable")
        bounds = np.searchsorted(into[order], np.arange(len(self.files) + 1, dtype=np.uint64))
        for number, file in enumerate(self.files):
            some = order[bounds[number] : bounds[number + 1]]
            if some.size:
                taken_ptr, taken = take_rows(indptr, items, rows[some])
                sizes = np.array([some.size, taken.size], np.int64)
                for part in (sizes, numbers[some], np.diff(taken_ptr), taken):
                    write_numbers(file, part)

    def close(self) -> tuple[Path, ...]:
        for file in self.files:
            file.close()
        return self.paths


def _sorted_bucket(path: Path) -> Piece:
    """Read a bucket, and sort its rows by their numbers."""
    numbers, rows = [np.zeros(0, np.uint64)], []
    with path.open("rb") as file:
        while (sizes := np.fromfile(file, np.int64, 2)).size:
            numbers.append(np.fromfile(file, np.uint64, sizes[0]))
            lengths = np.fromfile(file, np.int64, sizes[0])
            items = np.fromfile(file, np.int32, sizes[1])
            rows.append((np.concatenate(([0], np.cumsum(lengths))), items))
    return take_rows(*joined(rows), by_key(np.concatenate(numbers)))
