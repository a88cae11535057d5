"""The verifier of rows in pieces finds what that of rows in memory finds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.base.errors import RequestError
from setveil.base.progress import silent
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.guarantees.verify.km_pieces import verify_km_pieces
from setveil.rows.data.vocabulary import Vocabulary

rows = st.lists(st.lists(st.sampled_from("abcde"), max_size=5), max_size=9)


@given(rows, st.integers(2, 4), st.integers(1, 3), st.lists(st.integers(0, 9), max_size=3), st.randoms())
def test_pieces(rows: list[list[str]], k: int, m: int, cuts: list[int], random: Any) -> None:
    data = sv.Transactions.from_rows(rows)

    def pieces() -> Iterator[tuple[Any, Any]]:
        for first, last in pairwise([0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]):
            some = [[data.vocabulary.ids[item] for item in row] for row in rows[first:last]]
            for row in some:
                random.shuffle(row)
            indptr = np.cumsum([0, *map(len, some)])
            yield indptr, np.array([item for row in some for item in row], np.int32)

    guarantee = sv.KmAnonymity(k, m)
    found, counted = verify_km_pieces(pieces, data.vocabulary, guarantee, show=3)
    expected = verify_km(data, guarantee, show=3, brief=True, progress=silent)
    assert (found.holds, found.greatest_k) == (expected.holds, expected.greatest_k)
    if m < data.row_lengths().max(initial=0):
        assert (found.violations, found.first) == (expected.violations, expected.first)
        assert found.greatest_m == expected.greatest_m
    assert counted.supports().tolist() == data.supports().tolist()
    assert (counted.n_rows, counted.filled_rows) == (data.n_rows, data.filled_rows)


def test_sets_that_are_too_large() -> None:
    with pytest.raises(RequestError, match="of 3 labels, sets of at most 3 are counted there"):
        verify_km_pieces(lambda: [], Vocabulary("abc"), sv.KmAnonymity(2, 4))
