"""Hierarchies made from the data: by order, by the prefixes of codes, by what occurs together."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from setveil.data.transactions import Transactions
from setveil.errors import HierarchyError, RequestError, listed
from setveil.hierarchy._cooccurrence import group_similar, similar_items
from setveil.hierarchy._levels import Names, check_fanout, items_of, unused
from setveil.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.kernels.rows import Ids, Ints, distinct_rows, recode_rows

_PARTNERS = 32  # similar items that by_cooccurrence remembers for each item


def balanced(data: Transactions, fanout: int = 5) -> Hierarchy:
    """Group each `fanout` consecutive nodes, in item order, level by level up to a single root.

    This is how the literature makes hierarchies for data that have none; it says nothing about the items.

    Parameters
    ----------
    data : Transactions
        Its vocabulary gives the items.
    fanout : int
        Children of a node, at least 2; the last node of a level may have fewer.

    Returns
    -------
    Hierarchy
        Nodes ``L1_0``, ``L1_1``, ... above the items, ``L2_0``, ... above these, the root ``*``. Where an
        item has such a label already, ``LL1_0``, ... and ``**``.

    Raises
    ------
    RequestError
        If `fanout` is less than 2.
    DataError
        If there are no items.

    Examples
    --------
    >>> tree = balanced(Transactions.from_rows([["a", "b", "c"], ["d"]]), fanout=2)
    >>> tree.paths()[2]
    ['c', 'L1_1', '*']
    """
    return Hierarchy.balanced(data, fanout)


def by_prefix(data: Transactions, *, at: str = ".", lengths: Sequence[int] = ()) -> Hierarchy:
    """Group codes by their prefixes, as in ``250.83`` under ``250``.

    Parameters
    ----------
    data : Transactions
        Its vocabulary gives the codes.
    at : str
        Characters before which a code is cut: ``a.b.c`` has the prefixes ``a`` and ``a.b``.
    lengths : sequence of int
        Lengths at which codes are cut instead, each at least 1.

    Returns
    -------
    Hierarchy
        A prefix that several codes share is a node; one that is a code of its own (``250`` beside ``250.83``)
        is the node ``250*`` with the code ``250`` below it. The rest hangs at the root ``*``.

    Raises
    ------
    RequestError
        If neither characters nor lengths are given, or a length is less than 1.
    DataError
        If there are no items.

    Examples
    --------
    >>> tree = by_prefix(Transactions.from_rows([["250", "250.83", "250.1", "V45"]]))
    >>> tree.paths()
    [['250', '250*', '*'], ['250.1', '250*', '*'], ['250.83', '250*', '*'], ['V45', '*']]
    """
    items = items_of(data)
    if any(length < 1 for length in lengths) or not (at or lengths):
        where = f"the lengths {list(lengths)}" if lengths else f"the characters {at!r}"
        raise RequestError(
            f"Cannot cut codes at {where}, expected lengths of at least 1 or at least one character.",
            hint="`.` cuts 250.83 to 250; the lengths 1, 3 cut it to 2 and 250.",
        )

    def prefixes(code: str) -> list[str]:
        cuts = sorted(set(lengths)) if lengths else [i for i, sign in enumerate(code) if sign in at]
        # Blanks at the end are lost in files.
        return list(dict.fromkeys(p for cut in cuts if cut < len(code) and (p := code[:cut].rstrip())))

    # Nodes are numbered: prefixes from 1, 0 is the root. A prefix and an item may have the same text.
    number = {prefix: i for i, prefix in enumerate(dict.fromkeys(p for c in items for p in prefixes(c)), 1)}
    above = [0] * (len(number) + 1)
    for prefix, i in number.items():
        above[i] = number[up[-1]] if (up := prefixes(prefix)) else 0
    home = {item: number.get(item, number[up[-1]] if (up := prefixes(item)) else 0) for item in items}
    count = np.bincount([*above[1:], *home.values()], minlength=len(above))

    # A node is needed where branches meet; a root with a single inner child would say the same twice.
    needed = count > 1
    needed[0] = True
    top = [i for i in range(1, len(above)) if above[i] == 0]
    while count[0] == 1 and len(top) == 1:
        needed[top[0]] = False
        count[0] = count[top[0]]
        top = [i for i in range(1, len(above)) if above[i] == top[0]]

    def nearest(i: int) -> int:
        while not needed[i]:
            i = above[i]
        return i

    taken = set(items)
    labels = {0: unused("*", taken)}
    taken.add(labels[0])
    for prefix, i in number.items():
        if needed[i]:
            labels[i] = unused(prefix, taken)
            taken.add(labels[i])
    parents: dict[str, str | None] = {item: labels[nearest(i)] for item, i in home.items()}
    parents.update({labels[i]: labels[nearest(above[i])] for i in labels if i})
    return Hierarchy({**parents, labels[0]: None})


def by_cooccurrence(data: Transactions, fanout: int = 5) -> Hierarchy:
    """Group items that occur together, level by level up to a single root.

    On each level the most similar pairs of nodes (sup(xy) / sqrt(sup(x) sup(y)), where a row holds a node if
    it holds an item under it) are merged first, ties in item order, into groups of at most `fanout`. Nodes
    left alone are grouped with those whose most similar node is in the same group, the others in item order.
    Only the 32 most similar nodes of each node are looked at. It takes time proportional to the sum of the
    squared row lengths.

    Parameters
    ----------
    fanout : int
        Largest number of children, at least 2.

    Returns
    -------
    Hierarchy
        Of unequal depth, with nodes ``C1_0``, ``C1_1``, ... above items, ``C2_0``, ... on the next level and
        the root ``*``. Where an item has such a label already, ``CC1_0``, ... and ``**``.

    Raises
    ------
    RequestError
        If `fanout` is less than 2.
    DataError
        If there are no items.

    Examples
    --------
    >>> rows = [["tea", "milk"], ["tea", "milk"], ["nail", "hammer"], ["saw", "hammer"]]
    >>> for path in by_cooccurrence(Transactions.from_rows(rows), fanout=2).paths():
    ...     print(*path)
    hammer C1_0 C2_0 *
    nail C1_0 C2_0 *
    saw C2_0 *
    milk C1_1 *
    tea C1_1 *
    """
    start = time.perf_counter()
    level = items_of(data)
    check_fanout(fanout)
    names = Names(level, "C")
    ids = {label: i for i, label in enumerate(level)}
    image = np.array([ids[label] for label in data.vocabulary.labels], np.int32)
    indptr, items = data.indptr, data.items
    weights: Ints | None = None
    parents: dict[str, str | None] = {}
    number = 0
    while len(level) > fanout:
        number += 1
        indptr, items, weights = distinct_rows(*recode_rows(indptr, items, image), weights)
        partner, value = similar_items(indptr, items, weights, len(level), _PARTNERS)
        groups = _with_leftovers(group_similar(partner, value, fanout), partner[:, 0], fanout)
        image = np.unique(groups, return_inverse=True)[1].astype(np.int32)
        sizes = np.bincount(image)
        place = np.cumsum(sizes > 1) - 1
        above: list[str] = [""] * sizes.size
        for node, to in zip(level, image.tolist(), strict=True):
            if sizes[to] == 1:
                above[to] = node  # goes up by itself rather than under a node of its own
            else:
                above[to] = parents[node] = names.node(number, int(place[to]))
        level = above
    tree = Hierarchy({**parents, **dict.fromkeys(level, names.root), names.root: None})
    tree.origin = HierarchyOrigin("co-occurrence", seconds=round(time.perf_counter() - start, 4))
    return tree


def _with_leftovers(first: Ints, best: Ids, fanout: int) -> Ints:
    """Group the nodes that are alone in their group; the last of them may stay alone."""
    alone = np.flatnonzero(np.bincount(first, minlength=first.size)[first] == 1)
    beside = np.where(best[alone] >= 0, first[best[alone]], first.size)
    alone = alone[np.argsort(beside, kind="stable")]
    out = first.copy()
    for start in range(0, alone.size, fanout):
        chunk = alone[start : start + fanout]
        out[chunk] = chunk.min()
    return out


def extend(tree: Hierarchy, data: Transactions) -> Hierarchy:
    """Add the items that a hierarchy misses, under one new node ``(unlisted)`` below its root.

    Parameters
    ----------
    tree : Hierarchy
        Left as it is.
    data : Transactions
        Its vocabulary gives the items.

    Returns
    -------
    Hierarchy
        `tree` itself if nothing is missing.

    Raises
    ------
    HierarchyError
        If an item of the data is an inner node of the tree.

    Examples
    --------
    >>> tree = Hierarchy.from_paths([["apple", "fruit", "*"], ["soap", "*"]])
    >>> extend(tree, Transactions.from_rows([["apple", "brush"]])).paths()
    [['apple', 'fruit', '*'], ['brush', '(unlisted)', '*'], ['soap', '*']]
    """
    items = data.vocabulary.labels
    inner = [item for item in items if item in tree and tree.id(item) >= tree.n_leaves]
    if inner:
        raise HierarchyError(
            f"{len(inner):,} items of the data are inner nodes of the hierarchy: {listed(inner)}.",
            hint="Give the inner nodes labels of their own; every item must be a leaf.",
            problems=[f"item {item!r} is an inner node" for item in inner],
        )
    missing = [item for item in items if item not in tree]
    if not missing:
        return tree
    taken = {*tree.labels, *items}
    parents: dict[str, str | None] = {
        label: tree.labels[up] if up >= 0 else None
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }
    root = tree.labels[tree.root]
    if tree.n_nodes == 1:  # the root is an item and must stay a leaf
        parents[root] = root = unused("*", taken)
        parents[root] = None
        taken.add(root)
    unlisted = unused("(unlisted)", taken)
    parents[unlisted] = root
    return Hierarchy({**parents, **dict.fromkeys(missing, unlisted)})
