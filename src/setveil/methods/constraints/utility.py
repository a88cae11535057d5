"""Make utility constraints from a hierarchy, instead of listing them."""

from __future__ import annotations

from setveil.base.errors import RequestError
from setveil.base.values.kinds import integer, is_integer
from setveil.rows.hierarchy.tree import Hierarchy

Groups = tuple[tuple[str, ...], ...]


def siblings(tree: Hierarchy, level: int | None = None) -> Groups:
    """Partition the leaves into utility constraints: the items under each node of a level, in item order.

    Level 0 is the root itself (every merge is allowed), 1 its children. An item that is less deep stays
    alone. By default the items that have the same parent form a group.

    >>> tree = Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"]])
    >>> siblings(tree)
    (('a', 'b'), ('c',))
    >>> siblings(tree, 0)
    (('a', 'b', 'c'),)
    """
    if level is not None and not (is_integer(level, 0) and level <= tree.height):
        raise RequestError(
            f"The level must be an integer from 0 (the root) to {tree.height} (the deepest items), "
            f"got {level!r}."
        )
    groups: dict[int, list[int]] = {}
    for leaf in range(tree.n_leaves):
        above = [leaf, *tree.ancestors(leaf)]  # the root last
        up = 1 if level is None else max(len(above) - 1 - level, 0)
        groups.setdefault(above[min(up, len(above) - 1)], []).append(leaf)
    return _labelled(tree, list(groups.values()))


def groups_of(tree: Hierarchy, size: int) -> Groups:
    """Partition the leaves into utility constraints of `size` items that are close in the hierarchy.

    Groups and their items are in item order. The leaves are taken in tree order, so that the items of a node
    are together; the last group may have fewer. Loukides, Gkoulalas-Divanis, Malin, KAIS 28(2), 2011, section
    6.4 (utility policies UP1 to UP4: 25, 50, 250 and 500 items), doi:10.1007/s10115-010-0354-4

    >>> tree = Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"]])
    >>> groups_of(tree, 2)
    (('a', 'b'), ('c',))
    """
    integer("The size of a group", size, 1)
    leaves = tree.leaf_order.tolist()
    return _labelled(tree, [leaves[i : i + size] for i in range(0, len(leaves), size)])


def _labelled(tree: Hierarchy, groups: list[list[int]]) -> Groups:
    return tuple(tuple(tree.labels[leaf] for leaf in group) for group in sorted(map(sorted, groups)))
