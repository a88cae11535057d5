"""What may be generalized where some items are sensitive: rows and hierarchy without these items."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, listed
from setveil.base.wording import are, count
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows
from setveil.releases.published.recoding import LocalRecoding, Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy


def unseen_warnings(data: Transactions, sensitive: Sequence[str], tree: Hierarchy | None = None) -> list[str]:
    """Check that sensitive items exist in the data (unless empty) or the tree; warn of those in no row."""
    support = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    leaves = set() if tree is None else set(tree.labels[: tree.n_leaves])
    unknown = [label for label in sensitive if label not in support and label not in leaves]
    groups = [label for label in unknown if tree is not None and label in tree]
    if groups:
        raise RequestError(
            f"{count(len(groups), 'sensitive item')} {are(len(groups))} no item but a group of the "
            f"hierarchy: {listed(groups)}.",
            hint="Name the items below it instead.",
        )
    if unknown and data.n_occurrences:
        where = "not in the data" if tree is None else "neither in the data nor in the hierarchy"
        raise RequestError(
            f"{count(len(unknown), 'sensitive item')} {are(len(unknown))} {where}: {listed(unknown)}.",
            hint="Check how they are written; a sensitive item that is not found is not protected.",
        )
    unseen = [label for label in sensitive if not support.get(label)]
    if not unseen:
        return []
    return [f"{count(len(unseen), 'sensitive item')} {are(len(unseen))} in no row: {listed(unseen)}."]


def sensitive_mask(data: Transactions, sensitive: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which items of the data are sensitive: bool (n_items,), read-only."""
    hidden = set(sensitive)
    return frozen([label in hidden for label in data.vocabulary.labels], np.bool_)


class PublicPart:
    """Rows and hierarchy without the sensitive items, and the way back to recodings of all items.

    Sensitive items are never generalized: they are published as themselves or suppressed. So a node of the
    hierarchy represents the public leaves below it only, and losses count these: publishing an occurrence as
    node v costs what its u(v) public leaves of |I_P| in all make it cost, a sensitive occurrence costs
    nothing, and 1 where it is suppressed.

    - data, hierarchy: all rows with all items, and the whole hierarchy
    - rows: the same rows, in the same order, without sensitive items; a row may be empty
    - tree: the hierarchy without sensitive leaves and inner nodes without a leaf; an only child is merged
      with its parent, and the child's label stays
    - leaf: int32 (rows.n_items,), the leaf in `tree`; located: int32 (data.n_items,), the leaf in the
      hierarchy
    - node: int32 (tree.n_nodes + 1,), the node of the hierarchy that each node of `tree` is; -1 at the end
    - is_sensitive: bool (data.n_items,); sensitive: int64, those that some row holds, in item order
    - warnings: sentences about sensitive items that no row holds

    >>> tree = Hierarchy.from_paths([["a1", "A", "*"], ["a2", "A", "*"], ["s", "B", "*"], ["b", "B", "*"]])
    >>> part = PublicPart(Transactions.from_rows([["a1", "s"], ["a2", "b"], ["s"]]), tree, ["s"])
    >>> part.rows.rows(), part.tree.labels
    ([('a1',), ('a2', 'b'), ()], ('a1', 'a2', 'b', 'A', '*'))
    """

    def __init__(self, data: Transactions, hierarchy: Hierarchy, sensitive: Sequence[str]) -> None:
        located = hierarchy.locate(data.vocabulary)
        self.data = data
        self.warnings = unseen_warnings(data, sensitive, hierarchy)
        labels = data.vocabulary.labels
        self.is_sensitive = sensitive_mask(data, sensitive)
        self.sensitive: Ints = frozen(np.flatnonzero(self.is_sensitive & (data.supports() > 0)), np.int64)
        public = np.flatnonzero(~self.is_sensitive)
        image = np.full(data.n_items, -1, np.int32)
        image[public] = np.arange(public.size)
        rows = recode_rows(data.indptr, data.items, image)
        self.rows = Transactions(*rows, Vocabulary(labels[item] for item in public.tolist()))
        self.tree = _without(hierarchy, set(sensitive))
        self.leaf: Ids = frozen(self.tree.locate(self.rows.vocabulary), np.int32)

        self.hierarchy = hierarchy
        self.located: Ids = frozen(located, np.int32)
        self.node: Ids = frozen([*(hierarchy.id(label) for label in self.tree.labels), -1], np.int32)

    def recoding(self, nodes: NDArray[np.integer], hidden: Collection[int] = ()) -> Recoding:
        """Publish public items as nodes, and sensitive items as themselves but for hidden ones.

        nodes: (tree.n_leaves,) or longer, the node of `tree` that each leaf is published as, -1 if
        suppressed; `hidden`: ids of the data, suppressed everywhere. The result is over all leaves of the
        hierarchy; its `domain` counts the public ones.
        """
        tree, hierarchy = self.tree, self.hierarchy
        leaves = np.arange(tree.n_leaves)
        to = np.arange(hierarchy.n_leaves)  # sensitive leaves: themselves
        to[self.node[leaves]] = self.node[nodes[leaves]]
        to[self.located[list(hidden)]] = -1
        used = np.unique(to[to >= 0])
        position = np.full(hierarchy.n_nodes + 1, -1, np.int32)
        position[used] = np.arange(used.size)
        return Recoding(
            Vocabulary(hierarchy.labels[: hierarchy.n_leaves]),
            Vocabulary(hierarchy.labels[v] for v in used.tolist()),
            frozen(position[to], np.int32),
            tree.n_leaves,
        )

    def local_recoding(
        self,
        nodes: NDArray[np.integer],
        hidden: NDArray[np.bool_],
        part_of_row: NDArray[np.int64] | None = None,
    ) -> LocalRecoding:
        """Publish occurrences of public items as nodes, and sensitive ones as themselves but for hidden ones.

        nodes: (rows.n_occurrences,), the node of `tree` that each is published as, -1 if suppressed; by
        leaves these are ``nodes[part.leaf[part.rows.items]]``. hidden: bool (data.n_occurrences,), sensitive
        and suppressed; part_of_row: see `LocalRecoding`. The `domain` of the result counts the public leaves.
        """
        tree, hierarchy = self.tree, self.hierarchy
        sensitive = self.is_sensitive[self.data.items]
        to = self.located[self.data.items]  # a copy
        to[~sensitive] = self.node[nodes]
        to[sensitive & hidden] = -1
        used = np.unique(to[to >= 0])
        position = np.full(hierarchy.n_nodes + 1, -1, np.int32)
        position[used] = np.arange(used.size)
        leaves = [self._public_leaves(v) for v in used.tolist()]
        return LocalRecoding(
            Vocabulary(hierarchy.labels[: hierarchy.n_leaves]),
            Vocabulary(hierarchy.labels[v] for v in used.tolist()),
            frozen(np.cumsum([0, *(part.size for part in leaves)]), np.int64),
            frozen(np.concatenate([np.zeros(0, np.int32), *leaves]), np.int32),
            frozen(position[to], np.int32),
            tree.n_leaves,
            part_of_row,
        )

    def _public_leaves(self, node: int) -> Ids:
        """List what a node of the hierarchy represents, ascending: itself, or the public leaves below it."""
        if node < self.hierarchy.n_leaves:
            return np.array([node], np.int32)
        return np.sort(self.node[self.tree.under(self.tree.id(self.hierarchy.labels[node]))])


def _without(hierarchy: Hierarchy, hidden: Collection[str]) -> Hierarchy:
    """Remove leaves from a hierarchy, and the inner nodes that have none left; merge only children."""
    left = [leaf for leaf in range(hierarchy.n_leaves) if hierarchy.labels[leaf] not in hidden]
    if not left:
        raise RequestError(
            f"All {count(hierarchy.n_leaves, 'item')} of the hierarchy are sensitive: no other is left to be "
            "published.",
            hint="Name as sensitive only what must not be learned of a person.",
        )
    if len(left) == hierarchy.n_leaves:
        return hierarchy.merged()
    parents: dict[str, str | None] = {}
    for leaf in left:
        path = [leaf, *hierarchy.ancestors(leaf)]
        for v in path:
            up = int(hierarchy.parent[v])
            parents[hierarchy.labels[v]] = None if up < 0 else hierarchy.labels[up]
    return hierarchy.derived(parents).merged()
