"""Itemsets of weighted rows of numbers, each listed and counted.

A row is a set of numbers with how many equal rows it stands for. Where `spans` are given, the numbers are
nodes of a tree, each with the interval of leaves below it, and no itemset holds a node and one above it.
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
    """Whether no node is above another; of two with the same leaves one is."""
    return all(
        spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0] for a, b in combinations(sorted(nodes), 2)
    )


def parts(items: Itemset) -> Iterator[Itemset]:
    """Every non-empty proper subset."""
    for size in range(1, len(items)):
        yield from map(frozenset, combinations(sorted(items), size))


def supports(rows: Rows, most: int, spans: Spans | None = None) -> Counter[Itemset]:
    """Support of every itemset of at most so many items that occurs."""
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
    """Itemsets of support in (0, k), in preorder; what lies below one of them is passed over."""
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
    """Rare itemsets that are rare neither without one of their nodes nor with a parent instead of one.

    Rows hold with a node all its ancestors. The root stands for no node, nor does a parent of two of them.
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
    """For each row the least support of its itemsets of one size; None where it has none."""
    found = supports(rows, size)
    return [
        min((found[frozenset(some)] for some in combinations(sorted(row), size)), default=None)
        for row, _ in rows
    ]


@dataclass(frozen=True)
class Tally:
    """Over the rows of one length and their itemsets of one size, each row as often as it stands for."""

    below: list[int]
    inverse: Fraction


def tallies(rows: Rows, size: int, limits: Sequence[int]) -> dict[int, Tally]:
    """How many supports are below each limit, and the sum of 1 / support, for each length of rows."""
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
class Told:
    """The probability of each private item given an itemset, those of 0 left out, and its support."""

    probabilities: Mapping[int, Fraction]
    support: int

    @property
    def greatest(self) -> Fraction:
        return max(self.probabilities.values(), default=Fraction(0))


def told(rows: Rows, shares: Sequence[Mapping[int, int]], whole: int, items: Itemset) -> Told:
    """`shares` are, for each row, sums of the probabilities of private items, times `whole`."""
    support = holding(rows, items)
    total: Counter[int] = Counter()
    for (row, _), of_row in zip(rows, shares, strict=True):
        if items <= row:
            total.update(of_row)
    return Told({private: Fraction(share, whole * support) for private, share in total.items()}, support)
