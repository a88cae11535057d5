"""Releases as a run makes them, and random ones for what reads them, guarantees or not."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import setveil as sv
from naive.estimates import Published
from setveil.base.progress import Progress, silent
from setveil.judges.utility.estimates import Estimator
from setveil.releases.published import Release, publish
from setveil.releases.published.counts import Counts
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import transactions


def in_hand(release: sv.VerifiedRelease, *, counts: bool = True) -> Published:
    """Return the published part of a release of rows, for the slow estimates, with its counts or without."""
    listed = release.counts if counts else None
    return Published(
        [frozenset(row) for row in release.published],
        release.release.generalized(),  # type: ignore[attr-defined]
        None if listed is None else {(item, label): rows for item, label, rows in listed.lines()},
        0 if listed is None else listed.least,
        listed is None or listed.suppressed,
        local=release.recoding.kind == "local",
    )


def released(
    module: Any,
    data: Transactions,
    tree: Hierarchy | None,
    guarantee: Any,
    parameters: Any = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Release:
    """Run the module of an algorithm, by default with its own defaults, and publish what it returns."""
    terms = module.Parameters() if parameters is None else parameters
    recoding, details = module.anonymize(data, tree, guarantee, terms, progress)
    return publish(data, recoding, seed, details)


def shared_of(published: Published) -> Shared:
    counts = None
    if published.counts is not None:
        lines = [(item, label, rows) for (item, label), rows in published.counts.items()]
        counts = Counts.from_lines(lines, published.least, suppressed=published.suppressed)
    members = {label: tuple(items) for label, items in published.members.items()}
    about = {"recoding": "local" if published.local else "global"}
    return Shared(transactions(published.rows), members, counts, about, Layout("basket"))


def estimator_of(published: Published) -> Estimator:
    return Estimator(shared_of(published), unlisted=published.unlisted)


def exact(data: Transactions) -> Estimator:
    """Make an estimator that counts rows exactly, as every item represents itself."""
    return Estimator(Shared(data, {}, None, {}, Layout("basket")))


def random_release(rng: Random, most_rows: int, most_items: int) -> tuple[list[dict[str, str]], Published]:
    """Original rows, each item with the label it is published under, and the release that they give."""
    items = [f"i{j}" for j in range(rng.randint(1, most_items))]
    labels = ["A", "B", "A"][: rng.randint(1, 3)]
    local = rng.random() < 0.3
    image = {item: rng.choice([*labels, item, ""]) for item in items}
    if not local:
        # A label of one item alone is a label all the same.
        members = {label: tuple(i for i in items if image[i] == label) for label in set(labels)}
        members = {label: inside for label, inside in members.items() if inside}
    else:
        members = {
            label: tuple(i for i in items if rng.random() < 0.7) or (items[0],) for label in set(labels)
        }
    world = []
    for _ in range(rng.randint(1, most_rows)):
        row = {}
        for item in items:
            if rng.random() < 0.5:
                fitting = [*(label for label in members if item in members[label]), item, ""]
                row[item] = rng.choice(fitting) if local else image[item]
        world.append(row)
    rows = [frozenset(label for label in row.values() if label) for row in world]
    members = {
        label: inside for label, inside in members.items() if local or any(label in row for row in rows)
    }
    if rng.random() < 0.25:
        return world, Published(rows, members, local=local)
    least, suppressed = rng.randint(1, 3), rng.random() < 0.7
    found = Counter(place for row in world for place in row.items())
    counts = {(item, label): n for (item, label), n in found.items() if n >= least and (label or suppressed)}
    unlisted = rng.choice([0, 0, 1, 2])
    return world, Published(rows, members, counts, least, suppressed, local, unlisted)
