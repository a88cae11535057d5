"""Distributions of columns before and after, against a twin of fractions."""

from __future__ import annotations

import numpy as np
import pytest

from naive import distributions as naive
from setveil.releases.published.tables import publish
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import TextColumn
from setveil.studio.desk.distributions import distribution
from tables import fast, parts_of, random_local, random_tables


@pytest.mark.parametrize("most", [1, 3, 12])
def test_distributions(most: int) -> None:
    for rng, slow in random_tables(60, 71, most_leaves=4):
        table = fast(slow)
        release = publish(table, parts_of(slow, table, random_local(rng, slow, 2, 2)), seed=1)
        for column, old, shown in zip(slow.columns, table.columns, release.table.columns, strict=True):
            labels = [shown.labels[code] for code in shown.codes.tolist()]
            found = distribution(old, shown, most)
            expected = naive.distribution(column, labels, most)
            assert [one.before for one in found] == [before for _, before, _ in expected]
            for one, (_, _, after) in zip(found, expected, strict=True):
                assert one.after == pytest.approx(float(after), abs=1e-9)


def test_rows_are_counted_once() -> None:
    for rng, slow in random_tables(60, 72, most_leaves=4):
        table = fast(slow)
        release = publish(table, parts_of(slow, table, random_local(rng, slow, 2, 2)), seed=1)
        for old, shown in zip(table.columns, release.table.columns, strict=True):
            found = distribution(old, shown)
            assert sum(one.before for one in found) == table.n_rows
            assert sum(one.after for one in found) == pytest.approx(table.n_rows)


def test_integers_by_hand() -> None:
    """Check that the rows of [20,29] are spread over ten years, and single values stay."""
    column = quasi_identifier("age", np.array([0, 1, 1, 2, 3]), ["20", "29", "34", "43"], numeric=True)
    shown = TextColumn("age", np.array([0, 0, 0, 1, 1], np.int32), ("[20,29]", "[34,43]"))
    found = distribution(column, shown, most=2)
    assert [(one.values, one.before, one.after) for one in found] == [
        ("20 to 31", 3, 3.0),
        ("32 to 43", 2, 2.0),
    ]
    fine = distribution(column, shown, most=24)
    assert len(fine) == 24
    assert [(one.values, one.before, one.after) for one in fine[:2]] == [
        ("20", 1, 3 * 0.1),
        ("21", 0, 3 * 0.1),
    ]
