"""Classes whose rows must not have sensitive values in common too often."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import setveil as sv
from setveil.base.errors import InfeasibleError, RequestError
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.tables.table import TextColumn
from strategies import many
from tables import fast, hierarchy, random_tables


def greatest_share(table: PublishedTable, sensitive: set[str], p: int) -> Fraction:
    """Of a sensitive value in any class, and among its rows that show any p other labels."""
    times: Counter[object] = Counter()
    held: Counter[object] = Counter()
    labels = [[column.labels[code] for code in column.codes] for column in table.columns]
    for row, items in enumerate(table.sets):
        known = tuple(column[row] for column in labels)
        values = [(column.name, column.labels[column.codes[row]]) for column in table.kept]
        values = [value for value in values if value[0] in sensitive]
        values += [("", item) for item in items if item in sensitive]
        others = [item for item in items if item not in sensitive]
        for size in range(p + 1):
            for some in combinations(others, size):
                times[known, some] += 1
                held.update((known, some, value) for value in values)
    shares = [Fraction(n, times[key[:2]]) for key, n in held.items()]  # type: ignore[index]
    return max(shares, default=Fraction(0))


def test_no_class_tells_too_much() -> None:
    made = 0
    for rng, slow in random_tables(80, 99, most_rows=14):
        if slow.n < 4:
            continue
        table = fast(slow)
        codes = np.array([rng.randrange(3) for _ in range(slow.n)], np.int32)
        outcome = TextColumn("outcome", codes, ("x", "y", "z"))
        table = replace(table, kept=(outcome,), header=(*table.header, "outcome"))
        items = list(table.vocabulary.labels)
        sensitive = ["outcome"] + (rng.sample(items, 1) if items and rng.random() < 0.5 else [])
        h, p = rng.choice((Fraction(1, 2), Fraction(2, 3), Fraction(4, 5))), rng.choice((0, 0, 1, 2))
        promise = sv.KKmAnonymity(2, rng.choice((1, 2)), sensitive=sensitive, h=h, p=p)
        try:
            release = sv.anonymize(table, promise, hierarchy=hierarchy(slow), algorithm="rt")
        except InfeasibleError:
            continue
        made += 1
        assert release.verdict.holds
        assert greatest_share(release.release.exposed(), set(sensitive), p) <= h
        assert release.counts is None
    assert made > many(10)


@pytest.mark.parametrize("algorithm", ["forest", "bounding"])
def test_others_say_that_they_do_not_limit_shares(algorithm: str) -> None:
    _, slow = next(random_tables(1, 5, most_rows=12))
    table = fast(slow)
    outcome = TextColumn("outcome", np.arange(slow.n, dtype=np.int32) % 3, ("x", "y", "z"))
    table = replace(table, kept=(outcome,), header=(*table.header, "outcome"))
    promise = sv.KKmAnonymity(2, 2, sensitive=["outcome"], h=0.5)
    with pytest.raises(RequestError, match="does not limit"):
        sv.anonymize(table, promise, hierarchy=hierarchy(slow), algorithm=algorithm)
