"""Show what promises cost, over a grid of k and m."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.data.relational import Table
from setveil.errors import RequestError, described
from setveil.functions.given import (
    NO_COLUMNS,
    Listener,
    TreeLike,
    heard,
    integer,
    integer_or_none,
    is_path,
    rows_of,
    share_of,
    tree_of,
)
from setveil.studies.explore import TIME_BUDGET, require_budget
from setveil.studies.explore import explore as explore_grid
from setveil.studies.explore_tables import explore_table
from setveil.studies.explored import record
from setveil.studies.promises import KS, MS, require_grid


def explore(
    data: str | PathLike[str] | object,
    k: Iterable[int] = KS,
    m: Iterable[int | float] = MS,
    *,
    hierarchy: TreeLike = None,
    algorithm: Any = None,
    share: float | Fraction | str | None = None,
    known: int | None = None,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Listener = None,
) -> dict[str, Any]:
    """Show what each promise costs: loss, names kept, errors of queries, unique rows. No release is kept.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions, or Table
        The rows, or a table that `setveil.read_table` read.
    k, m : list of int
        At least k rows fit what somebody knows, up to m items (`math.inf`: any number), and of a table all
        quasi-identifiers: each k with each m.
    hierarchy : Hierarchy or path, optional
        What items may be generalized to; without one, items that often occur together are grouped.
    algorithm : Exact, AA, ... or str, optional
        An algorithm with its own parameters, or its name; by default `exact`.
        Tables are explored with `rt`, by its sweep.
    share : number or str, optional
        Of a table: the share of the quasi-identifiers in its loss, by default 1/4; the rest is the items'.
    known : int, optional
        Unique rows are those that the most identifying `known` items single out; by default one item more
        than each promise covers.
    time_budget : float
        Seconds for everything. `exact` stops its search for each promise when an even part of it is used up;
        what is not proven to lose least then is said so.
    seed : int
        Draws the queries that are measured.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil explore --json`` prints (see docs/explore.md): `cells`, one for each k and m, with the
        `loss` (named by `objective`) of the best release found, whether it is `proven` the least, the promise
        that it was `made_for` (a stronger one, where that release loses less), `items_kept`,
        `occurrences_kept`, `suppressed_occurrences`, `query_error`, `unique_rows`, and the `command` that
        makes it (None where data or hierarchy are no files). Of a table the loss is f, and there are
        `relational_loss`, `transaction_loss` and `classes` in place of what is kept.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type, or the algorithm does not give k^m-anonymity.
    DataError
        If a file cannot be read, or no row holds an item.
    InfeasibleError
        If no release was found for any of the promises.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["coffee"]]
    >>> found = sv.explore(rows, k=[2, 5], m=[1, 2])
    >>> [(cell["k"], cell["m"], round(cell["loss"], 2)) for cell in found["cells"]]
    [(2, 1, 0.0), (5, 1, 0.0), (2, 2, 0.0), (5, 2, 0.38)]
    """
    pairs = require_grid(_listed("k", k), _listed("m", m))
    budget = require_budget(time_budget)
    knows, seed = integer_or_none("known", known, 1), integer("seed", seed, 0)
    listening = heard(progress)
    rows, tree = rows_of(data, tables=True), tree_of(hierarchy)
    if isinstance(rows, Table):
        if algorithm is not None:
            raise RequestError("Tables are explored with rt, by its sweep: algorithm does not apply.")
        of_table = explore_table(
            rows, pairs, hierarchy=tree, share=share_of(share), known=knows, time_budget=budget, seed=seed,
            progress=listening,
        )  # fmt: skip
        return record(of_table, inputs=None, seed=seed)
    if share is not None:
        raise RequestError(NO_COLUMNS, hint="setveil.read_table(...) reads a table.")
    found = explore_grid(
        rows, pairs, hierarchy=tree, algorithm=algorithm, known=knows, time_budget=budget, seed=seed,
        progress=listening,
    )  # fmt: skip
    named = is_path(data) and (hierarchy is None or is_path(hierarchy))
    plain = algorithm is None or isinstance(algorithm, str)
    return record(
        found,
        inputs=[str(data)] if named and plain else None,
        hierarchy=Path(hierarchy) if is_path(hierarchy) else None,
        seed=seed,
    )


def _listed(name: str, values: Any) -> list[Any]:
    """Take a list of numbers."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RequestError(f"{name} must be a list of numbers, got {described(values)}.")
    return list(values)
