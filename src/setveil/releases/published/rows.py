"""Rows whose items are published as themselves, under labels that represent several, or not at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, listed, shorten, unreadable
from setveil.base.plain_json import read_json
from setveil.kernels.content import group_order, merge_rows_by_content
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.releases.published import KindInfo, MadeRelease, kind_named, kinds, of_another_kind
from setveil.releases.published.about import (
    about_beside,
    about_file,
    published_file,
    published_layout,
    read_about,
    reading_of_rows,
    require_columns,
    require_size,
)
from setveil.releases.published.as_written import require_as_written
from setveil.releases.published.counts import Counts, read_counts
from setveil.releases.published.item_parts import ItemParts
from setveil.releases.published.listing import MEMBERS_FILE, Listing, others_in, others_of
from setveil.releases.published.recoding import AnyRecoding, LocalRecoding, Recoding, recode, standing_for
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.write import require_text, save, write_blocks
from setveil.rows.data.layout import FORMATS, Layout, writable_layout
from setveil.rows.data.sums import Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.rows.engine.tabled import TabledRows


def shared_sums(rows: Transactions, counts: Any, about: Mapping[str, Any], layout: Layout | None) -> Any:
    """Take what is shared of rows: with what their labels represent, and the counts next to them."""
    from setveil.releases.published.shared import Shared

    members = {label: tuple(items) for label, items in about["labels"].items()}
    return Shared(rows, members, counts, about, layout or shared_layout(about))


info = KindInfo(
    title="single rows",
    recodings=("global", "local"),
    shown=Transactions,
    means="labels",
    rows_of_items=True,
    asks=(
        "queries", "query_size", "query_support", "queries_file", "itemsets", "itemset_length", "risk_m",
        "private", "hierarchy", "estimator", "rules", "confidence", "rule_length",
    ),
    by_labels=True,
    unsplit="an item may be published under several labels",
    shared_sums=shared_sums,
    drawn=shared_sums,
)  # fmt: skip

_SEVERAL = "Here an item may be published under several labels, so what became of an itemset is unknown."
_LOCAL_HINT = "Verify the guarantee that its about.json names."


class _Recoded(MadeRelease):
    """Recoded rows, known by their sums."""

    published: Sums
    recoding: AnyRecoding
    counts: Counts | None
    parts: ItemParts | None
    listing: Listing | None

    info: ClassVar[KindInfo] = info

    @property
    def labelled(self) -> AnyRecoding:
        """The recoding."""
        return self.recoding

    def measurable(self) -> dict[str, Any]:
        """Return rows, recoding and counts."""
        return {
            "kind": self.recoding.kind,
            "published": self.published,
            "recoding": self.recoding,
            "counts": self.counts,
        }

    def image(self) -> Mapping[str, str | None]:
        """Return the label that each item is published as; None: it is suppressed."""
        if not self.recoding.uniform:
            raise DataError(_SEVERAL, hint=_LOCAL_HINT)
        return dict.fromkeys(self.recoding.items.labels) | {
            item: label for label, items in self.recoding.members().items() for item in items
        }

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the items that each label represents, and the number of items that exist.

        Not if these are just the items of the data: the number would reveal how many were suppressed.
        """
        tree, said = report["hierarchy"], self.meaning()
        of_the_data = (
            tree is None
            or self.listing is not None
            or (tree["source"] == "co-occurrence" and said["domain"] == report["input"]["items"])
        )
        return {
            **({} if of_the_data else {"domain": said["domain"]}),
            **({} if self.counts is None else {"counts": self.counts.about()}),
            "labels": said["labels"],
            **({"others": said["others"]} if "others" in said else {}),
        }

    def promised(self) -> dict[str, Any]:
        """Return the recoding; of sensitive items nothing is counted."""
        return self.recoding.promised()

    def meaning(self) -> dict[str, Any]:
        """Return `recoding`, `domain`, `labels` and, for unlisted members, `others` of about.json."""
        members = self.members()
        return {
            "recoding": self.recoding.kind,
            "domain": self.recoding.domain,
            **({"labels": members} if self.listing is None else self.listing.about(members)),
        }

    def generalized(self) -> dict[str, list[str]]:
        """List the published members of each label that rows show and that represents other items."""
        members = self.members()
        return members if self.listing is None else self.listing.members(members)

    def members(self) -> dict[str, list[str]]:
        """List all members of these labels. Internal: about.json may list only some."""
        own, members = set(self.recoding.items.labels), self.recoding.members()
        return {x: members[x] for x in self.published.vocabulary.labels if x not in own}

    def with_others(self, members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the labels that may have members that about.json does not list."""
        return others_of(self.listing, members)

    def with_listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Self:
        """Let about.json list only items that enough rows contain, unless the hierarchy lists them."""
        return replace(self, listing=self.recoding.listing(data, tree, least))  # type: ignore[type-var]

    def with_all_members(self) -> Self:
        """Let about.json list all items of labels."""
        return self if self.listing is None else replace(self, listing=None)  # type: ignore[type-var]

    def write_inside(self, folder: Path) -> None:
        """Write recoding.csv or, for rows recoded in parts, parts.csv and row_parts.csv.

        For a local recoding, the map of the rows says what an occurrence became.
        """
        self.recoding.write(folder / "recoding.csv")
        if self.listing is not None and self.listing.is_partial(members := self.members()):
            write_members(folder / MEMBERS_FILE, members, self.recoding.domain)
        if self.parts is not None:
            self.parts.write(folder)


@dataclass(frozen=True, eq=False)
class RowsOutcome(_Recoded):
    """A release of rows that are not in memory (see `published.Outcome`), known by their sums."""

    published: TabledRows
    recoding: Recoding
    details: dict[str, Any] = field(default_factory=dict)
    counts: Counts | None = None
    parts: None = None
    listing: Listing | None = None


@dataclass(frozen=True, eq=False)
class RowsRelease(_Recoded):
    """Published rows with the recoding that made them (see `setveil.releases.published.Release`)."""

    published: Transactions
    recoding: AnyRecoding
    row_map: NDArray[np.int64]
    details: dict[str, Any] = field(default_factory=dict)
    counts: Counts | None = None  # supports next to the rows, if any
    parts: ItemParts | None = None  # the rows that were recoded together, if in parts
    # the items that about.json may list; None: all
    listing: Listing | None = field(default=None, kw_only=True)

    def exposed(self) -> Transactions:
        """Return the rows."""
        return self.published

    def without_sure_counts(self) -> Self:
        """Omit the counts if all rows of a label for several items contain one of these, and say why."""
        if not self._is_sure():
            return self
        warning = (
            "There is no counts.csv: it would reveal that all rows of a label contain one of its items, and "
            "that none of these people lacks the item."
        )
        warnings = [*self.details.get("warnings", ()), warning]
        return replace(self, counts=None, details={**self.details, "warnings": warnings})

    def _is_sure(self) -> bool:
        shown = dict(zip(self.published.vocabulary.labels, self.published.supports().tolist(), strict=True))
        several = {label for label, items in self.members().items() if len(items) > 1}
        lines = [] if self.counts is None else self.counts.lines()
        return any(label in several and rows == shown[label] for _, label, rows in lines)

    def arranged(self, layout: Layout) -> RowsRelease:
        """Put rows without items last where the file cannot show them, so that the others are numbered on."""
        if layout.shows_empty_rows:
            return self
        order = np.argsort(self.published.row_lengths() == 0, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        rows = take_rows(self.published.indptr, self.published.items, order)
        return replace(
            self,
            published=Transactions(*rows, self.published.vocabulary),
            row_map=frozen(place[self.row_map], np.int64),
        )

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Choose the format wanted, else that of the input; basket in place of FIMI if labels are words."""
        layout = own if wanted is None or wanted == own.format else Layout(wanted)
        longest = int(self.published.row_lengths().max(initial=0))
        return writable_layout(layout, self.published.vocabulary.labels, longest)

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write the rows, and the counts if there are any."""
        name = f"data{layout.extension}"
        if layout.format == "parquet":
            from setveil.rows.data.io.parquet import in_groups, write_files

            require_text(self.published.vocabulary.labels)
            write_files(folder / name, in_groups(self.published), self.published.n_rows, layout)
        else:
            save(self.published, folder / name, layout)
        if self.counts is not None:
            self.counts.write(folder)
        return name, layout.options()


def publish(
    data: Transactions,
    made: AnyRecoding,
    seed: int,
    details: dict[str, Any] | None = None,
    least: int = 0,
) -> RowsRelease:
    """Recode the data, sort the rows by content and shuffle them.

    Shuffling alone would reveal the input's order: the seed is public, so anyone can reverse the shuffle.
    """
    group, indptr, items, weights, labels = _by_content(data, made)
    order, row_map = shuffled(group_order(group, weights), seed)
    published = Transactions(*take_rows(indptr, items, group[order]), labels)
    # What was found to sort the rows need not be found again.
    vars(published)["distinct"] = indptr, items, frozen(weights, np.int64)
    del group, order  # as large as the data
    filled = int(np.count_nonzero(published.row_lengths()))
    counts = Counts.of(data, made, least, filled=filled) if least else None
    parts = None
    if made.part_of_row is not None:
        parts = ItemParts.of(made.part_of_row, data, made)
    return RowsRelease(published, made, frozen(row_map, np.int64), details or {}, counts, parts)


def _by_content(data: Transactions, made: AnyRecoding) -> tuple[Ints, Ints, Ids, Ints, Vocabulary]:
    """Recode rows: the group of each, the distinct rows of labels that these groups are, and their sizes."""
    if not made.uniform:
        indptr, items, labels = in_used_labels(recode(data, made))
        group, first, weights = merge_rows_by_content(indptr, items)
        return group, *take_rows(indptr, items, first), weights, labels
    number, indptr, items, times = data.merged  # equal rows stay equal
    indptr, items, labels = in_used_labels(recode(Transactions(indptr, items, data.vocabulary), made))
    group, first, _ = merge_rows_by_content(indptr, items)
    weights = np.bincount(group, times, first.size).astype(np.int64)
    return group[number], *take_rows(indptr, items, first), weights, labels


def in_used_labels(recoded: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32], Vocabulary]:
    """Take recoded rows, and of the labels those that some row shows."""
    indptr, items, labels = recoded.indptr, recoded.items, recoded.vocabulary
    used = recoded.supports() > 0
    if used.all():
        return indptr, items, labels
    image = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    shown = Vocabulary(label for label, u in zip(labels.labels, used, strict=True) if u)
    return *recode_rows(indptr, items, image), shown


def shuffled(in_order: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shuffle rows sorted by published content: int64 rows by place in the release, and places by row."""
    # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
    order = in_order[by_key(np.random.PCG64(seed).random_raw(in_order.size))]
    row_map = np.empty(order.size, np.int64)
    row_map[order] = np.arange(order.size)
    return order, row_map


def by_key(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sort keys, equal ones as they come: by their leading bits, with the places as the last ones."""
    bits = np.uint64(keys.size.bit_length())
    last = (np.uint64(1) << bits) - np.uint64(1)
    packed = keys & ~last
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    order = (packed & last).astype(np.int64)
    packed >>= bits
    same = packed[1:] == packed[:-1]
    if same.any():  # these few are sorted by all their bits
        some = np.flatnonzero(np.append(same, False) | np.append(False, same))
        order[some] = order[some][np.lexsort((keys[order[some]], packed[some]))]
    return order


def holds(path: Path) -> bool:
    """Return whether a file or folder is a release of rows: whatever is none of another kind."""
    return True


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> Transactions:
    """Read a file of rows (``-``: standard input), or the published file of a run by its about.json.

    `reading` has options of `read_rows`; None: as about.json or else the file says. Rows without items that a
    long table cannot show come last, as many as about.json says, unless an option asks for another way of
    reading.
    """
    if path == "-":
        return read_rows(path, **reading)
    file = published_file(Path(path))
    options = {name: value for name, value in reading.items() if value is not None}
    about = about_file(file)
    recorded = published_layout(about)
    if recorded and recorded["format"] not in FORMATS:
        for kind in kinds():
            if kind.info.format and kind.info.format == recorded["format"]:
                raise of_another_kind(path, kind, kind_named("rows"))
    otherwise = any(recorded.get(name) != value for name, value in options.items() if name != "encoding")
    if not recorded or otherwise:
        return read_rows(str(file), **options)
    layout = shared_layout(about)
    if about.get("rows") and about["rows"] == about["empty_rows"]:
        return _read_empty(file, layout, about["rows"])
    rows = read_rows(str(file), **(reading_of_rows(about) | options))
    if rows.origin is not None:
        require_columns(str(file), rows.origin.ignored_columns)
    require_as_written(file, layout, rows)
    empty = int((rows.row_lengths() == 0).sum())
    missing = require_size(about, str(file), rows.n_rows, empty, shown=layout.shows_empty_rows)
    indptr = np.concatenate([rows.indptr, np.full(missing, rows.indptr[-1])])
    return replace(rows, indptr=frozen(indptr, np.int64))


def shared_layout(about: Mapping[str, Any]) -> Layout:
    """Read the layout of the published rows from an about.json."""
    recorded = published_layout(about)
    listed = recorded["format"] == "jsonl" and "item_column" in recorded
    options: Any = {key: tuple(x) if isinstance(x, list) else x for key, x in recorded.items()}
    return Layout(**options, nested="id_column" not in recorded, objects=listed)


def _read_empty(file: Path, layout: Layout, n_rows: int) -> Transactions:
    """Read a release that consists of the number of rows alone; other readers reject such files."""
    nothing = Transactions(
        frozen(np.zeros(n_rows + 1), np.int64), frozen(np.zeros(0), np.int32), Vocabulary(())
    )
    if read_bytes(file) != b"".join(write_blocks(nothing, layout)):
        raise DataError(
            f"{file} is not what {n_rows:,} rows without items look like, as its about.json says.",
            hint="The two files must come from the same release.",
        )
    return nothing


def measurable(
    path: str, exposed: Transactions, original: Transactions, tree: Hierarchy | None
) -> dict[str, Any]:
    """Return rows, recoding and counts of a release that was read (see `load_meaning`)."""
    recoding = load_meaning(path, original, exposed, tree)
    about = about_beside(path)
    counts = None if about is None else read_counts(about.parent, about_file(published_file(Path(path))))
    return {"kind": recoding.kind, "published": exposed, "recoding": recoding, "counts": counts}


def load_meaning(
    path: str, original: Transactions, published: Transactions, tree: Hierarchy | None
) -> AnyRecoding:
    """Find the meaning of the labels of a release, from the about.json next to it if there is one.

    Otherwise from a hierarchy: each item is published as the nearest node above it that the release has.
    Without either, every label must be an item of the original.
    """
    about = about_beside(path)
    if about is not None:
        return read_meaning(about, original, published)
    if tree is not None:
        return _meaning_by_hierarchy(original, published, tree)
    unknown = [label for label in published.vocabulary.labels if label not in original.vocabulary.ids]
    if unknown:
        raise DataError(
            f"{len(unknown):,} labels of {'the release' if path == '-' else path} are no items of the "
            f"original: {listed(unknown)}.",
            hint="Say what they represent: --hierarchy FILE, or keep the release's about.json with it.",
        )
    return recoding_of(original, published, {}, original.n_items)


def _meaning_by_hierarchy(original: Transactions, published: Transactions, tree: Hierarchy) -> AnyRecoding:
    unknown = [label for label in published.vocabulary.labels if label not in tree]
    if unknown:
        raise DataError(
            f"{len(unknown):,} labels of the release are not in the hierarchy: {listed(unknown)}.",
            hint="Is this the hierarchy that the release was made with?",
        )
    tree.locate(original.vocabulary)
    members: dict[str, list[str]] = {}
    nodes = {tree.id(label) for label in published.vocabulary.labels}
    for v in sorted(nodes):
        above = [u for u in tree.ancestors(v) if u in nodes]
        if above:
            raise DataError(
                f"The release contains {tree.labels[v]!r} and also {tree.labels[above[0]]!r}, which is "
                "above it. In a global recoding, each item has one label.",
            )
        if tree.children(v):
            members[tree.labels[v]] = [tree.labels[leaf] for leaf in tree.leaves(v)]
    return recoding_of(original, published, members, tree.n_leaves)


def write_members(path: Path, members: Mapping[str, list[str]], domain: int) -> None:
    """Write members.json: all items that each label represents, if about.json lists only some."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump({"domain": domain, "labels": members}, file, ensure_ascii=False, indent=2)
        file.write("\n")


def all_members(
    about: Path, content: Mapping[str, Any], original: Sums | None = None
) -> tuple[dict[str, list[str]], int]:
    """Return all members of each label (perhaps from internal/members.json), and how many items exist."""
    labels: dict[str, list[str]] = content["labels"]
    path = about.parent.parent / "internal" / MEMBERS_FILE
    if not others_in(content) and ("domain" in content or not path.is_file()):
        return labels, content.get("domain", 0 if original is None else original.n_items)
    if not path.is_file():
        raise DataError(
            f"{about} does not list all items of its labels, and {path} is missing.",
            hint="Name the whole folder of the run, with its internal files.",
        )
    try:
        record = read_json(path.read_text(encoding="utf-8"))
        found, domain = record["labels"], record["domain"]
        known = all(set(items) <= set(found[label]) for label, items in labels.items())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(path, "does not list the items of each label", error) from None
    if not known:
        raise DataError(
            f"{path} and {about} list different items.", hint="The two files must come from the same release."
        )
    return {label: found[label] for label in labels}, domain


def read_meaning(about: Path, original: Transactions, published: Transactions) -> AnyRecoding:
    """Read the meaning of labels from about.json; a local recoding also needs the run's internal/rows.csv.

    An original item that is neither a published label nor a member of one was suppressed.
    """
    content = read_about(about)
    labels, domain = all_members(about, content, original)
    if content.get("recoding", "global") == "global":
        _require_one_label(about, labels)
        return recoding_of(original, published, labels, domain)
    row_map = read_row_map(about.parent.parent / "internal" / "rows.csv", original.n_rows, published.n_rows)
    return local_recoding_of(original, published, labels, domain, row_map)


def read_image(about: Path, published: Transactions) -> dict[str, str]:
    """Read from about.json the label that represents each item; suppressed items are not in the answer."""
    if read_about(about).get("recoding", "global") != "global":
        raise DataError(f"{about}: {_SEVERAL}", hint=_LOCAL_HINT)
    labels = read_meaning(about, published, published).members()
    return {item: label for label, items in labels.items() for item in items}


def _require_one_label(about: Path, labels: dict[str, list[str]]) -> None:
    """Refuse labels that contradict each other: an item has one, and that is not an item with another."""
    label_of: dict[str, str] = {}
    for label, items in labels.items():
        for item in items:
            other = label_of.setdefault(item, label)
            if other != label:
                raise DataError(
                    f"{about}: the item {shorten(item)} is under {shorten(other)} and under "
                    f"{shorten(label)}, expected one label for each item."
                )
    both = [label for label in labels if label in label_of]
    if both:
        raise DataError(
            f"{about}: {shorten(both[0])} is a label that represents items, and an item under "
            f"{shorten(label_of[both[0]])}, expected one or the other."
        )


def read_row_map(path: Path, n_rows: int, n_published: int) -> NDArray[np.int64]:
    """Read the published row of each row of the original from internal/rows.csv."""
    if not path.is_file():
        raise DataError(
            f"{path} is missing: in this release an item may have several labels, and only the map of "
            "the rows shows them.",
            hint="Measure the run's whole folder.",
        )
    try:
        with path.open(encoding="utf-8") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an empty file, which is refused below
            table = np.loadtxt(file, np.int64, delimiter=",", skiprows=1, ndmin=2).reshape(-1, 2)
    except ValueError as error:
        raise unreadable(path, "is no map of rows", error) from None
    row_map = table[:, 1]
    if row_map.size != n_rows or ((row_map < 0) | (row_map >= n_published)).any():
        raise DataError(
            f"{path} maps {row_map.size:,} rows, but there are {n_rows:,} in the original and "
            f"{n_published:,} in the release.",
            hint="Is this the release of another file?",
        )
    return row_map


def local_recoding_of(
    original: Transactions,
    published: Transactions,
    members: dict[str, list[str]],
    domain: int,
    row_map: NDArray[np.int64],
) -> LocalRecoding:
    """Find, for each occurrence, the label of its published row that represents it."""
    inside = [members.get(label, [label]) for label in published.vocabulary.labels]
    items = Vocabulary(dict.fromkeys([*original.vocabulary.labels, *(x for part in inside for x in part)]))
    starts = np.cumsum([0, *map(len, inside)])
    ids = items.ids
    label_items = np.array([i for part in inside for i in sorted(ids[x] for x in part)], np.int32)
    recoding = LocalRecoding(items, published.vocabulary, starts, label_items, np.zeros(0, np.int32), domain)
    labels, ends = standing_for(original, items, recoding.memberships())
    rows = np.repeat(np.arange(published.n_rows), published.row_lengths())
    there = np.repeat(np.repeat(row_map, original.row_lengths()), np.diff(ends))
    found = np.isin(there * len(inside) + labels, rows * len(inside) + published.items)
    image = np.full(original.n_occurrences, -1, np.int32)
    occurrence = np.repeat(np.arange(original.n_occurrences), np.diff(ends))[found]
    # Of several labels of one item in a row, the one that stands for the fewest items counts: it comes last.
    narrowest = np.argsort(-np.diff(starts)[labels[found]], kind="stable")
    image[occurrence[narrowest]] = labels[found][narrowest]
    return replace(recoding, image=image)


def recoding_of(
    original: Transactions, published: Transactions, members: dict[str, list[str]], domain: int
) -> Recoding:
    """Make the recoding that turns the original's items into labels with these members."""
    labels = [*published.vocabulary.labels, *(x for x in members if x not in published.vocabulary.ids)]
    position = {label: i for i, label in enumerate(labels)}
    image = {item: position[label] for label, items in members.items() for item in items}
    for label in published.vocabulary.labels:
        if label not in members:
            image.setdefault(label, position[label])
    for item in original.vocabulary.labels:
        image.setdefault(item, -1)
    return Recoding(
        Vocabulary(image), Vocabulary(labels), np.fromiter(image.values(), np.int32, len(image)), domain
    )
