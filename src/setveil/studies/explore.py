"""What each promise costs: the loss, the use and the risk of releases over a grid of k and m."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from setveil import algorithms
from setveil.attacker.attack import attack_risk
from setveil.data.transactions import Transactions
from setveil.errors import DataError, GuaranteeError, InfeasibleError, RequestError, described
from setveil.guarantees.km import KmAnonymity
from setveil.guarantees.verify import verify
from setveil.hierarchy.build import by_cooccurrence
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published import Release, publish
from setveil.published.recoding import Recoding
from setveil.runs.run import named_algorithm
from setveil.studies.promises import Pair, at_least, coarse_to_fine, lower_bounds
from setveil.utility import Case
from setveil.utility.are import Queries, errors_told
from setveil.utility.lm import lm
from setveil.utility.ncp import ncp
from setveil.utility.queries import random_queries

TIME_BUDGET = 50.0
MODEL = "km-anonymity"

QUERIES, QUERY_SIZE = 1000, 2
EFFORT = 30_000_000  # of counting unique rows, for each release: well below a second, mostly
LEAST_LIMIT = 0.1  # seconds for the search of one release


@dataclass
class Cell:
    """The promise of one k and m, and the best release that was found for it.

    Attributes
    ----------
    k, m : int, int or math.inf
        The promise.
    status : {"done", "infeasible", "refused", "unsearched"}
        Whether a release was found; "unsearched": time was up.
    error : str
        Why there is none.
    loss : float or None
        Of its own release.
    lower_bound : float
        What every release loses at least, as far as its own search proved.
    keeps : (Pair, Pair) or None
        Stronger promises that the verifier found its release to keep: a greater k at this m, a greater m at
        this k.
    found : dict
        What the release is worth (see `_worth`).
    seconds : float
        That it took.
    recoding : Recoding or None
        What became of each item.
    """

    k: int
    m: int | float
    status: str = "unsearched"
    error: str = ""
    loss: float | None = None
    lower_bound: float = 0.0
    keeps: tuple[Pair, Pair] | None = None
    found: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    recoding: Recoding | None = None

    @property
    def pair(self) -> Pair:
        """The k and m."""
        return self.k, self.m


@dataclass(frozen=True)
class Exploration:
    """What was found over a grid of k and m.

    Attributes
    ----------
    cells : list of Cell
        By m, then by k.
    algorithm, objective : str
        What made the releases, and what it minimizes: "lm" or "ncp".
    size : dict
        `rows`, `items` and `occurrences` of the data.
    seconds : float
        For everything.
    stopped : bool
        Whether the user ended the search.
    share : Fraction or None
        Of a table, the share of the quasi-identifiers in its loss.
    """

    cells: list[Cell]
    algorithm: str
    objective: str
    size: dict[str, int]
    seconds: float
    stopped: bool
    share: Fraction | None = None


def require_algorithm(algorithm: Any) -> tuple[str, Any]:
    """Take the name of an algorithm or its parameters, and return both.

    Raises
    ------
    RequestError
        If there is none of the name, it does not give k^m-anonymity, or gives it by parts of the rows.
    """
    name, settings = named_algorithm(algorithm)
    name = name or "exact"
    module = algorithms.load(name)
    if MODEL not in module.info.guarantees:
        raise RequestError(
            f"{name} does not give {MODEL}, which is what is explored.",
            hint=f"Use {', '.join(algorithms.giving(MODEL, Recoding.kind))}.",
        )
    if module.info.recoding != Recoding.kind:
        raise RequestError(
            f"{name} gives an item several labels; what promises cost is told by recodings that give it one.",
            hint=f"Use {', '.join(algorithms.giving(MODEL, Recoding.kind))}.",
        )
    return name, module.Parameters() if settings is None else settings


def require_budget(seconds: Any) -> float:
    """Take a time budget, at least 1 second."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) >= 1:
        raise RequestError(f"time_budget must be at least 1 second, got {described(seconds)}.")
    return float(seconds)


def explore(
    data: Transactions,
    pairs: Sequence[Pair],
    *,
    hierarchy: Hierarchy | None = None,
    algorithm: Any = None,
    known: int | None = None,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Progress = silent,
) -> Exploration:
    """Make and verify a release for each promise, and measure what is left.

    Parameters
    ----------
    data : Transactions
        The rows.
    pairs : sequence of (k, m)
        The promises, from `setveil.studies.promises.require_grid`.
    hierarchy : Hierarchy, optional
        What items may be generalized to; without one, items that often occur together are grouped.
    algorithm : str or parameters of an algorithm, optional
        What makes the releases, by default `exact`.
    known : int, optional
        How many items someone knows to whom rows are unique; by default one more than the promise covers.
    time_budget : float
        Seconds for everything. The search for one release gets an even part of what is left (where the
        algorithm takes a time limit), and at most the limit that its parameters name.
    seed : int
        Draws the queries.
    progress : Progress
        Hears how far it is, and may end it early.

    Raises
    ------
    DataError
        If no row holds an item.
    HierarchyError
        If items are missing from the hierarchy.
    InfeasibleError, RequestError
        If no release was found for any promise.
    GuaranteeError
        If a release failed verification (a defect of setveil).

    Notes
    -----
    A release made for a stronger promise keeps a weaker one, too. So where a release that was found already
    is known to keep a promise, and no release for a weaker promise can lose less, nothing is searched.
    """
    begun = time.monotonic()
    name, settings = require_algorithm(algorithm)
    if not data.n_occurrences:
        raise DataError("No row holds an item: there is nothing to explore.")
    info = algorithms.load(name).info
    if hierarchy is None and "hierarchy" in info.needs:
        progress("grouping items that often occur together")
        hierarchy = by_cooccurrence(data)
    size = min(QUERY_SIZE, int(data.row_lengths().max()))
    search = _Search(
        data, hierarchy, name, settings,
        queries=random_queries(data, QUERIES, size, seed, progress=progress),
        known=known, seed=seed, cells={pair: Cell(*pair) for pair in pairs},
        deadline=begun + time_budget, progress=progress,
    )  # fmt: skip
    order = coarse_to_fine([cell.pair for cell in search.cells.values() if _is_feasible(cell, data)])
    progress.stoppable = True
    try:
        for i, pair in enumerate(order):
            if progress.stop_requested() or time.monotonic() > search.deadline:
                break
            search.look_at(search.cells[pair], i, len(order))
    finally:
        progress.stoppable = False
    cells = list(search.cells.values())
    require_one(cells)
    return Exploration(
        cells, name, search.objective,
        {"rows": data.n_rows, "items": data.n_items, "occurrences": data.n_occurrences},
        time.monotonic() - begun, progress.stop_requested(),
    )  # fmt: skip


def _is_feasible(cell: Cell, data: Transactions) -> bool:
    """Whether there are rows enough for a promise; else the cell says that there are not."""
    try:
        KmAnonymity(cell.k, cell.m).require_feasible(data)
    except InfeasibleError as error:
        cell.status, cell.error = "infeasible", error.message
        return False
    return True


class CellProgress:
    """Passes on the progress of one cell, with its name and how far all are."""

    def __init__(self, progress: Progress, cell: Cell, done: int, number: int) -> None:
        self.progress, self.share = progress, done / number
        self.name = f"k={cell.k}, m={cell.m} ({done + 1} of {number})"
        self.stoppable = False  # of this cell's search; all together can be stopped anyway

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear what is done for this cell; how far that is does not matter beside the others."""
        self.progress(f"{self.name}: {phase}", self.share)

    def stop_requested(self) -> bool:
        """Whether all of it should end."""
        return self.progress.stop_requested()


@dataclass
class _Search:
    """The search over all promises: what is the same for all of them."""

    data: Transactions
    hierarchy: Hierarchy | None
    algorithm: str
    settings: Any
    queries: Queries
    known: int | None
    seed: int
    cells: dict[Pair, Cell]
    deadline: float
    progress: Progress
    beyond: list[float] = field(default_factory=list)  # seconds of each cell above the limit of its search

    @property
    def objective(self) -> str:
        """Name of the loss that is kept low."""
        return str(getattr(self.settings, "loss", algorithms.load(self.algorithm).info.minimizes))

    def look_at(self, cell: Cell, done: int, number: int) -> None:
        """Find a release for a promise, verify and measure it."""
        begun = time.monotonic()
        hearing = CellProgress(self.progress, cell, done, number)
        promise = KmAnonymity(cell.k, cell.m)
        same = self._known_best(cell)
        limit = 0.0
        try:
            if same is not None and same.recoding is not None:
                recoding, cell.loss, cell.lower_bound = same.recoding, same.loss, same.loss or 0.0
                cell.keeps = same.keeps
            else:
                limit = self._limit(number - done)
                recoding = self._made(cell, promise, limit, hearing)
        except (InfeasibleError, RequestError) as error:
            cell.status = "infeasible" if isinstance(error, InfeasibleError) else "refused"
            cell.error = error.message
            return
        hearing("publishing")
        release = publish(self.data, recoding, self.seed, {}, cell.k)
        if same is None:
            hearing("verifying")
            cell.keeps = _verified(release, promise, hearing)
        hearing("measuring")
        cell.found = self._worth(release, recoding, cell, hearing)
        cell.recoding, cell.status = recoding, "done"
        cell.seconds = time.monotonic() - begun
        if same is None:
            self.beyond.append(max(cell.seconds - limit, 0.0))

    def _known_best(self, cell: Cell) -> Cell | None:
        """Find a release that is known to keep the promise and to lose as little as any can."""
        done = [other for other in self.cells.values() if other.status == "done"]
        least = lower_bounds([cell.pair], {other.pair: other.lower_bound for other in done})[cell.pair]
        for other in done:
            keeps = [other.pair, *(other.keeps or ())]
            if other.loss is not None and other.loss <= least and any(at_least(p, cell.pair) for p in keeps):
                return other
        return None

    def _limit(self, left: int) -> float:
        """Give the search of one of the promises left its part of the time, which other work shares."""
        beyond = sum(self.beyond) / max(len(self.beyond), 1)
        even = max((self.deadline - time.monotonic()) / left - beyond, LEAST_LIMIT)
        return float(min(even, getattr(self.settings, "time_limit", None) or math.inf))

    def _made(self, cell: Cell, promise: KmAnonymity, limit: float, hearing: CellProgress) -> Recoding:
        """Run the algorithm, within a time limit if it takes one; note the loss and its bound."""
        settings = self.settings
        if hasattr(settings, "time_limit"):
            settings = replace(settings, time_limit=limit)
        hearing("searching")
        module = algorithms.load(self.algorithm)
        recoding, told = module.anonymize(self.data, self.hierarchy, promise, settings, hearing)
        best = told.get("optimality")
        if best is None:
            cell.loss = (lm if self.objective == "lm" else ncp)(self.data, recoding)
        else:
            cell.loss, cell.lower_bound = best["loss"], best["lower_bound"]
        made: Recoding = recoding
        return made

    def _worth(
        self, release: Release, recoding: Recoding, cell: Cell, hearing: CellProgress
    ) -> dict[str, Any]:
        """Measure what a release is worth, and what it leaves at risk, as JSON types."""
        known = self.known or (None if cell.m == math.inf else int(cell.m) + 1)
        return {
            **names_kept(self.data, recoding),
            "labels": release.published.n_items,
            "query_error": query_error(self.data, release, self.queries, hearing),
            **unique_rows(release, known, self.seed, hearing),
        }


def _verified(release: Release, promise: KmAnonymity, hearing: Progress) -> tuple[Pair, Pair]:
    """Verify the rows of a release; which stronger promises they keep, too.

    Raises
    ------
    GuaranteeError
        If they do not keep the promise.
    """
    verdict = verify(release.exposed(), promise, progress=hearing)
    if not verdict.holds:
        raise GuaranteeError(
            f"A release has no {promise.phrase}: the check found {verdict.violations:,} violations.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    found = verdict.found()
    most_k = promise.k if found["greatest_k"] is None else max(found["greatest_k"], promise.k)
    most_m = math.inf if found["greatest_m"] == "inf" else max(found["greatest_m"], promise.m)
    return (most_k, promise.m), (promise.k, most_m)


def names_kept(data: Transactions, recoding: Recoding) -> dict[str, int]:
    """Count the items that are published under their own names, and what is left out.

    Returns
    -------
    dict
        `items_kept`: items of the data that every row shows as themselves; `occurrences_kept`: their
        occurrences; `suppressed_occurrences`: those of items that are not published at all.
    """
    image = recoding.image_of(data.vocabulary)
    own = [
        to >= 0 and recoding.published.labels[to] == label
        for label, to in zip(data.vocabulary.labels, image.tolist(), strict=True)
    ]
    kept = np.array(own, bool) & (recoding.member_counts[image] == 1)
    supports = data.supports()
    return {
        "items_kept": int(np.count_nonzero(kept)),
        "occurrences_kept": int(supports[kept].sum()),
        "suppressed_occurrences": int(supports[image < 0].sum()),
    }


def query_error(data: Transactions, release: Release, queries: Queries, progress: Progress) -> float | None:
    """Measure the median relative error of COUNT queries, as a reader of the release answers them."""
    if release.labelled is None:
        return None
    case = Case(data, **release.measurable(), queries=queries, progress=progress)
    median: float | None = errors_told(case)["median"]
    return median


def unique_rows(release: Release, known: int | None, seed: int, progress: Progress) -> dict[str, Any]:
    """Count the rows that `known` items single out, of a table with all quasi-identifiers.

    None where nobody can know more than is promised.
    """
    if known is None:
        return {"known": "inf", "unique_rows": 0, "unique_exact": True}
    risk = attack_risk(
        release.exposed(), sizes=[known], thresholds=[2], seed=seed, effort=EFFORT, progress=progress
    )
    best = next(entry for entry in risk["risk"] if entry["choice"] == "best")
    return {"known": known, "unique_rows": best["rows_below"]["2"], "unique_exact": best["exact"]}


def require_one(cells: Sequence[Cell]) -> None:
    """Refuse a grid of which nothing can be kept, with the reason of the weakest promise that was tried."""
    if any(cell.status == "done" for cell in cells):
        return
    tried = [cell for cell in cells if cell.status != "unsearched"]
    if not tried:
        raise InfeasibleError(
            "No release was found within the time budget.", hint="Raise it, or ask for fewer values."
        )
    kind = InfeasibleError if all(cell.status == "infeasible" for cell in tried) else RequestError
    raise kind(tried[0].error)
