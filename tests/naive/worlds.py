"""All original rows that would have given the same release: worlds, counted one row after the other.

The content of a row of a world is its pairs of an item and the label that represents it, "" if it is
suppressed. The lines of the counts have the same keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

Row = frozenset[str]
Pair = tuple[str, str]
Content = frozenset[Pair]
World = tuple[Content, ...]


@dataclass(frozen=True)
class Release:
    """The information that a release gives an attacker.

    `members` has the items of each label, including labels that are items. `suppressed` are the items that
    may have been suppressed in rows. `lines` are the counts, or None without counts. A pair without a line
    was in fewer than `least` rows, but suppressed pairs in any number if `lists_suppressed` is false.
    """

    rows: Sequence[Row]
    members: Mapping[str, Row]
    suppressed: Row = frozenset()
    lines: Mapping[Pair, int] | None = None
    least: int = 0
    lists_suppressed: bool = True
    none_was_empty: bool = False  # whether it is known that all original rows held something


def subsets(items: Iterable[str]) -> Iterator[Row]:
    ordered = sorted(items)
    for size in range(len(ordered) + 1):
        yield from map(frozenset, combinations(ordered, size))


def contents(release: Release, row: Row) -> list[Content]:
    """List the possible contents of an original row: at least one item of each label, each item once."""
    under: list[list[Content]] = [
        [frozenset((item, label) for item in some) for some in subsets(release.members[label]) if some]
        for label in sorted(row)
    ]
    under.append([frozenset((item, "") for item in some) for some in subsets(release.suppressed)])
    found = []
    for parts in product(*under):
        content = frozenset[Pair]().union(*parts)
        if len(items_of(content)) == sum(map(len, parts)) and (content or not release.none_was_empty):
            found.append(content)
    return found


def items_of(content: Content) -> Row:
    return frozenset(item for item, _ in content)


class Tally:
    """In how many ways some rows can be filled, by the rows that each pair is in then.

    Only pairs whose rows are limited are remembered: one place of a key for each.
    """

    def __init__(self, release: Release) -> None:
        pairs = [(item, label) for label, items in release.members.items() for item in items]
        pairs += [(item, "") for item in release.suppressed if release.lists_suppressed]
        lines = release.lines or {}
        pairs = sorted({*pairs, *lines}) if release.lines is not None else []
        self.place = {pair: i for i, pair in enumerate(pairs)}
        self.most = [lines.get(pair, release.least - 1) for pair in pairs]
        self.exact = {self.place[pair]: rows for pair, rows in lines.items()}
        self.ways: Counter[tuple[int, ...]] = Counter({(0,) * len(pairs): 1})

    def with_row(self, possible: Iterable[Content]) -> Tally:
        """Fill one row more, in any of some ways."""
        out = copy(self)
        out.ways = Counter()
        for content in possible:
            places = [self.place[pair] for pair in content if pair in self.place]
            for used, ways in self.ways.items():
                if all(used[i] < self.most[i] for i in places):
                    rows = list(used)
                    for i in places:
                        rows[i] += 1
                    out.ways[tuple(rows)] += ways
        return out

    def number(self) -> int:
        """Count the ways that agree with all counts."""
        return sum(n for used, n in self.ways.items() if all(used[i] == n for i, n in self.exact.items()))


def worlds(release: Release) -> Iterator[World]:
    """Enumerate all worlds."""
    for world in product(*(contents(release, row) for row in release.rows)):
        tally = Tally(release)
        for content in world:
            tally = tally.with_row([content])
        if tally.number():
            yield world


def number(release: Release) -> int:
    """Count all worlds."""
    tally = Tally(release)
    for row in release.rows:
        tally = tally.with_row(contents(release, row))
    return tally.number()


def holding(release: Release) -> list[Counter[Content]]:
    """Count, for each row, the worlds in which it has each possible content: equal rows have equal counts."""
    found: dict[Row, Counter[Content]] = {}
    for row in set(release.rows):
        others = list(release.rows)
        others.remove(row)
        tally = Tally(release)
        for other in others:
            tally = tally.with_row(contents(release, other))
        found[row] = Counter({c: tally.with_row([c]).number() for c in contents(release, row)})
    return [found[row] for row in release.rows]


def fitting(held: Sequence[Counter[Content]], known: Row) -> list[int]:
    """For each row, in how many worlds it holds all that is known (`held` is the answer of `holding`)."""
    return [sum(n for content, n in row.items() if known <= items_of(content)) for row in held]


def answers(release: Release, query: Row) -> Counter[int]:
    """In how many worlds a query has each answer: the number of rows that hold all of its items."""
    return answers_where(release, lambda held: query <= held)


def answers_where(release: Release, holds: Callable[[Row], bool]) -> Counter[int]:
    """Count the worlds by the number of their rows that satisfy the condition on their items."""
    tallies = {0: Tally(release)}
    for row in release.rows:
        possible = contents(release, row)
        yes = [c for c in possible if holds(items_of(c))]
        no = [c for c in possible if not holds(items_of(c))]
        after: dict[int, Tally] = {}
        for answer, tally in tallies.items():
            for to, some in ((answer, no), (answer + 1, yes)):
                more = tally.with_row(some)
                if to in after:
                    more.ways += after[to].ways
                after[to] = more
        tallies = after
    return Counter({answer: n for answer, tally in tallies.items() if (n := tally.number())})


def bounds(release: Release, query: Row) -> tuple[int, int]:
    """Least and greatest answer of a query over all worlds."""
    found = answers(release, query)
    return min(found), max(found)


def mean(release: Release, query: Row) -> Fraction:
    """Mean answer of a query over all worlds, each as likely as any other."""
    found = answers(release, query)
    return Fraction(sum(answer * n for answer, n in found.items()), sum(found.values()))
