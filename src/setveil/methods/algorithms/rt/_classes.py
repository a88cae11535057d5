"""Classes of a table for the least loss: of several sizes, and by splits that gain."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from setveil.base.deadline import Deadline
from setveil.base.progress import Progress
from setveil.base.tracing import Trace
from setveil.kernels.rows import Ints, take_rows
from setveil.methods.algorithms.rt._item_optimum import ItemOptima, ItemOptimum
from setveil.methods.algorithms.rt._mondrian import mondrian
from setveil.methods.algorithms.rt._splits import Splits
from setveil.rows.tables.table import Table

if TYPE_CHECKING:
    from setveil.methods.algorithms.rt._sensitive import SensitiveValues


class Objective:
    """The loss f = share * R + (1 - share) * T of parts of a table, times `whole`.

    R is the mean loss of a row's columns (NCP), T that of an item occurrence (LM), which costs `full` if
    suppressed. A unit of the columns' loss counts `of_rows`, one of the items' cost `of_items`.
    """

    def __init__(self, table: Table, full: int, share: Fraction) -> None:
        self.rows = max(table.n_rows, 1) * max(table.unit_total, 1)
        self.items = max(table.n_occurrences, 1) * full
        self.row_weight = share.numerator * self.items
        self.item_weight = (share.denominator - share.numerator) * self.rows
        self.whole = share.denominator * self.rows * self.items

    def relational(self, lost: int) -> Fraction:
        """Compute R from the sum of the units that rows lose."""
        return Fraction(lost, self.rows)

    def transactional(self, cost: int) -> Fraction:
        """Compute T from the sum of the items' costs."""
        return Fraction(cost, self.items)

    def total(self, lost: int, cost: int) -> Fraction:
        """Compute f."""
        return Fraction(self.row_weight * lost + self.item_weight * cost, self.whole)


@dataclass(frozen=True, eq=False)
class TriedClasses:
    """Classes that were tried."""

    search: str  # how they were found: "sweep" or "rt"
    least: int  # rows that a class has at least
    parts: Sequence[Ints]  # sequence of int64 (any,): the rows of each class
    items: Sequence[ItemOptimum]  # what the items of each are published as
    # relational, transactional, total: R, T and f
    relational: Fraction
    transactional: Fraction
    total: Fraction

    @property
    def suppressed(self) -> int:
        """Number of occurrences that are suppressed."""
        return sum(found.suppressed for found in self.items)

    @property
    def lower(self) -> int:
        """Proven: no items of these classes cost less."""
        return sum(found.lower for found in self.items)


class ClassFinder:
    """Finds classes of at least k rows, and the best items of each; the items of a class are found once.

    The table's rows are in canonical order. `filled`: see `Splits`; `largest`: the rows of the largest parts
    that may be classes; `share`: of the columns in the loss; `sensitive`: what no class may share too often.
    """

    def __init__(
        self,
        table: Table,
        optima: ItemOptima,
        k: int,
        filled: int,
        largest: Sequence[Ints],
        share: Fraction,
        progress: Progress,
        sensitive: SensitiveValues | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.table, self.optima, self.k, self.filled, self.progress = table, optima, k, filled, progress
        self.largest, self.trace = largest, trace
        self.objective = Objective(table, optima.full, share)
        self.sensitive = sensitive
        self.splits = Splits(table, k, filled, sensitive)
        self.deadline = Deadline()  # of what is tried now
        self._found: dict[bytes, tuple[ItemOptimum | None, int | None]] = {}  # and the `most` of the search

    def sizes(self) -> list[int]:
        """List the least sizes of classes to try: k, 4k, 16k, ... up to half of the rows, then all rows."""
        sizes, least = [], self.k
        while 2 * least <= self.table.n_rows:
            sizes.append(least)
            least *= 4
        return [*sizes, self.table.n_rows]

    def of_size(self, least: int) -> TriedClasses | None:
        """Make classes of at least this many rows; None: their items cannot be published."""
        if least < self.table.n_rows:
            parts = mondrian(Splits(self.table, least, self.filled, self.sensitive), self.largest)
        else:
            parts = [*self.largest]
        return self._point("sweep", least, parts)

    def by_gain(self) -> TriedClasses | None:
        """Split parts, the largest at first, by the column that lowers the loss most, while one does."""
        final: list[Ints] = []
        waiting, decided = [*self.largest], 0
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            while waiting:
                self.progress("splitting by gain", decided / self.table.n_rows)
                if self.deadline.is_over:
                    final += waiting
                    break
                below: list[Ints] = []
                for part, parts in zip(waiting, threads.map(self._best_split, waiting), strict=True):
                    if self.trace is not None:
                        self._report(self.trace, part, parts)
                    if parts is None:
                        final.append(part)
                        decided += part.size
                    else:
                        below += parts
                waiting = below
        return self._point("rt", self.k, sorted(final, key=lambda part: int(part[0])))

    def _point(self, search: str, least: int, parts: Sequence[Ints]) -> TriedClasses | None:
        number = os.cpu_count() or 1
        left = itertools.count(len(parts), -1)  # of the time that is left each part gets its share

        def solved(part: Ints) -> ItemOptimum | None:
            return self._items(part, deadline=self.deadline.part(max(next(left) / number, 1)))

        with ThreadPoolExecutor(number) as threads:
            items = [*threads.map(solved, parts)]
        known = [found for found in items if found is not None]
        if len(known) < len(items):
            return None
        lost, cost = sum(map(self._lost, parts)), sum(found.cost for found in known)
        objective = self.objective
        return TriedClasses(
            search,
            least,
            parts,
            known,
            objective.relational(lost),
            objective.transactional(cost),
            objective.total(lost, cost),
        )

    def _lost(self, part: Ints) -> int:
        return part.size * sum(self.splits.losses(part))

    def _best_split(self, part: Ints) -> list[Ints] | None:
        """Find the split of least loss, of equals by the first column; None: the part loses less."""
        best, chosen = self._loss([part], None), None
        for a in range(len(self.table.columns)):
            parts = self.splits.by(a, part)
            if parts is None:
                continue
            loss = self._loss(parts, best)
            if loss is not None and (best is None or loss < best):
                best, chosen = loss, parts
        return chosen

    def _report(self, trace: Trace, part: Ints, chosen: list[Ints] | None) -> None:
        """Write a step: a part, the loss of f by each split, and the chosen column."""
        found = self._found
        self._found = dict(found)  # what is found for the trace must not be used by the search
        whole = self._loss([part], None)
        candidates = []
        for column, a in zip(self.table.columns, range(len(self.table.columns)), strict=True):
            parts = self.splits.by(a, part)
            loss = None if parts is None else self._loss(parts, None)
            same = chosen is not None and parts is not None and _equal(parts, chosen)
            if parts is not None and loss is not None:
                candidates.append((column.name, [each.size for each in parts], loss, same))
        self._found = found
        trace.step(
            phase="splits",
            rows=part.size,
            cost=None if whole is None else whole / self.objective.whole,
            candidates=[
                {"split": name, "classes": sizes, "cost": loss / self.objective.whole}
                for name, sizes, loss, _ in candidates
            ],
            chosen=next((name for name, _, _, same in candidates if same), None),
        )

    def _loss(self, parts: Iterable[Ints], below: int | None) -> int | None:
        """Compute what parts lose together; None: not less than `below`, or they cannot be published."""
        loss = self.objective.row_weight * sum(map(self._lost, parts))
        each = self.objective.item_weight
        for part in sorted(parts, key=lambda part: part.size):
            if below is not None and loss >= below:
                return None
            if each:
                most = None if below is None else (below - 1 - loss) // each
                found = self._items(part, most)
                if found is None:
                    return None
                loss += each * (found.cost if most is None or found.lower <= most else found.lower)
        return loss if below is None or loss < below else None

    def _hidden(self, sensitive: SensitiveValues, part: Ints, found: ItemOptimum) -> ItemOptimum | None:
        """Leave all items of a part out where they would tell too much; None: that does not help."""
        if not sensitive.columns_allowed(part):
            return None
        rows = take_rows(self.optima.indptr, self.optima.items, part)
        if sensitive.hidden(part, rows, found.leaves, found.nodes):
            return found
        if not self.optima.suppress:
            return None
        number = rows[1].size
        nowhere = np.full_like(found.nodes, -1)
        return ItemOptimum(number * self.optima.full, found.lower, found.leaves, nowhere, number)

    def _items(
        self, part: Ints, most: int | None = None, deadline: Deadline | None = None
    ) -> ItemOptimum | None:
        """Find the items of a part once and for all, unless they cost more than `most`."""
        key = blake2b(part.tobytes(), digest_size=16).digest()
        if key in self._found:
            found, before = self._found[key]
            final = found is None or found.proven or before is None or found.lower <= before
            if final or (found is not None and most is not None and found.lower > most):
                return found
        found = self.optima.solve(part, most, deadline or self.deadline)
        is_final = found is not None and (most is None or found.lower <= most)
        if found is not None and is_final and self.sensitive is not None:
            found = self._hidden(self.sensitive, part, found)
        self._found[key] = found, most
        return found


def _equal(parts: Sequence[Ints], others: Sequence[Ints]) -> bool:
    return len(parts) == len(others) and all(map(np.array_equal, parts, others))
