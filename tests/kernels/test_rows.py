"""Rows as arrays: their order by content."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.kernels.rows import content_order, merge_rows_by_content, take_rows


def test_content_order() -> None:
    data = Transactions.from_rows([["b"], ["a", "c"], [], ["a"], ["a", "b"], ["a"]])
    assert content_order(data.indptr, data.items).tolist() == [2, 3, 5, 4, 1, 0]


rows = st.lists(st.lists(st.sampled_from("abcd"), unique=True).map(sorted), max_size=12)


@given(rows)
def test_rows_by_content(rows: list[list[str]]) -> None:
    data = Transactions.from_rows(rows)
    by_content = sorted(range(len(rows)), key=lambda row: rows[row])
    assert content_order(data.indptr, data.items).tolist() == by_content
    group, first, weights = merge_rows_by_content(data.indptr, data.items)
    distinct = sorted({tuple(row) for row in rows})
    assert group.tolist() == [distinct.index(tuple(row)) for row in rows]
    assert [tuple(rows[row]) for row in first] == distinct
    assert weights.tolist() == [rows.count(list(row)) for row in distinct]


@given(rows, st.data())
def test_taken_rows(rows: list[list[str]], draw: st.DataObject) -> None:
    data = Transactions.from_rows(rows)
    wanted = draw.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    taken = take_rows(data.indptr, data.items, np.array(wanted, np.int64))
    assert list(Transactions(*taken, data.vocabulary)) == [tuple(rows[row]) for row in wanted]
