"""The linear relaxation of the exact algorithm, with clauses that enter it as they are violated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, gcd, inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints
from setveil.methods.algorithms.exact._clauses import TOLERANCE, Floats

if TYPE_CHECKING:
    import highspy

AT_ONCE = 2000  # clauses that enter the model in one step, most violated first
GREATEST = 1e9  # cost of a variable, as the solver sees it
TRIAL = 100  # simplex iterations that tell how a variable would do
SLACK = 500  # clauses that are not binding, but may stay in the model
SOON = 4000  # rows of a model up to which the solver is done soon
LIMIT = -2  # what stands for the row of the first limit, where others have the number of their clause

Bounds = NDArray[np.unsignedinteger[Any]]  # bounds of variables
Row = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True)
class Relaxed:
    """What minimizing the relaxation within bounds of the variables found."""

    values: Floats  # float64 (n,): values of the variables at the minimum
    bound: float  # proven: no solution within these bounds of the variables costs less; inf: there is none
    least: float  # the same before it is rounded up to a cost that is possible
    # float64 (n,): proven: a solution costs at least this more than `least` if a variable is not at its lower
    # bound where it is positive, or not at its upper bound where it is negative
    reduced: Floats


class Program:
    """Minimize a cost over integer variables under clauses: weighted sums that are at least what they need.

    Clauses wait in a pool; only those that a solution violates are in the solver's model, so that it stays
    small. Costs are at least 0, variables from 0 to `most` (by default 1), and now from `low` to `high`.
    `must_end` is asked now and then whether to end early; `solved` relaxations were minimized.
    """

    def __init__(
        self, costs: Sequence[int], must_end: Callable[[], bool], most: Bounds | None = None
    ) -> None:
        import highspy  # which takes long, and not every search needs it

        from setveil.base.solver import solver

        self.n = len(costs)
        self.high: Bounds = np.ones(self.n, np.uint8) if most is None else most
        self.low: Bounds = np.zeros_like(self.high)
        self.solved = 0
        self._known: set[Row] = set()
        self._members = np.zeros(1024, np.int32)  # of all clauses, one after the other
        self._weights = np.zeros(1024)
        self._starts = np.zeros(1024, np.int64)
        self._needs = np.zeros(1024)
        self._scales = np.zeros(1024)  # greatest weight of each clause, without its sign
        self._inside = np.zeros(1024, bool)  # clauses that the model holds
        self._entries = 0
        # The model: which clause each row is (-1: something else), its limits, its entries.
        self._clause: Ints = np.zeros(0, np.int64)
        self._limits = np.zeros((0, 2))
        self._row: Ints = np.zeros(0, np.int64)
        self._column: Ids = np.zeros(0, np.int32)
        self._value = np.zeros(0)
        self._binding = 0
        self._infeasible = highspy.HighsModelStatus.kInfeasible
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._basic = highspy.HighsBasisStatus.kBasic
        self._highs = highs = solver(presolve="off")
        nothing = np.zeros(0, np.int32)
        some = np.zeros(self.n)
        highs.addCols(self.n, some, some, self.high.astype(np.float64), 0, nothing, nothing, np.zeros(0))
        self.price(costs)

        self.must_end = must_end
        self._interruptible = False

    def _be_interruptible(self) -> None:
        """Let the solver ask on its way whether to end, which costs more than it saves where that is soon."""
        must_end = self.must_end

        def interrupt(event: highspy.HighsCallbackEvent) -> None:
            event.interrupt(must_end())  # False, too: HiGHS remembers the last answer in later solves

        self._interruptible = True
        self._highs.cbSimplexInterrupt += interrupt

    def price(self, costs: Sequence[int]) -> None:
        """Set the cost of each variable; what is demanded of them stays."""
        self.unit = gcd(*costs) or 1
        self.scale = max(max(costs, default=0) / GREATEST, self.unit)
        self.costs = np.array([cost / self.scale for cost in costs])
        self._highs.changeColsCost(self.n, np.arange(self.n, dtype=np.int32), self.costs)

    # --- what is demanded

    def limit(self, amounts: Sequence[int], most: int) -> None:
        """Demand that the values of the variables, times the amounts, add up to at most `most`."""
        used = [v for v, amount in enumerate(amounts) if amount]
        # Sums are integers: the half keeps the solver's tolerance from mattering.
        values = np.array([amounts[v] for v in used], np.float64)
        first = LIMIT if LIMIT not in self._clause else -1
        self._add_rows([np.array(used, np.int32)], -inf, most + 0.5, values, np.array([first]))

    def imply(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Demand for each pair that the second variable is 1 if the first is."""
        rows = [np.array(pair, np.int32) for pair in pairs]
        self._add_rows(rows, 0.0, inf, np.tile([-1.0, 1.0], len(rows)))

    def exclude(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Demand for each pair that not both variables are 1."""
        rows = [np.array(pair, np.int32) for pair in pairs]
        self._add_rows(rows, -inf, 1.0, np.ones(2 * len(rows)))

    def add(self, members: tuple[int, ...], weights: tuple[int, ...] = (), need: int = 1) -> None:
        """Put a clause into the pool: the variables, by default weighted 1, add up to at least `need`."""
        row = members, weights, need
        if row in self._known:
            return
        if not members:
            if need > 0:  # nothing can be done about it
                self._add_rows([np.zeros(0, np.int32)], float(need), inf, np.zeros(0))
            return
        number, end = len(self._known), self._entries + len(members)
        self._known.add(row)
        if number + 1 >= self._starts.size:
            for name in ("_starts", "_needs", "_scales", "_inside"):
                array = getattr(self, name)
                setattr(self, name, np.append(array, np.zeros_like(array)))
        while end > self._members.size:
            self._members = np.append(self._members, np.zeros_like(self._members))
            self._weights = np.append(self._weights, np.zeros_like(self._weights))
        self._members[self._entries : end] = members
        self._weights[self._entries : end] = weights or 1
        self._needs[number], self._scales[number] = need, max(map(abs, weights), default=1)
        self._starts[number + 1] = self._entries = end

    def clauses(self) -> Iterable[Row]:
        """List the clauses found so far: variables, weights (empty: all 1), what is needed; in no order."""
        return self._known

    def __len__(self) -> int:
        """Count the clauses found so far."""
        return len(self._known)

    # --- solving

    def restrict(self, low: Bounds, high: Bounds) -> None:
        """Set the bounds of the variables."""
        changed = np.flatnonzero((low != self.low) | (high != self.high)).astype(np.int32)
        if changed.size:
            lower, upper = low[changed].astype(np.float64), high[changed].astype(np.float64)
            self._highs.changeColsBounds(changed.size, changed, lower, upper)
        self.low, self.high = low, high

    def relax(self) -> Relaxed | None:
        """Minimize under the clauses in the model; None if stopped early."""
        highs = self._highs
        for _ in range(2):
            if self.must_end():
                return None
            highs.run()
            self.solved += 1
            status = highs.getModelStatus()
            if status == self._infeasible:
                return Relaxed(np.zeros(self.n), inf, inf, np.zeros(self.n))
            if status == self._optimal:
                solution = highs.getSolution()
                least, reduced = self._proven(np.array(solution.row_dual))
                bound = max(ceil(least / self.unit), 0) * self.unit
                return Relaxed(np.array(solution.col_value), bound, least, reduced)
            highs.clearSolver()  # numerical trouble: once more from the start
        return None

    def _proven(self, duals: Floats) -> tuple[float, Floats]:
        """Compute the bound that dual values prove, and the reduced costs, whatever the solver's errors.

        For any weights of the rows, of the right sign, the weighted sum of the rows is a valid inequality,
        and what it leaves of the costs is least at the variables' bounds.
        """
        duals = np.where(np.isfinite(self._limits[:, 0]), duals, np.minimum(duals, 0.0))
        duals = np.where(np.isfinite(self._limits[:, 1]), duals, np.maximum(duals, 0.0))
        used = np.where(duals > 0, self._limits[:, 0], np.where(duals < 0, self._limits[:, 1], 0.0))
        parts = duals[self._row] * self._value
        reduced: Floats = self.costs - np.bincount(self._column, parts, self.n)
        least = float(duals @ used) + np.minimum(reduced * self.low, reduced * self.high).sum()
        error = 1e-12 * (np.abs(parts).sum() + np.abs(duals * used).sum()) + 1e-15 * self.costs.sum()
        reduced *= self.scale
        return float(least - error) * self.scale, reduced

    def multipliers(self) -> tuple[list[tuple[tuple[int, ...], float]], float]:
        """List the clauses that bind at the last minimum, with their dual values, and that of the limit."""
        return self._weighted(np.array(self._highs.getSolution().row_dual) * self.scale)

    def ray(self, sign: float) -> tuple[list[tuple[tuple[int, ...], float]], float]:
        """List the clauses that together cannot be satisfied, with their weights, and that of the limit.

        Of the last model, if that has no solution; in units of the greatest. `sign`: which way to read it.
        """
        _, found, values = self._highs.getDualRay()  # type: ignore[attr-defined]  # not in its stubs
        if not found:
            return [], 0.0
        values = np.array(values) * sign
        return self._weighted(values / max(np.abs(values).max(initial=0), 1e-30))

    def _weighted(self, duals: Floats) -> tuple[list[tuple[tuple[int, ...], float]], float]:
        rows = np.flatnonzero((self._clause >= 0) & (duals > 0)).tolist()
        numbers = self._clause[rows].tolist()
        members = [tuple(self._members[self._starts[c] : self._starts[c + 1]].tolist()) for c in numbers]
        limit = -float(duals[self._clause == LIMIT].sum())
        return list(zip(members, duals[rows].tolist(), strict=True)), limit

    def violates(self, values: Floats) -> bool:
        """Whether the values violate a clause that is not in the model."""
        return self._violated(values)[1].size > 0

    def _violated(self, values: Floats) -> tuple[Floats, Ints]:
        """Find each clause's surplus (in its greatest weight); number violated ones out of the model."""
        n = len(self._known)
        if n == 0:
            return np.zeros(0), np.zeros(0, np.int64)
        entries = slice(0, self._entries)
        filled = np.add.reduceat(values[self._members[entries]] * self._weights[entries], self._starts[:n])
        spare = (filled - self._needs[:n]) / self._scales[:n]
        return spare, np.flatnonzero((spare < -TOLERANCE) & ~self._inside[:n])

    def admit(self, values: Floats) -> bool:
        """Move the clauses that the values violate most into the model; whether there were any."""
        spare, violated = self._violated(values)
        if violated.size == 0:
            return False
        if self._clause.size > 2 * self._binding + SLACK:
            self._purge(spare)
        chosen = violated[np.argsort(spare[violated], kind="stable")[:AT_ONCE]]
        self._inside[chosen] = True
        entries = [slice(self._starts[c], self._starts[c + 1]) for c in chosen.tolist()]
        rows = [self._members[some] for some in entries]
        values = np.concatenate([self._weights[some] for some in entries])
        self._add_rows(rows, self._needs[chosen], inf, values, chosen)
        return True

    def _purge(self, spare: Floats) -> None:
        """Take clauses out of the model that do not bind: they wait in the pool."""
        basic = [status == self._basic for status in self._highs.getBasis().row_status]
        loose = np.array(basic) & (self._clause >= 0)
        loose[loose] = spare[self._clause[loose]] > TOLERANCE
        numbers = np.flatnonzero(loose).astype(np.int32)
        self._highs.deleteRows(numbers.size, numbers)
        self._inside[self._clause[loose]] = False
        stays = ~loose[self._row]
        self._row = (np.cumsum(~loose) - 1)[self._row[stays]]
        self._column, self._value = self._column[stays], self._value[stays]
        self._clause, self._limits = self._clause[~loose], self._limits[~loose]
        self._binding = self._clause.size

    def trial(self, low: Bounds, high: Bounds) -> float:
        """Estimate what the relaxation costs within other bounds of the variables: a few steps of the way."""
        self.restrict(low, high)
        self._highs.setOptionValue("simplex_iteration_limit", TRIAL)
        self._highs.run()
        self._highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        if self._highs.getModelStatus() == self._infeasible:
            return inf
        return float(self._highs.getInfo().objective_function_value * self.scale)

    def _add_rows(
        self,
        rows: Sequence[Ids],
        lower: float | Floats,
        upper: float,
        values: Floats,
        clauses: Ints | None = None,
    ) -> None:
        if not rows:
            return
        sizes = [row.size for row in rows]
        starts = np.concatenate(([0], np.cumsum(sizes[:-1]))).astype(np.int32)
        columns = np.concatenate(rows)
        limits = np.stack([np.broadcast_to(lower, len(rows)), np.broadcast_to(upper, len(rows))], axis=1)
        self._highs.addRows(
            len(rows),
            limits[:, 0].astype(np.float64),
            limits[:, 1].astype(np.float64),
            columns.size,
            starts,
            columns,
            values,
        )
        numbers = np.arange(self._clause.size, self._clause.size + len(rows))
        self._row = np.append(self._row, np.repeat(numbers, sizes))
        self._column, self._value = np.append(self._column, columns), np.append(self._value, values)
        self._clause = np.append(self._clause, np.full(len(rows), -1) if clauses is None else clauses)
        self._limits = np.append(self._limits, limits, axis=0)
        if self._clause.size > SOON and not self._interruptible:
            self._be_interruptible()
