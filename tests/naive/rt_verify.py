"""The guarantee of a published table, counted from its rows alone, and the findings of attackers.

A row shows a tuple of labels of its quasi-identifiers and a set of labels of its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from naive.anonymize import Tree, leaves, up_from
from naive.km import supports

Row = tuple[tuple[str, ...], frozenset[str]]
Shown = Sequence[Row]
Counterexample = tuple[tuple[str, ...], frozenset[str], int]


def subsets(items: frozenset[str], m: float) -> Iterator[frozenset[str]]:
    """List every set of at most m of them, including the empty set."""
    for size in range(int(min(m, len(items))) + 1):
        yield from map(frozenset, combinations(sorted(items), size))


def support(shown: Shown, labels: tuple[str, ...], items: frozenset[str]) -> int:
    """Rows of a class that show some items."""
    return sum(theirs == labels and items <= more for theirs, more in shown)


def counterexamples(shown: Shown, k: int, m: float) -> set[Counterexample]:
    """Classes, and itemsets within them, that are in fewer than k rows."""
    return {
        (labels, some, n)
        for labels, items in shown
        for some in subsets(items, m)
        if (n := support(shown, labels, some)) < k
    }


def is_kkm(shown: Shown, k: int, m: float) -> bool:
    classes: dict[tuple[str, ...], list[frozenset[str]]] = {}
    for labels, items in shown:
        classes.setdefault(labels, []).append(items)
    return all(
        len(rows) >= k and min(supports(rows, m).values(), default=k) >= k for rows in classes.values()
    )


def greatest_k(shown: Shown, m: float) -> int | None:
    """Return the least size of a class or support in one; None without rows."""
    return min(
        (support(shown, labels, some) for labels, items in shown for some in subsets(items, m)), default=None
    )


def facts(row: Row) -> frozenset[tuple[int, str]]:
    """All that a row shows; items belong to no column."""
    labels, items = row
    return frozenset(enumerate(labels)) | {(-1, item) for item in items}


def mixed_supports(shown: Shown, m: float) -> dict[frozenset[tuple[int, str]], int]:
    rows = [facts(row) for row in shown]
    some = {
        frozenset(c)
        for row in rows
        for size in range(1, int(min(m, len(row))) + 1)
        for c in combinations(row, size)
    }
    return {each: sum(each <= row for row in rows) for each in some}


def is_mixed_km(shown: Shown, k: int, m: float) -> bool:
    return all(n >= k for n in mixed_supports(shown, m).values())


def greatest_mixed_k(shown: Shown, m: float) -> int | None:
    return min(mixed_supports(shown, m).values(), default=None)


def fewest(shown: Shown, m: float) -> list[int]:
    """For each row, the fewest rows left by all its labels and at most m of its items."""
    return [min(support(shown, labels, some) for some in subsets(items, m)) for labels, items in shown]


def exposed(shown: Shown, m: float, limits: Sequence[int] = (2, 5, 10)) -> list[int]:
    """Rows that can be narrowed to fewer than each limit; the same before and after."""
    left = fewest(shown, m)
    return [sum(n < limit for n in left) for limit in limits]


def sensitive_shares(
    shown: Shown, values: Sequence[str], p: float
) -> dict[tuple[tuple[str, ...], frozenset[str]], dict[str, Fraction]]:
    """Shares of each sensitive value among the rows of a class that show at most p items."""
    out: dict[tuple[tuple[str, ...], frozenset[str]], dict[str, Fraction]] = {}
    for labels, items in shown:
        for some in subsets(items, p):
            theirs = [
                value
                for (other, more), value in zip(shown, values, strict=True)
                if other == labels and some <= more
            ]
            out[labels, some] = {value: Fraction(theirs.count(value), len(theirs)) for value in set(theirs)}
    return out


def greatest_share(shown: Shown, values: Sequence[str], p: float) -> Fraction:
    every = sensitive_shares(shown, values, p).values()
    return max((share for shares in every for share in shares.values()), default=Fraction(0))


def sensitive_items(shown: Shown, sensitive: frozenset[str], p: float) -> Fraction:
    """The greatest share of a sensitive item's label given a class and at most p other items of a row."""
    greatest = Fraction(0)
    for labels, items in shown:
        for some in subsets(items - sensitive, p):
            rows = [more for other, more in shown if other == labels and some <= more]
            for item in sensitive:
                greatest = max(greatest, Fraction(sum(item in row for row in rows), len(rows)))
    return greatest


def covers(row: frozenset[str], leaf: str, tree: Tree) -> bool:
    """Return whether a row shows an item or a node above it."""
    return bool(row & set(up_from(tree, leaf)))


def cover_supports(rows: Sequence[frozenset[str]], tree: Tree, m: float) -> dict[frozenset[str], int]:
    """For every set of at most m leaves the rows that cover all of it."""
    items = leaves(tree)
    under = {leaf: frozenset(i for i, row in enumerate(rows) if covers(row, leaf, tree)) for leaf in items}
    return {
        frozenset(some): len(frozenset.intersection(*(under[leaf] for leaf in some)))
        for size in range(1, int(min(m, len(items))) + 1)
        for some in combinations(items, size)
    }


def is_cover_km(rows: Sequence[frozenset[str]], tree: Tree, k: int, m: float) -> bool:
    return not any(0 < n < k for n in cover_supports(rows, tree, m).values())


def is_any_level_km(rows: Sequence[frozenset[str]], tree: Tree, k: int, m: float) -> bool:
    """The same of sets of nodes; a row fits a node if it shows it, an ancestor or a descendant."""
    fits = {
        node: frozenset(
            i
            for i, row in enumerate(rows)
            if any(node in up_from(tree, label) or label in up_from(tree, node) for label in row)
        )
        for node in tree
    }
    return not any(
        0 < len(frozenset.intersection(*(fits[node] for node in some))) < k
        for size in range(1, int(min(m, len(tree))) + 1)
        for some in combinations(tree, size)
    )


def candidates(
    shown: Shown, known: Mapping[int, str], items: frozenset[str], trees: Sequence[Tree | None], tree: Tree
) -> list[int]:
    """List the rows that remain possible for someone who knows values of some columns and some items."""
    return [
        i
        for i, (labels, more) in enumerate(shown)
        if all(fits(labels[a], value, trees[a]) for a, value in known.items())
        and all(covers(more, item, tree) for item in items)
    ]


def fits(label: str, value: str, tree: Tree | None) -> bool:
    """Return whether a label of a quasi-identifier covers a value; without a tree, by ranges."""
    if tree is not None:
        return label in up_from(tree, value)
    if label in ("*", value):
        return True
    if "" in (label, value):
        return False
    low, high = label.strip("[]").split(",") if label.startswith("[") else (label, label)
    return Fraction(low) <= Fraction(value) <= Fraction(high)
