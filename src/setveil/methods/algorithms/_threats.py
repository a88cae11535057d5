"""The search for threats that DA and AA share: a preorder walk over extended rows, one threat at a time."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.base.tracing import Trace, most
from setveil.kernels import walk as kernel
from setveil.kernels.limits import Limits
from setveil.kernels.rows import Ids, Ints, frozen, item_supports, ranked, ranks_of
from setveil.methods.algorithms._cut import Cut, extended_rows

STEPS_AT_ONCE = 50_000_000  # steps between two signs of life, a fraction of a second


class ThreatSearch:
    """A search for the threats of a cut, one by one; nodes that the cut generalizes are passed over."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut

    def next_threat(self, progress: Progress, phase: str) -> list[int] | None:
        """Go on to the next set of nodes of support in (0, k), or None when there is none."""
        raise NotImplementedError

    def is_frequent(self, nodes: frozenset[int]) -> bool:
        """Whether the nodes, none above another, occur together in at least k rows (the root: always)."""
        raise NotImplementedError

    def support_of(self, threat: list[int]) -> int:
        """Count the rows that contain all nodes of a threat, which are fewer than k."""
        raise NotImplementedError

    def cheapest_generalization(self, threat: list[int], trace: Trace | None = None) -> list[int]:
        """Find the least costly way to generalize nodes of a threat so that it occurs in at least k rows.

        Among the minimal sets of generalizations of the threat's nodes that raise its support to k, the one
        that adds least to the cost of the cut; of equal ones that whose sorted list of new nodes comes first.
        Returns the new nodes, ascending, none above another.
        """
        tree, cut = self.cut.tree, self.cut
        start: tuple[int, ...] = ()
        queue: list[tuple[int, tuple[int, ...]]] = [(0, start)]
        seen = {start}
        best: list[tuple[int, ...]] = []
        tried: list[tuple[int, tuple[int, ...], bool]] = []  # only if the search is traced
        cost = 0
        # Costs only grow on the way up: the first choice that is valid is a cheapest one. Go on to its
        # equals.
        while queue and (not best or queue[0][0] == cost):
            cost, generalized = heappop(queue)
            image = frozenset(_image(threat, generalized, cut))
            enough = bool(generalized) and self.is_frequent(image)
            if trace is not None and generalized:
                tried.append((cost, generalized, enough))
            if enough:
                best.append(generalized)
                continue
            for v in image:
                up = int(tree.parent[v])
                if up < 0:
                    continue
                rest = tuple(sorted([u for u in generalized if not _under(u, up, cut)] + [up]))
                if rest not in seen:
                    seen.add(rest)
                    heappush(queue, (cut.added_cost(rest), rest))
        minimal = [
            a for a in best
            if not any(b != a and all(any(_under(u, v, cut) for v in a) for u in b) for b in best)
        ]  # fmt: skip
        chosen = list(min(minimal))
        if trace is not None:
            self._report(trace, threat, tried, chosen)
        return chosen

    def _report(
        self,
        trace: Trace,
        threat: list[int],
        tried: list[tuple[int, tuple[int, ...], bool]],
        chosen: list[int],
    ) -> None:
        """Write a step: the threat, the generalizations that were tried, and the chosen one."""
        cut = self.cut
        labels, whole = cut.tree.labels, cut.whole
        trace.step(
            violated=[labels[v] for v in threat],
            support=self.support_of(threat),
            **most(
                {"generalize": [labels[v] for v in nodes], "cost": cost / whole, "enough": enough}
                for cost, nodes, enough in tried
            ),
            chosen=[labels[v] for v in chosen],
        )


class ThreatWalk(ThreatSearch):
    """Walk over the itemsets of extended rows in preorder, most frequent node first.

    An extended row consists of the nodes of the cut that the row has and all their ancestors but the root.
    The walk visits the paths of the paper's count-tree in the same order, without ever building the tree.
    Paths of `smallest` to `largest` nodes with support in (0, k) are threats; nodes that the cut generalizes
    are passed over.

    `rows` are those under the cut as it is now (``cut.rows()``). only: bool (n_nodes,), the nodes to keep;
    with a node all its ancestors must be kept. supports: int64 (n_nodes,), the rows that hold each node,
    where `rows` are not all (see `setveil.methods.algorithms._witness_rows`).
    """

    def __init__(
        self,
        cut: Cut,
        rows: tuple[Ints, Ids, Ints],
        k: int,
        smallest: int,
        largest: int,
        only: NDArray[np.bool_],
        limits: Limits,
        supports: Ints | None = None,
    ) -> None:
        super().__init__(cut)
        tree = cut.tree
        self.k, self.smallest, self.largest = k, smallest, largest
        indptr, items, weights = rows
        wanted = only.copy()
        wanted[tree.root] = False

        ends, nodes = extended_rows(tree, indptr, items, wanted)
        support = item_supports(ends, nodes, weights, tree.n_nodes)
        if supports is not None:
            support = np.where(support > 0, supports, 0)

        # Ranks: decreasing support, ties in item order.
        self.node = np.argsort(-support, kind="stable")[: np.count_nonzero(support)]
        self.rank = ranks_of(self.node, tree.n_nodes)
        self.rows = ranked(ends, nodes, weights, self.node, tree.n_nodes)
        self.supports = frozen(support[self.node], np.int64)
        self.low, self.high = frozen(tree.low[self.node], np.int32), frozen(tree.high[self.node], np.int32)
        self.limits = limits.of(self.node)
        self.path = np.zeros(max(largest, 1), np.int64)
        self.length = 0
        self.last = np.empty(self.node.size, np.int64)
        self.pending: list[int] = []  # ranks that make path[:length] a threat, in reverse

    def next_threat(self, progress: Progress, phase: str) -> list[int] | None:
        """Walk on to the next path of support in (0, k), without nodes generalized since; None: no more."""
        live = self.cut.live
        while True:
            for j in range(self.length):
                if not live[self.node[self.path[j]]]:
                    self.length = j + 1
                    self.pending = []
                    break
            while self.pending:
                last = self.node[self.pending.pop()]
                if live[last]:
                    return [*self.node[self.path[: self.length]].tolist(), int(last)]
            state, found = self._walk(np.zeros(0, bool))
            if state == kernel.FINISHED:
                return None
            if state == kernel.PAUSED:
                progress(phase, self.path[0] / self.node.size)
            elif found:
                self.pending = self.last[:found][::-1].tolist()
            else:
                return self.node[self.path[: self.length]].tolist()  # type: ignore[no-any-return]

    def involved(self, progress: Progress, phase: str) -> NDArray[np.bool_]:
        """Mark every node that lies in a threat: bool (n_nodes,)."""
        marks = np.zeros(self.node.size, bool)
        self.length = 0
        while self._walk(marks)[0] == kernel.PAUSED:
            progress(phase, self.path[0] / self.node.size)
        out = np.zeros(self.cut.tree.n_nodes, bool)
        out[self.node[marks]] = True
        return out

    def _walk(self, marks: NDArray[np.bool_]) -> tuple[int, int]:
        state, self.length, found = kernel.walk(
            *self.rows[:6], self.supports, self.low, self.high, *self.limits, self.cut.live[self.node],
            self.k, self.smallest, self.largest, self.path, self.length, self.last, marks, STEPS_AT_ONCE,
        )  # fmt: skip
        return int(state), int(found)

    def is_frequent(self, nodes: frozenset[int]) -> bool:
        """Whether the nodes, none above another, occur together in at least k rows (the root: always)."""
        if self.cut.tree.root in nodes:
            return True
        ranks = self.rank[list(nodes)].astype(np.int64)
        starts, tidlists, weights = self.rows.starts, self.rows.tidlists, self.rows.weights
        weight, _ = kernel.support(starts, tidlists, weights, ranks, self.k, np.zeros(0, np.int64))
        return bool(weight >= self.k)

    def support_of(self, threat: list[int]) -> int:
        """Count the rows that contain all nodes of a threat, which are fewer than k."""
        ranks = self.rank[threat].astype(np.int64)
        starts, tidlists, weights = self.rows.starts, self.rows.tidlists, self.rows.weights
        weight, _ = kernel.support(starts, tidlists, weights, ranks, self.k, np.zeros(0, np.int64))
        return int(weight)


def _under(lower: int, upper: int, cut: Cut) -> bool:
    # Chains of single children share their interval of leaves, so the deeper of two is told by its depth.
    tree = cut.tree
    return bool(
        tree.low[upper] <= tree.low[lower]
        and tree.high[lower] <= tree.high[upper]
        and tree.depth[upper] <= tree.depth[lower]
    )


def _image(threat: list[int], generalized: tuple[int, ...], cut: Cut) -> set[int]:
    return {next((u for u in generalized if _under(v, u, cut)), v) for v in threat}
