"""Releases as the exact algorithm handles them: what they lose, and how valid ones are made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm

import numpy as np

from setveil.algorithms import aa
from setveil.algorithms._cut import Cut
from setveil.algorithms._refine import _stays_valid, refine
from setveil.algorithms.exact._clauses import Separator
from setveil.data.transactions import Transactions
from setveil.guarantees.km import KmAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, frozen, recode_rows, take_rows
from setveil.progress import Progress

Number = int | float | Fraction


def contracted(tree: Hierarchy, items: Collection[str]) -> Hierarchy:
    """Leave out leaves that are not among `items`, and inner nodes that then have a single child.

    The root stays. A node publishes the same rows as its only child, and loses at least as much.
    """
    wanted = [leaf for leaf in range(tree.n_leaves) if tree.labels[leaf] in items]
    if not wanted or tree.root < tree.n_leaves:
        return tree
    below = np.zeros(tree.n_nodes, np.int64)
    for leaf in wanted:
        below[leaf] = 1
        below[tree.ancestors(leaf)] += 1
    branches = {
        v for v in range(tree.n_leaves, tree.n_nodes)
        if max(below[child] for child in tree.children(v)) < below[v]
    }  # fmt: skip
    parents: dict[str, str | None] = {tree.labels[tree.root]: None}
    for v in (*wanted, *branches - {tree.root}):
        up = next(u for u in tree.ancestors(v) if u in branches or u == tree.root)
        parents[tree.labels[v]] = tree.labels[up]
    return Hierarchy(parents)


@dataclass(frozen=True)
class Losses:
    """What publishing and suppressing loses, in integers.

    Attributes
    ----------
    worst : int
        Loss of an occurrence that is suppressed.
    per_occurrence : list of int
        Loss of an occurrence that is published as each node.
    weight : list of int
        Weighted number of occurrences under each node.
    full : list of int
        Loss of publishing each node.
    """

    worst: int
    per_occurrence: list[int]
    weight: list[int]
    full: list[int]

    @property
    def whole(self) -> int:
        """Loss of suppressing everything."""
        return self.worst * max(self.weight)

    @classmethod
    def of(
        cls,
        objective: str,
        hierarchy: Hierarchy,
        tree: Hierarchy,
        data: Transactions,
        weights: Mapping[str, Number],
    ) -> Losses:
        """Make the losses of NCP or LM in a hierarchy, for a tree that is what is left of it."""
        given = {item: Fraction(str(weight)) for item, weight in weights.items()}
        scale = lcm(*(weight.denominator for weight in given.values()))
        counts = hierarchy.leaf_counts[[hierarchy.id(label) for label in tree.labels]].tolist()
        if objective == "ncp":
            worst = hierarchy.n_leaves
            per_occurrence = [count if count > 1 else 0 for count in counts]
        else:
            worst = max(hierarchy.n_leaves - 1, 1)
            per_occurrence = [count - 1 for count in counts]
        weight = _below(tree, [
            int(given.get(tree.labels[leaf], 1) * scale) * times
            for leaf, times in enumerate(occurrences(tree, data))
        ])  # fmt: skip
        full = [w * loss for w, loss in zip(weight, per_occurrence, strict=True)]
        return cls(worst, per_occurrence, weight, full)

    @classmethod
    def suppressed(cls, tree: Hierarchy, data: Transactions) -> Losses:
        """Make the losses that count the occurrences that are suppressed."""
        nothing = [0] * tree.n_nodes
        return cls(1, nothing, _below(tree, occurrences(tree, data)), nothing)


def occurrences(tree: Hierarchy, data: Transactions) -> list[int]:
    """Count the rows of each leaf."""
    located = tree.locate(data.vocabulary)[data.items]
    counts: list[int] = np.bincount(located, minlength=tree.n_leaves).tolist()
    return counts


def _below(tree: Hierarchy, of_leaves: list[int]) -> list[int]:
    total = [*of_leaves, *(0 for _ in range(tree.n_nodes - tree.n_leaves))]
    for v in sorted(range(tree.n_nodes), key=lambda v: -int(tree.depth[v])):
        if tree.parent[v] >= 0:
            total[int(tree.parent[v])] += total[v]
    return total


class Images:
    """Makes images of the leaves, valid ones and others.

    An image tells for each leaf the node of the cut above it, or -1 if the leaf is suppressed (int32; it has
    room for the inner nodes, which publish nothing themselves).
    """

    def __init__(
        self,
        data: Transactions,
        tree: Hierarchy,
        guarantee: KmAnonymity,
        losses: Losses,
        kept: list[int],
        suppress: bool,
        progress: Progress,
    ) -> None:
        self.tree, self.guarantee, self.losses = tree, guarantee, losses
        self.kept, self.suppress, self.progress = kept, suppress, progress
        self.cut = Cut(data, tree)
        self.separator = Separator(self.cut, guarantee.k, guarantee.m)
        self.occurrences = occurrences(tree, data)

    def cost(self, image: Ids) -> int:
        """Loss of an image, an integer."""
        losses = self.losses
        return sum(
            w * (losses.per_occurrence[to] if to >= 0 else losses.worst)
            for w, to in zip(losses.weight, image[: self.tree.n_leaves].tolist(), strict=False)
        )

    def hidden(self, image: Ids) -> int:
        """Count the occurrences that an image suppresses."""
        return sum(o for o, to in zip(self.occurrences, image.tolist(), strict=False) if to < 0)

    def cut_nodes(self, image: Ids) -> list[int]:
        """List the nodes of an image's cut, suppressed leaves included."""
        leaves = image[: self.tree.n_leaves]
        nodes: list[int] = np.unique(np.where(leaves >= 0, leaves, np.arange(leaves.size))).tolist()
        return nodes

    def coarsest(self) -> Ids:
        """Make the image that publishes least: the items to keep, the rest suppressed or at its highest."""
        tree = self.tree
        image = np.arange(tree.n_nodes, dtype=np.int32)
        if not self.kept:
            image[:] = tree.root
            return image
        if self.suppress:
            image[: tree.n_leaves][np.array(self.occurrences) > 0] = -1
            image[self.kept] = self.kept
            return image
        open_nodes = {up for leaf in self.kept for up in tree.ancestors(leaf)}
        for v in open_nodes:
            for child in tree.children(v):
                if child not in open_nodes:
                    image[tree.under(child)] = child
        return image

    def at_depth(self, depth: int) -> Ids:
        """Make the image that publishes the nodes at a depth, and the leaves above it, valid or not."""
        tree = self.tree
        image = np.arange(tree.n_nodes, dtype=np.int32)
        for v in np.flatnonzero(tree.depth == depth).tolist():
            image[tree.under(v)] = v
        return image

    def refined(self, image: Ids) -> Ids:
        """Split nodes of a valid image again while it stays valid: that costs nothing, or gains."""
        hidden = np.flatnonzero(image[: self.tree.n_leaves] < 0)
        published = self.cut.fresh()
        published.drop(hidden.tolist())
        out = image.copy()
        for v in refine(published, self.cut_nodes(image), self.guarantee, self.progress):
            out[self.tree.under(v)] = v
        out[hidden] = -1
        return out

    def generalized_further(self, image: Ids) -> Ids:
        """Generalize further until no threat is left."""
        cut = self.cut.fresh()
        cut.generalize(v for v in self.cut_nodes(image) if v >= self.tree.n_leaves)
        cut.image[: self.tree.n_leaves][image[: self.tree.n_leaves] < 0] = -1
        while aa.find_cut(cut, self.guarantee, self.progress)[1]["generalization_steps"]:
            pass  # generalizing brings suppressed items back, and they may be rare in their turn
        return cut.image

    def suppressed_further(self, image: Ids) -> Ids:
        """Suppress nodes until no threat is left: those in most threats for the loss they add, first."""
        tree, losses, image = self.tree, self.losses, image.copy()
        kept = set(self.kept)
        while threats := list(self.separator.threats(image, self.progress)):
            members: dict[int, set[int]] = {}
            for number, threat in enumerate(threats):
                for v in threat:
                    if v not in kept:
                        members.setdefault(v, set()).add(number)
            price = {v: losses.weight[v] * (losses.worst - losses.per_occurrence[v]) or 1 for v in members}
            queue = [(Fraction(price[v], len(ts)), v) for v, ts in members.items()]
            heapify(queue)
            left = set(range(len(threats)))
            while left:
                ratio, v = heappop(queue)
                members[v] &= left
                if not members[v]:
                    continue
                now = Fraction(price[v], len(members[v]))
                if now > ratio:
                    heappush(queue, (now, v))
                    continue
                left -= members[v]
                image[tree.under(v)] = -1
        return image

    def brought_back(self, image: Ids) -> Ids:
        """Publish suppressed leaves again where no threat arises, those that cost most first."""
        image = image.copy()
        hidden = np.flatnonzero(image[: self.tree.n_leaves] < 0).tolist()
        for leaf in sorted(hidden, key=lambda leaf: (-self.losses.weight[leaf], leaf)):
            image[leaf] = leaf
            if self._threatened(image, leaf):
                image[leaf] = -1
        return image

    def _threatened(self, image: Ids, leaf: int) -> bool:
        """Whether a leaf that is published as itself lies in a threat between published nodes."""
        separator = self.separator
        span = slice(separator.starts[leaf], separator.starts[leaf + 1])
        holding = separator.holders[span].astype(np.int64)
        near = recode_rows(*take_rows(*separator.rows, holding), frozen(image, np.int32))
        return not _stays_valid(near, separator.weights[holding], leaf, self.guarantee)
