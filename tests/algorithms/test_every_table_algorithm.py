"""Requirements of every algorithm for tables. The tests find a new algorithm by its file."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import setveil as sv
from naive import rt_table, rt_verify
from setveil.base.errors import InfeasibleError
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.releases.published import publish
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import Table
from setveil.runs.run import anonymize
from tables import fast, hierarchy, random_tables, shown_by

PAIRS = [
    pytest.param(algorithms.load(name), model, id=f"{name}-{model}")
    for name in algorithms.names()
    for model in algorithms.load(name).info.guarantees
    if models()[model].release == "tables"
]
every_algorithm = pytest.mark.parametrize(("module", "model"), PAIRS)
TREE = Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "*"]])


def promise(model: str, k: int = 2, m: float = 2) -> Any:
    return models()[model].make(k=k, m=m)


def run(module: ModuleType, model: str, table: Table, tree: Hierarchy, k: int = 2, m: float = 2) -> Any:
    made, details = module.anonymize(table, tree, promise(model, k, m), module.Parameters())
    return publish(table, made, 0, details)


def table_of(ages: list[str], rows: list[str]) -> Table:
    sets = sv.Transactions.from_rows(rows and [list(row) for row in rows])
    texts = sorted(set(ages))
    codes = np.array([texts.index(age) for age in ages], np.int32)
    column = quasi_identifier("age", codes, texts, numeric=True)
    return Table(sets.indptr, sets.items, sets.vocabulary, columns=(column,), header=("age", "items"))


def as_bytes(release: Any) -> tuple[object, ...]:
    table = release.table
    return (
        table.sets.indptr.tobytes(), table.sets.items.tobytes(), table.sets.vocabulary.labels,
        *((column.codes.tobytes(), column.labels) for column in table.columns), release.row_map.tobytes(),
    )  # fmt: skip


def is_kept(model: str, release: Any, k: int, m: float) -> bool:
    check = rt_verify.is_kkm if model == "kkm" else rt_verify.is_mixed_km
    return check(shown_by(release.table), k, m)


def feasible(slow: rt_table.Table, k: int) -> bool:
    return slow.n == 0 or slow.n >= k


@every_algorithm
def test_the_promise_is_kept(module: ModuleType, model: str) -> None:
    for rng, slow in random_tables(40, 11):
        k, m = rng.choice((2, 3)), rng.choice((1, 2, 3))
        if not feasible(slow, k):
            continue
        release = run(module, model, fast(slow), hierarchy(slow), k, m)
        assert is_kept(model, release, k, m), slow
        assert release.table.n_rows == slow.n
        assert sorted(release.row_map.tolist()) == list(range(slow.n))


@every_algorithm
def test_the_whole_run(module: ModuleType, model: str, tmp_path: Path) -> None:
    for number, (_, slow) in enumerate(random_tables(6, 12, most_rows=16)):
        table = fast(slow)
        if not feasible(slow, 2):
            continue
        name = module.__name__.rpartition(".")[2]
        verified = anonymize(table, promise(model), hierarchy=hierarchy(slow), algorithm=name)
        assert verified.verdict.holds
        assert all(number == 0 for number in verified.utility["uncovered"].values())
        verified.write(tmp_path / str(number), external=True)
        again = anonymize(table, promise(model), hierarchy=hierarchy(slow), algorithm=name)
        assert as_bytes(again.release) == as_bytes(verified.release)
        assert sv.verify(tmp_path / str(number), promise(model)).holds


@every_algorithm
def test_the_order_of_lines_does_not_matter(module: ModuleType, model: str) -> None:
    for rng, slow in random_tables(15, 13):
        if not feasible(slow, 2):
            continue
        table = fast(slow)
        order = list(range(slow.n))
        rng.shuffle(order)
        one = run(module, model, table, hierarchy(slow))
        other = run(module, model, table.rows_at(np.array(order, np.int64)), hierarchy(slow))
        assert sorted(map(repr, map(_row, shown_by(one.table)))) == sorted(
            map(repr, map(_row, shown_by(other.table)))
        ), slow
        assert one.details.get("optimality") == other.details.get("optimality"), slow


def _row(row: Any) -> tuple[object, list[str]]:
    return row[0], sorted(row[1])


@every_algorithm
def test_input_is_left_alone(module: ModuleType, model: str) -> None:
    for _, slow in random_tables(8, 14):
        if not feasible(slow, 2):
            continue
        table = fast(slow)
        arrays: list[NDArray[np.generic]] = [table.indptr, table.items]
        arrays += [column.codes for column in table.columns]
        before = [array.copy() for array in arrays]
        run(module, model, table, hierarchy(slow))
        assert all(np.array_equal(array, copy) for array, copy in zip(arrays, before, strict=True))


@every_algorithm
def test_an_empty_table(module: ModuleType, model: str) -> None:
    release = run(module, model, table_of([], []), TREE)
    assert release.table.n_rows == 0


@every_algorithm
def test_rows_without_items(module: ModuleType, model: str) -> None:
    release = run(module, model, table_of(["1", "2", "3", "4"], ["", "", "", ""]), TREE)
    assert is_kept(model, release, 2, 2)
    assert list(release.published) == [()] * 4


@every_algorithm
def test_equal_rows_are_published_as_they_are(module: ModuleType, model: str) -> None:
    release = run(module, model, table_of(["7"] * 3, ["ab", "ab", "ab"]), TREE, k=3)
    assert shown_by(release.table) == [(("7",), frozenset("ab"))] * 3


@every_algorithm
def test_private_tables_are_published_as_they_are(module: ModuleType, model: str) -> None:
    ages, rows = ["1", "1", "2", "2"], ["a", "a", "bc", "bc"]
    release = run(module, model, table_of(ages, rows), TREE)
    shown = [(shown, "".join(sorted(items))) for shown, items in shown_by(release.table)]
    assert sorted(shown) == [(("1",), "a"), (("1",), "a"), (("2",), "bc"), (("2",), "bc")]


@every_algorithm
def test_too_few_rows(module: ModuleType, model: str) -> None:
    with pytest.raises(InfeasibleError, match="has 1 row"):
        anonymize(
            table_of(["1"], ["a"]), promise(model), hierarchy=TREE,
            algorithm=module.__name__.rpartition(".")[2],
        )  # fmt: skip
