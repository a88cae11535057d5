"""Candidates of a forest, valid ones and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.kernels.rows import Ids, distinct_rows, frozen, recode_rows, take_rows
from setveil.methods.algorithms.exact._candidates import greedy_cover
from setveil.methods.algorithms.rt._forest_clauses import ForestSeparator
from setveil.methods.algorithms.rt._forest_threats import Rows, Threats

# What may be done about a threat: (node, True) to publish the node for all below it, (node, False) to
# suppress a published node.
Step = tuple[int, bool]


class ForestCandidates:
    """Makes candidates, valid ones and others (see `_candidates.Candidates`)."""

    def __init__(
        self, threats: Threats, separator: ForestSeparator, suppress: bool, progress: Progress
    ) -> None:
        self.forest, self.tree, self.losses = threats.forest, threats.forest.tree, threats.forest.losses
        self.suppress, self.progress = suppress, progress
        self._threats, self._separator = threats, separator
        self._barred = set(self.forest.barred)

    def threats(self, candidate: Ids) -> Iterator[list[int]]:
        """List the threats of smallest size between published nodes; nothing if the candidate is valid."""
        return self._threats.of(self._separator.rows, candidate, self.progress)

    def suppressed_leaves(self, candidate: Ids) -> list[int]:
        """List the leaves that a candidate suppresses."""
        leaves: list[int] = np.flatnonzero(candidate[: self.tree.n_leaves] < 0).tolist()
        return leaves

    def published(self, candidate: Ids) -> list[int]:
        """List the nodes that a candidate publishes."""
        leaves = candidate[: self.tree.n_leaves]
        nodes: list[int] = np.unique(leaves[leaves >= 0]).tolist()
        return nodes

    def finest(self) -> Ids:
        """Make the candidate that publishes every leaf as itself."""
        return np.arange(self.tree.n_nodes, dtype=np.int32)

    def coarsest(self) -> Ids:
        """Make the candidate that is valid if any is: as coarse as allowed, suppressing items if need be."""
        candidate = self.forest.coarsest()
        if self.suppress and next(self.threats(candidate), None) is not None:
            candidate[: self.tree.n_leaves][self.forest.is_item[: self.tree.n_leaves]] = -1
        return candidate

    # --- repairs

    def repaired(self, candidate: Ids) -> Iterator[Ids]:
        """Make valid candidates near one that need not be."""
        known, items = ~self.forest.is_item, self.forest.is_item
        for liftable in (known, known | items) if self.suppress else (known | items,):
            valid = self._repaired(candidate, liftable)
            yield self.polished(self.coarsest() if valid is None else valid)

    def descended(self, candidate: Ids, first: int, must_end: Callable[[], bool]) -> Ids:
        """Split quasi-identifiers' nodes, tree `first` first, while that gains more than it costs items."""
        losses, is_item, of_tree = self.losses, self.forest.is_item, self.forest.of_tree

        def place(v: int) -> tuple[bool, int, int]:
            return bool(of_tree[v] != first), -self._gain(v), v

        best = candidate
        queue = [place(v) for v in self.published(best) if self._splits(v) and not is_item[v]]
        heapify(queue)
        while queue and not must_end():
            v = heappop(queue)[-1]
            trial = self._repaired(self._split(best, v), is_item)
            if trial is not None and losses.cost(trial) <= losses.cost(best):
                best = trial
                for child in filter(self._splits, self.tree.children(v)):
                    heappush(queue, place(child))
        return self.polished(best)

    def _repaired(self, candidate: Ids, liftable: NDArray[np.bool_]) -> Ids | None:
        """Generalize `liftable` nodes and suppress, most threats for the loss first; None: threats remain."""
        candidate = candidate.copy()
        while threats := list(self.threats(candidate)):
            members: dict[Step, set[int]] = {}
            for number, threat in enumerate(threats):
                for step in self._steps(threat, liftable):
                    members.setdefault(step, set()).add(number)
            if not members:
                return None
            price = {step: max(self._price(step, candidate), 1) for step in members}
            for step in greedy_cover(members, price, set().union(*members.values())):
                self._take(step, candidate)
        return candidate

    def _steps(self, threat: list[int], liftable: NDArray[np.bool_]) -> list[Step]:
        """List what may be done about a threat, in a general form of it."""
        steps = []
        if self.suppress:
            steps = [(v, False) for v in threat if self.forest.is_item[v]]
        for v in self._separator.general_form(threat):
            up = int(self.tree.parent[v])
            if liftable[v] and up not in self._barred:
                steps.append((up, True))
        return steps

    def _price(self, step: Step, candidate: Ids) -> int:
        (v, lifts), full, hidden = step, self.losses.full, self.losses.hidden
        if not lifts:
            return hidden[v] - full[v]
        under = self.tree.under(v)
        now = candidate[under]
        published: list[int] = np.unique(now[now >= 0]).tolist()
        gone: list[int] = under[now < 0].tolist()
        return full[v] - sum(full[u] for u in published) - sum(hidden[x] for x in gone)

    def _take(self, step: Step, candidate: Ids) -> None:
        """Take a step unless one before has brought the cut up to its node, or above."""
        v, lifts = step
        under = self.tree.under(v)
        if lifts:
            top = int(candidate[under[0]])
            if top < 0 or self.tree.depth[top] > self.tree.depth[v]:
                candidate[under] = v
        elif candidate[under[0]] == v:
            candidate[under] = -1

    # --- improvements of valid ones

    def polished(self, candidate: Ids) -> Ids:
        """Publish more of a valid candidate while it stays valid: that costs nothing, or gains."""
        return self.refined(self.brought_back(candidate))

    def _near(self, nodes: list[int], candidate: Ids) -> Rows:
        """Recode, by a candidate, the rows that contain a leaf of some nodes."""
        starts, holders = self._separator.starts, self._separator.holders
        some = np.unique(np.concatenate([holders[starts[v] : starts[v + 1]] for v in nodes])).astype(np.int64)
        indptr, leaves, weights = self._separator.rows
        rows = recode_rows(*take_rows(indptr, leaves, some), frozen(candidate, np.int32))
        return distinct_rows(*rows, weights[some])

    def brought_back(self, candidate: Ids) -> Ids:
        """Publish suppressed leaves again where no threat arises, those that cost most first."""
        candidate = candidate.copy()
        leaves = self.suppressed_leaves(candidate)
        for leaf in sorted(leaves, key=lambda leaf: (-self.losses.hidden[leaf], leaf)):
            candidate[leaf] = leaf
            if not self._threats.stays_valid(self._near([leaf], candidate), leaf):
                candidate[leaf] = -1
        return candidate

    def refined(self, candidate: Ids) -> Ids:
        """Replace nodes of a valid candidate by their children, greatest gain first, while it stays valid.

        A split that is not valid now never becomes valid, as other splits only lower supports.
        """
        queue = [(-self._gain(v), v) for v in self.published(candidate) if self._splits(v)]
        heapify(queue)
        while queue:
            _, v = heappop(queue)
            trial = self._split(candidate, v)
            rows = self._near([v], trial)
            if all(self._threats.stays_valid(rows, child) for child in self.tree.children(v)):
                candidate = trial
                for child in filter(self._splits, self.tree.children(v)):
                    heappush(queue, (-self._gain(child), child))
        return candidate

    def _splits(self, v: int) -> bool:
        return v >= self.tree.n_leaves

    def _gain(self, v: int) -> int:
        full = self.losses.full
        return full[v] - sum(full[child] for child in self.tree.children(v))

    def _split(self, candidate: Ids, v: int) -> Ids:
        """Publish the children of a node in its place."""
        candidate = candidate.copy()
        for child in self.tree.children(v):
            candidate[self.tree.under(child)] = child
        return candidate
