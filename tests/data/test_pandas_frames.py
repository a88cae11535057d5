"""Features of pandas that other data frames do not have: indexes, series, grouped series."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import setveil as sv
from setveil.base.errors import DataError, TableError
from setveil.rows.data.transactions import Transactions

FRAME = pd.DataFrame({"patient": [7, 7, 9], "code": ["a", "b", "a"], "sex": ["m", "f", "f"]})
INDEXED = FRAME.set_index("patient")
ROWS = [("a", "b"), ("a",)]
LEVEL = "__index_level_0__"


@pytest.mark.parametrize(
    "series",
    [
        INDEXED["code"],
        INDEXED[["code"]],
        INDEXED["code"].rename_axis(None),
        pd.Series(pd.Categorical(["a", "b", "a"]), index=["x", "x", "y"]),
        FRAME.groupby("patient")["code"],
        FRAME.groupby("patient")["code"].apply(list),
        FRAME.groupby("patient")["code"].unique(),
        FRAME.groupby("patient")["code"].agg(set),
        pd.Series([("a", "b"), frozenset("a")]),
        INDEXED["code"].rename("patient"),
    ],
    ids=[
        "indexed",
        "indexed frame",
        "no name",
        "categorical",
        "grouped",
        "lists",
        "arrays",
        "sets",
        "plain lists",
        "same name",
    ],
)
def test_a_series_has_its_ids_in_the_index_or_a_row_in_each_cell(series: Any) -> None:
    assert Transactions.from_pandas(series).rows() == ROWS


def test_empty_rows_of_a_series_of_lists() -> None:
    assert Transactions.from_pandas(pd.Series([["a"], None, [], ["b"]])).rows() == [("a",), (), (), ("b",)]


@pytest.mark.parametrize(
    ("value", "named", "message"),
    [
        (FRAME["code"], {}, "no index of its own"),
        (FRAME.set_index(["patient", "sex"])["code"], {}, "index of 2 levels"),
        (INDEXED["code"], {"id_column": "zz"}, "index of the series is named 'patient'"),
        (INDEXED["code"], {"item_column": "zz"}, "values of the series are named 'code'"),
        (FRAME.groupby("patient"), {}, "DataFrameGroupBy"),
        (pd.Index([1, 2]), {}, "a value of type Index"),
        (pd.Timestamp("2020-01-01"), {}, "a value of type Timestamp"),
        (INDEXED, {}, "nothing says which columns count"),
    ],
)
def test_where_nothing_says_which_are_the_ids(value: Any, named: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Transactions.from_pandas(value, **named)
    assert caught.value.hint or named


def test_an_index_holds_the_ids_of_a_frame_if_it_is_named() -> None:
    assert Transactions.from_pandas(INDEXED[["code"]], id_column="patient").rows() == ROWS
    assert Transactions.from_pandas(INDEXED, "patient", "code").rows() == ROWS
    levels = FRAME.set_index(["sex", "patient"])
    assert Transactions.from_pandas(levels, "patient", "code").rows() == ROWS
    assert Transactions.from_pandas(levels, "sex", "code").rows() == [("a",), ("a", "b")]


def test_a_frame_of_lists_needs_no_ids() -> None:
    lists = FRAME.groupby("patient")["code"].agg(frozenset).to_frame()
    assert Transactions.from_pandas(lists).rows() == ROWS


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write a frame whose index has no name, with pandas."""
    path = tmp_path / "codes.parquet"
    FRAME[["code"]].set_axis([7, 7, 9]).to_parquet(path)
    assert pl.read_parquet(path).columns == ["code", LEVEL]
    return path


def test_an_index_without_a_name_is_no_item_and_may_be_the_id(written: Path) -> None:
    ways: list[tuple[Any, Any]] = [(sv.read, written), (Transactions.from_frame, pl.read_parquet(written))]
    for read, source in ways:
        assert read(source, id_column=LEVEL).rows() == ROWS
        with pytest.raises(DataError, match="there is one column: 'code'") as caught:
            read(source)
        assert LEVEL in caught.value.hint
        with pytest.raises(DataError, match="contains no items"):
            read(source, item_column=LEVEL)


def test_an_index_without_a_name_is_omitted() -> None:
    content = FRAME[["patient", "code"]].rename(columns={"patient": "patient_id"}).set_axis([3, 1, 2])
    frame = pl.read_parquet(io.BytesIO(content.to_parquet()))
    assert LEVEL in frame.columns
    assert Transactions.from_frame(frame).rows() == ROWS
    with pytest.raises(DataError, match="nothing says which columns"):  # the index may hold the ids as well
        Transactions.from_frame(frame.rename({"patient_id": "x"}))


def test_a_proposal_for_events_of_an_indexed_frame_is_tried() -> None:
    marks = pd.DataFrame(
        {"a": [1, 0] * 15, "PAT-00007": [0, 1] * 15}, index=[f"PAT-{n:05}" for n in range(30)]
    )
    with pytest.raises(TableError, match="would be an item of this one-hot table"):
        sv.read(marks, format="onehot")
