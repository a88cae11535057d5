"""Itemsets of weighted rows of numbers, each listed and counted.

A row is a set of numbers with the number of equal rows that it represents. If `spans` are given, the numbers
are nodes of a tree, each with the interval of leaves below it, and no itemset contains a node and an ancestor
of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Itemset = frozenset[int]
Rows = Sequence[tuple[Itemset, int]]
Spans = Sequence[tuple[int, int]]


def are_apart(nodes: Itemset, spans: Spans) -> bool:
    """Return whether no node is above another; of two nodes with the same leaves, one is above the other."""
    return all(
        spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0] for a, b in combinations(sorted(nodes), 2)
    )


def parts(items: Itemset) -> Iterator[Itemset]:
    """Every non-empty proper subset."""
    for size in range(1, len(items)):
        yield from map(frozenset, combinations(sorted(items), size))


def supports(rows: Rows, most: int, spans: Spans | None = None) -> Counter[Itemset]:
    """Count the rows of every occurring itemset of at most `most` items."""
    out: Counter[Itemset] = Counter()
    for row, weight in rows:
        for size in range(1, min(most, len(row)) + 1):
            for items in map(frozenset, combinations(sorted(row), size)):
                if spans is None or are_apart(items, spans):
                    out[items] += weight
    return out


def holding(rows: Rows, items: Itemset) -> int:
    return sum(weight for row, weight in rows if items <= row)


def rare_paths(rows: Rows, spans: Spans, k: int, smallest: int, largest: int) -> list[tuple[int, ...]]:
    """List the itemsets of support in (0, k), in preorder; skip itemsets below a listed one."""
    rare = {
        tuple(sorted(items))
        for items, n in supports(rows, largest, spans).items()
        if n < k and len(items) >= smallest
    }
    return sorted(path for path in rare if not any(path[:n] in rare for n in range(1, len(path))))


def minimal_rare(rows: Rows, spans: Spans, k: int, most: int) -> set[Itemset]:
    """Itemsets of two or more items of support in (0, k) whose every proper subset is in k rows or more."""
    found = supports(rows, most, spans)
    return {
        items
        for items, n in found.items()
        if len(items) > 1 and n < k and all(found[part] >= k for part in parts(items))
    }


def most_general(
    rows: Rows, spans: Spans, parent: Sequence[int], root: int, k: int, most: int
) -> set[Itemset]:
    """List rare itemsets that are not rare without one of their nodes, or with a parent in its place.

    Rows with a node contain all its ancestors. The root represents no node, nor does a parent of two of them.
    """
    out = set()
    for items, n in supports(rows, most, spans).items():
        general = n < k and all(holding(rows, part) >= k for part in parts(items))
        for node in items:
            lifted = items - {node} | {parent[node]}
            if parent[node] != root and len(lifted) == len(items) and are_apart(lifted, spans):
                general = general and holding(rows, lifted) >= k
        if general:
            out.add(items)
    return out


def least(rows: Rows, size: int) -> list[int | None]:
    """Return, for each row, the least support of its itemsets of one size, or None without any."""
    found = supports(rows, size)
    return [
        min((found[frozenset(some)] for some in combinations(sorted(row), size)), default=None)
        for row, _ in rows
    ]


@dataclass(frozen=True)
class Tally:
    """Sums over the rows of one length and their itemsets of one size, weighted by equal rows."""

    below: list[int]
    inverse: Fraction


def tallies(rows: Rows, size: int, limits: Sequence[int]) -> dict[int, Tally]:
    """Count the supports below each limit, and sum 1 / support, for each length of rows."""
    found = supports(rows, size)
    out = {}
    for length in {len(row) for row, _ in rows}:
        every = [
            (found[frozenset(some)], weight)
            for row, weight in rows
            if len(row) == length
            for some in combinations(sorted(row), size)
        ]
        out[length] = Tally(
            [sum(weight for n, weight in every if n < limit) for limit in limits],
            sum((Fraction(weight, n) for n, weight in every), Fraction(0)),
        )
    return out


@dataclass(frozen=True)
class Learned:
    """The nonzero probabilities of private items given an itemset, and the support of the itemset."""

    probabilities: Mapping[int, Fraction]
    support: int

    @property
    def greatest(self) -> Fraction:
        return max(self.probabilities.values(), default=Fraction(0))


def learned(rows: Rows, shares: Sequence[Mapping[int, int]], whole: int, items: Itemset) -> Learned:
    """`shares` are, for each row, sums of the probabilities of private items, times `whole`."""
    support = holding(rows, items)
    total: Counter[int] = Counter()
    for (row, _), of_row in zip(rows, shares, strict=True):
        if items <= row:
            total.update(of_row)
    return Learned({private: Fraction(share, whole * support) for private, share in total.items()}, support)
