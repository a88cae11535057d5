"""Guarantees about tables from their definitions: every class, every set of every row, every fraction.

A row is its quasi-identifiers, its items and its kept values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Row = frozenset[str]


class Line(NamedTuple):
    known: tuple[str, ...]
    items: Row
    kept: tuple[str, ...] = ()


Lines = Sequence[Line]
Found = tuple[tuple[str, ...], tuple[str, ...], int]  # quasi-identifiers, items, rows


def sets_of(items: Collection[str], most: float) -> Iterator[Row]:
    """List every set of at most `most` items, including the empty set."""
    for size in range(int(min(most, len(items))) + 1):
        yield from map(frozenset, combinations(sorted(items), size))


def classes(lines: Lines) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(line.known for line in lines))


def within(lines: Lines, known: tuple[str, ...]) -> list[Line]:
    return [line for line in lines if line.known == known]


def supports(lines: Lines, m: float) -> dict[tuple[tuple[str, ...], Row], int]:
    """In how many rows of its class each set of at most m items is."""
    found: dict[tuple[tuple[str, ...], Row], int] = {}
    for line in lines:
        for items in sets_of(line.items, m):
            found[line.known, items] = found.get((line.known, items), 0) + 1
    return found


def violations(lines: Lines, k: int, m: float, order: Sequence[str]) -> list[Found]:
    """Classes and sets within one in fewer than k rows: smaller sets first, then by class, in item order."""
    place = classes(lines)
    rare = [
        (known, tuple(sorted(items, key=order.index)), rows)
        for (known, items), rows in supports(lines, m).items()
        if rows < k
    ]
    return sorted(rare, key=lambda one: (len(one[1]), place.index(one[0]), [order.index(x) for x in one[1]]))


def greatest_k(lines: Lines, m: float) -> int | None:
    return min(supports(lines, m).values(), default=None)


# --- shares of sensitive values: pairs of column and value, the column "" for items


def values_of(line: Line, columns: Sequence[str], sensitive: Collection[str]) -> set[tuple[str, str]]:
    held = {(name, value) for name, value in zip(columns, line.kept, strict=True) if name in sensitive}
    return held | {("", item) for item in line.items if item in sensitive}


def share(lines: Lines, columns: Sequence[str], sensitive: Collection[str]) -> Fraction:
    """The greatest share of some rows with one sensitive value."""
    held = [values_of(line, columns, sensitive) for line in lines]
    values = {value for some in held for value in some}
    return max((Fraction(sum(v in some for some in held), len(held)) for v in values), default=Fraction(0))


def betrayals(
    lines: Lines, columns: Sequence[str], sensitive: Collection[str], h: Fraction, p: int
) -> list[tuple[tuple[str, ...], Row, int, Fraction]]:
    """Classes, and smallest sets of at most p other items, whose rows have a value in common too often."""
    found: list[tuple[tuple[str, ...], Row, int, Fraction]] = []
    for known in classes(lines):
        rows = within(lines, known)
        bad: list[Row] = []
        occurring = {items for line in rows for items in sets_of(line.items - set(sensitive), p)}
        for items in sorted(occurring, key=len):
            holding = [line for line in rows if items <= line.items]
            here = share(holding, columns, sensitive)
            if here > h and not any(part <= items for part in bad):
                bad.append(items)
                found.append((known, items, len(holding), here))
    return found


def greatest_share(lines: Lines, columns: Sequence[str], sensitive: Collection[str]) -> Fraction | None:
    shares = [share(within(lines, known), columns, sensitive) for known in classes(lines)]
    return max(shares, default=None)


# --- mixed


def facts(lines: Lines) -> list[frozenset[tuple[int, str]]]:
    """The facts of each row: number of the column and label; items have the number after the last column."""
    return [
        frozenset(enumerate(line.known)) | {(len(line.known), item) for item in line.items} for line in lines
    ]


def mixed_violations(lines: Lines, k: int, m: float) -> dict[frozenset[tuple[int, str]], int]:
    rare: dict[frozenset[tuple[int, str]], int] = {}
    for row in facts(lines):
        for size in range(1, int(min(m, len(row))) + 1):
            for some in map(frozenset, combinations(sorted(row), size)):
                rare[some] = rare.get(some, 0) + 1
    return {some: rows for some, rows in rare.items() if rows < k}


def mixed_greatest_k(lines: Lines, m: float) -> int | None:
    every = mixed_violations(lines, len(lines) + 1, m)
    return min(every.values(), default=None)


# --- an attacker who knows all quasi-identifiers, and m items


def fewest(lines: Lines, m: int) -> list[int]:
    """For each row, the fewest rows that fit its quasi-identifiers and at most m of its items."""
    found = supports(lines, m)
    return [min(found[line.known, items] for items in sets_of(line.items, m)) for line in lines]


def best(lines: Lines, m: int, threshold: int) -> int:
    return sum(n < threshold for n in fewest(lines, m))


def draws(lines: Lines, m: int) -> list[list[int]]:
    """For each row, how many rows fit each set of m items that may be drawn, or the whole row."""
    found = supports(lines, math.inf)
    return [
        [
            found[line.known, frozenset(some)]
            for some in combinations(sorted(line.items), min(m, len(line.items)))
        ]
        for line in lines
    ]


def random(lines: Lines, m: int, threshold: int) -> Fraction:
    return sum(
        (Fraction(sum(n < threshold for n in some), len(some)) for some in draws(lines, m)), Fraction(0)
    )


def best_probability(lines: Lines, m: int) -> Fraction:
    return _mean([Fraction(1, n) for n in fewest(lines, m)])


def random_probability(lines: Lines, m: int) -> Fraction:
    return _mean([_mean([Fraction(1, n) for n in some]) for some in draws(lines, m)])


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def revealing(lines: Lines, order: Sequence[str], m: int, below: int) -> list[tuple[str, int, int]]:
    """List items, with their rows, and the rows with them in a set that few rows of the class show.

    Only sets count whose class has more rows, as do all smaller parts of the set.
    """
    found = supports(lines, m)

    def minimal(known: tuple[str, ...], some: Row) -> bool:
        return found[known, some] < below and all(
            found[known, part] >= below for part in sets_of(some, len(some) - 1)
        )

    out = []
    for item in order:
        rows = sum(
            any(item in some and minimal(line.known, some) for some in sets_of(line.items, m))
            for line in lines
        )
        if rows:
            out.append((item, sum(item in line.items for line in lines), rows))
    return sorted(out, key=lambda one: (-one[2], order.index(one[0])))
