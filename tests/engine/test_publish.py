"""Rows placed in parts have the same places as in a run in memory."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil
from setveil.kernels.content import merge_rows_by_content
from setveil.releases.published.rows import shuffled
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.publish import (
    bounds_of,
    draw_keys,
    file_of,
    number_of_files,
    packed,
    part_of,
    unpacked,
)

# What may differ when a stage is run again, or depends on partitions. (Arrow has a function `take`, too.)
FORBIDDEN = {
    "rand", "randn", "randstr", "uniform", "uuid", "uuid4", "shuffle", "sample", "sampleBy", "randomSplit",
    "monotonically_increasing_id", "spark_partition_id", "zipWithIndex", "zipWithUniqueId", "collect_list",
    "first", "first_value", "last", "any_value", "limit", "head", "accumulator", "approx_count_distinct",
    "approxQuantile", "approx_percentile", "percentile_approx", "dropDuplicates", "repartitionByRange",
}  # fmt: skip
ROWS = st.lists(st.frozensets(st.integers(0, 300), max_size=4), max_size=40)


def coded(rows: list[frozenset[int]]) -> Transactions:
    return Transactions.from_rows([map(str, row) for row in rows])


@given(ROWS, st.integers(0, 2**70), st.integers(1, 5), st.integers(1, 4))
def test_parts_are_placed_as_a_run_in_memory_places_all(
    rows: list[frozenset[int]], seed: int, parts: int, files: int
) -> None:
    data = coded(rows)
    bounds, content = packed(data.indptr, data.items)
    held = [content[low:high] for low, high in pairwise(bounds.tolist())]
    chosen = bounds_of(sorted(set(held))[::2], parts)
    division = part_of(held, chosen)
    placed = []
    start = 0
    for part in range(parts):
        mine = sorted(row for row, of in zip(held, division.tolist(), strict=True) if of == part)
        keys = draw_keys(seed, start, len(mine))
        for i, row in enumerate(mine):
            placed.append((int(file_of(keys[i : i + 1], files)[0]), int(keys[i]), start + i, row))
        start += len(mine)
    assert start == len(held)
    order, _ = shuffled(np.argsort(merge_rows_by_content(data.indptr, data.items)[0], kind="stable"), seed)
    assert [row for *_, row in sorted(placed)] == [held[r] for r in order.tolist()]


@given(ROWS)
def test_packed_rows_sort_like_rows_and_can_be_read(rows: list[frozenset[int]]) -> None:
    data = coded(rows)
    bounds, content = packed(data.indptr, data.items)
    indptr, items = unpacked(bounds, content)
    assert (indptr.tolist(), items.tolist()) == (data.indptr.tolist(), data.items.tolist())
    ids = [data.items[low:high].tolist() for low, high in pairwise(data.indptr.tolist())]
    held = [content[low:high] for low, high in pairwise(bounds.tolist())]
    assert sorted(range(len(ids)), key=ids.__getitem__) == sorted(range(len(ids)), key=held.__getitem__)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.integers(1, 5000))
def test_files_follow_the_order_of_the_keys(keys: list[int], files: int) -> None:
    numbers = np.sort(np.array(keys, np.uint64))
    found = file_of(numbers, files)
    assert (np.diff(found) >= 0).all()
    assert 0 <= found.min() <= found.max() < files


@pytest.mark.parametrize(("rows", "files"), [(0, 1), (1, 1), (1_000_000, 1), (1_000_001, 2)])
def test_number_of_files(rows: int, files: int) -> None:
    assert number_of_files(rows) == files


def calls_in(path: Path) -> set[str]:
    """Name the functions that a module calls; `repartition` only if no column is named."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            columns = [
                part for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            if name != "repartition" or not columns:
                found.add(name)
    return found


def test_nothing_on_spark_depends_on_chance_or_on_partitions() -> None:
    source = Path(str(setveil.__file__)).parent
    files = [source / "rows" / "engine" / "spark.py", *(source / "spark").glob("*.py")]
    assert len(files) > 3
    for path in files:
        assert not calls_in(path) & FORBIDDEN, path
        assert "repartition" not in calls_in(path), path


def test_forbidden_functions_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("frame.repartition(3)\nF.rand(7)\nframe.repartition(3, 'part')\n")
    assert calls_in(path) == {"repartition", "rand"}
