"""Rows in parts in the order of their content: recoded, and equal ones merged.

The distinct rows of each part are sorted; then those of a range of contents are merged from all parts, one
range after the other. How the rows are cut into parts changes only where one piece ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from setveil.base.staging import private_file
from setveil.kernels.content import first_from, leading_keys, merge_rows_by_content
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.rows.engine.counting import joined
from setveil.rows.engine.parts import OF_A_PART, Part, RowsOnDisk, write_numbers

_SAMPLES = 64  # of a part, for finding ranges of contents

Weighted = tuple[Ints, Ids, Ints]  # distinct rows in the order of their content, and how many each stands for


@dataclass(frozen=True)
class WeightedPart:
    """Distinct rows on disk, and how many rows each represents."""

    part: Part
    weights: Path

    @classmethod
    def write(cls, folder: Path, number: int, rows: Weighted) -> WeightedPart:
        """Write rows into a folder."""
        weights = folder / f"{number:06}.weights"
        with private_file(weights) as file:
            write_numbers(file, rows[2])
        return cls(Part.write(folder, number, *rows[:2]), weights)

    def rows(self) -> Weighted:
        """Map the rows into memory, after a look at whether they are what was written."""
        weights = np.asarray(np.memmap(self.weights, np.int64, "r"))
        return *self.part.rows(), frozen(weights, np.int64)

    def remove(self) -> None:
        """Remove the files."""
        for file in (self.part.indptr, self.part.items, self.weights):
            file.unlink()


def in_content_order(
    data: RowsOnDisk, image: Ids, folder: Path, tick: Callable[[float], None] = lambda _: None
) -> Iterator[Weighted]:
    """Yield the distinct rows in the order of their content, about OF_A_PART occurrences at a time.

    `image`: int32 (n_items,), what each item becomes; negative: nothing. `folder`: exists; what is written
    there is removed at the end. `tick`: gets the progress until the first rows, from 0 to 1.
    """
    runs: list[WeightedPart] = []
    for number, rows in enumerate(data.rows()):
        runs.append(WeightedPart.write(folder, number, _distinct(*recode_rows(*rows, image))))
        tick((number + 1) / len(data.parts))
    yield from _merged([run.rows() for run in runs])
    for run in runs:
        run.remove()


def _distinct(indptr: Ints, items: Ids, weights: Ints | None = None) -> Weighted:
    """Merge equal rows, in the order of their content."""
    group, first, counts = merge_rows_by_content(indptr, items)
    if weights is not None:
        counts = np.zeros(first.size, np.int64)
        np.add.at(counts, group, weights)
    return *take_rows(indptr, items, first), counts


def _merged(runs: list[Weighted]) -> Iterator[Weighted]:
    samples = np.sort(np.concatenate([np.zeros(0, np.int64), *(_samples(*run[:2]) for run in runs)]))
    ranges = 1 + sum(items.size for _, items, _ in runs) // OF_A_PART
    bounds = np.unique(samples[np.arange(1, ranges) * samples.size // ranges])
    starts = [0] * len(runs)
    for bound in [*bounds.tolist(), None]:
        taken: list[Weighted] = []
        for number, (indptr, items, weights) in enumerate(runs):
            first = starts[number]
            last = weights.size if bound is None else int(first_from(indptr, items, bound))
            part = indptr[first : last + 1]
            taken.append((frozen(part - part[0], np.int64), items[part[0] : part[-1]], weights[first:last]))
            starts[number] = last
        weights = np.concatenate([np.zeros(0, np.int64), *(one[2] for one in taken)])
        yield _distinct(*joined([one[:2] for one in taken]), weights)


def _samples(indptr: Ints, items: Ids) -> Ints:
    """Take leading keys of rows at even steps of occurrences."""
    if indptr.size < 2:
        return np.zeros(0, np.int64)
    steps = np.arange(_SAMPLES) * int(indptr[-1]) // _SAMPLES
    rows = np.minimum(np.searchsorted(indptr, steps), indptr.size - 2)
    return leading_keys(*take_rows(indptr, items, rows))
