"""Rows as arrays: their order by content."""

from __future__ import annotations

from setveil.data.transactions import Transactions
from setveil.kernels.rows import content_order


def test_content_order() -> None:
    data = Transactions.from_rows([["b"], ["a", "c"], [], ["a"], ["a", "b"], ["a"]])
    assert content_order(data.indptr, data.items).tolist() == [2, 3, 5, 4, 1, 0]
