"""Small random series, in the form of the naive twins and in setveil's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np

from setveil.judges.guarantees.series import Known, Presence, SeriesAnonymity
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.hierarchy.tree import Hierarchy

PROMISES: list[tuple[Known, Presence]] = list(
    product(("histories", "facts"), ("implied", "known", "ignored"))
)
Release = dict[int, frozenset[str]]
Recoding = dict[str, str | None]


@dataclass(frozen=True)
class Case:
    """Releases, the label of each item in them, and a tree over the items."""

    releases: list[Release]
    recodings: list[Recoding]
    parents: dict[str, str | None]
    n_people: int
    k: int
    m: int
    known: Known
    presence: Presence

    @property
    def items(self) -> tuple[str, ...]:
        return Hierarchy(self.parents).labels[: len(self.recodings[0])]

    @property
    def promise(self) -> SeriesAnonymity:
        return SeriesAnonymity(self.k, self.m, self.known, self.presence)

    @property
    def terms(self) -> tuple[int, int, Known, Presence]:
        return self.k, self.m, self.known, self.presence

    def appearance(self, release: Release, recoding: Recoding) -> Appearance:
        people, number = sorted(release), {item: i for i, item in enumerate(self.items)}
        rows = [sorted(number[item] for item in release[person]) for person in people]
        labels = sorted({label for label in recoding.values() if label is not None})
        shown = [-1 if (to := recoding[item]) is None else labels.index(to) for item in self.items]
        return Appearance(
            np.array(people, np.int64),
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([item for row in rows for item in row], np.int32),
            np.array(shown, np.int32),
        )

    @property
    def series(self) -> SeriesPeople:
        some = zip(self.releases, self.recodings, strict=True)
        return SeriesPeople(tuple(self.appearance(*one) for one in some), self.items, self.n_people)


def random_case(rng: Random, promise: tuple[Known, Presence], n_releases: int, most_people: int = 7) -> Case:
    items = list("abcde")[: rng.randint(2, 5)]
    parents: dict[str, str | None] = {"ALL": None}
    split = rng.randint(0, len(items))
    for i, item in enumerate(items):
        group = "L" if i < split else "R"
        parents[item] = group if split not in (0, len(items)) and rng.random() < 0.9 else "ALL"
        if parents[item] != "ALL":
            parents[group] = "ALL"
    n_people = rng.randint(2, most_people)
    releases: list[Release] = []
    recodings: list[Recoding] = []
    for _ in range(n_releases):
        there = [p for p in range(n_people) if rng.random() < 0.75]
        share = rng.choice((0.2, 0.4, 0.7))
        before = releases[-1] if releases and rng.random() < 0.5 else {}
        releases.append({
            p: frozenset(x for x in items if rng.random() < share) | before.get(p, frozenset()) for p in there
        })  # fmt: skip
        recodings.append(random_recoding(rng, parents, items))
    return Case(releases, recodings, parents, n_people, rng.randint(2, 3), rng.choice((1, 2, 2, 3)), *promise)


def random_recoding(rng: Random, parents: dict[str, str | None], items: list[str]) -> Recoding:
    """Draw a cut, with some items suppressed."""
    out: Recoding = {}
    kept = {node: rng.random() < 0.4 for node in parents}
    for item in items:
        chain = [item]
        while (up := parents[chain[-1]]) is not None:
            chain.append(up)
        shown = next((node for node in reversed(chain) if kept[node]), item)
        out[item] = None if shown == item and rng.random() < 0.2 else shown
    return out
