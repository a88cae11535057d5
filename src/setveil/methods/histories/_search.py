"""The search for the least loss of labels: branch and cut, with clauses that are found as needed."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from setveil.base.deadline import Deadline
from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._branch import BranchAndCut
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._program import Bounds, Program
from setveil.methods.histories._joined import Joined
from setveil.methods.histories._lifting_loops import lift
from setveil.methods.histories._repair import is_safe, refined, repaired, walk_arguments
from setveil.methods.histories._walk import Failing, Floats, Walk, options_of_image, options_of_values

LIMITS = 0.25, 0.5, 0.75, 1 - 1e-6  # violated clauses with less than these are looked for in turn
ENOUGH = 500  # until there are so many
AT_ONCE = 30_000  # failing sets that are looked at in one go
THRESHOLDS = 0.5, 0.3, 0.7  # above which a value is rounded to 1


Clause = tuple[
    tuple[int, ...], tuple[int, ...]
]  # the cut is at or above one of these, or one of these is left out


def clauses_of(walk: Walk, failing: Failing) -> set[Clause]:
    """Find what failing sets demand, in most general forms."""
    joined: Joined = walk.joined
    width = joined.promise.m * joined.tokens.shape[1] + 1
    most = failing.size * max(joined.promise.m * joined.free.size, 1)
    is_free = np.zeros(joined.tokens.shape[1], np.uint8)
    is_free[joined.free] = 1
    nodes = np.zeros(most * joined.promise.m * joined.free.size, np.int64)
    leaves = np.zeros_like(nodes)
    ends = np.zeros(most + 1, np.int64)
    some, left, right, keep, raised = (np.zeros(width, np.int64) for _ in range(5))
    forms = lift(
        *walk_arguments(walk, failing, is_free), joined.forest.parent, joined.promise.k, *joined.counting,
        some, left, right, keep, raised, nodes, leaves, ends,
    )  # fmt: skip
    up = joined.forest.parent[nodes[: ends[forms]]].tolist()
    gone, stops = leaves[: ends[forms]].tolist(), ends[: forms + 1].tolist()
    out: set[Clause] = set()
    for start, stop in pairwise(stops):
        above = {v for v in up[start:stop] if v >= 0}
        out.add((tuple(sorted(above)), tuple(sorted(set(gone[start:stop])))))
    return out


class LabelSearch:
    """The search, with the best image as its `incumbent`.

    Variable ``v - n_leaves`` of inner node v is 1 if the cut is at v or above, variable ``n_inner + leaf`` if
    the leaf is suppressed. `lower` is proven: no image loses less, beyond what the finest one loses.
    """

    def __init__(self, joined: Joined, deadline: Deadline) -> None:
        self.joined, self.forest, self.deadline = joined, joined.forest, deadline
        self.progress = deadline.progress
        forest = self.forest
        self.n_inner = forest.n_nodes - forest.n_leaves
        self.losses = forest.losses()
        self.incumbent = Incumbent(self.losses, sum(self.losses.occurrences), Fraction(0))
        self.lower = 0
        full, hidden = self.losses.full, self.losses.hidden[: forest.n_leaves]
        costs = full[forest.n_leaves :] + hidden
        for v, up in enumerate(forest.parent.tolist()):
            if up >= 0:
                costs[up - forest.n_leaves] -= full[v]
        self.program = Program(costs, lambda: deadline.is_over)
        ups = [(v, up - forest.n_leaves) for v, up in enumerate(forest.parent.tolist()) if up >= 0]
        self.program.imply([(up, v - forest.n_leaves) for v, up in ups if v >= forest.n_leaves])
        self.program.exclude([(up, self.n_inner + v) for v, up in ups if v < forest.n_leaves])
        for leaf in np.flatnonzero(forest.barred).tolist():
            above = [int(forest.parent[leaf]) - forest.n_leaves] if forest.parent[leaf] >= 0 else []
            self.program.add((*above, self.n_inner + leaf))
        self._due = 1

    def run(self) -> None:
        """Search until the best image is proven best, or time is up."""
        self.progress.stoppable = True
        try:
            self._begin()
            weights = np.array(self.losses.weight, np.float64)
            n = self.forest.n_leaves
            sizes = np.concatenate([weights[n:], weights[:n]])
            search = BranchAndCut(self.program, self, self.incumbent, sizes, (self.n_inner,), self.progress)
            search.run(*self._bounds())
        finally:
            self.progress.stoppable = False
        best = self.incumbent.cost or 0
        self.lower = int(min(max(search.lower, 0), best))

    def relax(self) -> int:
        """Find a lower bound without a branch, as good as there is time for."""
        self.program.restrict(*self._bounds())
        bound = 0.0
        while (relaxed := self.program.relax()) is not None:
            bound = max(bound, relaxed.bound)
            if self.program.admit(relaxed.values):
                continue
            if not self.separate(relaxed.values):
                break
            self.program.admit(relaxed.values)
        return int(bound)

    def _bounds(self) -> tuple[Bounds, Bounds]:
        n = self.program.n
        return np.zeros(n, np.uint8), np.ones(n, np.uint8)

    def _begin(self) -> None:
        """Take valid images to begin with: nothing is shown, and what is made of the finest."""
        forest = self.forest
        self.incumbent.offer(np.full(forest.n_leaves, -1, np.int32))
        self._offer(forest.finest())

    def _offer(self, image: Ids) -> None:
        made = repaired(self.joined, image, self.progress, lambda: self.deadline.is_over)
        if made is not None:
            made = refined(self.joined, made, self.progress, lambda: self.deadline.is_over)
            self.incumbent.offer(made)

    # --- what branch and cut asks

    def separate(self, values: Floats) -> bool:
        """Add clauses that values violate; whether there were any."""
        up, gone = self._split(values)
        walk = Walk(self.joined, options_of_values(self.joined, up, gone, LIMITS[-1]), LIMITS[-1])
        self._add_found(walk)
        if self.program.violates(values):
            if self.program.solved >= self._due:
                self._due = 2 * self.program.solved
                self._offer(self.image(values))
            return True
        return False

    def _add_found(self, walk: Walk) -> None:
        before = len(self.program)
        for limit in LIMITS:
            for size in range(1, self.joined.promise.m + 1):
                for failing in walk.failing(size, limit=limit, most=AT_ONCE):
                    for above, leaves in sorted(clauses_of(walk, failing)):
                        self.program.add(
                            tuple(
                                [v - self.forest.n_leaves for v in above] + [self.n_inner + x for x in leaves]
                            )
                        )
                    if self.deadline.is_over:
                        return
                if len(self.program) - before >= ENOUGH:
                    return

    def offer(self, values: Floats) -> None:
        """Look for better images near values that violate no clause."""
        for threshold in THRESHOLDS:
            if not self.deadline.is_over:
                self._offer(self.image(values, threshold))

    def accept(self, values: Floats) -> bool:
        """Take integer values; False if they are no solution."""
        image = self.image(values)
        if not is_safe(self.joined, image):
            self._add_found(Walk(self.joined, options_of_image(image)))
            return False
        self.incumbent.offer(image)
        return True

    def image(self, values: Floats, threshold: float = 0.5) -> Ids:
        """Round values to an image."""
        forest = self.forest
        up, gone = self._split(values)
        image = np.where((gone > threshold) | forest.barred, -1, np.arange(forest.n_leaves)).astype(np.int32)
        for v in (np.flatnonzero(up > threshold)).tolist():  # those below come first
            image[forest.below(v)] = v
        return image

    def _split(self, values: Floats) -> tuple[Floats, Floats]:
        return np.concatenate([np.zeros(self.forest.n_leaves), values[: self.n_inner]]), values[
            self.n_inner :
        ]
