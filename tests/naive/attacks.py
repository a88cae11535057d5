"""Attacks from their definitions: rows that may hold items, rarest sets, guesses, who is singled out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import comb

Row = frozenset[str]
Under = Mapping[str, Sequence[str]]  # the items that labels represent; other labels represent themselves


def images(rows: Sequence[Row], under: Under, item: str) -> Row:
    """Return the labels in the rows that represent an item."""
    return frozenset(label for row in rows for label in row if item in under.get(label, (label,)))


def fitting(rows: Sequence[Row], under: Under, known: Row) -> list[int]:
    """The rows that may hold all items that any row may hold."""
    wanted = [shown for item in known if (shown := images(rows, under, item))]
    return [at for at, row in enumerate(rows) if all(shown & row for shown in wanted)]


def rarest_size_and_support(rows: Sequence[Row], row: Row, m: int) -> tuple[int, int]:
    """Of the sets of at most m labels the least support, and the least size of such a set."""
    found = [
        (sum(set(some) <= other for other in rows), size)
        for size in range(1, m + 1)
        for some in combinations(row, size)
    ]
    return min(found)


def rarest(rows: Sequence[Row], row: Row, m: int, order: Sequence[str]) -> Row:
    supports = {label: sum(label in other for other in rows) for label in order}
    labels = sorted(row, key=lambda label: (supports[label], order.index(label)))
    least, best = len(rows) + 1, frozenset[str]()
    for size in range(1, m + 1):
        for some in combinations(labels, size):
            held = sum(set(some) <= other for other in rows)
            if held < least:
                least, best = held, frozenset(some)
    return best


def who_fits(people: Sequence[Row], under: Under, labels: Row) -> list[int]:
    """The people who hold an item of each label."""
    return [at for at, row in enumerate(people) if all(row & set(under.get(x, (x,))) for x in labels)]


def guess(
    rows: Sequence[Row],
    under: Under,
    known: Row,
    order: tuple[Sequence[str], Sequence[str]],
    share: Callable[[str, str], tuple[float, float]],
    may_guess: Row,
) -> str | None:
    """The likeliest item of the rows that fit; `order`: of labels, of items."""
    some = fitting(rows, under, known) if any(images(rows, under, x) for x in known) else []
    needed = frozenset().union(*(images(rows, under, x) for x in known)) if some else frozenset()
    looked_at = [rows[at] for at in some] if some else list(rows)
    best, most = None, 0.0
    for item in order[1]:
        estimate = 0.0
        for label in order[0]:
            shown = sum(label in row for row in looked_at)
            if shown and item in under.get(label, (label,)):
                estimate += shown * share(label, item)[label in needed]
        if item in may_guess - known and estimate > most:
            best, most = item, estimate
    return best


def same_row(one: Sequence[int], other: Sequence[int]) -> float:
    """The chance that a row of each is the same."""
    pairs = [(a, b) for a in one for b in other]
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0


def at_least(successes: int, attempts: int, chance: float) -> float:
    return sum(
        comb(attempts, x) * chance**x * (1 - chance) ** (attempts - x) for x in range(successes, attempts + 1)
    )


def fisher(successes: int, attempts: int, others: int, other_attempts: int) -> float:
    both, total = successes + others, attempts + other_attempts
    return sum(
        comb(attempts, x) * comb(other_attempts, both - x) for x in range(successes, min(attempts, both) + 1)
    ) / comb(total, both)
