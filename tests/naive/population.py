"""The value of a match to an attacker, from its definition: every key of every row, every sample."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from naive.km import Rows

Row = frozenset[str]


def keys(row: Row, m: int) -> list[Row]:
    return [frozenset(some) for some in combinations(sorted(row), min(m, len(row)))] if row else []


def held(rows: Rows, key: Row) -> int:
    return sum(key <= row for row in rows)


def share(rows: Rows, row: Row, m: int, number: int) -> Fraction:
    """Return the share of a row's keys that exactly `number` rows contain."""
    every = keys(row, m)
    return Fraction(sum(held(rows, key) == number for key in every), len(every)) if every else Fraction(0)


def expected(rows: Rows, m: int, number: int) -> Fraction:
    return sum((share(rows, row, m, number) for row in rows), Fraction(0))


def estimate(rows: Rows, m: int, fraction: Fraction) -> Fraction | None:
    unique, pairs = expected(rows, m, 1), expected(rows, m, 2)
    return fraction * unique / (fraction * unique + (1 - fraction) * pairs) if unique else None


def matches(population: Rows, inside: list[bool], m: int) -> tuple[Fraction, Fraction]:
    """Count the targets whose random key fits a single row of the sample: correct and wrong matches."""
    sample = [row for row, there in zip(population, inside, strict=True) if there]
    right = wrong = Fraction(0)
    for target, there in zip(population, inside, strict=True):
        every = keys(target, m)
        for key in every:
            if held(sample, key) == 1:
                right += Fraction(there, len(every))
                wrong += Fraction(not there, len(every))
    return right, wrong


def truth(population: Rows, inside: list[bool], m: int) -> Fraction | None:
    """The share of the unique matches that are right."""
    right, wrong = matches(population, inside, m)
    return right / (right + wrong) if right + wrong else None


def samples(n: int) -> Iterator[list[bool]]:
    for number in range(2**n):
        yield [bool(number >> at & 1) for at in range(n)]


def fewest(rows: Rows, population: Rows, m: int) -> list[int]:
    """For each row that holds something, the fewest of the population that fit a set of at most m items."""
    return [
        min(held(population, key) for size in range(1, m + 1) for key in keys(row, size))
        for row in rows
        if row
    ]


def mean_chance(rows: Rows, population: Rows, m: int) -> Fraction:
    """Average 1 / the number of rows that fit a key; a row without anything to know fits all rows."""
    total = Fraction(0)
    for row in rows:
        every = keys(row, m) or [frozenset()]
        total += sum((Fraction(1, held(population, key)) for key in every), Fraction(0)) / len(every)
    return total / len(rows)
