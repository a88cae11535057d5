"""Classes of rows by their quasi-identifiers alone: one algorithm after the other, straight from its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction

from naive.anonymize import up_from
from naive.rt_table import MISSING, Part, Parts, Table


def groups(table: Table, part: Part, a: int) -> list[list[int]]:
    """Rows by the child of the lowest node above all their values."""
    column = table.columns[a]
    lowest = column.lowest({column.values[row] for row in part})
    below: dict[str, list[int]] = {}
    for row in part:
        path = column.paths[column.values[row]]
        below.setdefault(path[path.index(lowest) - 1], []).append(row)
    return list(below.values())


def halves(table: Table, part: Part, a: int) -> Iterator[list[list[int]]]:
    """Split numbers without a tree: missing from present, or at the median, then just below it."""
    values = table.columns[a].values
    missing = [row for row in part if values[row] == MISSING]
    if missing:
        yield [missing, [row for row in part if values[row] != MISSING]]
        return
    number = {row: Fraction(values[row]) for row in part}
    middle = sorted(number.values())[-(-len(part) // 2) - 1]
    yield [[r for r in part if number[r] <= middle], [r for r in part if number[r] > middle]]
    yield [[r for r in part if number[r] < middle], [r for r in part if number[r] >= middle]]


def splits(table: Table, part: Part, a: int) -> Iterator[list[list[int]]]:
    """List the splits of one column in the order in which they are tried."""
    column = table.columns[a]
    if len({column.values[row] for row in part}) == 1:
        return
    if column.whole is None:
        yield from halves(table, part, a)
    else:
        yield groups(table, part, a)


def split(table: Table, part: Part, a: int, least: int, k: int | None = None) -> list[Part] | None:
    """The first split by a column that is allowed; with k, parts hold no or k non-empty rows."""
    for tried in splits(table, part, a):
        parts = [group for group in tried if group]
        filled = [sum(bool(table.sets[row]) for row in group) for group in parts]
        enough = k is None or all(not n or n >= k for n in filled)
        if len(parts) >= 2 and min(map(len, parts)) >= least and enough:
            return [tuple(group) for group in parts]
    return None


def whole(table: Table) -> Parts:
    """All rows in one part."""
    return [tuple(table.canonical)] if table.n else []


def cells(table: Table, coarsest: Mapping[int, Set[str]]) -> Parts:
    """Rows that may show the same labels, none above those given by column."""
    parts: dict[tuple[str, ...], list[int]] = {}
    for row in table.canonical:
        tops = []
        for a, labels in coarsest.items():
            column = table.columns[a]
            assert column.whole is not None
            barred = {node for label in labels for node in up_from(column.whole, label)[1:]}
            path = column.paths[column.values[row]]
            tops.append([node for node in path if node not in barred][-1])
        parts.setdefault(tuple(tops), []).append(row)
    return table.in_order(parts.values())


def mondrian(table: Table, least: int, k: int | None = None, start: Parts | None = None) -> Parts:
    """Strict Mondrian, of all rows or of some parts."""

    def classes(part: Part) -> Iterator[Part]:
        lost = [c.weight * loss for c, loss in zip(table.columns, table.losses(part), strict=True)]
        for a in sorted(range(len(lost)), key=lambda a: (-lost[a], a)):
            if parts := split(table, part, a, least, k):
                for each in parts:
                    yield from classes(each)
                return
        yield part

    parts = whole(table) if start is None else start
    return table.in_order(final for part in parts for final in classes(part))


def cluster(table: Table, k: int) -> Parts:
    """K-member clusters, in the order in which they are made."""
    left = list(table.canonical)
    made: list[list[int]] = []
    seed: int | None = None
    while len(left) >= k:
        previous = seed  # of equals below, the first
        seed = left[0] if previous is None else max(left, key=lambda row: table.ncp([row, previous]))
        left.remove(seed)
        group = [seed]
        while len(group) < k:
            nearest = min(left, key=lambda row: table.ncp([*group, row]))
            left.remove(nearest)
            group.append(nearest)
        made.append(group)
    for row in left:
        growth = [
            (len(group) + 1) * table.ncp([*group, row]) - len(group) * table.ncp(group) for group in made
        ]
        made[growth.index(min(growth))].append(row)
    return [tuple(group) for group in made]


def same(parts: Sequence[Sequence[int]]) -> set[frozenset[int]]:
    """The partition without any order."""
    return {frozenset(part) for part in parts}


def is_anonymous(parts: Sequence[Sequence[int]], k: int) -> bool:
    return all(len(part) >= k for part in parts)
