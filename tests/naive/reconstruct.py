"""Rows drawn from a release and its counts: lists, sets and Python's integers, with the same random numbers.

And all deals that there are, for small cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from naive.km import item_order

Row = frozenset[str]
Line = tuple[str, str, int]  # item, label ("": suppressed), rows
Deal = tuple[frozenset[int], ...]  # the rows of each item

WORD = (1 << 64) - 1


class Stream:
    """splitmix64, started by the first number of PCG64."""

    def __init__(self, seed: int) -> None:
        self.state = int(np.random.PCG64(seed).random_raw())

    def below(self, n: int) -> int:
        while True:
            self.state = z = (self.state + 0x9E3779B97F4A7C15) & WORD
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
            high, low = divmod(((z ^ (z >> 31)) >> 32) * n, 1 << 32)
            if low >= (1 << 32) % n:
                return high


class Label:
    """The rows that show one label, and which of its items each holds so far."""

    def __init__(self, stream: Stream, n_rows: int, supports: Sequence[int]) -> None:
        self.stream, self.n_rows, self.supports = stream, n_rows, supports
        # A common item has a list of all rows, with its own rows first.
        self.common = [4 * s > n_rows for s in supports]
        self.rows = [list(range(n_rows)) if common else [] for common in self.common]
        self.held: list[set[int]] = [set() for _ in supports]

    def lacking_row(self, item: int) -> int:
        if self.common[item]:
            dealt = len(self.held[item])
            return self.rows[item][dealt + self.stream.below(self.n_rows - dealt)]
        while True:
            row = self.stream.below(self.n_rows)
            if row not in self.held[item]:
                return row

    def put(self, item: int, place: int, row: int) -> None:
        """Let the occurrence at a place of an item's list be in a row."""
        rows = self.rows[item]
        if self.common[item]:
            other = rows.index(row)
            rows[place], rows[other] = row, rows[place]
        else:
            rows[place : place + 1] = [row]
        self.held[item].add(row)

    def add(self, item: int, row: int) -> None:
        self.put(item, len(self.held[item]), row)

    def move(self, item: int, place: int, row: int) -> None:
        self.held[item].remove(self.rows[item][place])
        self.put(item, place, row)

    def deal(self) -> None:
        pool = [item for item, s in enumerate(self.supports) for _ in range(s)]
        for row in range(self.n_rows):
            j = row + self.stream.below(len(pool) - row)
            pool[row], pool[j] = pool[j], pool[row]
            self.add(pool[row], row)
        for item, s in enumerate(self.supports):
            while len(self.held[item]) < s:
                self.add(item, self.lacking_row(item))

    def mix(self, steps: int) -> None:
        occurrences = [(item, place) for item, s in enumerate(self.supports) for place in range(s)]
        for _ in range(steps):
            alone = self.stream.below(2) == 0
            item, place = occurrences[self.stream.below(len(occurrences))]
            row = self.rows[item][place]
            if alone:
                left = sum(row in held for held in self.held)
                if left > 1 and self.supports[item] < self.n_rows:
                    self.move(item, place, self.lacking_row(item))
                continue
            other, there = occurrences[self.stream.below(len(occurrences))]
            to = self.rows[other][there]
            if to not in self.held[item] and row not in self.held[other]:
                self.move(item, place, to)
                self.move(other, there, row)


def reconstruct(
    rows: Sequence[Row],
    members: Mapping[str, Sequence[str]],
    lines: Sequence[Line],
    least: int,
    seed: int,
    mixing: int,
) -> list[Row]:
    """Draw rows once; a label that is not in `members` represents itself."""
    stream = Stream(seed)
    labels = item_order({label for row in rows for label in row})
    under = {label: members.get(label, [label]) for label in labels}
    hidden = [(item, s) for item, label, s in lines if not label]
    rank = item_order({item for items in under.values() for item in items} | {item for item, _ in hidden})
    out: list[set[str]] = [set() for _ in rows]
    for label in labels:
        showing = [row for row, shown in enumerate(rows) if label in shown]
        items = sorted(under[label], key=rank.index)
        listed = {item: s for item, to, s in lines if to == label}
        supports = [listed.get(item, 0) for item in items]
        lacking = max(len(showing) - sum(supports), 0)
        if len(items) == 1:
            supports = [len(showing)]
        else:
            room = [i for i, s in enumerate(supports) if not s]
            for _ in range(lacking):
                j = stream.below(len(room))
                supports[room[j]] += 1
                if supports[room[j]] == min(least - 1, len(showing)):
                    room[j] = room[-1]
                    room.pop()
        dealt = Label(stream, len(showing), supports)
        if len(items) == 1:
            dealt.held = [set(range(len(showing)))]
        else:
            dealt.deal()
            dealt.mix(mixing * sum(supports))
        for item, held in zip(items, dealt.held, strict=True):
            for row in held:
                out[showing[row]].add(item)
    everywhere = list(range(len(rows)))
    for item, s in hidden:
        labels = [label for label in under if item in under[label]]
        bare = [row for row, shown in enumerate(rows) if not shown.intersection(labels)]
        order = bare if labels else everywhere
        for place in range(s):
            j = place + stream.below(len(order) - place)
            order[place], order[j] = order[j], order[place]
            out[order[place]].add(item)
    return [frozenset(row) for row in out]


def in_groups(
    rows: Sequence[Row], group: Sequence[int], counts: Sequence[tuple[int, str, int]], seed: int
) -> list[Row]:
    """One draw of rows in groups; `counts`: group, item, number of rows, by group and in item order."""
    stream = Stream(seed)
    out = [set(row) for row in rows]
    for g, item, number in counts:
        order = [row for row, of in enumerate(group) if of == g]
        for place in range(number):
            j = place + stream.below(len(order) - place)
            order[place], order[j] = order[j], order[place]
            out[order[place]].add(item)
    return [frozenset(row) for row in out]


def recoded(rows: Sequence[Row], image: Mapping[str, str | None]) -> list[Row]:
    """Return the published rows of an image."""
    return [frozenset(image[x] for x in row if image[x] is not None) for row in rows]  # type: ignore[misc]


def supports(rows: Sequence[Row]) -> Counter[str]:
    return Counter(item for row in rows for item in row)


def all_deals(supports: Sequence[int], n_rows: int) -> list[Deal]:
    """List every way to put each item into `supports` rows so that no row is empty."""
    each = [[frozenset(c) for c in combinations(range(n_rows), s)] for s in supports]
    return [deal for deal in product(*each) if len(frozenset().union(*deal)) == n_rows]


def steps(deal: Deal, n_rows: int) -> Iterator[tuple[Deal, float]]:
    """List the deals that one step of mixing can lead to, with their probabilities."""
    occurrences = [(item, row) for item, rows in enumerate(deal) for row in sorted(rows)]
    one = 1 / (2 * len(occurrences))
    for item, row in occurrences:
        lacking = sorted(set(range(n_rows)) - deal[item])
        if sum(row in rows for rows in deal) > 1:
            for to in lacking:
                yield _moved(deal, {item: (row, to)}), one / len(lacking)
        for other, to in occurrences:
            if to not in deal[item] and row not in deal[other]:
                yield _moved(deal, {item: (row, to), other: (to, row)}), one / len(occurrences)


def _moved(deal: Deal, moves: Mapping[int, tuple[int, int]]) -> Deal:
    return tuple(
        rows - {moves[item][0]} | {moves[item][1]} if item in moves else rows
        for item, rows in enumerate(deal)
    )
