"""Sweep over the least size of classes, and splits by gain, with the best items of every class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from naive import rt_items
from naive.rt_classes import mondrian, split, whole
from naive.rt_items import Image, ItemAlgorithm, NoRecodingError, item_loss
from naive.rt_table import Part, Parts, Table, relational_loss


@dataclass(frozen=True)
class Point:
    """One point of the frontier."""

    least: int
    parts: Parts
    r: Fraction
    t: Fraction
    f: Fraction


class Valuer:
    """The losses of parts, relational and of items (LM), at one setting; a part's items are computed once."""

    def __init__(
        self,
        table: Table,
        k: int,
        m: float,
        share: Fraction,
        algorithm: ItemAlgorithm,
        filled: int | None = None,
        start: Parts | None = None,
    ) -> None:
        self.table, self.k, self.m, self.share, self.algorithm = table, k, m, share, algorithm
        self.filled = filled  # rows with items that a part must have, if it has any
        self.start = whole(table) if start is None else start  # the largest parts that may be classes
        self.found: dict[frozenset[int], Image] = {}

    def items(self, part: Part) -> Image:
        key = frozenset(part)
        if key not in self.found:
            self.found[key] = self.algorithm(self.table.rows(part), self.table.items, self.k, self.m)
        return self.found[key]

    def r(self, parts: Parts) -> Fraction:
        return relational_loss(self.table, parts)

    def t(self, parts: Parts) -> Fraction:
        lost = (item_loss(self.table.rows(part), self.items(part), "lm") for part in parts)
        return sum(lost, Fraction(0)) / max(rt_items.occurrences(self.table.sets), 1)

    def f(self, parts: Parts) -> Fraction:
        return self.share * self.r(parts) + (1 - self.share) * self.t(parts)

    def f_or_more(self, parts: Parts) -> Fraction | float:
        """Compute f, with infinity if items cannot be published."""
        try:
            return self.f(parts)
        except NoRecodingError:
            return inf


def sizes(valuer: Valuer) -> list[tuple[int, Parts]]:
    """The classes to try: least = k, 4k, 16k, ... while at most half of the rows, then the largest parts."""
    table = valuer.table
    points = []
    least = valuer.k
    while 2 * least <= table.n:
        points.append((least, mondrian(table, least, valuer.filled, valuer.start)))
        least *= 4
    points.append((table.n, valuer.start))
    return points


def sweep(valuer: Valuer) -> list[Point]:
    """The frontier."""
    return [point(valuer, least, parts) for least, parts in sizes(valuer)]


def point(valuer: Valuer, least: int, parts: Parts) -> Point:
    return Point(least, parts, valuer.r(parts), valuer.t(parts), valuer.f(parts))


def best_of(points: list[Point], allowed: Callable[[Point], bool] = lambda point: True) -> Point | None:
    """The least f, of equals the larger least."""
    return min(filter(allowed, points), key=lambda point: (point.f, -point.least), default=None)


def by_gain(valuer: Valuer) -> Parts:
    """Split from the largest parts downward while f falls."""
    table = valuer.table

    def classes(part: Part) -> Parts:
        options = [split(table, part, a, valuer.k, valuer.filled) for a in range(len(table.columns))]
        found = [parts for parts in options if parts is not None]
        better = min(found, key=valuer.f_or_more, default=None)  # the first column of equals
        if better is None or valuer.f_or_more(better) >= valuer.f_or_more([part]):
            return [part]
        return [final for child in better for final in classes(child)]

    return table.in_order(final for part in valuer.start for final in classes(part))
