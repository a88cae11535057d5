"""Hierarchies made from the data: by order, by prefixes of codes or their system, by what occurs together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.wording import are, count
from setveil.kernels.rows import Ids, Ints, distinct_rows, recode_rows
from setveil.rows.data.spelling import are_one_code, code_form
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy._levels import Names, check_fanout, items_by, items_of, unused, where_they_meet
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin

if TYPE_CHECKING:
    from setveil.rows.hierarchy.systems.code import Path
    from setveil.rows.hierarchy.systems.reading import CodesRead, Zeros

_PARTNERS = 32  # similar items that by_cooccurrence remembers for each item


def balanced(
    data: Transactions, fanout: int = 5, *, common: int = 0, order: str = "support", seed: int = 0
) -> Hierarchy:
    """Group each `fanout` (2 or more) consecutive nodes, level by level up to a single root.

    The literature makes such hierarchies for data that have none, by item order (`order="number"`).
    `order`: "support" (most rows first), "number" (item order), "appearance" (by first row), or "random" (by
    a hash of `seed` and label). Items of fewer than `common` rows follow, by the rows that contain them, so
    that their names decide nothing. Nodes are ``L1_0``, ... above items, ``L2_0``, ... above these, and the
    root ``*``; if an item has such a label, ``LL1_0``, ... and ``**``.

    >>> tree = balanced(Transactions.from_rows([["a", "b", "c"], ["d"]]), fanout=2)
    >>> tree.paths()[2]
    ['c', 'L1_1', '*']
    """
    return Hierarchy.balanced(data, fanout, common=common, order=order, seed=seed)


def by_prefix(data: Transactions, *, at: str = ".", lengths: Sequence[int] = ()) -> Hierarchy:
    """Group codes by their prefixes, as in ``250.83`` under ``250``.

    Codes are cut before the characters `at` (``a.b.c`` has the prefixes ``a`` and ``a.b``), or at `lengths`.
    A prefix that several codes share is a node; if it is a code itself, the node is ``250*`` with the code
    ``250`` below it. The other codes are below the root ``*``.

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

    known = {prefix for code in items for prefix in prefixes(code)}
    return Hierarchy(where_they_meet({c: [*prefixes(c), *([c] if c in known else ())] for c in items}, "*"))


def by_system(
    data: Transactions,
    system: str,
    *,
    names: Mapping[str, str] | None = None,
    zeros: Zeros | None = None,
    strict: bool = False,
    said: Mapping[str, str] | None = None,
    one_spelling: bool = False,
) -> tuple[Hierarchy, CodesRead]:
    """Group the codes of a classification by its categories, blocks and chapters, and say how they were read.

    Only forms and ranges of codes are known, no texts. Items stay as they are written: ``250.01``, ``25001``
    and ``ICD9:250.01`` are under one node. A group of one is omitted, the root is ``ALL``, and ``(unlisted)``
    has what is no code (with `strict`, an error).

    `system`: "icd9", "icd10", "icd9+icd10", "atc", "unspsc", "nace", "naics", "isco" or "coicop"; NDC and
    GTIN have no groups. `names`: what codes and ranges represent, for nodes such as ``250 Diabetes
    mellitus``. `zeros`: "kept" or "lost" at the beginning of numbers, by default detected from all codes,
    else an error asks; if lost, what may be two codes is not placed. `said`: the system of each item, of two.
    `one_spelling`: codes that differ only in dots, case or blanks are one leaf, in the spelling of most rows,
    as which `setveil.anonymize` reads the others.

    >>> tree, read = by_system(Transactions.from_rows([["250.01", "25002", "401.9", "tea"]]), "icd9")
    >>> tree.paths()
    [['250.01', '250.0', 'ALL'], ['25002', '250.0', 'ALL'], ['401.9', 'ALL'], ['tea', '(unlisted)', 'ALL']]
    >>> read.unlisted
    {'not of the form 250.01, V45.1 or E849.0': ['tea']}
    """
    from setveil.rows.hierarchy.systems.reading import read_codes

    items = items_of(data)
    read = read_codes(items, system, zeros, said)
    missing = read.missing()
    if strict and missing:
        reason = next(iter(read.unlisted))
        raise DataError(
            f"{len(missing):,} of {count(len(items), 'item')} {are(len(missing))} no code of {read.title}: "
            f"{listed(missing, 3)} ({reason}).",
            hint="Without --strict they are placed under '(unlisted)'.",
        )
    called = _called(read, names or {})
    if one_spelling:
        read.spelled = _spelled(read, data)
    kept = {item: path for item, path in read.paths.items() if item not in read.spelled}
    paths = {item: [called.get(group, group) for group in path] for item, path in kept.items()}
    parents = where_they_meet(paths, "ALL", others=missing)
    if missing:
        root = next(node for node, above in parents.items() if above is None)
        unlisted = unused("(unlisted)", {*parents, *missing})
        parents = {**parents, unlisted: root, **dict.fromkeys(missing, unlisted)}
    read.named = sum(name in parents for name in called.values())
    return Hierarchy(parents), read


def _spelled(read: CodesRead, data: Transactions) -> dict[str, str]:
    """Find the spelling that most rows have of each code that is written in several ways."""
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    groups: dict[tuple[Path, str], list[str]] = {}
    for item, path in read.paths.items():
        groups.setdefault((path, code_form(item)), []).append(item)
    found: dict[str, str] = {}
    for group in groups.values():
        usual = max(group, key=lambda item: supports[item])  # of equals the first
        found |= {item: usual for item in group if item != usual and are_one_code(item, usual)}
    return found


def _called(read: CodesRead, names: Mapping[str, str]) -> dict[str, str]:
    """Find the name of each group that has one, whatever form its code has in the list."""
    from setveil.rows.hierarchy.systems.reading import code_of

    groups = {group for path in read.paths.values() for group in path}
    called = {}
    for code, name in names.items():
        group = code if code in groups else code_of(code, read.systems)
        if group in groups:
            called[group] = f"{group} {name}"
    return called


def by_cooccurrence(data: Transactions, fanout: int = 5, *, common: int = 0) -> Hierarchy:
    """Group items that occur together, level by level up to a single root.

    Groups have at most `fanout` (2 or more) children. Each level merges the most similar pairs of nodes first
    (sup(xy) / sqrt(sup(x) sup(y)); a row has a node if it has an item under it), ties in item order. Nodes
    left alone are grouped with those whose most similar node is in the same group, the others in item order.
    Only the 32 most similar nodes of each node count. It takes time proportional to the sum of the squared
    row lengths. Items of fewer than `common` rows follow, by the rows that contain them, so that their names
    decide neither groups nor the names of groups. Nodes are ``C1_0``, ... above items, ``C2_0``, ... on the
    next level, and the root ``*``; if an item has such a label, ``CC1_0``, ... and ``**``.

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
    level = items_by(data, common)
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
        groups = _groups(indptr, items, weights, len(level), fanout)
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


def _groups(indptr: Ints, items: Ids, weights: Ints, n_nodes: int, fanout: int) -> Ints:
    """Group the nodes of a level that occur together."""
    from setveil.rows.hierarchy._cooccurrence import group_similar, similar_items

    partner, value = similar_items(indptr, items, weights, n_nodes, _PARTNERS)
    return _with_leftovers(group_similar(partner, value, fanout), partner[:, 0], fanout)


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
    """Add the items that a hierarchy lacks: new codes below their groups, others below ``(unlisted)``.

    ``(unlisted)`` is below the root. A code has a group if the groups of the hierarchy begin their codes, or
    are those of a known system. Returns `tree` itself if nothing is missing.

    >>> tree = Hierarchy.from_paths([["apple", "fruit", "*"], ["soap", "*"]])
    >>> extend(tree, Transactions.from_rows([["apple", "brush"]])).paths()
    [['apple', 'fruit', '*'], ['brush', '(unlisted)', '*'], ['soap', '*']]
    """
    from setveil.rows.hierarchy.fit import lacking

    items = data.vocabulary.labels
    placed, missing = lacking(tree, items)
    if not missing and not placed:
        return tree
    taken = {*tree.labels, *items}
    parents: dict[str, str | None] = {
        label: tree.labels[up] if up >= 0 else None
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }
    parents |= placed
    if not missing:
        return tree.derived(parents, placed)
    root = tree.labels[tree.root]
    if tree.n_nodes == 1:  # the root is an item and must stay a leaf
        parents[root] = root = unused("*", taken)
        parents[root] = None
        taken.add(root)
    unlisted = unused("(unlisted)", taken)
    parents[unlisted] = root
    return tree.derived({**parents, **dict.fromkeys(missing, unlisted)}, placed)
