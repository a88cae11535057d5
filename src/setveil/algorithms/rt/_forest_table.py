"""From a table to a forest, and from the best candidate to what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from setveil.algorithms.rt._distinct import cut_loss
from setveil.algorithms.rt._forest_parameters import Forest as Parameters
from setveil.algorithms.rt._forest_search import ForestSearch
from setveil.algorithms.rt._forest_threats import Knowledge
from setveil.algorithms.rt._forest_trees import Forest, Tree
from setveil.algorithms.rt._ranged import with_ranges
from setveil.algorithms.rt._sensitive import require_nothing_sensitive
from setveil.errors import InfeasibleError, RequestError, did_you_mean, listed, shorten
from setveil.guarantees.kkm import KKmAnonymity
from setveil.guarantees.mixed_km import MixedKmAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, recode_rows
from setveil.progress import Progress
from setveil.published.parts import TableCut
from setveil.published.recoding import Recoding
from setveil.tables.table import Table
from setveil.wording import are, count

PATIENCE = 300.0  # seconds, where no time limit is given


def trees_of(table: Table, share: Fraction, coarsest: Mapping[str, Sequence[str]]) -> list[Tree]:
    """Make the trees of columns, which have hierarchies; a row's loss is its part of ``share * R``."""
    trees = []
    for column, unit in zip(table.columns, table.units, strict=True):
        parent: Ids = column.parent  # type: ignore[assignment]
        all_of_it = max(table.n_rows * table.unit_total, 1)
        losses = [share * Fraction(unit * loss, all_of_it) for loss in column.extent.tolist()]
        limits = _nodes_of(column.labels, coarsest.get(column.name, ()), column.name)
        trees.append(Tree(parent.tolist(), column.n_values, losses, limits))
    return trees


def values_of(table: Table) -> list[np.ndarray]:
    """List the columns' values by row."""
    return [column.codes for column in table.columns]


def published(
    table: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity | MixedKmAnonymity,
    parameters: Parameters,
    progress: Progress,
) -> tuple[TableCut, dict[str, Any]]:
    """Search, and translate the best candidate (see `setveil.algorithms.rt.forest.anonymize`)."""
    if isinstance(guarantee, KKmAnonymity):
        require_nothing_sensitive("forest", guarantee)
    given = with_ranges(table)
    table = given.rows_at(given.canonical_order())  # so that no choice depends on the order of the input
    share = Fraction(str(parameters.share))
    _require_columns(table, parameters.coarsest)
    limits = dict(parameters.coarsest)
    known = trees_of(table, share, limits)
    each = (1 - share) / max(table.n_occurrences, 1)  # of an occurrence that is suppressed
    losses = [each * loss for loss in _item_losses(hierarchy, parameters.of_items)]
    coarsest = _nodes_of(hierarchy.labels, limits.get(table.set_name, ()), table.set_name)
    items = Tree(hierarchy.parent.tolist(), hierarchy.n_leaves, losses, coarsest)
    rows = recode_rows(table.indptr, table.items, hierarchy.locate(table.vocabulary))
    forest = Forest(known, values_of(table), items, rows, each)
    knowledge = Knowledge(guarantee.k, guarantee.m, isinstance(guarantee, MixedKmAnonymity))
    search = ForestSearch(
        forest, knowledge, parameters.suppress, progress,
        PATIENCE if parameters.time_limit is None else parameters.time_limit, Fraction(str(parameters.gap)),
    )  # fmt: skip
    if threat := search.infeasible():
        raise _refusal(table, hierarchy, guarantee, parameters, forest, threat)
    search.run()
    *nodes, image = forest.images(search.best)
    suppressed = [leaf for leaf, to in enumerate(image) if to < 0]
    made = TableCut(
        given.columns,
        tuple(np.array(of_column, np.int32) for of_column in nodes),
        Recoding.from_cut(hierarchy, {to if to >= 0 else leaf for leaf, to in enumerate(image)}, suppressed),
    )
    optimality = {
        "objective": "total",
        "model": "global recoding with suppression" if parameters.suppress else "global recoding",
        **search.record(float(forest.loss(search.best, each))),
        "weighted": any(column.weight != 1 for column in table.columns),
        "limited": bool(limits),
        "share": float(share),
        "of_items": parameters.of_items,
    }
    return made, {
        "optimality": optimality,
        "relational_loss": float(_relational_loss(table, made.nodes)),
        "transaction_loss": float(_transaction_loss(table, hierarchy, image)),
        "suppressed": [hierarchy.labels[leaf] for leaf in suppressed],
    }


def _item_losses(hierarchy: Hierarchy, objective: str) -> list[Fraction]:
    """List the loss of an occurrence under each node, by NCP or LM."""
    leaves = hierarchy.leaf_counts.tolist()
    if objective == "ncp":
        return [Fraction(n if n > 1 else 0, hierarchy.n_leaves) for n in leaves]
    return [Fraction(n - 1, max(hierarchy.n_leaves - 1, 1)) for n in leaves]


def _relational_loss(table: Table, nodes: Sequence[Ids]) -> Fraction:
    """Compute R, whatever its share in the loss that was searched for."""
    return Fraction(cut_loss(table, nodes), max(table.n_rows * table.unit_total, 1))


def _transaction_loss(table: Table, hierarchy: Hierarchy, image: Sequence[int]) -> Fraction:
    """Compute T, the average LM of the item occurrences, whatever loss of them was searched for."""
    losses, supports = _item_losses(hierarchy, "lm"), table.supports().tolist()
    places = hierarchy.locate(table.vocabulary).tolist()
    lost = sum(
        n * (losses[image[leaf]] if image[leaf] >= 0 else 1) for leaf, n in zip(places, supports, strict=True)
    )
    return Fraction(lost, max(table.n_occurrences, 1))


def _nodes_of(labels: tuple[str, ...], wanted: Iterable[str], name: str) -> list[int]:
    ids = {label: v for v, label in enumerate(labels)}
    unknown = [label for label in wanted if label not in ids]
    if unknown:
        raise RequestError(
            f"Coarsest labels that are not in the hierarchy of {shorten(name)}: {listed(unknown)}."
        )
    return [ids[label] for label in wanted]


def _require_columns(table: Table, coarsest: Iterable[str]) -> None:
    names = [*(column.name for column in table.columns), table.set_name]
    if unknown := [name for name in coarsest if name not in names]:
        raise RequestError(
            f"Coarsest labels are given for columns that do not exist: {listed(unknown)}.",
            hint=did_you_mean(unknown[0], names, f"There are {listed(names)}.", quoted=True),
        )


def _refusal(
    table: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity | MixedKmAnonymity,
    parameters: Parameters,
    forest: Forest,
    threat: list[int],
) -> InfeasibleError:
    """Say why even the coarsest release is not valid: a threat in it."""
    threat = sorted(threat, key=lambda v: int(forest.of_tree[v]))
    names = [*(column.name for column in table.columns), table.set_name]
    labels = [*(column.labels for column in table.columns), hierarchy.labels]
    limited = [
        v for v in threat
        if names[forest.of_tree[v]] in parameters.coarsest and int(forest.tree.parent[v]) in forest.barred
        and not forest.is_root[v]
    ]  # fmt: skip
    shown = [
        f"{names[forest.of_tree[v]]} = {labels[forest.of_tree[v]][forest.node[v]]}"
        for v in threat
        if forest.is_item[v] or not forest.is_root[v]
    ]
    if not limited:
        filled = int((table.row_lengths() > 0).sum())
        return InfeasibleError(
            f"{guarantee.phrase} cannot be reached: only {count(filled, 'row')} {are(filled)} not empty, and "
            f"fewer than k = {guarantee.k} rows hide nobody.",
            hint="Allow items to be suppressed." if not parameters.suppress else "",
        )
    blamed = list(dict.fromkeys(names[forest.of_tree[v]] for v in limited))
    return InfeasibleError(
        f"{guarantee.phrase} cannot be reached within the coarsest labels allowed of {listed(blamed)}: fewer "
        f"than k = {guarantee.k} rows have {' and '.join(shown)}.",
        hint=f"Allow coarser labels of {listed(blamed)}"
        + ("." if parameters.suppress or not any(forest.is_item[threat]) else ", or suppression of items."),
    )
