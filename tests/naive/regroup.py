"""New groups below a group, by sorting and by comparing all free nodes; and every plan of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import sqrt

from naive.anonymize import Tree


def items_of(nest: object) -> list[str]:
    return [nest] if isinstance(nest, str) else list(chain.from_iterable(map(items_of, nest)))  # type: ignore[call-overload]


def support(rows: Iterable[frozenset[str]], items: Sequence[str]) -> int:
    """Count the rows that hold some of the items."""
    return sum(not row.isdisjoint(items) for row in rows)


def by_support(rows: Sequence[frozenset[str]], items: Sequence[str], size: int) -> list[object]:
    """Cut the items into runs, the rarest first, and the runs into runs, until few are left."""
    level: list[object] = sorted(items, key=lambda item: (support(rows, [str(item)]), items.index(str(item))))
    while len(level) > size:
        level = [run if len(run) > 1 else run[0] for run in cut(level, size)]
    return level


def cut(level: list[object], size: int) -> list[list[object]]:
    return [level[at : at + size] for at in range(0, len(level), size)]


def by_company(rows: Sequence[frozenset[str]], items: Sequence[str], size: int) -> list[object]:
    """Give each group the rarest free node, and then the free nodes most similar to its members."""
    level: list[object] = list(items)
    while len(level) > size:
        free = sorted(range(len(level)), key=lambda at: (support(rows, items_of(level[at])), at))
        groups = []
        while free:
            group = [free.pop(0)]
            while free and len(group) < size:
                best = max(free, key=lambda at: (likeness(rows, level, group, at), -free.index(at)))
                free.remove(best)
                group.append(best)
            groups.append([level[at] for at in group])
        level = [group if len(group) > 1 else group[0] for group in groups]
    return level


def likeness(rows: Sequence[frozenset[str]], level: Sequence[object], group: Sequence[int], at: int) -> float:
    """Add up how similar a node is to those of a group; rounded, as sums in another order differ."""
    return round(sum(similarity(rows, items_of(level[other]), items_of(level[at])) for other in group), 9)


def similarity(rows: Sequence[frozenset[str]], one: Sequence[str], other: Sequence[str]) -> float:
    both = sum(not row.isdisjoint(one) and not row.isdisjoint(other) for row in rows)
    each = support(rows, one) * support(rows, other)
    return sqrt(both * both / each) if each else 0.0


def below(tree: Tree, node: str) -> list[str]:
    """List the leaves under a node."""
    inner = set(tree.values())
    out = []
    for leaf in tree:
        up: str | None = leaf
        while up is not None and up != node:
            up = tree[up]
        if leaf not in inner and up == node:
            out.append(leaf)
    return sorted(out)


def replaced(tree: Tree, plan: dict[str, list[object]]) -> dict[str, str | None]:
    """Put new groups below some nodes; how they are called does not matter."""
    out = {label: up for label, up in tree.items() if not any(_is_inner(tree, label, node) for node in plan)}
    for node, nests in plan.items():
        for at, nest in enumerate(nests):
            _hang(nest, node, f"{node}/{at}", out)
    return out


def _is_inner(tree: Tree, label: str, top: str) -> bool:
    """Return whether a node is a group below another."""
    up = tree[label] if label in tree.values() else None
    while up is not None and up != top:
        up = tree[up]
    return up == top


def _hang(nest: object, above: str, name: str, out: dict[str, str | None]) -> None:
    if isinstance(nest, str):
        out[nest] = above
        return
    out[name] = above
    for at, part in enumerate(nest):  # type: ignore[arg-type, var-annotated]
        _hang(part, name, f"{name}/{at}", out)
