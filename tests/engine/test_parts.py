"""Rows in parts on disk give the same results as rows in memory."""

from __future__ import annotations

import errno
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from setveil.base.errors import DataError
from setveil.kernels.rows import recode_rows
from setveil.methods.algorithms import aa
from setveil.rows.data.io.parquet import write_files
from setveil.rows.data.io.streams import ListFiles
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.parts import Part, PartRows, RowsOnDisk, write_numbers
from setveil.rows.engine.rows import MemoryRows
from strategies import Case, cut_up, examples, random_case, seeded


def turned_round(indptr: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return indptr, np.concatenate([items[:0], *(items[a:b][::-1] for a, b in pairwise(indptr.tolist()))])


def on_disk(case: Case, folder: Path, at: list[int]) -> RowsOnDisk:
    folder.mkdir()
    return RowsOnDisk.write(folder, starmap(turned_round, cut_up(case.data, at)), case.data.vocabulary)


def contents(rows: tuple[Any, ...]) -> dict[tuple[int, ...], int]:
    """Count the equal rows of each distinct row."""
    indptr, items, weights = (part.tolist() for part in rows)
    return {tuple(items[a:b]): n for (a, b), n in zip(pairwise(indptr), weights, strict=True)}


def test_parts_answer_as_memory_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(520)
    several = 0
    for number in range(examples(60, 15)):
        case = random_case(rng, most_rows=20)
        data, tree = case.data, case.tree
        monkeypatch.setattr("setveil.rows.engine.parts.OF_A_PART", rng.randint(1, 20))
        parts = on_disk(case, tmp_path / str(number), [rng.randint(0, data.n_rows) for _ in range(3)])
        several += len(parts.parts) > 1
        assert (parts.n_rows, parts.n_items) == (data.n_rows, data.n_items)
        assert (parts.filled_rows, parts.n_occurrences) == (data.filled_rows, data.n_occurrences)
        assert parts.supports().tolist() == data.supports().tolist()
        leaf = tree.locate(data.vocabulary)
        disk = PartRows(parts, leaf)
        memory = MemoryRows(*recode_rows(data.indptr, data.items, leaf))
        assert disk.lengths.tolist() == memory.lengths.tolist()
        image = np.arange(tree.n_nodes, dtype=np.int32)
        numbering = Numbering.of(tree, image, np.arange(tree.n_nodes))
        assert disk.supports(numbering).tolist() == memory.supports(numbering).tolist()
        tables = [rows.count(numbering, 2, lambda _: None) for rows in (disk, memory)]
        assert tables[0].tolist() == tables[1].tolist()

        assert contents(disk.distinct(image)) == contents(memory.distinct(image))
        rare = [rows.rare(numbering, tables[0], 2, 3, lambda _: None) for rows in (disk, memory)]
        assert contents(rare[0]) == contents(rare[1])

        guarantee = sv.KmAnonymity(min(rng.randint(2, 4), max(data.filled_rows, 2)), rng.randint(1, 3))
        if data.filled_rows == 0 or data.filled_rows >= guarantee.k:
            found = [aa.anonymize(rows, tree, guarantee) for rows in (parts, data)]
            assert found[0][0].image.tolist() == found[1][0].image.tolist()
            assert found[0][1] == found[1][1]
    assert several > 5


def test_a_part_that_changed(tmp_path: Path) -> None:
    part = Part.write(tmp_path, 0, np.array([0, 2]), np.array([3, 4], np.int32))
    assert [rows.tolist() for rows in part.rows()] == [[0, 2], [3, 4]]
    np.array([3, 5], np.int32).tofile(part.items)
    with pytest.raises(DataError, match=r"000000 is not what was written there"):
        part.rows()
    part.items.unlink()
    with pytest.raises(DataError, match=r"000000 is not what was written there"):
        part.rows()


@pytest.mark.parametrize("rows", [[["b", "a", "b"], [], None, ["10"]], [[10, 9], [9, 9], None]])
def test_lists_read_in_pieces(tmp_path: Path, rows: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setveil.rows.data.io.streams.AT_ONCE", 2)
    for number in range(2):
        pl.DataFrame({"x": rows, "y": 1}).write_parquet(tmp_path / f"{number}.parquet", row_group_size=1)
    files = ListFiles([str(tmp_path / f"{number}.parquet") for number in range(2)])
    parts_in = tmp_path / "parts"
    parts_in.mkdir()
    parts = RowsOnDisk.write(parts_in, files.pieces(), files.vocabulary, files.origin())
    expected = Transactions.from_rows([row or [] for row in rows] * 2)
    (read,) = parts.rows()
    assert files.n_rows == expected.n_rows
    assert list(Transactions(*read, files.vocabulary)) == list(expected)
    read_whole = sv.read(str(tmp_path / "1.parquet"))
    assert parts.origin is not None
    assert read_whole.origin is not None
    assert parts.origin.files[1].sha256 == read_whole.origin.sha256


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"x": [["a", None]]}), "has missing values"),
        (pl.DataFrame({"x": [["a", ""]]}), "has empty values"),
        (pl.DataFrame({"x": [1]}), "no column of lists"),
        (pl.DataFrame({"x": [[1.5]]}), "expected a column 'x' of lists of strings or integers"),
        (pl.DataFrame({"x": [["a"]], "y": [["a"]]}), "2 columns contain lists"),
    ],
)
def test_what_is_not_read_in_pieces(tmp_path: Path, frame: pl.DataFrame, message: str) -> None:
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=message):
        _ = ListFiles([str(tmp_path / "a.parquet")]).vocabulary


def test_files_of_different_types(tmp_path: Path) -> None:
    pl.DataFrame({"x": [["1"]]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": [[1]]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet is not laid out like .*a\.parquet"):
        ListFiles([str(tmp_path / name) for name in ("a.parquet", "b.parquet")])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named() -> None:
    def numbers() -> None:
        with Path("/dev/full").open("wb") as file:
            write_numbers(file, np.zeros(100_000, np.int64))

    def table() -> None:
        rows = Transactions.from_rows([["a"]])
        write_files(Path("/dev/full"), iter([rows]), 1, Layout("parquet"))

    for write in (numbers, table):
        with pytest.raises(OSError, match=r"[Nn]o space left") as caught:
            write()
        assert caught.value.errno == errno.ENOSPC
