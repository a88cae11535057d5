"""Levels of nodes above items: how the nodes are called, and which have consecutive nodes below them."""

from __future__ import annotations

import re
from collections.abc import Collection

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import item_order
from setveil.errors import DataError, RequestError


def balanced_parents(data: Transactions, fanout: int) -> dict[str, str | None]:
    """Find the parent of each node of a hierarchy by order (see `setveil.hierarchy.build.balanced`)."""
    level = items_of(data)
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


def unused(label: str, taken: Collection[str]) -> str:
    while label in taken:
        label += "*"
    return label


def items_of(data: Transactions) -> list[str]:
    if not data.n_items:
        raise DataError("The data hold no items, expected at least one to build a hierarchy over.")
    return item_order(data.vocabulary.labels)


def check_fanout(fanout: int) -> None:
    if fanout < 2:
        raise RequestError(
            f"The fan-out is {fanout}, expected at least 2.", hint="5 is what the literature uses."
        )
