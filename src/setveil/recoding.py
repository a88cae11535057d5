"""What each item becomes in a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, listed
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import frozen, recode_rows


@dataclass(frozen=True, eq=False)
class Recoding:
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
        |I|, the number of items that exist. More than `items` holds where the recoding was read from a
        release, which says nothing of items that do not occur.
    """

    items: Vocabulary
    published: Vocabulary
    image: NDArray[np.int32]
    domain: int

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
        nodes = sorted(set(cut).difference(suppressed))
        image = np.full(tree.n_leaves, -1, np.int32)
        for position, node in enumerate(nodes):
            image[tree.under(node)] = position
        return cls(
            Vocabulary(tree.labels[: tree.n_leaves]),
            Vocabulary(tree.labels[node] for node in nodes),
            frozen(image, np.int32),
            tree.n_leaves,
        )

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """Number of items that each published label stands for: int64 (published,)."""
        return np.bincount(self.image[self.image >= 0], minlength=len(self.published)).astype(np.int64)

    def members(self) -> dict[str, list[str]]:
        """List the items that each published label stands for, in item order."""
        out: dict[str, list[str]] = {label: [] for label in self.published.labels}
        for item, to in zip(self.items.labels, self.image.tolist(), strict=True):
            if to >= 0:
                out[self.published.labels[to]].append(item)
        return out

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
                f"The recoding says nothing of {len(unknown):,} items of the data: {listed(unknown)}.",
                hint="Is this the release of another file?",
            )
        return self.image[[ids[label] for label in vocabulary.labels]]

    def apply(self, data: Transactions) -> Transactions:
        """Recode every row, in the same order; labels that no row holds stay in the vocabulary."""
        rows = recode_rows(data.indptr, data.items, self.image_of(data.vocabulary))
        return Transactions(*rows, self.published)
