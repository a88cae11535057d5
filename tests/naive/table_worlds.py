"""Conclusions from the counts published with a table, over all originals that give it.

The attacker knows parts, or not. A recoded row is its class, its part and what each item becomes in the part:
a label, or "" (suppressed). Within a part, each item has a single label, and labels represent the same items
everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from naive.worlds import Content, Pair, Release, Row, Tally, items_of, subsets


class Recoded(NamedTuple):
    known: str
    part: int
    items: Row


Images = Sequence[Mapping[str, str]]  # of each part


def shown(row: Recoded, images: Images) -> Row:
    return frozenset(images[row.part][item] for item in row.items) - {""}


def pairs_of(items: Row, image: Mapping[str, str]) -> Content:
    return frozenset((item, image[item]) for item in items)


def lines(rows: Sequence[Recoded], images: Images, least: int, *, suppressed: bool) -> dict[Pair, int]:
    """Count items by label, over the whole table."""
    held = Counter(pair for row in rows for pair in pairs_of(row.items, images[row.part]))
    return {pair: n for pair, n in held.items() if n >= least and (pair[1] or suppressed)}


def few_empty(rows: Sequence[Recoded], images: Images, k: int, *, parts: bool = False) -> bool:
    """Return whether some class, or part, has published rows without items, but fewer than k."""
    empty = Counter(row.part if parts else row.known for row in rows if not shown(row, images))
    return any(n < k for n in empty.values())


def contents(labels: Row, suppressed: Row, members: Mapping[str, Row], *, none_empty: bool) -> list[Content]:
    """List all possible contents of a row: at least one item of each label, and any suppressible items.

    The items of a label that the row shows were not suppressed in it.
    """
    under = [
        [frozenset((item, label) for item in some) for some in subsets(members[label]) if some]
        for label in sorted(labels)
    ]
    free = suppressed - frozenset(x for label in labels for x in members[label])
    under.append([frozenset((item, "") for item in some) for some in subsets(free)])
    found = (frozenset[Pair]().union(*parts) for parts in product(*under))
    return [content for content in found if content or not none_empty]


def holding(
    rows: Sequence[Recoded],
    images: Images,
    members: Mapping[str, Row],
    totals: Mapping[Pair, int] | None,
    least: int,
    *,
    lists_suppressed: bool,
    knows_parts: bool,
    none_empty: bool,
) -> list[Counter[Content]]:
    """Count, for each row, the worlds in which it has each possible content."""
    anywhere = frozenset(item for image in images for item, label in image.items() if not label)
    release = Release([], members, anywhere, totals, least, lists_suppressed)
    possible = []
    for row in rows:
        here = frozenset(item for item, label in images[row.part].items() if not label)
        suppressed = here if knows_parts else anywhere
        possible.append(contents(shown(row, images), suppressed, members, none_empty=none_empty))
    before = [Tally(release)]
    for some in possible[:-1]:
        before.append(before[-1].with_row(some))
    found: list[Counter[Content]] = []
    for i, some in enumerate(possible):
        tally = before[i]
        for other in possible[i + 1 :]:
            tally = tally.with_row(other)
        found.append(Counter({content: tally.with_row([content]).number() for content in some}))
    return found


def by_pairs(held: Counter[Content], pairs: Content) -> int:
    """In how many worlds a row holds items under just these labels."""
    items = items_of(pairs)
    return sum(n for content, n in held.items() if frozenset(p for p in content if p[0] in items) == pairs)
