"""COAT and Pgen straight from SPEC §5: sets, Fractions, everything counted again at every step.

A group is a frozenset of items. `privacy` is a list of itemsets in the order of P, `utility` a list of
groups; items that no utility constraint names form one more together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from naive.anonymize import Tree, leaves, up_from
from naive.km import Rows, item_order

Group = frozenset[str]
Image = Mapping[str, Group | None]


class TooManySuppressedError(Exception):
    """More than s % of the items that occur would have to be suppressed; holds the utility constraint."""

    def __init__(self, constraint: Group, suppressed: list[str]) -> None:
        super().__init__(constraint, suppressed)
        self.constraint, self.suppressed = constraint, suppressed


class StalledError(Exception):
    """Algorithm 1 as printed neither merges nor suppresses its least supported item, again and again."""


def all_itemsets(rows: Rows, m: int, order: Sequence[str]) -> list[tuple[str, ...]]:
    """List all m-itemsets of the items that occur, in item order; with fewer items, the set of all."""
    occurring = [item for item in order if any(item in row for row in rows)]
    return [p for p in combinations(occurring, min(m, len(occurring))) if p]


def publish(rows: Rows, image: Image) -> list[frozenset[Group]]:
    return [frozenset(g for item in row if (g := image[item]) is not None) for row in rows]


def support(published: Iterable[frozenset[Group]], groups: Iterable[Group]) -> int:
    groups = frozenset(groups)
    return sum(groups <= row for row in published)


def image_of(p: Iterable[str], image: Image) -> frozenset[Group]:
    return frozenset(g for item in p if (g := image.get(item, frozenset({item}))) is not None)


def is_satisfied(published: Sequence[frozenset[Group]], groups: frozenset[Group], k: int) -> bool:
    """Return whether no non-empty subset has a support in (0, k)."""
    return not any(
        0 < support(published, subset) < k
        for size in range(1, len(groups) + 1)
        for subset in combinations(groups, size)
    )


Weights = Mapping[str, Fraction]


def weight(group: Group, tree: Tree | None, own: Weights | None = None) -> Fraction:
    """Return the weight of the lowest common ancestor, else its share of leaves; 1 without a hierarchy."""
    if tree is None:
        return Fraction(1)
    common = [node for node in up_from(tree, min(group)) if all(node in up_from(tree, i) for i in group)]
    if own and common[0] in own:
        return own[common[0]]
    return Fraction(sum(common[0] in up_from(tree, leaf) for leaf in leaves(tree)), len(leaves(tree)))


def utility_loss(
    group: Group, sup: int, n: int, n_items: int, tree: Tree | None, own: Weights | None = None
) -> Fraction:
    """UL of a published group (Definition 3.14)."""
    size = Fraction(2 ** len(group) - 1, 2**n_items - 1)
    return size * weight(group, tree, own) * Fraction(sup, n)


def whole_loss(
    rows: Rows, items: Sequence[str], image: Image, tree: Tree | None, own: Weights, penalties: Weights
) -> tuple[Fraction, Fraction]:
    """UL of the labels, and the penalties Y of suppressed items (Definition 3.16)."""
    published, n = publish(rows, image), len(rows)
    groups = {group for row in published for group in row}
    labels = [utility_loss(g, support(published, [g]), n, len(items), tree, own) for g in groups]
    gone = {item: Fraction(sum(item in row for row in rows), n) for item in items if image[item] is None}
    penalty = [penalties.get(item, share) for item, share in gone.items()]
    return sum(labels, Fraction(0)), sum(penalty, Fraction(0))


def coat(
    rows: Rows,
    items: Sequence[str],
    privacy: Sequence[Sequence[str]],
    utility: Sequence[Iterable[str]],
    k: int,
    s: Fraction = Fraction(1),
    tree: Tree | None = None,
    own: Weights | None = None,
    *,
    printed: bool = False,
) -> dict[str, Group | None]:
    """Run algorithm 1 with the corrections of SPEC §5; return the group of each item (None: suppressed).

    `printed`: omit the correction that continues if neither of its branches acts.
    """
    rank = {item: i for i, item in enumerate(items)}
    named = [frozenset(group) for group in utility]
    rest = frozenset(items).difference(*named)
    constraint = {item: group for group in [*named, rest] for item in group}
    occurring = [item for item in items if any(item in row for row in rows)]
    image: dict[str, Group | None] = {item: frozenset({item}) for item in items}

    def first(group: Group) -> int:
        return min(rank[item] for item in group)

    def best_partner(group: Group, published: list[frozenset[Group]]) -> Group | None:
        others = {
            g
            for item in constraint[min(group)]
            if item in occurring and (g := image[item]) is not None and g != group
        }
        return min(
            others,
            default=None,
            key=lambda g: (
                utility_loss(
                    group | g,
                    sum(group in row or g in row for row in published),
                    len(rows),
                    len(items),
                    tree,
                    own,
                ),
                first(g),
            ),
        )

    while True:
        published = publish(rows, image)
        unsatisfied = [p for p in privacy if not is_satisfied(published, image_of(p, image), k)]
        if not unsatisfied:
            return image
        p = max(unsatisfied, key=lambda p: support(published, image_of(p, image)))  # the first of equals
        while not is_satisfied(published := publish(rows, image), image_of(p, image), k):
            here = [g for g in image_of(p, image) if support(published, [g])]
            here.sort(key=lambda g: (support(published, [g]), first(g)))
            rarest = here[0]
            chosen, partner = rarest, best_partner(rarest, published)
            if partner is None and support(published, [rarest]) >= k:  # neither branch acts: the next one
                if printed:
                    raise StalledError
                for group in here[1:]:
                    if partner := best_partner(group, published):
                        chosen = group
                        break
            if partner is None:
                for item in rarest:
                    image[item] = None
                gone = [item for item in items if image[item] is None]
                if len(gone) > s * len(occurring):
                    raise TooManySuppressedError(constraint[min(rarest)], gone)
            else:
                for item in chosen | partner:
                    image[item] = chosen | partner


def pgen(rows: Rows, k: int) -> list[tuple[str, ...]]:
    """Algorithm 4 by all pairs: distinct maximal rows of support below k, longest first, then item order."""
    order = {item: i for i, item in enumerate(item_order({item for row in rows for item in row}))}
    kept = [
        tuple(sorted(row, key=order.__getitem__))
        for row in set(rows)
        if row and not any(row < other for other in rows) and sum(row <= other for other in rows) < k
    ]
    return sorted(kept, key=lambda row: (-len(row), [order[item] for item in row]))
