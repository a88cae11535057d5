"""Attack risk from its definitions: every set of every row, every support counted, every mean a fraction.

`chances` has, for each row, the probability of each private item; public rows contain no private item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from naive.km import Rows, supports

Row = frozenset[str]
Chances = Sequence[Mapping[str, Fraction]]
Given = Mapping[Row, Sequence[Fraction]]  # Pr(private | items), of each private item


def sets_of(row: Row, m: int) -> Iterator[Row]:
    """Every non-empty set of at most m items of a row."""
    for size in range(1, min(m, len(row)) + 1):
        yield from map(frozenset, combinations(sorted(row), size))


def fewest(rows: Rows, m: int) -> list[int]:
    """For each row, the fewest rows that fit some set; all rows where nothing can be known."""
    return _fewest(tuple(rows), m)


@lru_cache(16)
def _fewest(rows: tuple[Row, ...], m: int) -> list[int]:
    support = supports(rows, m)
    return [min((support[items] for items in sets_of(row, m)), default=len(rows)) for row in rows]


def best(rows: Rows, m: int, threshold: int) -> int:
    return sum(n < threshold and bool(row) for row, n in zip(rows, fewest(rows, m), strict=True))


def easiest(rows: Rows, m: int) -> int | None:
    """Find the fewest rows that fit some set of any row; None if no row has an item that can be known."""
    return min((n for row, n in zip(rows, fewest(rows, m), strict=True) if row), default=None)


def best_probability(rows: Rows, m: int) -> Fraction:
    return mean([Fraction(1, n) for n in fewest(rows, m)])


def draws(rows: Rows, m: int) -> list[list[int]]:
    """For each row, the supports of all sets that may be drawn."""
    return _draws(tuple(rows), m)


@lru_cache(16)
def _draws(rows: tuple[Row, ...], m: int) -> list[list[int]]:
    support = supports(rows, m) if m < max(map(len, rows), default=0) else supports(rows)
    support[frozenset()] = len(rows)
    return [[support[frozenset(some)] for some in combinations(row, min(m, len(row)))] for row in rows]


def random(rows: Rows, m: int, threshold: int) -> Fraction:
    return sum(
        (
            mean([Fraction(n < threshold) for n in found])
            for row, found in zip(rows, draws(rows, m), strict=True)
            if row
        ),
        Fraction(0),
    )


def random_probability(rows: Rows, m: int) -> Fraction:
    return mean([mean([Fraction(1, n) for n in found]) for found in draws(rows, m)])


def revealing(rows: Rows, order: Sequence[str], m: int, below: int) -> list[tuple[str, int, int]]:
    """Item, support, and rows that hold it in a minimal set of few rows; most rows first."""
    support = supports(rows, m)
    minimal = [
        items
        for items, n in support.items()
        if n < below and all(support[part] >= below for part in sets_of(items, len(items) - 1))
    ]
    found = []
    for item in order:
        revealed = sum(any(item in some and some <= row for some in minimal) for row in rows)
        if revealed:
            found.append((item, support[frozenset([item])], revealed))
    return sorted(found, key=lambda entry: (-entry[2], order.index(entry[0])))


def chances_of(rows: Rows, chances: Chances, private: Sequence[str], m: int) -> dict[Row, list[Fraction]]:
    """Pr(private | items) for every set, also the empty one: the mean over the rows that hold the set."""
    out = {}
    for items in {frozenset[str](), *(some for row in rows for some in sets_of(row, m))}:
        inside = [each for row, each in zip(rows, chances, strict=True) if items <= row]
        out[items] = [mean([each.get(item, Fraction(0)) for each in inside]) for item in private]
    return out


def greatest(
    rows: Rows, given: Given, order: Sequence[str], private: Sequence[str]
) -> tuple[Fraction, str | None, list[str], int]:
    """The greatest probability of a private item, the item, the first set that gives it, its support.

    `order` is that of the public items; the private ones are in order.
    """
    found = []
    for items, probabilities in given.items():
        ids = sorted(map(order.index, items))
        support = sum(items <= row for row in rows)
        for position, probability in enumerate(probabilities):
            found.append((-probability, len(items), -support, ids, position))
    best_one = min(found)
    name = private[best_one[4]] if best_one[0] else None
    return -best_one[0], name, [order[i] for i in best_one[3]], -best_one[2]


def greatest_of_each(
    rows: Rows, given: Given, order: Sequence[str], private: Sequence[str]
) -> list[tuple[str, Fraction, list[str], int]]:
    """Return `greatest` for each private item alone that some row may contain."""
    found = []
    for at, item in enumerate(private):
        alone = {items: probabilities[at : at + 1] for items, probabilities in given.items()}
        if any(map(any, alone.values())):
            probability, _, itemset, support = greatest(rows, alone, order, [item])
            found.append((item, probability, itemset, support))
    return found


def above(rows: Rows, given: Given, level: float) -> int:
    """Count the rows with a set of items that predicts a private item with a probability above the level."""
    limit = Fraction(str(level))
    telling = [items for items, p in given.items() if max(p) > limit]
    return sum(any(items <= row for items in telling) for row in rows)


def hidden(rows: Rows, private: Sequence[str]) -> tuple[Rows, Chances]:
    """Rows that hold their private items for sure."""
    return (
        [row - set(private) for row in rows],
        [{item: Fraction(1) for item in row & set(private)} for row in rows],
    )


def in_groups(
    rows: Rows, group_of: Sequence[int], counts: Sequence[Mapping[str, int]], private: Sequence[str]
) -> tuple[Rows, Chances]:
    """Make rows in groups: each row of a group is equally likely to contain the group's counted items."""
    public, certain = hidden(rows, private)
    out = []
    for group, sure in zip(group_of, certain, strict=True):
        size = list(group_of).count(group)
        shares = {item: Fraction(n, size) for item, n in counts[group].items() if item in private}
        out.append({**shares, **sure})
    return public, out


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)
