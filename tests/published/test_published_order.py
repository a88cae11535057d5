"""In which order rows are published."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.releases.published.rows import by_key, shuffled


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**64 - 1)))
def test_by_key(keys: list[int]) -> None:
    expected = sorted(range(len(keys)), key=keys.__getitem__)
    assert by_key(np.array(keys, np.uint64)).tolist() == expected


def test_shuffled() -> None:
    in_order = np.array([3, 0, 2, 1, 4])
    keys = np.random.PCG64(7).random_raw(5).tolist()
    order, row_map = shuffled(in_order, 7)
    assert order.tolist() == [in_order[place] for place in sorted(range(5), key=keys.__getitem__)]
    assert order[row_map].tolist() == [0, 1, 2, 3, 4]
