"""The least loss of the recodings that are nowhere finer than a given one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._candidates import contracted
from setveil.methods.algorithms.exact._losses import Losses
from setveil.methods.algorithms.exact._search import Search
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._parameters import Exact

Image = Mapping[str, str | None]


class Floor:
    """A hierarchy cut off below the labels of a recoding (None: suppressed), of which none is above another.

    `stands_for`: int32 (n_leaves,), the node that represents each leaf of the hierarchy in `tree`: its label,
    or the leaf itself where that is suppressed; -1 where it is suppressed below a label, and so out of reach.
    These nodes are the leaves of `tree`; those that are suppressed items are `barred`.
    """

    def __init__(self, hierarchy: Hierarchy, image: Image) -> None:
        self.hierarchy = hierarchy
        leaves = range(hierarchy.n_leaves)
        labels = [image[hierarchy.labels[leaf]] for leaf in leaves]
        used = {hierarchy.id(label) for label in labels if label is not None}
        self.stands_for: Ids = np.empty(hierarchy.n_leaves, np.int32)
        self.barred: set[str] = set()
        for leaf, label in zip(leaves, labels, strict=True):
            if label is not None:
                self.stands_for[leaf] = hierarchy.id(label)
            elif used.isdisjoint([leaf, *hierarchy.ancestors(leaf)]):
                self.stands_for[leaf] = leaf
                self.barred.add(hierarchy.labels[leaf])
            else:
                self.stands_for[leaf] = -1
        parents: dict[str, str | None] = {hierarchy.labels[hierarchy.root]: None}
        for v in np.unique(self.stands_for[self.stands_for >= 0]).tolist():
            parents.update(pairwise(hierarchy.labels[u] for u in (v, *hierarchy.ancestors(v))))
        self.tree = Hierarchy(parents)

    def rows(self, data: Transactions) -> tuple[Transactions, Transactions]:
        """Cut rows down to the items in reach, and make of them rows of leaves of `tree`."""
        ids = {label: leaf for leaf, label in enumerate(self.hierarchy.labels[: self.hierarchy.n_leaves])}
        leaf = np.array([ids.get(label, -1) for label in data.vocabulary.labels], np.int32)
        leaf = np.where(np.append(self.stands_for, -1)[leaf] >= 0, leaf, -1)
        each = leaf[data.items]
        labels = self.hierarchy.labels
        inside = Transactions.from_codes(data.indptr, each, labels)
        return inside, Transactions.from_codes(data.indptr, np.append(self.stands_for, -1)[each], labels)

    def losses(
        self, objective: str, tree: Hierarchy, inside: Transactions, domain: int
    ) -> tuple[Losses, int]:
        """Make losses of the items under the nodes of a tree made of `tree`, beyond what its leaves lose.

        That is returned too, as it is lost whatever is coarsened. `inside`: rows of the items in reach;
        `domain`: number of items that exist, the leaves of the hierarchy and others that it lacks.
        """
        whole = Losses.of(objective, self.hierarchy, self.hierarchy, inside, {})
        if objective in ("ncp", "lm"):  # an item that is left out may be any of them
            more = domain - self.hierarchy.n_leaves
            hidden = [loss + more * w for loss, w in zip(whole.hidden, whole.weight, strict=True)]
            whole = replace(whole, hidden=hidden, whole=max(hidden))
        node = [self.hierarchy.id(label) for label in tree.labels]
        least = [whole.full[v] for v in node[: tree.n_leaves]]
        below = [sum(least[leaf] for leaf in tree.leaves(v)) for v in range(tree.n_nodes)]
        relative = replace(
            whole,
            occurrences=[whole.weight[v] for v in node[: tree.n_leaves]],
            weight=[whole.weight[v] for v in node],
            full=[whole.full[v] - b for v, b in zip(node, below, strict=True)],
            hidden=[whole.hidden[v] - b for v, b in zip(node, below, strict=True)],
        )
        return relative, sum(least)


def coarsened(
    data: Transactions,
    hierarchy: Hierarchy,
    image: Image,
    guarantee: KmAnonymity,
    parameters: Exact,
    progress: Progress,
) -> tuple[dict[str, str | None], dict[str, Any]]:
    """Coarsen a recoding until it makes the data k^m-anonymous, with the least possible loss.

    `image` is the recoding (see `Floor`) of all items that exist; items that the hierarchy lacks stay
    suppressed, others do unless a node above them is published. Nothing is kept or weighted. Returns for each
    leaf its label or None, and how good it is, as `setveil.methods.algorithms.exact.exact.anonymize` does.
    """
    floor = Floor(hierarchy, image)
    inside, rows = floor.rows(data)
    guarantee.require_feasible(rows)
    tree = contracted(floor.tree, set(rows.vocabulary.labels), floor.barred)
    losses, lost = floor.losses(parameters.loss, tree, inside, len(image))
    search = Search(rows, tree, guarantee, parameters, progress, losses, floor.barred)
    found = search.run()
    nodes, suppressed = search.published()
    hidden = {tree.labels[v] for v in suppressed}
    chosen = {tree.labels[v] for v in nodes} - hidden
    out: dict[str, str | None] = {}
    for leaf, node in enumerate(floor.stands_for.tolist()):
        above = [hierarchy.labels[v] for v in (node, *hierarchy.ancestors(node))] if node >= 0 else [""]
        label = next((up for up in above if up in chosen), None)
        if label is None and above[0] not in {"", *floor.barred, *hidden}:
            label = above[0]  # no row shows it: it stays
        out[hierarchy.labels[leaf]] = label
    whole, outside = losses.whole or 1, data.n_occurrences - inside.n_occurrences
    share = outside / max(inside.n_occurrences, 1)  # suppressed whatever is done: each loses 1
    for key in ("loss", "lower_bound"):
        found[key] = (found[key] + lost / whole + share) / (1 + share)
    found["gap"] = (found["loss"] - found["lower_bound"]) / found["loss"] if found["loss"] else 0.0
    return out, found | {"model": "coarsening of the earlier recoding"}
