"""Rows in published classes, each with a separate recoding and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten, unreadable
from setveil.kernels.content import group_order, merge_rows_by_content
from setveil.kernels.rows import frozen, take_rows
from setveil.releases.published import KindInfo
from setveil.releases.published.about import about_file, published_file
from setveil.releases.published.as_written import NUMBER, fields_as_written
from setveil.releases.published.class_counts import ClassCounts
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.releases.published.class_rows import ClassRows
from setveil.releases.published.counts import read_counts
from setveil.releases.published.item_parts import ItemParts
from setveil.releases.published.recoding import LocalRecoding, recode
from setveil.releases.published.rows import (
    RowsRelease,
    all_members,
    by_key,
    in_used_labels,
    local_recoding_of,
    read_row_map,
)
from setveil.releases.published.rows import info as single_rows
from setveil.releases.published.rows import read as read_single_rows
from setveil.rows.data.io.write import quoting
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

FILE, SPLITS = "classes.csv", "splits.csv"
HEADER = ["class", "rows"]
_MOST_DIGITS = 15

info = KindInfo(
    title="rows in classes",
    recodings=("classes",),
    shown=ClassRows,
    means="labels",
    rows_of_items=True,
    asks=single_rows.asks,
    by_labels=True,
    unsplit="an item may be published under several labels",
    shared_sums=single_rows.shared_sums,
    drawn=single_rows.shared_sums,
)


@dataclass(frozen=True, eq=False)
class ClassesRelease(RowsRelease):
    """Rows in classes, with the recoding of each (see `setveil.releases.published.Release`).

    >>> import setveil as sv
    >>> rows = 9 * [["tea", "scone"], ["tea", "honey"], ["beer", "crisps"], ["beer", "nuts"]]
    >>> rows += [["tea", "crisps"], ["tea", "nuts"], ["beer", "honey"], ["beer", "scone"]]
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=3, m=2), classes=2, class_size=20).release
    >>> release.info.title, release.published.sizes.tolist()
    ('rows in classes', [20, 20])
    """

    published: ClassRows
    recoding: ClassRecoding
    counts: ClassCounts | None = None  # type: ignore[assignment]  # what is told of each class
    details: dict[str, Any] = field(default_factory=dict)

    info: ClassVar[KindInfo] = info

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of each published row: int64 (n_rows,)."""
        return self.published.class_of_row

    @property
    def classes_published(self) -> int:
        """Number of classes that the rows are published in."""
        return self.published.sizes.size

    def arranged(self, layout: Layout) -> ClassesRelease:
        """Put rows without items last in their class where the file cannot show them."""
        if layout.shows_empty_rows:
            return self
        order = np.lexsort((self.published.row_lengths() == 0, self.published.class_of_row))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        rows = take_rows(self.published.indptr, self.published.items, order)
        return replace(
            self,
            published=ClassRows(*rows, self.published.vocabulary, None, self.published.sizes),
            row_map=frozen(place[self.row_map], np.int64),
        )

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the items of labels, the file of the classes, and how many rows of each class are empty."""
        said = super().about(report)
        entry = {
            "file": FILE,
            "number": self.recoding.number,
            "least": int(self.published.sizes.min()),
            "empty_rows": self.published.empty_rows().tolist(),
        }
        return {"classes": entry, **said}

    def recorded(self, _data: Original) -> dict[str, Any]:
        """Return rows, labels and cuts of each published class, and the distance from the optimum."""
        shown = (self.published.supports_by_class() > 0).sum(1).tolist()
        cut = sorted(self.details.get("classes", ()), key=_cuts_of)
        by_cuts = {_cuts_of(one): one for one in cut}
        own = set(self.recoding.items.labels)
        names = np.array([label in own for label in self.published.vocabulary.labels], bool)
        kept = (self.published.supports_by_class()[:, names] > 0).sum(1).tolist()
        record = {
            "number": self.recoding.number,
            "classes": [
                {
                    "class": number,
                    "rows": int(self.published.sizes[number]),
                    "labels": shown[number],
                    "names_kept": kept[number],
                    "cuts": [{"item": item, "holds": holds} for item, holds in cuts],
                    **{key: by_cuts[cuts][key] for key in ("left_out", "proven", "gap") if cuts in by_cuts},
                }
                for number, cuts in enumerate(self.recoding.cuts)
            ],
            **self.details.get("split", {}),
        }
        return {"classes": record}

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write the rows, how many of them are in each class, and the counts if there are any."""
        with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
            file.write(f"{','.join(HEADER)}\n")
            file.writelines(f"{c},{rows}\n" for c, rows in enumerate(self.published.sizes.tolist()))
        return super().write(folder, layout)

    def write_inside(self, folder: Path) -> None:
        """Write what each item became in each class, and what the classes were cut on."""
        super().write_inside(folder)
        quote = quoting(",")
        with (folder / SPLITS).open("w", encoding="utf-8", newline="") as file:
            file.write("class,step,item,holds\n")
            file.writelines(
                f"{c},{step},{quote(item)},{'yes' if holds else 'no'}\n"
                for c, cuts in enumerate(self.recoding.cuts)
                for step, (item, holds) in enumerate(cuts)
            )


def _cuts_of(record: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    return tuple((cut["item"], cut["holds"]) for cut in record["cuts"])


def publish(
    data: Transactions, made: ClassRecoding, seed: int, details: dict[str, Any] | None = None, least: int = 0
) -> ClassesRelease:
    """Recode the data class by class, and put classes and rows in an order that reveals nothing."""
    keys = np.random.PCG64(seed).random_raw(made.number + data.n_rows)
    place = np.empty(made.number, np.int64)
    place[by_key(keys[: made.number])] = np.arange(made.number)
    made = made.numbered(place)
    indptr, items, labels = in_used_labels(recode(data, made))
    group, _, weights = merge_rows_by_content(indptr, items)
    by_content = group_order(group, weights)
    by_class = by_content[np.argsort(made.class_of_row[by_content], kind="stable")]
    classes = made.class_of_row[by_class]
    order = by_class[np.lexsort((keys[made.number :], classes))]
    row_map = np.empty(order.size, np.int64)
    row_map[order] = np.arange(order.size)
    sizes = np.bincount(made.class_of_row, minlength=made.number)
    published = ClassRows(*take_rows(indptr, items, order), labels, None, frozen(sizes, np.int64))
    counts = ClassCounts.of(data, made, published, least) if least else None
    parts = ItemParts.of(made.class_of_row, data, made, mixed=made.secrets)
    return ClassesRelease(published, made, frozen(row_map, np.int64), details or {}, counts, parts)


def holds(path: Path) -> bool:
    """Say whether the about.json next to a published file, or in a folder, has rows in classes."""
    try:
        return bool(about_file(published_file(path)).get("recoding") == ClassRecoding.kind)
    except DataError:
        return False


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> ClassRows:
    """Read rows, and the class of each from the file next to them (see `rows.read`)."""
    file = published_file(Path(path))
    rows = read_single_rows(path, read_rows, **reading)
    about = about_file(file)
    entry = about["classes"]
    sizes = read_sizes(file.parent / FILE, rows.n_rows)
    if sizes.size != entry["number"]:
        raise DataError(
            f"{file.parent / FILE} has {sizes.size:,} classes, but its about.json says {entry['number']:,}.",
            hint=_SAME,
        )
    return ClassRows.of(_in_place(rows, sizes, np.array(entry["empty_rows"], np.int64), file), sizes)


_SAME = "The files must come from the same release, complete."


def _in_place(
    rows: Transactions, sizes: NDArray[np.int64], empty: NDArray[np.int64], file: Path
) -> Transactions:
    """Bring rows without items that a long table did not show into their classes: there they are last."""
    ends = np.cumsum(sizes)
    class_of = np.repeat(np.arange(sizes.size), sizes)
    bare = rows.row_lengths() == 0
    if empty.size == sizes.size and not np.array_equal(
        np.bincount(class_of[bare], minlength=sizes.size), empty
    ):
        filled = int((~bare).sum())
        if empty.sum() != rows.n_rows - filled or (empty > sizes).any() or bare[:filled].any():
            raise DataError(
                f"{file} has other rows without items in its classes than its about.json says.",
                hint=_SAME,
            )
        there = np.ones(rows.n_rows, bool)
        for end, n in zip(ends.tolist(), empty.tolist(), strict=True):
            there[end - n : end] = False
        order = np.empty(rows.n_rows, np.int64)
        order[there] = np.arange(filled)
        order[~there] = np.arange(filled, rows.n_rows)
        return replace_rows(rows, order)
    return rows


def replace_rows(rows: Transactions, order: NDArray[np.int64]) -> Transactions:
    """Put rows into an order; where they came from stays known."""
    return Transactions(*take_rows(rows.indptr, rows.items, order), rows.vocabulary, rows.origin)


def read_sizes(path: Path, n_rows: int) -> NDArray[np.int64]:
    """Read how many rows are in each class, which must be all rows of the release together."""
    if not path.is_file():
        raise DataError(
            f"{path} is missing: it says which row is in which class, and its about.json says "
            "that there are classes.",
            hint=_SAME,
        )
    try:
        lines = [*map(list, fields_as_written(path, path.read_bytes(), ","))]
    except OSError as error:
        raise unreadable(path, "cannot be read as classes", error) from None
    if not lines or lines[0] != HEADER:
        found = shorten(",".join(lines[0])) if lines else "nothing"
        raise DataError(f"{path}, line 1: found {found}, expected {','.join(HEADER)}.")
    sizes: list[int] = []
    for number, line in enumerate(lines[1:], 2):
        fits = len(line) == len(HEADER) and line[0] == str(len(sizes)) and NUMBER.fullmatch(line[1])
        if not fits or len(line[1]) > _MOST_DIGITS or int(line[1]) < 1:
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(line))}, expected class {len(sizes)} and "
                "its number of rows."
            )
        sizes.append(int(line[1]))
    if sum(sizes) != n_rows:
        raise DataError(f"{path} adds up to {sum(sizes):,} rows, but the release has {n_rows:,}.", hint=_SAME)
    return frozen(np.array(sizes, np.int64), np.int64)


def measurable(
    path: str, exposed: ClassRows, original: Transactions, tree: Hierarchy | None
) -> dict[str, Any]:
    """Return rows, recoding and counts of a release that was read; what became of items tells rows.csv."""
    file = published_file(Path(path))
    about = about_file(file)
    row_map = read_row_map(file.parent.parent / "internal" / "rows.csv", original.n_rows, exposed.n_rows)
    local: LocalRecoding = local_recoding_of(
        original, exposed, *all_members(file.parent / "about.json", about, original), row_map,
    )  # fmt: skip
    classes = exposed.class_of_row[row_map]
    secrets = tuple((about.get("guarantee") or {}).get("sensitive", ()))
    recoding = ClassRecoding.of(local, classes, ((),) * exposed.sizes.size, secrets)
    counts = read_counts(file.parent, about)
    return {"kind": recoding.kind, "published": exposed, "recoding": recoding, "counts": counts}
