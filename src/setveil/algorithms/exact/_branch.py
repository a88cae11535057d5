"""Branch and cut: the least cost over binary variables, with clauses that are found as needed."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

import numpy as np

from setveil.algorithms.exact._incumbent import Incumbent
from setveil.algorithms.exact._program import TOLERANCE, Floats, Marks, Program, Relaxed
from setveil.algorithms.exact._rounding import Rounding
from setveil.kernels.rows import Ints
from setveil.progress import Progress

TRIED = 8  # variables that are tried before one is branched on
RELIABLE = 4  # trials after which a variable's average is trusted


class BranchAndCut:
    """The search.

    Parameters
    ----------
    program : Program
    rounding : Rounding
        Finds clauses that values of the relaxation violate, and solutions near them.
    incumbent : Incumbent
        The best solution so far.
    weights : float64 (n,)
        How much depends on each variable, for choosing what to branch on.
    first : int
        The variables before this number are branched on first.
    progress : Progress
        Hears how far it is.

    Attributes
    ----------
    lower : int or inf
        Proven: no solution costs less.
    """

    def __init__(
        self,
        program: Program,
        rounding: Rounding,
        incumbent: Incumbent,
        weights: Floats,
        first: int,
        progress: Progress,
    ) -> None:
        self.program, self.rounding, self.incumbent = program, rounding, incumbent
        self.weights, self.first, self.progress = weights, first, progress
        self.lower: float = 0
        self.closed = inf  # least bound of a branch that ended with a solution
        self.gains = np.zeros((2, program.n))  # per unit of change: branch down, up
        self.trials = np.zeros((2, program.n))

    def run(self, low: Marks, high: Marks) -> None:
        """Search within bounds of the variables until the least cost is proven, or to be ended."""
        program = self.program
        waiting: list[tuple[float, int, Marks, Marks]] = []
        node: tuple[float, int, Marks, Marks] | None = (0, 0, low, high)
        serial = 0
        while node or waiting:
            if node is None:
                node = heappop(waiting)
            bound, number, low, high = node
            node = None
            self.lower = min(self.closed, bound, waiting[0][0] if waiting else inf)
            if self._is_close():
                return
            if self._prune(bound):
                continue
            program.restrict(low, high)
            relaxed = self._solve(bound, waiting)
            if relaxed is None:
                return
            bound = max(bound, relaxed.bound)
            if self._prune(bound):
                continue
            values = relaxed.values
            open_ = np.flatnonzero((values > TOLERANCE) & (values < 1 - TOLERANCE))
            if open_.size == 0:
                self.closed = min(self.closed, bound)
                continue
            if number & (number + 1) == 0:  # ever more rarely
                self.rounding.offer(values)
                if self._prune(bound):
                    continue
            low, high = self._fix(relaxed, low, high)
            v, order = self._choose(relaxed, open_, low, high)
            children = []
            for up in order:
                serial += 1
                lower, upper = low.copy(), high.copy()
                lower[v] = upper[v] = up
                children.append((bound, serial, lower, upper))
            node = children[0]
            heappush(waiting, children[1])
        self.lower = self.closed

    def _is_close(self) -> bool:
        """Whether the proven bound is close enough to the best solution; tells how close it is."""
        best = self.incumbent.cost
        if best is not None:
            share = float(min(self.lower, best) / best) if best else None
            self.progress(f"proving, round {self.program.solved}", share)
        return self.incumbent.is_close(self.lower)

    def _prune(self, bound: float) -> bool:
        best = self.incumbent.cost
        return bound == inf or (best is not None and bound >= best)

    def _solve(self, bound: float, waiting: list[tuple[float, int, Marks, Marks]]) -> Relaxed | None:
        """Minimize under all clauses there are; None if ended early."""
        elsewhere = min(self.closed, waiting[0][0] if waiting else inf)
        while True:
            relaxed = self.program.relax()
            if relaxed is None:
                return None
            self.lower = max(self.lower, min(elsewhere, max(bound, relaxed.bound)))
            if self._prune(relaxed.bound):
                return relaxed
            if self._is_close():
                return None
            values = relaxed.values
            if self.program.admit(values):
                continue
            if self.rounding.separate(values):
                self.program.admit(values)
                continue
            if ((values > TOLERANCE) & (values < 1 - TOLERANCE)).any() or self.rounding.accept(values):
                return relaxed

    def _fix(self, relaxed: Relaxed, low: Marks, high: Marks) -> tuple[Marks, Marks]:
        """Fix variables whose change would cost more than the best solution."""
        best = self.incumbent.cost
        if best is None:
            return low, high
        room = best - relaxed.least
        return np.where(relaxed.reduced <= -room, high, low), np.where(relaxed.reduced >= room, low, high)

    def _choose(
        self, relaxed: Relaxed, open_: Ints, low: Marks, high: Marks
    ) -> tuple[int, tuple[float, float]]:
        """Choose the variable to branch on, and which way to go first."""
        values = relaxed.values
        early = open_[open_ < self.first]
        some = early if early.size else open_
        part = np.stack([values[some], 1 - values[some]])
        size = self.weights[some] * part.min(axis=0)
        counts = self.trials[:, some]
        average = self.gains.sum(axis=1) / np.maximum(self.trials.sum(axis=1), 1)
        expected = part * np.where(counts > 0, self.gains[:, some] / np.maximum(counts, 1), average[:, None])
        score = np.maximum(expected[0], 1e-9) * np.maximum(expected[1], 1e-9)
        likely = np.lexsort((some, -size, -score))[:TRIED]
        best = self.incumbent.cost
        most = inf if best is None else best - relaxed.bound
        chosen = (-1.0, 0, (0.0, 1.0))
        for i in likely.tolist():
            v = int(some[i])
            gain = expected[:, i].copy()
            if counts[:, i].min() < RELIABLE:
                for up in (0, 1):
                    lower, upper = low.copy(), high.copy()
                    lower[v] = upper[v] = up
                    gain[up] = min(max(self.program.trial(lower, upper) - relaxed.bound, 0.0), most)
                    if gain[up] < inf:
                        self.gains[up, v] += gain[up] / part[up, i]
                        self.trials[up, v] += 1
            product = max(gain[0], 1e-9) * max(gain[1], 1e-9)
            if product > chosen[0]:
                chosen = (product, v, (0.0, 1.0) if gain[0] <= gain[1] else (1.0, 0.0))
        return chosen[1], chosen[2]
