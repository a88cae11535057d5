"""Recodings of a table: of rows together in parts, or of each column and the items by one cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.releases.published import Made
from setveil.releases.published.item_parts import ItemParts
from setveil.releases.published.recoding import (
    TABLE_GLOBAL,
    TABLE_LOCAL,
    LocalRecoding,
    Recoding,
    write_lines,
)
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.sums import Sums
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.ends import with_cells
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table

Labels = tuple[NDArray[np.int64], list[str]]  # position in the list of each row's label


class _WithItems(Made):
    """The recoding of people, with one of their items."""

    release: ClassVar[str] = "tables"

    items: LocalRecoding | Recoding

    def ordered(self, data: Sums, tree: Hierarchy | None, least: int, *, list_members: bool = False) -> Self:
        """Order, or name, the labels of items."""
        items = self.items.ordered(data, tree, least, list_members=list_members)
        return replace(self, items=items)  # type: ignore[type-var]  # of dataclasses

    def tree_of(self, tree: Hierarchy | None) -> Hierarchy | None:
        """Return the hierarchy of the labels of items."""
        return self.items.tree_of(tree)

    @property
    def item_recoding(self) -> LocalRecoding | Recoding:
        """The recoding of the items."""
        return self.items

    def with_item_recoding(self, recoding: LocalRecoding | Recoding) -> Self:
        """Return it with another recoding of the items."""
        return replace(self, items=recoding)  # type: ignore[type-var]  # of dataclasses


@dataclass(frozen=True, eq=False)
class Parts(_WithItems):
    """Rows that are recoded together: a label for each column, and for each item one or none in all rows."""

    # int64 (n_rows,): Part of each row of the table: numbered from 0 by their first row in canonical order
    # (`setveil.rows.tables.table.numbered_parts`), no number left out. The labels of columns follow from it:
    # the lowest node above the part's values, or their range.
    part: NDArray[np.int64]
    items: LocalRecoding  # what each occurrence of an item becomes
    k: int = 0  # how many rows must share a value that is the end of a range (see `setveil.rows.tables.ends`)

    kind: ClassVar[str] = TABLE_LOCAL

    def shared_by(self, least: int) -> Parts:
        """Return the parts with the rows that must share a value at the end of a range."""
        return replace(self, k=least)

    def parts_of(self, _table: Table) -> NDArray[np.int64]:
        """Return the part of each row of the table: int64 (n_rows,)."""
        return self.part

    def images(self, table: Table) -> dict[int, dict[str, str | None]]:
        """Return the label of each item in each part; None: suppressed."""
        lines = ItemParts.of(self.part, table, self.items)
        found: dict[int, dict[str, str | None]] = {part: {} for part in self.part.tolist()}
        for part, item, label in zip(
            lines.part.tolist(), lines.item.tolist(), lines.label.tolist(), strict=True
        ):
            found.setdefault(part, {})[lines.items[item]] = lines.labels[label] if label >= 0 else None
        return found

    def with_cut_columns(self, table: Table) -> Table:
        """Return the table as it is: no column was cut."""
        return table

    def seen_apart(self, _published: PublishedTable, _row_map: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the group of each row that readers can tell from others by columns: int64 (n_rows,)."""
        return self.part

    def column_labels(self, table: Table) -> list[Labels]:
        """Name the label of each row in each column; the lists hold those that occur, in no special order."""
        n_parts = int(self.part.max(initial=-1)) + 1
        found = []
        table = with_cells(table, self.k)
        for column, (least, greatest) in zip(table.columns, table.intervals(self.part, n_parts), strict=True):
            labels: dict[str, int] = {}
            of_part = [
                labels.setdefault(column.label_of(lo, hi), len(labels))
                for lo, hi in zip(least.tolist(), greatest.tolist(), strict=True)
            ]
            found.append((np.array(of_part, np.int64)[self.part], list(labels)))
        return found

    def write(
        self, folder: Path, table: Table, published: PublishedTable, row_map: NDArray[np.int64]
    ) -> None:
        """Write the size and the labels of each part, and what its items became."""
        sizes = np.bincount(self.part)
        first = np.zeros(sizes.size, np.int64)
        first[self.part[::-1]] = row_map[::-1]
        names = [column.name for column in published.columns]
        labels = [[c.labels[code] for code in c.codes[first].tolist()] for c in published.columns]
        lines = zip(range(sizes.size), sizes.tolist(), *labels, strict=True)
        write_lines(folder / "classes.csv", ["part", "size", *names], lines)
        ItemParts.of(self.part, table, self.items).write(folder)


@dataclass(frozen=True, eq=False)
class TableCut(_WithItems):
    """One cut for each column and one recoding of the items: every label means the same in all rows."""

    # the columns of the table, each with the hierarchy that was cut: for numbers without one, of ranges
    columns: tuple[QuasiIdentifier, ...]
    # tuple of int32 (n_values,): for each column the node that each of its values is published as
    nodes: tuple[NDArray[np.int32], ...]
    items: Recoding  # what each item becomes

    kind: ClassVar[str] = TABLE_GLOBAL

    def parts_of(self, table: Table) -> NDArray[np.int64]:
        """Put all rows of the table into one part: int64 (n_rows,)."""
        return np.zeros(table.n_rows, np.int64)

    def images(self, _table: Table) -> dict[int, dict[str, str | None]]:
        """Return the label of each item, the same in all rows; None: suppressed."""
        labels = {item: label for label, inside in self.items.members().items() for item in inside}
        return {0: dict.fromkeys(self.items.items.labels) | labels}

    def with_cut_columns(self, table: Table) -> Table:
        """Return the table with the hierarchies that were cut."""
        return replace(table, columns=self.columns)

    def seen_apart(self, published: PublishedTable, row_map: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the group of each row that readers can tell from others by columns: int64 (n_rows,)."""
        return published.classes()[row_map]

    def column_labels(self, _table: Table) -> list[Labels]:
        """Name the label of each row in each column; the lists hold those that occur, in no special order."""
        return [_at_nodes(column, nodes) for column, nodes in zip(self.columns, self.nodes, strict=True)]

    def write(
        self, folder: Path, _table: Table, _published: PublishedTable, _row_map: NDArray[np.int64]
    ) -> None:
        """Write what each item, and each value of a column, became."""
        self.items.write(folder / "recoding.csv")
        lines = (
            (column.name, column.labels[v], column.labels[node])
            for column, nodes in zip(self.columns, self.nodes, strict=True)
            for v, node in enumerate(nodes.tolist())
        )
        write_lines(folder / "qi_recoding.csv", ["column", "value", "published"], lines)


def _at_nodes(column: QuasiIdentifier, nodes: NDArray[np.int32]) -> Labels:
    used, codes = np.unique(nodes[column.codes], return_inverse=True)
    return codes.astype(np.int64), [column.labels[v] for v in used.tolist()]
