"""The result of each item in a release."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, listed
from setveil.base.values.per_column import column_of, item_of
from setveil.kernels.rows import frozen, recode_rows
from setveil.releases.published import Made
from setveil.releases.published.listing import Listing, common_facts, listing_of
from setveil.rows.data.io.write import quoting
from setveil.rows.data.sums import Sums, in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy.boxes import BoxTree
from setveil.rows.hierarchy.tree import Hierarchy

# recodings of tables: of the items of each row by itself, and of the same items everywhere
TABLE_LOCAL, TABLE_GLOBAL = "table", "table-cut"


class _ByLabels(Made):
    """A recoding whose labels come in an order that items of few rows do not decide."""

    release: ClassVar[str] = "rows"

    kind: ClassVar[str]
    labels_from: ClassVar[str] = "nodes"

    def ordered(self, data: Sums, tree: Hierarchy | None, least: int, *, list_members: bool = False) -> Self:
        """Order labels such that items that must not be listed make no difference."""
        listing = None if list_members else self.listing(data, tree, least)
        return self if listing is None else self.naming(listing, data)

    def listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Listing | None:
        """Find the items that may be listed; None: all."""
        return listing_of(data, tree, least)

    def promised(self) -> dict[str, Any]:
        """Return the parts of about.json on which answers depend, the meaning of labels aside."""
        return {"recoding": self.kind}

    def measurable(self, rows: Transactions) -> dict[str, Any]:
        """Return what measures are computed from, given the published rows."""
        return {"kind": self.kind, "published": rows, "recoding": self}

    def places(self, listing: Listing) -> dict[str, int]:
        """Put the items that are published by name in item order, in which no other item decides."""
        made: Any = self  # either kind of recoding
        own = made.items.ids.keys() & made.published.labels
        return {item: place for place, item in enumerate(item_order(own | listing.named))}

    def in_order(self, listing: Listing) -> Self:
        """Order labels such that members that must not be listed do not matter (see `listed_order`)."""
        made: Any = self  # either kind of recoding
        order = listed_order(made, listing)
        return self.taken(order, [made.published.labels[at] for at in order])

    def naming(self, listing: Listing, _data: Sums) -> Self:
        """Let labels and their order tell nothing of members that must not be listed."""
        return self.in_order(listing)

    def taken(self, order: Sequence[int], labels: Iterable[str]) -> Self:
        """Put labels in an order, under other names."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Recoding(_ByLabels):
    """A total map from items to published items; two items with the same image are one published item.

    Attributes
    ----------
    items : Vocabulary
        Every item the map is for: the leaves of the hierarchy, or the items of the data where there is none.
    published : Vocabulary
        The labels that items are published as, in item order.
    image : int32 (items,), read-only
        Position in `published` of each item; -1: the item is suppressed.
    domain : int
        ``|I|``, the number of items that exist. More than `items` holds where the recoding was read from a
        release, which says nothing of items that do not occur.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea"], ["coffee"], ["milk"], ["milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks).recoding.members()
    {'milk': ['milk'], 'hot': ['coffee', 'tea']}
    """

    items: Vocabulary
    published: Vocabulary
    image: NDArray[np.int32]
    domain: int

    part_of_row: ClassVar[None] = None  # rows are not recoded in parts
    kind: ClassVar[str] = "global"
    uniform: ClassVar[bool] = True  # all occurrences of an item become the same

    @classmethod
    def from_cut(cls, tree: Hierarchy, cut: Iterable[int], suppressed: Collection[int] = ()) -> Recoding:
        """Generalize every item to the node of the cut above it, and drop the suppressed nodes of the cut.

        Parameters
        ----------
        tree : Hierarchy
            The hierarchy.
        cut : iterable of int
            Exactly one node on every path from the root to a leaf.
        suppressed : collection of int
            Nodes of the cut that are not published.
        """
        gone = {*suppressed, *([tree.root] if tree.n_columns > 1 else [])}  # no label is of several columns
        nodes = sorted(set(cut).difference(gone))
        image = np.full(tree.n_leaves, -1, np.int32)
        for position, node in enumerate(nodes):
            image[tree.under(node)] = position
        items, labels = (
            Vocabulary(tree.labels[: tree.n_leaves]),
            Vocabulary(tree.labels[node] for node in nodes),
        )
        if (boxes := tree.as_boxes) is not None:
            return BoxRecoding(items, labels, frozen(image, np.int32), tree.domain, boxes)
        return cls(items, labels, frozen(image, np.int32), tree.domain)

    def write(self, path: Path) -> None:
        """Write recoding.csv: what each item became."""
        lines = zip(self.items.labels, self._labels_of_items(), strict=True)
        write_lines(path, ["item", "published"], lines)

    def _labels_of_items(self) -> Iterator[str]:
        """List the label of each item; the empty text if it is suppressed."""
        labels = (*self.published.labels, "")
        return (labels[to] for to in self.image.tolist())

    @staticmethod
    def from_groups(items: Vocabulary, group: NDArray[np.integer]) -> GroupRecoding:
        """Publish each group of items under one label (see `GroupRecoding.of`)."""
        return GroupRecoding.of(items, group)

    def taken(self, order: Sequence[int], labels: Iterable[str]) -> Self:
        """Put labels in an order, under other names."""
        place = np.append(np.argsort(order), -1).astype(np.int32)
        return replace(self, published=Vocabulary(labels), image=frozen(place[self.image], np.int32))

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """Number of items that each published label represents: int64 (published,)."""
        return np.bincount(self.image[self.image >= 0], minlength=len(self.published)).astype(np.int64)

    @property
    def domains(self) -> NDArray[np.int64]:
        """Number of items of the column of each published label: int64 (published,)."""
        return np.full(len(self.published), self.domain, np.int64)

    def members(self) -> dict[str, list[str]]:
        """List the items that each published label represents, in item order."""
        out: dict[str, list[str]] = {label: [] for label in self.published.labels}
        for item, to in zip(self.items.labels, self.image.tolist(), strict=True):
            if to >= 0:
                out[self.published.labels[to]].append(item)
        return out

    def memberships(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the pairs of an item and a label that represents it, as positions, by item."""
        inside = np.flatnonzero(self.image >= 0)
        return inside, self.image[inside].astype(np.int64)

    def images(self, data: Transactions) -> NDArray[np.int32]:
        """Position in `published` of each occurrence, in the order of ``data.items``; -1: suppressed."""
        return self.image_of(data.vocabulary)[data.items]

    def recoded(self, data: Transactions) -> Transactions:
        """Recode every row, in the same order; labels that no row contains stay in the vocabulary."""
        image = self.image_of(data.vocabulary)
        return Transactions(*recode_rows(data.indptr, data.items, image), self.published)

    def represented(self, label: int) -> NDArray[np.integer]:
        """List the items that a label represents: positions in `items`, ascending."""
        return np.flatnonzero(self.image == label)

    def tally(self, data: Sums) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Count the rows of each item and the label it is published under, by item.

        Returns
        -------
        item, label : int64 (pairs,)
            Item of the data, and position in `published`; -1: suppressed.
        rows : int64 (pairs,)
            How many rows publish the item so.
        """
        supports = data.supports()
        item = np.flatnonzero(supports)
        return item, self.image_of(data.vocabulary)[item].astype(np.int64), supports[item]

    def image_of(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """Image of each item of the data: int32 (n_items,), -1 where suppressed.

        Raises
        ------
        DataError
            If the recoding says nothing of an item.
        """
        ids = self.items.ids
        unknown = [label for label in vocabulary.labels if label not in ids]
        if unknown:
            raise DataError(
                f"The recoding does not contain {len(unknown):,} items of the data: {listed(unknown)}.",
                hint="Is this the release of another file?",
            )
        return self.image[[ids[label] for label in vocabulary.labels]]


class _OfGroups(_ByLabels):
    """A recoding to groups of items that occur, whose labels list the members of each group."""

    items: Vocabulary
    published: Vocabulary

    labels_from: ClassVar[str] = "members"

    def listing(self, data: Sums, _tree: Hierarchy | None, least: int) -> Listing | None:
        """Find the items that may be listed: in groups of items that occur a given list says nothing."""
        return listing_of(data, None, least)

    def naming(self, listing: Listing, data: Sums) -> Self:
        """Let the labels of groups name only members that may be listed, and say that there are others.

        ``(a,b,…)`` has others than a and b; a group without listed members is ``(… 1)``. Groups come by their
        smallest listed member, then by rows: neither names nor order depend on members that are not listed.
        """
        made: Any = self  # with the methods of either kind of recoding
        place = self.places(listing)
        found: list[tuple[int, str, int]] = []  # place of the smallest listed member, name, label
        for at, inside in enumerate(made.members().values()):
            shown = sorted((x for x in inside if x in listing.named), key=place.__getitem__)
            if len(inside) == 1:
                found.append((place[inside[0]], inside[0], at))
            else:
                name = _listed(shown, more=not listing.authored.issuperset(inside))
                found.append((place[shown[0]] if shown else len(place), name, at))
        nameless = _listed([], more=True)
        times = Counter(name for _, name, _ in found)
        known = {at: name for _, name, at in found if times[name] == 1 and name != nameless}
        marks = [(0, 0)] * len(found)
        if len(known) < len(found):
            from setveil.rows.hierarchy._signatures import signatures

            marks = signatures(recode(in_memory(data), made), known)
        order = sorted(found, key=lambda one: (*one[:2], marks[one[2]], one[2]))
        numbers, labels, counts = Counter[str](), [], made.member_counts
        for _, name, at in order:
            numbers[name] += 1
            if name == nameless or numbers[name] > 1:
                name = f"{name[:-1]} {numbers[name]})"  # noqa: PLW2901  (told from those of the same name)
            labels.append(_unlike(listing.named, name) if counts[at] > 1 else name)
        places = [at for *_, at in order]
        require_unlike(self.items.ids, [x for x, at in zip(labels, places, strict=True) if counts[at] > 1])
        return self.taken(places, labels)


class GroupRecoding(_OfGroups, Recoding):
    """A map from items to groups of items, whose labels list the members of each group."""

    @classmethod
    def of(cls, items: Vocabulary, group: NDArray[np.integer]) -> GroupRecoding:
        """Publish each group of items (equal numbers of at least 0; negative: suppressed) under one label.

        It is ``(a,b,c)`` in item order, quoted as in csv, with more parentheses if an item has the same
        label. A single item is unchanged.
        """
        members: dict[int, list[int]] = {}
        for item, g in enumerate(group.tolist()):
            if g >= 0:
                members.setdefault(g, []).append(item)
        image = np.full(len(items), -1, np.int32)
        labels: list[str] = []
        for inside in members.values():  # by smallest member
            image[inside] = len(labels)
            label = items.labels[inside[0]]
            if len(inside) > 1:
                label = _unlike(items.ids, _listed([items.labels[item] for item in inside]))
            labels.append(label)
        return cls(items, Vocabulary(labels), frozen(image, np.int32), len(items))


def _listed(members: Iterable[str], *, more: bool = False) -> str:
    """Name a group by members; with `more` it has others."""
    return f"({','.join([*map(_quoted, members), *(['…'] if more else [])])})"


def _unlike(items: Collection[str], label: str) -> str:
    """Put parentheses around a label, as many as tell it from items."""
    while label in items:
        label = f"({label})"
    return label


def require_unlike(items: Collection[str], labels: Iterable[str]) -> None:
    """Refuse labels that setveil made if an item has the same text.

    If enough rows contain such an item, labels get other texts. No other item may decide that.
    """
    if wrong := sorted(label for label in labels if label in items):
        raise DataError(
            f"{listed(wrong)} {'is an item' if len(wrong) == 1 else 'are items'} of few rows, called like a "
            "label that was computed, so a published row could be read in two ways.",
            hint="Give a hierarchy with labels of its own, or give these items other names.",
        )


class _OfBoxes(Made):
    """The facts that the published boxes of a tree represent."""

    labels_from: ClassVar[str] = "boxes"

    published: Vocabulary
    tree: BoxTree  # of which the boxes are nodes

    def ordered(self, data: Sums, _tree: Hierarchy | None, least: int, *, list_members: bool = False) -> Self:
        """Order boxes by facts that enough rows contain."""
        return self.in_order(common_facts(data, least))  # type: ignore[attr-defined, no-any-return]  # of both

    def tree_of(self, _tree: Hierarchy | None) -> Hierarchy:
        """Return the tree of the boxes."""
        return self.tree

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """Number of facts that each published box represents: int64 (published,)."""
        return self.tree.leaf_counts[self.nodes]

    @property
    def domains(self) -> NDArray[np.int64]:
        """Number of facts of the column of each published box: int64 (published,)."""
        return self.tree.domains[self.nodes]

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The node of each published box: int64 (published,)."""
        return np.array([self.tree.id(label) for label in self.published.labels], np.int64)


@dataclass(frozen=True, eq=False)
class BoxRecoding(_OfBoxes, Recoding):
    """A map from facts to boxes that contain them; each box also represents facts that do not occur."""

    tree: BoxTree  # of which the boxes are nodes

    release: ClassVar[str] = "facts"
    kind: ClassVar[str] = "facts"

    def write(self, path: Path) -> None:
        """Write recoding.csv: the box of each fact, with the name of its column if there are several."""
        if self.tree.n_columns == 1:
            super().write(path)
            return
        items = self.items.labels
        labels = (item_of(label) if label else label for label in self._labels_of_items())
        lines = zip(map(column_of, items), map(item_of, items), labels, strict=True)
        write_lines(path, ["set", "item", "published"], lines)


@dataclass(frozen=True, eq=False)
class ReadBoxes(Recoding):
    """The same map, read from a release and its original, without the tree that it was made by."""

    sizes: NDArray[np.int64]  # int64 (published,): the facts that each box stands for
    of_columns: NDArray[np.int64]  # int64 (published,): the facts that there are of the column of each box

    kind: ClassVar[str] = "facts"

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """Number of facts that each published box represents: int64 (published,)."""
        return self.sizes

    @property
    def domains(self) -> NDArray[np.int64]:
        """Number of facts of the column of each published box: int64 (published,)."""
        return self.of_columns


@dataclass(frozen=True, eq=False)
class LocalRecoding(_ByLabels):
    """The label of each occurrence of an item: one item may be published under several labels.

    Attributes
    ----------
    items : Vocabulary
        Every item that the labels represent: the leaves of the hierarchy.
    published : Vocabulary
        The labels that occurrences are published as, in item order.
    label_starts, label_items : int64 (published + 1,), int32, read-only
        The items that each label represents: positions in `items`, ascending.
    image : int32 (occurrences,), read-only
        Position in `published` of each occurrence of the data that it was made for; -1: suppressed.
    domain : int
        ``|I|``, the number of items that exist.
    part_of_row : int64 (n,) or None
        If rows were recoded in parts, each separately: the part of each row of the data; -1: none, since the
        row is empty.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea"], ["tea"], ["tea"], ["coffee"], ["coffee"], ["coffee", "milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> release = sv.anonymize(rows, sv.TransactionalKAnonymity(k=2), hierarchy=drinks)
    >>> type(release.recoding).__name__, release.recoding.image.size
    ('LocalRecoding', 7)
    """

    items: Vocabulary
    published: Vocabulary
    label_starts: NDArray[np.int64]
    label_items: NDArray[np.int32]
    image: NDArray[np.int32]
    domain: int
    part_of_row: NDArray[np.int64] | None = None

    kind: ClassVar[str] = "local"
    uniform: ClassVar[bool] = False

    @classmethod
    def from_nodes(
        cls,
        tree: Hierarchy,
        nodes: NDArray[np.integer],
        part_of_row: NDArray[np.int64] | None = None,
    ) -> LocalRecoding:
        """Publish each occurrence as a node of the hierarchy.

        Parameters
        ----------
        tree : Hierarchy
            The hierarchy.
        nodes : integer (occurrences,)
            The node of each occurrence, which lies at or above its leaf; -1: suppressed.
        part_of_row : int64 (n,), optional
            The part of each row (see `LocalRecoding`).
        """
        used = np.unique(nodes[nodes >= 0])
        position = np.full(tree.n_nodes + 1, -1, np.int32)
        position[used] = np.arange(used.size)
        leaves = [np.sort(tree.under(int(v))) for v in used]
        found = (
            Vocabulary(tree.labels[: tree.n_leaves]),
            Vocabulary(tree.labels[v] for v in used),
            frozen(np.cumsum([0, *(part.size for part in leaves)]), np.int64),
            frozen(np.concatenate([np.zeros(0, np.int32), *leaves]), np.int32),
            frozen(position[nodes], np.int32),
            tree.domain,
            part_of_row,
        )
        return cls(*found) if tree.as_boxes is None else LocalBoxes(*found, tree.as_boxes)

    def taken(self, order: Sequence[int], labels: Iterable[str]) -> Self:
        """Put labels in an order, under other names."""
        place = np.append(np.argsort(order), -1).astype(np.int32)
        parts = np.split(self.label_items, self.label_starts[1:-1])
        inside = [parts[at] for at in order]
        return replace(
            self,
            published=Vocabulary(labels),
            label_starts=frozen(np.cumsum([0, *(part.size for part in inside)]), np.int64),
            label_items=frozen(np.concatenate([np.zeros(0, np.int32), *inside]), np.int32),
            image=frozen(place[self.image], np.int32),
        )

    def write(self, path: Path) -> None:
        """Write nothing: the map of the rows says what each occurrence became."""

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """Number of items that each published label represents: int64 (published,)."""
        return np.diff(self.label_starts)

    @property
    def domains(self) -> NDArray[np.int64]:
        """Number of items of the sort of each published label: int64 (published,)."""
        return np.full(len(self.published), self.domain, np.int64)

    def members(self) -> dict[str, list[str]]:
        """List the items that each published label represents, in item order."""
        names = self.items.labels
        bounds = self.label_starts.tolist()
        inside = self.label_items.tolist()
        return {
            label: [names[item] for item in inside[bounds[i] : bounds[i + 1]]]
            for i, label in enumerate(self.published.labels)
        }

    def memberships(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the pairs of an item and a label that represents it, as positions, by item."""
        labels = np.repeat(np.arange(len(self.published)), np.diff(self.label_starts))
        by_item = np.argsort(self.label_items, kind="stable")
        return self.label_items[by_item].astype(np.int64), labels[by_item]

    def recoded(self, data: Transactions) -> Transactions:
        """Recode every row, in the same order; labels that no row contains stay in the vocabulary."""
        each = frozen(np.arange(data.n_occurrences), np.int32)
        return Transactions(*recode_rows(data.indptr, each, self.images(data)), self.published)

    def represented(self, label: int) -> NDArray[np.integer]:
        """List the items that a label represents: positions in `items`, ascending."""
        return self.label_items[self.label_starts[label] : self.label_starts[label + 1]]

    def images(self, data: Transactions) -> NDArray[np.int32]:
        """Position in `published` of each occurrence, in the order of ``data.items``; -1: suppressed.

        Raises
        ------
        DataError
            If these are not the data that the recoding was made for.
        """
        if data.n_occurrences != self.image.size:
            raise DataError(
                f"A local recoding of {self.image.size:,} occurrences does not fit data of "
                f"{data.n_occurrences:,}.",
                hint="Is this the release of another file?",
            )
        return self.image

    def tally(self, data: Sums) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Count the rows of each item and each label it is published under (see `Recoding.tally`)."""
        rows_in_memory, n = in_memory(data), len(self.published) + 1
        images = self.images(rows_in_memory).astype(np.int64)
        pairs = rows_in_memory.items.astype(np.int64) * n + (images + 1)
        keys, rows = np.unique(pairs, return_counts=True)
        return keys // n, keys % n - 1, rows


class LocalGroups(_OfGroups, LocalRecoding):
    """The group of items that each occurrence becomes, perhaps another one in other rows."""


@dataclass(frozen=True, eq=False)
class LocalBoxes(_OfBoxes, LocalRecoding):
    """The box with it that each occurrence of a fact becomes, perhaps another one in other rows."""

    tree: BoxTree = None  # type: ignore[assignment]  # of which the boxes are nodes; always given


AnyRecoding = Recoding | LocalRecoding
AnyBoxes = BoxRecoding | LocalBoxes


def listed_order(recoding: AnyRecoding, listing: Listing) -> list[int]:
    """Order labels: items first, then others by their listed members; the rest follow by name."""
    places, members = recoding.places(listing), recoding.members()
    keys: list[tuple[int, list[int], str, int]] = []
    for at, label in enumerate(recoding.published.labels):
        shown = sorted(places[item] for item in members[label] if item in listing.named)
        if label in recoding.items.ids:
            keys.append((0, [places[label]], "", at))
        else:
            keys.append((1, [shown[0], len(shown)], label, at) if shown else (2, [], label, at))
    return [at for *_, at in sorted(keys)]


def standing_for(
    data: Transactions, items: Vocabulary, memberships: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each occurrence with every label that represents its item: int64 labels, and their boundaries."""
    item, label = memberships
    starts = np.zeros(len(items) + 1, np.int64)
    np.cumsum(np.bincount(item, minlength=len(items)), out=starts[1:])
    position = np.array([items.ids[x] for x in data.vocabulary.labels], np.int64)[data.items]
    several = np.diff(starts)[position]
    ends = np.concatenate(([0], np.cumsum(several)))
    return label[np.arange(ends[-1]) + np.repeat(starts[position] - ends[:-1], several)], ends


def recode(data: Transactions, recoding: AnyRecoding) -> Transactions:
    """Recode every row, in the same order; labels that no row contains stay in the vocabulary."""
    return recoding.recoded(data)


def write_lines(path: Path, header: Iterable[str], lines: Iterable[Iterable[object]]) -> None:
    """Write an internal file: a header, and lines of texts and numbers."""
    quote = quoting(",")
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{','.join(map(quote, header))}\n")
        file.writelines(f"{','.join(quote(str(x)) for x in line)}\n" for line in lines)


def _quoted(label: str) -> str:
    if label != "…" and not set(label) & set(',()"\r\n'):
        return label
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="").writerow([label])
    return out.getvalue()
