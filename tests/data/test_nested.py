"""Objects inside objects: keys of keys are columns, lists of objects are columns of lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.errors import DataError, TableError
from setveil.rows.data.io.rows import read
from setveil.rows.data.nested import flat
from setveil.rows.data.nested_frames import flat_frame
from setveil.rows.data.transactions import Transactions

ORDERS: list[dict[str, Any]] = [
    {
        "_id": {"$oid": "a1"},
        "user": {"id": 7},
        "items": [{"sku": "tea", "qty": 1}, {"sku": "milk", "qty": 2}],
    },
    {"_id": {"$oid": "a2"}, "user": {"id": 9}, "items": []},
    {"_id": {"$oid": "a3"}, "user": {"id": 7}, "items": [{"sku": "rum", "qty": 1}, {"sku": None, "qty": 1}]},
]


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def resource(kind: str, person: str, *codes: str) -> dict[str, Any]:
    coding = [{"system": "icd", "code": code} for code in codes]
    return {"resourceType": kind, "subject": {"reference": person}, "code": {"coding": coding}}


def bundle(resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one} for one in resources]}


@pytest.mark.parametrize("written", ["lines", "array", "document", "frame", "parquet"])
@pytest.mark.parametrize("column", ["items.sku", "items[].sku", "items[*].sku"])
def test_a_list_of_objects_is_a_column_of_lists(tmp_path: Path, written: str, column: str) -> None:
    named: dict[str, Any] = {"id_column": "user.id", "item_column": column}
    if written == "frame":
        data = Transactions.from_frame(pl.DataFrame(ORDERS), **named)
    elif written == "parquet":
        pl.DataFrame(ORDERS).write_parquet(tmp_path / "x.parquet")
        data = read(tmp_path / "x.parquet", **named)
    else:
        path = lines(tmp_path / "x.json", ORDERS)
        if written == "array":
            path.write_text(json.dumps(ORDERS, indent=1))
        elif written == "document":
            path.write_text(json.dumps({"meta": {"n": 3}, "data": {"orders": ORDERS}}, indent=1))
        data = read(path, **named)
    assert data.rows() == [("milk", "rum", "tea"), ()]
    if data.origin is not None:
        assert data.origin.notes == ("items.sku: 1 null in 1 list skipped, as null is no item.",)


def test_without_an_id_each_object_is_a_row(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", ORDERS)
    data = read(path, item_column="items.sku", rows_are_events=True)
    assert data.rows() == [("milk", "tea"), (), ("rum",)]


@pytest.mark.parametrize(
    "named", [{}, {"item_column": "items"}, {"id_column": "user.id", "item_column": "items"}]
)
@pytest.mark.parametrize("parquet", [False, True])
def test_what_is_proposed_can_be_read(tmp_path: Path, named: dict[str, Any], parquet: bool) -> None:
    rows = [{**row, "items": row["items"][:1]} for row in ORDERS]
    path = lines(tmp_path / "x.jsonl", rows)
    if parquet:
        path = tmp_path / "x.parquet"
        pl.DataFrame(rows).write_parquet(path)
    with pytest.raises(TableError) as caught:
        read(path, **named)
    options, _ = caught.value.readings[0]
    assert options["item_column"] == "items.sku"
    again: dict[str, Any] = {**named, **options}
    assert read(path, rows_are_events="id_column" not in again, **again).n_items == 2


@pytest.mark.parametrize("indent", [None, 2])
def test_a_bundle_holds_resources_of_several_types(tmp_path: Path, indent: int | None) -> None:
    resources = [{"resourceType": "Patient", "id": "p1", "name": [{"family": "X", "given": ["A", "B"]}]}]
    resources += [resource("Condition", "p1", "I10", "E11"), resource("Condition", "p2", "I10")]
    resources += [resource("Condition", "p1", "J18"), resource("Observation", "p1", "8302-2")]
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(bundle(resources), indent=indent))
    kind: dict[str, Any] = {
        "id_column": "Condition.subject.reference",
        "item_column": "Condition.code.coding.code",
    }
    assert read(path, **kind).rows() == [("E11", "I10", "J18"), ("I10",)]
    with pytest.raises(TableError) as caught:
        read(path)
    assert caught.value.readings[0][0] == kind
    path.write_text(json.dumps(bundle(resources[1:4]), indent=indent))
    plain: dict[str, Any] = {
        "id_column": "subject.reference",
        "item_column": "entry[].resource.code.coding.code",
    }
    assert read(path, **plain).rows() == [("E11", "I10", "J18"), ("I10",)]


def test_a_list_of_texts_is_read_although_others_are_inside_objects(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [{"meta": {"tags": ["x"]}, "skus": ["tea"]}, {"skus": ["milk"]}])
    assert read(path).rows() == [("tea",), ("milk",)]


def test_null_inside_lists_is_omitted(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [{"items": ["a", None]}, {"items": [None]}, {"items": None}])
    data = read(path)
    assert data.rows() == [("a",), (), ()]
    assert data.origin is not None
    assert data.origin.notes == ("items: 2 null in 2 lists skipped, as null is no item.",)


def test_a_document_with_several_lists_of_objects_names_them(tmp_path: Path) -> None:
    some = [{"a": 1}, {"a": 2}]
    (tmp_path / "x.json").write_text(json.dumps({"orders": some, "users": some}, indent=1))
    with pytest.raises(DataError, match=r"2 lists of objects \('orders', 'users'\)"):
        read(tmp_path / "x.json")


def test_a_key_that_is_written_with_a_point_is_no_other(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [{"a.b": 1, "a": {"b": 2}, "x": ["tea"]}])
    with pytest.raises(DataError, match=r"line 1: two keys are named 'a.b'"):
        read(path)


def test_values_with_their_type_are_plain() -> None:
    row = {
        "a": {"$oid": "5f"}, "b": {"$numberInt": "3"}, "c": {"$date": {"$numberLong": "0"}},
        "d": [{"$numberLong": "4"}, {"$oid": "x"}], "e": {"$date": "2024-01-02T00:00:00Z"},
    }  # fmt: skip
    plain = {"a": "5f", "b": 3, "c": "1970-01-01T00:00:00Z", "d": [4, "x"], "e": "2024-01-02T00:00:00Z"}
    assert flat(row, "x") == plain


CELLS = st.lists(st.fixed_dictionaries({"k": st.sampled_from("abc"), "n": st.integers(0, 3)}), max_size=3)


@given(st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "x": CELLS}), min_size=1, max_size=5))
def test_json_and_frames_have_the_same_columns(rows: list[dict[str, Any]]) -> None:
    schema: Any = {"id": pl.Int64, "x": pl.List(pl.Struct({"k": pl.String, "n": pl.Int64}))}
    frame = flat_frame(pl.DataFrame(rows, schema=schema).lazy()).collect()
    for of_json, of_frame in zip((flat(row, "") for row in rows), frame.to_dicts(), strict=True):
        assert of_frame == {"id": of_json["id"], **{n: of_json.get(n, []) for n in ("x.k", "x.n")}}


@pytest.mark.parametrize("between", ["\n", "", ",\n", " , "])
@pytest.mark.parametrize("around", ["{}", "{},\n", "[{}]", "[\n{},\n]\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_objects_one_after_the_other(tmp_path: Path, between: str, around: str, indent: int | None) -> None:
    """As `jq` and databases print them, and with a comma too many; elements of an array need commas."""
    if "[" in around and "," not in between:
        return
    path = tmp_path / "orders.json"
    path.write_text(around.format(between.join(json.dumps(one, indent=indent) for one in ORDERS)))
    data = read(path, id_column="user.id", item_column="items.sku")
    assert sorted(data.rows()) == [(), ("milk", "rum", "tea")]


@pytest.mark.parametrize("text", ['{"a": ["x"]}\n{"a": ["y"]', '{"a": ["x"]} ["y"] 7', '{"a": 1}{"a"}'])
def test_objects_one_after_the_other_of_which_one_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "orders.json"
    path.write_text(text)
    with pytest.raises((DataError, TableError)):
        read(path, id_column="b", item_column="a")


def test_a_broken_line_among_lines_with_commas(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"who": 1, "items": ["tea"]}\n' + '{"who": 2, "items": ["rum"]},\n' * 8 + '{"who": 3,\n')
    with pytest.raises(TableError) as found:
        read(path, id_column="who", item_column="items")
    assert found.value.readings[0][0] == {"skip_lines": "10-10"}
