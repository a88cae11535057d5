"""The sort of compiled code, against Python's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.sorting import SHORT, sort_piece


@given(
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5 * SHORT),
    st.integers(0, 5 * SHORT),
    st.integers(0, 5 * SHORT),
    st.sampled_from(["int32", "int64"]),
)
def test_a_piece_is_sorted_and_the_rest_left(values: list[int], start: int, end: int, dtype: str) -> None:
    start, end = min(start, len(values)), min(end, len(values))
    array = np.array(values, dtype)
    sort_piece(array, start, end)
    assert (
        array.tolist() == values[:start] + sorted(values[start:end]) + values[max(start, end) :]
        or start > end
    )
    assert start <= end or array.tolist() == values


@pytest.mark.parametrize("n", [SHORT - 1, SHORT, SHORT + 1, 2 * SHORT, 3 * SHORT + 1, 16 * SHORT, 10_007])
def test_orders_that_people_have(n: int) -> None:
    rng = np.random.default_rng(n)
    runs = np.concatenate([np.arange(n // 3), np.arange(n // 2), np.arange(n)])[:n]
    for values in (
        np.arange(n),
        np.arange(n)[::-1],
        runs,
        np.zeros(n),
        rng.permutation(n),
        rng.integers(0, 9, n),
    ):
        array = np.ascontiguousarray(values, np.int64)
        sort_piece(array, 0, n)
        assert array.tolist() == sorted(values.tolist())
