"""Product trees: trees of boxes, each split along one part, over items that are made of several parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, HierarchyError, shorten
from setveil.base.values.per_column import ABOVE, labelled
from setveil.kernels.rows import frozen
from setveil.rows.hierarchy.tree import Hierarchy

MOST_BOXES = 1 << 31  # items that the root of a product tree may stand for
FINEST = 1 << 36  # parts of the greatest loss in which losses of several columns are measured, at most
Box = tuple[int, ...]  # a node of the tree of each part
Boxes = Mapping[str, tuple[int, Box]]  # of each label its column and box


@dataclass(frozen=True, eq=False)
class Space:
    """Items that occur, made of parts with a tree each; a box represents all combinations below its nodes."""

    trees: tuple[Hierarchy, ...]
    names: tuple[str, ...]  # of the parts
    leaves: NDArray[np.int32]  # int32 (items, parts): the leaves of the items that occur
    sign: str  # between the parts of a label
    weights: Mapping[str, Fraction] | None = None  # of the parts; None: what a box loses is its volume
    column: str = ""  # the column of these items, whose name stands in labels; empty: there is one column

    def __post_init__(self) -> None:
        number = prod(tree.n_leaves for tree in self.trees)
        if number > MOST_BOXES:
            sizes = " x ".join(f"{tree.n_leaves:,}" for tree in self.trees)
            raise DataError(
                f"{sizes} combinations of {' and '.join(self.names)} are more than 2^31, which cannot be "
                "counted.",
                hint="Publish longer periods, fewer bands, or codes of fewer digits.",
            )
        for name, tree in zip(self.names, self.trees, strict=True):
            wrong = next((label for label in tree.labels if self.sign in label), None)
            if wrong is not None:
                raise HierarchyError(
                    f"The hierarchy of {name}: {shorten(wrong)} contains {self.sign!r}, which stands "
                    "between the parts of a fact.",
                    hint="A hierarchy is one of codes, not of facts; for codes that contain the sign choose "
                    "another: --fact-sign.",
                )

    def label(self, box: Box) -> str:
        """Write a box: its parts with the sign between them."""
        text = self.sign.join(tree.labels[v] for tree, v in zip(self.trees, box, strict=True))
        return labelled(self.column, text) if self.column else text

    def size(self, box: Box) -> int:
        """Count the items that a box represents."""
        return prod(int(tree.high[v] - tree.low[v]) for tree, v in zip(self.trees, box, strict=True))

    @property
    def number(self) -> int:
        """How many items there are, whether or not they occur."""
        return prod(tree.n_leaves for tree in self.trees)


class BoxTree(Hierarchy):
    """A tree of boxes (see `product_tree`), or such trees of several columns side by side (see `forest`).

    `spaces`: for each column, the items and the trees of their parts. `column`: int32 (n_nodes,), read-only,
    the place of each node's column in `spaces`, -1 above the trees of several columns. `boxes`: int32
    (n_nodes, most parts), read-only, the node of each part's tree that makes the box, -1 for parts that the
    column lacks.
    """

    def __init__(self, spaces: Sequence[Space], parents: Mapping[str, str | None], boxes: Boxes) -> None:
        """Take links, and of each node but the one above all its column and its box."""
        super().__init__(parents)
        self.spaces = tuple(spaces)
        width = max(len(space.trees) for space in spaces)
        nothing = -1, (-1,) * width
        found = [boxes.get(label, nothing) for label in self.labels]
        self.column: NDArray[np.int32] = frozen([at for at, _ in found], np.int32)
        padded = [(*box, *(-1,) * (width - len(box))) for _, box in found]
        self.boxes: NDArray[np.int32] = frozen(padded, np.int32)
        sizes = [self.domain if at < 0 else spaces[at].size(box) for at, box in found]
        self._sizes: NDArray[np.int64] = np.array(sizes, np.int64)
        self._lost, self._most = _scaled([self._lost_in(at) for at in range(len(spaces))], self.column)

    @property
    def as_boxes(self) -> BoxTree:
        """Return the tree itself."""
        return self

    def with_spaces(self, spaces: Sequence[Space]) -> BoxTree:
        """Take trees of parts that differ in labels only; boxes of several items are called by these."""
        names = {
            self.labels[v]: spaces[at].label(tuple(self.boxes[v, : len(spaces[at].trees)].tolist()))
            for v, at in enumerate(self.column.tolist())
            if v >= self.n_leaves and at >= 0
        }
        again = self.relabelled(names)
        again.spaces = tuple(spaces)
        return again

    def _lost_in(self, at: int) -> tuple[NDArray[np.int64], int]:
        """Say what publishing an item as each node of its column loses, and what leaving it out does."""
        space, inside = self.spaces[at], self.column == at
        if space.weights is not None:
            return _lost_by_parts(space, self.boxes[inside])
        return self._sizes[inside] - 1, max(space.number - 1, 1)

    @property
    def space(self) -> Space:
        """The items and the trees of their parts, where there is one column."""
        (only,) = self.spaces
        return only

    @property
    def n_columns(self) -> int:
        """Number of columns of items."""
        return len(self.spaces)

    @property
    def column_nodes(self) -> list[NDArray[np.int32]]:
        """The nodes of each column of items, leaves first: a list of int32."""
        return [np.flatnonzero(self.column == at).astype(np.int32) for at in range(self.n_columns)]

    @property
    def leaf_counts(self) -> NDArray[np.int64]:
        """Number of items that each box represents, those that do not occur included: int64 (n_nodes,)."""
        return self._sizes

    @property
    def domain(self) -> int:
        """How many items there are, whether or not they occur."""
        return sum(space.number for space in self.spaces)

    @property
    def domains(self) -> NDArray[np.int64]:
        """How many items there are in the column of each node: int64 (n_nodes,)."""
        return np.array([*(space.number for space in self.spaces), self.domain], np.int64)[self.column]

    @property
    def spread(self) -> tuple[NDArray[np.int64], int]:
        """What NCP charges for each node, and for leaving an item out, each column by its own measure."""
        return _scaled(
            [(self._sizes[self.column == at], space.number) for at, space in enumerate(self.spaces)],
            self.column,
        )

    @property
    def lost(self) -> NDArray[np.int64]:
        """What publishing an item as each node loses, in parts of `most_lost`: int64 (n_nodes,)."""
        return self._lost

    @property
    def most_lost(self) -> int:
        """What leaving an item out loses."""
        return self._most


def _scaled(
    of_columns: Sequence[tuple[NDArray[np.int64], int]], column: NDArray[np.int32]
) -> tuple[NDArray[np.int64], int]:
    """Bring the losses of columns to one scale, so that leaving an item out loses as much in each.

    The node above all columns loses as much. If the common multiple of the scales is beyond `FINEST`, losses
    are rounded down to parts of that; on the way up they do not fall then, either.
    """
    if len(of_columns) == 1:
        return of_columns[0]
    most = min(lcm(*(one for _, one in of_columns)), FINEST)
    out = np.full(column.size, most, np.int64)
    for at, (lost, worst) in enumerate(of_columns):
        out[column == at] = [int(one) * most // worst for one in lost.tolist()]
    return out, most


def _lost_by_parts(space: Space, boxes: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """Add up what each part loses by itself, times its weight, in integers of one scale."""
    parts = [
        (at, tree, Fraction((space.weights or {}).get(name, Fraction(1))))
        for at, (name, tree) in enumerate(zip(space.names, space.trees, strict=True))
        if tree.n_leaves > 1
    ]
    each = [weight / (tree.n_leaves - 1) for _, tree, weight in parts]
    scale = lcm(*(share.denominator for share in each))
    lost = np.zeros(len(boxes), np.int64)
    for (at, tree, _), share in zip(parts, each, strict=True):
        lost += int(share * scale) * (tree.leaf_counts[boxes[:, at]] - 1)
    return lost, max(sum(int(weight * scale) for _, _, weight in parts), 1)


def product_tree(space: Space, line: Collection[int]) -> BoxTree:
    """Make the product tree of a line: nodes of the codes' tree, none above another.

    The first part of `space` is that of the codes, the others are attributes: kept below the line while codes
    become broader, dropped above it. A code with no node of the line above it is its own line. From the root
    down, a box is split along the codes to the line, then along each attribute to single values, then along
    the codes again. Boxes in which nothing occurs are omitted; a box with a single occurring child is merged
    with it.
    """
    trees, leaves = space.trees, space.leaves
    codes = trees[0]
    kept = np.zeros(codes.n_nodes, bool)  # at the line, or below
    kept[: codes.n_leaves] = True
    kept[list(line)] = True
    for v in sorted(range(codes.n_nodes), key=lambda v: int(codes.depth[v])):
        kept[v] |= codes.parent[v] >= 0 and kept[codes.parent[v]]
    kept[codes.root] |= codes.root in line
    down = [_paths(tree) for tree in trees]
    root: Box = tuple(tree.root for tree in trees)
    parents: dict[str, str | None] = {}
    boxes: dict[str, Box] = {}
    stack: list[tuple[Box, NDArray[np.int64], str | None]] = [(root, np.arange(len(leaves)), None)]
    while stack:
        box, inside, above = stack.pop()
        while inside.size > 1:
            at = _split_along(box, trees, kept)
            to = down[at][leaves[inside, at], trees[at].depth[box[at]] + 1]
            if (to[0] != to).any():
                break
            box = (*box[:at], int(to[0]), *box[at + 1 :])
        if inside.size == 1:
            box = tuple(leaves[inside[0]].tolist())
        label = space.label(box)
        parents[label], boxes[label] = above, box
        if inside.size > 1:
            order = np.argsort(to, kind="stable")
            starts = np.flatnonzero(np.diff(to[order], prepend=-1))
            for part in np.split(order, starts[1:]):
                child = (*box[:at], int(to[part[0]]), *box[at + 1 :])
                stack.append((child, inside[part], label))
    return BoxTree([space], parents, {label: (0, box) for label, box in boxes.items()})


def forest(trees: Sequence[BoxTree]) -> BoxTree:
    """Put trees side by side below a node that is never published: a cut that is it leaves items out."""
    if len(trees) == 1:
        return trees[0]
    parents: dict[str, str | None] = {ABOVE: None}
    boxes: dict[str, tuple[int, Box]] = {}
    for at, tree in enumerate(trees):
        for v, label in enumerate(tree.labels):
            parents[label] = ABOVE if v == tree.root else tree.labels[tree.parent[v]]
            boxes[label] = at, tuple(tree.boxes[v].tolist())
    return BoxTree([tree.space for tree in trees], parents, boxes)


def _split_along(box: Box, trees: Sequence[Hierarchy], kept: NDArray[np.bool_]) -> int:
    """Say along which part a box with several items is split."""
    wide = [at for at in range(1, len(trees)) if box[at] >= trees[at].n_leaves]
    return wide[0] if wide and kept[box[0]] else 0


def _paths(tree: Hierarchy) -> NDArray[np.int32]:
    """List the node above each leaf at each depth, the leaf itself where it is not so deep."""
    found = np.empty((tree.n_leaves, tree.height + 2), np.int32)
    found[:] = np.arange(tree.n_leaves)[:, None]
    for leaf in range(tree.n_leaves):
        above = tree.ancestors(leaf)
        found[leaf, : len(above)] = above[::-1]
    return found


def line_at(codes: Hierarchy, depth: int) -> list[int]:
    """List the nodes of the codes' tree at a depth: with the leaves above it, a plain order."""
    return np.flatnonzero(codes.depth == depth).tolist()
