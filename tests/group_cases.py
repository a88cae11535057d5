"""Rows in groups, published as they are."""

from __future__ import annotations

from random import Random

import numpy as np

from naive import cahd as naive
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.vocabulary import Vocabulary, item_order
from strategies import Rows, transactions

ROWS = [frozenset(row) for row in ("as", "a", "ab", "bt", "b", "b")]
SENSITIVE = frozenset("st")
GROUPS = [[0, 1, 2], [3, 4, 5]]


def publish(rows: Rows, sensitive: frozenset[str], found: naive.Groups) -> PublishedGroups:
    """Publish groups as they are, row by row."""
    labels = item_order({item for row in rows for item in row & sensitive})
    counts = [[sum(s in rows[x] for x in group) for s in labels] for group in found]
    kinds = [[i for i, n in enumerate(line) if n] for line in counts]
    return PublishedGroups(
        transactions([rows[x] - sensitive for group in found for x in group]),
        np.repeat(np.arange(len(found)), [len(group) for group in found]),
        Vocabulary(labels),
        np.cumsum([0, *map(len, kinds)]),
        np.array([i for line in kinds for i in line], np.int32),
        np.array([counts[g][i] for g, line in enumerate(kinds) for i in line], np.int64),
    )


def random_groups(rng: Random, n: int) -> naive.Groups:
    rows = rng.sample(range(n), n)
    cuts = sorted(rng.sample(range(1, n), rng.randint(0, min(6, n - 1)))) if n > 1 else []
    return [rows[a:b] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
