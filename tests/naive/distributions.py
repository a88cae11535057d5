"""Rows with each value of a column: in the original, and as readers expect them from the labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from naive.rt_measures import share_of_node, share_of_range
from naive.rt_table import MISSING, Column

Line = tuple[frozenset[str], int, Fraction]  # values that are counted together, rows before and after


def _is_range(column: Column, label: str) -> bool:
    return column.whole is None and (label == "*" or label.startswith("["))


def _numbers(column: Column) -> list[Fraction]:
    return sorted({Fraction(value) for value in {*column.values, *column.paths} - {MISSING}})


def intervals(column: Column, most: int) -> list[tuple[Fraction, Fraction]]:
    """Cut the range of the numbers into at most `most` intervals of equal width."""
    numbers = _numbers(column)
    if not numbers:
        return []
    least, greatest = numbers[0], numbers[-1]
    if all(number.denominator == 1 for number in numbers):
        span = int(greatest - least) + 1
        width = Fraction(span // most + (span % most > 0))
        found = [least]
        while found[-1] + width <= greatest:
            found.append(found[-1] + width)
        return [(low, min(low + width - 1, greatest)) for low in found]
    width = (greatest - least) / most
    return [(least + i * width, least + (i + 1) * width) for i in range(most)]


def distribution(column: Column, labels: Sequence[str], most: int) -> list[Line]:
    """Of numbers by intervals, of other values by the most frequent ones; missing numbers first."""
    if not column.numeric:
        rows = {value: column.values.count(value) for value in column.paths}
        order = sorted(column.paths, key=lambda value: (-rows[value], column.position[value]))
        chosen = sorted((x for x in order[:most] if rows[x]), key=column.position.__getitem__)
        groups = [frozenset([value]) for value in chosen]
        rest = frozenset(column.paths) - frozenset(chosen)
        if rest:
            groups.append(rest)
        return [
            (
                group,
                sum(rows[x] for x in group),
                sum((share_of_node(column, x, group) for x in labels), Fraction(0)),
            )
            for group in groups
        ]
    lines: list[Line] = []
    values = {*column.values, *column.paths}
    if MISSING in values:
        held = frozenset([MISSING])
        nodes = [x for x in labels if not _is_range(column, x)]
        after = sum((share_of_node(column, x, held) for x in nodes), Fraction(0))
        lines.append((held, column.values.count(MISSING), after))
    found = intervals(column, most)
    for i, (low, high) in enumerate(found):
        whole = all(number.denominator == 1 for number in _numbers(column))
        last = whole or i == len(found) - 1
        above = {x for x in values - {MISSING} if Fraction(x) >= low}
        held = frozenset(x for x in above if Fraction(x) < high or (last and Fraction(x) == high))
        after = Fraction(0)
        for label in labels:
            if not _is_range(column, label):
                after += share_of_node(column, label, held)
                continue
            ends = column.extremes if label == "*" else [Fraction(x) for x in label.strip("[]").split(",")]
            if ends[0] == ends[1]:
                after += any(Fraction(x) == ends[0] for x in held)
            else:
                after += share_of_range(column, label, low, high)
        lines.append((held, sum(value in held for value in column.values), after))
    return lines
