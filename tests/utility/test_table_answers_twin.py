"""Answers to queries over columns and items against a twin of worlds and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from naive import rt_items, rt_measures, rt_table
from naive.anonymize import leaves, up_from
from naive.rt_table import MISSING
from setveil.judges.utility.estimators import estimator_of
from setveil.judges.utility.table_answers import TableQuery, query_errors, random_table_queries, true_answer
from setveil.releases.published.tables import publish
from setveil.rows.tables.table import Table
from tables import fast, parts_of, random_local, random_tables


def twin_query(slow: rt_table.Table, table: Table, query: TableQuery) -> rt_measures.Query:
    """The query in the twin's words."""
    intervals, categories = {}, {}
    for a, wanted in query.values.items():
        column = table.columns[a]
        values = frozenset(column.labels[v] for v in np.flatnonzero(wanted))
        if slow.columns[a].numeric and MISSING not in values:
            numbers = [Fraction(value) for value in values]
            intervals[a] = (min(numbers), max(numbers))
        else:
            categories[a] = values
    return rt_measures.Query(
        intervals, categories, frozenset(table.vocabulary.labels[item] for item in query.items)
    )


def test_answers() -> None:
    for rng, slow in random_tables(60, 61, most_leaves=4):
        table = fast(slow)
        recoded = random_local(rng, slow, 2, 2)
        release = publish(table, parts_of(slow, table, recoded), seed=1)
        queries = random_table_queries(table, 4, seed=rng.randrange(99))
        assert len(queries) == (4 if slow.n else 0)
        estimator = estimator_of(release.table.sets, release.recoding.items, None)
        errors = query_errors(table, release.table, estimator, queries)
        shown = rt_items.published(slow, recoded)
        members = {
            node: [x for x in leaves(slow.items) if node in up_from(slow.items, x)] for node in slow.items
        }
        for query, actual, estimate in zip(queries, errors.actual, errors.estimate, strict=True):
            answer = twin_query(slow, table, query)
            assert actual == true_answer(table, query) == rt_measures.actual(slow, answer) > 0
            assert estimate == pytest.approx(float(rt_measures.estimate(slow, shown, answer, members)))
