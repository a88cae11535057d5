"""Classes of 71,518 patients and their items, compared with results by other means."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from real_data import DATA
from setveil.base.progress import silent
from setveil.kernels.rows import recode_rows
from setveil.methods.algorithms.rt._classes import ClassFinder
from setveil.methods.algorithms.rt._item_optimum import ItemOptima
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import Table
from strategies import COMPILED

pytestmark = pytest.mark.skipif(
    not COMPILED or not (DATA / "diabetes_rt.csv").exists(), reason="compiled code and diabetes_rt are needed"
)


@cache
def patients() -> tuple[Table, Hierarchy]:
    with (DATA / "diabetes_rt.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    columns = []
    for name in ("age", "gender", "race", "admission", "days"):
        texts = sorted({line[name] for line in lines})
        codes = np.array([texts.index(line[name]) for line in lines], np.int32)
        if name == "days":
            columns.append(quasi_identifier(name, codes, texts, numeric=True))
            continue
        tree = read_hierarchy(DATA / f"diabetes_rt_{name}.csv")
        parents = {
            label: None if up < 0 else tree.labels[up]
            for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
        }
        columns.append(quasi_identifier(name, codes, texts, parents=parents))
    rows = Transactions.from_rows([x for x in line["diagnoses"].split(";") if x] for line in lines)
    table = Table(rows.indptr, rows.items, rows.vocabulary, columns=tuple(columns))
    return table.rows_at(table.canonical_order()), read_hierarchy(DATA / "diabetes_rt_diagnoses.csv")


@cache
def patients_by_five() -> ClassFinder:
    table, tree = patients()
    rows = recode_rows(table.indptr, table.items, tree.locate(table.vocabulary))
    return ClassFinder(
        table, ItemOptima(tree, *rows, 5, 2), 5, 0, [np.arange(table.n_rows)], Fraction(1, 4), silent
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("least", "n", "r", "t"),
    [
        (5, 1864, Fraction(369346, 34865025), 0.415020),
        (1600, 30, Fraction(11043081, 23243350), 0.142066),
        (71518, 1, Fraction(1), 0.052332),
    ],
)
def test_classes_of_patients(least: int, n: int, r: Fraction, t: float) -> None:
    point = patients_by_five().of_size(least)
    assert point is not None
    assert (len(point.parts), point.relational) == (n, r)
    assert float(point.transactional) == pytest.approx(t, abs=5e-7)
    assert all(found.proven for found in point.items)


@pytest.mark.exhaustive
def test_patients_split_by_gain() -> None:
    point = patients_by_five().by_gain()
    assert point is not None
    assert (len(point.parts), min(part.size for part in point.parts)) == (67, 6)
    assert round(float(point.total), 4) == 0.1758
    assert all(found.proven for found in point.items)
