"""Labels of releases about the same people, by trying all of them.

A series is a list of releases, each from people to their items. A recoding maps items to labels, and
suppressed items to None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from typing import TypeVar

Release = Mapping[int, frozenset[str]]
Recoding = Mapping[str, str | None]
Token = tuple[int, str | None]  # release and label; None: there is a row
T = TypeVar("T")
Parents = Mapping[str, str | None]


def subsets(things: Sequence[T], most: int) -> Iterator[tuple[T, ...]]:
    return chain.from_iterable(combinations(things, size) for size in range(1, most + 1))


def known_items(
    person: int, releases: Sequence[Release], recodings: Sequence[Recoding], known: str, presence: str
) -> list[frozenset[Token]]:
    """List the tokens of each item of a person that may be known."""
    there = [t for t, release in enumerate(releases) if person in release]
    facts: list[tuple[str | None, int]] = [(item, t) for t in there for item in releases[t][person]]
    if presence == "known":
        facts += [(None, t) for t in there]
    groups: dict[object, set[Token]] = {}
    for item, t in facts:
        tokens = groups.setdefault(item if known == "histories" else (item, t), set())
        label = None if item is None else recodings[t][item]
        if label is not None:
            tokens.add((t, label))
        if presence != "ignored":
            tokens.add((t, None))
    return [frozenset(tokens) for tokens in groups.values() if tokens]


def shown(person: int, releases: Sequence[Release], recodings: Sequence[Recoding]) -> set[Token]:
    """Find all tokens of a person's rows."""
    out: set[Token] = set()
    for t, release in enumerate(releases):
        if person in release:
            out.add((t, None))
            out |= {(t, label) for item in release[person] if (label := recodings[t][item]) is not None}
    return out


def exposed(
    releases: Sequence[Release], recodings: Sequence[Recoding], k: int, m: int, known: str, presence: str,
    forgiven: bool = False,
) -> set[int]:  # fmt: skip
    """Find people with up to m known items that fit fewer than k people.

    forgiven : bool
        Skip knowledge that fitted fewer than k people before the last release already.
    """
    people = sorted(set().union(*releases))
    rows = {person: shown(person, releases, recodings) for person in people}
    last = len(releases) - 1
    out = set()
    for person in people:
        for some in subsets(known_items(person, releases, recodings, known, presence), m):
            tokens = frozenset().union(*some)
            if sum(tokens <= row for row in rows.values()) >= k:
                continue
            before = {token for token in tokens if token[0] < last}
            if forgiven and before and sum(before <= row for row in rows.values()) < k:
                continue
            out.add(person)
            break
    return out


def who_stays(
    releases: Sequence[Release], recodings: Sequence[Recoding], k: int, m: int, known: str, presence: str
) -> set[int]:
    """Find the people who can stay in the last release, by all sets of them; one set contains all others."""
    *earlier, last = releases
    fine = []
    for size in range(len(last) + 1):
        for people in combinations(sorted(last), size):
            some = {person: last[person] for person in people}
            if not exposed([*earlier, some], recodings, k, m, known, presence, forgiven=True):
                fine.append(set(people))
    most = max(fine, key=len)
    assert all(people <= most for people in fine)
    return most


def leaves_below(parents: Parents, node: str) -> list[str]:
    below = [child for child, up in parents.items() if up == node]
    return [leaf for child in below for leaf in leaves_below(parents, child)] if below else [node]


def cuts(parents: Parents, node: str) -> Iterator[list[str]]:
    """List all cuts below a node."""
    yield [node]
    below = [child for child, up in parents.items() if up == node]
    if below:
        for parts in product(*(list(cuts(parents, child)) for child in below)):
            yield list(chain.from_iterable(parts))


def recodings(parents: Parents, items: set[str]) -> Iterator[dict[str, str | None]]:
    """List all cuts of a tree, each with every set of single occurring items suppressed."""
    root = next(node for node, up in parents.items() if up is None)
    for cut in cuts(parents, root):
        labels = {leaf: node for node in cut for leaf in leaves_below(parents, node)}
        alone = sorted(item for item in items if labels[item] == item)
        for size in range(len(alone) + 1):
            for gone in combinations(alone, size):
                yield labels | dict.fromkeys(gone)


def loss(release: Release, recoding: Recoding, parents: Parents) -> tuple[int, int]:
    """Sum the losses of the occurrences, in parts of the greatest loss of one; return both."""
    root = next(node for node, up in parents.items() if up is None)
    worst = max(len(leaves_below(parents, root)) - 1, 1)
    lost = 0
    for items in release.values():
        for item in items:
            label = recoding[item]
            lost += worst if label is None else len(leaves_below(parents, label)) - 1
    return lost, worst


def items_of(release: Release) -> set[str]:
    return set().union(*release.values()) if release else set()


def least_next(
    earlier: Sequence[Release], labels: Sequence[Recoding], release: Release, parents: Parents, k: int,
    m: int, known: str, presence: str, start: Recoding | None = None,
) -> Fraction | None:  # fmt: skip
    """Find the least LM of a release whose people are all in it; None if there is none."""
    best: Fraction | None = None
    total = sum(map(len, release.values()))
    for recoding in recodings(parents, items_of(release)):
        if start is not None and not coarser(recoding, start, parents, items_of(release)):
            continue
        lost, worst = loss(release, recoding, parents)
        share = Fraction(lost, max(worst * total, 1))
        if best is not None and share >= best:
            continue
        if not exposed([*earlier, release], [*labels, recoding], k, m, known, presence, forgiven=True):
            best = share
    return best


def coarser(recoding: Recoding, start: Recoding, parents: Parents, items: set[str]) -> bool:
    """Return whether no label is finer than before; labels of several items are suppressed as a whole."""

    def at_or_above(node: str | None, wanted: str) -> bool:
        above: str | None = wanted
        while above is not None and above != node:
            above = parents[above]
        return above is not None

    for item in items:
        was, now = start[item], recoding[item]
        if now is None:
            if was is not None and was != item:
                together = [other for other in items if start[other] == was]
                if any(recoding[other] is not None for other in together):
                    return False
        elif was is None:
            if now == item:
                return False
        elif not at_or_above(now, was):
            return False
    return True


def least_planned(
    releases: Sequence[Release], parents: Parents, k: int, m: int, known: str, presence: str,
    weights: Sequence[int],
) -> Fraction | None:  # fmt: skip
    """Find the least LM over all occurrences of releases whose labels are all free; None if there is none."""
    total = sum(w * sum(map(len, r.values())) for w, r in zip(weights, releases, strict=True))
    each = []
    for release, weight in zip(releases, weights, strict=True):
        each.append([
            (weight * loss(release, recoding, parents)[0], recoding)
            for recoding in recodings(parents, items_of(release))
        ])  # fmt: skip
    worst = loss(releases[0], dict.fromkeys(parents), parents)[1]
    choices = sorted(product(*each), key=lambda some: sum(lost for lost, _ in some))
    for some in choices:
        if not exposed(releases, [recoding for _, recoding in some], k, m, known, presence):
            return Fraction(sum(lost for lost, _ in some), max(worst * total, 1))
    return None
