"""Rows that were recoded together, in parts, and what each item became in each: this is internal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten
from setveil.kernels.rows import frozen
from setveil.releases.published.recoding import LocalRecoding
from setveil.rows.data.io.write import quoting
from setveil.rows.data.transactions import Transactions

FILES = ("parts.csv", "row_parts.csv")


@dataclass(frozen=True, eq=False)
class ItemParts:
    """The part of each row, and the label of each item that occurs in a part."""

    of_row: NDArray[np.int64]  # int64 (n,), read-only: part of each row; -1: none
    # part, item, label: int64 (lines,), read-only: by part, then in item order: the item's position in
    # `items`, and that of its label in `labels`, -1 where it is suppressed
    part: NDArray[np.int64]
    item: NDArray[np.int64]
    label: NDArray[np.int64]
    items: tuple[str, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(
        cls,
        part_of_row: NDArray[np.int64],
        data: Transactions,
        recoding: LocalRecoding,
        *,
        mixed: Collection[str] = (),
    ) -> ItemParts:
        """Find the result of each item in each part.

        `part_of_row`: int64 (n,), from 0; -1 (none) only for rows without items. `mixed` items may be
        suppressed in some rows of a part only: there they are listed with their label.
        """
        image = recoding.images(data).astype(np.int64)
        pair = np.repeat(part_of_row, data.row_lengths()) * data.n_items + data.items
        pairs, place = np.unique(pair, return_inverse=True)
        label = np.full(pairs.size, -1, np.int64)
        np.maximum.at(label, place, image)
        either = np.array([item in set(mixed) for item in data.vocabulary.labels], bool)[data.items]
        differs = np.flatnonzero((label[place] != image) & ~((image < 0) & either))
        if differs.size:
            part, item = divmod(int(pair[differs[0]]), data.n_items)
            raise DataError(
                f"{shorten(data.vocabulary.labels[item])} became different things in part {part}, expected "
                "one recoding for each part."
            )
        parts, items = np.divmod(pairs, max(data.n_items, 1))
        return cls(
            frozen(part_of_row, np.int64),
            frozen(parts, np.int64),
            frozen(items, np.int64),
            frozen(label, np.int64),
            data.vocabulary.labels,
            recoding.published.labels,
        )

    def write(self, folder: Path) -> None:
        """Write parts.csv and row_parts.csv; an empty field is no label, or no part."""
        quote = quoting(",")
        items = [quote(item) for item in self.items]
        labels = [*(quote(label) for label in self.labels), ""]
        columns = self.part.tolist(), self.item.tolist(), self.label.tolist()
        with (folder / FILES[0]).open("w", encoding="utf-8", newline="") as file:
            file.write("part,item,published\n")
            file.writelines(
                f"{part},{items[item]},{labels[label]}\n" for part, item, label in zip(*columns, strict=True)
            )
        with (folder / FILES[1]).open("w", encoding="utf-8", newline="") as file:
            file.write("input_row,part\n")
            file.writelines(
                f"{row},{part if part >= 0 else ''}\n" for row, part in enumerate(self.of_row.tolist())
            )
