"""Lines of two numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.runs._row_lines import numbered_lines

numbers = st.integers(0, 2**62) | st.integers(0, 1000)


@given(numbers, st.lists(numbers))
def test_numbered_lines(first: int, values: list[int]) -> None:
    expected = "".join(f"{place},{value}\n" for place, value in enumerate(values, first))
    assert numbered_lines(first, np.array(values, np.int64)).decode() == expected
