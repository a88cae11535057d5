"""Distributions of a column's values: the original one, and the one that a reader of the release expects."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier

if TYPE_CHECKING:
    from setveil.rows.tables.table import TextColumn

MOST = 12  # values, or intervals of numbers, that are told apart


@dataclass(frozen=True)
class Bin:
    """Some values of a column."""

    values: str  # in words; empty: rows without a value
    before: int  # rows of the original that have them
    after: float  # rows that a reader of the release expects to have them


@dataclass(frozen=True)
class _ValueGroup:
    """Values that are counted together."""

    name: str
    members: NDArray[np.bool_]  # bool (n_values,)
    low: Fraction | None = None  # of numbers: from here ...
    high: Fraction | None = None  # ... to here; the end counts in a group of integers, and in the last one


def distribution(column: QuasiIdentifier, shown: TextColumn, most: int = MOST) -> list[Bin]:
    """Count the rows with each of a column's values before and after, in at most `most` values or intervals.

    A reader spreads the rows of a label evenly over what it represents: values below a node, integers of a
    range, or the length of a range of other numbers. Rows of a range that includes missing values count as
    numbers. Intervals of numbers have one width; of other values the most frequent are distinguished from the
    rest.
    """
    rows = np.bincount(column.codes, minlength=column.n_values)
    groups = _intervals(column, most) if column.numeric else _frequent(column, rows, most)
    after = np.zeros(len(groups))
    for label, n in zip(shown.labels, np.bincount(shown.codes, minlength=len(shown.labels)), strict=True):
        span = column.interval_of(label)
        if span is not None:
            after += int(n) * np.array([_share(column, group, *span) for group in groups])
    return [
        Bin(group.name, int(rows[group.members].sum()), float(expected))
        for group, expected in zip(groups, after, strict=True)
    ]


def _frequent(column: QuasiIdentifier, rows: NDArray[np.int64], most: int) -> list[_ValueGroup]:
    """Separate the most frequent values, in the order of the hierarchy; the others are one group."""
    occurring = np.flatnonzero(rows)
    chosen = occurring[np.lexsort([occurring, -rows[occurring]])][:most]
    one = np.arange(column.n_values)
    groups = [_ValueGroup(column.labels[v], one == v) for v in sorted(chosen.tolist())]
    rest = ~np.isin(one, chosen)
    if rest.any():
        groups.append(_ValueGroup(f"{int(rest.sum()):,} other{'s' if rest.sum() > 1 else ''}", rest))
    return groups


def _intervals(column: QuasiIdentifier, most: int) -> list[_ValueGroup]:
    """Cut the numbers into intervals of one width; of integers, each holds as many."""
    first = int(column.missing)
    groups = [_ValueGroup(MISSING, np.arange(column.n_values) == 0)] if first else []
    numbers = [Fraction(label) for label in column.labels[first : column.n_values]]
    if not numbers:
        return groups
    least, greatest = min(numbers), max(numbers)
    if column.integers:
        width = Fraction(-((least - greatest - 1) // most))  # rounded up
        starts = [least + i * width for i in range(int((greatest - least) // width) + 1)]
        ends = [min(start + width - 1, greatest) for start in starts]
    else:
        width = (greatest - least) / most
        starts = [least + i * width for i in range(most)] if width else [least]
        ends = [*starts[1:], greatest]
    place = [min(floor((number - least) / width), len(starts) - 1) if width else 0 for number in numbers]
    at = np.full(column.n_values, -1)
    at[first:] = place
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        name = _written(start) if start == end else f"{_written(start)} to {_written(end)}"
        groups.append(_ValueGroup(name, at == i, start, end))
    return groups


def _written(number: Fraction) -> str:
    return f"{int(number):d}" if number.denominator == 1 else f"{float(number):.4g}"


def _share(column: QuasiIdentifier, group: _ValueGroup, least: int, greatest: int) -> float:
    """Share of the values from `least` to `greatest`, under one label, that are in a group."""
    if least == greatest or column.parent is not None:
        return float(np.count_nonzero(group.members[least : greatest + 1]) / (greatest + 1 - least))
    if group.low is None or group.high is None:
        return 0.0
    ends = Fraction(column.labels[max(least, int(column.missing))]), Fraction(column.labels[greatest])
    if ends[0] == ends[1]:
        return float(group.members[greatest])
    one = int(column.integers)
    both = min(ends[1], group.high) - max(ends[0], group.low) + one
    return float(max(both, Fraction(0)) / (ends[1] - ends[0] + one))
