"""Candidate recodings: how the exact algorithm makes them, and repairs those that are not valid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

import numpy as np

from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids
from setveil.methods.algorithms import aa
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms._refine import refine
from setveil.methods.algorithms.exact._clauses import Separator
from setveil.methods.algorithms.exact._losses import Losses
from setveil.rows.hierarchy.tree import Hierarchy

X = TypeVar("X", int, tuple[int, bool])


def contracted(
    tree: Hierarchy, items: Collection[str], barred: Collection[str] = (), *, telling: bool = False
) -> Hierarchy:
    """Omit leaves that are not among `items`, and inner nodes that then have a single child.

    The root stays. A node publishes the same rows as its only child, and loses at least as much. But where
    that child is among the `barred` leaves, which are never published as themselves, the node stays, too. So
    does, where leaves are `telling`, the lowest node above each that represents more than one item: the leaf
    means its item for certain, and the node does not.
    """
    wanted = sorted(at for label in items if label in tree and (at := tree.id(label)) < tree.n_leaves)
    if not wanted or tree.root < tree.n_leaves:
        return tree
    among = np.zeros(tree.n_leaves, np.int64)
    among[wanted] = 1
    before = np.concatenate(([0], np.cumsum(among[tree.leaf_order])))
    below = before[tree.high] - before[tree.low]
    most = np.zeros(tree.n_nodes, np.int64)  # below one child
    others = np.delete(np.arange(tree.n_nodes), tree.root)
    np.maximum.at(most, tree.parent[others], below[others])
    inner = np.arange(tree.n_leaves, tree.n_nodes)
    branches = set(inner[most[inner] < below[inner]].tolist())
    branches |= {int(tree.parent[leaf]) for leaf in wanted if tree.labels[leaf] in barred}
    if telling:
        several = tree.leaf_counts > 1
        branches |= {next((up for up in tree.ancestors(x) if several[up]), tree.root) for x in wanted}
    stays = np.zeros(tree.n_nodes, bool)
    stays[[*branches, tree.root]] = True
    nodes = np.array([*wanted, *branches - {tree.root}])
    up = tree.parent[nodes]
    while not stays[up].all():
        up = np.where(stays[up], up, tree.parent[up])
    parents: dict[str, str | None] = {tree.labels[tree.root]: None}
    for v, above in zip(nodes.tolist(), up.tolist(), strict=True):
        parents[tree.labels[v]] = tree.labels[above]
    return tree.derived(parents)


def greedy_cover(members: dict[X, set[int]], price: Mapping[X, int], left: set[int]) -> Iterator[X]:
    """Choose what is in most of `left` for its price (at least 1), until nothing is left; first of equals."""
    queue = [(price[x] / len(covered), x) for x, covered in members.items()]
    heapify(queue)
    while left:
        ratio, x = heappop(queue)
        members[x] &= left
        if not members[x]:
            continue
        now = price[x] / len(members[x])
        if now > ratio:
            heappush(queue, (now, x))
            continue
        left -= members[x]
        yield x


class Candidates:
    """Makes candidate recodings, valid ones and others.

    A candidate, int32 (n_nodes,), says for each leaf the node of the cut above it, or -1: suppressed. `cut`
    is the lowest. `kept` leaves stay themselves, `barred` ones are suppressed unless the cut is above, others
    only if `suppress`. `both_ways`: repair also by generalizing; `whole`: nodes that are not split again.
    """

    def __init__(
        self,
        cut: Cut,
        separator: Separator,
        guarantee: KmAnonymity,
        losses: Losses,
        kept: list[int],
        barred: list[int],
        suppress: bool,
        progress: Progress,
    ) -> None:
        self.tree, self.guarantee, self.losses = cut.tree, guarantee, losses
        self.kept, self.barred, self.suppress, self.progress = kept, barred, suppress, progress
        self.both_ways = True
        self.whole: set[int] = set()
        self._cut, self._separator = cut, separator

    def threats(self, candidate: Ids) -> Iterator[list[int]]:
        """List the threats of smallest size between published nodes; nothing if the candidate is valid."""
        return self._separator.threats(candidate, self.progress)

    def cut_nodes(self, candidate: Ids) -> list[int]:
        """List the nodes of a candidate's cut, suppressed leaves included."""
        leaves = candidate[: self.tree.n_leaves]
        shown = np.bincount(np.where(leaves >= 0, leaves, np.arange(leaves.size)))
        nodes: list[int] = np.flatnonzero(shown).tolist()
        return nodes

    def suppressed_leaves(self, candidate: Ids) -> list[int]:
        """List the leaves that a candidate suppresses."""
        leaves: list[int] = np.flatnonzero(candidate[: self.tree.n_leaves] < 0).tolist()
        return leaves

    # --- without regard to threats

    def finest(self) -> Ids:
        """Make the candidate that publishes all leaves as themselves that may be."""
        return self._without_barred(np.arange(self.tree.n_nodes, dtype=np.int32))

    def _without_barred(self, candidate: Ids) -> Ids:
        """Suppress the barred leaves that a candidate publishes as themselves."""
        itself = candidate[self.barred] == self.barred
        candidate[self.barred] = np.where(itself, -1, candidate[self.barred])
        return candidate

    def coarsest(self) -> Ids:
        """Make the candidate that publishes least: items to keep, the rest suppressed or at its highest."""
        tree = self.tree
        candidate = self.finest()
        if not self.kept:
            candidate[: tree.n_nodes] = tree.root
            return candidate
        if self.suppress:
            candidate[: tree.n_leaves][np.array(self.losses.occurrences) > 0] = -1
            candidate[self.kept] = self.kept
            return candidate
        open_nodes = {up for leaf in self.kept for up in tree.ancestors(leaf)}
        for v in open_nodes:
            for child in tree.children(v):
                if child not in open_nodes:
                    candidate[tree.under(child)] = child
        return candidate

    def at_depth(self, depth: int) -> Ids:
        """Make the candidate that publishes the nodes at a depth, and the leaves above it."""
        return self.of_cut(np.flatnonzero(self.tree.depth == depth).tolist(), ())

    def of_cut(self, nodes: Iterable[int], suppressed: Iterable[int]) -> Ids:
        """Make the candidate that publishes nodes and suppresses others; elsewhere leaves as themselves."""
        candidate = self.finest()
        for v in nodes:
            candidate[self.tree.under(v)] = v
        for v in suppressed:
            candidate[self.tree.under(v)] = -1
        return self._without_barred(candidate)

    # --- valid ones

    def repaired(self, candidate: Ids) -> Iterator[Ids]:
        """Make valid candidates near one that need not be."""
        if self.suppress:
            yield self.brought_back(self.suppressed_further(candidate))
        if not self.kept and (self.both_ways or not self.suppress):
            yield self.generalized_further(candidate)

    def refined(self, candidate: Ids) -> Ids:
        """Split nodes of a valid candidate while it stays valid: all or none where absent items tell."""
        suppressed = self.suppressed_leaves(candidate)
        published = self._cut.fresh()
        published.drop(suppressed)
        out = candidate.copy()
        for v in refine(published, self.cut_nodes(candidate), self.guarantee, self.progress, self.whole):
            out[self.tree.under(v)] = v
        out[suppressed] = -1
        out = self._without_barred(out)
        if self._separator.absence is not None and next(self.threats(out), None) is not None:
            return candidate
        return out

    def generalized_further(self, candidate: Ids) -> Ids:
        """Generalize further until no threat is left."""
        cut, n_leaves = self._cut.fresh(), self.tree.n_leaves
        cut.generalize(v for v in self.cut_nodes(candidate) if v >= n_leaves)
        cut.image[:n_leaves][candidate[:n_leaves] < 0] = -1
        while True:
            while aa.find_cut(cut, self.guarantee, self.progress)[1]["generalization_steps"]:
                pass  # generalizing brings suppressed items back, and they may be rare in their turn
            if self._separator.absence is None:
                return cut.image
            above = {int(self.tree.parent[threat[-1]]) for threat in self.threats(cut.image)}
            if not above:
                return cut.image
            cut.generalize(sorted(v for v in above if above.isdisjoint(self.tree.ancestors(v))))

    def suppressed_further(self, candidate: Ids) -> Ids:
        """Suppress nodes until no threat is left: those in most threats for the loss they add, first."""
        candidate = candidate.copy()
        while threats := list(self.threats(candidate)):
            for v in self.hitting(threats):
                candidate[self.tree.under(v)] = -1
        return candidate

    def hitting(self, sets: Sequence[Collection[int]]) -> list[int]:
        """Choose nodes that are not kept such that each set has one: those in most for the loss they add."""
        losses, kept = self.losses, set(self.kept)
        members: dict[int, set[int]] = {}
        for number, nodes in enumerate(sets):
            for v in nodes:
                if v not in kept:
                    members.setdefault(v, set()).add(number)
        price = {v: max(losses.hidden[v] - losses.full[v], 1) for v in members}
        return list(greedy_cover(members, price, set(range(len(sets)))))

    def brought_back(self, candidate: Ids) -> Ids:
        """Publish suppressed leaves again where no threat arises, those that cost most first."""
        candidate = candidate.copy()
        suppressed = self.suppressed_leaves(candidate)
        suppressed = [leaf for leaf in suppressed if leaf not in self.barred]
        for leaf in sorted(suppressed, key=lambda leaf: (-self.losses.hidden[leaf], leaf)):
            candidate[leaf] = leaf
            if not self._separator.stays_valid(leaf, candidate):
                candidate[leaf] = -1
        return candidate if self._separator.absence is None else self.suppressed_further(candidate)
