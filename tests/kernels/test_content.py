"""Rows by content: their order, and equal ones merged, in ranges or all at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.threads import use_threads
from setveil.kernels.content import content_order, merge_rows_by_content
from setveil.rows.data.transactions import Transactions


def test_content_order() -> None:
    data = Transactions.from_rows([["b"], ["a", "c"], [], ["a"], ["a", "b"], ["a"]])
    assert content_order(data.indptr, data.items).tolist() == [2, 3, 5, 4, 1, 0]


@pytest.mark.parametrize(("few", "at_once", "threads"), [(25, 1, 1), (5, 3, 2), (0, 1, 7)])
@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True).map(sorted), max_size=25))
def test_rows_by_content(few: int, at_once: int, threads: int, rows: list[list[str]]) -> None:
    use_threads(threads)
    data = Transactions.from_rows(rows)
    by_content = sorted(range(len(rows)), key=lambda row: rows[row])
    distinct = sorted({tuple(row) for row in rows})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setveil.kernels.content.FEW", few)
        patch.setattr("setveil.kernels.content.OF_A_RANGE", 2)
        patch.setattr("setveil.kernels.rows.AT_ONCE", at_once)
        assert content_order(data.indptr, data.items).tolist() == by_content
        group, first, weights = merge_rows_by_content(data.indptr, data.items)
    assert group.tolist() == [distinct.index(tuple(row)) for row in rows]
    assert first.tolist() == [rows.index(list(row)) for row in distinct]
    assert weights.tolist() == [rows.count(list(row)) for row in distinct]
