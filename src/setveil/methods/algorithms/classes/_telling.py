"""Suppress a little more of a class that has few empty rows, so that it may be published whole.

A class with some empty rows, but fewer than the least count, must not publish its suppressed items, which
then have no total in any class. With a few more empty rows it may. Suppressing a label with all its items
never makes another itemset rarer, so the guarantee still holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations

_MOST = 2  # labels of rows that are emptied at once, where there are rows of so few

Content = tuple[int, ...]


def to_leave_out(rows: Iterable[Content], prices: Mapping[int, int], least: int) -> list[int] | None:
    """Choose labels to suppress until `least` rows are empty, if any are: the cheapest for a row first.

    Rows are the labels that each shows, ascending; prices are the information loss with each label that may
    be suppressed. Nothing where no row is empty, or enough are; None where these labels do not suffice.
    """
    numbers = Counter(rows)
    empty = numbers.pop((), 0)
    gone: set[int] = set()
    while 0 < empty < least:
        able = [content for content in numbers if all(label in prices for label in content)]
        if not able:
            return None
        longest = max(_MOST, min(map(len, able)))
        chosen = min(
            (
                Fraction(
                    sum(prices[label] for label in content), min(_emptied(numbers, content), least - empty)
                ),
                content,
            )
            for content in able
            if len(content) <= longest
        )[1]
        gone |= {*chosen}
        left: Counter[Content] = Counter()
        for content, n in numbers.items():
            left[tuple(label for label in content if label not in gone)] += n
        numbers = left
        empty += numbers.pop((), 0)
    return sorted(gone)


def _emptied(numbers: Counter[Content], content: Content) -> int:
    """Count the rows that show nothing but these labels, and show all of them, or one or two."""
    below = (some for size in range(1, min(len(content), _MOST + 1)) for some in combinations(content, size))
    return numbers[content] + sum(numbers[some] for some in below)
