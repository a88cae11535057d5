"""Rows in groups: their items as they are but for the sensitive ones, which are counted for each group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.releases.published import KindInfo, Made, MadeRelease
from setveil.releases.published.about import about_file, published_folders, published_layout, require_size
from setveil.releases.published.as_written import require_groups_as_written
from setveil.releases.published.group_files import (
    DATA_FILE,
    GROUPS_FILE,
    PublishedGroups,
    read_grouped,
    write_grouped,
)
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class RowGroups(Made):
    """The groups in which rows of the data are published."""

    release: ClassVar[str] = "groups"

    sensitive: tuple[str, ...]  # the items that are counted; of the others each row keeps its own
    group: NDArray[np.int64]  # int64 (n_rows,): group of each row of the data, from 0, no number left out


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each published row, and how often each group contains each sensitive item.

    Attributes
    ----------
    items : Vocabulary
        The items of the data.
    sensitive : Vocabulary
        The sensitive items that occur, in item order.
    group : int64 (n_rows,), read-only
        Group of each published row: ascending, from 0, no number omitted.
    indptr : int64 (groups + 1,), read-only
        Group g has the sensitive items ``item[indptr[g]:indptr[g + 1]]``.
    item : int32, read-only
        Positions in `sensitive`, ascending within a group.
    count : int64, read-only
        How many rows of the group contain that item, at least 1.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "rum"], ["tea"], ["milk"], ["milk", "tea"]]
    >>> grouping = sv.anonymize(rows, sv.PrivacyDegree(p=2, sensitive=["rum"])).recoding
    >>> grouping.n_groups, grouping.sizes.tolist(), grouping.sensitive.labels
    (2, [2, 2], ('rum',))
    """

    items: Vocabulary
    sensitive: Vocabulary
    group: NDArray[np.int64]
    indptr: NDArray[np.int64]
    item: NDArray[np.int32]
    count: NDArray[np.int64]

    kind: ClassVar[str] = "grouped"

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each group: int64 (groups,)."""
        return np.bincount(self.group, minlength=self.n_groups).astype(np.int64)

    def measurable(self, rows: Transactions) -> dict[str, Any]:
        """Return what measures are computed from, given the published rows."""
        return {"kind": self.kind, "published": rows, "groups": self.published(rows)}

    def published(self, rows: Transactions) -> PublishedGroups:
        """Put together the published groups and the quasi-identifiers of their rows."""
        return PublishedGroups(rows, self.group, self.sensitive, self.indptr, self.item, self.count)


NOT_ESTIMATED = Refusal(
    "Of rows in groups nothing need be estimated.",
    "Count in the files: data.csv shows what is not sensitive as it was, and groups.csv says how "
    "many rows of each group contain a sensitive item.",
    DataError,
)

info = KindInfo(
    title="rows published in groups",
    recodings=(Grouping.kind,),
    shown=PublishedGroups,
    means="groups_file",
    asks=("queries", "group_by", "risk_m", "rules", "confidence", "rule_length"),
    format=Grouping.kind,
    written="rows in groups are always published as two csv files",
    unsplit="it puts rows into groups",
    shared_sums=NOT_ESTIMATED.raised,
    drawn=lambda groups, *_: groups,
)


@dataclass(frozen=True, eq=False)
class GroupsRelease(MadeRelease):
    """Rows in groups (see `setveil.releases.published.Release`): `published` are the quasi-identifiers."""

    published: Transactions
    recoding: Grouping
    row_map: NDArray[np.int64]
    details: dict[str, Any] = field(default_factory=dict)

    info: ClassVar[KindInfo] = info

    def exposed(self) -> PublishedGroups:
        """Return the quasi-identifiers with their groups and what these hold."""
        return self.recoding.published(self.published)

    def measurable(self) -> dict[str, Any]:
        """Return the quasi-identifiers, and all that is published."""
        return {"kind": info.format, "published": self.published, "groups": self.exposed()}

    def image(self) -> Mapping[str, str | None]:
        """Return the items themselves; None for those that are counted."""
        sensitive = self.recoding.sensitive.ids
        return {item: None if item in sensitive else item for item in self.recoding.items.labels}

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the name of the file with the counts."""
        return {info.means: GROUPS_FILE}

    def arranged(self, layout: Layout) -> GroupsRelease:
        """Put rows without quasi-identifiers last in their groups: data.csv does not show them."""
        rows, group = self.published, self.recoding.group
        order = np.lexsort((rows.row_lengths() == 0, group))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return replace(
            self,
            published=Transactions(*take_rows(rows.indptr, rows.items, order), rows.vocabulary),
            row_map=frozen(place[self.row_map], np.int64),
        )

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Refuse a format: there is only one."""
        if wanted is not None:
            raise RequestError(
                f"Rows in groups are published as two csv files, not as {wanted}.",
                hint="Omit the format.",
            )
        return own

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write quasi-identifiers and counts, whatever the layout."""
        write_grouped(folder, self.exposed())
        return DATA_FILE, {"format": info.format}


def split(
    data: Transactions, sensitive: Collection[str]
) -> tuple[tuple[Ints, Ids], tuple[Ints, Ids], Vocabulary]:
    """Split rows into quasi-identifiers, as items, and sensitive items, as positions in the third result."""
    named = set(sensitive)
    is_sensitive = np.array([label in named for label in data.vocabulary.labels], bool)
    each = np.arange(data.n_items, dtype=np.int32)
    rows = recode_rows(data.indptr, data.items, np.where(is_sensitive, np.int32(-1), each))
    place = np.where(is_sensitive, np.cumsum(is_sensitive, dtype=np.int32) - np.int32(1), np.int32(-1))
    counted = recode_rows(data.indptr, data.items, place)
    return rows, counted, Vocabulary(label for label in data.vocabulary.labels if label in named)


def publish(
    data: Transactions, made: RowGroups, seed: int, details: dict[str, Any] | None = None
) -> GroupsRelease:
    """Publish groups, and the rows in them, sorted by published content and then shuffled."""
    rows, counted, sensitive = split(data, made.sensitive)
    group, n = made.group, data.n_rows
    used = np.bincount(rows[1], minlength=data.n_items) > 0
    image = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    labels = Vocabulary(label for label, u in zip(data.vocabulary.labels, used, strict=True) if u)
    qid = recode_rows(*rows, image)

    # Number the groups by content: their rows, then their counts.
    kind = merge_rows_by_content(*qid)[0]
    n_groups = int(group.max(initial=-1)) + 1
    sizes = np.bincount(group, minlength=n_groups)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    content = kind[np.lexsort((kind, group))].astype(">i8").tobytes()
    s_group = np.repeat(group, np.diff(counted[0]))
    pairs, count = np.unique(s_group * len(sensitive) + counted[1], return_counts=True)
    s_ends = np.searchsorted(pairs, np.arange(n_groups + 1) * len(sensitive))
    item = pairs - np.repeat(np.arange(n_groups), np.diff(s_ends)) * len(sensitive)
    counts = np.stack([item, count], axis=1).astype(">i8").tobytes()
    at, s_at = (8 * starts).tolist(), (16 * s_ends).tolist()
    by_content = sorted(
        range(n_groups), key=lambda g: (content[at[g] : at[g + 1]], counts[s_at[g] : s_at[g + 1]])
    )

    # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
    random = np.random.PCG64(seed).random_raw(n_groups + n)
    shuffled = np.array(by_content, np.int64)[np.argsort(random[:n_groups], kind="stable")]
    number = np.empty(n_groups, np.int64)
    number[shuffled] = np.arange(n_groups)
    in_order = np.lexsort((kind, number[group]))
    order = in_order[np.lexsort((random[n_groups:], number[group][in_order]))]

    row_map = np.empty(n, np.int64)
    row_map[order] = np.arange(n)
    wanted = np.repeat(s_ends[shuffled], np.diff(s_ends)[shuffled])
    indptr = np.concatenate(([0], np.cumsum(np.diff(s_ends)[shuffled])))
    wanted += np.arange(pairs.size) - np.repeat(indptr[:-1], np.diff(indptr))
    grouping = Grouping(
        data.vocabulary,
        sensitive,
        frozen(number[group][order], np.int64),
        frozen(indptr, np.int64),
        frozen(item[wanted], np.int32),
        frozen(count[wanted], np.int64),
    )
    published = Transactions(*take_rows(*qid, order), labels)
    return GroupsRelease(published, grouping, frozen(row_map, np.int64), details or {})


def holds(path: Path) -> bool:
    """Return whether a folder, or the one of a file, holds rows published in groups."""
    if path.is_file():
        return published_layout(about_file(path)).get("format") == info.format
    return any((folder / GROUPS_FILE).is_file() for folder in published_folders(path))


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> PublishedGroups:
    """Read rows published in groups from a run's folder, its `published` or the data.csv in it."""
    place = Path(path)
    places = (place.parent,) if place.name == DATA_FILE else published_folders(place)
    folder = next((f for f in places if (f / GROUPS_FILE).is_file()), None)
    if folder is None:
        raise DataError(
            f"{path} is no folder of {info.title}: expected {DATA_FILE} and {GROUPS_FILE} in it.",
            hint="Name the folder that `setveil anonymize --algorithm cahd` wrote, or its published/.",
        )
    groups = read_grouped(folder)
    if about_file(folder / DATA_FILE):
        require_groups_as_written(folder / DATA_FILE, folder / GROUPS_FILE)
    empty = int((groups.qid.row_lengths() == 0).sum())
    require_size(about_file(folder / DATA_FILE), str(folder), groups.qid.n_rows, empty)
    return groups


def measurable(
    _path: str, exposed: PublishedGroups, _original: Transactions, _tree: object
) -> dict[str, Any]:
    """Return the quasi-identifiers, and all that is published, of a release that was read."""
    return {"kind": info.format, "published": exposed.qid, "groups": exposed}
