"""From a table to a forest, and from the best candidate to the published table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from setveil.base.errors import InfeasibleError, RequestError, did_you_mean, listed, shorten
from setveil.base.progress import Progress
from setveil.base.values.per_column import PerColumn
from setveil.base.wording import are, count
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import QI, MixedKmAnonymity
from setveil.kernels.rows import Ids, recode_rows
from setveil.methods.algorithms.rt._distinct import cut_loss
from setveil.methods.algorithms.rt._forest_parameters import Forest as Parameters
from setveil.methods.algorithms.rt._forest_search import ForestSearch
from setveil.methods.algorithms.rt._forest_threats import ForestKnowledge
from setveil.methods.algorithms.rt._forest_trees import ItemForest, Tree
from setveil.methods.algorithms.rt._ranged import with_ranges
from setveil.methods.algorithms.rt._sensitive import require_nothing_sensitive
from setveil.releases.published.parts import TableCut
from setveil.releases.published.recoding import Recoding
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table

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
    """Search, and translate the best candidate (see `setveil.methods.algorithms.rt.forest.anonymize`)."""
    require_nothing_sensitive("forest", guarantee)
    source = with_ranges(table)
    table = source.rows_at(source.canonical_order())  # so that no choice depends on the order of the input
    share = Fraction(parameters.share)
    _require_columns(table, parameters.coarsest)
    limits = dict(parameters.coarsest)
    known = trees_of(table, share, limits)
    each = (1 - share) / max(table.n_occurrences, 1)  # of an occurrence that is suppressed
    losses = [each * loss for loss in _item_losses(hierarchy, parameters.of_items)]
    coarsest = _nodes_of(hierarchy.labels, limits.get(table.set_name, ()), table.set_name)
    columns = hierarchy.column_nodes
    items, place = item_trees(hierarchy, columns, losses, coarsest)
    rows = recode_rows(table.indptr, table.items, place[hierarchy.locate(table.vocabulary)])
    forest = ItemForest(known, values_of(table), items, rows, each)
    search = ForestSearch(
        forest, knowledge_of(guarantee, table.set_names), parameters.suppress, progress,
        PATIENCE if parameters.time_limit is None else parameters.time_limit, Fraction(str(parameters.gap)),
    )  # fmt: skip
    if threat := search.infeasible():
        raise _refusal(table, hierarchy, columns, guarantee, parameters, forest, threat)
    search.run()
    images = forest.images(search.best)
    nodes = images[: len(known)]
    image = [0] * hierarchy.n_leaves
    for inside, of_column in zip(columns, images[len(known) :], strict=True):
        for leaf, to in enumerate(of_column):
            image[inside[leaf]] = int(inside[to]) if to >= 0 else -1
    suppressed = [leaf for leaf, to in enumerate(image) if to < 0]
    made = TableCut(
        source.columns,
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
    if objective == "ncp":
        sizes, most = hierarchy.spread
        alone = hierarchy.leaf_counts == 1
        return [
            Fraction(0 if one else n, most) for one, n in zip(alone.tolist(), sizes.tolist(), strict=True)
        ]
    return [Fraction(n, max(hierarchy.most_lost, 1)) for n in hierarchy.lost.tolist()]


def _lm(hierarchy: Hierarchy) -> list[Fraction]:
    """List the LM of an occurrence under each node, in its column."""
    sizes = hierarchy.leaf_counts
    most = hierarchy.domains.tolist()
    return [Fraction(n - 1, max(all_ - 1, 1)) for n, all_ in zip(sizes.tolist(), most, strict=True)]


def item_trees(
    hierarchy: Hierarchy, columns: Sequence[Ids], losses: Sequence[Fraction], coarsest: Sequence[int]
) -> tuple[list[Tree], Ids]:
    """Make the trees of the columns of items, and say where in these each node is, or -1.

    That is the number of each node in its tree, and before that of all nodes of the trees before it.
    """
    place = np.full(hierarchy.n_nodes, -1, np.int32)
    trees, before = [], 0
    for inside in columns:
        place[inside] = np.arange(inside.size) + before
        up = hierarchy.parent[inside]
        parent = np.where(up < 0, -1, place[up] - before)
        n_leaves = int(np.count_nonzero(inside < hierarchy.n_leaves))
        of_tree = [int(place[v]) - before for v in coarsest if place[v] >= before]
        lost = [losses[v] for v in inside.tolist()]
        trees.append(Tree(np.maximum(parent, -1).tolist(), n_leaves, lost, of_tree))
        before += inside.size
    return trees, place


def knowledge_of(guarantee: KKmAnonymity | MixedKmAnonymity, columns: Sequence[str]) -> ForestKnowledge:
    """Say what someone may know, given the names of the columns of items."""
    mixed, m = guarantee.mixed, guarantee.m
    if not isinstance(m, PerColumn):
        return ForestKnowledge(guarantee.k, m, mixed)
    names = [*([QI] if mixed else []), *columns]
    m.require_columns(names)
    each = [m.each[name] for name in names]
    return ForestKnowledge(guarantee.k, m, mixed, tuple(each if mixed else [0, *each]))


def _relational_loss(table: Table, nodes: Sequence[Ids]) -> Fraction:
    """Compute R, whatever its share in the loss that was searched for."""
    return Fraction(cut_loss(table, nodes), max(table.n_rows * table.unit_total, 1))


def _transaction_loss(table: Table, hierarchy: Hierarchy, image: Sequence[int]) -> Fraction:
    """Compute T, the average LM of the item occurrences, whatever loss of them was searched for."""
    losses, supports = _lm(hierarchy), table.supports().tolist()
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
    of_items: Sequence[Ids],
    guarantee: KKmAnonymity | MixedKmAnonymity,
    parameters: Parameters,
    forest: ItemForest,
    threat: list[int],
) -> InfeasibleError:
    """Say why even the coarsest release is not valid: a threat in it."""
    threat = sorted(threat, key=lambda v: int(forest.of_tree[v]))
    names = [*(column.name for column in table.columns), *[table.set_name] * len(of_items)]
    items = [[hierarchy.labels[v] for v in inside.tolist()] for inside in of_items]
    labels = [*(column.labels for column in table.columns), *items]
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
            f"{guarantee.phrase} cannot be met: only {count(filled, 'row')} {are(filled)} not empty, and "
            f"fewer than k = {guarantee.k} rows hide nobody.",
            hint="Allow items to be suppressed." if not parameters.suppress else "",
        )
    blamed = list(dict.fromkeys(names[forest.of_tree[v]] for v in limited))
    return InfeasibleError(
        f"{guarantee.phrase} cannot be met within the coarsest labels allowed of {listed(blamed)}: fewer "
        f"than k = {guarantee.k} rows have {' and '.join(shown)}.",
        hint=f"Allow coarser labels of {listed(blamed)}"
        + ("." if parameters.suppress or not any(forest.is_item[threat]) else ", or suppression of items."),
    )
