"""The nodes that a release of one part may publish, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

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
from setveil.methods.algorithms.rt._conflict_loops import (
    broken_cliques,
    cover_conflicts,
    fill_up,
    find_conflicts,
)
from setveil.methods.algorithms.rt._packing import TOLERANCE, Floats, Limit, Marks
from setveil.rows.hierarchy.tree import Hierarchy

AT_ONCE = 500  # threats that become limits at one time
STEPS = 1 << 62  # of a walk, which is never interrupted


class Publishable:
    """The nodes of a part that may be published; a release publishes some of them, the rest is suppressed.

    Two of them exclude each other if one lies above the other or if they meet in some rows, but in fewer than
    k. Where attackers know three items or more, so do larger sets that meet in too few rows: these are looked
    for only among what is about to be published. `number`, `node`: see `number_nodes`; `gains`: of publishing
    each node against suppressing what lies below.
    """

    def __init__(
        self,
        tree: Hierarchy,
        indptr: Ints,
        items: Ids,
        rows: Ints,
        number: Ints,
        node: Ints,
        gains: Ints,
        k: int,
        m: float,
        limits: Limits,
    ) -> None:
        self.tree, self.indptr, self.items, self.rows = tree, indptr, items, rows
        self.number, self.node, self.gains, self.k, self.m = number, node, gains, k, m
        self.clash: Marks = np.zeros((node.size, node.size), bool)
        self.demanded: list[Limit] = []
        sort, self.most = limits.of(node)
        self.sort = sort
        least = k if m > 1 else 0
        find_conflicts(indptr, items, rows, tree.parent, number, node, least, self.clash)
        alone = (self.most < 2)[sort]  # nodes of a column of which nobody knows two
        if alone.any() and m > 1:
            one_above: Marks = np.zeros((node.size, node.size), bool)
            find_conflicts(indptr, items, rows, tree.parent, number, node, 0, one_above)
            unknown = alone[:, None] & (sort[:, None] == sort)
            self.clash = np.where(unknown, one_above, self.clash)

    def limits(self) -> list[Limit]:
        """Say by cliques of nodes that exclude each other which pairs do, and what is demanded."""
        n = self.node.size
        order = np.argsort(-self.gains, kind="stable")
        members, ends = np.empty(64 * n, np.int64), np.empty(16 * n, np.int64)
        cliques, size = cover_conflicts(self.clash, order, members, ends)
        if cliques > ends.size or size > members.size:
            members, ends = np.empty(size, np.int64), np.empty(cliques, np.int64)
            cover_conflicts(self.clash, order, members, ends)
        bounds = pairwise([0, *ends[:cliques].tolist()])
        return [*(Limit(members[start:stop]) for start, stop in bounds), *self.demanded]

    def demand(self, occurrences: Ints) -> bool:
        """Demand that exactly one node above each leaf is published; False: there is a leaf without any."""
        paths = set()
        for leaf in np.flatnonzero(occurrences[: self.tree.n_leaves]).tolist():
            above = self.number[[leaf, *self.tree.ancestors(leaf)]]
            paths.add(tuple(above[above >= 0].tolist()))
        self.demanded = [Limit(np.array(path, np.int64), exactly=True) for path in sorted(paths)]
        return () not in paths

    def coarsest(self) -> Marks | None:
        """Publish only nodes that lie below no other; None: they exclude each other."""
        chosen: Marks = np.array(self._above) < 0
        some = np.flatnonzero(chosen)
        excluded = self.clash[np.ix_(some, some)].any() or self.check(chosen)
        return None if excluded else chosen

    # --- what branch and cut asks

    def tighten(self, values: Floats) -> Sequence[Limit]:
        """List limits that values of a relaxation break."""
        some = np.flatnonzero(values > TOLERANCE)
        order = some[np.argsort(-values[some], kind="stable")]
        members, ends = np.empty(64 * order.size, np.int64), np.empty(order.size, np.int64)
        found = broken_cliques(self.clash, values, order, members, ends)
        bounds = pairwise([0, *ends[:found].tolist()])
        cliques = {members[start:stop].tobytes() for start, stop in bounds}
        if cliques:
            return [Limit(np.frombuffer(clique, np.int64)) for clique in sorted(cliques)]
        larger = self.check(values > 0.5 + TOLERANCE)
        return [limit for limit in larger if values[limit.members].sum() > limit.most + TOLERANCE]

    def check(self, chosen: Marks) -> Sequence[Limit]:
        """List the limits that compatible nodes break; empty: they may be published."""
        out: dict[bytes, Limit] = {}
        for threat in self._threats(chosen):
            for limit in self._forbidding(threat):
                out[limit.members.tobytes()] = limit
        return list(out.values())

    def near(self, values: Floats) -> Marks | None:
        """Make a release near values of a relaxation, the greatest first; None if it suppresses too much."""
        order = np.lexsort((-self.gains, -np.round(values, 6)))
        chosen: Marks = np.zeros(self.node.size, bool)
        fill_up(self.clash, order, chosen)
        while threats := list(self._threats(chosen)):
            for threat in threats:
                if chosen[threat].all():
                    chosen[min(threat, key=lambda i: (self.gains[i], i))] = False
        return chosen if all(chosen[limit.members].any() for limit in self.demanded) else None

    # --- threats of more than two nodes

    @cached_property
    def _leaf_rows(self) -> tuple[Ints, Ids]:
        """The rows of the part that can contain a threat of three nodes or more."""
        sizes = self.indptr[self.rows + 1] - self.indptr[self.rows]
        return take_rows(self.indptr, self.items, self.rows[sizes > 2])

    @cached_property
    def _holders(self) -> tuple[Ints, Ids, Ints]:
        """The rows of each node among `_leaf_rows`: starts, tidlists, weights."""
        indptr, leaves = self._leaf_rows
        nodes = np.empty(leaves.size * (self.tree.height + 1), np.int32)
        ends = np.zeros(indptr.size, np.int64)
        size = kernel.extend_rows(indptr, leaves, self.tree.parent, self.number >= 0, ends, nodes)
        local = self.number[nodes[:size]].astype(np.int32)
        starts, tidlists, _ = invert(frozen(ends, np.int64), frozen(local, np.int32), self.node.size)
        return starts, tidlists, frozen(np.ones(indptr.size - 1), np.int64)

    @cached_property
    def _above(self) -> list[int]:
        """The next node above each that may be published; -1: there is none."""
        out = []
        for v in self.node.tolist():
            above = self.number[self.tree.ancestors(v)]
            above = above[above >= 0]
            out.append(int(above[0]) if above.size else -1)
        return out

    def _threats(self, chosen: Marks) -> Iterator[list[int]]:
        """List the smallest sets of three or more of these nodes that meet in too few rows, and in some."""
        if self.m < 3 or self._leaf_rows[0].size == 1:
            return
        tree = self.tree
        image = np.full(tree.n_nodes, -1, np.int32)
        for i in np.flatnonzero(chosen).tolist():
            image[tree.under(int(self.node[i]))] = i
        indptr, nodes, weights = distinct_rows(*recode_rows(*self._leaf_rows, frozen(image, np.int32)))
        support = item_supports(indptr, nodes, weights, self.node.size)
        order = np.flatnonzero(support)
        order = order[np.argsort(-support[order], kind="stable")]
        rows = ranked(indptr, nodes, weights, order, self.node.size)
        # No node lies above another: their intervals are those of different leaves.
        low = frozen(np.arange(order.size), np.int32)
        high, live = low + np.int32(1), np.ones(order.size, bool)
        last, nothing = np.empty(order.size, np.int64), np.zeros(0, bool)
        for size in range(3, int(min(self.m, rows.lengths.max(initial=0))) + 1):
            path, length, listed = np.zeros(size, np.int64), 0, 0
            while listed < AT_ONCE:
                state, length, found = kernel.walk(
                    *rows[:6], support[order], low, high, frozen(self.sort[order], np.int64), self.most, live,
                    self.k, size, size, path, length, last, nothing, STEPS,
                )  # fmt: skip
                if state != kernel.FOUND:
                    break
                for rank in last[:found].tolist():
                    yield order[[*path[: size - 1], rank]].tolist()
                listed += found
            if listed:
                return

    def _forbidding(self, threat: list[int]) -> Iterator[Limit]:
        """State what a threat proves, in most general form.

        Let S be the threat, or a generalization of it whose support is still in (0, k), and let a row of the
        threat contain a leaf below each node of S. A release with a node between the two, for each of them,
        publishes a set that this row contains, in at most as many rows as S.
        """
        starts, tidlists, weights = self._holders
        indptr, leaves = self._leaf_rows
        rows = np.zeros(self.k, np.int64)
        kernel.support(starts, tidlists, weights, np.array(threat, np.int64), self.k, rows)
        _, found = kernel.support(starts, tidlists, weights, np.array(threat, np.int64), self.k, rows)
        general = {self._generalized(threat, first) for first in range(len(threat))}
        chains = set()
        for row in rows[:found].tolist():
            below = [self._chain(leaf) for leaf in leaves[indptr[row] : indptr[row + 1]].tolist()]
            for top in general:
                members: list[int] = []
                for low, high in zip(threat, top, strict=True):
                    inside = [chain[: chain.index(high) + 1] for chain in below if low in chain]
                    longest: list[int] = max(inside, key=len)
                    members += longest
                chains.add(tuple(sorted(members)))
        for chain in sorted(chains):
            yield Limit(np.array(chain, np.int64), most=len(threat) - 1)

    def _chain(self, leaf: int) -> list[int]:
        """List the nodes above a leaf, the lowest first."""
        above = self.number[[leaf, *self.tree.ancestors(leaf)]]
        chain: list[int] = above[above >= 0].tolist()
        return chain

    def _generalized(self, threat: list[int], first: int) -> tuple[int, ...]:
        """Generalize one node after the other while the set stays rare."""
        starts, tidlists, weights = self._holders
        nowhere = np.zeros(0, np.int64)
        nodes = np.array(threat, np.int64)
        for i in (*range(first, nodes.size), *range(first)):
            while (up := self._above[nodes[i]]) >= 0:
                low, high = self.tree.low[self.node], self.tree.high[self.node]
                rest = np.delete(nodes, i)
                if ((low[up] <= low[rest]) & (high[rest] <= high[up])).any():
                    break
                trial = nodes.copy()
                trial[i] = up
                if kernel.support(starts, tidlists, weights, trial, self.k, nowhere)[0] >= self.k:
                    break
                nodes = trial
        return tuple(nodes.tolist())
