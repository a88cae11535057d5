import subprocess
import sys
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data.columns import guess_columns
from setveil.rows.data.transactions import Transactions

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

from_frame = Transactions.from_frame

LONG = {"basket_id": [7, 3, 7, 7], "product": ["tea", "milk", "egg", "tea"]}
LISTS = {"codes": [["b", "a", "b"], [], None, ["c"]]}


class Stream:
    """An object with an Arrow stream only, such as a DuckDB relation."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


MAKERS = [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table, lambda columns: Stream(pa.table(columns))]
NAMES = ["polars", "lazy", "pandas", "pyarrow", "stream"]


@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_long_tables(make: Any) -> None:
    data = from_frame(make(LONG))
    assert list(data) == [("egg", "tea"), ("milk",)]
    assert data.vocabulary.labels == ("egg", "milk", "tea")


@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_lists(make: Any) -> None:
    assert list(from_frame(make(LISTS))) == [("a", "b"), (), (), ("c",)]
    assert list(from_frame(make({"n": [1, 2], "x": [[10, 9], [9]], "y": [["a"], []]}), item_column="x")) == [
        ("9", "10"),
        ("9",),
    ]


def test_class_methods() -> None:
    assert list(Transactions.from_frame(pa.table(LONG))) == [("egg", "tea"), ("milk",)]
    assert list(Transactions.from_polars(pl.DataFrame(LONG), "product", "basket_id")) == [
        ("7",),
        ("3",),
        ("7",),
    ]
    assert list(Transactions.from_pandas(pd.DataFrame(LONG), item_column="product")) == [
        ("egg", "tea"),
        ("milk",),
    ]


def test_columns_by_name_and_by_place() -> None:
    frame = pl.DataFrame({"article": ["x", "y"], "t": [1, 2], "order": [5, 5]})
    assert list(from_frame(frame, id_column="order", item_column="article")) == [("x", "y")]
    with pytest.raises(TableError, match="--id-column order --item-column article"):
        from_frame(frame)
    assert list(from_frame(frame.select("article", "order"))) == [("x", "y")]  # an order is no item
    assert list(from_frame(frame.select("t", "article"))) == [("x",), ("y",)]  # unknown names: id, item
    assert list(from_frame(pl.DataFrame({"item": ["x", "y"], "order_id": [5, 5]}))) == [("x", "y")]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["order_id", "product_id"], (0, 1)),
        (["product_id", "order_id"], (1, 0)),
        (["person_id", "concept_id"], (0, 1)),
        (["ID", "Item"], (0, 1)),
        (["url", "id visitor"], (1, 0)),
        (["session", "item"], (0, 1)),
        (["patient", "code"], (0, 1)),
        (["tid", "pid"], None),
        (["order_id", "patient_code"], None),
        (["visit_id", "case_code"], None),
        (["id", "name"], None),
        (["orders", "item"], None),
        (["order_id"], None),
        (["order_id", "product_id", "n"], None),
    ],
)
def test_guessed_columns(names: Any, expected: Any) -> None:
    assert guess_columns(names) == expected


def test_a_pandas_index_is_not_looked_at() -> None:
    frame = pd.DataFrame(LONG, index=[9, 8, 7, 6])
    assert list(from_frame(frame[frame["product"] != "egg"])) == [("tea",), ("milk",)]
    assert list(from_frame(frame.rename_axis("order_id"))) == [("egg", "tea"), ("milk",)]


def test_categories_integers_and_arrays() -> None:
    frame = pl.DataFrame(LONG).with_columns(pl.col("product").cast(pl.Categorical))
    assert list(from_frame(frame)) == [("egg", "tea"), ("milk",)]
    enum = frame.with_columns(pl.col("product").cast(pl.Enum(["milk", "tea", "egg"])))
    assert list(from_frame(enum)) == [("egg", "tea"), ("milk",)]
    assert list(from_frame(pd.DataFrame(LONG).astype({"product": "category"}))) == [("egg", "tea"), ("milk",)]
    assert list(from_frame(pl.DataFrame({"id": [1], "item": pl.Series([2**63], dtype=pl.UInt64)}))) == [
        (str(2**63),)
    ]
    pairs = pl.DataFrame({"x": pl.Series([[1, 2], [2, 3]], dtype=pl.Array(pl.Int64, 2))})
    assert list(from_frame(pairs)) == [("1", "2"), ("2", "3")]


def test_text_is_taken_as_it_is() -> None:
    assert list(from_frame(pl.DataFrame({"x": [[" a", "a", "007", "7"]]}))) == [(" a", "007", "7", "a")]


def test_no_lines() -> None:
    empty = pl.DataFrame(schema={"id": pl.Int64, "item": pl.String})
    assert from_frame(empty).n_rows == 0
    assert from_frame(pl.DataFrame(schema={"x": pl.List(pl.String)})).n_rows == 0
    assert list(from_frame(pl.DataFrame({"x": [[], []]}))) == [(), ()]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": [1, None], "item": ["a", "b"]}, "column 'id' is empty"),
        ({"id": [1.0, float("nan")], "item": ["a", "b"]}, "row 1 counted from 0: column 'id' is empty"),
        ({"id": [1], "item": [1.5]}, "Float64"),
        ({"id": [1], "item": [True]}, "Boolean"),
        ({"id": [[1]], "item": ["a"]}, "'item' has type String, expected lists"),
        ({"x": ["a"]}, "nothing says which columns count"),
        ({}, "has none"),
    ],
)
def test_faults(columns: Any, expected: Any) -> None:
    options: dict[str, Any] = {"item_column": "item"} if expected.startswith("'item' has type") else {}
    if options:
        expected = "'id' has type List(Int64), expected plain ids"
    with pytest.raises(DataError) as caught:
        from_frame(pl.DataFrame(columns), **options)
    assert expected in str(caught.value)


def test_columns_that_are_not_there_or_hold_lists() -> None:
    with pytest.raises(DataError, match="no column 'x'"):
        from_frame(pl.DataFrame(LONG), id_column="x")
    lists = pl.DataFrame({"id": [1, 2, 1], "x": [["a"], ["b"], ["a", "c"]]})
    assert from_frame(lists, id_column="id", item_column="x").rows() == [("a", "c"), ("b",)]
    with pytest.raises(RequestError, match="both"):
        from_frame(pl.DataFrame(LONG), id_column="product", item_column="product")


@pytest.mark.parametrize("thing", [[["a"]], 5, "a.csv", {"id": [1]}])
def test_things_that_are_no_frames(thing: Any) -> None:
    with pytest.raises(DataError, match="expected a data frame"):
        from_frame(thing)


def test_mixed_objects_of_pandas() -> None:
    with pytest.raises(DataError, match="values of one type"):
        from_frame(pd.DataFrame({"id": [1, 2], "item": ["a", 5]}))


def test_pandas_without_pyarrow() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd
from setveil.rows.data.transactions import Transactions
from setveil.base.errors import DataError
long = pd.DataFrame({"id": [7, 3, 7], "item": pd.Series(["a", "b", "c"], dtype=object)})
assert list(Transactions.from_pandas(long)) == [("a", "c"), ("b",)]
lists = pd.DataFrame({"x": [["b", "a"], [], None]})
assert list(Transactions.from_pandas(lists)) == [("a", "b"), (), ()]
for bad in (["a", None, "b"], ["a", 5, "b"]):
    try:
        Transactions.from_pandas(long.assign(item=pd.Series(bad, dtype=object)))
    except DataError as error:
        print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("cannot be read") == 1  # a missing item is none


CELLS = {
    "text": st.sampled_from(["a", "b", "éa", "10", "9"]),
    "near": st.integers(0, 9),
    "far": st.sampled_from([-(2**63), -1, 0, 7, 2**40, 2**63 - 1]),
    "small": st.integers(-128, 127),
}
TYPES = {"text": pl.String, "near": pl.Int64, "far": pl.Int64, "small": pl.Int8}


@pytest.mark.parametrize("kind", CELLS)
@given(data=st.data())
def test_lists_as_from_rows(kind: str, data: Any) -> None:
    rows = data.draw(st.lists(st.none() | st.lists(CELLS[kind], max_size=4), max_size=8))
    frame = pl.DataFrame({"items": pl.Series(rows, dtype=pl.List(TYPES[kind]))})
    chunked = pl.concat([frame[:3], frame[3:]], rechunk=False)
    expected = Transactions.from_rows([row or [] for row in rows])
    for table in (frame, chunked, chunked.lazy()):
        found = from_frame(table)
        assert found.vocabulary == expected.vocabulary
        assert found.indptr.tolist() == expected.indptr.tolist()
        assert found.items.tolist() == expected.items.tolist()
    if kind == "text":
        categories = frame.with_columns(pl.col("items").cast(pl.List(pl.Categorical)))
        assert list(from_frame(categories)) == list(expected)


def test_lists_with_a_fault() -> None:
    with pytest.raises(DataError, match=r"column 'items' has empty values \(1\), expected none"):
        from_frame(pl.DataFrame({"items": [["a"], ["a", ""]]}))


def test_null_inside_lists_is_no_item() -> None:
    cells = [["a"], ["a", None], [None], None, [None, "b", None]]
    assert from_frame(pl.DataFrame({"items": cells})).rows() == [("a",), ("a",), (), (), ("b",)]


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=6))
def test_to_polars(rows: list[list[str]]) -> None:
    data = Transactions.from_rows(rows)
    assert data.to_polars()["items"].to_list() == [sorted(row) for row in rows]
    assert data.to_polars().schema == {"items": pl.List(pl.String)}
    expected = [(number, item) for number, row in enumerate(rows) for item in sorted(row)]
    assert data.to_polars(long=True).rows() == expected
