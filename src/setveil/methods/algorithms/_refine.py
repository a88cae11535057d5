"""How the cut-based algorithms end: split nodes of the final cut again if asked to."""

from __future__ import annotations

from collections.abc import Collection
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels import walk as kernel
from setveil.kernels.limits import Limits
from setveil.kernels.rows import (
    Ids,
    Ints,
    distinct_rows,
    frozen,
    invert,
    item_supports,
    ranked,
    recode_rows,
    take_rows,
)
from setveil.methods.algorithms._cut import Cut
from setveil.releases.published.recoding import Recoding


def final_recoding(
    cut: Cut,
    guarantee: KmAnonymity,
    split_again: bool,
    details: dict[str, Any],
    progress: Progress,
) -> tuple[Recoding, dict[str, Any]]:
    """Turn a valid cut into a recoding, refined first if `split_again`; `details` gain what that did."""
    nodes = cut.nodes()
    if split_again:
        coarse = len(nodes)
        nodes = refine(cut, nodes, guarantee, progress)
        details = details | {"labels_before_refining": coarse, "labels_after_refining": len(nodes)}
    return Recoding.from_cut(cut.tree, nodes), details


def refine(
    cut: Cut,
    nodes: list[int],
    guarantee: KmAnonymity,
    progress: Progress,
    whole: Collection[int] = (),
) -> list[int]:
    """Replace nodes of a valid cut by their children, greatest gain first, while the cut stays valid.

    A split that is not valid now never becomes valid (other splits only lower supports), so every node is
    tried once and no node of the result (ascending) can be split alone, but those that are to stay `whole`.
    """
    tree = cut.tree
    image = np.empty(tree.n_nodes, np.int32)
    for v in nodes:
        image[tree.under(v)] = v
    rows, items, weights = distinct_rows(*cut.leaf_rows)
    beside = Neighbours(
        (rows, items),
        weights,
        *invert(rows, items, tree.n_leaves)[:2],
        guarantee.k,
        Limits(tree.labels, guarantee.m),
        guarantee.m,
    )

    def gain(v: int) -> int:
        return cut.full[v] - sum(cut.full[child] for child in tree.children(v))

    queue = [(-gain(v), v) for v in nodes if tree.children(v) and v not in whole]
    heapify(queue)
    final = set(nodes)
    tried = 0
    while queue:
        _, v = heappop(queue)
        tried += 1
        progress("refining the cut", tried / (tried + len(queue)))
        children = tree.children(v)
        trial = image.copy()
        for child in children:
            trial[tree.under(child)] = child
        if all(beside.stays_valid(tree.under(child), trial) for child in children):
            image = trial
            final.remove(v)
            final.update(children)
            for child in children:
                if tree.children(child) and child not in whole:
                    heappush(queue, (-gain(child), child))
    return sorted(final)


class Neighbours:
    """Checks that a cut stays valid around a node that has changed.

    The rows are of leaves, each representing as many as `weights`; `starts` and `tidlists` are the rows of
    each leaf. `limits` says how many nodes of each sort someone may know, m how many in all.
    """

    def __init__(
        self,
        rows: tuple[Ints, Ids],
        weights: Ints,
        starts: Ints,
        tidlists: Ids,
        k: int,
        limits: Limits,
        m: float,
    ) -> None:
        self.rows, self.weights, self.starts, self.tidlists = rows, weights, starts, tidlists
        self.k, self.m, self.limits = k, m, limits
        n_nodes = limits.sort.size
        self._known: dict[int, NDArray[np.bool_]] = {}  # of a sort of nodes
        self._memory = (
            np.zeros(weights.size, bool),
            np.full(n_nodes, -1, np.int64),
            np.zeros(n_nodes, np.int64),
        )

    def stays_valid(self, leaves: Ids, image: Ids) -> bool:
        """Whether every itemset with a node, as which `leaves` are published, has support 0 or at least k."""
        to = frozen(image, np.int32)
        if kernel.rare_beside(
            *self.rows, self.weights, self.starts, self.tidlists, to, frozen(leaves, np.int32), self.k,
            self._beside(int(to[leaves[0]])), *self._memory,
        ):  # fmt: skip
            return False
        return self.m <= 2 or self._stays_valid_together(leaves, to)

    def _room_beside(self, node: int) -> Ints:
        """Say how many nodes of each sort may be next to a node in a set."""
        room = self.limits.most.copy()
        room[self.limits.sort[node]] -= 1
        return room

    def _beside(self, node: int) -> NDArray[np.bool_]:
        """Say which nodes may be next to a node in a set; none at all: empty."""
        if self.m <= 1:
            return frozen(np.zeros(0, bool), np.bool_)
        sort = int(self.limits.sort[node])
        if sort not in self._known:
            self._known[sort] = frozen(self._room_beside(node)[self.limits.sort] > 0, np.bool_)
        return self._known[sort]

    def _stays_valid_together(self, leaves: Ids, image: Ids) -> bool:
        """Whether every itemset with a node has support 0 or at least k: those of up to m nodes."""
        node = int(image[leaves[0]])
        of_leaves = [self.tidlists[self.starts[leaf] : self.starts[leaf + 1]] for leaf in leaves]
        holding = np.unique(np.concatenate(of_leaves)).astype(np.int64)
        indptr, items = recode_rows(*take_rows(*self.rows, holding), image)
        labels = np.unique(items)
        others = labels[labels != node]
        if others.size == 0:
            return True
        rows = ranked(indptr, items, self.weights[holding], others, int(labels.max()) + 1)
        size = int(min(self.m - 1, rows.lengths.max(initial=0)))
        n = others.size
        supports = item_supports(*rows[:3], n)
        apart = frozen(np.arange(n), np.int32)
        beyond = frozen(np.arange(1, n + 1), np.int32)
        room, sort = self._room_beside(node), frozen(self.limits.sort[others], np.int64)
        state, _, _ = kernel.walk(
            *rows[:6], frozen(supports, np.int64), apart, beyond, sort, frozen(room, np.int64),
            room[sort] > 0, self.k, 1, size,
            np.zeros(size, np.int64), 0, np.empty(n, np.int64), np.zeros(0, bool), 1 << 62,
        )  # fmt: skip
        return bool(state == kernel.FINISHED)
