"""Classes with counts, from their definitions: all worlds of tiny releases, bounds, estimates in fractions.

A class has published rows (sets of labels) and the image of each item (a label, or None: suppressed). What is
published of all classes together are lines, by class and item, and totals, by item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod

from naive.estimates import chance
from naive.km import is_km

Row = frozenset[str]
Image = Mapping[str, str | None]
Line = tuple[int, str]
Table = tuple[tuple[int, ...], ...]  # rows of each class that hold each item


@dataclass(frozen=True)
class Release:
    """A release of rows in classes, and the public knowledge about items."""

    rows: Sequence[Sequence[Row]]  # published rows of each class
    images: Sequence[Image]  # the label of each item in each class
    lines: Mapping[Line, int]
    totals: Mapping[str, int]
    least: int
    none_was_empty: bool = False  # whether it is known that no original row was empty
    unlisted: int = 0
    # items that all rows of the class are known to contain or lack; None: nothing is known
    member: Callable[[Row], bool] | None = None

    @property
    def items(self) -> list[str]:
        return sorted(self.images[0])

    @property
    def countable(self) -> list[bool]:
        return [is_countable(rows, self.least) for rows in self.rows]

    def size(self, number: int, labels: Iterable[str | None]) -> int:
        wanted = {label for label in labels if label is not None}
        return sum(wanted <= row for row in self.rows[number])

    def members(self, number: int, label: str) -> list[str]:
        return [item for item in self.items if self.images[number][item] == label]

    def labels(self, number: int) -> list[str]:
        return sorted(set(chain.from_iterable(self.rows[number])))

    def seen(self, number: int, item: str) -> str | None:
        """Return the label of an item in a class, if its rows show one, else None."""
        label = self.images[number][item]
        return label if label is not None and self.size(number, [label]) else None

    def totalable(self, item: str) -> bool:
        """Return whether every class without published counts shows the item."""
        return all(each or self.seen(c, item) is not None for c, each in enumerate(self.countable))

    def listed(self, item: str) -> int:
        return sum(rows for (_, other), rows in self.lines.items() if other == item)


def is_countable(rows: Sequence[Row], least: int) -> bool:
    empty = sum(not row for row in rows)
    return empty == 0 or empty >= least


def recoded(rows: Sequence[Row], image: Image) -> list[Row]:
    return [frozenset(label for item in row if (label := image[item]) is not None) for row in rows]


def counted(
    table: Table, items: Sequence[str], images: Sequence[Image], countable: Sequence[bool], least: int,
    *, rule: bool = True,
) -> tuple[dict[Line, int], dict[str, int]]:  # fmt: skip
    """Count the lines and totals of a table; without the rule, list every total of at least `least` rows."""
    lines, totals = {}, {}
    for i, item in enumerate(items):
        for c, (supports, image) in enumerate(zip(table, images, strict=True)):
            if supports[i] >= least and (image[item] is not None or countable[c]):
                lines[c, item] = supports[i]
    for i, item in enumerate(items):
        total = sum(supports[i] for supports in table)
        rest = total - sum(lines.get((c, item), 0) for c in range(len(table)))
        known = all(t or image[item] is not None for t, image in zip(countable, images, strict=True))
        if total >= least and (not rule or (known and (rest == 0 or rest >= least))):
            totals[item] = total
    return lines, totals


def table_of(classes: Sequence[Sequence[Row]], items: Sequence[str]) -> Table:
    return tuple(tuple(sum(item in row for row in rows) for item in items) for rows in classes)


def published(
    classes: Sequence[Sequence[Row]], images: Sequence[Image], least: int,
    *, none_was_empty: bool = False, rule: bool = True,
) -> Release:  # fmt: skip
    """Publish original rows in classes, each class with its own image."""
    items = sorted(images[0])
    rows = [recoded(some, image) for some, image in zip(classes, images, strict=True)]
    countable = [is_countable(some, least) for some in rows]
    lines, totals = counted(table_of(classes, items), items, images, countable, least, rule=rule)
    return Release(rows, images, lines, totals, least, none_was_empty)


def holds(release: Release, k: int, m: float) -> bool:
    return all(len(rows) >= k and is_km(rows, k, m) for rows in release.rows)


# --- worlds


def contents(release: Release, number: int, row: Row) -> list[Row]:
    """All that an original row of a class can have held."""
    parts = [some_of(release.members(number, label), empty=False) for label in sorted(row)]
    parts.append(some_of([i for i in release.items if release.images[number][i] is None], empty=True))
    found = [frozenset(chain.from_iterable(choice)) for choice in product(*parts)]
    known = release.member
    return [x for x in found if (x or not release.none_was_empty) and (known is None or known(x))]


def some_of(items: Sequence[str], *, empty: bool) -> list[Row]:
    return [frozenset(c) for size in range(not empty, len(items) + 1) for c in combinations(items, size)]


Ways = Counter[tuple[int, ...]]  # in how many ways rows can be filled, by the rows that each item is in


def ways(
    release: Release, number: int, wanted: Mapping[int, Row] | None = None, *, without: int | None = None
) -> Ways:
    """Fill the rows of a class; `wanted`: the items that some rows must contain."""
    items = release.items
    found: Ways = Counter({(0,) * len(items): 1})
    for q, row in enumerate(release.rows[number]):
        if q == without:
            continue
        more: Ways = Counter()
        possible = contents(release, number, row)
        for content in possible:
            if wanted is not None and q in wanted and not wanted[q] <= content:
                continue
            add = tuple(item in content for item in items)
            for supports, n in found.items():
                more[tuple(s + a for s, a in zip(supports, add, strict=True))] += n
        found = more
    return found


class Worlds:
    """List the tables of all worlds of a release, with the ways of each class to give its part."""

    def __init__(self, release: Release, *, rule: bool = True) -> None:
        self.release = release
        items, numbers = release.items, range(len(release.rows))
        self.ways = [ways(release, c) for c in numbers]
        countable = release.countable
        kept: list[list[tuple[int, ...]]] = []
        for c in numbers:
            own = {item: rows for (at, item), rows in release.lines.items() if at == c}
            able = [countable[c] or release.images[c][item] is not None for item in items]
            kept.append([
                supports for supports in self.ways[c]
                if all(
                    own.get(item) == (s if may and s >= release.least else None)
                    for item, s, may in zip(items, supports, able, strict=True)
                )
            ])  # fmt: skip
        self.tables: list[Table] = []
        for table in product(*kept):
            lines, totals = counted(table, items, release.images, countable, release.least, rule=rule)
            if lines == dict(release.lines) and totals == dict(release.totals):
                self.tables.append(table)
        # of each class: in how many ways the others go with a part of a table
        self.others: list[Counter[tuple[int, ...]]] = [Counter() for _ in numbers]
        for table in self.tables:
            for c in numbers:
                self.others[c][table[c]] += prod(self.ways[d][table[d]] for d in numbers if d != c)

    def number(self) -> int:
        return sum(prod(w[part] for w, part in zip(self.ways, table, strict=True)) for table in self.tables)

    def holding(self, number: int, q: int, some: Row) -> int:
        """In how many worlds a row of a class holds some items."""
        found = ways(self.release, number, {q: some})
        return sum(n * self.others[number][supports] for supports, n in found.items())

    def counts(self, query: Row) -> tuple[int, int]:
        """The fewest and the most rows of all worlds that hold a query."""
        low = high = None
        per_class = [self._reach(c, query) for c in range(len(self.release.rows))]
        for table in self.tables:
            lows = [per_class[c][part][0] for c, part in enumerate(table)]
            highs = [per_class[c][part][1] for c, part in enumerate(table)]
            low = sum(lows) if low is None else min(low, sum(lows))
            high = sum(highs) if high is None else max(high, sum(highs))
        assert low is not None
        assert high is not None
        return low, high

    def _reach(self, number: int, query: Row) -> dict[tuple[int, ...], tuple[int, int]]:
        """For each part of a table, the fewest and the most rows of a class that hold the query."""
        items = self.release.items
        found: dict[tuple[int, ...], tuple[int, int]] = {(0,) * len(items): (0, 0)}
        for row in self.release.rows[number]:
            more: dict[tuple[int, ...], tuple[int, int]] = {}
            for content in contents(self.release, number, row):
                add, hit = tuple(item in content for item in items), query <= content
                for supports, (low, high) in found.items():
                    key = tuple(s + a for s, a in zip(supports, add, strict=True))
                    old = more.get(key, (low + hit, high + hit))
                    more[key] = min(old[0], low + hit), max(old[1], high + hit)
            found = more
        return found


# --- estimates and bounds


def most(release: Release, number: int, item: str) -> int:
    """The most rows of an unlisted item in a class."""
    label = release.seen(number, item)
    if label is None and not release.countable[number]:
        return 0 if item in release.totals else len(release.rows[number])
    return min(release.least - 1, release.size(number, [label]))


def intervals(release: Release) -> dict[Line, tuple[int, int]]:
    numbers = range(len(release.rows))
    first: dict[Line, tuple[int, int]] = {}
    for c in numbers:
        for item in release.items:
            if (c, item) in release.lines:
                first[c, item] = release.lines[c, item], release.lines[c, item]
                continue
            label = release.seen(c, item)
            low = 0
            if label is not None and release.size(c, [label]):
                low = release.size(c, [label]) - sum(
                    release.lines.get((c, other), most(release, c, other))
                    for other in release.members(c, label) if other != item
                )  # fmt: skip
            first[c, item] = max(0, low), most(release, c, item)
    found = dict(first)
    for item in release.items:
        reach = total_range(release, item)
        for c in numbers:
            if reach is None:
                continue
            low, high = first[c, item]
            others = [first[d, item] for d in numbers if d != c]
            found[c, item] = (
                max(low, reach[0] - sum(b for _, b in others)),
                min(high, reach[1] - sum(a for a, _ in others)),
            )
    return found


def total_range(release: Release, item: str) -> tuple[int, int] | None:
    if item in release.totals:
        return release.totals[item], release.totals[item]
    if not release.totalable(item):
        return None
    listed = release.listed(item)
    return (listed + 1 if listed else 0), listed + release.least - 1


ROUNDS = 10  # of fitting


def expected(release: Release) -> dict[Line, Fraction]:
    """Count rows of every item in every class: lines, distributed rests, and remaining needs of labels."""
    numbers = range(len(release.rows))
    rests = {}
    for item in release.items:
        listed = release.listed(item)
        if item in release.totals:
            rests[item] = Fraction(release.totals[item] - listed)
        elif listed and release.totalable(item):
            rests[item] = Fraction(release.least, 2)
        else:
            rests[item] = Fraction(release.unlisted)
    factor = {(c, label): Fraction(1) for c in numbers for label in release.labels(c)}
    levels = levels_of(release, dealt(release, rests, factor))
    if len(release.rows) > 1 and levels:
        for item in release.items:
            if not rests[item] and item not in release.totals:
                under = [(c, release.seen(c, item)) for c in numbers if (c, item) not in release.lines]
                raised_to = sum((levels.get(cell, Fraction(0)) for cell in under), Fraction(0))
                rests[item] = min(Fraction(1), raised_to)
        factor = fitted(release, rests, factor)
        levels = levels_of(release, dealt(release, rests, factor))
    found = dealt(release, rests, factor)
    for (c, label), level in levels.items():
        for item in release.members(c, str(label)):
            if (c, item) not in release.lines:
                found[c, item] = max(found[c, item], level)
    return found


def dealt(
    release: Release, rests: Mapping[str, Fraction], factor: Mapping[tuple[int, str], Fraction]
) -> dict[Line, Fraction]:
    """Lines, and the rest of each item dealt to the other classes by their room times a factor."""
    found: dict[Line, Fraction] = {cell: Fraction(rows) for cell, rows in release.lines.items()}
    for item in release.items:
        parts = {}
        for c in range(len(release.rows)):
            cap = Fraction(most(release, c, item))
            label = release.seen(c, item)
            if (c, item) not in release.lines and cap:
                times = Fraction(1) if label is None else factor[c, label]
                parts[c] = release.size(c, [label]) * times, cap
        rows = fill(rests[item], parts)
        found |= {
            (c, item): rows.get(c, Fraction(0))
            for c in range(len(release.rows))
            if (c, item) not in release.lines
        }
    return found


def fitted(
    release: Release, rests: Mapping[str, Fraction], factor: Mapping[tuple[int, str], Fraction]
) -> dict[tuple[int, str], Fraction]:
    """Compute factors of labels after some rounds: larger if rows are not full, smaller if too full."""
    now = dict(factor)
    for _ in range(ROUNDS):
        rows = dealt(release, rests, now)
        for (c, label), times in list(now.items()):
            own = release.members(c, label)
            got = sum((rows[c, item] for item in own if (c, item) not in release.lines), Fraction(0))
            need = release.size(c, [label]) - sum(release.lines.get((c, item), 0) for item in own)
            if got and need > 0 and (got < need or times > 1):
                # rounded, or the numbers grow without end
                now[c, label] = Fraction(float(max(times * min(need / got, Fraction(1000)), Fraction(1))))
    return now


def levels_of(release: Release, found: Mapping[Line, Fraction]) -> dict[tuple[int, str | None], Fraction]:
    """The level to which unlisted items of a label must be raised, where its rows are not full."""
    levels: dict[tuple[int, str | None], Fraction] = {}
    for c in range(len(release.rows)):
        for label in release.labels(c):
            own = release.members(c, label)
            size = release.size(c, [label])
            lack = size - sum((found[c, item] for item in own), Fraction(0))
            free = [item for item in own if (c, item) not in release.lines]
            if lack > Fraction(size, 10**9) and free:
                levels[c, label] = raised([found[c, item] for item in free], lack)
    return levels


def fill(amount: Fraction, parts: Mapping[int, tuple[Fraction, Fraction]]) -> dict[int, Fraction]:
    """Deal an amount in proportion to room, each part at most its cap; all at their most if that is less."""
    dealt: dict[int, Fraction] = {}
    left = dict(parts)
    while left:
        whole = sum((room for room, _ in left.values()), Fraction(0))
        full = [c for c, (room, cap) in left.items() if amount * room >= cap * whole]
        if not full:
            return dealt | {c: amount * room / whole for c, (room, _) in left.items()}
        for c in full:
            dealt[c] = left.pop(c)[1]
        amount -= sum((dealt[c] for c in full), Fraction(0))
        amount = max(amount, Fraction(0))
    return dealt


def raised(values: Sequence[Fraction], lack: Fraction) -> Fraction:
    """Find the level to which the lowest values are raised so that together they gain `lacking`."""
    ordered = sorted(values)
    for n in range(1, len(ordered) + 1):
        level = (sum(ordered[:n], Fraction(0)) + lack) / n
        if n == len(ordered) or level <= ordered[n]:
            return level
    raise AssertionError


def together(release: Release, number: int, label: str, rows: Mapping[Line, Fraction]) -> Fraction:
    """Compute q of a label in a class, rational up to 40 digits."""
    size = release.size(number, [label])
    shares = [rows[number, item] / size for item in release.members(number, label)]
    if sum(shares) <= 1:
        return Fraction(0)
    return Fraction(chance(shares))


def estimate(release: Release, query: Iterable[str]) -> float:
    wanted = sorted(set(query))
    if len(wanted) == 1 and wanted[0] in release.totals:
        return float(release.totals[wanted[0]])
    rows = expected(release)
    total = Fraction(0)
    for c in range(len(release.rows)):
        image = {item: release.seen(c, item) for item in wanted}
        part = Fraction(release.size(c, [image[item] for item in wanted]))
        labels = [label for item in wanted if (label := image[item]) is not None]
        for item in wanted:
            size = release.size(c, [image[item]])
            part = part * rows[c, item] / size if size else Fraction(0)
        for label in set(labels):
            if labels.count(label) > 1 and part:
                part *= together(release, c, label, rows) ** (labels.count(label) - 1)
        total += part
    low, high = bounds(release, wanted)
    return float(min(max(total, Fraction(low)), Fraction(high)))


def bounds(release: Release, query: Iterable[str]) -> tuple[int, int]:
    wanted = sorted(set(query))
    cells = intervals(release)
    least = greatest = 0
    for c in range(len(release.rows)):
        image = {item: release.seen(c, item) for item in wanted}
        support = release.size(c, [image[item] for item in wanted])
        low = support
        high = support
        for item in wanted:
            low -= release.size(c, [image[item]]) - cells[c, item][0]
            high = min(high, cells[c, item][1])
        for label in {image[item] for item in wanted} - {None}:
            number = sum(image[item] == label for item in wanted)
            if number > 1:
                room = sum(cells[c, item][1] for item in release.members(c, str(label)))
                high = min(high, (room - release.size(c, [label])) // (number - 1))
        least += max(0, low)
        greatest += max(0, high)
    for item in wanted:
        reach = total_range(release, item)
        if reach is not None:
            greatest = min(greatest, reach[1])
    if len(wanted) == 1 and wanted[0] in release.totals:
        least = release.totals[wanted[0]]
    return least, greatest
