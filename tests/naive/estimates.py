"""Estimates and bounds from their definitions: subsets listed one by one, all worlds of tiny releases.

A release is its published rows, the items of each label (a missing label represents itself), and its counts:
rows by item and label ("": suppressed), the least number that is listed, and whether suppressed items are
listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

Rows = Sequence[frozenset[str]]
SUPPRESSED = ""


@dataclass(frozen=True)
class Published:
    rows: Rows
    members: Mapping[str, Sequence[str]]
    counts: Mapping[tuple[str, str], int] | None = None
    least: int = 0
    suppressed: bool = True
    local: bool = False
    unlisted: int = 0

    def under(self, label: str) -> Sequence[str]:
        return self.members.get(label, (label,))

    def labels(self) -> list[str]:
        return sorted({label for row in self.rows for label in row} | set(self.members))

    def size(self, labels: Sequence[str]) -> int:
        return sum(set(labels) <= row for row in self.rows)

    def listed(self, label: str) -> dict[str, int]:
        return {item: n for (item, under), n in (self.counts or {}).items() if under == label}

    def most(self, label: str) -> int:
        """Rows of an item without a count."""
        return min(self.size([label]), self.size([label]) if self.counts is None else self.least - 1)

    def places(self, item: str) -> list[str]:
        """The labels that an occurrence of the item may have."""
        found = [label for label in self.labels() if item in self.under(label)]
        if not found or self.local or (item in self.listed(SUPPRESSED)):
            found.append(SUPPRESSED)
        return found


def non_empty(items: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(c) for size in range(1, len(items) + 1) for c in combinations(items, size)]


def rows_thought(release: Published, label: str) -> dict[str, Fraction]:
    """Return the rows of each item of a label: the listed number, or an equal part of the remainder."""
    size, listed = release.size([label]), release.listed(label)
    others = [item for item in release.under(label) if item not in listed]
    out = {item: Fraction(n) for item, n in listed.items()}
    for item in others:
        part = Fraction(size - sum(listed.values()), len(others))
        out[item] = min(max(Fraction(release.unlisted), part), Fraction(release.most(label)))
    return out


def chance(shares: Sequence[Fraction], digits: int = 40) -> Decimal:
    """The root of q = 1 - prod(1 - q p) in (0, 1], by bisection of that equation; 0 if the p sum to 1."""
    if sum(shares) == 1:
        return Decimal(0)
    if max(shares) == 1:
        return Decimal(1)
    with localcontext(prec=3 * digits):
        decimals = [Decimal(p.numerator) / Decimal(p.denominator) for p in shares]
        low, high = Decimal(0), Decimal(1)
        while high - low > high * Decimal(10) ** -digits:
            q = (low + high) / 2
            if 1 - prod((1 - q * p for p in decimals), start=Decimal(1)) > q:
                low = q
            else:
                high = q
    return high


def contents(release: Published, label: str) -> dict[frozenset[str], float]:
    """Return the distribution of a row's items under a label that it shows, over all non-empty sets."""
    items = list(release.under(label))
    sets = non_empty(items)
    if release.counts is None:
        return dict.fromkeys(sets, 1 / len(sets))
    size = release.size([label])
    shares = {item: rows / size for item, rows in rows_thought(release, label).items()}
    q = float(chance(list(shares.values())))
    out = {}
    for inside in sets:
        if q == 0:
            out[inside] = float(shares[min(inside)]) if len(inside) == 1 else 0.0
        else:
            factors = (q * float(p) if item in inside else 1 - q * float(p) for item, p in shares.items())
            out[inside] = prod(factors) / q
    return out


def greatest_entropy(shares: Sequence[float], rounds: int = 20_000) -> dict[frozenset[int], float]:
    """Scale the uniform distribution over non-empty sets, one item after the other, until all shares fit."""
    sets = [
        frozenset(c) for size in range(1, len(shares) + 1) for c in combinations(range(len(shares)), size)
    ]
    found = dict.fromkeys(sets, 1 / len(sets))
    for _ in range(rounds):
        off = 0.0
        for item, share in enumerate(shares):
            now = sum(p for inside, p in found.items() if item in inside)
            off = max(off, abs(now - share))
            for inside in sets:
                found[inside] *= share / now if item in inside else (1 - share) / (1 - now)
        if off < 1e-14:
            break
    return found


def estimate(release: Published, query: Sequence[str]) -> float:
    """Sum over the ways to choose a label for each item; clamped by the bounds of each."""
    total = 0.0
    for labels in choices(release, query):
        chosen = dict(zip(sorted(set(query)), labels, strict=True))
        expected = float(release.size([label for label in labels if label != SUPPRESSED]))
        for label in set(labels) - {SUPPRESSED}:
            wanted = {item for item, under in chosen.items() if under == label}
            if expected:
                expected *= sum(p for inside, p in contents(release, label).items() if wanted <= inside)
        for item, under in chosen.items():
            if under == SUPPRESSED:
                expected *= n_suppressed(release, item) / len(release.rows)
        low, high = bounds_of_choice(release, chosen)
        total += min(max(expected, low), high)
    low, high = bounds(release, query)
    return min(max(total, low), high)


def n_suppressed(release: Published, item: str) -> int:
    """Estimate the rows in which an item was suppressed."""
    listed = release.listed(SUPPRESSED)
    if item in listed:
        return listed[item]
    if release.counts is None or len(release.places(item)) > 1:
        return 0
    return min(release.unlisted, limits(release, item, SUPPRESSED)[1])


def choices(release: Published, query: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return product(*(release.places(item) for item in sorted(set(query))))


def limits(release: Published, item: str, label: str) -> tuple[int, int]:
    """The fewest and the most rows in which an item is published under a label."""
    listed = release.listed(label)
    if item in listed:
        return listed[item], listed[item]
    n = len(release.rows)
    if label == SUPPRESSED:
        return 0, min(n, release.least - 1 if release.counts is not None and release.suppressed else n)
    others = [other for other in release.under(label) if other not in listed and other != item]
    rest = sum(listed.values()) + len(others) * release.most(label)
    return max(0, release.size([label]) - rest), release.most(label)


def bounds_of_choice(release: Published, chosen: Mapping[str, str]) -> tuple[int, int]:
    n = len(release.rows)
    least = release.size([label for label in chosen.values() if label != SUPPRESSED])
    greatest: float = least
    for item, label in chosen.items():
        low, high = limits(release, item, label)
        least -= (n if label == SUPPRESSED else release.size([label])) - low
        greatest = min(greatest, high)
    for label in set(chosen.values()) - {SUPPRESSED}:
        together = sum(under == label for under in chosen.values())
        room = sum(limits(release, item, label)[1] for item in release.under(label)) - release.size([label])
        greatest = min(greatest, room // (together - 1) if together > 1 else inf)
    return max(least, 0), int(greatest)


def bounds(release: Published, query: Sequence[str]) -> tuple[int, int]:
    items = sorted(set(query))
    found = [
        bounds_of_choice(release, dict(zip(items, labels, strict=True)))
        for labels in choices(release, query)
        if release.size([label for label in labels if label != SUPPRESSED])
    ]
    most = [sum(limits(release, item, label)[1] for label in release.places(item)) for item in items]
    high = min([len(release.rows), sum(high for _, high in found), *most])
    return sum(low for low, _ in found), high


def worlds(release: Published, others: Sequence[str] = ()) -> Iterator[list[dict[str, str]]]:
    """All original rows, each item with its label, that give the published rows and the counts.

    `others` are items that the release does not name.
    """
    named = {item for label in release.labels() for item in release.under(label)}
    free = sorted(
        {item for item, _ in release.counts or {}} | set(others) | (named if release.local else set())
    )
    hideable = [item for item in free if SUPPRESSED in release.places(item)]
    per_row = []
    for row in release.rows:
        parts = [
            [dict.fromkeys(inside, label) for inside in non_empty(release.under(label))] for label in row
        ]
        hidden = [dict.fromkeys(inside, SUPPRESSED) for inside in [frozenset[str](), *non_empty(hideable)]]
        options = []
        for choice in product(*parts, hidden):
            merged: dict[str, str] = {}
            if sum(map(len, choice)) == len({item for part in choice for item in part}):
                for part in choice:
                    merged |= part
                options.append(merged)
        per_row.append(options)
    for world in product(*per_row):
        if fits(release, world):
            yield list(world)


def fits(release: Published, world: Sequence[Mapping[str, str]]) -> bool:
    """Return whether rows with their labels would have the counts of the release."""
    if release.counts is None:
        return True
    found: dict[tuple[str, str], int] = {}
    for row in world:
        for place in row.items():
            found[place] = found.get(place, 0) + 1
    listed = {
        (item, label): n
        for (item, label), n in found.items()
        if n >= release.least and (label != SUPPRESSED or release.suppressed)
    }
    return listed == dict(release.counts)
