"""Counts next to rows in classes: lines of each class, and totals of items over all classes.

For someone who knows the class of a person, every function of the table of rows by class and item keeps the
guarantee (proof in docs/classes.md). A total is omitted if a class without the item has few empty rows, which
would be few candidates, and if a small number would follow from it by subtraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten, unreadable
from setveil.kernels.rows import frozen
from setveil.releases.published.as_written import NUMBER, fields_as_written
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.releases.published.class_rows import ClassRows
from setveil.releases.published.listing import SURE
from setveil.rows.data.io.write import quoting
from setveil.rows.data.sums import Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

FILE = "counts.csv"
HEADER = ["class", "item", "label", "rows"]
_DIGITS = 15  # of the greatest number of rows
TOTAL = -1  # in place of a class

Line = tuple[int, str, str, int]  # class (TOTAL: all), item, label ("": suppressed, or a total), rows


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Supports of items by class, and over all classes.

    >>> import setveil as sv
    >>> rows = 20 * [["tea", "milk"], ["tea"]] + 20 * [["rum", "cola"], ["rum"]]
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=2), classes=2, class_size=20)
    >>> release.counts.lines()[:2]
    [(-1, 'cola', '', 20), (-1, 'milk', '', 20)]
    """

    # Of each line: the class, -1 for a total; the item; the label that it is published under, "": suppressed,
    # or a total. Totals first, then class by class, in item order each.
    classes: NDArray[np.int64]
    items: tuple[str, ...]
    labels: tuple[str, ...]
    rows: NDArray[np.int64]  # original rows that contain the item, of the class or of all
    least: int  # fewest rows that a line may speak of
    untold: tuple[int, ...]  # classes of which no suppressed item is counted, ascending

    @classmethod
    def of(cls, data: Transactions, made: ClassRecoding, published: ClassRows, least: int) -> ClassCounts:
        """Count items of the original rows in lines and totals of at least `least` rows, k or more."""
        n, g = data.n_items, published.sizes.size
        class_of = np.repeat(made.class_of_row, data.row_lengths())
        cells = class_of * n + data.items
        supports = np.bincount(cells, minlength=g * n).reshape(g, n)
        label = np.full((g, n), -1, np.int64)
        label.reshape(-1)[cells] = made.images(data)
        empty = published.empty_rows()
        untold = (empty > 0) & (empty < least)
        public = np.array([item not in set(made.secrets) for item in data.vocabulary.labels], bool)
        listed = (supports >= least) & ((label >= 0) | ~untold[:, None]) & public
        # an item that a class does not hold is left out of nothing: its image is its own label
        unsure = (supports > 0) & (label < 0) & untold[:, None]
        totals = supports.sum(0)
        rest = totals - np.where(listed, supports, 0).sum(0)
        exact = public & (totals >= least) & ~unsure.any(0) & ((rest == 0) | (rest >= least))
        names, labels = data.vocabulary.labels, (*made.published.labels, "")
        lines: list[Line] = [(TOTAL, names[i], "", int(totals[i])) for i in np.flatnonzero(exact).tolist()]
        for c, i in np.argwhere(listed).tolist():
            lines.append((c, names[i], labels[label[c, i]], int(supports[c, i])))
        return cls.from_lines(lines, least, np.flatnonzero(untold).tolist())

    @classmethod
    def from_lines(cls, lines: list[Line], least: int, untold: list[int]) -> ClassCounts:
        """Put lines into their order: totals, then classes, in item order each."""
        place = {item: i for i, item in enumerate(item_order({line[1] for line in lines}))}
        lines = sorted(lines, key=lambda line: (line[0], place[line[1]]))
        return cls(
            frozen(np.array([line[0] for line in lines], np.int64), np.int64),
            tuple(line[1] for line in lines),
            tuple(line[2] for line in lines),
            frozen(np.array([line[3] for line in lines], np.int64), np.int64),
            least,
            tuple(untold),
        )

    @cached_property
    def totals(self) -> dict[str, int]:
        """Rows of each item that has a total, of all classes."""
        return {item: rows for number, item, _, rows in self.lines() if number == TOTAL}

    def lines(self) -> list[Line]:
        """List class, item, label and rows of each line; class -1 and no label for a total."""
        return list(zip(self.classes.tolist(), self.items, self.labels, self.rows.tolist(), strict=True))

    def recorded(self, data: Sums, published: ClassRows) -> dict[str, Any]:
        """Return what report.json says of them, with items in nearly all rows of a label, or of a class."""
        shown, sizes = published.supports_by_class(), published.sizes
        ids = published.vocabulary.ids
        sure = []
        for number, item, label, rows in self.lines():
            if number == TOTAL:
                continue
            of, where = int(sizes[number]), ""
            if rows <= SURE * of and label and label != item:
                of, where = int(shown[number, ids[label]]), label
            if rows > SURE * of:
                sure.append({"class": number, "item": item, "label": where, "rows": rows, "of": of})
        items = len(set(self.items))
        return {
            **self.about(),
            "lines": len(self.items) - len(self.totals),
            "totals": len(self.totals),
            "items": items,
            "unlisted": int(np.count_nonzero(data.supports())) - items,
            "sure_from": SURE,
            "sure": sorted(sure, key=lambda line: (-line["rows"] / line["of"], -line["rows"])),
        }

    def about(self) -> dict[str, Any]:
        """Return what about.json says of the file."""
        return {"file": FILE, "least": self.least, "untold": list(self.untold)}

    def write(self, folder: Path) -> None:
        """Write counts.csv."""
        quote = quoting(",")
        with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
            file.write(f"{','.join(HEADER)}\n")
            file.writelines(
                f"{'' if number == TOTAL else number},{quote(item)},{quote(label)},{rows}\n"
                for number, item, label, rows in self.lines()
            )


def read_class_counts(folder: Path, entry: Mapping[str, Any], classes: int) -> ClassCounts:
    """Read the counts of classes by their `entry` in about.json; the verifier checks if they can be true."""
    path = folder / FILE
    try:
        lines = [*map(list, fields_as_written(path, path.read_bytes(), ","))]
    except OSError as error:
        raise unreadable(path, "cannot be read as counts", error) from None
    if not lines or lines[0] != HEADER:
        found = shorten(",".join(lines[0])) if lines else "nothing"
        raise DataError(f"{path}, line 1: found {found}, expected {','.join(HEADER)}.")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(HEADER) or not line[1] or not _is_number(line[3]) or not (
            not line[0] or _is_number(line[0])
        ):  # fmt: skip
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(line))}, expected a class (none for a "
                "total), an item, the label that it is published under, and a number of rows."
            )
        if len(line[3]) > _DIGITS:
            raise DataError(f"{path}, line {number}: {shorten(line[3])} rows are more than there can be.")
        if line[0] and (len(line[0]) > _DIGITS or int(line[0]) >= classes):
            raise DataError(
                f"{path}, line {number}: there is no class {shorten(line[0])}, expected one of "
                f"0 to {classes - 1}."
            )
    return ClassCounts(
        frozen(np.array([int(line[0] or TOTAL) for line in lines[1:]], np.int64), np.int64),
        tuple(line[1] for line in lines[1:]),
        tuple(line[2] for line in lines[1:]),
        frozen(np.array([int(line[3]) for line in lines[1:]], np.int64), np.int64),
        entry["least"],
        tuple(entry["untold"]),
    )


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None
