"""Why a value or an item of a table is published as it is: publish it more exactly, and see what breaks.

Nothing is recoded again. One label is split, for the rows of a class or wherever it is used, everything else
stays as it was published, and the verifier looks at the whole table.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, shorten, unreadable
from setveil.base.progress import Progress
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.verify import verify
from setveil.kernels.rows import frozen
from setveil.methods.algorithms.rt._ranged import with_ranges
from setveil.releases.published import tables
from setveil.releases.published.item_parts import FILES
from setveil.releases.published.recoding import TABLE_LOCAL
from setveil.releases.published.rows import read_row_map
from setveil.releases.published.table_files import PublishedTable
from setveil.releases.published.table_release import TableRelease
from setveil.rows.data.io.rows import read
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.ends import in_cells, with_cells
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table, TextColumn
from setveil.work.past.run import PastRun

Answer = dict[str, Any]
Image = Mapping[str, str | None]  # the label of each item, None: it is left out
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AsPublished:
    """A table and what was published of it, in the order of its own rows."""

    table: Table
    tree: Hierarchy
    columns: tuple[TextColumn, ...]  # the labels of each row
    part: Rows  # int64 (n_rows,): the rows that are recoded alike; one part where all are
    images: Mapping[int, Image]  # of the items of each part

    @classmethod
    def of(cls, table: Table, tree: Hierarchy, release: TableRelease) -> AsPublished:
        """Take a release that was just made."""
        made = release.recoding.made
        part, images = made.parts_of(table), made.images(table)
        columns = _in_order(release.table, release.row_map)
        return cls(made.with_cut_columns(table), tree, columns, part, images)

    @classmethod
    def read(cls, table: Table, tree: Hierarchy, run: PastRun) -> AsPublished:
        """Read the folder of a run."""
        inside, published = Path(run.name) / "internal", Path(run.name) / "published"
        released = tables.read(str(published), read)
        row_map = read_row_map(inside / "rows.csv", table.n_rows, released.n_rows)
        if run.report["recoding"] == TABLE_LOCAL:
            part, images = _read_parts(inside, table.n_rows)
        else:
            part, images = np.zeros(table.n_rows, np.int64), {0: run.image}
            table = with_ranges(
                with_cells(table, run.report["guarantee"]["k"])
            )  # of which the run cut the columns
        return cls(table, tree, _in_order(released, row_map), part, images)

    def published(
        self, columns: tuple[TextColumn, ...] | None = None, images: Callable[[int], Image] | None = None
    ) -> PublishedTable:
        """Put together what would be published with other labels."""
        chosen = images or self.images.__getitem__
        rows = [
            item_order({label for item in held if (label := chosen(part).get(item)) is not None})
            for part, held in zip(self.part.tolist(), self.table, strict=True)
        ]
        names = item_order({label for row in rows for label in row})
        ids = {label: at for at, label in enumerate(names)}
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
        items = np.array([at for row in rows for at in sorted(ids[label] for label in row)], np.int32)
        sets = Transactions(frozen(indptr, np.int64), frozen(items, np.int32), Vocabulary(names))
        return PublishedTable(columns or self.columns, sets, self.table.kept, set_name=self.table.set_name)

    def class_of(self, row: int) -> Rows:
        """Find the rows with the same published quasi-identifiers."""
        same = np.ones(self.table.n_rows, bool)
        for column in self.columns:
            same &= column.codes == column.codes[row]
        return np.flatnonzero(same)

    def labels(self, row: int) -> dict[str, str]:
        """Name the published quasi-identifiers of a row."""
        return {column.name: column.labels[int(column.codes[row])] for column in self.columns}

    def items_loss(self, images: Callable[[int], Image]) -> Fraction:
        """Compute T, the loss (LM) of the item occurrences."""
        full, total = max(self.tree.n_leaves - 1, 1), 0
        cost: dict[str | None, int] = {None: full}
        for part, held in zip(self.part.tolist(), self.table, strict=True):
            image = images(part)
            for item in held:
                label = image.get(item)
                if label not in cost:
                    cost[label] = self._width(str(label), image) - 1
                total += cost[label]
        return Fraction(total, max(self.table.n_occurrences, 1) * full)

    def _width(self, label: str, image: Image) -> int:
        """Count the items that a label represents: those below a node, or the members of a group."""
        if label in self.tree:
            return int(self.tree.leaf_counts[self.tree.id(label)])
        return sum(1 for to in image.values() if to == label)

    def columns_loss(self, columns: tuple[TextColumn, ...]) -> Fraction:
        """Compute R, the loss (NCP) of the columns."""
        total, weights = Fraction(0), Fraction(0)
        for column, shown in zip(self.table.columns, columns, strict=True):
            rows = np.bincount(shown.codes, minlength=len(shown.labels)).tolist()
            spans = [column.interval_of(label) for label, n in zip(shown.labels, rows, strict=True) if n]
            ends = np.array(spans, np.int64).reshape(-1, 2)
            losses = column.loss_of(ends[:, 0], ends[:, 1]).tolist()
            lost = sum(a * b for a, b in zip(losses, [n for n in rows if n], strict=True))
            total += column.weight * Fraction(lost, max(column.full * self.table.n_rows, 1))
            weights += column.weight
        return total / weights


def _in_order(released: PublishedTable, row_map: Rows) -> tuple[TextColumn, ...]:
    return tuple(
        TextColumn(column.name, frozen(column.codes[row_map], np.int32), column.labels)
        for column in released.columns
    )


def _read_parts(inside: Path, n_rows: int) -> tuple[Rows, dict[int, Image]]:
    """Read what each item became in each part, and the part of each row."""
    images: dict[int, dict[str, str | None]] = {}
    try:
        with (inside / FILES[0]).open(encoding="utf-8", newline="") as file:
            for part, item, label in list(csv.reader(file, strict=True))[1:]:
                images.setdefault(int(part), {})[item] = label or None
        with (inside / FILES[1]).open(encoding="utf-8", newline="") as file:
            of_row = [int(part) if part else -1 for _, part in list(csv.reader(file, strict=True))[1:]]
    except (OSError, ValueError, csv.Error) as error:
        raise unreadable(f"The recoding in {inside}", "cannot be read", error) from None
    if len(of_row) != n_rows:
        raise DataError(f"{inside / FILES[1]} is about {len(of_row):,} rows, expected {n_rows:,}.")
    return np.array(of_row, np.int64), {**{part: {} for part in of_row}, **images}


def why_table(
    run: PastRun,
    made: AsPublished,
    guarantee: Guarantee,
    name: str,
    row: int | None = None,
    *,
    show: int = 10,
    progress: Progress,
) -> Answer:
    """Say why a value of a column, an item or a label is published as it is (see docs/why.md).

    `name`: a column that someone may know, an item, or a published label of items. `row`: from 1; by default
    the one that shows most.
    """
    question = _Question(run, made, guarantee, show, progress)
    if row is not None and not 1 <= row <= made.table.n_rows:
        raise RequestError(f"There is no row {row:,}: the table has rows 1 to {made.table.n_rows:,}.")
    at = None if row is None else row - 1
    found = (
        question.column(name, at)
        if name in made.table.column_names and name not in made.table.vocabulary.ids
        else question.items(name, at)
    )
    options = run.report["algorithm"]["parameters"]
    return {
        "name": name,
        **found,
        "guarantee": {**guarantee.as_dict(), "phrase": guarantee.phrase},
        "algorithm": run.report["algorithm"]["name"],
        "share": options.get("share"),
        "relational_loss": float(made.columns_loss(made.columns)),
        "transaction_loss": float(made.items_loss(made.images.__getitem__)),
        "stays_inside": True,
    }


class _Question:
    """One run of a table, and what can be asked of it."""

    def __init__(
        self, run: PastRun, made: AsPublished, guarantee: Guarantee, show: int, progress: Progress
    ) -> None:
        self.made, self.guarantee, self.show, self.progress = made, guarantee, show, progress
        self.local = run.report["recoding"] == TABLE_LOCAL
        self.k: int = guarantee.k  # type: ignore[attr-defined]  # of every guarantee about tables

    # Columns.

    def column(self, name: str, row: int | None) -> Answer:
        """Say why a value is published under its label."""
        made = self.made
        at = made.table.column_names.index(name)
        column, shown = made.table.columns[at], made.columns[at]
        if row is None:
            row = self._widest(column, shown)
        rows = np.flatnonzero(shown.codes == shown.codes[row])
        inside = made.class_of(row)
        split = inside if self.local else rows
        value, label = column.labels[int(column.codes[row])], shown.labels[int(shown.codes[row])]
        tries = []
        if label != value:
            tries = [self._cut(at, pieces) for pieces in _pieces(in_cells(column, self.k), split)]
        return {
            "question": "kept" if label == value else "column",
            "column": name,
            "row": row + 1,
            "value": value,
            "label": label,
            "rows": int(rows.size),
            "class": made.labels(row),
            "class_rows": int(inside.size),
            "tries": tries,
        }

    def _widest(self, column: QuasiIdentifier, shown: TextColumn) -> int:
        """Choose a row whose label represents several values, of the label of most rows."""
        rows = np.bincount(shown.codes, minlength=len(shown.labels))
        values = set(column.labels[: column.n_values])
        wide = [at for at, label in enumerate(shown.labels) if label not in values and rows[at]]
        first = {
            at: int(np.flatnonzero(shown.codes == at)[0]) for at in wide or np.flatnonzero(rows).tolist()
        }
        return first[max(first, key=lambda at: (int(rows[at]), -first[at]))]

    def _cut(self, at: int, pieces: Mapping[str, Rows]) -> Answer:
        """Publish rows under labels of their own in one column."""
        shown = self.made.columns[at]
        labels = [*shown.labels, *(label for label in pieces if label not in shown.labels)]
        codes = shown.codes.copy()
        for label, rows in pieces.items():
            codes[rows] = labels.index(label)
        column = TextColumn(shown.name, frozen(codes, np.int32), tuple(labels))
        columns = (*self.made.columns[:at], column, *self.made.columns[at + 1 :])
        found = self._checked(self.made.published(columns=columns))
        return {
            "kind": "cut",
            "parts": list(pieces),
            "sizes": [int(rows.size) for rows in pieces.values()],
            **found,
            "relational_loss": float(self.made.columns_loss(columns)),
        }

    # Items.

    def items(self, name: str, row: int | None) -> Answer:
        """Say why an item, or a label, is published as it is."""
        made = self.made
        held = made.table.vocabulary.ids.get(name)
        outcomes = self._outcomes(name)
        if not outcomes:
            raise self._unknown(name)
        if row is None:
            other = [(rows, -part) for part, (label, rows) in outcomes.items() if rows and label != name]
            part = -max(other or [(rows, -part) for part, (_, rows) in outcomes.items()])[1]
            row = int(np.flatnonzero(made.part == part)[0])
        part = int(made.part[row])
        if part not in outcomes:
            raise DataError(
                f"{shorten(name)} is in no row of the class of row {row + 1:,}.",
                hint="Ask without a row, or for an item of this one.",
            )
        label, rows = outcomes[part]
        image = made.images[part]
        tries: list[Answer] = []
        if held is not None and label not in (None, name):
            tries = [self._relabelled(part, "free", _freed(made.tree, image, str(label), name))]
        elif held is not None and label is None:
            tries = self._brought_back(part, image, name)
        elif held is None and label == name:
            tries = [self._relabelled(part, "children", _freed(made.tree, image, name, None))]
        places: dict[str | None, list[int]] = {}
        for to, number in outcomes.values():
            places.setdefault(to, [0, 0])
            places[to][0] += number
            places[to][1] += 1
        inside = made.class_of(row)
        return {
            "question": "kept" if held is not None and label == name else "back" if label is None else "item",
            "row": row + 1,
            "label": label,
            "rows": rows,
            "class": made.labels(row) if self.local else {},
            "class_rows": int(inside.size) if self.local else made.table.n_rows,
            "places": [{"label": to, "rows": n, "classes": parts} for to, (n, parts) in places.items()],
            "tries": tries,
        }

    def _outcomes(self, name: str) -> dict[int, tuple[str | None, int]]:
        """Find what an item is published as in each part, and in how many rows; or where a label is used."""
        made, found = self.made, {}
        item = made.table.vocabulary.ids.get(name)
        if item is not None:
            holders = np.repeat(np.arange(made.table.n_rows), made.table.row_lengths())
            rows = np.bincount(
                made.part[holders[made.table.items == item]], minlength=int(made.part.max(initial=0)) + 1
            )
            for part, image in made.images.items():
                if name in image and part >= 0 and rows[part]:
                    found[part] = (image[name], int(rows[part]))
            return found
        for part, image in made.images.items():
            members = {one for one, label in image.items() if label == name}
            if members:
                held = [
                    not members.isdisjoint(made.table[r]) for r in np.flatnonzero(made.part == part).tolist()
                ]
                found[part] = (name, sum(held))
        return found

    def _unknown(self, name: str) -> DataError:
        labels = {label for image in self.made.images.values() for label in image.values() if label}
        names = [*self.made.table.column_names, *self.made.table.vocabulary.labels, *sorted(labels)]
        lower = {one.lower(): one for one in names}
        close = difflib.get_close_matches(name.lower(), lower, 3)
        hint = f"Did you mean {' or '.join(shorten(lower[one]) for one in close)}?" if close else ""
        return DataError(
            f"{shorten(name)} is not a quasi-identifier, an item or a published label of this table.",
            hint=hint or f"The quasi-identifiers are {', '.join(self.made.table.column_names)}.",
        )

    def _brought_back(self, part: int, image: Image, name: str) -> list[Answer]:
        """Publish an item that is suppressed: as itself, then as what is above it, until that holds."""
        tree = self.made.tree
        tries = [self._relabelled(part, "back", {name: name})]
        for node in tree.ancestors(tree.id(name)):
            under = [tree.labels[leaf] for leaf in tree.under(node).tolist()]
            present = [item for item in under if item in image]
            if tries[-1]["holds"] or any(image[item] is not None for item in present):
                break  # it stands for others already
            tries.append(self._relabelled(part, "ancestor", dict.fromkeys(present, tree.labels[node])))
        return tries

    def _relabelled(self, part: int, kind: str, labels: Mapping[str, str]) -> Answer:
        """Publish items of one part under other labels."""
        image = {**self.made.images[part], **labels}

        def images(which: int) -> Image:
            return image if which == part else self.made.images[which]

        found = self._checked(self.made.published(images=images))
        return {
            "kind": kind,
            "parts": item_order(set(labels.values())),
            **found,
            "transaction_loss": float(self.made.items_loss(images)),
        }

    def _checked(self, published: PublishedTable) -> Answer:
        verdict = verify(published, self.guarantee, show=self.show, progress=self.progress).as_dict()
        return {
            "holds": verdict["holds"],
            "violations": verdict["violations"],
            "complete": verdict.get("complete", True),
            "first": verdict["first"],
        }


def _freed(tree: Hierarchy, image: Image, label: str, name: str | None) -> dict[str, str]:
    """Split a label as far as it takes to give an item its own name; without one, into its children."""
    members = [item for item, to in image.items() if to == label]
    if label not in tree:  # a group of items
        return {item: item for item in members}
    keep = set() if name is None else {tree.id(name), *tree.ancestors(tree.id(name))}
    top = tree.id(label)
    while name is None and len(tree.children(top)) == 1:
        top = tree.children(top)[0]
    found = {}
    for item in members:
        path = [tree.id(item), *tree.ancestors(tree.id(item))]
        path = path[: path.index(top)] or path[:1]
        apart = [node for node in path if node not in keep]
        found[item] = name if item == name and name is not None else tree.labels[apart[-1]]
    return found


def _pieces(column: QuasiIdentifier, rows: Rows) -> list[dict[str, Rows]]:
    """Say how rows can be split by a column: by the children of their node, or in two of the nearest size.

    Rows without a value are split off first: with numbers they are published under a label that says nothing.
    """
    codes = column.codes[rows]
    values = np.unique(codes)
    if values.size < 2:
        return []
    if column.parent is None:
        before = np.array([int((codes <= value).sum()) for value in values[:-1].tolist()])
        at = 0 if column.missing and values[0] == 0 else int(np.abs(2 * before - rows.size).argmin())
        low, high = rows[codes <= values[at]], rows[codes > values[at]]
        names = [
            column.label_of(int(column.codes[some].min()), int(column.codes[some].max()))
            for some in (low, high)
        ]
        return [dict(zip(names, (low, high), strict=True))]
    node = int(column.node_above(values[:1], values[-1:])[0])
    found: dict[str, list[int]] = {}
    for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
        below = code
        while int(column.parent[below]) != node:
            below = int(column.parent[below])
        found.setdefault(column.labels[below], []).append(row)
    return [{label: np.array(some, np.int64) for label, some in found.items()}]
