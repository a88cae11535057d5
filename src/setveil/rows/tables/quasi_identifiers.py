"""Quasi-identifiers: columns of a table whose values someone may know.

Values, nodes and losses are integers, so that every comparison is exact. Values are numbered in the leaf
order of the column's hierarchy; without one, numeric values by size. So the rows of a part show an interval
of numbers, which alone decides the label under which they are published together, and its loss.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, listed, shorten
from setveil.base.wording import are, count
from setveil.kernels.rows import frozen
from setveil.rows.data.vocabulary import item_order

ANY = "*"  # the label above all values
MISSING = ""  # the value of an empty field
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)
_RANGE = re.compile(r"[\[(]([^,\])]+),([^,\])]+)[\])]")
_SIGNS = {"<=": ("", "]"), ">=": ("[", ""), "<": ("", ")"), ">": ("(", "")}  # ranges that are open at one end
_EXACT = 1 << 62  # sums of losses up to here are counted in 64 bits

Parents = Mapping[str, "str | None"]  # each node's parent, None for the root


@dataclass(frozen=True, eq=False)
class QuasiIdentifier:
    """A column whose values someone may know.

    Make one with `quasi_identifier`. Nodes 0..n_values-1 are the values, in the leaf order of the hierarchy
    (a missing value first); the inner nodes follow by their first value, deeper ones first.
    """

    name: str  # of the column
    numeric: bool  # whether the values are numbers
    weight: Fraction  # how much its loss counts, above 0
    codes: NDArray[np.int32]  # int32 (n_rows,), read-only: the value of each row
    labels: tuple[str, ...]  # of the nodes; the missing value is ""
    # number of values: all leaves of the hierarchy, whether or not they occur; without one, those that occur
    n_values: int
    # int32 (n_values,), read-only: canonical order of the values: missing first, numbers by size, else the
    # leaf order
    rank: NDArray[np.int32]
    # int32 (n_nodes,), read-only, or None: of each node, -1 for the root; None for a numeric column without a
    # hierarchy, published as ranges
    parent: NDArray[np.int32] | None
    # low, high: int32 (n_nodes,), read-only: node v stands for the values ``low[v]:high[v]``
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    # int64 or object (n_nodes,), read-only: Loss of publishing each node: ``extent / full`` is its NCP. Of a
    # column of ranges: the position of each value, whose difference is the loss of a range.
    extent: NDArray[np.int64]
    full: int  # loss of the root or of the widest range; 0 if nothing can be lost
    has_own_tree: bool = (
        False  # whether its hierarchy says nothing of the data, because it was not made of them
    )
    cells: tuple[Any, ...] = ()  # of values that were put together, the ends of each (see `tables.ends`)
    fine: QuasiIdentifier | None = None  # the column as it was before
    width: Fraction | None = None  # of usual ranges, by the numbers that k rows reach
    bounds: tuple[Fraction, Fraction] | None = None  # declared ones, between which all values lie
    spans: tuple[Any, ...] = ()  # int32 (n_values,) each: the first and the last of its values in each cell

    @property
    def role(self) -> str:
        """The role of the column, in words."""
        return f"someone may know it ({'numbers' if self.numeric else 'categories'})"

    @property
    def missing(self) -> bool:
        """Whether value 0 is the missing one."""
        return self.n_values > 0 and self.labels[0] == MISSING

    @cached_property
    def levels(self) -> int:
        """How many steps lead from a value to the root at most; 0 without a hierarchy."""
        if self.parent is None:
            return 0
        nodes: Any = np.arange(self.n_values)
        found = 0
        while (nodes := self.parent[nodes[self.parent[nodes] >= 0]]).size:
            found += 1
        return found

    @cached_property
    def integers(self) -> bool:
        """Whether the column is numeric and holds integers only."""
        values = self.labels[int(self.missing) : self.n_values]
        return self.numeric and all(Fraction(value).denominator == 1 for value in values)

    def node_above(self, least: NDArray[np.integer], greatest: NDArray[np.integer]) -> NDArray[np.int32]:
        """Find the lowest node above each interval from a first to a last value; needs a hierarchy."""
        parent: Any = self.parent
        node = np.asarray(least, np.int32).copy()
        wanting = np.flatnonzero(self.high[node] <= greatest)
        while wanting.size:
            node[wanting] = parent[node[wanting]]
            wanting = wanting[self.high[node[wanting]] <= greatest[wanting]]
        return node

    @property
    def positions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each value of a column of ranges begins and where it ends, whose difference is a loss."""
        if self.fine is None:
            return self.extent, self.extent
        return self.fine.extent[self.spans[0]], self.extent

    def loss_of(self, least: NDArray[np.integer], greatest: NDArray[np.integer]) -> NDArray[np.int64]:
        """Compute the loss of publishing each interval of values under one label: an integer up to `full`."""
        if self.parent is not None:
            of_node: NDArray[np.int64] = self.extent[self.node_above(least, greatest)]
            return of_node
        begins, ends = self.positions
        loss: NDArray[np.int64] = ends[greatest] - begins[least]
        if self.missing:
            loss = np.where((np.asarray(least) == 0) & (np.asarray(greatest) > 0), self.full, loss)
        return loss

    def label_of(self, least: int, greatest: int) -> str:
        """Name the label under which an interval of values is published."""
        if least == greatest:
            return self.labels[least]
        if self.parent is not None:
            return self.labels[int(self.node_above(np.array([least]), np.array([greatest]))[0])]
        if self.missing and least == 0:
            return ANY
        if self.cells:
            return str(self.cells[least].label(self.cells[greatest]))
        return f"[{self.labels[least]},{self.labels[greatest]}]"

    def interval_of(self, label: str) -> tuple[int, int] | None:
        """Find the least and the greatest value that a published label represents; None if it is none."""
        if label in self._ids:
            node = self._ids[label]
            return int(self.low[node]), int(self.high[node]) - 1
        if self.parent is None and label == ANY:
            return 0, self.n_values - 1
        ends = range_in(label) if self.parent is None else None
        if ends is None:
            return None
        low, high = ends
        at = self._numbers
        start = 0 if not low else (bisect_left if low[0] == "[" else bisect_right)(at, Fraction(low[1:]))
        end = (
            len(at)
            if not high
            else (bisect_right if high[-1] == "]" else bisect_left)(at, Fraction(high[:-1]))
        )
        first = int(self.missing)
        return (first + start, first + end - 1) if start < end else None

    @cached_property
    def _numbers(self) -> list[Fraction]:
        """The numbers of a column of ranges, which are numbered by size."""
        return [Fraction(label) for label in self.labels[int(self.missing) : self.n_values]]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {label: v for v, label in enumerate(self.labels)}

    def taken(self, rows: NDArray[np.integer]) -> QuasiIdentifier:
        """Return the column of some rows; values, labels and losses stay."""
        return QuasiIdentifier(
            self.name, self.numeric, self.weight, frozen(self.codes[rows], np.int32), self.labels,
            self.n_values, self.rank, self.parent, self.low, self.high, self.extent, self.full,
            self.has_own_tree, self.cells, None if self.fine is None else self.fine.taken(rows),
            self.width, self.bounds, self.spans,
        )  # fmt: skip


def range_in(label: str) -> tuple[str, str] | None:
    """Read the two ends of a range of numbers, each with its bracket, "" where it is open; None: it is none.

    >>> range_in("[34,47]"), range_in("(34,40)"), range_in(">=25"), range_in("<25"), range_in("F")
    (('[34', '47]'), ('(34', '40)'), ('[25', ''), ('', '25)'), None)
    """
    found = _RANGE.fullmatch(label)
    if found and all(NUMBER.fullmatch(end) for end in found.groups()):
        return f"{label[0]}{found[1]}", f"{found[2]}{label[-1]}"
    sign = next((sign for sign in _SIGNS if label.startswith(sign)), "")
    if not sign or not NUMBER.fullmatch(label[len(sign) :]):
        return None
    low, high = _SIGNS[sign]
    return (f"{low}{label[len(sign) :]}", "") if low else ("", f"{label[len(sign) :]}{high}")


def quasi_identifier(
    name: str,
    codes: NDArray[np.integer],
    texts: Sequence[str],
    *,
    numeric: bool = False,
    parents: Parents | None = None,
    weight: Fraction | int = 1,
    built: bool = False,
    place: Callable[[int], str] = "row {}".format,
) -> QuasiIdentifier:
    """Make a quasi-identifier from the values of a table.

    `codes`: integer (n_rows,), positions in `texts`, where "" is a missing value and not all need to occur.
    `numeric`: decimal numbers, where 7 equals 7.0. `parents`: of each node of a hierarchy; without one,
    numbers are published as ranges, other values under ``*``. `weight`: of its loss. `built`: the hierarchy
    was built from the column's values. `place`: names a row, for messages.
    """
    used = np.zeros(len(texts), bool)
    used[codes] = True
    present = [text for text, u in zip(texts, used.tolist(), strict=True) if u]
    numbers: dict[str, Fraction] = {}
    if numeric:
        wrong = [at for at, text in enumerate(texts) if used[at] and text and not NUMBER.fullmatch(text)]
        if wrong:
            row = int(np.flatnonzero(np.isin(codes, wrong))[0])
            more = int(np.isin(codes, wrong).sum()) - 1
            like_it = f"; {count(more, 'more row')} like it" if more else ""
            raise DataError(
                f"{place(row)}: column {shorten(name)} contains {shorten(texts[int(codes[row])])}, expected "
                f"a decimal number such as 7 or -1.5{like_it}.",
                hint="Correct such values, or say that the column is categorical or to be dropped.",
            )
        numbers = {text: Fraction(text) for text in {*present, *_leaves(parents)} if NUMBER.fullmatch(text)}
    tree = None if numeric and parents is None else _tree(name, present, numbers, numeric, parents)
    labels = _ranges(present, numbers) if tree is None else tree[0]
    n_values = len(labels) if tree is None else tree[1]
    position = {numbers.get(label, label): at for at, label in enumerate(labels[:n_values])}
    image = np.array([position.get(numbers.get(text, text), -1) for text in texts], np.int32)
    values: list[Fraction | None] = [numbers.get(label) for label in labels[:n_values]]
    low, high, parent = _spans(n_values) if tree is None else tree[2:]
    extent, full = _extents(values, low, high, numeric=numeric, ranges=parent is None)
    rank = np.arange(n_values)
    if numeric:
        by_size = sorted(range(n_values), key=lambda v: (values[v] is not None, values[v] or 0))
        rank[by_size] = np.arange(n_values)
    return QuasiIdentifier(
        name, numeric, Fraction(weight), frozen(image[codes], np.int32), tuple(labels), n_values,
        frozen(rank, np.int32), parent, low, high, extent, full, parents is not None and not built,
    )  # fmt: skip


def _leaves(parents: Parents | None) -> list[str]:
    if parents is None:
        return []
    inner = set(parents.values())
    return [node for node in parents if node not in inner]


def _ranges(present: Sequence[str], numbers: Mapping[str, Fraction]) -> list[str]:
    """List the values of a numeric column without hierarchy."""
    texts = shortest_texts(numbers)
    return [MISSING] * (MISSING in present) + [texts[number] for number in sorted(texts)]


def shortest_texts(numbers: Mapping[str, Fraction]) -> dict[Fraction, str]:
    """Choose for each number the shortest of its texts: 7 and 7.0 are one value, written 7."""
    texts: dict[Fraction, str] = {}
    for text in sorted(numbers, key=lambda text: (len(text), text)):
        texts.setdefault(numbers[text], text)
    return texts


def _spans(n: int) -> tuple[NDArray[np.int32], NDArray[np.int32], None]:
    each = np.arange(n)
    return frozen(each, np.int32), frozen(each + 1, np.int32), None


def _links(
    name: str, present: Sequence[str], numbers: Mapping[str, Fraction], parents: Parents | None
) -> dict[str, str | None]:
    """Name the parent of each node of a hierarchy that has a place for all values, the missing one too."""
    if parents is None:
        if ANY in present:
            raise DataError(
                f"Column {shorten(name)} contains the value {ANY}, the label that represents all values.",
                hint="Give the column a hierarchy with another label at the root, or another value.",
            )
        return dict.fromkeys(present, ANY) | {ANY: None}
    links: dict[str, str | None] = dict(parents)
    root = next(node for node, up in links.items() if up is None)
    leaves = _leaves(links)
    values = [numbers.get(leaf, leaf) for leaf in leaves]
    known = set(values)
    if len(known) < len(values):
        double = [leaf for leaf, value in zip(leaves, values, strict=True) if values.count(value) > 1]
        raise DataError(
            f"The hierarchy of column {shorten(name)} has several leaves for one number: {listed(double)}.",
            hint="Write each number once.",
        )
    lacking = sorted(text for text in present if text and numbers.get(text, text) not in known)
    if lacking:
        raise DataError(
            f"{count(len(lacking), 'value')} of column {shorten(name)} {are(len(lacking))} not in its "
            f"hierarchy: {listed(lacking)}.",
            hint="Add them as leaves; every value must be one.",
        )
    if MISSING in present and MISSING not in links:
        if root in leaves:  # a single value, which cannot stand above another
            raise DataError(
                f"The hierarchy of column {shorten(name)} is a single node, {shorten(root)}, and rows "
                "without a value have no place in it.",
                hint="Give it a root above the value.",
            )
        links[MISSING] = root
    return links


def _tree(
    name: str,
    present: Sequence[str],
    numbers: Mapping[str, Fraction],
    numeric: bool,
    parents: Parents | None,
) -> tuple[list[str], int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Arrange a hierarchy: labels, number of values, first and last value and parent of each node."""
    links = _links(name, present, numbers, parents)
    children: dict[str, list[str]] = {}
    for node, up in links.items():
        if up is not None:
            children.setdefault(up, []).append(node)
    leaves = [node for node in links if node not in children]
    if numeric:
        order = sorted(leaves, key=lambda leaf: (leaf != MISSING, numbers.get(leaf, Fraction(0)), leaf))
    else:
        order = [MISSING] * (MISSING in leaves) + item_order(leaf for leaf in leaves if leaf != MISSING)
    first = {leaf: at for at, leaf in enumerate(order)}
    root = next(node for node, up in links.items() if up is None)
    depth, down = {root: 0}, [root]
    for node in down:
        for child in children.get(node, ()):
            depth[child] = depth[node] + 1
            down.append(child)
    for node in reversed(down):
        if node in children:
            first[node] = min(first[child] for child in children[node])
    arranged: list[str] = []
    span: dict[str, tuple[int, int]] = {}
    stack = [(root, -1)]
    while stack:
        node, start = stack.pop()
        if start >= 0:
            span[node] = (start, len(arranged))
        elif node in children:
            stack.append((node, len(arranged)))
            below = sorted(children[node], key=lambda child: -first[child])
            stack.extend((child, -1) for child in below)
        else:
            span[node] = (len(arranged), len(arranged) + 1)
            arranged.append(node)
    inner = sorted(children, key=lambda node: (span[node][0], -depth[node]))
    labels = [*arranged, *inner]
    ids = {label: v for v, label in enumerate(labels)}
    ups = [-1 if (up := links[label]) is None else ids[up] for label in labels]
    low, high = zip(*(span[label] for label in labels), strict=True)
    return labels, len(arranged), frozen(low, np.int32), frozen(high, np.int32), frozen(ups, np.int32)


def _extents(
    values: Sequence[Fraction | None],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    *,
    numeric: bool,
    ranges: bool,
) -> tuple[NDArray[np.int64], int]:
    """Compute the loss of each node, or the position of each value, and the greatest loss."""
    if not numeric:
        leaves = high.astype(np.int64) - low
        full = int(leaves.max(initial=0))
        return frozen(np.where(leaves > 1, leaves, 0), np.int64), full if full > 1 else 0
    present = [value for value in values if value is not None]
    if not present:
        return frozen(np.zeros(low.size), np.int64), 0
    scale = lcm(*(value.denominator for value in present))
    least = min(present)
    at = [0 if value is None else int((value - least) * scale) for value in values]
    full = max(at)
    kind: type = np.int64 if full < _EXACT else object
    if full == 0:  # one number: mixing it with missing values loses all there is to lose
        full = 1 if len(values) > len(present) else 0
    if ranges:
        return _read_only(np.array(at, kind)), full
    out = []
    for start, end in zip(low.tolist(), high.tolist(), strict=True):
        inside = [at[v] for v in range(start, end) if values[v] is not None]
        mixed = 0 < len(inside) < end - start
        out.append(full if mixed else max(inside) - min(inside) if inside else 0)
    return _read_only(np.array(out, kind)), full


def _read_only(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.flags.writeable = False
    return values
