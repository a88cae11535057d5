"""Choose elements of the greatest total gain, with at most this many of each of some sets: branch and cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import Protocol

import highspy
import numpy as np
from numpy.typing import NDArray

from setveil.base.solver import solver
from setveil.kernels.rows import Ints

Marks = NDArray[np.bool_]
Floats = NDArray[np.float64]
Node = tuple[int, int, Marks, Marks]  # minus its bound, its number, and what is chosen at least and at most

ANSWERS = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible
TOLERANCE = 1e-6
FINEST = 16  # binary places of the solver's prices that the proof keeps
AT_ONCE = 1000  # limits that enter the model in one step, those first that are broken most
ROUNDS = 30  # relaxations of the root that may be tightened although no solution breaks them


@dataclass(frozen=True)
class Limit:
    """Of some elements at most this many may be chosen, or exactly this many."""

    members: Ints  # int64 (any,)
    most: int = 1
    exactly: bool = False


class PackingProblem(Protocol):
    """What branch and cut asks about its solutions."""

    def tighten(self, values: Floats) -> Sequence[Limit]:
        """List limits that hold for all solutions and that values of a relaxation break."""

    def check(self, chosen: Marks) -> Sequence[Limit]:
        """List limits that a choice within all known ones breaks; none: it is a solution."""

    def near(self, values: Floats) -> Marks | None:
        """Make a solution near values of a relaxation; None: there is none at hand."""


class Packing:
    """The program and the search, with the `best` solution so far.

    Choosing each element gains at least 0; the best solution gains `gain`, -1 while there is none. `bound` is
    proven: no solution gains more. `work`: how many numbers the solver has looked at, about.
    """

    def __init__(self, gains: Ints, limits: Sequence[Limit]) -> None:
        self.n, self.gains = gains.size, gains
        self.best: Marks | None = None
        self.gain = -1
        self.bound = int(gains.sum())
        self.work = 0
        # All limits known, and which of them are rows of the solver's model.
        self._most: Ints = np.zeros(0, np.int64)
        self._exactly = np.zeros(0, bool)
        self._sizes: Ints = np.zeros(0, np.int64)
        self._members: Ints = np.zeros(0, np.int64)
        self._inside = np.zeros(0, bool)
        self._rows: Ints = np.zeros(0, np.int64)
        self._entries: Ints = np.zeros(0, np.int64)
        self._low, self._high = np.zeros(self.n, bool), np.ones(self.n, bool)
        self._highs = highs = solver(presolve="off")
        self._scale = max(float(gains.max(initial=1)) / 1e9, 1.0)
        nothing = np.zeros(0, np.int32)
        zeros, ones = np.zeros(self.n), np.ones(self.n)
        highs.addCols(self.n, -gains / self._scale, zeros, ones, 0, nothing, nothing, np.zeros(0))
        self._add(limits)
        self._admit(ones)

    def offer(self, chosen: Marks) -> None:
        """Remember a solution if it is the best so far."""
        gain = int(self.gains[chosen].sum())
        if gain > self.gain:
            self.best, self.gain = chosen.copy(), gain

    def search(
        self,
        problem: PackingProblem,
        enough: int = -1,
        effort: int = 1 << 62,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Look for the best solution, until it is proven best, or for work of `effort`, or until `over`.

        It gives up as soon as no solution is known to gain more than `enough`; `over` is asked between steps.
        """
        waiting: list[Node] = []
        serial = 0
        node: Node | None = (-self.bound, 0, self._low, self._high)
        while node or waiting:
            if node is None:
                node = heappop(waiting)
            bound, number, low, high = -node[0], node[1], node[2], node[3]
            node = None
            elsewhere = -waiting[0][0] if waiting else -1
            self.bound = max(bound, elsewhere)
            if self.bound <= max(self.gain, enough) or self.work >= effort or over():
                self.bound = max(self.bound, self.gain)
                return
            if bound <= self.gain:
                continue
            self._purge()
            self._restrict(low, high)
            rounds = ROUNDS if number == 0 else 1
            while True:
                relaxed = self._relax()
                if relaxed is None:
                    self.bound = max(bound, elsewhere, self.gain)
                    return
                values, at_most, reduced = relaxed
                bound = min(bound, at_most)
                if bound <= max(self.gain, enough) and not waiting:
                    break
                if bound <= self.gain or self.work >= effort or over():
                    break
                chosen = values > 0.5
                if (np.abs(values - chosen) > TOLERANCE).any():
                    broken = self._tightened(problem, values, cut=rounds > 0)
                    rounds -= 1
                else:
                    broken = self._checked(problem, chosen)
                if not broken:
                    break
                self._add(broken)
            if bound <= self.gain:
                continue
            # What would lose too much against the best solution is settled.
            room = (at_most - self.gain) << self._places
            high, low = high & ((reduced > -room) | low), low | ((reduced >= room) & high)
            children = self._children(bound, serial, low, high, values)
            serial += len(children)
            if children:
                node, other = children
                heappush(waiting, other)
        self.bound = self.gain

    def _checked(self, problem: PackingProblem, chosen: Marks) -> Sequence[Limit]:
        """List limits that a choice breaks; offer it if there are none."""
        broken = problem.check(chosen)
        if not broken:
            self.offer(chosen)
        return broken

    def _tightened(self, problem: PackingProblem, values: Floats, *, cut: bool) -> Sequence[Limit]:
        """Offer a solution near values of a relaxation; with `cut`, list limits that the values break."""
        solution = problem.near(values)
        if solution is not None:
            self.offer(solution)
        return problem.tighten(values) if cut else ()

    def _children(self, bound: int, serial: int, low: Marks, high: Marks, values: Floats) -> Sequence[Node]:
        """Branch on the element whose value is worth most: the branch nearer to the value comes first."""
        undecided = np.flatnonzero(low != high)
        if undecided.size == 0:
            return []
        value = np.minimum(values, 1 - values)[undecided] * self.gains[undecided]
        v = int(undecided[np.argmax(value)])
        children: list[Node] = []
        for up in (False, True) if values[v] < 0.5 else (True, False):
            lower, upper = low.copy(), high.copy()
            lower[v] = upper[v] = up
            children.append((-bound, serial + len(children) + 1, lower, upper))
        return children

    def _add(self, limits: Sequence[Limit]) -> None:
        if not limits:
            return
        self._sizes = np.append(self._sizes, [limit.members.size for limit in limits])
        self._members = np.concatenate([self._members, *(limit.members for limit in limits)])
        self._most = np.append(self._most, [limit.most for limit in limits])
        self._exactly = np.append(self._exactly, [limit.exactly for limit in limits])
        self._inside = np.append(self._inside, np.zeros(len(limits), bool))

    def _admit(self, values: Floats) -> bool:
        """Put the limits that values break most into the model; whether there were any."""
        if self._sizes.size == 0:
            return False
        starts = np.cumsum(self._sizes) - self._sizes
        excess = np.add.reduceat(values[self._members], starts) - self._most
        excess = np.where(self._exactly, np.abs(excess), excess)
        broken = np.flatnonzero((excess > TOLERANCE) & ~self._inside)
        if broken.size == 0:
            return False
        chosen = np.sort(broken[np.argsort(-excess[broken], kind="stable")[:AT_ONCE]])
        sizes, most = self._sizes[chosen], self._most[chosen].astype(np.float64)
        ends = np.cumsum(sizes)
        entries = self._members[np.arange(ends[-1]) + np.repeat(starts[chosen] - ends + sizes, sizes)]
        self._highs.addRows(
            chosen.size,
            np.where(self._exactly[chosen], most, -inf),
            most,
            entries.size,
            (ends - sizes).astype(np.int32),
            entries.astype(np.int32),
            np.ones(entries.size),
        )
        self._inside[chosen] = True
        self._rows, self._entries = np.append(self._rows, chosen), np.append(self._entries, entries)
        return True

    def _purge(self) -> None:
        """Take limits out of the model that do not bind, if these are most."""
        if self._rows.size < AT_ONCE:
            return
        status = self._highs.getBasis().row_status
        loose = np.array([each == highspy.HighsBasisStatus.kBasic for each in status])
        if 2 * loose.sum() < loose.size:
            return
        numbers = np.flatnonzero(loose).astype(np.int32)
        self._highs.deleteRows(numbers.size, numbers)
        self._inside[self._rows[loose]] = False
        self._entries = self._entries[np.repeat(~loose, self._sizes[self._rows])]
        self._rows = self._rows[~loose]

    def _restrict(self, low: Marks, high: Marks) -> None:
        changed = np.flatnonzero((low != self._low) | (high != self._high)).astype(np.int32)
        if changed.size:
            lower, upper = low[changed].astype(np.float64), high[changed].astype(np.float64)
            self._highs.changeColsBounds(changed.size, changed, lower, upper)
        self._low, self._high = low, high

    def _relax(self) -> tuple[Floats, int, Ints] | None:
        """Maximize under all limits: values, a proven bound, and reduced gains; None if the solver fails."""
        highs = self._highs
        while True:
            highs.run()
            self.work += (highs.getInfo().simplex_iteration_count + 1) * (self._entries.size + self.n)
            if highs.getModelStatus() not in ANSWERS:
                highs.clearSolver()  # numerical trouble: once more from the start
                highs.run()
            status = highs.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                return np.zeros(self.n), -1, np.zeros(self.n, np.int64)
            if status not in ANSWERS:
                return None
            solution = highs.getSolution()
            values = np.array(solution.col_value)
            bound, reduced = self._proven(np.array(solution.row_dual))
            if bound <= self.gain or not self._admit(values):
                return values, bound, reduced

    def _proven(self, duals: Floats) -> tuple[int, Ints]:
        """Compute in integers the bound that prices of the limits prove, whatever the solver's errors.

        Pay for each limit its price times `most`; then each element that is chosen gains what is left of its
        gain when the prices of its limits are taken off.
        """
        most, exactly = self._most[self._rows], self._exactly[self._rows]
        # No higher price is of use.
        highest = np.where(exactly, self.gains.sum(), self.gains.max(initial=1))
        self._places = max(0, min(FINEST, 61 - int(highest @ most + self.gains.sum()).bit_length()))
        one = 1 << self._places
        prices = np.clip(-duals * self._scale, np.where(exactly, -highest, 0), highest)
        prices = np.rint(prices * one).astype(np.int64)
        reduced: Ints = self.gains * one
        np.subtract.at(reduced, self._entries, np.repeat(prices, self._sizes[self._rows]))
        left = np.where(reduced > 0, reduced * self._high, reduced * self._low)
        return (int(prices @ most) + int(left.sum())) // one, reduced
