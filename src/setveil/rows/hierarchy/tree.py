"""The hierarchy over the items: a rooted tree whose leaves are items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import repeat
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import (
    HierarchyError,
    MissingItemsError,
    RequestError,
    described,
    faces,
    listed,
    require_type,
    shorten,
)
from setveil.base.wording import count
from setveil.kernels.rows import frozen
from setveil.rows.data.spelling import misread, normalization, spelled_otherwise
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy._levels import balanced_parents

ROOT = "*"  # above several nodes without a parent
_EXTEND = "`setveil hierarchy build DATA --extend HIERARCHY --out NEW`"
_EXTEND_IN_PYTHON = "`setveil.rows.hierarchy.build.extend(hierarchy, data)`"
BELOW_ONE_NODE = (
    "adds them under one new node: there, a rare item takes all others with it, or is suppressed."
)


@dataclass(frozen=True)
class HierarchyOrigin:
    """Where a hierarchy comes from."""

    # "file", "co-occurrence" (see `setveil.rows.hierarchy.build.by_cooccurrence`), or "given" by the caller
    source: str
    # path, sha256: the file as given, and the hash of its bytes in hexadecimal
    path: str | None = None
    sha256: str | None = None
    seconds: float = field(default=0.0, compare=False)  # time that reading or making it took
    encoding: str = "utf-8"  # of the file
    notes: tuple[str, ...] = field(default=(), compare=False)  # how a file in another shape was read
    # labels of the hierarchy as it was computed, and what the run calls these nodes (`runs/naming.py`)
    names: Mapping[str, str] = field(default_factory=dict, compare=False)


class Hierarchy:
    """A rooted tree; unequal depth is allowed.

    Nodes are numbered in item order: the leaves 0..n_leaves-1 (numeric if all are integers, else by code
    point), then the inner nodes in order of their smallest leaf, deeper first. So comparing ids decides every
    tie. Two trees are equal if their labels and links are.

    Attributes
    ----------
    labels : tuple of str
        Label of each node.
    n_leaves, n_nodes : int
        Number of leaves, of all nodes.
    root : int
        The root (a leaf only where there is a single node).
    parent : int32 (n_nodes,), read-only
        Parent of each node, -1 for the root.
    depth : int32 (n_nodes,), read-only
        Edges from the root.
    low, high : int32 (n_nodes,), read-only
        The leaves under node v stand at positions ``low[v]:high[v]`` of `leaf_order`.
    leaf_order : int32 (n_leaves,), read-only
        Leaves in depth-first order, children in item order.
    origin : HierarchyOrigin or None
        Where it comes from, if that is known. Equal trees may have different ones.

    Examples
    --------
    >>> tree = Hierarchy({"tea": "drinks", "milk": "drinks", "drinks": None})
    >>> tree, tree.paths()
    (Hierarchy: 2 leaves, 3 nodes, height 1, [['milk', 'drinks'], ['tea', 'drinks']])
    """

    def __init__(self, parents: Mapping[str, str | None]) -> None:
        """Make a tree from each node's parent (None for the root); the mapping must be a tree.

        Readers check what a file holds and name every problem; use `from_paths` for data of your own.
        """
        self.origin: HierarchyOrigin | None = None
        self.added: frozenset[str] = frozenset()  # leaves that are there only because rows have them
        _require_texts(parents)
        has_child = set(parents.values())
        if unknown := sorted(up for up in has_child if up is not None and up not in parents):
            raise HierarchyError(f"{len(unknown)} parents are not nodes themselves: {listed(unknown)}.")
        children: dict[str, list[str]] = {}
        for node, up in parents.items():
            if up is not None:
                children.setdefault(up, []).append(node)
        roots = [node for node, up in parents.items() if up is None]
        if len(roots) != 1:
            raise HierarchyError(f"A hierarchy has one root, found {len(roots)}: {listed(roots)}.")
        leaves = item_order(node for node in parents if node not in has_child)
        rank = {leaf: i for i, leaf in enumerate(leaves)}

        # Smallest leaf and depth of every node, from the top down and back up again.
        order = [roots[0]]
        depth = {roots[0]: 0}
        for node in order:
            for child in children.get(node, ()):
                depth[child] = depth[node] + 1
                order.append(child)
        if len(order) != len(parents):
            lost = sorted(set(parents) - set(order))
            raise HierarchyError(f"{len(lost)} nodes do not lead to the root (a cycle): {listed(lost)}.")
        smallest = dict(rank)
        for node in reversed(order):
            if node not in smallest:
                smallest[node] = min(smallest[child] for child in children[node])
        inner = sorted((n for n in parents if n in has_child), key=lambda n: (smallest[n], -depth[n]))

        self.labels: tuple[str, ...] = (*leaves, *inner)
        self.n_leaves = len(leaves)
        self.n_nodes = len(self.labels)
        self._ids = {label: i for i, label in enumerate(self.labels)}
        self.root = self._ids[roots[0]]
        parent = [-1 if (up := parents[label]) is None else self._ids[up] for label in self.labels]
        self.parent: NDArray[np.int32] = frozen(np.array(parent, np.int32), np.int32)
        depths = np.array([depth[label] for label in self.labels], np.int32)
        self.depth: NDArray[np.int32] = frozen(depths, np.int32)

        # Not by id: leaves come before inner nodes only by number.
        childless: list[int] = []  # one for all leaves: so many lists take long to make
        self._children: list[list[int]] = [childless] * self.n_leaves + [[] for _ in inner]
        first = [*range(self.n_leaves), *(smallest[label] for label in inner)]
        for v in sorted(range(self.n_nodes), key=first.__getitem__):
            if parent[v] >= 0:
                self._children[parent[v]].append(v)
        low, high, leaf_order = _spans(self._children, self.n_leaves, self.root)
        self.low: NDArray[np.int32] = frozen(np.array(low, np.int32), np.int32)
        self.high: NDArray[np.int32] = frozen(np.array(high, np.int32), np.int32)
        self.leaf_order: NDArray[np.int32] = frozen(np.array(leaf_order, np.int32), np.int32)

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]]) -> Hierarchy:
        """Make a tree from one path per leaf, leaf first, root last; a label repeated in a row is one node.

        Examples
        --------
        >>> tree = Hierarchy.from_paths([["apple", "fruit", "*"], ["pear", "fruit", "*"], ["soap", "*"]])
        >>> tree.labels, tree.n_leaves
        (('apple', 'pear', 'soap', 'fruit', '*'), 3)
        """
        parents: dict[str, str | None] = {}
        require_type("A hierarchy is made of lists, one per leaf", paths, Iterable)
        for path in paths:
            if isinstance(path, str):
                raise RequestError(f"A path of a hierarchy must be a list of nodes, got {described(path)}.")
            require_type("A path of a hierarchy must be a list of nodes", path, Sequence)
            for i, node in enumerate(path):
                require_type("A node of a hierarchy must be a text", node, str)
                up = path[i + 1] if i + 1 < len(path) else None
                if up == node:
                    continue
                if parents.setdefault(node, up) != up:
                    raise HierarchyError(f"{node!r} has two parents: {parents[node]!r} and {up!r}.")
        return cls(parents)

    @classmethod
    def balanced(
        cls, data: Transactions, fanout: int = 5, *, common: int = 0, order: str = "support", seed: int = 0
    ) -> Hierarchy:
        """Group each `fanout` consecutive nodes level by level (see `setveil.rows.hierarchy.build.balanced`).

        Examples
        --------
        >>> Hierarchy.balanced(Transactions.from_rows([["a", "b", "c"], ["d"]]), fanout=2)
        Hierarchy: 4 leaves, 7 nodes, height 2
        """
        require_type("The data must be Transactions", data, Transactions, hint="setveil.read makes them.")
        require_type("The fan-out must be an integer", fanout, Integral)
        return cls(balanced_parents(data, fanout, common, order, seed))

    def id(self, label: str) -> int:
        """Find the number of the node with this label (KeyError if there is none)."""
        return self._ids[label]

    def __contains__(self, label: object) -> bool:
        return label in self._ids

    @property
    def leaf_counts(self) -> NDArray[np.int64]:
        """Number of leaves under each node: int64 (n_nodes,)."""
        return self.high.astype(np.int64) - self.low

    @property
    def domain(self) -> int:
        """How many items there are."""
        return self.n_leaves

    @property
    def spread(self) -> tuple[NDArray[np.int64], int]:
        """What NCP charges for each inner node, and for leaving an item out: how many items it may be."""
        return self.leaf_counts, self.domain

    @property
    def lost(self) -> NDArray[np.int64]:
        """What publishing an item as each node loses by LM, in parts of `most_lost`: int64 (n_nodes,)."""
        return self.leaf_counts - 1

    @property
    def most_lost(self) -> int:
        """What leaving an item out loses by LM."""
        return max(self.n_leaves - 1, 1)

    @property
    def as_boxes(self) -> Any:
        """The same tree if its nodes are boxes of facts (see `setveil.rows.hierarchy.boxes`); else None."""
        return None

    @property
    def n_columns(self) -> int:
        """Number of columns whose items are leaves: of several, the root is above all and never published."""
        return 1

    @property
    def column_nodes(self) -> list[NDArray[np.int32]]:
        """The nodes of each column of items, leaves first: a list of int32."""
        return [np.arange(self.n_nodes, dtype=np.int32)]

    @property
    def domains(self) -> NDArray[np.int64]:
        """How many items there are in the column of each node: int64 (n_nodes,)."""
        return np.full(self.n_nodes, self.domain, np.int64)

    @property
    def height(self) -> int:
        """Edges on the longest path from the root to a leaf."""
        return int(self.depth.max())

    def children(self, node: int) -> Sequence[int]:
        """Children of a node, ordered by their smallest leaf."""
        return self._children[node]

    def ancestors(self, node: int) -> list[int]:
        """Proper ancestors of a node, nearest first; the root last."""
        out = []
        while (node := int(self.parent[node])) >= 0:
            out.append(node)
        return out

    def under(self, node: int) -> NDArray[np.int32]:
        """Leaves under a node (a leaf: itself), in tree order: int32, a view."""
        return self.leaf_order[self.low[node] : self.high[node]]

    def leaves(self, node: int) -> list[int]:
        """Leaves under a node (a leaf: itself), in item order."""
        return sorted(self.under(node).tolist())

    def derived(self, parents: Mapping[str, str | None], added: Iterable[str] = ()) -> Hierarchy:
        """Make a tree of other links; its leaves that were added, here or now, stay known as added."""
        made = Hierarchy(parents)
        made.added = self.added.union(added).intersection(made.labels[: made.n_leaves])
        return made

    def merged(self) -> Hierarchy:
        """Merge inner nodes that have a single child with it; the child's label stays.

        Examples
        --------
        >>> tree = Hierarchy.from_paths([["tea", "hot", "drinks", "*"], ["milk", "drinks", "*"]])
        >>> tree.merged().paths()
        [['milk', 'drinks'], ['tea', 'drinks']]
        """
        if not any(len(below) == 1 for below in self._children):
            return self
        parents: dict[str, str | None] = {}
        for v in range(self.n_nodes):
            if len(self._children[v]) != 1:
                above = (u for u in self.ancestors(v) if len(self._children[u]) != 1)
                up = next(above, None)
                parents[self.labels[v]] = None if up is None else self.labels[up]
        made = self.derived(parents)
        made.origin = self.origin
        return made

    def relabelled(self, names: Mapping[str, str]) -> Self:
        """Give nodes that are no items other labels; nothing else changes.

        Examples
        --------
        >>> tree = Hierarchy.from_paths([["tea", "hot", "*"], ["milk", "*"]])
        >>> tree.relabelled({"hot": "warm"}).paths()
        [['milk', '*'], ['tea', 'warm', '*']]
        """
        again = copy(self)
        inner = [names.get(label, label) for label in self.labels[self.n_leaves :]]
        again.labels = (*self.labels[: self.n_leaves], *inner)
        again._ids = {label: i for i, label in enumerate(again.labels)}
        if len(again._ids) < self.n_nodes:
            raise HierarchyError("Two nodes of a hierarchy have the same label.")
        return again

    def covers(self, upper: int, lower: int) -> bool:
        """Whether `upper` is `lower` or one of its ancestors."""
        return lower == upper or upper in self.ancestors(lower)

    def locate(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """Leaf of every item of the data: int32 (n_items,).

        Raises
        ------
        HierarchyError
            If items of the data are inner nodes.
        MissingItemsError
            If items of the data are not in the hierarchy: how many, the first few, and what adds them.
        """
        labels = vocabulary.labels
        out = np.fromiter(map(self._ids.get, labels, repeat(-1)), np.int32, len(vocabulary))
        inner = [labels[i] for i in np.flatnonzero(out >= self.n_leaves).tolist()]
        if inner:
            raise HierarchyError(
                f"{len(inner):,} items of the data are inner nodes of the hierarchy, not leaves: "
                f"{listed(inner)}.",
                hint="Give the inner nodes labels of their own; every item must be a leaf.",
                problems=[f"item {label!r} is an inner node" for label in inner],
            )
        missing = [labels[i] for i in np.flatnonzero(out < 0).tolist()]
        if missing:
            such, hint = _other_writing(missing, self.labels[: self.n_leaves])
            error = MissingItemsError(
                f"{len(missing):,} of {len(vocabulary):,} items of the data are not in the hierarchy: "
                f"{listed(missing)}.{such}",
                hint=hint or f"{faces(_EXTEND, _EXTEND_IN_PYTHON)} {BELOW_ONE_NODE}",
                problems=[f"item {label!r} is not in the hierarchy" for label in missing],
            )
            error.hierarchy = self.origin.path if self.origin else None
            raise error
        return out

    def paths(self) -> list[list[str]]:
        """One path per leaf, leaf first and root last, in tree order (the leaves of a node together)."""
        return [
            [self.labels[leaf], *(self.labels[v] for v in self.ancestors(leaf))]
            for leaf in self.leaf_order.tolist()
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.parent, other.parent)

    def __hash__(self) -> int:
        return hash((self.labels, self.parent.tobytes()))

    def __repr__(self) -> str:
        leaves, nodes = count(self.n_leaves, "leaf", "leaves"), count(self.n_nodes, "node")
        return f"Hierarchy: {leaves}, {nodes}, height {self.height}"

    def _repr_html_(self) -> str:
        from setveil.base.notebook import ROWS, card

        below = [
            (self.labels[node], count(int(self.high[node] - self.low[node]), "leaf", "leaves"))
            for node in self.children(self.root)
        ]
        more = len(below) - ROWS
        return card(repr(self), below[:ROWS], f"and {more:,} more below the root" if more > 0 else "")


def _other_writing(missing: Sequence[str], leaves: Sequence[str]) -> tuple[str, str]:
    """Say which missing items are leaves in another encoding or spelling, and what to do; empty: none are."""
    if wrong := misread(missing, leaves):
        label, meant, encoding = wrong
        return (
            f" {shorten(label)} is {shorten(meant)}, whose file is in UTF-8 and was read as {encoding}.",
            "Read that file as UTF-8.",
        )
    if others := spelled_otherwise(missing, leaves):
        item, leaf = others[0]
        how = normalization(others)
        several = count(len(others), "of them is another spelling", "of them are other spellings")
        return (
            f" {several} of items in it, such as {shorten(item)} of {shorten(leaf)}.",
            faces(f"Add --normalize {how}", f"Read with normalize='{how}'")
            + ", it makes spellings one item.",
        )
    return "", ""


def _require_texts(parents: Mapping[str, str | None]) -> None:
    """Refuse links that are no mapping of texts to texts or None."""
    hint = "Hierarchy.from_paths takes one list per leaf: the leaf, its parent, ..., the root."
    require_type("A hierarchy is made of a mapping of nodes to parents", parents, Mapping, hint=hint)
    for node, above in parents.items():
        if isinstance(node, str) and (above is None or isinstance(above, str)):
            continue
        require_type("A node of a hierarchy must be a text", node, str)
        require_type(f"The parent of {shorten(node)} must be a text or None", above, (str, type(None)))
    if "" in parents:
        raise HierarchyError("A hierarchy has a node without a label.")


def _spans(
    children: Sequence[Sequence[int]], n_leaves: int, root: int
) -> tuple[list[int], list[int], list[int]]:
    """Walk the tree depth first: the leaves in this order, and where those of each node begin and end."""
    low, high = [0] * len(children), [0] * len(children)
    leaf_order: list[int] = []
    stack = [(root, False)]
    while stack:
        v, done = stack.pop()
        if done:
            high[v] = len(leaf_order)
            continue
        low[v] = len(leaf_order)
        if v < n_leaves:
            leaf_order.append(v)
            high[v] = len(leaf_order)
        else:
            stack.append((v, True))
            stack.extend((child, False) for child in reversed(children[v]))
    return low, high, leaf_order
