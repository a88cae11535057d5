"""Pgen against all pairs of rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.coat import pgen as twin
from setveil.base.errors import RequestError
from setveil.methods.constraints.pgen import pgen
from setveil.rows.data.transactions import Transactions
from strategies import Rows, examples, random_cases, row_lists, transactions

PAPER = [
    frozenset(row)
    for row in ["abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh"]
]


def test_example_5_3() -> None:
    assert pgen(transactions(PAPER[-3:]), 2) == (tuple("acf"), tuple("bh"))


def test_figure_1() -> None:
    assert pgen(transactions(PAPER), 5) == (tuple("abcdefgh"),)
    assert pgen(transactions(PAPER * 5), 5) == ()


def test_twin() -> None:
    for sizes in ({}, {"most_rows": 12, "most_items": 8}, {"most_leaves": 5}):
        for case in random_cases(examples(500, 60), 80, **sizes):
            assert list(pgen(case.data, case.k)) == twin(case.rows, case.k), case


@given(rows=row_lists(), k=st.integers(2, 5))
@settings(deadline=None, max_examples=examples(200, 30))
def test_twin_by_hypothesis(rows: Rows, k: int) -> None:
    assert list(pgen(transactions(rows), k)) == twin(rows, k)


def test_no_rows_and_empty_rows() -> None:
    assert pgen(Transactions.from_rows([]), 2) == ()
    assert pgen(Transactions.from_rows([[], []]), 2) == ()
    assert pgen(Transactions.from_rows([[], ["a"]]), 2) == (("a",),)


def test_order_is_longest_first_then_item_order() -> None:
    data = Transactions.from_rows([["10"], ["9", "2"], ["7", "100"], ["7", "20"], ["1", "3", "4"]])
    assert pgen(data, 2) == (("1", "3", "4"), ("2", "9"), ("7", "20"), ("7", "100"), ("10",))


@pytest.mark.parametrize("k", [1, 0, True, 2.5, "5"])
def test_k_is_checked(k: Any) -> None:
    with pytest.raises(RequestError, match="k must be"):
        pgen(transactions(PAPER), k)
