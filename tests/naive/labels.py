"""Labels of the groups of a computed hierarchy, without the number that makes them distinct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


def name(members: Iterable[str], rows: Sequence[Sequence[str]], k: int) -> str:
    """Name a group by as many of its most frequent members, at most three, as 40 characters have room for.

    Only members of at least k rows are named, those that equally many rows contain in item order: that of
    numbers if all items of at least k rows are numbers, else that of texts.
    """
    count = Counter(item for row in rows for item in set(row))
    common = [item for item in count if count[item] >= k]
    numbers = all(item.isdigit() for item in common)
    common.sort(key=lambda item: (int(item), "") if numbers else (0, item))
    common.sort(key=lambda item: -count[item])
    named = [item for item in common if item in set(members)]
    for n in (3, 2, 1):
        text = " · ".join([*named[:n], "…"])
        if len(text) <= 40:
            return text
    return f"{named[0][:35].rstrip()}… · …"
