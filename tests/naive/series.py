"""Several releases about the same people: the guarantee by its definition, choice by choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Release = Mapping[str, frozenset[str]]  # the items of each person
Labels = Mapping[str, str | None]  # the label of each item; None: suppressed
Token = tuple[int, str]
HERE = "•"


def tokens_of(items: frozenset[str], labels: Labels, t: int, presence: str) -> set[Token]:
    found = {(t, str(labels[i])) for i in items if labels[i] is not None}
    return found if presence == "ignored" else found | {(t, HERE)}


def joined(releases: Sequence[Release], labels: Sequence[Labels], presence: str) -> dict[str, set[Token]]:
    people = {p for release in releases for p in release}
    return {
        p: set().union(*(tokens_of(r[p], labels[t], t, presence) for t, r in enumerate(releases) if p in r))
        for p in people
    }


def known_items(
    person: str, releases: Sequence[Release], labels: Sequence[Labels], known: str, presence: str
) -> Iterator[frozenset[Token]]:
    there = [t for t, release in enumerate(releases) if person in release]
    held = [(item, t) for t in there for item in releases[t][person]]
    each = (
        [[(i, t)] for i, t in held]
        if known == "facts"
        else [[(i, t) for i, t in held if i == item] for item in {i for i, _ in held}]
    )
    for some in each:
        yield frozenset().union(*(tokens_of(frozenset({i}), labels[t], t, presence) for i, t in some))
    if presence == "known":
        yield from (
            [frozenset({(t, HERE) for t in there})]
            if known == "histories"
            else [frozenset({(t, HERE)}) for t in there]
        )


def choices(
    person: str, releases: Sequence[Release], labels: Sequence[Labels], m: int, known: str, presence: str
) -> Iterator[frozenset[Token]]:
    items = sorted(set(known_items(person, releases, labels, known, presence)), key=sorted)
    for size in range(1, m + 1):
        for some in combinations(items, size):
            if together := frozenset().union(*some):
                yield together


def candidates(
    releases: Sequence[Release], labels: Sequence[Labels], m: int, known: str, presence: str
) -> dict[str, int]:
    """Count the people who remain in the worst case for each person; 2**62 if nothing can be known."""
    rows = joined(releases, labels, presence)
    return {
        p: min(
            (sum(some <= row for row in rows.values())
             for some in choices(p, releases, labels, m, known, presence)),
            default=1 << 62,
        )
        for p in rows
    }  # fmt: skip


def newly_exposed(
    releases: Sequence[Release], labels: Sequence[Labels], k: int, m: int, known: str, presence: str
) -> set[str]:
    """Find people exposed only by the last release: the earlier part of the knowledge fits enough rows."""
    rows = joined(releases, labels, presence)
    last = len(releases) - 1
    found = set()
    for p in rows:
        for some in choices(p, releases, labels, m, known, presence):
            before = {token for token in some if token[0] < last}
            if sum(some <= row for row in rows.values()) < k and (
                not before or sum(before <= row for row in rows.values()) >= k
            ):
                found.add(p)
    return found


def exposed_exactly(
    releases: Sequence[Release], labels: Sequence[Labels], k: int, m: int, known: str, presence: str
) -> set[str]:
    """Find people exposed to an attacker who knows exactly which releases each person is in."""
    rows = joined(releases, labels, presence)
    there = {p: frozenset(t for t, release in enumerate(releases) if p in release) for p in rows}
    found = set()
    for p in rows:
        alike = [q for q in rows if there[q] == there[p]]
        attackers = [frozenset[Token](), *choices(p, releases, labels, m, known, presence)]
        if any(sum(some <= rows[q] for q in alike) < k for some in attackers):
            found.add(p)
    return found


def worlds(
    releases: Sequence[Release], labels: Sequence[Labels]
) -> Iterator[list[dict[str, frozenset[str]]]]:
    """List all possible originals, so that every release is as published; rows keep their persons."""
    spots = [(t, p) for t, release in enumerate(releases) for p in release]
    options = [list(_rows_like(releases[t][p], labels[t])) for t, p in spots]
    for chosen in product(*options):
        world: list[dict[str, frozenset[str]]] = [{} for _ in releases]
        for (t, p), row in zip(spots, chosen, strict=True):
            world[t][p] = row
        yield world


def _rows_like(row: frozenset[str], labels: Labels) -> Iterator[frozenset[str]]:
    shown = {labels[i] for i in row} - {None}
    items = sorted(labels)
    for size in range(len(items) + 1):
        for some in combinations(items, size):
            if {labels[i] for i in some} - {None} == shown:
                yield frozenset(some)
