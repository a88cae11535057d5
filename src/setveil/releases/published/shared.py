"""All that is shared of a release of rows, or of the items of a table: rows, what labels mean, and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from setveil.base.errors import DataError
from setveil.releases.published import Release, kind_at, kind_named, kind_of_recoding
from setveil.releases.published.about import about_file, published_file
from setveil.releases.published.counts import Counts, read_counts
from setveil.releases.published.listing import others_in
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Sums
from setveil.rows.data.transactions import Transactions

if TYPE_CHECKING:
    from setveil.releases.published.block_files import PublishedBlocks
    from setveil.releases.published.chunk_files import PublishedChunks
    from setveil.releases.published.table_files import PublishedTable

_FEW_FACTS = 100_000  # of all boxes together: these are named one by one


@dataclass(frozen=True, eq=False)
class SharedSums:
    """A release as sums over its rows; more need not be known."""

    rows: Sums  # the published rows
    # The items that each label of about.json stands for, those that no row shows included. A label that is
    # not in it is an item, and stands for itself.
    members: Mapping[str, tuple[str, ...]]
    counts: Any  # supports of items, where the release has them: `Counts`, of rows in classes `ClassCounts`
    about: Mapping[str, Any]  # the about.json
    # how items of a query are written
    layout: Layout = field(default_factory=lambda: Layout("basket"))

    def under(self, label: str) -> tuple[str, ...]:
        """Items that a label represents."""
        return self.members.get(label, (label,))

    def supports(self) -> dict[str, int]:
        """Count the rows that show each label."""
        return dict(zip(self.rows.vocabulary.labels, self.rows.supports().tolist(), strict=True))

    def unnamed(self, label: str) -> int:
        """Count the items that a label represents in addition to those of `under`."""
        return 0

    @cached_property
    def others(self) -> frozenset[str]:
        """Labels that may have members that about.json does not list."""
        return others_in(self.about)

    @property
    def boxes(self) -> Any:
        """The boxes of facts; None: the rows are no facts."""
        return None

    @property
    def uncounted(self) -> frozenset[str]:
        """Sensitive items, whose counts are never published."""
        guarantee = self.about.get("guarantee")
        return frozenset(guarantee.get("sensitive", ()) if isinstance(guarantee, Mapping) else ())


@dataclass(frozen=True, eq=False)
class Shared(SharedSums):
    """Everything a recipient of the release can see, with rows in memory (see `SharedSums`)."""

    rows: Transactions
    layout: Layout  # how the rows are written
    table: PublishedTable | None = None  # the table whose items the rows are

    def with_more(self, number: Mapping[str, int]) -> Self:
        """Invent items of labels that do not list all of theirs: this many of each."""
        members = dict(self.members)
        taken = {*members, *(item for items in members.values() for item in items), *self.supports()}
        for label, n in number.items():
            names = [f"other {i} of {label}" for i in range(1, n + 1)]
            members[label] = (*members.get(label, ()), *(x for x in names if x not in taken))
        return replace(self, members=members)


@dataclass(frozen=True, eq=False)
class SharedFacts(Shared):
    """The same for rows of facts, whose boxes represent more facts than need be listed.

    Facts with a count are named. Others are named if all boxes together have few, else as many of a box as
    rows show it, which is enough for each row to contain one.
    """

    rows: Any  # FactRows
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # invented facts of boxes

    @property
    def boxes(self) -> Any:
        """The boxes of facts."""
        return self.rows.stands_for

    @cached_property
    def _named(self) -> Mapping[str, tuple[str, ...]]:
        boxes = self.rows.stands_for
        if sum(map(boxes.size, boxes.boxes)) <= _FEW_FACTS:
            listed = {box: filter(boxes.is_listed, boxes.facts(box)) for box in boxes.boxes}
            return {boxes.text(box): tuple(map(boxes.text, inside)) for box, inside in listed.items()}
        counted = {} if self.counts is None else self.counts.by_label
        supports, found = self.supports(), {}
        for at, box in enumerate(boxes.boxes):
            text = boxes.text(box)
            inside = [(one, boxes.fact(one)) for one in counted.get(text, ())]
            named = [one for one, fact in inside if fact is not None and boxes.around(fact) == at]
            some = boxes.some(box, len(named) + supports[text])
            others = map(boxes.text, filter(boxes.is_listed, some))
            found[text] = tuple(dict.fromkeys([*named, *others]))
        return found

    def under(self, label: str) -> tuple[str, ...]:
        """Facts of a box that are named."""
        return (*self._named[label], *self.more.get(label, ()))

    def unnamed(self, label: str) -> int:
        """Count the facts of a box that are not named."""
        boxes, at = self.rows.stands_for, self.rows.vocabulary.ids[label]
        number: int = boxes.size(boxes.boxes[at]) - len(self._named[label])
        return number

    @cached_property
    def others(self) -> frozenset[str]:
        """Boxes that may have facts whose codes about.json does not list."""
        boxes = self.rows.stands_for
        return frozenset(boxes.text(box) for box in boxes.boxes if boxes.has_others(box))

    def with_more(self, number: Mapping[str, int]) -> Self:
        """Invent facts of boxes that do not list all of theirs: this many of each."""
        boxes, found = self.rows.stands_for, {}
        for label, n in number.items():
            box = boxes.boxes[self.rows.vocabulary.ids[label]]
            found[label] = tuple(boxes.text(boxes.other(box, i)) for i in range(1, n + 1))
        return replace(self, more=found)


def facts_shared(rows: Any, counts: Counts | None, about: Mapping[str, Any]) -> SharedFacts:
    """Take what is shared of a release of facts; several facts of a query have semicolons between them."""
    return SharedFacts(rows, {}, counts, {**about, "recoding": "global"}, Layout("basket", separator=";"))


def sums_by_name(rows: PublishedChunks | PublishedBlocks, about: Mapping[str, Any]) -> SharedSums:
    """Take what a release of chunks or of noisy blocks tells: items under their own names."""
    return SharedSums(rows, {}, None, about)  # type: ignore[arg-type]  # its estimator asks blocks for nothing else


def sums_of_parts(published: Sums, recoding: AnyRecoding, counts: Any) -> SharedSums:
    """Put together what a release tells from its parts: rows, recoding and counts."""
    shown = set(published.vocabulary.labels)
    members = {label: tuple(items) for label, items in recoding.members().items() if label in shown}
    return SharedSums(published, members, counts, recoding.promised())


def shared_by(release: Release, about: Mapping[str, Any], layout: Layout) -> Any:
    """Take the shared parts of a release in memory, of a table those of its items; `about` may be known."""
    meaning = {key: value for key, value in release.meaning().items() if key in ("labels", "others")}
    about = {**release.promised(), **about, **meaning}
    return release.info.shared_sums(release.exposed(), release.counts, about, layout)


def counts_beside(path: str) -> tuple[Counts | None, dict[str, Any]]:
    """Read the counts and about.json next to published rows; None and {} without any, or for ``-``."""
    if path == "-":
        return None, {}
    file = published_file(Path(path))
    about = about_file(file)
    return read_counts(file.parent, about), about


def layout_of_sets(delimiter: str) -> Layout:
    """Say how the items of a table's row are written, for those who name some."""
    return Layout("basket", separator=delimiter if len(delimiter) == 1 and delimiter.isascii() else ",")


def read_sums(path: Path, read_rows: Callable[..., Transactions]) -> SharedSums:
    """Read what is shared of a release that answers queries, of any such kind."""
    kind = kind_at(str(path))
    if kind.info.by_labels:
        return read_shared(path, read_rows, sets=True)
    counts, about = counts_beside(str(path))
    sums: SharedSums = kind.info.shared_sums(kind.read(str(path), read_rows), counts, about, None)
    return sums


def read_shared(path: Path, read_rows: Callable[..., Transactions], *, sets: bool = False) -> Shared:
    """Read the shared parts of a run's folder, or of its `published`; with `sets`, also of a table."""
    file = published_file(path)
    about = about_file(file)
    if not about:
        raise DataError(
            f"There is no about.json next to {file} to say what its labels represent.",
            hint="Name the folder that `setveil anonymize` wrote, or all that was shared of it.",
        )
    kind = kind_of_recoding(about.get("recoding", "global"))
    if kind is None or not kind.info.by_labels or (kind.info.shown.is_table and not sets):
        found = "something unknown" if kind is None else kind.info.title
        raise DataError(
            f"{path} contains {found}, not {kind_named('rows').info.title}.",
            hint="For a table, `setveil query` estimates how many rows contain some items. `setveil verify`, "
            "`risk` and `measure` also accept it."
            if kind is not None and kind.info.shown.is_table
            else "",
        )
    counts, about = read_counts(file.parent, about), {"recoding": "global", **about}
    shared: Shared = kind.info.shared_sums(kind.read(str(file), read_rows), counts, about, None)
    return shared
