"""PCTA straight from its definition: all pairs at every step, Fractions, everything counted again.

A group is a frozenset of items. `privacy` is a list of itemsets in the order of P, `utility` a list of
groups; items that no utility constraint names form one more together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from naive.anonymize import Tree
from naive.coat import (
    Group,
    TooManySuppressedError,
    Weights,
    image_of,
    is_satisfied,
    publish,
    support,
    utility_loss,
)
from naive.km import Rows

Step = tuple[Group, Group] | Group  # two groups that were merged, or one that was suppressed


def pcta(
    rows: Rows,
    items: Sequence[str],
    privacy: Sequence[Sequence[str]],
    utility: Sequence[Iterable[str]],
    k: int,
    s: Fraction = Fraction(1),
    tree: Tree | None = None,
    own: Weights | None = None,
) -> tuple[dict[str, Group | None], list[Step]]:
    """Return the group of each item (None: suppressed), and the steps that led to it."""
    rank = {item: i for i, item in enumerate(items)}
    named = [frozenset(group) for group in utility]
    rest = frozenset(items).difference(*named)
    constraint = {item: group for group in [*named, rest] for item in group}
    occurring = [item for item in items if any(item in row for row in rows)]
    image: dict[str, Group | None] = {item: frozenset({item}) for item in items}
    steps: list[Step] = []

    def first(group: Group) -> int:
        return min(rank[item] for item in group)

    while True:
        published = publish(rows, image)
        unsatisfied = [p for p in privacy if not is_satisfied(published, image_of(p, image), k)]
        if not unsatisfied:
            return image, steps
        p = max(unsatisfied, key=lambda p: support(published, image_of(p, image)))  # the first of equals
        here = [g for g in image_of(p, image) if support(published, [g])]
        clusters = {g for g in image.values() if g and support(published, [g])}
        pairs = []
        for g in here:
            for h in clusters - {g}:
                if constraint[min(g)] == constraint[min(h)]:
                    sup = sum(g in row or h in row for row in published)
                    loss = utility_loss(g | h, sup, len(rows), len(items), tree, own)
                    one, other = sorted((g, h), key=first)
                    pairs.append((loss, first(one), first(other), one, other))
        if pairs:
            *_, one, other = min(pairs, key=lambda pair: pair[:3])
            steps.append((one, other))
            for item in one | other:
                image[item] = one | other
        else:
            gone = min(here, key=lambda g: (support(published, [g]), first(g)))
            steps.append(gone)
            for item in gone:
                image[item] = None
            suppressed = [item for item in items if image[item] is None]
            if len(suppressed) > s * len(occurring):
                raise TooManySuppressedError(constraint[min(gone)], suppressed)
