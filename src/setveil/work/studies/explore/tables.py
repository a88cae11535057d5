"""What guarantees cost a table: the loss, the use and the risk of its releases over a grid of k and m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from setveil.base.deadline import Clock, Deadline
from setveil.base.errors import DataError, GuaranteeError, InfeasibleError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.verify import verify
from setveil.judges.utility import Case
from setveil.judges.utility.are import counts_estimator
from setveil.judges.utility.estimators import estimator_of
from setveil.judges.utility.relational import SHARE, class_sizes, relational_loss
from setveil.judges.utility.table_answers import TableQuery, query_errors, random_table_queries, true_answers
from setveil.methods.algorithms.rt import rt
from setveil.releases.published.table_release import TableRelease
from setveil.releases.published.tables import publish
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.ends import with_cells
from setveil.rows.tables.table import Table
from setveil.work.studies.explore.cells import Cell, CellProgress, known_beyond, look_at_all, unmeasured
from setveil.work.studies.explore.pace import EndingProgress, Pace
from setveil.work.studies.explore.promises import Pair
from setveil.work.studies.explore.rows import TIME_BUDGET, Exploration
from setveil.work.studies.explore.trees import Trees
from setveil.work.studies.worth import unique_rows

QUERIES = 200
SEARCH: Literal["sweep"] = "sweep"  # fast enough for many guarantees; splitting by gain as well may lose less


def explore_table(
    table: Table,
    pairs: Sequence[Pair],
    *,
    hierarchy: Hierarchy | None = None,
    share: Fraction = SHARE,
    known: int | None = None,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Progress = silent,
    clock: Clock | None = None,
) -> Exploration:
    """Make and verify a release of a table for each guarantee (k, m), and measure what remains.

    `hierarchy`: of the items; by default the table's own, else items that often occur together are grouped.
    `share`: of the quasi-identifiers in the loss. `known`: items, in addition to all quasi-identifiers, by
    which rows count as unique, by default one more than the guarantee covers. For the rest see
    `setveil.work.studies.explore.rows.explore`.
    """
    deadline = Deadline(time_budget, progress, clock=clock)
    if not table.n_rows:
        raise DataError("The table has no rows: there is nothing to explore.")
    tree = table.tree if hierarchy is None else hierarchy
    trees = Trees(table, tree or (None if table.n_items else Hierarchy({"*": None})), computed=True)
    if trees.computed:
        progress("grouping items that often occur together")
    queries = random_table_queries(table, QUERIES, seed)
    search = _TableSearch(
        table, trees, rt.RT(share=share, search=SEARCH),
        queries, true_answers(table, queries), known, seed,
    )  # fmt: skip
    cells: dict[Pair, Cell] = {pair: Cell(*pair) for pair in pairs}
    look_at_all(cells, [pair for pair, cell in cells.items() if _is_feasible(cell, table)], search, deadline)
    return Exploration(
        [*cells.values()], "rt", "f",
        {"rows": table.n_rows, "items": table.n_items, "occurrences": table.n_occurrences},
        deadline.passed, progress.stop_requested(), share,
    )  # fmt: skip


def _is_feasible(cell: Cell, table: Table) -> bool:
    """Whether there are rows enough for a guarantee; else the cell says that there are not."""
    try:
        KKmAnonymity(cell.k, cell.m).require_feasible(table)
    except InfeasibleError as error:
        cell.status, cell.error = "infeasible", error.message
        return False
    return True


@dataclass
class _TableSearch:
    """What is the same for all guarantees."""

    table: Table
    trees: Trees
    settings: rt.RT
    queries: list[TableQuery]
    answers: list[int]  # the true ones
    known: int | None
    seed: int

    def look_at(self, cell: Cell, pace: Pace, left: int, hearing: CellProgress) -> None:
        """Find a release for a guarantee, verify and measure it."""
        begun, promise = pace.deadline.passed, KKmAnonymity(cell.k, cell.m)
        limit = pace.begin(cell.m, left)
        hearing("searching")
        settings = replace(self.settings, time_limit=limit)
        table, tree = with_cells(self.table, cell.k), self.trees.of(promise)
        assert tree is not None  # noqa: S101
        made, details = rt.anonymize(table, tree, promise, settings, hearing)
        made = replace(made, k=cell.k)
        pace.searched(limit)
        best = next(point for point in details["frontier"] if point["chosen"])
        hearing("publishing")
        release = publish(self.table, made, self.seed, {}, cell.k)
        hearing("verifying")
        verdict = verify(release.exposed(), promise, progress=hearing)
        if not verdict.holds:
            raise GuaranteeError(
                f"A release has no {promise.phrase}: the check found {verdict.violations:,} violations.",
                hint="This is a defect of setveil; please report it with the parameters of the run.",
            )
        hearing("measuring")
        cell.found = self._worth(release, best, cell, hearing)
        cell.loss, cell.recoding, cell.cut_short = best["f"], made, "ended_early" in details
        cell.status, cell.seconds = "done", pace.deadline.passed - begun
        pace.end(cell.m)

    def _worth(
        self, release: TableRelease, best: dict[str, Any], cell: Cell, hearing: CellProgress
    ) -> dict[str, Any]:
        """Measure what a release is worth, and what it leaves at risk, as JSON types."""
        suppressed = round(best["suppressed_share"] * self.table.n_occurrences)
        return {
            "relational_loss": float(relational_loss(self.table, release.table)),
            "transaction_loss": best["transaction_loss"],
            "classes": int(class_sizes(release.table).size),
            "suppressed_occurrences": suppressed,
            "query_error": self._query_error(release, hearing),
            **self._unique(release, cell, hearing),
        }

    def lent(self, cell: Cell, stronger: Cell, hearing: EndingProgress) -> dict[str, Any]:
        """Measure what the release for a stronger guarantee leaves at risk beyond this one."""
        release = publish(self.table, stronger.recoding, self.seed, {}, 0)
        return self._unique(release, cell, hearing)

    def unknown(self, cell: Cell) -> dict[str, Any]:
        """Name what `lent` measures, without values."""
        return unmeasured(cell, self.known)

    def _unique(self, release: TableRelease, cell: Cell, hearing: Progress) -> dict[str, Any]:
        return unique_rows(release, known_beyond(cell, self.known), self.seed, hearing)

    def _query_error(self, release: TableRelease, hearing: CellProgress) -> float | None:
        case = Case(self.table, **release.measurable(), progress=hearing)
        estimator = case.once(counts_estimator) or estimator_of(case.published, case.recoding, None)
        return query_errors(self.table, release.table, estimator, self.queries, hearing, self.answers).median
