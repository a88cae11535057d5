"""The steps of the bounding methods."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import Progress
from setveil.judges.guarantees.kkm import KKmAnonymity, require_rows
from setveil.kernels.rows import Ids, places_of
from setveil.methods.algorithms.rt._bounding_parameters import Bounding
from setveil.methods.algorithms.rt._clustering import clusters as make_clusters
from setveil.methods.algorithms.rt._distinct import cut_loss
from setveil.methods.algorithms.rt._forest_search import ForestSearch
from setveil.methods.algorithms.rt._forest_table import PATIENCE, trees_of, values_of
from setveil.methods.algorithms.rt._forest_threats import ForestKnowledge
from setveil.methods.algorithms.rt._forest_trees import ItemForest
from setveil.methods.algorithms.rt._incognito import incognito
from setveil.methods.algorithms.rt._items import EXACT, ClassItems, RecodedClass
from setveil.methods.algorithms.rt._merging import RowPartition, until, within
from setveil.methods.algorithms.rt._mondrian import mondrian
from setveil.methods.algorithms.rt._ranged import with_ranges
from setveil.methods.algorithms.rt._sensitive import require_nothing_sensitive
from setveil.methods.algorithms.rt._specialization import bottom_up, classes_of, top_down
from setveil.methods.algorithms.rt._splits import Splits
from setveil.releases.published.parts import Parts
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table, numbered_parts


def relational_optimum(
    table: Table, k: int, progress: Progress, time_limit: float = PATIENCE
) -> tuple[NDArray[np.int32], ...]:
    """Find the cut of each column that makes every class of rows at least k and loses least, proven.

    Unless time is up before; then the best that was found: for each column of ``with_ranges(table)`` the node
    of each value, as numeric columns without a hierarchy are published as ranges.
    """
    require_rows(f"k-anonymity (k={k})", table, k)
    ranged = with_ranges(table)
    nothing = np.zeros(table.n_rows + 1, np.int64), np.zeros(0, np.int32)
    forest = ItemForest(trees_of(ranged, Fraction(1), {}), values_of(ranged), [], nothing)
    search = ForestSearch(forest, ForestKnowledge(k, 0, mixed=False), False, progress, time_limit)
    search.run()
    return tuple(np.array(nodes, np.int32) for nodes in forest.images(search.best))


def bounded(
    data: Table, hierarchy: Hierarchy, guarantee: KKmAnonymity, parameters: Bounding, progress: Progress
) -> tuple[Parts, dict[str, Any]]:
    """Make classes, merge them, and put the recodings of their items together."""
    require_nothing_sensitive("bounding", guarantee)
    order = data.canonical_order()
    table = data.rows_at(order)  # so that nothing depends on the order of the lines
    items = ClassItems(table, hierarchy, guarantee, parameters.items, parameters.suppress, progress)
    if not data.n_rows:
        return Parts(np.zeros(0, np.int64), items.recoding([], order)), {"parts": 0}
    first, details = relational_classes(table, guarantee.k, parameters, progress)
    clusters = RowPartition(table, first)
    details["parts_before"] = clusters.live.size
    details["relational_loss_before"] = float(clusters.relational_loss)
    details["item_loss_before"] = sum(each.ncp for each in items.of_all(clusters.rows)) / items.whole
    if parameters.delta is None:
        kept = 0
    else:
        bound = _bound_items if parameters.bounded == "items" else _bound_columns
        kept = bound(clusters, items, parameters, Fraction(parameters.delta), progress)
    part = clusters.parts(kept)
    rows = places_of(part)
    recoded = items.of_all(rows)
    details |= {
        "mergers": len(clusters.mergers),
        "mergers_kept": kept,
        "parts": len(rows),
        "relational_loss": float(table.relational_loss(part)),
        "item_loss": sum(each.ncp for each in recoded) / items.whole,
        "hidden_classes": sum(each.hidden for each in recoded),
    }
    if parameters.items == EXACT:
        details["optimality"] = _optimality(recoded, hierarchy, table.n_occurrences, parameters.suppress)
    made = np.empty(table.n_rows, np.int64)
    made[order] = part
    return Parts(made, items.recoding(rows, order)), details


def relational_classes(
    table: Table, k: int, parameters: Bounding, progress: Progress
) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Make classes of a table's rows in canonical order, numbered by their first rows, and describe them."""
    method, least = parameters.relational, k if parameters.least is None else parameters.least
    if least < k:
        raise RequestError(f"least must be at least k = {k}, got {least}.")
    if not table.columns:
        return np.zeros(table.n_rows, np.int64), {}
    details: dict[str, Any] = {}
    if method == "mondrian":
        splits = Splits(table, least, 0 if parameters.suppress else k)
        part = np.empty(table.n_rows, np.int64)
        for number, rows in enumerate(mondrian(splits)):
            part[rows] = number
    elif method == "cluster":
        part = make_clusters(table, k, progress)
    else:
        ranged = with_ranges(table)
        nodes: Sequence[Ids]
        if method == "incognito":
            nodes, levels = incognito(ranged, k, progress)
            details["levels"] = dict(zip((column.name for column in table.columns), levels, strict=True))
        elif method == "exact":
            nodes = relational_optimum(ranged, k, progress)
        else:
            nodes = (top_down if method == "topdown" else bottom_up)(ranged, k, progress)
        part = classes_of(ranged, nodes)
        lost = Fraction(cut_loss(ranged, nodes), table.n_rows * ranged.unit_total)
        details["uniform_relational_loss"] = float(lost)
    return numbered_parts(np.arange(table.n_rows), part), details


def _bound_columns(
    clusters: RowPartition, items: ClassItems, parameters: Bounding, delta: Fraction, progress: Progress
) -> int:
    """Merge while R stays within delta; returns how many mergers lead to the least loss of items seen."""
    lost = clusters.relational_loss
    if lost > delta:
        raise InfeasibleError(
            f"R cannot stay within delta = {_written(delta)}: the classes of {parameters.relational} lose "
            f"{_written(lost)} before any merger.",
            hint=f"delta must be at least {_rounded_up(lost)}.",
        )
    if parameters.merge == "none":
        return 0
    losses = [items.loss(rows) for rows in clusters.rows]
    now = least = sum(losses)
    kept = 0
    for c, d in within(clusters, parameters.merge, delta, progress):
        if parameters.evaluate == "all":
            now -= losses[c] + losses[d]
            losses[c] = items.loss(clusters.rows[c])
            now += losses[c]
            if now < least:
                least, kept = now, len(clusters.mergers)
    if parameters.evaluate == "ends":
        final = [clusters.rows[c] for c in np.flatnonzero(clusters.live).tolist()]
        if sum(each.ncp for each in items.of_all(final)) < least:
            kept = len(clusters.mergers)
    return kept


def _bound_items(
    clusters: RowPartition, items: ClassItems, parameters: Bounding, delta: Fraction, progress: Progress
) -> int:
    """Merge until T is within delta; returns how many mergers that took."""
    enough = delta * items.whole
    seen = []
    if parameters.merge == "none":
        seen.append(sum(items.loss(rows) for rows in clusters.rows))
    else:
        seen.extend(until(clusters, parameters.merge, items.loss, lambda lost: lost <= enough, progress))
    if seen[-1] > enough:
        final, least = Fraction(seen[-1], items.whole), Fraction(min(seen), items.whole)
        how = "in one class" if len(clusters.mergers) else "in these classes"
        raise InfeasibleError(
            f"T cannot be brought within delta = {_written(delta)}: the items lose {_written(final)} {how}.",
            hint=f"delta must be at least {_rounded_up(least)}.",
        )
    return len(clusters.mergers)


def _written(number: Fraction) -> str:
    return f"{float(number):.4g} ({number})" if number.denominator > 1 else str(number)


def _rounded_up(number: Fraction) -> str:
    return f"{ceil(number * 10**4) / 10**4:.4g}"


def _optimality(
    recoded: Sequence[RecodedClass], hierarchy: Hierarchy, n_occurrences: int, suppress: bool
) -> dict[str, Any]:
    """Add up what the classes lose and what they must lose."""
    whole = max(hierarchy.n_leaves - 1, 1) * max(n_occurrences, 1)
    lost, least = sum(each.lm for each in recoded), sum(each.least for each in recoded)
    with_it = " with suppression" if suppress else ""
    return {
        "objective": "lm",
        "model": f"recoding of these classes, one cut each{with_it}",
        "loss": lost / whole,
        "lower_bound": least / whole,
        "gap": (lost - least) / lost if lost else 0.0,
        "proven": lost == least,
        "weighted": False,
        "limited": False,
    }
