"""Levels of nodes above items: how the nodes are called, and which have consecutive nodes below them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from setveil.base.errors import DataError, RequestError
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

ORDERS = ("support", "number", "appearance", "random")


def balanced_parents(
    data: Transactions, fanout: int, common: int = 0, order: str = ORDERS[0], seed: int = 0
) -> dict[str, str | None]:
    """Find the parent of each node of a hierarchy by order (see `setveil.rows.hierarchy.build.balanced`)."""
    level = items_by(data, common, order, seed)
    check_fanout(fanout)
    names = Names(level, "L")
    parents: dict[str, str | None] = {}
    number = 0
    while len(level) > fanout:
        number += 1
        for i, node in enumerate(level):
            parents[node] = names.node(number, i // fanout)
        level = [names.node(number, i) for i in range(-(-len(level) // fanout))]
    return {**parents, **dict.fromkeys(level, names.root), names.root: None}


class Names:
    """Labels of inner nodes that no item has."""

    def __init__(self, items: Collection[str], mark: str) -> None:
        self._mark = mark
        while any(re.fullmatch(f"{self._mark}[0-9]+_[0-9]+", item) for item in items):
            self._mark += mark
        self.root = unused("*", items)

    def node(self, level: int, number: int) -> str:
        return f"{self._mark}{level}_{number}"


def where_they_meet(
    paths: Mapping[str, Sequence[str]], root: str, others: Collection[str] = ()
) -> dict[str, str | None]:
    """Find the parent of each node of a tree of groups, and omit groups that contain a single node.

    `paths`: the groups of each item, the widest first. A group with the name of an item gets a star. A root
    with a single group below is replaced by it. `others`: items that will be below the root.
    """
    # Groups are numbered from 1, 0 is the root.
    names = dict.fromkeys(group for path in paths.values() for group in path)
    number = {group: i for i, group in enumerate(names, 1)}
    above = [0] * (len(number) + 1)
    for path in paths.values():
        for wider, group in pairwise(path):
            above[number[group]] = number[wider]
    home = {item: number[path[-1]] if path else 0 for item, path in paths.items()}
    below = Counter([*above[1:], *home.values()])

    # A node is needed where branches meet; a root with a single inner child would say the same twice.
    needed = [below[i] > 1 for i in range(len(above))]
    needed[0] = True
    top = [i for i in range(1, len(above)) if above[i] == 0]
    while below[0] == 1 and len(top) == 1 and not others:
        needed[top[0]] = False
        below[0] = below[top[0]]
        top = [i for i in range(1, len(above)) if above[i] == top[0]]

    def nearest(i: int) -> int:
        while not needed[i]:
            i = above[i]
        return i

    taken = {*paths, *others}
    labels = {0: unused(root, taken)}
    taken.add(labels[0])
    for group, i in number.items():
        if needed[i]:
            labels[i] = unused(group, taken)
            taken.add(labels[i])
    parents: dict[str, str | None] = {item: labels[nearest(i)] for item, i in home.items()}
    parents.update({labels[i]: labels[nearest(above[i])] for i in labels if i})
    return {**parents, labels[0]: None}


def unused(label: str, taken: Collection[str]) -> str:
    while label in taken:
        label += "*"
    return label


def items_of(data: Transactions) -> list[str]:
    if not data.n_items:
        raise DataError("The data contain no items, expected at least one to build a hierarchy over.")
    return item_order(data.vocabulary.labels)


def items_by(data: Transactions, least: int, order: str = "number", seed: int = 0) -> list[str]:
    """List the items of at least this many rows in an order, then the others by their rows."""
    if order not in ORDERS:
        raise RequestError(f"order must be one of {', '.join(ORDERS)}, got {order!r}.")
    items, labels, supports = items_of(data), data.vocabulary.labels, data.supports()
    common = {at: labels[at] for at in np.flatnonzero(supports >= least).tolist()}
    names = set(common.values())
    ordered = _ordered([x for x in items if x in names], data, order, seed)
    if len(common) == len(items):
        return ordered
    from setveil.rows.hierarchy._signatures import signatures

    signs = dict(zip(labels, signatures(data, common), strict=True))
    rare = sorted((x for x in items if x not in names), key=lambda item: (signs[item], item))
    return [*ordered, *rare]


def _ordered(items: list[str], data: Transactions, order: str, seed: int) -> list[str]:
    """Bring items, which are in item order, into another one; equals stay in item order."""
    labels = data.vocabulary.labels
    if order == "support":
        supports = dict(zip(labels, data.supports().tolist(), strict=True))
        return sorted(items, key=lambda item: -supports[item])
    if order == "appearance":
        found, first = np.unique(data.items, return_index=True)
        place = {labels[item]: at for item, at in zip(found.tolist(), first.tolist(), strict=True)}
        row_of = np.repeat(np.arange(data.n_rows), data.row_lengths())
        return sorted(items, key=lambda item: row_of[place[item]] if item in place else data.n_rows)
    if order == "random":  # by a hash, which does not depend on the other items
        return sorted(items, key=lambda item: blake2b(f"{seed}:{item}".encode()).digest())
    return items


def check_fanout(fanout: int) -> None:
    if fanout < 2:
        raise RequestError(
            f"The fan-out is {fanout}, expected at least 2.", hint="5 is what the literature uses."
        )
