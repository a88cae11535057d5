"""VPA straight from its definition: AA in every branch below the root, then AA's passes on the whole."""

from __future__ import annotations

from naive import anonymize as naive
from naive.anonymize import Cut, Tree, children, leaves, up_from
from naive.km import Rows


def merged(tree: Tree) -> dict[str, str | None]:
    """Remove every inner node that has a single child."""
    out = dict(tree)
    while only := [node for node in out if len(children(out, node)) == 1]:
        (child,) = children(out, only[0])
        out[child] = out.pop(only[0])
    return out


def under(tree: Tree, node: str) -> dict[str, str | None]:
    """Cut out the tree below a node."""
    return {v: None if v == node else tree[v] for v in tree if node in up_from(tree, v)}


def within(rows: Rows, tree: Tree, k: int, m: float) -> Cut:
    """Phase one: the cuts of the parts, joined."""
    cut: set[str] = set()
    for child in children(tree, naive.root(tree)) or [naive.root(tree)]:
        part = under(tree, child)
        pieces = [piece for row in rows if (piece := row & set(leaves(part)))]
        cut |= {child} if 0 < len(pieces) < k else naive.aa(pieces, part, k, m)
    return frozenset(cut)


def across(rows: Rows, tree: Tree, cut: Cut, k: int, m: float) -> Cut:
    """Phase two: the passes of AA from a cut."""
    order = naive.support_order(rows, tree)
    for size in range(1, int(min(m, max(map(len, rows), default=0))) + 1):
        paths = naive.count_tree(naive.recode(rows, tree, cut), tree, order, size)
        of_size = {path: support for path, support in paths.items() if len(path) == size}
        cut = naive.preorder(rows, tree, cut, of_size, order, k)
    return cut


def vpa(rows: Rows, tree: Tree, k: int, m: float) -> Cut:
    """Find the cut, in the tree without only children's parents."""
    tree = merged(tree)
    return across(rows, tree, within(rows, tree, k, m), k, m)
