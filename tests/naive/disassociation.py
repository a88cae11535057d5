"""Disassociation, its guarantee, estimates and worlds, as slow and obvious as they are defined."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations, product

Row = frozenset[str]


@dataclass
class Chunk:
    """Items, the bag of non-empty projections on them, and the clusters that these come from."""

    clusters: list[int]
    items: list[str]
    rows: list[Row]

    def support(self, itemset: Iterable[str]) -> int:
        wanted = set(itemset)
        return sum(wanted <= row for row in self.rows)


@dataclass
class Chunks:
    """A release: sizes of the clusters, their record chunks and term chunks, shared chunks."""

    sizes: list[int]
    records: list[list[Chunk]]
    terms: list[set[str]]
    shared: list[Chunk] = field(default_factory=list)
    empty: int = 0


def item_order(items: Iterable[str]) -> list[str]:
    listed = sorted(items)
    return sorted(listed, key=int) if all(x.isdecimal() for x in listed) else listed


def support(rows: Iterable[Row], *items: str) -> int:
    return sum(set(items) <= row for row in rows)


def is_km(rows: Sequence[Row], k: int, m: float) -> bool:
    return not rare(rows, k, m)


def rare(rows: Sequence[Row], k: int, m: float) -> dict[Row, int]:
    """Sets of at most m items that some rows hold, but fewer than k."""
    found = {
        frozenset(some)
        for row in set(rows)
        for size in range(1, int(min(m, len(row))) + 1)
        for some in combinations(sorted(row), size)
    }
    counted = {some: sum(some <= row for row in rows) for some in found}
    return {some: n for some, n in counted.items() if n < k}


def horpart(rows: list[Row], least: int, limit: int, order: list[str], ignore: set[str]) -> list[list[Row]]:
    if len(rows) <= limit:
        return [rows]
    for x in sorted(order, key=lambda x: -support(rows, x)):
        n = support(rows, x)
        if x not in ignore and n >= least and (len(rows) - n >= least or len(rows) == n):
            parts = horpart([r for r in rows if x in r], least, limit, order, ignore | {x})
            rest = [r for r in rows if x not in r]
            return parts + (horpart(rest, least, limit, order, ignore) if rest else [])
    return [rows]


def projected(rows: Iterable[Row], items: Iterable[str]) -> list[Row]:
    wanted = frozenset(items)
    return [row & wanted for row in rows if row & wanted]


def few_parts(chunks: Sequence[Chunk], size: int, k: int, m: float) -> bool:
    """Return whether k rows with the known items leave too few parts to fill the rows without an item."""
    parts = sum(len(chunk.rows) for chunk in chunks)
    return not chunks or parts < size + k * (min(m, len(chunks)) - 1)


def verpart(
    number: int, rows: list[Row], order: list[str], k: int, m: float, secrets: Iterable[str]
) -> tuple[list[Chunk], set[str]]:
    held = [x for x in order if support(rows, x)]
    terms = {x for x in held if support(rows, x) < k}
    remain = sorted((x for x in held if x not in terms), key=lambda x: -support(rows, x))
    chunks = [[s] for s in remain if s in secrets]
    remain = [x for x in remain if x not in secrets]
    while remain:
        inside: list[str] = []
        for x in remain:
            if is_km(projected(rows, [*inside, x]), k, m):
                inside.append(x)
        chunks.append(inside)
        remain = [x for x in remain if x not in inside]
    made = [Chunk([number], items, projected(rows, items)) for items in chunks]
    if not terms and few_parts(made, len(rows), k, m):
        least = min((x for items in chunks for x in items), key=lambda x: (support(rows, x), order.index(x)))
        terms.add(least)
        left = [[x for x in items if x != least] for items in chunks]
        made = [Chunk([number], items, projected(rows, items)) for items in left if items]
    return made, terms


def refine(
    out: Chunks, clusters: list[list[Row]], order: list[str], k: int, m: float, secrets: set[str]
) -> None:
    at = {x: i for i, x in enumerate(order)}
    groups = [[c] for c in range(len(clusters))]
    joined = True
    while joined:
        joined = False
        groups.sort(key=lambda g: (sorted({at[x] for c in g for x in out.terms[c]}), min(g)))
        after, i = [], 0
        while i < len(groups):
            chunks = []
            if i + 1 < len(groups):
                g, h = groups[i], groups[i + 1]
                scope = sorted(g + h)
                rows = [row for c in scope for row in clusters[c]]
                placed = {x for c in scope for chunk in out.records[c] for x in chunk.items}
                placed |= {x for chunk in out.shared if set(chunk.clusters) & set(scope) for x in chunk.items}
                in_g = {x for c in g for x in out.terms[c]}
                in_h = {x for c in h for x in out.terms[c]}
                remain = [x for x in order if x in in_g & in_h and x not in placed | secrets]
                remain = sorted((x for x in remain if support(rows, x) >= k), key=lambda x: -support(rows, x))
                terms = {c: set(out.terms[c]) for c in scope}
                while True:
                    inside: list[str] = []
                    for x in remain:
                        held = all(
                            terms[c] - {x} or not few_parts(out.records[c], len(clusters[c]), k, m)
                            for c in scope
                        )
                        if held and is_km(projected(rows, [*inside, x]), k, m):
                            inside.append(x)
                            for c in scope:
                                terms[c].discard(x)
                    if not inside:
                        break
                    chunks.append(Chunk(scope, inside, projected(rows, inside)))
                    remain = [x for x in remain if x not in inside]
            if chunks:
                out.shared += chunks
                for c in scope:
                    out.terms[c] = terms[c]
                after.append(scope)
                joined = True
                i += 2
            else:
                after.append(groups[i])
                i += 1
        groups = after


def disassociate(
    data: Iterable[Row],
    k: int,
    m: float,
    limit: int | None = None,
    *,
    refining: bool = True,
    rho: Fraction | None = None,
    sensitive: Iterable[str] = (),
) -> Chunks:
    """Publish rows in chunks."""
    everything = list(data)
    rows = [row for row in everything if row]
    secrets = set(sensitive) if rho is not None else set()
    least = max(k, math.ceil(k / rho)) if secrets and rho else k
    order = item_order({x for row in rows for x in row})
    clusters = horpart(rows, least, 10 * least if limit is None else limit, order, set()) if rows else []
    out = Chunks([len(c) for c in clusters], [], [], [], len(everything) - len(rows))
    for c, inside in enumerate(clusters):
        for s in secrets:
            cap, kept = math.floor((rho or 1) * len(inside)), 0
            for r, row in enumerate(inside):
                if s in row:
                    kept += 1
                    if kept > cap:
                        inside[r] = row - {s}
        chunks, terms = verpart(c, inside, order, k, m, secrets)
        out.records.append(chunks)
        out.terms.append(terms)
    if refining:
        refine(out, clusters, order, k, m, secrets)
    return out


# --- the guarantee


def _elsewhere(release: Chunks, chunk: Chunk) -> bool:
    """Return whether an item of a shared chunk is also elsewhere in one of its clusters."""
    for c in chunk.clusters:
        others = set(release.terms[c]) | {x for one in release.records[c] for x in one.items}
        others |= {x for one in release.shared if one is not chunk and c in one.clusters for x in one.items}
        if others & set(chunk.items):
            return True
    return False


def failures(
    release: Chunks, k: int, m: float, rho: Fraction | None = None, sensitive: Iterable[str] = ()
) -> set[tuple[int, tuple[int, ...], str]]:
    """Say which of the six conditions fail: their number, the clusters, and the place."""
    out: set[tuple[int, tuple[int, ...], str]] = set()

    def chunk_fails(number: int, chunk: Chunk, name: str, size: int) -> None:
        where = (tuple(chunk.clusters), name)
        shown = {x for row in chunk.rows for x in row}
        if not all(chunk.rows) or not shown <= set(chunk.items) or len(chunk.rows) > size:
            out.add((1, *where))
        if set(chunk.items) - shown:
            out.add((1, *where))
        if not is_km([row for row in chunk.rows if row], k, m):
            out.add((number, *where))
        if rho is None:
            return
        for s in set(sensitive) & shown:
            for row in [frozenset(), *chunk.rows]:
                known = sorted(row - {s})
                for length in range(int(min(m, len(known))) + 1):
                    for some in combinations(known, length):
                        held = chunk.support(some) if some else size
                        if chunk.support([*some, s]) > rho * held:
                            out.add((6, *where))

    for c, size in enumerate(release.sizes):
        if size < k:
            out.add((1, (c,), ""))
        places = Counter(x for chunk in release.records[c] for x in chunk.items)
        places.update(release.terms[c])
        if any(n > 1 for n in places.values()):
            out.add((2, (c,), ""))
        for j, chunk in enumerate(release.records[c]):
            chunk_fails(3, chunk, f"r{j}", size)
        if not release.terms[c] and few_parts(release.records[c], size, k, m):
            out.add((4, (c,), ""))
        if rho is not None and set(sensitive) & release.terms[c] and rho * size < 1:
            out.add((6, (c,), "t"))
    for j, chunk in enumerate(release.shared):
        where = (tuple(chunk.clusters), f"s{j}")
        if len(chunk.clusters) < 2:
            out.add((5, *where))
        chunk_fails(5, chunk, f"s{j}", sum(release.sizes[c] for c in chunk.clusters))
        if _elsewhere(release, chunk) and any(n < k for n in Counter(chunk.rows).values()):
            out.add((5, *where))
    return out


# --- worlds


def _deals(parts: Sequence[Row], places: Sequence[int]) -> Iterator[dict[int, Row]]:
    """All ways to deal parts to different rows."""
    seen = set()
    for chosen in permutations(places, len(parts)):
        deal = tuple(sorted(zip(chosen, (tuple(sorted(row)) for row in parts), strict=True)))
        if deal not in seen:
            seen.add(deal)
            yield {at: frozenset(part) for at, part in deal}


def worlds(release: Chunks) -> Iterator[list[Row]]:
    """All data that a release can come from."""
    starts = [sum(release.sizes[:c]) for c in range(len(release.sizes))]
    rows_of = [list(range(at, at + n)) for at, n in zip(starts, release.sizes, strict=True)]
    choices: list[list[dict[int, Row]]] = []
    everything = [chunk for own in release.records for chunk in own] + release.shared
    choices += [
        list(_deals(chunk.rows, [r for c in chunk.clusters for r in rows_of[c]])) for chunk in everything
    ]
    for c, terms in enumerate(release.terms):
        for x in sorted(terms):
            some = [s for n in range(1, len(rows_of[c]) + 1) for s in combinations(rows_of[c], n)]
            choices.append([dict.fromkeys(where, frozenset({x})) for where in some])
    for choice in product(*choices):
        rows = [frozenset[str]()] * sum(release.sizes)
        for deal in choice:
            for at, part in deal.items():
                rows[at] |= part
        if all(rows):
            yield rows


def broken(release: Chunks, k: int, m: float) -> Row | None:
    """Find a set of at most m items that some world holds, but none in k rows."""
    most: dict[Row, int] = {}
    for rows in worlds(release):
        held = Counter(
            frozenset(some)
            for row in rows
            for n in range(1, int(min(m, len(row))) + 1)
            for some in combinations(sorted(row), n)
        )
        for some, number in held.items():
            most[some] = max(most.get(some, 0), number)
    return next((some for some, number in sorted(most.items(), key=str) if number < k), None)


# --- answers


def places_of(release: Chunks, c: int) -> list[tuple[set[str], Chunk | None, int]]:
    """List the places of items in a cluster: items, chunk (None: the term chunk) and number of its rows."""
    found: list[tuple[set[str], Chunk | None, int]] = [
        (set(chunk.items), chunk, release.sizes[c]) for chunk in release.records[c]
    ]
    found += [
        (set(chunk.items), chunk, sum(release.sizes[d] for d in chunk.clusters))
        for chunk in release.shared
        if c in chunk.clusters
    ]
    return [*found, (set(release.terms[c]), None, 0)]


def estimate(release: Chunks, query: Iterable[str]) -> Fraction:
    wanted, total = set(query), Fraction(0)
    for c, size in enumerate(release.sizes):
        left, chance = set(wanted), Fraction(size)
        for items, chunk, rows in places_of(release, c):
            inside = left & items
            left -= inside
            if chunk is None:
                chance *= Fraction(1, size) ** len(inside)
            elif inside:
                chance *= Fraction(chunk.support(inside), rows)
        total += chance if not left else 0
    return total


def bounds(release: Chunks, query: Iterable[str]) -> tuple[int, int]:
    """The fewest and most rows by SPEC's sums over clusters."""
    wanted, least, greatest = set(query), 0, 0
    for c, size in enumerate(release.sizes):
        left, supports, terms, shared = set(wanted), [], 0, False
        for items, chunk, _ in places_of(release, c):
            inside = left & items
            left -= inside
            if chunk is None:
                terms = len(inside)
            elif inside:
                supports.append(chunk.support(inside))
                shared = shared or len(chunk.clusters) > 1
        if left:
            continue
        greatest += min([size, *supports])
        used = len(supports) + terms
        least += 0 if shared else max(0, sum(supports) + terms - (used - 1) * size)
    return least, greatest
