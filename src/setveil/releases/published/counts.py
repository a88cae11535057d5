"""Counts next to published rows: the number of original rows with each item.

They do not weaken k^m-anonymity: anyone who knows some items of a person finds the same rows that fit, none
likelier than another (proof in docs/counts.md). They reveal how the rows of a label divide among its items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten, unreadable
from setveil.kernels.rows import frozen
from setveil.releases.published.as_written import NUMBER, fields_as_written
from setveil.releases.published.listing import SURE
from setveil.releases.published.recoding import AnyRecoding, BoxRecoding
from setveil.rows.data.io.write import quoting
from setveil.rows.data.sums import Sums
from setveil.rows.data.vocabulary import item_order

FILE = "counts.csv"
HEADER = ["item", "label", "rows"]
FACTS = ["fact", "box", "rows"]  # where the rows are rows of facts
_DIGITS = 15  # of the greatest number of rows


@dataclass(frozen=True, eq=False)
class Counts:
    """Supports of items in the original rows, by the label that they are published under.

    >>> import setveil as sv
    >>> rows = [["tea"], ["tea"], ["coffee"], ["milk"], ["milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> counts = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks).counts
    >>> counts.lines()
    [('milk', 'milk', 2), ('tea', 'tea', 2)]
    """

    # The item of each line, in item order. A local recoding may have several lines for an item.
    items: tuple[str, ...]
    # the label that it is published under, which may be the item itself; "": it is suppressed
    labels: tuple[str, ...]
    # int64 (lines,), read-only: number of original rows that contain the item, and publish it so
    rows: NDArray[np.int64]
    least: int  # every item of at least so many rows has a line, unless it is suppressed; no other has
    suppressed: bool  # whether suppressed items are listed as well

    @classmethod
    def of(cls, data: Sums, recoding: AnyRecoding, least: int, *, filled: int) -> Counts:
        """Count the items of the original rows, in lines of at least `least` rows, k or more.

        Suppressed items are listed only if no published row is empty, or at least `least` are: an empty row
        of a person known to have an item had suppressed items, and few such rows would be too few candidates.
        """
        empty = data.n_rows - filled
        suppressed = not 0 < empty < least
        item, label, rows = recoding.tally(data)
        listed = (rows >= least) & (suppressed | (label >= 0))
        names = (*recoding.published.labels, "")
        lines = [
            (data.vocabulary.labels[i], names[to], n)
            for i, to, n in zip(*(part[listed].tolist() for part in (item, label, rows)), strict=True)
        ]
        return cls.from_lines(lines, least, suppressed=suppressed)

    @classmethod
    def from_lines(cls, lines: list[tuple[str, str, int]], least: int, *, suppressed: bool) -> Counts:
        """Put lines of item, label and rows into item order."""
        place = {item: i for i, item in enumerate(item_order({item for item, _, _ in lines}))}
        under = {label: i for i, label in enumerate(item_order({label for _, label, _ in lines if label}), 1)}
        lines = sorted(lines, key=lambda line: (place[line[0]], under.get(line[1], 0)))
        return cls(
            tuple(item for item, _, _ in lines),
            tuple(label for _, label, _ in lines),
            frozen(np.array([rows for _, _, rows in lines], np.int64), np.int64),
            least,
            suppressed,
        )

    @cached_property
    def by_label(self) -> dict[str, dict[str, int]]:
        """Rows of each listed item under each label ("": suppressed), in item order."""
        out: dict[str, dict[str, int]] = {}
        for item, label, rows in self.lines():
            out.setdefault(label, {})[item] = rows
        return out

    def lines(self) -> list[tuple[str, str, int]]:
        """List item, label and rows of each line."""
        return list(zip(self.items, self.labels, self.rows.tolist(), strict=True))

    def recorded(self, data: Sums, published: Sums) -> dict[str, Any]:
        """Return what report.json says of them, with the items that are in nearly all rows of their label."""
        shown = dict(zip(published.vocabulary.labels, published.supports().tolist(), strict=True))
        sure = [
            {"item": item, "label": label, "rows": rows, "of": shown[label]}
            for item, label, rows in self.lines()
            if label and label != item and rows > SURE * shown[label]
        ]
        items = len(set(self.items))
        return {
            **self.about(),
            "lines": len(self.items),
            "items": items,
            "unlisted": int(np.count_nonzero(data.supports())) - items,
            "sure_from": SURE,
            "sure": sorted(sure, key=lambda line: (-line["rows"] / line["of"], -line["rows"])),
        }

    def about(self) -> dict[str, Any]:
        """Return what about.json says of the file."""
        return {"file": FILE, "least": self.least, "suppressed": self.suppressed}

    def write(self, folder: Path, header: Sequence[str] = HEADER) -> None:
        """Write counts.csv."""
        with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
            file.write(f"{','.join(header)}\n")
            quote = quoting(",")
            file.writelines(f"{quote(item)},{quote(label)},{rows}\n" for item, label, rows in self.lines())


def read_counts(folder: Path, about: Mapping[str, Any]) -> Any:
    """Read the counts next to published rows, None without any; the verifier checks if they can be true."""
    entry = about.get("counts")
    path = folder / FILE
    if entry is None:
        if path.is_file() and about:
            raise DataError(
                f"{path} is there, but its about.json does not mention counts.",
                hint="The files must come from the same release.",
            )
        return None
    if not path.is_file():
        raise DataError(
            f"{path} is missing: its about.json says that there are counts.",
            hint="The files must come from the same release, complete.",
        )
    if about.get("recoding") == "classes":
        from setveil.releases.published.class_counts import read_class_counts

        return read_class_counts(folder, entry, about["classes"]["number"])
    try:
        lines = [*map(list, fields_as_written(path, path.read_bytes(), ","))]
    except (OSError, ValueError) as error:
        raise unreadable(path, "cannot be read as counts", error) from None
    header = FACTS if about.get("recoding") == BoxRecoding.kind else HEADER
    if not lines or lines[0] != header:
        found = shorten(",".join(lines[0])) if lines else "nothing"
        raise DataError(f"{path}, line 1: found {found}, expected {','.join(header)}.")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(HEADER) or not line[0] or not NUMBER.fullmatch(line[2]):
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(line))}, expected {header[0]}, the "
                f"{header[1]} that it is published under, and a number of rows."
            )
        if len(line[2]) > _DIGITS:
            raise DataError(f"{path}, line {number}: {shorten(line[2])} rows are more than there can be.")
    return Counts(
        tuple(line[0] for line in lines[1:]),
        tuple(line[1] for line in lines[1:]),
        frozen(np.array([int(line[2]) for line in lines[1:]], np.int64), np.int64),
        entry["least"],
        entry["suppressed"],
    )
