"""Rows as arrays: recoded, copied."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.threads import use_threads
from setveil.kernels.rows import frozen, recode_rows, take_rows
from setveil.rows.data.transactions import Transactions
from strategies import examples, seeded

rows = st.lists(st.lists(st.sampled_from("abcd"), unique=True).map(sorted), max_size=12)


@given(rows, st.data())
def test_taken_rows(rows: list[list[str]], draw: st.DataObject) -> None:
    data = Transactions.from_rows(rows)
    wanted = draw.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    taken = take_rows(data.indptr, data.items, np.array(wanted, np.int64))
    assert list(Transactions(*taken, data.vocabulary)) == [tuple(rows[row]) for row in wanted]


@pytest.mark.parametrize("at_once", [1, 3, 1000])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_are_recoded_and_taken_in_pieces(
    at_once: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("setveil.kernels.rows.AT_ONCE", at_once)
    use_threads(threads)
    rng = seeded(1760)
    for _ in range(examples(60, 30)):
        rows = [[rng.randrange(10) for _ in range(rng.randint(0, 5))] for _ in range(rng.randint(0, 12))]
        indptr = frozen(np.cumsum([0, *map(len, rows)]), np.int64)
        items = frozen([x for row in rows for x in row], np.int32)
        image = np.array([rng.randint(-1, 6) for _ in range(10)], np.int32)
        ends, found = recode_rows(indptr, items, image)
        assert [found[a:b].tolist() for a, b in pairwise(ends.tolist())] == [
            sorted({int(image[x]) for x in row if image[x] >= 0}) for row in rows
        ]
        wanted = [rng.randrange(len(rows)) for _ in range(rng.randint(0, 20))] if rows else []
        ends, found = take_rows(indptr, items, np.array(wanted, np.int64))
        assert [found[a:b].tolist() for a, b in pairwise(ends.tolist())] == [rows[i] for i in wanted]
