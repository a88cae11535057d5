"""The partitions that the algorithm `rt` tries, and the one it takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from setveil.base.deadline import Deadline
from setveil.base.errors import InfeasibleError, RequestError, UnfinishedError, shorten
from setveil.base.progress import Progress
from setveil.base.tracing import Trace
from setveil.base.wording import count
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.kernels.rows import recode_rows
from setveil.methods.algorithms.rt._classes import ClassFinder, TriedClasses
from setveil.methods.algorithms.rt._item_optimum import ItemOptima
from setveil.methods.algorithms.rt._limits import allowed_nodes, cells
from setveil.methods.algorithms.rt._rt_parameters import RT
from setveil.methods.algorithms.rt._sensitive import SensitiveValues
from setveil.releases.published.parts import Parts
from setveil.releases.published.recoding import LocalRecoding
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table


def chosen(
    data: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity,
    parameters: RT,
    progress: Progress,
    trace: Trace | None = None,
) -> tuple[Parts, dict[str, Any]]:
    """Try partitions and take the best (see `setveil.methods.algorithms.rt.rt.anonymize`)."""
    _require_least(data, guarantee, parameters)
    leaf = hierarchy.locate(data.vocabulary)
    order = data.canonical_order()
    table = data.rows_at(order)
    optima = ItemOptima(
        hierarchy,
        *recode_rows(table.indptr, table.items, leaf),
        guarantee.k,
        guarantee.m,
        suppress=parameters.suppress,
        allowed=allowed_nodes(hierarchy, parameters.coarsest.get(data.set_name, ()), data.set_name),
    )
    if not parameters.suppress:
        guarantee.of_items.require_feasible(data)
    share = Fraction(parameters.share)
    filled = 0 if parameters.suppress else guarantee.k
    largest = cells(table, parameters.coarsest, guarantee)
    sensitive = SensitiveValues(table, hierarchy, guarantee) if guarantee.sensitive else None
    classes = ClassFinder(table, optima, guarantee.k, filled, largest, share, progress, sensitive, trace)
    deadline = Deadline(parameters.time_limit, progress)
    progress.stoppable = True
    try:
        points = _tried(classes, parameters, deadline)
        ended_early = deadline.is_over or (parameters.time_limit is not None and not _all_proven(points))
    finally:
        progress.stoppable = False
    if not points and ended_early:
        raise UnfinishedError(
            "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
        )
    if not points and sensitive is not None:
        raise InfeasibleError(
            f"{guarantee.phrase} cannot be met by these classes: in each partition that was tried the "
            "rows of some class have a sensitive value in common too often.",
            hint="Raise --h, lower --p, or allow coarser labels and items to be suppressed.",
        )
    if not points:
        raise InfeasibleError(
            f"{guarantee.phrase} cannot be met within the coarsest labels allowed of "
            f"{shorten(data.set_name)} without suppression of items.",
            hint="Allow coarser labels, or items to be suppressed.",
        )
    best = _best(points, parameters)
    frontier = [_entry(point, table, point is best) for point in points]
    if trace is not None:
        trace.step(phase="partitions", candidates=frontier, chosen=next(e for e in frontier if e["chosen"]))
    return _parts(data, hierarchy, leaf, order, best), {
        "frontier": frontier,
        "optimality": _optimality(best, classes, limited=bool(parameters.coarsest.get(data.set_name))),
        **({"ended_early": True} if ended_early else {}),
    }


def _require_least(data: Table, guarantee: KKmAnonymity, parameters: RT) -> None:
    least = parameters.least
    if least is not None and not guarantee.k <= least <= max(data.n_rows, guarantee.k):
        raise RequestError(
            f"A class cannot have {count(least, 'row')} at least: {guarantee.phrase} demands {guarantee.k}, "
            f"and the table has {data.n_rows:,}.",
            hint=f"--least can be {guarantee.k} to {max(data.n_rows, guarantee.k)}.",
        )


def _all_proven(points: list[TriedClasses]) -> bool:
    return all(found.proven for point in points for found in point.items)


def _tried(classes: ClassFinder, parameters: RT, deadline: Deadline) -> list[TriedClasses]:
    """Make partitions; the sizes share the time evenly, and the search by gain has as much as all of them.

    In limited time larger classes come first: there are fewer of them, so that these at least are finished.
    """
    points: list[TriedClasses] = []
    sizes = classes.sizes() if parameters.least is None else [parameters.least]
    sizes = sizes if parameters.time_limit is None else sizes[::-1]
    by_gain = parameters.search != "sweep" and parameters.least is None
    for i, least in enumerate(sizes if parameters.search != "rt" else []):
        if points and deadline.is_over:
            return points
        deadline.progress(f"classes of at least {count(least, 'row')}", i / len(sizes))
        classes.deadline = deadline.part(len(sizes) * (1 + by_gain) - i)
        found = classes.of_size(least)
        points += [] if found is None else [found]
    if by_gain and not (points and deadline.is_over):
        classes.deadline = deadline
        found = classes.by_gain()
        points += [] if found is None else [found]
    return points


def _best(points: list[TriedClasses], parameters: RT) -> TriedClasses:
    """Find the point of least loss within the limits, of equals that of larger classes."""
    within = points
    limits = (("R", "--delta", parameters.delta), ("T", "--max-item-loss", parameters.max_item_loss))
    for name, option, limit in limits:
        if limit is None:
            continue
        losses = [point.relational if name == "R" else point.transactional for point in within]
        most = Fraction(limit)
        if not any(loss <= most for loss in losses):
            nearest = float(min(losses))
            also = " with the other limit" if len(within) < len(points) else ""
            raise InfeasibleError(
                f"No classes were found{also} for which {name} is at most {float(most):g}: the least is "
                f"{nearest:.6f}.",
                hint=f"{option} {_rounded_up(min(losses))} would do.",
            )
        within = [point for point, loss in zip(within, losses, strict=True) if loss <= most]
    return min(within, key=lambda point: (point.total, -point.least))


def _rounded_up(loss: Fraction) -> float:
    return -(-loss.numerator * 10**6 // loss.denominator) / 10**6


def _parts(
    data: Table, hierarchy: Hierarchy, leaf: np.ndarray, order: np.ndarray, point: TriedClasses
) -> Parts:
    """Translate a point to rows in the order of the data."""
    part = np.zeros(data.n_rows, np.int64)
    nodes = np.full(data.n_occurrences, -1, np.int32)
    leaves = leaf[data.items]
    sizes = np.diff(data.indptr)
    for number, (place, found) in enumerate(zip(point.parts, point.items, strict=True)):
        rows = order[place]
        part[rows] = number
        ends = np.cumsum(sizes[rows])
        places = np.arange(ends[-1]) + np.repeat(data.indptr[rows] - ends + sizes[rows], sizes[rows])
        nodes[places] = found.nodes[np.searchsorted(found.leaves, leaves[places])]
    return Parts(part, LocalRecoding.from_nodes(hierarchy, nodes))


def _entry(point: TriedClasses, table: Table, is_chosen: bool) -> dict[str, Any]:
    return {
        "search": point.search,
        "least": point.least,
        "classes": len(point.parts),
        "smallest": min((part.size for part in point.parts), default=0),
        "relational_loss": float(point.relational),
        "transaction_loss": float(point.transactional),
        "suppressed_share": point.suppressed / max(table.n_occurrences, 1),
        "f": float(point.total),
        "chosen": is_chosen,
    }


def _optimality(point: TriedClasses, classes: ClassFinder, *, limited: bool) -> dict[str, Any]:
    """Say how far the items are from the best that these classes allow."""
    loss, lower = point.transactional, classes.objective.transactional(point.lower)
    return {
        "objective": "lm",
        "model": "recoding of the items of each class",
        "loss": float(loss),
        "lower_bound": float(lower),
        "gap": float((loss - lower) / loss) if loss else 0.0,
        "proven": loss == lower,
        "limited": limited,
    }
