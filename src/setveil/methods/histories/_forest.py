"""The trees whose cuts are searched, side by side, and what their labels lose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen
from setveil.methods.algorithms.exact._losses import Losses
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class LabelForest:
    """A tree for each release whose labels are free, without what nobody has in it.

    Nodes are numbered through all trees: first the leaves (items, or what the labels may not be finer
    than), then the inner nodes, each before its parent. A node with a single child is omitted: the child
    publishes the same rows and loses no more.
    """

    parent: Ints  # int64 (n_nodes,): -1 above a tree
    n_leaves: int
    # low, high: int64 (n_nodes,): order[low[v]:high[v]] are the leaves below v
    low: Ints
    high: Ints
    order: Ints  # int64 (n_leaves,)
    node: Ids  # int32 (n_nodes,): node of the hierarchy
    tree: Ints  # int64 (n_nodes,): which free release
    barred: NDArray[np.bool_]  # bool (n_leaves,): must not be published as itself
    amounts: Ints  # int64 (n_leaves,): weighted occurrences
    each: Ints  # int64 (n_nodes,): loss of one occurrence under each label
    worst: int  # loss of one occurrence that is left out
    leaf: tuple[Ids, ...]  # for each free release int32 (items,): leaf of an item, -1 if nobody has it
    occurrences: Ints  # int64 (n_leaves,)

    @property
    def n_nodes(self) -> int:
        return int(self.parent.size)

    def below(self, v: int) -> Ints:
        """List the leaves at or below a node."""
        return self.order[self.low[v] : self.high[v]]

    def least(self) -> int:
        """Sum up what publishing all leaves loses."""
        return int((self.amounts * self.each[: self.n_leaves]).sum())

    def whole(self) -> int:
        """Return the loss that is called 1."""
        return max(int(self.amounts.sum()) * self.worst, 1)

    def finest(self) -> Ids:
        """Publish all leaves that may be."""
        image = np.arange(self.n_leaves, dtype=np.int32)
        image[self.barred] = -1
        return image

    def at_depth(self, depth: int) -> Ids:
        """Publish the nodes that are so far below the top of their tree, and the leaves above these."""
        depths = np.zeros(self.n_nodes, np.int64)
        for v in range(self.n_nodes - 1, -1, -1):
            depths[v] = depths[self.parent[v]] + 1 if self.parent[v] >= 0 else 0
        image = self.finest()
        for v in np.flatnonzero(depths == depth).tolist():
            if v >= self.n_leaves:
                image[self.below(v)] = v
        return image

    def cost(self, image: Ids) -> int:
        """Sum up what an image loses: the node that each leaf is published as, or -1."""
        lost = np.where(image >= 0, self.each[image], self.worst)
        return int((self.amounts * lost).sum())

    def losses(self) -> Losses:
        """Make losses beyond those of publishing all leaves, which nothing can avoid."""
        n = self.n_leaves
        lowest = self.amounts * self.each[:n]
        weight, full = [0] * self.n_nodes, [0] * self.n_nodes
        for v in range(self.n_nodes):
            leaves = self.below(v)
            weight[v] = int(self.amounts[leaves].sum())
            full[v] = weight[v] * int(self.each[v]) - int(lowest[leaves].sum())
        hidden = (self.amounts * self.worst - lowest).tolist() + [0] * (self.n_nodes - n)
        return Losses(self.occurrences.tolist(), weight, full, hidden, self.whole())


def grow(
    hierarchy: Hierarchy,
    labels: tuple[str, ...],
    occurrences: Sequence[Ints],
    weights: Sequence[int] | None = None,
    start: Ids | None = None,
) -> LabelForest:
    """Make the forest of releases.

    `labels` are the items of the series; `occurrences` contains int64 (items,) for each free release, and
    `weights` how much each counts. No label may be finer than start: int32 (items,), nodes or -1.
    """
    weights = [1] * len(occurrences) if weights is None else weights
    counts = hierarchy.leaf_counts
    up = hierarchy.parent
    leaves: list[tuple[int, int, int, int, bool]] = []  # release, node, weighted, occurrences, barred
    inner: list[tuple[int, int]] = []
    above: dict[tuple[int, int], int] = {}  # (release, node): its parent in the forest, as a node
    maps: list[Ids] = []
    for r, (amount, weight) in enumerate(zip(occurrences, weights, strict=True)):
        some = np.flatnonzero(amount > 0)
        at = hierarchy.locate(Vocabulary(tuple(labels[i] for i in some.tolist())))
        bottom, barred = _bottoms(hierarchy, at, None if start is None else start[some])
        total: dict[int, int] = {}
        for v, n in zip(bottom.tolist(), amount[some].tolist(), strict=True):
            total[v] = total.get(v, 0) + n
        stays = _branchings(total, up)
        stays |= {int(up[v]) for v in barred if up[v] >= 0}
        number = {v: len(leaves) + i for i, v in enumerate(sorted(total))}
        leaves += [(r, v, total[v] * weight, total[v], v in barred) for v in sorted(total)]
        inner += [(r, v) for v in sorted(stays, key=lambda v: (-int(hierarchy.depth[v]), v))]
        for v in (*total, *stays):
            node = int(up[v])
            while node >= 0 and node not in stays:
                node = int(up[node])
            above[r, v] = node
        mapped = np.full(len(labels), -1, np.int32)
        mapped[some] = [number[v] for v in bottom.tolist()]
        maps.append(frozen(mapped, np.int32))
    n_leaves = len(leaves)
    place = {(r, v): n_leaves + i for i, (r, v) in enumerate(inner)}
    keys = [(r, v) for r, v, *_ in leaves] + inner
    parent = np.array([-1 if above[key] < 0 else place[key[0], above[key]] for key in keys], np.int64)
    low, high, order = depth_first(parent, n_leaves)
    nodes = np.array([v for _, v in keys], np.int32)
    return LabelForest(
        parent=frozen(parent, np.int64),
        n_leaves=n_leaves,
        low=frozen(low, np.int64),
        high=frozen(high, np.int64),
        order=frozen(order, np.int64),
        node=frozen(nodes, np.int32),
        tree=frozen(np.array([r for r, _ in keys], np.int64), np.int64),
        barred=np.array([gone for *_, gone in leaves], bool),
        amounts=frozen(np.array([n for _, _, n, *_ in leaves], np.int64), np.int64),
        each=frozen(counts[nodes] - 1, np.int64),
        worst=max(hierarchy.n_leaves - 1, 1),
        leaf=tuple(maps),
        occurrences=np.array([n for *_, n, _ in leaves], np.int64),
    )


def _branchings(leaves: Iterable[int], up: Ids) -> set[int]:
    """Find the nodes where paths from several leaves to the root meet."""
    branches: dict[int, set[int]] = {}
    for v in leaves:
        below, node = v, int(up[v])
        while node >= 0:
            branches.setdefault(node, set()).add(below)
            below, node = node, int(up[node])
    return {v for v, under in branches.items() if len(under) > 1}


def _bottoms(hierarchy: Hierarchy, leaves: Ids, start: Ids | None) -> tuple[Ids, set[int]]:
    """Find the lowest label of each leaf, and the leaves that are suppressed to begin with."""
    if start is None:
        return leaves, set()
    cover = np.full(hierarchy.n_leaves, -1, np.int64)
    for v in sorted(set(start[start >= 0].tolist()), key=lambda v: -int(hierarchy.depth[v])):
        cover[hierarchy.under(v)] = v
    bottom = np.where(cover[leaves] >= 0, cover[leaves], leaves).astype(np.int32)
    barred = set(leaves[(start < 0) & (cover[leaves] < 0)].tolist())
    return bottom, barred


def depth_first(parent: Ints, n_leaves: int) -> tuple[Ints, Ints, Ints]:
    """Order the leaves so that those below a node are together."""
    n = parent.size
    size = np.zeros(n, np.int64)
    size[:n_leaves] = 1
    for v in range(n):  # each before its parent
        if parent[v] >= 0:
            size[parent[v]] += size[v]
    low, used = np.zeros(n, np.int64), np.zeros(n, np.int64)
    end = 0
    for v in range(n - 1, -1, -1):
        up = parent[v]
        if up < 0:
            low[v] = end
            end += size[v]
        else:
            low[v] = low[up] + used[up]
            used[up] += size[v]
    order = np.zeros(n_leaves, np.int64)
    order[low[:n_leaves]] = np.arange(n_leaves)
    return low, low + size, order


def nothing() -> LabelForest:
    """Make the forest of no release."""
    none = frozen(np.zeros(0), np.int64)
    return LabelForest(
        none, 0, none, none, none, none.astype(np.int32), none, none.astype(bool), none, none, 1, (), none
    )
