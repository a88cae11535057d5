"""What guarantees cost facts: for each k and m the best of all orders in which their parts are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from setveil.base.deadline import Clock, Deadline
from setveil.base.errors import DataError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import KmRho
from setveil.releases.published import Release
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.facts.facts import Facts
from setveil.rows.facts.generalizing import USUAL, Generalizing
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.fact_parts import part_label, parts_kept
from setveil.runs.orders import anonymize_facts, loss_of, require_possible, trees_of
from setveil.runs.request import RunRequest, make_run_request
from setveil.runs.run import checked
from setveil.work.studies.explore.cells import Cell, CellProgress, look_at_all
from setveil.work.studies.explore.pace import EndingProgress, Pace
from setveil.work.studies.explore.promises import Promise
from setveil.work.studies.explore.rows import TIME_BUDGET, Exploration, RowsSearch, kept_by, require_algorithm
from setveil.work.studies.explore.trees import Trees


def explore_facts(
    data: Facts,
    promises: Sequence[Promise],
    *,
    hierarchy: Hierarchy | None = None,
    algorithm: Any = None,
    generalizing: Generalizing = USUAL,
    known: int | None = None,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Progress = silent,
    clock: Clock | None = None,
) -> Exploration:
    """Make and verify a release of facts for each guarantee, and measure what remains.

    `hierarchy`: of the codes; for several columns as for `setveil.runs.orders.trees_of`. `generalizing`: the
    orders to try, and the loss of a box. For the rest see `setveil.work.studies.explore.rows.explore`.
    Releases by other orders may lose less: a proof bounds all plain orders, which are the same for each
    guarantee, and so a stronger one. It bounds nothing if columns or branches are tried by themselves, since
    results decide which.
    """
    deadline = Deadline(time_budget, progress, clock=clock)
    name, settings = require_algorithm(algorithm)
    require_possible(_run_request(KmAnonymity(2, 1), settings, seed))
    if not data.n_occurrences:
        raise DataError("No row contains a fact: there is nothing to explore.")
    progress("grouping codes that often occur together" if hierarchy is None else "reading")
    codes = list(trees_of(data, hierarchy).values())
    spaces = generalizing.spaces(data, codes)
    plain = len(spaces) == 1 or generalizing.order not in (None, "")
    cells = {promise: Cell.of(promise) for promise in promises}
    search = _OfFacts(
        data, _SettledTrees(data, None, computed=False), name, settings,
        queries=None, known=known, seed=seed, cells=cells,
        codes=codes, generalizing=generalizing, proves=plain and not generalizing.lines,
    )  # fmt: skip
    wanted = [cell.promise for cell in cells.values() if search.is_feasible(cell)]
    look_at_all(cells, wanted, search, deadline)
    return Exploration(
        [*cells.values()], name, str(getattr(settings, "loss", "lm")),
        {"rows": data.n_rows, "items": data.n_items, "occurrences": data.n_occurrences},
        deadline.passed, progress.stop_requested(), weighted=bool(getattr(settings, "weights", None)),
        parts=tuple(part_label(part, space) for space in spaces for part in space.names),
        fact_loss=generalizing.loss, proves=search.proves,
    )  # fmt: skip


def _run_request(promise: Any, settings: Any, seed: int) -> RunRequest:
    return make_run_request(promise, settings, {}, seed=seed, counts=False, details=False)


class _SettledTrees(Trees):
    """Facts as a run settles them by k: what is proven of some bounds only those that are settled alike."""

    def settled(self, guarantee: Guarantee) -> Facts:
        """Settle the values of dates and amounts as a run does."""
        least = guarantee.smallest_group or 0
        if least not in self._by_rows:
            self._by_rows[least] = settled(self._facts.facts, least)
        return self._by_rows[least]

    def number(self, guarantee: Guarantee) -> int:
        """Find a number for what facts are settled to, the same for all guarantees that settle them alike."""
        facts = self.settled(guarantee)
        trees = (one.tree.labels for column in facts.columns for one in column.attributes)
        made = (tuple(facts.vocabulary.labels), *(tuple(labels) for labels in trees))
        return self._numbers.setdefault(made, len(self._numbers))

    def __init__(self, facts: Facts, hierarchy: Hierarchy | None, *, computed: bool) -> None:
        super().__init__(facts, hierarchy, computed=computed)
        self._facts = facts
        self._by_rows: dict[int, Facts] = {}
        self._numbers: dict[tuple[tuple[str, ...], ...], int] = {}


@dataclass
class _OfFacts(RowsSearch):
    """The search over all guarantees, for each of which several orders are tried."""

    codes: Sequence[Hierarchy] = ()
    generalizing: Generalizing = USUAL
    proves: bool = True  # whether what is proven bounds all that is tried
    orders: dict[int, str] = field(default_factory=dict)  # the order that each recoding is by

    @property
    def facts(self) -> Facts:
        """The rows."""
        facts: Facts = self.data.facts
        return facts

    def _settle(self, cell: Cell) -> None:
        assert isinstance(self.trees, _SettledTrees)  # noqa: S101
        self.data = self.trees.settled(self._guarantee(cell))

    def look_at(self, cell: Cell, pace: Pace, left: int, hearing: CellProgress) -> None:
        """Find a release for a guarantee, of the facts as a run of it settles them."""
        self._settle(cell)
        super().look_at(cell, pace, left, hearing)

    def lent(self, cell: Cell, stronger: Cell, hearing: EndingProgress) -> dict[str, Any]:
        """Measure what the release for a stronger guarantee leaves at risk beyond this one."""
        self._settle(stronger)
        return super().lent(cell, stronger, hearing)

    def _made(
        self, promise: KmAnonymity | KmRho, limit: float, hearing: CellProgress
    ) -> tuple[AnyRecoding, tuple[float, float]]:
        """Run the algorithm for all orders, within a time limit if it takes one; the loss, and its bound."""
        settings = self.settings
        if hasattr(settings, "time_limit"):
            settings = replace(settings, time_limit=limit)
        hearing("searching")
        request = _run_request(promise, settings, self.seed)
        recoding, details = anonymize_facts(self.facts, self.codes, request, self.generalizing, hearing)
        self.orders[id(recoding)] = str(details["facts"]["order"])
        tried = details["facts"]["orders"]
        bounds = [one["loss"] * (1 - one.get("gap", 1.0)) for one in tried]
        ended = all(one.get("proven", True) for one in tried)
        self.cells[promise.k, promise.m].cut_short = not (self.proves or ended)
        return recoding, (loss_of(self.facts, recoding, details), min(bounds) if self.proves else 0.0)

    def _least(self, cell: Cell) -> int:
        """Publish no counts: nothing that is measured here asks for them."""
        return 0

    def _verified(
        self, release: Release, promise: KmAnonymity | KmRho, hearing: Progress
    ) -> tuple[tuple[Promise, Promise], Fraction | None]:
        """Verify what would be published, that no two boxes overlap included."""
        return kept_by(checked(self.data, release, promise, hearing), promise)

    def _worth(
        self, release: Release, recoding: Any, cell: Cell, learned: Fraction | None, hearing: Progress
    ) -> dict[str, Any]:
        """Measure what a release is worth, and what it leaves at risk, as JSON types."""
        found = parts_kept(self.data, recoding)
        return {
            **super()._worth(release, recoding, cell, learned, hearing),
            "order": self.orders[id(recoding)],
            "kept": found["kept"],
            "whole": found["whole"],
        }
