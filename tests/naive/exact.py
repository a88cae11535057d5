"""The least loss by trying every cut with every set of its leaves suppressed.

A release is the image of each item: its label, or None if it is suppressed. Suppressing an inner node of a
cut publishes the same as cutting at its leaves and suppressing each, so only leaves are ever suppressed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations
from math import lcm, log2

from naive import measures
from naive.anonymize import Tree, all_cuts, leaves, up_from
from naive.km import Rows, is_km
from naive.measures import Image

Number = int | float | Fraction


@dataclass(frozen=True)
class Terms:
    """The objective of a search, and its restrictions."""

    objective: str = "lm"
    suppress: bool = True
    weights: Mapping[str, Number] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    max_suppressed: Number | None = None


def exactly(number: Number) -> Fraction:
    """Read a number as it is written: 0.3 is 3/10."""
    return Fraction(str(number))


def label_loss(objective: str, members: int, domain: int) -> Fraction:
    """Return the loss of one occurrence whose label represents `members` items."""
    if members == 1:
        return Fraction(0)
    return Fraction(members, domain) if objective == "ncp" else Fraction(members - 1, domain - 1)


def bits(rows: Rows, to: Image, terms: Terms) -> float:
    """Sum over the occurrences what who has the supports does not know of the item, by the items' weights."""
    supports = Counter(chain.from_iterable(rows))
    every = sum(supports.values())
    lost = 0.0
    for item, times in supports.items():
        alike = sum(n for other, n in supports.items() if to[item] is not None and to[other] == to[item])
        one_of = (
            (every if terms.objective == "entropy-max" else every / times)
            if to[item] is None
            else alike / times
        )
        lost += float(exactly(terms.weights.get(item, 1))) * times * log2(one_of)
    return lost


def loss(rows: Rows, to: Image, terms: Terms) -> Fraction | float:
    """Average over the occurrences, each counted by its item's weight; 0 if nothing counts.

    Losses in bits are divided by the loss of the root.
    """
    if terms.objective in ("entropy", "entropy-max"):
        most = bits(rows, dict.fromkeys(to, "root"), terms)
        return bits(rows, to, terms) / (most or 1)
    lost = counted = Fraction(0)
    for item, times in Counter(chain.from_iterable(rows)).items():
        label = to[item]
        weight = times * exactly(terms.weights.get(item, 1))
        members = 0 if label is None else measures.members(to, label)
        lost += weight * (1 if label is None else label_loss(terms.objective, members, len(to)))
        counted += weight
    return lost / counted if counted else Fraction(0)


def hidden(rows: Rows, to: Image) -> int:
    """Count the occurrences that are suppressed, whatever their weight."""
    return sum(to[item] is None for row in rows for item in row)


def share(rows: Rows, occurrences: int) -> Fraction:
    return Fraction(occurrences, max(sum(map(len, rows)), 1))


def candidates(rows: Rows, tree: Tree, terms: Terms) -> Iterator[dict[str, str | None]]:
    """Every cut with every set of its leaves suppressed that the terms allow, private or not.

    Items that never occur stay as they are: to suppress them changes nothing.
    """
    occurring = set(chain.from_iterable(rows))
    paths = {leaf: up_from(tree, leaf) for leaf in leaves(tree)}
    for cut in all_cuts(tree):
        to: dict[str, str | None] = {
            leaf: next(filter(cut.__contains__, path)) for leaf, path in paths.items()
        }
        if any(to[item] != item for item in terms.keep):
            continue
        free = sorted(item for item in occurring - set(terms.keep) if to[item] == item)
        for size in range(len(free) + 1 if terms.suppress else 1):
            for some in combinations(free, size):
                changed = to | dict.fromkeys(some)
                if terms.max_suppressed is None or share(rows, hidden(rows, changed)) <= exactly(
                    terms.max_suppressed
                ):
                    yield changed


def is_valid(rows: Rows, to: Image, k: int, m: float) -> bool:
    published = measures.recode(rows, to)
    return is_km(published, k, 1) and is_km(published, k, m)  # the first is quick and rejects most


def least_loss(rows: Rows, tree: Tree, k: int, m: float, terms: Terms) -> Fraction | float | None:
    """Find the least loss of all valid releases; None if there is none."""
    found = list(candidates(rows, tree, terms))
    if terms.objective in ("entropy", "entropy-max"):
        costs: list[int] | list[float] = [bits(rows, to, terms) for to in found]
    else:
        costs = average_costs(rows, tree, terms, found)
    for i in sorted(range(len(found)), key=costs.__getitem__):
        if is_valid(rows, found[i], k, m):
            return loss(rows, found[i], terms)
    return None


def average_costs(rows: Rows, tree: Tree, terms: Terms, found: list[dict[str, str | None]]) -> list[int]:
    """List what releases lose by NCP or LM, in whole units."""
    items = leaves(tree)
    members = Counter(node for leaf in items for node in up_from(tree, leaf))
    occurrences = Counter(chain.from_iterable(rows))
    weight = {item: exactly(terms.weights.get(item, 1)) * occurrences[item] for item in items}
    per = {node: label_loss(terms.objective, members[node], len(items)) for node in tree}
    # A sum of integers is faster than one of fractions.
    unit = lcm(*(w.denominator for w in weight.values())) * lcm(*(p.denominator for p in per.values()))
    price: dict[tuple[str, str | None], int] = {
        (item, node): int(weight[item] * per[node] * unit) for item in items for node in tree
    }
    price |= {(item, None): int(weight[item] * unit) for item in items}
    return [sum(price[pair] for pair in to.items()) for to in found]


def least_suppressed(rows: Rows, tree: Tree, k: int, m: float, keep: tuple[str, ...]) -> int | None:
    """Find the least number of occurrences that are suppressed in a valid release that keeps some items."""
    found = list(candidates(rows, tree, Terms(keep=keep)))
    counts = [hidden(rows, to) for to in found]
    order = sorted(range(len(found)), key=counts.__getitem__)
    return next((counts[i] for i in order if is_valid(rows, found[i], k, m)), None)
