"""The integer program of the exact algorithm, with clauses that are added as they are found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from math import gcd, inf

import highspy
import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2000  # clauses that enter the relaxation in one step, most violated first
TOLERANCE = 1e-6
MOST = 10**12  # greatest cost that the solver is given


class Program:
    """Minimize a cost over binary variables under clauses: in each, at least one variable is 1.

    Clauses wait in a pool; only those that a solution violates enter the solver's model, so that it stays
    small.

    Parameters
    ----------
    costs : sequence of int
        Cost of each variable, at least 0.
    stop : callable
        Asked now and then whether to end early.

    Attributes
    ----------
    exact : bool
        Whether the solver works with the costs as they are, not rounded.
    bound : float
        Proven: no solution costs less.
    infeasible : bool
        Proven: there is no solution.
    """

    def __init__(self, costs: Sequence[int], stop: Callable[[], bool]) -> None:
        self.n = len(costs)
        self.unit = gcd(*costs) or 1
        self.exact = max(costs, default=0) // self.unit <= MOST
        if not self.exact:  # rounding costs down keeps the bound a bound
            self.unit = max(costs) // MOST
        self.bound = 0.0
        self.infeasible = False
        self._stop = stop
        self._known: set[tuple[int, ...]] = set()
        self._members: list[NDArray[np.int32]] = []
        self._waiting: list[int] = []  # clauses in the pool that the model does not hold yet
        self._highs = highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in {
            "output_flag": False, "threads": 1, "random_seed": 0, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0
        }.items():  # fmt: skip
            highs.setOptionValue(option, value)
        nothing = np.zeros(0, np.int32)
        scaled = np.array([cost // self.unit for cost in costs], np.float64)
        highs.addCols(self.n, scaled, np.zeros(self.n), np.ones(self.n), 0, nothing, nothing, np.zeros(0))
        highs.changeColsIntegrality(
            self.n, np.arange(self.n, dtype=np.int32), np.full(self.n, highspy.HighsVarType.kInteger)
        )

        def interrupt(event: highspy.HighsCallbackEvent) -> None:
            if self._must_end():
                event.interrupt()

        self._deadline = inf
        highs.cbMipInterrupt += interrupt
        highs.cbSimplexInterrupt += interrupt

    def forbid(self, variables: Iterable[int]) -> None:
        """Fix variables to 0."""
        for v in variables:
            self._highs.changeColBounds(v, 0.0, 0.0)

    def limit(self, amounts: Sequence[int], most: int) -> None:
        """Demand that the amounts of the variables that are 1 add up to at most `most`."""
        used = [v for v, amount in enumerate(amounts) if amount]
        # Sums are integers: the half keeps the solver's tolerance from mattering.
        values = np.array([amounts[v] for v in used], np.float64)
        self._highs.addRow(-inf, most + 0.5, len(used), np.array(used, np.int32), values)

    def not_all(self, variables: Sequence[int]) -> None:
        """Demand that not all of the variables are 1."""
        columns = np.array(variables, np.int32)
        self._highs.addRow(-inf, columns.size - 1.0, columns.size, columns, np.ones(columns.size))

    def imply(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Demand for each pair that the second variable is 1 if the first is."""
        self._add_rows([np.array(pair, np.int32) for pair in pairs], 0.0, inf, np.array([-1.0, 1.0]))

    def exclude(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Demand for each pair that not both variables are 1."""
        self._add_rows([np.array(pair, np.int32) for pair in pairs], -inf, 1.0, np.ones(2))

    def add(self, clauses: Iterable[tuple[int, ...]]) -> int:
        """Put clauses into the pool; how many of them are new."""
        before = len(self._members)
        for clause in clauses:
            if clause not in self._known:
                self._known.add(clause)
                self._waiting.append(len(self._members))
                self._members.append(np.array(clause, np.int32))
        return len(self._members) - before

    def __len__(self) -> int:
        """Count the clauses found so far."""
        return len(self._members)

    def relax(self, deadline: float) -> NDArray[np.float64] | None:
        """Minimize with variables anywhere between 0 and 1, under all clauses; None if stopped early."""
        return self._solve(deadline, None, False)

    def solve(self, deadline: float, start: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Minimize under all clauses, from a known solution if there is one; None if stopped early."""
        return self._solve(deadline, start, True)

    def _solve(
        self, deadline: float, start: NDArray[np.float64] | None, integral: bool
    ) -> NDArray[np.float64] | None:
        highs = self._highs
        highs.setOptionValue("solve_relaxation", not integral)
        self._deadline = deadline
        while True:
            if self._must_end():
                return None
            if start is not None:
                solution = highspy.HighsSolution()
                solution.col_value = start.tolist()
                highs.setSolution(solution)
            highs.run()
            status = highs.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                self.infeasible = True
                return None
            done = status == highspy.HighsModelStatus.kOptimal
            info = highs.getInfo()
            if integral or done:
                bound = info.mip_dual_bound if integral else info.objective_function_value
                self.bound = max(self.bound, bound * self.unit if np.isfinite(bound) else 0.0)
            if not done:
                return None
            values = np.array(highs.getSolution().col_value)
            if not self.admit(values):
                return values

    def _must_end(self) -> bool:
        return self._stop() or time.monotonic() > self._deadline

    def admit(self, values: NDArray[np.float64]) -> bool:
        """Move the clauses that the values violate most into the model; whether there were any."""
        if not self._waiting:
            return False
        members = [self._members[c] for c in self._waiting]
        starts = np.concatenate(([0], np.cumsum([m.size for m in members[:-1]]))).astype(np.int64)
        filled = np.add.reduceat(values[np.concatenate(members)], starts)
        violated = np.flatnonzero(filled < 1 - TOLERANCE)
        if violated.size == 0:
            return False
        chosen = violated[np.argsort(filled[violated], kind="stable")[:AT_ONCE]]
        self._add_rows([members[c] for c in chosen], 1.0, inf, None)
        taken = set(chosen.tolist())
        self._waiting = [c for at, c in enumerate(self._waiting) if at not in taken]
        return True

    def _add_rows(
        self,
        rows: Sequence[NDArray[np.int32]],
        lower: float,
        upper: float,
        values: NDArray[np.float64] | None,
    ) -> None:
        if not rows:
            return
        sizes = [row.size for row in rows]
        starts = np.concatenate(([0], np.cumsum(sizes[:-1]))).astype(np.int32)
        entries = np.ones(sum(sizes)) if values is None else np.tile(values, len(rows))
        self._highs.addRows(
            len(rows), np.full(len(rows), lower), np.full(len(rows), upper), sum(sizes), starts,
            np.concatenate(rows), entries,
        )  # fmt: skip
