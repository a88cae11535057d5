"""Branch and cut: the least cost over integer variables, with clauses that are found as needed."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil, floor, inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.kernels.rows import Ints
from setveil.methods.algorithms.exact._clauses import TOLERANCE, Floats
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._program import Bounds, Program, Relaxed

TRIED = 4  # variables that are tried before one is branched on
RELIABLE = 4  # trials after which a variable's average is trusted


class Oracle(Protocol):
    """Knows what solutions are valid (see `setveil.methods.algorithms.exact._rounding.Rounding`)."""

    def separate(self, values: Floats) -> bool:
        """Add clauses that values violate; whether there were any."""

    def offer(self, values: Floats) -> None:
        """Look for better candidates near values that violate no clause."""

    def accept(self, values: Floats) -> bool:
        """Take integer values; False if they are no solution."""


class BranchAndCut:
    """The search; `lower` is proven: no solution costs less.

    `rounding` finds clauses that values of the relaxation violate, and solutions near them. weights: float64
    (n,), how much depends on each variable, for choosing what to branch on: first on those before the first
    number of `stages`, then before the second, ... A variable is branched on `untried` times without trials
    of the likeliest, which pay off in larger searches.
    """

    def __init__(
        self,
        program: Program,
        rounding: Oracle,
        incumbent: Incumbent,
        weights: Floats,
        stages: Sequence[int],
        progress: Progress,
        *,
        untried: int = 0,
    ) -> None:
        self.untried, self.branchings = untried, 0
        self.program, self.rounding, self.incumbent = program, rounding, incumbent
        self.weights, self.stages, self.progress = weights, (*stages, program.n), progress
        self.lower: float = 0
        self.closed = inf  # least bound of a branch that ended with a solution
        self.gains = np.zeros((2, program.n))  # per unit of change: branch down, up
        self.trials = np.zeros((2, program.n))

    def run(self, low: Bounds, high: Bounds) -> None:
        """Search within bounds of the variables until the least cost is proven, or to be ended."""
        program = self.program
        waiting: list[tuple[float, int, Bounds, Bounds]] = []
        node: tuple[float, int, Bounds, Bounds] | None = (0, 0, low, high)
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
            open_ = np.flatnonzero(_is_fractional(values))
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
                lower, upper = _branch(low, high, v, values[v], up)
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

    def _solve(self, bound: float, waiting: list[tuple[float, int, Bounds, Bounds]]) -> Relaxed | None:
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
            if _is_fractional(values).any() or self.rounding.accept(values):
                return relaxed

    def _fix(self, relaxed: Relaxed, low: Bounds, high: Bounds) -> tuple[Bounds, Bounds]:
        """Fix variables whose change would cost more than the best solution."""
        best = self.incumbent.cost
        if best is None:
            return low, high
        room = best - relaxed.least
        return np.where(relaxed.reduced <= -room, high, low), np.where(relaxed.reduced >= room, low, high)

    def _choose(
        self, relaxed: Relaxed, open_: Ints, low: Bounds, high: Bounds
    ) -> tuple[int, tuple[int, int]]:
        """Choose the variable to branch on, and which way to go first."""
        values = relaxed.values
        some = next(early for end in self.stages if (early := open_[open_ < end]).size)
        down = values[some] - np.floor(values[some])
        part = np.stack([down, 1 - down])
        size = self.weights[some] * part.min(axis=0)
        counts = self.trials[:, some]
        average = self.gains.sum(axis=1) / np.maximum(self.trials.sum(axis=1), 1)
        expected = part * np.where(counts > 0, self.gains[:, some] / np.maximum(counts, 1), average[:, None])
        score = np.maximum(expected[0], 1e-9) * np.maximum(expected[1], 1e-9)
        trying = self.branchings >= self.untried
        self.branchings += 1
        likely = np.lexsort((some, -size, -score))[: TRIED if trying else 1]
        best = self.incumbent.cost
        most = inf if best is None else best - relaxed.bound
        chosen = (-1.0, 0, (0, 1))
        for i in likely.tolist():
            v = int(some[i])
            gain = expected[:, i].copy()
            if trying and counts[:, i].min() < RELIABLE:
                for up in (0, 1):
                    lower, upper = _branch(low, high, v, values[v], up)
                    gain[up] = min(max(self.program.trial(lower, upper) - relaxed.bound, 0.0), most)
                    if gain[up] < inf:
                        self.gains[up, v] += gain[up] / part[up, i]
                        self.trials[up, v] += 1
            product = max(gain[0], 1e-9) * max(gain[1], 1e-9)
            if product > chosen[0]:
                chosen = (product, v, (0, 1) if gain[0] <= gain[1] else (1, 0))
        return chosen[1], chosen[2]


def _is_fractional(values: Floats) -> NDArray[np.bool_]:
    """Tell which values are no integers."""
    return np.abs(values - np.rint(values)) > TOLERANCE


def _branch(low: Bounds, high: Bounds, v: int, value: float, up: int) -> tuple[Bounds, Bounds]:
    """Bound a variable by the next integer above its value, or below."""
    low, high = low.copy(), high.copy()
    if up:
        low[v] = ceil(value)
    else:
        high[v] = floor(value)
    return low, high
