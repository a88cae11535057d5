"""Hierarchies given as what people have in memory."""

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.rows.hierarchy.forms import tree_from

DRINKS = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "cold", "*"]])
COLUMNS = {"item": ["tea", "coffee", "milk"], "group": ["hot", "hot", "cold"]}


@pytest.mark.parametrize(
    "held",
    [
        {"tea": "hot", "coffee": "hot", "milk": "cold"},
        {"tea": "hot", "coffee": "hot", "milk": "cold", "hot": "*", "cold": "*", "*": None},
        {"hot": ["tea", "coffee"], "cold": ["milk"]},
        {"*": {"hot": {"tea": {}, "coffee": None}, "cold": {"milk": []}}},
        [["tea", "hot"], ("coffee", "hot"), ["milk", "cold"]],
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).set_index("item"),
        pd.DataFrame(COLUMNS).set_index("item")["group"],
        pd.Series({"tea": "hot", "coffee": "hot", "milk": "cold"}),
    ],
    ids=lambda held: type(held).__name__,
)
def test_every_form_is_the_same_tree(held: object) -> None:
    assert tree_from(held) == DRINKS
    rows = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    release = sv.anonymize(rows, k=2, m=2, hierarchy=held)
    assert sorted(release.published) == [("hot",), ("hot",), ("milk", "hot"), ("milk", "hot")]


def test_missing_cells_at_the_end_and_codes_that_are_numbers() -> None:
    frame = pd.DataFrame({"code": [250, 401, 7], "chapter": [25.0, 40.0, None], "all": ["*", "*", None]})
    assert tree_from(frame).paths() == [["7", "*"], ["250", "25", "*"], ["401", "40", "*"]]


def test_a_column_of_a_table_takes_them_too() -> None:
    frame = pl.DataFrame({"zip": ["101", "102", "201", "202"], "codes": [["a"], ["a"], ["a"], ["a"]]})
    zips = {"10": ["101", "102"], "20": ["201", "202"]}
    for held in (zips, {"101": "10", "102": "10", "201": "20", "202": "20"}):
        table = sv.read_table(frame, qi={"zip": {"hierarchy": held}}, set="codes")
        release = sv.anonymize(table, k=2, m=1)
        assert set(release.to_polars()["zip"]) == {"10", "20"}


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str | None]:
    """Draw the parent of each node."""
    parents: dict[str, str | None] = {"*": None}
    for number in range(draw(st.integers(1, 12))):
        parents[f"n{number}"] = draw(st.sampled_from(sorted(parents)))
    return parents


@given(trees())
def test_all_forms_of_any_tree_agree(parents: dict[str, str | None]) -> None:
    tree = sv.Hierarchy(parents)

    def under(node: str) -> dict[str, object]:
        return {child: under(child) for child, above in parents.items() if above == node}

    paths = tree.paths()
    width = max(map(len, paths))
    padded = [path + [None] * (width - len(path)) for path in paths]
    assert tree_from(parents) == tree == tree_from({"*": under("*")}) == tree_from(paths)
    assert tree_from(pl.DataFrame(padded, schema=[f"level {j}" for j in range(width)], orient="row")) == tree


@pytest.mark.parametrize(
    ("held", "error", "words"),
    [
        (5, sv.RequestError, "cannot be made of 5.*nested dicts"),
        ({"tea": 5.5}, sv.RequestError, "must be a text.*got 5.5"),
        ({"codes": Path("codes.csv")}, sv.RequestError, "must be a text.*read_table"),
        ({"hot": ["tea"], "cold": "milk"}, sv.RequestError, "under 'cold' must be a dict, a list or None"),
        ({"hot": ["tea"], "cold": ["tea"]}, sv.HierarchyError, "'tea' has two parents: 'hot' and 'cold'"),
        (pl.DataFrame({"g": ["a", "a"], "i": ["tea", "milk"]}), sv.HierarchyError, "the item is on the left"),
        (pl.DataFrame({"i": ["tea"], "g": [None], "a": ["*"]}), sv.HierarchyError, "missing cell before"),
        ({}, sv.HierarchyError, "no node"),
        ({"a": "b", "b": "a"}, sv.HierarchyError, "in a circle"),
        (["tea"], sv.RequestError, "must be a list of nodes, got the text 'tea'"),
        ({"a": "*", "*": "b", "c": None}, sv.HierarchyError, "would be called"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused(held: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"(?s){words}"):
        sv.anonymize([["tea"], ["tea"]], k=2, m=1, hierarchy=held)
