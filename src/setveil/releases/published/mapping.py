"""The recoding of one release applied to the items of other rows, known to it and unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from setveil.base.errors import DataError, listed, shorten
from setveil.base.wording import count
from setveil.kernels.rows import frozen
from setveil.releases.published.recoding import Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy.tree import Hierarchy

Image = Mapping[str, str | None]
Change = tuple[str | None, str | None]  # a label before and after; None: suppressed


@dataclass(frozen=True, eq=False)
class Mapped:
    """The result of a recoding for the items of other rows."""

    # The label of each item that exists, None: it is suppressed. Items of the recoding, leaves of the
    # hierarchy and items of the rows, in item order.
    image: dict[str, str | None]
    known: tuple[str, ...]  # items of the rows that the recoding knows, in item order
    under: dict[str, str]  # items of the rows that it does not know, and the label above them
    # items of the rows that it does not know, and that stand under none of its labels
    left_out: tuple[str, ...]


def mapped(recoding: Image, data: Transactions, tree: Hierarchy | None) -> Mapped:
    """Find what a recoding, whose hierarchy may have gained leaves, makes of rows that it was not made for.

    An item that it does not know becomes its nearest proper ancestor among the labels, or is suppressed: it
    never stays unchanged, not even next to siblings that do.
    """
    labels = set(recoding.values()) - {None}
    if tree is not None:
        _require_above(recoding, tree)
    _require_no_labels(recoding, labels, data, tree)
    leaves = () if tree is None else tree.labels[: tree.n_leaves]
    image = dict(recoding)
    for item in (*leaves, *data.vocabulary.labels):
        if item not in image:
            image[item] = None if tree is None else _label_above(item, labels, tree)
    used = np.flatnonzero(data.supports())
    items = [data.vocabulary.labels[i] for i in used.tolist()]
    fresh = {item: image[item] for item in items if item not in recoding}
    return Mapped(
        {item: image[item] for item in item_order(image)},
        tuple(item for item in items if item in recoding),
        {item: label for item, label in fresh.items() if label is not None},
        tuple(item for item, label in fresh.items() if label is None),
    )


def _label_above(item: str, labels: Collection[str | None], tree: Hierarchy) -> str | None:
    """Find the nearest proper ancestor of an item among labels."""
    above = [tree.labels[v] for v in tree.ancestors(tree.id(item))] if item in tree else []
    return next((label for label in above if label in labels), None)


def _require_above(recoding: Image, tree: Hierarchy) -> None:
    """Refuse a hierarchy that lacks a label, or does not have an item below its label."""
    hint = "It must be the hierarchy of the earlier run; it may have gained items, but lost or moved none."
    lacking = [label for label in dict.fromkeys(recoding.values()) if label is not None and label not in tree]
    if lacking:
        raise DataError(
            f"The hierarchy lacks {len(lacking):,} labels of the earlier run: {listed(lacking)}.", hint=hint
        )
    place = np.empty(tree.n_leaves, np.int64)
    place[tree.leaf_order] = np.arange(tree.n_leaves)
    for item, label in recoding.items():
        if label is None:
            continue
        leaf, v = tree.id(item) if item in tree else tree.n_leaves, tree.id(label)
        if leaf >= tree.n_leaves or not tree.low[v] <= place[leaf] < tree.high[v]:
            raise DataError(
                f"The earlier run published {shorten(item)} as {shorten(label)}, but the hierarchy does not "
                "have that item below that label.",
                hint=hint,
            )


def _require_no_labels(
    recoding: Image, labels: Collection[str | None], data: Transactions, tree: Hierarchy | None
) -> None:
    """Refuse rows with items that have the name of what represents others."""
    inner = () if tree is None else tree.labels[tree.n_leaves :]
    names = ({label for label in labels if label is not None} | set(inner)).difference(recoding)
    wrong = [item for item in data.vocabulary.labels if item in names]
    if wrong:
        have = "has" if len(wrong) == 1 else "have"
        raise DataError(
            f"{count(len(wrong), 'item')} of the new rows {have} the name of a label that represents others: "
            f"{listed(wrong)}.",
            hint="Are these rows published ones? Else give the items other names.",
        )


def recoding_of_image(image: Image, tree: Hierarchy | None) -> Recoding:
    """Make the recoding from the label of each item, or None, in the order of nodes or of items."""
    labels = list(dict.fromkeys(label for label in image.values() if label is not None))
    if tree is not None:
        labels.sort(key=tree.id)
    position = {label: i for i, label in enumerate(labels)}
    to = [-1 if label is None else position[label] for label in image.values()]
    return Recoding(Vocabulary(image), Vocabulary(labels), frozen(np.array(to), np.int32), len(image))


def differences(before: Image, after: Image, items: Iterable[str]) -> dict[Change, list[str]]:
    """List the items whose label two recodings do not agree on, by both labels (None: suppressed)."""
    out: dict[Change, list[str]] = {}
    for item in items:
        if before[item] != after[item]:
            out.setdefault((before[item], after[item]), []).append(item)
    return out
