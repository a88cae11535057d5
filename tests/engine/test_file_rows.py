"""Rows that are read again from their files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from setveil.base.errors import DataError
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.engine.counting import Piece
from setveil.rows.engine.files import FileRows


def test_rows_are_read_anew() -> None:
    rows = [np.array([2, 0, 2], np.int32), np.array([], np.int32), np.array([1], np.int32)]

    def pieces() -> Iterator[Piece]:
        for row in rows:
            yield np.array([0, row.size]), row

    found = FileRows(pieces, Vocabulary("abc"))
    assert (found.n_items, found.n_rows, found.n_occurrences) == (3, 3, 3)
    for _ in range(2):
        assert [items.tolist() for _, items in found.rows()] == [[0, 2], [], [1]]
    rows.pop()
    with pytest.raises(DataError, match="2 rows with 2 items, before 3 with 3"):
        list(found.rows())
