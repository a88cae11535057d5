"""The files with the label of each item in each part of the rows."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from naive import lra as twin
from setveil.base.errors import DataError
from setveil.methods.algorithms.lra import lra
from setveil.releases.published import publish
from setveil.releases.published.item_parts import ItemParts
from setveil.releases.published.recoding import LocalRecoding
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, random_case, seeded, transactions

TREE = Hierarchy.from_paths([["a,1", "A", "*"], ["a2", "A", "*"], ["b", "*"]])


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_files(tmp_path: Path) -> None:
    """Suppressed in one part and generalized in the other; a row without items is in none."""
    data = transactions([frozenset({"a,1", "b"}), frozenset(), frozenset({"a,1"}), frozenset({"b"})])
    label = {"A": TREE.id("A"), "b": TREE.id("b")}
    nodes = np.array([label["A"], label["b"], -1, label["b"]], np.int32)
    ItemParts.of(np.array([1, -1, 0, 0]), data, LocalRecoding.from_nodes(TREE, nodes)).write(tmp_path)
    assert (tmp_path / "parts.csv").read_text() == (
        'part,item,published\n0,"a,1",\n0,b,b\n1,"a,1",A\n1,b,b\n'
    )
    assert (tmp_path / "row_parts.csv").read_text() == "input_row,part\n0,1\n1,\n2,0\n3,0\n"


def test_nothing_at_all(tmp_path: Path) -> None:
    data = transactions([frozenset(), frozenset()])
    recoding = LocalRecoding.from_nodes(TREE, np.zeros(0, np.int32))
    ItemParts.of(np.array([-1, -1]), data, recoding).write(tmp_path)
    assert (tmp_path / "parts.csv").read_text() == "part,item,published\n"


def test_an_item_has_one_label_in_a_part() -> None:
    data = transactions([frozenset({"b"}), frozenset({"b"})])
    recoding = LocalRecoding.from_nodes(TREE, np.array([TREE.id("b"), TREE.root], np.int32))
    ItemParts.of(np.array([0, 1]), data, recoding)
    with pytest.raises(DataError, match="'b' became different things in part 0"):
        ItemParts.of(np.array([0, 0]), data, recoding)


@pytest.mark.parametrize("inner", ["aa", "exact"])
def test_published_rows_follow_from_the_files(inner: str, tmp_path: Path) -> None:
    rng = seeded(310)
    for number in range(examples(40, 8)):
        case = random_case(rng, most_leaves=8, most_rows=30)
        parts = rng.randint(1, max(sum(map(bool, case.rows)) // case.k, 1))
        terms = lra.Parameters(parts=parts, inner=inner)  # type: ignore[arg-type]
        recoding, details = lra.anonymize(case.data, case.tree, case.guarantee, terms)
        release = publish(case.data, recoding, 0, details)
        folder = tmp_path / str(number)
        folder.mkdir()
        release.write_inside(folder)
        assert sorted(path.name for path in folder.iterdir()) == ["parts.csv", "row_parts.csv"]
        label = {(part, item): to for part, item, to in read(folder / "parts.csv")[1:]}
        of_row = [part for _, part in read(folder / "row_parts.csv")[1:]]
        published = [frozenset(row) for row in release.published]
        for row, part, to in zip(case.rows, of_row, release.row_map.tolist(), strict=True):
            assert frozenset(label[part, item] for item in row) - {""} == published[to]
        numbers = {
            row: str(i) for i, run in enumerate(twin.runs(twin.gray_order(case.rows), parts)) for row in run
        }
        assert of_row == [numbers.get(row, "") for row in range(len(case.rows))]
