"""Cuts with suppressed leaves as the 0/1 variables of an integer program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._clauses import Clause, Floats
from setveil.methods.algorithms.exact._hidings import NOBODY, Sensitive
from setveil.methods.algorithms.exact._losses import Losses, upwards
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._program import Bounds


class Variables:
    """Number the variables, and translate between them and candidate recodings.

    Variable ``v - n_leaves`` of inner node v is 1 if the cut lies at v or above; variable ``n_inner + l`` of
    leaf l is 1 if l is published as a leaf of the cut would be, but suppressed. The latter are there only if
    leaves may be suppressed, and count only for leaves that some clause names: suppressing others would be
    for nothing. Where only `barred` leaves may be suppressed, those of others are held at 0.
    """

    def __init__(
        self,
        tree: Hierarchy,
        suppress: bool,
        barred: list[int],
        sensitive: Sensitive = NOBODY,
        low_root: bool = False,
    ) -> None:
        self.tree, self.barred, self.sensitive, self.low_root = tree, barred, sensitive, low_root
        self.suppress = suppress or bool(barred) or sensitive.is_known
        self.only_some = self.suppress and not suppress
        self.n_leaves = tree.n_leaves
        self.n_inner = tree.n_nodes - tree.n_leaves
        self.hidings = self.n_inner + (self.n_leaves if self.suppress else 0)
        self.n = self.hidings + sensitive.n_variables
        # Leaves that some clause names, and those that are sensitive items.
        self._named = np.zeros(self.n_leaves, bool)
        self._named[sensitive.leaf[sensitive.leaf >= 0]] = True
        order = np.array(upwards(tree), np.int64)
        self._deepest = order[order >= self.n_leaves] - self.n_leaves  # inner nodes, each before its parent

    # --- the program

    def costs(self, losses: Losses) -> list[int]:
        """List what each variable adds to the loss if it is 1."""
        tree, full = self.tree, losses.full
        # Moving the cut from the children of v up to v costs the difference; above leaves it was 0.
        costs = [full[v] - sum(full[child] for child in tree.children(v)) for v in self._inner()]
        if self.suppress:
            costs += losses.hidden[: self.n_leaves]
        return costs + losses.unseen

    def sizes(self, losses: Losses) -> Floats:
        """Weigh the variables for the choice of what to branch on: what lies below their nodes."""
        weight, n_leaves = losses.weight, self.n_leaves
        of_leaves = weight[:n_leaves] if self.suppress else []
        return np.array(weight[n_leaves:] + of_leaves + self.sensitive.amounts, np.float64)

    @property
    def stages(self) -> tuple[int, int]:
        """The variables before the first number are branched on first, then those before the second."""
        return self.n_inner, self.hidings

    @property
    def most(self) -> Bounds:
        """Greatest value of each variable."""
        most = np.append(np.ones(self.hidings, np.int64), self.sensitive.most)
        return most.astype(np.min_scalar_type(int(most.max(initial=1))))

    def amounts(self, losses: Losses) -> list[int]:
        """List for each variable how many occurrences are suppressed per unit."""
        return [0] * self.n_inner + (losses.occurrences if self.suppress else []) + self.sensitive.amounts

    def too_much(self, losses: Losses, candidate: Ids, most: int) -> tuple[list[int], int]:
        """State that a candidate suppresses more than it may: amounts of the variables, and their limit."""
        gone = [leaf for leaf in range(self.n_leaves) if candidate[leaf] < 0]
        left = most - sum(losses.occurrences[leaf] for leaf in gone)  # for sensitive items
        unseen = self.sensitive.amounts
        more = max(
            sum(n * most for n, most in zip(unseen, self.sensitive.most.tolist(), strict=True)) - left, 1
        )
        amounts = [0] * self.hidings + unseen
        for v in self.of_leaves(gone):
            amounts[v] = more
        return amounts, left + more * len(gone)

    def implications(self) -> Iterator[tuple[int, int]]:
        """List pairs of variables, of a node and a child of it: the second is 1 if the first is."""
        tree, n = self.tree, self.n_leaves
        return ((int(tree.parent[v]) - n, v - n) for v in self._inner() if v != tree.root)

    def bounds(self, kept: list[int]) -> tuple[Bounds, Bounds]:
        """Bound the variables so that some leaves are published as themselves."""
        high = self.most
        low = np.zeros_like(high)
        for leaf in kept:
            high[[up - self.n_leaves for up in self.tree.ancestors(leaf)]] = 0
            high[self.n_inner : self.hidings][leaf : leaf + 1] = 0
        if self.only_some:
            some = [*self.barred, *self.sensitive.leaf[self.sensitive.leaf >= 0].tolist()]
            able = high[self.of_leaves(some)]
            high[self.n_inner : self.hidings] = 0
            high[self.of_leaves(some)] = able
        if self.low_root:
            high[self.tree.root - self.n_leaves] = 0
        return low, high

    def of_clause(self, clause: Clause) -> tuple[int, ...]:
        """List the variables that a clause forbids to be all 0."""
        above, leaves = clause
        return tuple([v - self.n_leaves for v in above if v >= 0] + self.of_leaves(leaves))

    def of_leaves(self, leaves: list[int] | tuple[int, ...]) -> list[int]:
        """List the variables of suppressed leaves."""
        return [self.n_inner + leaf for leaf in leaves]

    def leaves_of(self, members: tuple[int, ...]) -> tuple[int, ...]:
        """List the leaves among the variables of a clause."""
        return tuple(v - self.n_inner for v in members if self.n_inner <= v < self.hidings)

    def name(self, leaves: tuple[int, ...]) -> list[tuple[int, int]]:
        """Register the leaves that a clause names; return pairs of variables that exclude each other.

        These are of new leaves: one below the cut is no longer there to be suppressed.
        """
        fresh = [leaf for leaf in leaves if self.suppress and not self._named[leaf]]
        if not fresh:
            return []
        self._named[fresh] = True
        parents = [int(self.tree.parent[leaf]) for leaf in fresh]
        return [
            (parent - self.n_leaves, self.n_inner + leaf)
            for parent, leaf in zip(parents, fresh, strict=True)
            if parent >= 0
        ]

    def _inner(self) -> range:
        return range(self.n_leaves, self.tree.n_nodes)

    # --- values of the variables

    def candidate(self, values: Floats, threshold: float = 0.5) -> Ids:
        """Round values of the variables to a candidate recoding (see `Candidates`)."""
        tree, n_leaves = self.tree, self.n_leaves
        candidate = np.arange(tree.n_nodes, dtype=np.int32)
        up = values[: self.n_inner] > threshold
        candidate[self.barred] = -1
        if self.suppress:
            gone = values[self.n_inner : self.n_inner + n_leaves] > threshold
            candidate[:n_leaves][self._named & gone] = -1
        for v in self._deepest[up[self._deepest]].tolist():
            candidate[tree.under(v + n_leaves)] = v + n_leaves
        return np.append(candidate, np.rint(values[self.hidings :]).astype(np.int32))

    def generalized(self, values: Floats) -> Floats:
        """Return the value of each node's variable, 0 for leaves: float64 (n_nodes,)."""
        return np.concatenate((np.zeros(self.n_leaves), values[: self.n_inner]))

    def suppressed(self, values: Floats) -> Floats | None:
        """Return how far each leaf is suppressed: float64 (n_leaves,); None if none may be."""
        if not self.suppress:
            return None
        of_leaves = values[self.n_inner : self.n_inner + self.n_leaves]
        return np.where(self._named, of_leaves, 0.0)

    def shown(self, values: Floats) -> Floats:
        """Return how far each node is published as itself: float64 (n_nodes,)."""
        up = self.generalized(values)
        above = np.where(self.tree.parent >= 0, up[self.tree.parent], 0.0)
        shown = up - above
        gone = self.suppressed(values)
        shown[: self.n_leaves] = 1 - above[: self.n_leaves] - (0 if gone is None else gone)
        return shown
