"""New groups below those of a hierarchy that people know: by support, or of items that occur together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.kernels.rows import Ids, Ints, recode_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy._cooccurrence import similar_items
from setveil.rows.hierarchy._levels import unused
from setveil.rows.hierarchy.tree import Hierarchy

Way: TypeAlias = Literal["support", "company"]
Nest: TypeAlias = "str | list[Nest]"
"""An item, or a group of items and groups."""

MOST_ALIKE = 3000  # items of a group, beyond which all their pairs would take too much memory
_PART = 3  # characters that names share at least, if a group is called by them


@dataclass(frozen=True)
class Regrouping:
    """How the items below a group are grouped again."""

    way: Way
    size: int  # members of a new group

    def __str__(self) -> str:
        return f"{self.way}, {self.size}"


def groups_within(tree: Hierarchy, level: int) -> list[int]:
    """List the groups that stay: those at a depth below the root, 0 for the root itself.

    >>> tree = Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["soap", "*"]])
    >>> [tree.labels[node] for node in groups_within(tree, 1)]
    ['hot']
    """
    found = [v for v in range(tree.n_leaves, tree.n_nodes) if tree.depth[v] == level]
    if level < 0 or not found:
        deepest = int(tree.depth[tree.n_leaves :].max(initial=0))
        raise RequestError(
            f"--within {level} names no groups, expected a level from 0 (the root) to {deepest}.",
            hint="1 keeps the groups below the root, such as chapters or departments.",
        )
    return found


class Grouper:
    """Groups items by their rows; items of the hierarchy that are in no row have the support 0."""

    def __init__(self, data: Transactions, tree: Hierarchy) -> None:
        self._data = data
        self._leaf = tree.locate(data.vocabulary)
        self._tree = tree
        self.supports: NDArray[np.int64] = np.zeros(tree.n_leaves, np.int64)
        self.supports[self._leaf] = data.supports()

    def grouped(self, node: int, how: Regrouping) -> list[Nest]:
        """Group the items below a node, level by level until at most as many are left as a group may have.

        By support, items of about equal support are together. By company, each group begins with the rarest
        free item, and takes those that are on average most similar to its items (the share of rows with both,
        of the geometric mean of their supports); ties go to the rarer item, then in order.
        """
        leaves = self._tree.leaves(node)
        if how.way == "support":
            ranked = sorted(leaves, key=lambda leaf: (self.supports[leaf], leaf))
            nests: list[Nest] = [self._tree.labels[leaf] for leaf in ranked]
            while len(nests) > how.size:
                nests = [_one(nests[at : at + how.size]) for at in range(0, len(nests), how.size)]
            return nests
        image = np.full(self._tree.n_leaves, -1, np.int32)
        image[leaves] = np.arange(len(leaves))
        rows = recode_rows(self._data.indptr, self._data.items, image[self._leaf])
        nests = [self._tree.labels[leaf] for leaf in leaves]
        while len(nests) > how.size:
            members = _in_company(*rows, len(nests), how.size)
            onto = np.empty(len(nests), np.int32)
            for group, places in enumerate(members):
                onto[places] = group
            rows = recode_rows(*rows, onto)
            nests = [_one([nests[place] for place in places]) for places in members]
        return nests


def _one(members: list[Nest]) -> Nest:
    return members if len(members) > 1 else members[0]


def _in_company(indptr: Ints, items: Ids, n: int, size: int) -> list[list[int]]:
    """Group nodes that occur together, the rarest first; in the order of the first of each group."""
    supports: Ints = np.bincount(items, minlength=n).astype(np.int64)
    alike = np.zeros((n, n))
    partner, value = similar_items(indptr, items, np.ones(indptr.size - 1, np.int64), n, n - 1)
    for x in range(n):
        known = partner[x] >= 0
        alike[x, partner[x, known]] = np.sqrt(value[x, known])
    ranked = sorted(range(n), key=lambda x: (supports[x], x))
    alike = alike[np.ix_(ranked, ranked)]
    free = np.ones(n, bool)
    groups = []
    for first in range(n):
        if not free[first]:
            continue
        group, free[first] = [first], False
        likeness = alike[first].copy()  # to all in the group together: as good as their mean
        while len(group) < size and free.any():
            best = int(np.argmax(np.where(free, likeness, -1.0)))
            group.append(best)
            free[best] = False
            likeness += alike[best]
        groups.append([ranked[place] for place in group])
    return groups


def regrouped(
    tree: Hierarchy,
    plan: Mapping[int, Sequence[Nest]],
    supports: Ints,
    called: Mapping[str, str] | None = None,
) -> Hierarchy:
    """Replace the groups below some nodes of a hierarchy.

    `plan`: all items of each such node, in new groups. `supports`: int64 (n_leaves,), rows of each item: the
    most frequent name a group. `called`: names of items, for the names of groups.
    """
    below = {leaf for node in plan for leaf in tree.under(node).tolist()}
    gone = {v for leaf in below for v in _between(tree, leaf, plan)}
    parents: dict[str, str | None] = {
        tree.labels[v]: tree.labels[tree.parent[v]] if tree.parent[v] >= 0 else None
        for v in range(tree.n_nodes)
        if v not in gone
    }
    namer = _Namer(tree, supports, called or {}, set(parents))
    for node, nests in plan.items():
        namer.enter(node)
        for nest in nests:
            _hang(nest, tree.labels[node], parents, namer)
    return tree.derived(parents)


def _between(tree: Hierarchy, leaf: int, plan: Mapping[int, object]) -> Iterator[int]:
    for v in tree.ancestors(leaf):
        if v in plan:
            return
        yield v


def _hang(nest: Nest, above: str, parents: dict[str, str | None], namer: _Namer) -> None:
    if isinstance(nest, str):
        parents[nest] = above
        return
    name = namer.name(_items(nest))
    parents[name] = above
    for part in nest:
        _hang(part, name, parents, namer)


def _items(nest: Nest) -> list[str]:
    return [nest] if isinstance(nest, str) else [item for part in nest for item in _items(part)]


class _Namer:
    """Names groups by what is in them: by what only they share, or by their most frequent items."""

    def __init__(self, tree: Hierarchy, supports: Ints, called: Mapping[str, str], taken: set[str]) -> None:
        self._tree, self._taken = tree, taken
        self._name = {label: called.get(label, label) for label in tree.labels[: tree.n_leaves]}
        self._taken |= set(self._name.values())
        ranked = sorted(range(tree.n_leaves), key=lambda leaf: (-supports[leaf], leaf))
        self._rank = {tree.labels[leaf]: at for at, leaf in enumerate(ranked)}
        self._inside: list[str] = []
        self._before = ""

    def enter(self, node: int) -> None:
        """Name groups below this node from now on."""
        self._inside = [self._tree.labels[leaf] for leaf in self._tree.leaves(node)]
        self._before = "" if node == self._tree.root else f"{self._tree.labels[node]}: "

    def name(self, items: Sequence[str]) -> str:
        """Name a group so that no other node has the name."""
        names = [self._name[item] for item in sorted(items, key=self._rank.__getitem__)]
        name = self._whole(common_part(names), items)
        for shown in range(2, len(names) + 1):
            if name and name not in self._taken:
                break
            more = f" +{len(names) - shown}" if len(names) > shown else ""
            name = self._whole(", ".join(names[:shown]) + more, ())
        name = unused(name, self._taken)
        self._taken.add(name)
        return name

    def _whole(self, text: str, items: Sequence[str]) -> str:
        """Put the name of the chapter before a name; "" if it would mean others of its items, too."""
        if items and (
            not text or any(_has(self._name[x], text) for x in self._inside if x not in set(items))
        ):
            return ""
        return text if self._before[:-2] and self._before[:-2] in text else self._before + text


def _has(name: str, part: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}", name) is not None


def common_part(names: Sequence[str]) -> str:
    """Find what names share: the beginning of codes, or whole words.

    >>> common_part(["250.01", "250.83"]), common_part(["whole milk", "butter milk"]), common_part(["a", "b"])
    ('250', 'milk', '')
    """
    first = names[0]
    length = next(
        (at for at, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1),
        min(map(len, names)),
    )
    begins = first[:length].rstrip(" .,;:-/(")
    is_code = any(sign.isdigit() for sign in begins) and " " not in first
    ends = all(len(name) == length or not name[length - 1 : length + 1].isalnum() for name in names)
    if len(begins) >= _PART and (is_code or ends):
        return begins
    words = [name.split() for name in names]
    for size in range(len(words[0]), 0, -1):
        for at in range(len(words[0]) - size + 1):
            run = words[0][at : at + size]
            if len(" ".join(run)) >= _PART and all(_holds(other, run) for other in words[1:]):
                return " ".join(run)
    return ""


def _holds(words: Sequence[str], run: Sequence[str]) -> bool:
    return any(words[at : at + len(run)] == list(run) for at in range(len(words) - len(run) + 1))
