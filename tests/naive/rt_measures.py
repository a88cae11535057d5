"""Measures of tables: UL, DM, C_avg, and errors of counting queries about columns and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

from naive.are import Members, meaning, probability
from naive.km import item_order
from naive.rt_table import MISSING, Column, Table
from naive.rt_verify import Shown


def ul(sets: Sequence[frozenset[str]], members: Members) -> Fraction:
    """Mean over the rows of sum(2^|u| - 1) / (2^sum(|u|) - 1)."""
    total = Fraction(0)
    for row in sets:
        sizes = [len(meaning(members, label)) for label in row]
        if sizes:
            total += Fraction(sum(2**size - 1 for size in sizes), 2 ** sum(sizes) - 1)
    return total / max(len(sets), 1)


def discernibility(parts: Sequence[Sequence[int]]) -> int:
    """DM: each row costs the size of its class."""
    return sum(len(part) ** 2 for part in parts)


def average_size(table: Table, parts: Sequence[Sequence[int]], k: int) -> Fraction:
    """C_avg."""
    return Fraction(table.n, len(parts) * k)


@dataclass(frozen=True)
class Query:
    """Count the rows within intervals or sets of values of some columns that hold some items."""

    intervals: Mapping[int, tuple[Fraction, Fraction]]
    categories: Mapping[int, frozenset[str]]
    items: frozenset[str]


def holds(table: Table, row: int, query: Query) -> bool:
    for a, (low, high) in query.intervals.items():
        value = table.columns[a].values[row]
        if value == MISSING or not low <= Fraction(value) <= high:
            return False
    return query.items <= table.sets[row] and all(
        table.columns[a].values[row] in wanted for a, wanted in query.categories.items()
    )


def actual(table: Table, query: Query) -> int:
    return sum(holds(table, row, query) for row in range(table.n))


def share_of_range(column: Column, label: str, low: Fraction, high: Fraction) -> Fraction:
    """Return the chance that a number, published with this label, is in an interval."""
    if label == MISSING:
        return Fraction(0)
    if label == "*":
        least, most = column.extremes
    elif label.startswith("["):
        least, most = (Fraction(end) for end in label.strip("[]").split(","))
    else:
        least = most = Fraction(label)
    if least == most:
        return Fraction(low <= least <= high)
    first, last = max(low, least), min(high, most)
    if first > last:
        return Fraction(0)
    if all(Fraction(value).denominator == 1 for value in column.values if value != MISSING):
        wanted = last // 1 - -(-first // 1) + 1
        return Fraction(max(wanted, 0)) / (most - least + 1)
    return (last - first) / (most - least)


def share_of_node(column: Column, label: str, wanted: Set[str]) -> Fraction:
    """The share of a node's leaves that are wanted; of a range, whether a missing value is."""
    if column.whole is None:
        return Fraction(label in wanted)
    return Fraction(len(column.under[label] & wanted), len(column.under[label]))


def estimate(table: Table, shown: Shown, query: Query, members: Members) -> Fraction:
    """Expected number of rows that match."""
    order = item_order({label for _, items in shown for label in items})
    total = Fraction(0)
    for labels, items in shown:
        chance = Fraction(1)
        for a, (low, high) in query.intervals.items():
            column = table.columns[a]
            if column.whole is None:
                chance *= share_of_range(column, labels[a], low, high)
            else:
                within = {x for x in column.paths if x != MISSING and low <= Fraction(x) <= high}
                chance *= share_of_node(column, labels[a], within)
        for a, wanted in query.categories.items():
            chance *= share_of_node(table.columns[a], labels[a], wanted)
        total += chance * probability(items, query.items, members, order)
    return total


def error(table: Table, shown: Shown, query: Query, members: Members) -> Fraction:
    answer = actual(table, query)
    return abs(answer - estimate(table, shown, query, members)) / answer
