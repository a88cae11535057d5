"""The least loss that the items of one part can have, and the release that has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.base.deadline import Deadline
from setveil.kernels.limits import Limits
from setveil.kernels.rows import Ids, Ints, frozen
from setveil.methods.algorithms.rt._conflict_loops import count_nodes, number_nodes
from setveil.methods.algorithms.rt._packing import Marks, Packing
from setveil.methods.algorithms.rt._publishable import Publishable
from setveil.rows.hierarchy.tree import Hierarchy

EFFORT = 5_000_000_000  # numbers that the solver may look at for one part, about


@dataclass(frozen=True, eq=False)
class ItemOptimum:
    """What the items of a part are published as, at the least loss that was found."""

    # an occurrence under node v costs leaves(v) - 1, a suppressed one |I| - 1 (at least 1); of facts what
    # their boxes lose
    cost: int
    lower: int  # proven: no release of the part costs less
    leaves: Ids  # int32 (any,): the leaves that occur in the part, ascending
    nodes: Ids  # int32 (any,): the node that each is published as; -1: it is suppressed
    suppressed: int  # number of occurrences that are

    @property
    def proven(self) -> bool:
        """Whether no release costs less."""
        return self.cost == self.lower


class ItemOptima:
    """Finds for parts of the rows the cut with suppressed leaves of least loss (LM) whose release is k^m.

    A release is the set of its published nodes, none above another: what lies below none of them is
    suppressed. Publishing node v rather than suppressing what lies below gains its occurrences times (|I| -
    leaves(v)). So the least loss is the greatest total gain of a set of nodes without a forbidden subset, and
    nearly all that is forbidden is forbidden in pairs: an ancestor and its descendant, or two nodes that meet
    in fewer than k rows, but in some. Cliques of such pairs make a relaxation whose optimum is nearly always
    a release.

    Loss is measured on the whole tree, whatever occurs in a part. Of several columns m may be said of each.
    After work of `effort` the search in one part ends with what it has.
    """

    def __init__(
        self,
        tree: Hierarchy,
        indptr: Ints,
        items: Ids,
        k: int,
        m: float,
        *,
        suppress: bool = True,
        allowed: Marks | None = None,
        effort: int = EFFORT,
    ) -> None:
        self.tree, self.indptr, self.items = tree, indptr, items
        self.k, self.m, self.suppress, self.effort = k, m, suppress, effort
        self.full = tree.most_lost
        self.gain_each = self.full - tree.lost
        self.limits = Limits(tree.labels, m)
        allowed = np.ones(tree.n_nodes, bool) if allowed is None else allowed
        self.root_allowed = bool(allowed[tree.root])
        self.allowed: Marks = allowed & (self.gain_each > 0) if suppress else allowed
        self.upwards = frozen(np.argsort(-tree.depth, kind="stable"), np.int32)

    def solve(
        self, rows: Ints, most: int | None = None, deadline: Deadline | None = None
    ) -> ItemOptimum | None:
        """Find the least loss of a part; None: no release was found, as suppression or nodes are not allowed.

        The search ends as soon as the cost is proven to be above `most`: then `lower` is above it. At the
        deadline it ends with what it has; if that is over already, everything is suppressed. If it ended for
        these or its effort, the result is not proven.
        """
        tree = self.tree
        occurrences, support = np.zeros(tree.n_nodes, np.int64), np.zeros(tree.n_nodes, np.int64)
        filled = count_nodes(self.indptr, self.items, rows, tree.parent, occurrences, support)
        number, node = np.empty(tree.n_nodes, np.int64), np.empty(tree.n_nodes, np.int64)
        n = number_nodes(tree.parent, self.upwards, occurrences, support, self.k, self.allowed, number, node)
        node = node[:n]
        everything = int(occurrences[tree.root]) * self.full
        chosen: Marks = np.zeros(n, bool)
        gain = bound = 0
        if n and deadline is not None and deadline.is_over:
            if not self.suppress:
                return None
            bound = everything
        elif n:
            gains = occurrences[node] * self.gain_each[node]
            program = Publishable(
                tree, self.indptr, self.items, rows, number, node, gains, self.k, self.m, self.limits
            )
            enough = -1 if most is None else everything - most - 1
            found = self._search(program, occurrences, enough, deadline or Deadline())
            if found is None or found.best is None:
                return None
            chosen, gain, bound = found.best, found.gain, found.bound
        elif not self.suppress and everything:
            return None
        published = node[chosen]
        if not chosen.any() and filled >= self.k and self.root_allowed:
            published = np.array([tree.root])  # costs what suppressing all does, and says more
        leaves = np.flatnonzero(occurrences[: tree.n_leaves]).astype(np.int32)
        image = np.full(tree.n_leaves, -1, np.int32)
        for v in published.tolist():
            image[tree.under(v)] = v
        nodes = image[leaves]
        suppressed = int(occurrences[leaves[nodes < 0]].sum())
        return ItemOptimum(everything - gain, everything - bound, leaves, nodes, suppressed)

    def _search(
        self, program: Publishable, occurrences: Ints, enough: int, deadline: Deadline
    ) -> Packing | None:
        if not self.suppress and not program.demand(occurrences):
            return None
        packing = Packing(program.gains, program.limits())
        for chosen in (program.coarsest(), program.near(np.zeros(program.node.size))):
            if chosen is not None:
                packing.offer(chosen)
        packing.search(program, enough, self.effort, lambda: deadline.is_over)
        return packing
