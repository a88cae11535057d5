"""Tiny series of releases, by hand and at random."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from setveil.judges.guarantees.series import Known, Presence
from setveil.rows.data.people import Appearance, SeriesPeople

ITEMS = "abcdef"
KNOWN: tuple[Known, ...] = ("histories", "facts")
PRESENCE: tuple[Presence, ...] = ("implied", "known", "ignored")


@dataclass(frozen=True)
class Series:
    """The items of each person in each release, and the label of each item there (None: suppressed)."""

    releases: list[dict[str, frozenset[str]]]
    labels: list[dict[str, str | None]]

    @cached_property
    def people(self) -> list[str]:
        return sorted({p for release in self.releases for p in release})

    @cached_property
    def items(self) -> list[str]:
        return sorted({i for labels in self.labels for i in labels})

    def codes(self) -> SeriesPeople:
        """Return the same in numbers."""
        return SeriesPeople(
            tuple(self._appearance(t) for t in range(len(self.releases))), tuple(self.items), len(self.people)
        )

    def _appearance(self, t: int) -> Appearance:
        there = [p for p in self.people if p in self.releases[t]]
        rows = [[self.items.index(i) for i in sorted(self.releases[t][p])] for p in there]
        shown = sorted({x for x in self.labels[t].values() if x is not None})
        return Appearance(
            np.array([self.people.index(p) for p in there], np.int64),
            np.cumsum([0, *map(len, rows)]).astype(np.int64),
            np.array([i for row in rows for i in row], np.int32),
            np.array([shown.index(x) if (x := self.labels[t].get(i)) else -1 for i in self.items], np.int32),
        )


def series(labels: list[dict[str, str | None]], **people: str) -> Series:
    """Write a series by the items of each person in each release: "ac|a", "-" if the person is not in it."""
    items = sorted({i for row in people.values() for i in row} - set("|-"))
    releases: list[dict[str, frozenset[str]]] = []
    for t, of_labels in enumerate(labels):
        labels[t] = {i: of_labels.get(i, i) for i in items}
        rows = {p: row.split("|")[t] for p, row in people.items()}
        releases.append({p: frozenset(row) for p, row in rows.items() if row != "-"})
    return Series(releases, labels)


def random_series(rng: Random, most_releases: int = 3) -> Series:
    """Draw a few people, releases and recodings."""
    items = ITEMS[: rng.randint(1, 5)]
    people = [f"p{i}" for i in range(rng.randint(1, 8))]
    releases: list[dict[str, frozenset[str]]] = []
    labels: list[dict[str, str | None]] = []
    for _ in range(rng.randint(1, most_releases)):
        chance = rng.random()
        there = [p for p in people if rng.random() < 0.8]
        releases.append({p: frozenset(i for i in items if rng.random() < chance) for p in there})
        labels.append({i: rng.choice([i, "A", "B", None]) for i in items})
    return Series(releases, labels)
