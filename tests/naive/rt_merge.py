"""Rmerger, Tmerger, RTmerger, and their mirror image that bounds the items, from their pseudo-code."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from naive import rt_items
from naive.km import Rows
from naive.rt_items import ItemAlgorithm, item_loss
from naive.rt_table import Part, Parts, Table, relational_loss


class TooTightError(Exception):
    """The bound cannot be met; holds the least loss that was reached."""


def shares(rows: Rows) -> dict[str, Fraction]:
    return {item: Fraction(sum(item in row for row in rows), len(rows)) for row in rows for item in row}


def item_distance(table: Table, c: Part, d: Part) -> Fraction:
    f, g = shares(table.rows(c)), shares(table.rows(d))
    items = {*f, *g}
    nothing = Fraction(0)
    if not items:
        return nothing
    common = sum((min(f.get(i, nothing), g.get(i, nothing)) for i in items), nothing)
    return 1 - common / sum((max(f.get(i, nothing), g.get(i, nothing)) for i in items), nothing)


def relational_score(table: Table, c: Part, d: Part) -> Fraction:
    both = (*c, *d)
    return len(both) * table.ncp(both) - len(d) * table.ncp(d)


def partners(table: Table, clusters: Parts, c: Part, by: str) -> Parts:
    """All others, the best first; `clusters` are in order."""
    others = [d for d in clusters if d != c]
    by_r = sorted(others, key=lambda d: relational_score(table, c, d))
    by_t = sorted(others, key=lambda d: item_distance(table, c, d))
    if by == "r":
        return by_r
    if by == "t":
        return by_t
    return sorted(by_r, key=lambda d: by_r.index(d) + by_t.index(d))  # stable: ties by r


def joined(table: Table, clusters: Parts, c: Part, d: Part) -> tuple[Parts, Part]:
    """Merge two clusters; return all clusters in order, and the merged one."""
    (both,) = table.in_order([(*c, *d)])
    return table.in_order([*(other for other in clusters if other not in (c, d)), both]), both


def merges(table: Table, clusters: Parts, by: str, delta: Fraction) -> Iterator[Parts]:
    """The clusters at the start and after each merge, while R stays within delta."""
    clusters = table.in_order(clusters)
    if relational_loss(table, clusters) > delta:
        raise TooTightError(relational_loss(table, clusters))
    yield clusters
    open_ones = list(clusters)
    while len(clusters) >= 2 and open_ones:
        c = min(
            (c for c in clusters if c in open_ones), key=lambda c: len(c) * table.ncp(c)
        )  # the first of equals
        for d in partners(table, clusters, c, by):
            changed, both = joined(table, clusters, c, d)
            if relational_loss(table, changed) <= delta:
                open_ones = [other for other in open_ones if other not in (c, d)] + [both]
                clusters = changed
                yield clusters
                break
        else:
            open_ones.remove(c)


def merged(table: Table, clusters: Parts, by: str, delta: Fraction) -> Parts:
    """The clusters when no two fit any more."""
    return list(merges(table, clusters, by, delta))[-1]


def bounded(
    table: Table,
    clusters: Parts,
    by: str,
    delta: Fraction,
    k: int,
    m: float,
    algorithm: ItemAlgorithm,
    *,
    every: bool = False,
) -> Parts:
    """The clusters of least T at the start and the end, or after any merge; of equals the first."""
    seen = list(merges(table, clusters, by, delta))
    looked_at = seen if every else [seen[0], seen[-1]]
    return min(
        looked_at, key=lambda parts: rt_items.total(table, rt_items.recode(table, parts, k, m, algorithm))
    )


def bound_items(
    table: Table, clusters: Parts, by: str, delta: Fraction, k: int, m: float, algorithm: ItemAlgorithm
) -> Parts:
    """Merge the cluster of greatest item loss with its best partner until T is within delta."""
    clusters = table.in_order(clusters)

    def lost(c: Part) -> Fraction:
        return item_loss(table.rows(c), algorithm(table.rows(c), table.items, k, m))

    while (t := sum(map(lost, clusters), Fraction(0)) / max(rt_items.occurrences(table.sets), 1)) > delta:
        if len(clusters) == 1:
            raise TooTightError(t)
        c = max(clusters, key=lost)  # the first of equals
        clusters, _ = joined(table, clusters, c, partners(table, clusters, c, by)[0])
    return clusters
