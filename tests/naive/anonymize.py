"""Cuts of a hierarchy, and OA, DA, AA and refinement straight from the paper's pseudo-code and SPEC §2.

A hierarchy is a dict child -> parent (None for the root), a cut a frozenset of its nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from naive import measures
from naive.km import Rows, is_km, item_order

Tree = Mapping[str, str | None]
Cut = frozenset[str]


def up_from(tree: Tree, node: str) -> list[str]:
    """List the node and its ancestors, the root last."""
    out = [node]
    while (up := tree[out[-1]]) is not None:
        out.append(up)
    return out


def children(tree: Tree, node: str) -> list[str]:
    return [child for child, up in tree.items() if up == node]


def leaves(tree: Tree) -> list[str]:
    parents = set(tree.values())
    return item_order(node for node in tree if node not in parents)


def root(tree: Tree) -> str:
    return next(node for node, up in tree.items() if up is None)


def node_order(tree: Tree) -> list[str]:
    """Leaves in item order, then inner nodes by their smallest leaf, deeper first."""
    items = leaves(tree)
    smallest: dict[str, int] = {}
    for i, leaf in enumerate(items):
        for node in up_from(tree, leaf):
            smallest.setdefault(node, i)
    inner = sorted(set(tree) - set(items), key=lambda node: (smallest[node], -len(up_from(tree, node))))
    return [*items, *inner]


def ranks(tree: Tree) -> dict[str, int]:
    return {node: i for i, node in enumerate(node_order(tree))}


def all_cuts(tree: Tree, node: str | None = None) -> list[Cut]:
    """Every set of nodes with exactly one on each path from the root to a leaf."""
    node = root(tree) if node is None else node
    below = [all_cuts(tree, child) for child in children(tree, node)]
    finer = [frozenset().union(*choice) for choice in product(*below)] if below else []
    return [frozenset({node}), *finer]


def image(tree: Tree, cut: Cut) -> dict[str, str | None]:
    """Map each item to its label under a cut."""
    out: dict[str, str | None] = {}
    for leaf in leaves(tree):
        (out[leaf],) = (node for node in up_from(tree, leaf) if node in cut)
    return out


def recode(rows: Rows, tree: Tree, cut: Cut) -> list[frozenset[str]]:
    return measures.recode(rows, image(tree, cut))


def cost(rows: Rows, tree: Tree, cut: Cut) -> Fraction:
    return measures.ncp(rows, image(tree, cut))


def is_valid(rows: Rows, tree: Tree, cut: Cut, k: int, m: float) -> bool:
    return is_km(recode(rows, tree, cut), k, m)


def generalize(tree: Tree, cut: Cut, new: Iterable[str]) -> Cut:
    """Move a cut up to the new nodes: the nodes below them leave it."""
    new = set(new)
    return frozenset(new | {node for node in cut if not new & set(up_from(tree, node))})


def oa(rows: Rows, tree: Tree, k: int, m: float) -> Cut:
    """Find the cheapest valid cut; of equals that with most nodes, then by its sorted list of nodes."""
    rank = ranks(tree)
    valid = (cut for cut in all_cuts(tree) if is_valid(rows, tree, cut, k, m))
    return min(valid, key=lambda cut: (cost(rows, tree, cut), -len(cut), sorted(rank[node] for node in cut)))


def extend(tree: Tree, row: Iterable[str]) -> frozenset[str]:
    return frozenset(node for item in row for node in up_from(tree, item))


def antichains(tree: Tree, nodes: Sequence[str], most: float) -> Iterator[tuple[str, ...]]:
    """Every non-empty subset of at most `most` nodes, none above another, in the order of `nodes`."""
    if most < 1:
        return
    for i, first in enumerate(nodes):
        yield (first,)
        above = up_from(tree, first)
        apart = [node for node in nodes[i + 1 :] if node not in above and first not in up_from(tree, node)]
        for rest in antichains(tree, apart, most - 1):
            yield (first, *rest)


def count_tree(rows: Rows, tree: Tree, order: Sequence[str], m: float) -> Counter[tuple[str, ...]]:
    """Algorithm 1: count every path of at most m nodes of the extended rows, without the root."""
    paths: Counter[tuple[str, ...]] = Counter()
    for row, times in Counter(rows).items():
        extended = extend(tree, row)
        for path in antichains(tree, [node for node in order if node in extended], m):
            paths[path] += times
    return paths


def support_order(rows: Rows, tree: Tree) -> list[str]:
    """Nodes but the root by decreasing support, ties in node order."""
    support = Counter(node for row in rows for node in extend(tree, row))
    order = sorted(node_order(tree), key=lambda node: -support[node])  # stable
    return [node for node in order if node != root(tree)]


def solve(
    rows: Rows, tree: Tree, cut: Cut, path: Sequence[str], k: int, *, last: bool = False
) -> frozenset[str]:
    """Find the new nodes of the best way to lift a path's support to k.

    Every combination of the path's nodes and their ancestors is tried; a chosen node also moves the chosen
    nodes below it. The result is the minimal set of new nodes with the cheapest cut; `last`: the last of
    equal ones.
    """
    extended = [extend(tree, row) for row in rows]
    solutions: set[frozenset[str]] = set()
    for choice in product(*(up_from(tree, node) for node in path)):
        raised = {to for node, to in zip(path, choice, strict=True) if to != node}
        new = frozenset(to for to in raised if not raised & set(up_from(tree, to)[1:]))
        lifted = {next((to for to in up_from(tree, node) if to in new), node) for node in path}
        if new and sum(lifted <= row for row in extended) >= k:
            solutions.add(new)

    def is_finer(a: frozenset[str], b: frozenset[str]) -> bool:
        return a != b and all(b & set(up_from(tree, node)) for node in a)

    minimal = [b for b in solutions if not any(is_finer(a, b) for a in solutions)]
    rank = {node: -at if last else at for node, at in ranks(tree).items()}
    return min(
        minimal,
        key=lambda new: (cost(rows, tree, generalize(tree, cut, new)), sorted(rank[node] for node in new)),
    )


def preorder(
    rows: Rows, tree: Tree, cut: Cut, paths: Mapping[tuple[str, ...], int], order: Sequence[str], k: int,
    *, last: bool = False,
) -> Cut:  # fmt: skip
    """Algorithm 3, lines 3-10. A path that holds a generalized node is passed over, so is all behind it."""
    rank = {node: i for i, node in enumerate(order)}
    for path in sorted(paths, key=lambda path: [rank[node] for node in path]):
        generalized = any(cut & set(up_from(tree, node)[1:]) for node in path)
        if not generalized and paths[path] < k:
            cut = generalize(tree, cut, solve(rows, tree, cut, path, k, last=last))
    return cut


def da(rows: Rows, tree: Tree, k: int, m: float) -> Cut:
    """Algorithm 3; paths shorter than m are checked too."""
    order = support_order(rows, tree)
    return preorder(rows, tree, frozenset(leaves(tree)), count_tree(rows, tree, order, m), order, k)


def aa(rows: Rows, tree: Tree, k: int, m: float, *, last: bool = False) -> Cut:
    """Algorithm 4: in pass i, paths of i nodes of the rows extended under the current cut.

    `last`: of ways to lift a path that cost the same the last is taken; the paper does not say which.
    """
    cut = frozenset(leaves(tree))
    order = support_order(rows, tree)
    for size in range(1, int(min(m, max(map(len, rows), default=0))) + 1):
        paths = count_tree(recode(rows, tree, cut), tree, order, size)
        of_size = {path: support for path, support in paths.items() if len(path) == size}
        cut = preorder(rows, tree, cut, of_size, order, k, last=last)
    return cut


def splits(rows: Rows, tree: Tree, cut: Cut, k: int, m: float) -> list[Cut]:
    """Valid cuts with one node replaced by its children, greatest gain first, ties in node order."""
    rank = ranks(tree)
    finer = {node: cut - {node} | frozenset(children(tree, node)) for node in cut if children(tree, node)}
    ordered = sorted(finer, key=lambda node: (cost(rows, tree, finer[node]), rank[node]))
    return [finer[node] for node in ordered if is_valid(rows, tree, finer[node], k, m)]


def refine(rows: Rows, tree: Tree, cut: Cut, k: int, m: float) -> Cut:
    """Split nodes while the cut stays valid, greatest gain first."""
    while better := splits(rows, tree, cut, k, m):
        cut = better[0]
    return cut
