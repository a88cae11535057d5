"""The search for the least loss of one cut of each tree of a forest."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setveil.base.progress import Progress
from setveil.kernels.rows import Ids
from setveil.methods.algorithms.exact._branch import BranchAndCut
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._program import Bounds, Program
from setveil.methods.algorithms.exact._rounding import Rounding
from setveil.methods.algorithms.exact._variables import Variables
from setveil.methods.algorithms.rt._forest_candidates import ForestCandidates
from setveil.methods.algorithms.rt._forest_clauses import ForestSeparator
from setveil.methods.algorithms.rt._forest_threats import ForestKnowledge, Threats
from setveil.methods.algorithms.rt._forest_trees import ItemForest

if TYPE_CHECKING:
    from setveil.methods.algorithms.exact._candidates import Candidates
    from setveil.methods.algorithms.exact._clauses import Separator


class ForestSearch:
    """The search for the least loss; `lower` is proven: no candidate loses less.

    At least k rows, or none, must fit what an attacker may know. After `time_limit` seconds the best so far
    is returned; a bound that is proven to be a share of `gap` below the loss is close enough.
    """

    def __init__(
        self,
        forest: ItemForest,
        knowledge: ForestKnowledge,
        suppress: bool,
        progress: Progress,
        time_limit: float,
        gap: Fraction = Fraction(0),
    ) -> None:
        self.forest, self.knowledge, self.progress = forest, knowledge, progress
        self.deadline = time.monotonic() + time_limit
        threats = Threats(forest, knowledge)
        self.separator = ForestSeparator(threats, suppress)
        self.candidates = ForestCandidates(threats, self.separator, suppress, progress)
        self.suppress = suppress
        losses = forest.losses
        self.incumbent = Incumbent(losses, sum(losses.occurrences), max(gap, losses.rounded))
        self.variables = Variables(forest.tree, suppress, [])
        self.lower = 0

    def infeasible(self) -> list[int]:
        """Find a threat that nothing can be done about; empty if there is none."""
        return next(self.candidates.threats(self.candidates.coarsest()), [])

    def run(self) -> None:
        """Search until the best candidate is proven best, or time is up; there must be a valid one."""
        variables, incumbent = self.variables, self.incumbent
        self.program = program = Program(variables.costs(self.forest.losses), self._out_of_time)
        program.imply(variables.implications())
        self.progress.stoppable = True
        try:
            self._begin()
            separator = cast("Separator", self.separator)  # they answer what it asks
            candidates = cast("Candidates", self.candidates)
            rounding = Rounding(program, variables, separator, candidates, incumbent)
            sizes = variables.sizes(self.forest.losses)
            search = BranchAndCut(program, rounding, incumbent, sizes, variables.stages, self.progress)
            search.run(*self._bounds())
        finally:
            self.progress.stoppable = False
        polished = self.candidates.polished(incumbent.candidate)
        if self.forest.losses.cost(polished) <= (incumbent.cost or 0):
            incumbent.put(polished)
        best = incumbent.cost or 0
        self.lower = int(min(search.lower, best))
        if best - self.lower <= self.forest.losses.rounded * best:
            self.lower = best

    @property
    def best(self) -> Ids:
        """The best candidate."""
        return self.incumbent.candidate

    def record(self, loss: float) -> dict[str, Any]:
        """Record how far the search came, given the loss of the best candidate."""
        best, lower = self.incumbent.cost or 0, self.lower
        losses = self.forest.losses
        return {
            "loss": loss,
            "lower_bound": loss if lower == best else float(Fraction(lower, losses.whole)),
            "gap": float(Fraction(best - lower, best)) if best else 0.0,
            "proven": lower == best,
            "within": float(losses.rounded),
            "clauses": len(self.program),
            "rounds": self.program.solved,
        }

    def _bounds(self) -> tuple[Bounds, Bounds]:
        low, high = self.variables.bounds([])
        high[[v - self.forest.tree.n_leaves for v in self.forest.barred]] = 0
        return low, high

    def _out_of_time(self) -> bool:
        return self.progress.stop_requested() or time.monotonic() > self.deadline

    def _begin(self) -> None:
        """Take valid candidates to begin with."""
        candidates = self.candidates
        coarsest = candidates.coarsest()
        self.incumbent.offer(coarsest)
        if self._out_of_time():
            return
        finest = candidates.finest()
        if not self.knowledge.mixed:  # there clauses are short, and a proof takes less than descents
            self._descend(coarsest, finest)
        for candidate in candidates.repaired(finest):
            self.incumbent.offer(candidate)

    def _descend(self, coarsest: Ids, finest: Ids) -> None:
        """Take the quasi-identifiers as coarse as they may be, then finer, beginning with each in turn."""
        candidates, n = self.candidates, self.forest.n_known
        valid = list(candidates.repaired(np.where(self.forest.is_item, finest, coarsest)))
        start = min([coarsest, *valid], key=self.incumbent.losses.cost)
        self.incumbent.offer(start)
        for tree in range(n):
            self.progress("looking for releases to begin with", tree / n)
            if not self._out_of_time():
                self.incumbent.offer(candidates.descended(start, tree, self._out_of_time))
