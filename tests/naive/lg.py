"""LG on rows one by one: no weights, no hashes, no leaf intervals.

A hierarchy is a dict child -> parent (None for the root).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from naive.anonymize import Tree, children, leaves, ranks, root, up_from
from naive.km import Rows

Row = frozenset[str]
Part = tuple[list[Row], Row]  # rows, and the nodes of their published form


class LocalGeneralization:
    """One run; `published` are the pairs of a row and its published form."""

    def __init__(self, rows: Rows, tree: Tree, k: int) -> None:
        self.tree, self.k = tree, k
        self.rank = ranks(tree)
        items = set(leaves(tree))
        self.above = {leaf: set(up_from(tree, leaf)) for leaf in items}
        size = Counter(node for leaf in items for node in self.above[leaf])
        self.loss = {v: Fraction(size[v], len(items)) if size[v] > 1 else Fraction(0) for v in tree}
        self.below = {v: [self.end_of_chain(child) for child in children(tree, v)] for v in tree}
        self.published = [(row, row) for row in rows if not row]
        if filled := self.in_order([row for row in rows if row]):
            self.partition(filled, frozenset({self.end_of_chain(root(tree))}))

    def end_of_chain(self, node: str) -> str:
        while len(only := children(self.tree, node)) == 1:
            node = only[0]
        return node

    def in_order(self, rows: Sequence[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: sorted(self.rank[item] for item in row))

    def held(self, row: Row, node: str) -> Row:
        """Children of a node that a row holds leaves of."""
        return frozenset(child for child in self.below[node] if any(child in self.above[i] for i in row))

    def gain(self, row: Row, node: str) -> Fraction:
        """NCP, summed over the row's occurrences under the node, that expanding the node saves."""
        return sum(
            (
                self.loss[node] - self.loss[child]
                for item in row
                for child in self.below[node]
                if child in self.above[item]
            ),
            Fraction(0),
        )

    def partition(self, rows: list[Row], nodes: Row) -> None:
        shared = [v for v in nodes if self.below[v] and len({self.held(row, v) for row in rows}) == 1]
        if shared:
            self.partition(rows, nodes.difference(shared).union(*(self.held(rows[0], v) for v in shared)))
            return
        choices = [(v, split) for v in nodes if self.below[v] and (split := self.split(rows, v))]
        if not choices:
            self.published += [(row, nodes) for row in rows]
            return

        def saved(choice: tuple[str, tuple[dict[Row, list[Row]], list[Row]]]) -> Fraction:
            node, (groups, _) = choice
            return sum((self.gain(row, node) for group in groups.values() for row in group), Fraction(0))

        node, (groups, behind) = min(choices, key=lambda choice: (-saved(choice), self.rank[choice[0]]))
        for held, group in groups.items():
            self.partition(group, nodes - {node} | held)
        if behind:
            self.partition(self.in_order(behind), nodes)

    def split(self, rows: list[Row], node: str) -> tuple[dict[Row, list[Row]], list[Row]] | None:
        """Groups of at least k rows by the children they hold, and the rows that stay behind: 0 or >= k."""
        groups: dict[Row, list[Row]] = {}
        for row in rows:
            groups.setdefault(self.held(row, node), []).append(row)
        behind = [row for group in groups.values() if len(group) < self.k for row in group]
        groups = {held: group for held, group in groups.items() if len(group) >= self.k}
        if not groups:
            return None
        missing = self.k - len(behind) if behind else 0
        if missing > sum(len(group) - self.k for group in groups.values()):
            if len(groups) == 1:
                return None
            least = min(groups, key=lambda held: sum(self.gain(row, node) for row in groups[held]))
            behind += groups.pop(least)
        else:
            for row in sorted(rows, key=lambda row: (self.gain(row, node), rows.count(row))):
                group = groups.get(self.held(row, node), [])
                if missing > 0 and len(group) > self.k:
                    group.remove(row)
                    behind.append(row)
                    missing -= 1
        return groups, behind


def lg(rows: Rows, tree: Tree, k: int) -> Counter[tuple[Row, Row]]:
    """Count the pairs of a row and its published form."""
    return Counter(LocalGeneralization(rows, tree, k).published)


def ncp(published: Counter[tuple[Row, Row]], tree: Tree) -> Fraction:
    """Average, over the occurrences, the share of all items below the label that represents the item."""
    items = set(leaves(tree))
    lost, occurrences = Fraction(0), 0
    for (row, labels), count in published.items():
        for item in row:
            label = next(v for v in up_from(tree, item) if v in labels)
            under = sum(label in up_from(tree, leaf) for leaf in items)
            lost += count * Fraction(under if under > 1 else 0, len(items))
            occurrences += count
    return lost / occurrences if occurrences else Fraction(0)
