"""Rows known only by their sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.judges.guarantees.verify.km_pieces import Counted
from setveil.rows.data.sums import Sums, in_memory
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.tabled import TabledRows


def contents(rows: Sums) -> tuple[tuple[str, ...], int, int, int, int, list[int]]:
    return (
        rows.vocabulary.labels, rows.n_rows, rows.filled_rows, rows.n_items, rows.n_occurrences,
        rows.supports().tolist(),
    )  # fmt: skip


def test_sums_are_the_same_wherever_rows_lie(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a", "b"], [], ["b", "c"], ["b"]])
    parts = RowsOnDisk.write(tmp_path, [(data.indptr, data.items)], data.vocabulary)
    counted = Counted(data.vocabulary, data.supports(), np.array([1, 1, 2]))
    for rows in (parts, TabledRows.of(parts), counted):
        assert contents(rows) == contents(data) == (("a", "b", "c"), 4, 3, 3, 5, [1, 3, 1])
        with pytest.raises(
            TypeError, match=f"expected rows in memory, got the sums of {type(rows).__name__}"
        ):
            in_memory(rows)
    assert in_memory(data) is data


def test_rows_that_hold_any_label_of_a_group(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a", "b"], [], ["b", "c"], ["c"]])
    parts = RowsOnDisk.write(tmp_path, [(data.indptr, data.items)], data.vocabulary)
    starts, groups = np.array([0, 1, 3, 3]), np.array([0, 0, 1], np.int32)  # a in 0, b in both, c in none
    assert TabledRows.of(parts).supports_of_groups(starts, groups, 2).tolist() == [2, 2]
    without_b = TabledRows(
        parts, sv.Transactions.from_rows([["a", "c"]]).vocabulary, np.array([0, -1, 1], np.int32)
    )
    assert without_b.supports_of_groups(np.array([0, 1, 2]), np.array([0, 0], np.int32), 1).tolist() == [3]
