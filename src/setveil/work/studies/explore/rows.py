"""What each guarantee costs: the loss, the use and the risk of releases over a grid of k, m and maybe rho."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from setveil.base.deadline import Clock, Deadline
from setveil.base.errors import (
    DataError,
    GuaranteeError,
    InfeasibleError,
    RequestError,
    UnfinishedError,
    described,
)
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import model_named
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import PUBLIC, KmRho
from setveil.judges.utility.are import Queries
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.judges.utility.queries import random_queries
from setveil.methods import algorithms
from setveil.releases.published import Release, publish
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.releases.published.recoding import AnyRecoding, Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.checks import check_of
from setveil.runs.options.models import bounds_inference
from setveil.runs.request import named_algorithm
from setveil.work.studies.explore.cells import (
    Cell,
    CellProgress,
    known_beyond,
    look_at_all,
    require_one,
    unmeasured,
)
from setveil.work.studies.explore.pace import EndingProgress, OutOfTimeError, Pace
from setveil.work.studies.explore.promises import Promise, at_least, lower_bounds
from setveil.work.studies.explore.trees import Trees
from setveil.work.studies.worth import names_kept, query_error, shown_occurrences, unique_rows

TIME_BUDGET = 50.0
MODEL, WITH_RHO = "km-anonymity", "km-rho"

QUERIES, QUERY_SIZE = 1000, 2


@dataclass(frozen=True)
class SensitiveItems:
    """What must not be learned of a person, where guarantees have a rho."""

    items: tuple[str, ...]
    knows: str = PUBLIC  # {"public", "any"}: which items someone may know

    @property
    def unknown(self) -> tuple[str, ...]:
        """The items that nobody knows beforehand."""
        return self.items if self.knows == PUBLIC else ()


@dataclass(frozen=True)
class Exploration:
    """What was found over a grid of k and m."""

    cells: list[Cell]  # by m, then by k; with several rho, the greatest first
    # algorithm, objective: what made the releases, and what it minimizes: "lm" or "ncp"
    algorithm: str
    objective: str
    size: dict[str, int]  # `rows`, `items` and `occurrences` of the data
    seconds: float  # for everything
    stopped: bool  # whether the user ended the search
    share: Fraction | None = None  # of a table, the share of the quasi-identifiers in its loss
    secrets: SensitiveItems | None = None  # sensitive items, where guarantees have a rho
    weighted: bool = False  # whether items count differently in the loss
    parts: tuple[str, ...] = ()  # of facts, their names
    fact_loss: str = ""  # of facts: {"volume", "parts"}
    proves: bool = True  # whether what its algorithm proves bounds all that is tried

    @property
    def model(self) -> str:
        """The model of the guarantees about rows of items."""
        return MODEL if self.secrets is None else WITH_RHO


def explored_by(model: str = MODEL) -> list[str]:
    """List the algorithms whose releases can be explored: one label for each item, or classes."""
    found = algorithms.giving(model, Recoding.kind)
    return [*found, *algorithms.giving(model, ClassRecoding.kind)] if model == MODEL else found


def require_algorithm(algorithm: Any, model: str = MODEL) -> tuple[str, Any]:
    """Take the name of an algorithm or its parameters, and return both."""
    name, settings = named_algorithm(algorithm)
    name = name or "exact"
    module = algorithms.load(name)
    suited = explored_by(model)
    if model not in module.info.guarantees:
        raise RequestError(
            f"{name} does not give {model}, which is what is explored.", hint=f"Use {', '.join(suited)}."
        )
    if name not in suited:
        what = "one" if model == MODEL else "one in all rows"
        raise RequestError(
            f"{name} gives an item several labels; the cost of guarantees is shown by recodings that give it "
            f"{what}, and for k^m-anonymity by classes.",
            hint=f"Use {', '.join(suited)}.",
        )
    return name, module.Parameters() if settings is None else settings


def require_budget(seconds: Any) -> float:
    """Take a time budget, at least 1 second."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) >= 1:
        raise RequestError(f"time_budget must be at least 1 second, got {described(seconds)}.")
    return float(seconds)


def explore(
    data: Transactions,
    promises: Sequence[Promise],
    *,
    secrets: SensitiveItems | None = None,
    hierarchy: Hierarchy | None = None,
    algorithm: Any = None,
    known: int | None = None,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Progress = silent,
    clock: Clock | None = None,
) -> Exploration:
    """Make and verify a release for each guarantee, and measure what remains.

    `promises`: from `setveil.work.studies.explore.promises.require_grid` or `require_triples`; with rho they
    are (k, rho)^m-anonymity and need `secrets`. Without `hierarchy`, items that often occur together are
    grouped.
    `algorithm`: by default `exact`. `known`: items by which rows count as unique, by default one more than
    the guarantee covers. `time_budget`: seconds for everything; each search gets an even part of the rest (if
    the algorithm has a time limit), and at most its own limit. Then running work is given up. `seed`: draws
    the queries.

    A release for a stronger guarantee (no smaller k and m, no greater rho) satisfies a weaker one, too. So
    nothing is searched if a known release satisfies a guarantee, and none for a weaker one can lose less.
    """
    deadline = Deadline(time_budget, progress, clock=clock)
    ending = EndingProgress(deadline)
    model = MODEL if secrets is None else WITH_RHO
    name, settings = require_algorithm(algorithm, model)
    if not data.n_occurrences:
        raise DataError("No row contains an item: there is nothing to explore.")
    info = algorithms.load(name).info
    trees = Trees(data, hierarchy, computed="hierarchy" in info.needs_for(model))
    if trees.computed:
        progress("grouping items that often occur together")
    size = min(QUERY_SIZE, int(data.row_lengths().max()))
    cells = {promise: Cell.of(promise) for promise in promises}
    try:
        queries = random_queries(data, QUERIES, size, seed, progress=ending)
    except OutOfTimeError:
        require_one([*cells.values()])
        raise
    search = RowsSearch(
        data, trees, name, settings, queries=queries, known=known, seed=seed, cells=cells, secrets=secrets
    )
    wanted = [cell.promise for cell in cells.values() if search.is_feasible(cell)]
    look_at_all(cells, wanted, search, deadline)
    return Exploration(
        [*cells.values()], name, search.objective,
        {"rows": data.n_rows, "items": data.n_items, "occurrences": data.n_occurrences},
        deadline.passed, progress.stop_requested(), secrets=secrets,
        weighted=bool(getattr(settings, "weights", None)),
    )  # fmt: skip


@dataclass
class RowsSearch:
    """The search over all guarantees: what is the same for all of them."""

    data: Transactions
    trees: Trees
    algorithm: str
    settings: Any
    queries: Queries | None
    known: int | None
    seed: int
    cells: dict[Promise, Cell]
    secrets: SensitiveItems | None = None

    @property
    def objective(self) -> str:
        """Name of the loss that is kept low."""
        return str(getattr(self.settings, "loss", algorithms.load(self.algorithm).info.minimizes))

    def is_feasible(self, cell: Cell) -> bool:
        """Whether there are rows enough for a guarantee; else the cell says that there are not."""
        try:
            self._guarantee(cell).require_feasible(self.data)
        except InfeasibleError as error:
            cell.status, cell.error = "infeasible", error.message
            return False
        return True

    def _guarantee(self, cell: Cell) -> KmAnonymity | KmRho:
        if cell.rho is None or self.secrets is None:
            return KmAnonymity(cell.k, cell.m)
        return KmRho(cell.k, cell.m, cell.rho, self.secrets.items, self.secrets.knows)

    def look_at(self, cell: Cell, pace: Pace, left: int, hearing: CellProgress) -> None:
        """Find a release for a guarantee, verify and measure it."""
        begun, promise = pace.deadline.passed, self._guarantee(cell)
        limit = min(pace.begin(cell.m, left), getattr(self.settings, "time_limit", None) or math.inf)
        same = self._known_best(cell, promise)
        try:
            if same is not None and same.recoding is not None:
                recoding, best = same.recoding, (same.loss, same.loss or 0.0)
                keeps, learned = same.keeps, same.learned
            else:
                recoding, best = self._made(promise, limit, hearing)
        except OutOfTimeError:
            raise
        except UnfinishedError:  # it is as if it had not been begun
            return
        except (InfeasibleError, RequestError) as error:
            cell.status = "infeasible" if isinstance(error, InfeasibleError) else "refused"
            cell.error = error.message
            return
        pace.searched(limit)
        hearing("publishing")
        release = publish(self.data, recoding, self.seed, {}, self._least(cell))
        if same is None:
            hearing("verifying")
            keeps, learned = self._verified(release, promise, hearing)
        elif same.m != cell.m:
            learned = self._learned(release, cell, hearing)
        hearing("measuring")
        found = self._worth(release, recoding, cell, learned, hearing)
        cell.loss, cell.lower_bound = best
        cell.tree = self.trees.number(promise)
        cell.keeps, cell.learned, cell.found, cell.recoding = keeps, learned, found, recoding
        cell.status, cell.seconds = "done", pace.deadline.passed - begun
        if same is None:
            pace.end(cell.m)

    def _known_best(self, cell: Cell, promise: KmAnonymity | KmRho) -> Cell | None:
        """Find a release that is known to satisfy the guarantee and to lose as little as any can."""
        tree = self.trees.number(promise)
        done = [other for other in self.cells.values() if other.status == "done" and other.tree == tree]
        bounds = {other.promise: other.lower_bound for other in done}
        least = lower_bounds([cell.promise], bounds)[cell.promise]
        for other in done:
            keeps = [other.promise, *(other.keeps or ())]
            if (
                other.loss is not None
                and other.loss <= least
                and any(at_least(promise, cell.promise) for promise in keeps)
            ):
                return other
        return None

    def _made(
        self, promise: KmAnonymity | KmRho, limit: float, hearing: CellProgress
    ) -> tuple[AnyRecoding, tuple[float, float]]:
        """Run the algorithm, within a time limit if it takes one; also the loss, and what is proven of it."""
        settings = self.settings
        if hasattr(settings, "time_limit"):
            settings = replace(settings, time_limit=limit)
        hearing("searching")
        module = algorithms.load(self.algorithm)
        recoding, details = module.anonymize(self.data, self.trees.of(promise), promise, settings, hearing)
        best = details.get("optimality")
        if best is None:
            return recoding, ((lm if self.objective == "lm" else ncp)(self.data, recoding), 0.0)
        lower = best["lower_bound"] if recoding.bounds_all else 0.0
        return recoding, (best["loss"], lower)

    def _least(self, cell: Cell) -> int:
        """Say of how many rows counts are at least; 0: none, which would tell of sensitive items."""
        return cell.k if self.secrets is None else 0

    def _verified(
        self, release: Release, promise: KmAnonymity | KmRho, hearing: Progress
    ) -> tuple[tuple[Promise, Promise], Fraction | None]:
        """Verify a release (see `kept_by`)."""
        return _verified(release, promise, hearing)

    def lent(self, cell: Cell, stronger: Cell, hearing: EndingProgress) -> dict[str, Any]:
        """Measure what the release for a stronger guarantee leaves at risk beyond this one."""
        release = publish(self.data, stronger.recoding, self.seed, {}, 0)
        return self._risk(release, cell, self._learned(release, cell, hearing), hearing)

    def unknown(self, cell: Cell) -> dict[str, Any]:
        """Name what `lent` measures, without values."""
        learned = {} if self.secrets is None else {"greatest_confidence": None}
        return {**unmeasured(cell, self.known), **learned}

    def _learned(self, release: Release, cell: Cell, hearing: Progress) -> Fraction | None:
        """With sensitive items: the greatest confidence for anyone who knows what the guarantee covers."""
        return None if self.secrets is None else _verified(release, self._guarantee(cell), hearing)[1]

    def _worth(
        self, release: Release, recoding: AnyRecoding, cell: Cell, learned: Fraction | None, hearing: Progress
    ) -> dict[str, Any]:
        """Measure what a release is worth, and what it leaves at risk, as JSON types."""
        worth = {
            **names_kept(self.data, recoding),
            "labels": release.published.n_items,
            "query_error": query_error(self.data, release, self.queries, hearing),
            **self._risk(release, cell, learned, hearing),
        }
        if self.secrets is None:
            return worth
        before, after = (
            shown_occurrences(rows, self.secrets.items) for rows in (self.data, release.published)
        )
        return {**worth, "hidden_occurrences": before - after}

    def _risk(
        self, release: Release, cell: Cell, learned: Fraction | None, hearing: Progress
    ) -> dict[str, Any]:
        """Measure what a release leaves at risk, which depends on how many items the guarantee covers."""
        known = known_beyond(cell, self.known)
        if self.secrets is None:
            return unique_rows(release, known, self.seed, hearing)
        risk = unique_rows(release, known, self.seed, hearing, self.secrets.unknown)
        return {**risk, "greatest_confidence": float(learned or 0)}


def _verified(
    release: Release, promise: KmAnonymity | KmRho, hearing: Progress
) -> tuple[tuple[Promise, Promise], Fraction | None]:
    """Verify the rows of a release (see `kept_by`)."""
    rows = release.exposed()
    check = check_of(rows.kind)(rows, promise, None, {}, progress=hearing)
    return kept_by(check.verdict(), promise)


def kept_by(verdict: Any, promise: Any) -> tuple[tuple[Promise, Promise], Fraction | None]:
    """Say which stronger guarantees a release keeps, too, and what is learned from it; refuse others."""
    if not verdict.holds:
        raise GuaranteeError(
            f"A release has no {promise.phrase}: the check found {verdict.violations:,} violations.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    found = verdict.found()
    most_k = promise.k if found["greatest_k"] is None else max(found["greatest_k"], promise.k)
    most_m = math.inf if found["greatest_m"] == "inf" else max(found["greatest_m"] or 0, promise.m)
    if not bounds_inference(model_named(promise.model)):
        return ((most_k, promise.m), (promise.k, most_m)), None
    most = verdict.greatest_confidence
    learned = Fraction(0) if most is None else most.confidence
    return ((most_k, promise.m, learned), (promise.k, most_m, promise.rho)), learned
