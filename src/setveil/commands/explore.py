"""Show what guarantees cost, over a grid of k and m."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from setveil.base.deadline import Deadline
from setveil.base.errors import RequestError, as_option, described, faces
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    alone,
    heard,
    integer,
    integer_or_none,
    is_path,
    labels_of,
    m_of,
    original_of,
    parameters_of,
    tree_of,
    tree_of_codes,
)
from setveil.commands.refusals import hides_nothing, require_no_share, share_of_columns
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import KNOWS, PUBLIC, KmRho
from setveil.judges.utility.relational import SHARE
from setveil.methods import algorithms
from setveil.report.explore.cells import Explored
from setveil.rows.facts.generalizing import USUAL, VOLUME, Generalizing
from setveil.rows.hierarchy.fit import fit_rows
from setveil.runs.run import require_form
from setveil.work.studies.explore.facts import explore_facts
from setveil.work.studies.explore.promises import KS, KS_RHO, MS, MS_RHO, require_grid, require_triples
from setveil.work.studies.explore.record import record
from setveil.work.studies.explore.rows import TIME_BUDGET, Exploration, SensitiveItems, require_budget
from setveil.work.studies.explore.rows import explore as explore_grid
from setveil.work.studies.explore.tables import SEARCH, explore_table


def explore(
    data: str | PathLike[str] | object,
    guarantee: Guarantee | Iterable[Guarantee] | None = None,
    *,
    k: Iterable[int] | None = None,
    m: Iterable[int | float] | None = None,
    rho: Iterable[float | Fraction | str] | None = None,
    sensitive: Iterable[str] | str | PathLike[str] | None = None,
    knows: str = PUBLIC,
    hierarchy: TreeLike = None,
    algorithm: Any = None,
    share: float | Fraction | str | None = None,
    known: int | None = None,
    fact_order: str | int | None = None,
    fact_loss: str = VOLUME,
    fact_weights: Mapping[str, float] | None = None,
    fact_lines: bool = False,
    time_budget: float = TIME_BUDGET,
    seed: int = 0,
    progress: Listener = None,
) -> Explored:
    """Show the cost of each guarantee: loss, unchanged items, query errors, unique rows; write no release.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions, Table, or Facts
        The rows, a table that `setveil.read_table` read, or facts that `setveil.read_facts` read. If m was
        said with columns of codes, it is what is tried.
    guarantee : KmAnonymity, KKmAnonymity or KmRho, or a list of them, optional
        The guarantees to try, of one model, in place of `k`, `m`, `rho`, `sensitive` and `knows`.
    k, m : list of int
        At least k rows fit what someone knows, up to m items (`math.inf`: any number), and of a table all
        quasi-identifiers: each k with each m. By default k is 2, 3, 5, 10, 11, 20, 50 and m 1, 2, 3; with
        `rho` 2, 5, 10 and 1, 2.
    rho : list of number or str, optional
        Greatest chances with which a sensitive item may be learned, such as ``["1/2", 0.2]``: each with each
        k and m, as (k, rho)^m-anonymity.
    sensitive : list of str, or text, optional
        With `rho`: the sensitive items, a list, or as on the command line a file or a text with commas.
    knows : {"public", "any"}
        With `rho`: which items someone may know.
    hierarchy : Hierarchy, path, dict or data frame, optional
        What items may be generalized to; without one, items that often occur together are grouped.
    algorithm : Exact, AA, ... or str, optional
        An algorithm with its own parameters, or its name; by default `exact`. `setveil.Classes`: what rows in
        classes cost, without `rho`.
        Tables are explored with `rt`, by its sweep.
    share : number or str, optional
        Of a table: the share of the quasi-identifiers in its loss, by default 1/4; the rest is the items'.
    known : int, optional
        Unique rows are those that the most identifying `known` items single out; by default one item more
        than each guarantee covers.
    fact_order, fact_loss, fact_weights, fact_lines
        Of facts, as for `setveil.anonymize`.
    time_budget : float
        Seconds for everything, reading included. The search for each guarantee stops after an even part of
        the remaining time; a loss that is then only a bound is marked (`at_most`).
    seed : int
        Draws the queries that are measured.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        The record that ``setveil explore --json`` prints (docs/which_promise.md): `cells`, one for each k
        and m, with the `loss` (named by `objective`) of the best release found, whether it is `proven` the
        least or only a bound, as the search was not finished (`at_most`), the guarantee that it was
        `made_for` (a stronger one, where that release loses less), `items_kept`, `occurrences_kept`,
        `suppressed_occurrences`, `query_error`, `unique_rows`, and the `command` that makes it (None where
        data or hierarchy are no files). With `rho` there are also `gap`, `front` (whether every stronger
        guarantee loses more), `greatest_confidence` and `hidden_occurrences`. Of a table the loss is f, and
        there are `relational_loss`, `transaction_loss` and `classes` in place of what is kept. Of facts
        there are also the `order` taken, and which share keeps each part (`kept`) and all of them (`whole`);
        queries are not asked.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type, or the algorithm does not give k^m-anonymity.
    DataError
        If a file cannot be read, or no row holds an item.
    InfeasibleError
        If no release was found for any of the guarantees.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["coffee"]]
    >>> found = sv.explore(rows, k=[2, 5], m=[1, 2])
    >>> [(cell["k"], cell["m"], round(cell["loss"], 2)) for cell in found["cells"]]
    [(2, 1, 0.0), (5, 1, 0.0), (2, 2, 0.0), (5, 2, 0.38)]
    """
    if guarantee is None:
        ms = _listed("m", m)
        ms = [m_of(data)] if ms is None and m_of(data) is not None else ms
        promises = promised(_listed("k", k), ms, _listed("rho", rho), sensitive, knows)
    else:
        grid = {"k": k, "m": m, "rho": rho, "sensitive": sensitive}
        grid["knows"] = None if knows == PUBLIC else knows
        several = list(guarantee) if isinstance(guarantee, Iterable) else [guarantee]
        promises, common = _given([alone(one, grid) for one in several])
        rho, sensitive, knows = common.get("rho"), common.get("sensitive"), common.get("knows", PUBLIC)
    deadline = Deadline(require_budget(time_budget))
    knowing, seed = integer_or_none("known", known, 1), integer("seed", seed, 0)
    listening = heard(progress)
    weights = {name: Fraction(str(weight)) for name, weight in (fact_weights or {}).items()}
    generalizing = Generalizing(fact_order, fact_loss, weights, lines=bool(fact_lines))
    rows = original_of(data)
    if guarantee is not None:
        require_form(rows, several[0])
    tree = tree_of_codes(hierarchy, rows.facts) if rows.only_facts else tree_of(hierarchy)
    if tree is not None and not rows.only_facts:
        tree, rows = fit_rows(tree, rows)
    explorer = explorer_of(rows.kind)
    explorer.require_covered(rho)
    if isinstance(algorithm, str):
        algorithm = algorithms.named(algorithm, trusted=True)
    weight = explorer.weight(share, rho, "" if algorithm is None else "algorithm")
    secrets = None if rho is None else SensitiveItems(labels_of("sensitive", sensitive, rows), knows)
    found = explorer.explore(
        rows, promises, ExploreSettings(algorithm, weight, secrets, generalizing), hierarchy=tree,
        known=knowing, time_budget=deadline.left, seed=seed, progress=listening,
    )  # fmt: skip
    named = is_path(data) and all(one is None or is_path(one) for one in (hierarchy, sensitive))
    plain = algorithm is None or isinstance(algorithm, str)
    return record(
        found,
        inputs=[str(data)] if named and plain and not rows.is_table else None,
        hierarchy=Path(hierarchy) if is_path(hierarchy) and not rows.is_table else None,
        sensitive="" if sensitive is None else str(sensitive),
        seed=seed,
    )


_TRIED = {  # parameters of guarantees, by model
    KmAnonymity.model: ("k", "m"),
    KKmAnonymity.model: ("k", "m"),
    KmRho.model: ("k", "m", "rho", "sensitive", "knows"),
}


def _given(several: list[Guarantee]) -> tuple[list[Any], dict[str, Any]]:
    """List guarantees as pairs of k and m, or triples with rho; and return what they have in common."""
    if not several:
        raise RequestError("No guarantee is given, expected at least one.")
    parts = [parameters_of(one, _TRIED, "explore") for one in several]
    first, *others = zip(several, parts, strict=True)
    for one, part in others:
        if (
            any(part.get(name) != first[1].get(name) for name in ("sensitive", "knows"))
            or one.model != first[0].model
        ):
            raise RequestError(
                "Guarantees that are explored together differ in k, m and rho alone, "
                f"got {first[0].phrase} and {one.phrase}.",
                hint="Explore them one after the other.",
            )
    promises = {(part["k"], part["m"], *([part["rho"]] if "rho" in part else [])) for part in parts}
    return sorted(promises, key=lambda one: ([-rho for rho in one[2:]], one[1], one[0])), parts[0]


def promised(k: Any, m: Any, rho: Any, sensitive: object, knows: str | None) -> list[Any]:
    """List the guarantees to try: pairs of k and m, or triples with rho; None: the usual values."""
    if rho is None:
        for name, value in (("sensitive", sensitive), ("knows", None if knows == PUBLIC else knows)):
            if value is not None:
                raise RequestError(
                    f"{as_option(name)} goes with {as_option('rho')}.",
                    hint=faces("Such as --rho 0.5,0.2,0.1.", 'Such as rho=["1/2", "1/5"].'),
                )
        return require_grid(KS if k is None else k, MS if m is None else m)
    if sensitive is None:
        raise RequestError(
            f"{as_option('rho')} needs {as_option('sensitive')}.",
            hint="It says how likely which items may become.",
        )
    if knows not in (None, *KNOWS):
        raise RequestError(f'{as_option("knows")} must be "public" or "any", got {described(knows)}.')
    return require_triples(KS_RHO if k is None else k, MS_RHO if m is None else m, rho)


class ExploreSettings(NamedTuple):
    """What only some kinds of data are explored with."""

    algorithm: Any  # with its parameters
    share: Fraction  # of a table's columns in its loss
    secrets: SensitiveItems | None
    generalizing: Generalizing = USUAL


class RowsExplorer:
    """Rows of items; the defaults of other kinds of data."""

    takes_algorithm: ClassVar[bool] = True  # with parameters of its own

    def require_covered(self, _rho: object) -> None:
        """Refuse a bound for what is learned of sensitive items, if there is no guarantee of it."""

    def weight(self, share: Any, _rho: object, _named: str) -> Fraction:
        """Refuse options that do not suit such data, and read the loss share of a table's columns."""
        require_no_share(share)
        return SHARE

    def explore(self, rows: Any, promises: list[Any], settings: ExploreSettings, **how: Any) -> Exploration:
        """Explore the data; `how` is of `setveil.work.studies.explore` for all kinds alike."""
        return explore_grid(rows, promises, secrets=settings.secrets, algorithm=settings.algorithm, **how)

    def arguments(self, of_algorithm: list[str], _share: Fraction) -> list[str]:
        """Return what is said of the algorithm in the command that makes a release."""
        return of_algorithm


class TableExplorer(RowsExplorer):
    """A table, whose columns count with a share in the loss."""

    takes_algorithm = False

    def weight(self, share: Any, rho: object, named: str) -> Fraction:
        """Refuse sensitive items and algorithms; take the share of the columns."""
        if rho is not None:
            raise hides_nothing("rho")
        if named:
            raise RequestError(
                f"{named} does not apply to tables: they are explored with rt, by its sweep.",
                hint=f"{as_option('share')} says how much its columns count.",
            )
        return share_of_columns(share)

    def explore(self, rows: Any, promises: list[Any], settings: ExploreSettings, **how: Any) -> Exploration:
        """Explore the table."""
        return explore_table(rows, promises, share=settings.share, **how)

    def arguments(self, _of_algorithm: list[str], share: Fraction) -> list[str]:
        """Return the search and the share in the command that makes a release."""
        return ["--search", SEARCH, *([] if share == SHARE else ["--share", str(share)])]


class FactsExplorer(RowsExplorer):
    """Rows of facts: codes with dates or amounts."""

    def require_covered(self, rho: object) -> None:
        """Refuse a bound for what is learned of sensitive items."""
        if rho is not None:
            raise RequestError(
                f"{as_option('rho')} is of sensitive items; facts are released under k^m-anonymity.",
                hint="Omit it.",
            )

    def explore(self, rows: Any, promises: list[Any], settings: ExploreSettings, **how: Any) -> Exploration:
        """Explore the facts."""
        return explore_facts(
            rows, promises, algorithm=settings.algorithm, generalizing=settings.generalizing, **how
        )


_EXPLORERS: dict[str, RowsExplorer] = {"tables": TableExplorer(), "facts": FactsExplorer()}


def explorer_of(kind: str) -> RowsExplorer:
    """Find how data are explored, by their kind (see `setveil.rows.data.exposed.Exposed`)."""
    return _EXPLORERS.get(kind, RowsExplorer())


def _listed(name: str, values: Any) -> list[Any] | None:
    if values is None:
        return None
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RequestError(f"{name} must be a list of numbers, got {described(values)}.")
    return list(values)
