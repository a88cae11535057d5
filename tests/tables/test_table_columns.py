"""Tables whose columns have roles: all forms of writing items, and all inputs that are errors."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from real_data import DATA
from setveil.rows.data.io.write import quoting
from setveil.rows.tables.columns import read_columns
from setveil.rows.tables.how import How

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

WARD = [
    ("1", "34", "F", ("I21", "J18")),
    ("2", "36", "", ("I21",)),
    ("3", "", "M", ()),
    ("4", "45.5", "M", ("I50", "J18", "J44")),
]


def csv_of(separator: str = ",", delimiter: str = ";", end: str = "\n") -> str:
    quote = quoting(separator)
    lines = [separator.join(("patient", "age", "sex", "codes"))]
    lines += [
        separator.join(map(quote, (patient, age, sex, delimiter.join(codes))))
        for patient, age, sex, codes in WARD
    ]
    return end.join(lines) + end


def contents(table: sv.Table) -> tuple[Any, ...]:
    """Return the contents of a table as texts."""
    known = [[column.labels[code] for code in column.codes] for column in table.columns]
    return known, [column.numeric for column in table.columns], table.rows(), table.header


EXPECTED = ([["34", "36", "", "45.5"], ["F", "", "M", "M"]], [True, False], [row[3] for row in WARD])


def ward(source: Any, **more: Any) -> sv.Table:
    return sv.read_table(source, **({"qi": ["age", "sex"], "set": "codes"} | more))


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


# --- forms of items


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("delimiter", [";", ",", "|", " ", "\t", "/"])
def test_delimited_fields(tmp_path: Path, separator: str, delimiter: str) -> None:
    path = written(tmp_path / "ward.csv", csv_of(separator, delimiter))
    table = ward(path, delimiter=delimiter)
    assert contents(table) == (*EXPECTED, ("age", "sex", "codes"))
    assert table.delimiter == delimiter
    assert table.dropped == ("patient",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_line_ends(tmp_path: Path, end: str, encoding: str) -> None:
    text = csv_of(end=end).replace("I50", "I50 é")
    path = written(tmp_path / "ward.csv", text, encoding)
    table = ward(path, encoding="cp1252" if encoding == "cp1252" else None)
    assert contents(table)[0] == EXPECTED[0]
    assert table.rows()[3] == ("I50 é", "J18", "J44")


def test_compressed_and_from_below_a_blank_line(tmp_path: Path) -> None:
    (tmp_path / "ward.csv.gz").write_bytes(gzip.compress(b"\n" + csv_of().encode() + b"\n\n"))
    table = ward(tmp_path / "ward.csv.gz")
    assert contents(table) == (*EXPECTED, ("age", "sex", "codes"))
    assert table.origin is not None
    assert table.origin.files[0].compression == "gzip"


def frame(*, lists: bool = True) -> pl.DataFrame:
    columns: dict[str, Any] = {
        "patient": [int(row[0]) for row in WARD],
        "age": [float(row[1]) if row[1] else None for row in WARD],
        "sex": [row[2] or None for row in WARD],
        "codes": [list(row[3]) if lists else ";".join(row[3]) or None for row in WARD],
    }
    return pl.DataFrame(columns)


@pytest.mark.parametrize("lists", [True, False])
def test_frames_and_parquet(tmp_path: Path, lists: bool) -> None:
    polars = frame(lists=lists)
    pandas = pd.DataFrame(polars.to_dict(as_series=False))
    polars.write_parquet(tmp_path / "ward.parquet")
    for source in (polars, polars.lazy(), pandas, pandas.set_index("patient"), pa.table(polars)):
        assert contents(ward(source))[:3] == EXPECTED
    assert contents(ward(tmp_path / "ward.parquet"))[:3] == EXPECTED
    assert ward(pandas.set_index("patient"), id_column="patient").dropped == ("patient",)


def test_null_lists_and_kinds_of_cells() -> None:
    cells = pl.DataFrame(
        {
            "number": [1.0, None, float("nan"), 1e-7],
            "day": pl.Series(["2020-01-02"] * 4).str.to_date(),
            "flag": [True, None, False, True],
            "kind": pl.Series(["a", "b", None, "a"], dtype=pl.Categorical),
            "codes": [["x"], None, [], ["y", "x", "y"]],
        }
    )
    table = sv.read_table(cells, qi=["number", "day", "flag", "kind"], set="codes")
    assert contents(table)[0] == [
        ["1", "", "", "0.0000001"],
        ["2020-01-02"] * 4,
        ["true", "", "false", "true"],
        ["a", "b", "", "a"],
    ]
    assert table.rows() == [("x",), (), (), ("x", "y")]


@pytest.mark.parametrize("lists", [True, False])
def test_json_lines(tmp_path: Path, lists: bool) -> None:
    lines = [
        {
            "patient": int(patient),
            "age": float(age) if "." in age else int(age) if age else None,
            "sex": sex or None,
            "codes": (list(codes) if lists else ";".join(codes)) or None,
        }
        for patient, age, sex, codes in WARD
    ]
    path = written(tmp_path / "ward.jsonl", "\n\n".join(map(json.dumps, lines)))
    assert contents(ward(path))[:3] == EXPECTED
    path = written(tmp_path / "ward.json", json.dumps(lines, indent=1))  # one array of all
    assert contents(ward(path))[:3] == EXPECTED


def test_lists_in_brackets(tmp_path: Path) -> None:
    lines = [["patient", "age", "sex", "codes"]]
    lines += [[patient, age, sex, str(list(codes)) if codes else ""] for patient, age, sex, codes in WARD]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    assert contents(ward(written(tmp_path / "ward.csv", out.getvalue())))[:3] == EXPECTED


def test_wide(tmp_path: Path) -> None:
    lines = ["patient,DX1,age,DX2,sex,DX3"]
    for patient, age, sex, codes in WARD:
        first, second, third = (*codes, "", "NA", "")[:3]
        lines.append(",".join((patient, first, age, second, sex, third)))
    path = written(tmp_path / "ward.csv", "\n".join(lines))
    table = ward(path, item_columns=["DX2", "DX3", "DX1"])
    assert contents(table) == (*EXPECTED, ("codes", "age", "sex"))
    assert sv.read_table(path, qi=["age", "sex"], item_columns="DX*").header == ("items", "age", "sex")
    assert table.dropped == ("patient",)


def test_second_table(tmp_path: Path) -> None:
    base = "\n".join(["age,patient,sex", *(f"{age},{patient},{sex}" for patient, age, sex, _ in WARD)])
    path = written(tmp_path / "ward.csv", base)
    pairs = [(patient, code) for patient, _, _, codes in reversed(WARD) for code in codes]
    text = "\n".join(["patient;code", *(f"{patient};{code}" for patient, code in pairs)])
    second = written(tmp_path / "codes.csv", text)
    table = ward(path, items=second, id_column="patient")
    assert contents(table) == (*EXPECTED, ("age", "sex", "codes"))
    assert table.dropped == ("patient",)
    numbered = pl.DataFrame({"patient": [int(one) for one, _ in pairs], "code": [code for _, code in pairs]})
    assert contents(ward(path, items=numbered, id_column="patient")) == contents(table)
    numbered.write_parquet(tmp_path / "codes.parquet")
    assert contents(ward(path, items=tmp_path / "codes.parquet", id_column="patient")) == contents(table)
    more = numbered.with_columns(day=pl.lit("x"))
    assert contents(ward(path, items=more, id_column="patient", item_column="code")) == contents(table)
    for codes, words in (("patient,code\n1,I21\n9,J18\n8,J18\n", "2 ids are not in column 'patient'"),):
        with pytest.raises(sv.DataError, match=words):
            ward(path, items=written(tmp_path / "other.csv", codes), id_column="patient")


def test_all_ways_give_the_same(tmp_path: Path) -> None:
    path = written(tmp_path / "ward.csv", csv_of())
    tables = [ward(path), ward(frame()), ward(frame(lists=False))]
    assert len({str(contents(table)[:3]) for table in tables}) == 1
    assert all(a.canonical_order().tolist() == tables[0].canonical_order().tolist() for a in tables)


def test_spreadsheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["patient", "age", "sex", "codes"])
    for patient, age, sex, codes in WARD:
        number = None if not age else float(age)
        book.active.append([int(patient), number, sex or None, ";".join(codes) or None])
    out = io.BytesIO()
    book.save(out)
    (tmp_path / "ward.xlsx").write_bytes(out.getvalue())
    assert contents(ward(tmp_path / "ward.xlsx"))[:3] == EXPECTED


LABELS = st.text(st.sampled_from("ab;,|\"' \n\r\té[]"), min_size=1, max_size=4)


@given(st.lists(st.frozensets(LABELS, max_size=4), min_size=1, max_size=6), st.sampled_from(";,|\t "))
def test_any_label_survives(tmp_path_factory: pytest.TempPathFactory, rows: Any, delimiter: str) -> None:
    inner, outer = quoting(delimiter), quoting(",")
    fields = [delimiter.join(inner(label) for label in sorted(row)) for row in rows]
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    written(path, "known,items\n" + "".join(f"x,{outer(field)}\n" for field in fields))
    read = read_columns(path, ["known"], "items", How(format="csv", separator=",", delimiter=delimiter))
    assert [frozenset(row) for row in read.sets] == [frozenset(row) for row in rows]


TEXTS = st.text(st.sampled_from("ab7,;|\"' \n\té"), max_size=4)


@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["", "p;q", "q"])), min_size=1), st.sampled_from(",;|")
)
def test_texts_are_those_of_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], separator: str
) -> None:
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
        out.writerows([("one", "other", "codes"), *rows])
    read = read_columns(path, ["other", "1"], "codes")
    assert [column.name for column in read.texts] == ["other", "one"]
    for column, at in zip(read.texts, (1, 0), strict=True):
        assert len(set(column.labels)) == len(column.labels)
        assert [column.labels[code] for code in column.codes] == [row[at] for row in rows]
    assert read.sets.rows() == [tuple(row[2].split(";")) if row[2] else () for row in rows]


# --- contents of a column


def test_numbers_written_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "days,codes\n7.0,a\n7,b\n-1.50,c\n+07,d\n")
    (column,) = sv.read_table(path, qi=["days"], set="codes", numeric=["days"]).columns
    assert [column.labels[code] for code in column.codes] == ["7", "7", "-1.50", "7"]
    (column,) = sv.read_table(path, qi=["days"], set="codes").columns  # 07 speaks for codes
    assert not column.numeric
    assert [column.labels[code] for code in column.codes] == ["7.0", "7", "-1.50", "+07"]


@pytest.mark.parametrize(
    ("values", "numeric"),
    [
        (["1", "20", ""], True),
        (["1.5", "-2"], True),
        (["02139", "10115"], False),
        (["1", "x"], False),
        (["1e5"], False),
        (["", ""], False),
        (["1,5"], True),
        (["1,500"], False),
        (["1.000,50", "3", ""], True),
        (["1,5", "x"], False),
    ],
)
def test_which_columns_are_numeric(values: list[str], numeric: bool) -> None:
    cells = pl.DataFrame({"zip": values, "codes": ["a"] * len(values)})
    assert sv.read_table(cells, qi=["zip"], set="codes").columns[0].numeric is numeric
    assert not sv.read_table(cells, qi=["zip"], set="codes", categorical=["zip"]).columns[0].numeric
    flat = sv.Hierarchy({**dict.fromkeys([value for value in values if value] or ["y"], "*"), "*": None})
    with_tree = sv.read_table(cells, qi=["zip"], set="codes", hierarchies={"zip": flat}).columns[0]
    assert not with_tree.numeric
    assert with_tree.has_own_tree


def test_ranges_and_weights() -> None:
    cells = pl.DataFrame({"age": [34, 36, 41, 45, 47, 62, 64, 71], "codes": ["a"] * 8})
    table = sv.read_table(cells, qi=["age"], set="codes", ranges={"age": 10}, weights={"age": "1/2"})
    (age,) = table.columns
    assert age.weight == 0.5
    assert not age.has_own_tree
    chain, node = [], age.labels.index("45")
    assert age.parent is not None
    while node >= 0:
        chain.append(age.labels[node])
        node = int(age.parent[node])
    assert chain == ["45", "[40,50)", "[40,60)", "[40,80)", "*"]
    usual = sv.read_table(cells, qi={"age": {"ranges": True, "weight": 3}}, set="codes").columns[0]
    assert usual.labels.count("[34,36)") + usual.labels.count("[35,40)") == 1


def test_kept_values_that_single_a_row_out() -> None:
    cells = pl.DataFrame({"a": ["x"] * 5, "b": ["u", "v", "v", "w", None], "codes": ["q"] * 5})
    table = sv.read_table(cells, qi=["a"], set="codes", keep=["b"])
    assert table.kept_once() == (2,)
    assert table.header == ("a", "b", "codes")


# --- errors


REFUSED: list[tuple[str, dict[str, Any], type[sv.SetveilError], list[str]]] = [
    # an empty file, a header alone, ragged lines, quotes
    ("", {}, sv.DataError, ["is empty"]),
    ("age,sex,codes\n", {}, sv.DataError, ["no line of data"]),
    ("age,sex,codes\n34,F,a\n36,F\n", {}, sv.DataError, ["line 3", "number of fields is 2, expected 3"]),
    ("age,sex,codes\n34,F,a,b\n", {"separator": ","}, sv.DataError, ["line 2", "is 4, expected 3"]),
    ("Ward 7\nage,sex,codes\n1,F,a\n2,F,a\n3,F,a\n4,M,b\n", {}, sv.DataError, ["line 1", "above the header"]),
    ('age,sex,codes\n34,F,"a;b\n36,M,c\n', {}, sv.DataError, ["line 2", "never closed"]),
    ('age,sex,codes\n34,F,"a;""b;c"\n', {}, sv.DataError, ["line 2, column 'codes'", "never closed"]),
    ('age,sex,codes\n34,F,"""b""x;c"\n', {}, sv.DataError, ["line 2, column 'codes'", "closing quote"]),
    # columns
    ("age,sexe,codes\n34,F,a\n", {}, sv.DataError, ["no column 'sex'", "'age', 'sexe', 'codes'"]),
    ("age,sex,age,codes\n34,F,1,a\n", {}, sv.DataError, ["2 columns are named 'age'"]),
    ("age,sex,codes\n34,F,a\n", {"drop": ["zip"]}, sv.DataError, ["no column 'zip'"]),
    ("age,sex,codes\n34,F,a\n", {"keep": ["age"]}, sv.RequestError, ["'age' has two roles, qi and keep"]),
    ("age,sex,codes\n34,F,a\n", {"keep": ["1"]}, sv.RequestError, ["'age' has two roles, qi and keep"]),
    ("age,sex,codes\n34,F,a\n", {"drop": ["3"]}, sv.RequestError, ["'codes' has two roles, set and drop"]),
    ("age,sex,codes\n34,F,a\n", {"set": "sex"}, sv.RequestError, ["two roles, qi and set"]),
    ("age,sex,codes\n34,F,a\n", {"set": ["a", "b"]}, sv.RequestError, ["2 columns have the role set"]),
    ("age,sex,codes\n34,F,a\n", {"qi": ["age", "age"]}, sv.RequestError, ["named twice as qi"]),
    ("age,sex,codes\n34,F,a\n", {"id_column": "age"}, sv.RequestError, ["two roles, qi and id"]),
    ("age,sex,codes\n34,F,a\n", {"id_column": "1"}, sv.RequestError, ["two roles, id and qi"]),
    ("age,sex,codes\n34,F,a\n", {"item_columns": "sex,codes"}, sv.RequestError, ["two roles, set and qi"]),
    ("age,sex,codes\n34,F,a\n", {"qi": "age", "item_columns": "codes", "set": "sex", "keep": "sex"},
     sv.RequestError, ["'sex' has two roles, set and keep"]),
    ("age,sex,items,codes\n34,F,1,a\n", {"set": None, "item_columns": "codes", "keep": "items"},
     sv.RequestError, ["cannot be published as 'items'"]),
    # ids
    ("age,sex,codes,id\n34,F,a,7\n34,F,a,7\n35,F,a,7\n34,F,a,8\n", {"id_column": "id"}, sv.DataError,
     ["1 value of column 'id' is on lines with different values", "line 2: the same id, age '34'",
      "line 4: the same id, age '35'", "per_person={'age': 'most-frequent'}"]),
    ("age,sex,codes,id\n34,F,a,7\n34,F,a,\n", {"id_column": "id"}, sv.DataError,
     ["line 3", "'id' is empty", "1 line lacks an ID"]),
    ("age,sex\n34,F\n", {"items": "codes.csv"}, sv.RequestError, ["column of ids that both tables have"]),
    ("age,sex\n34,F\n", {"item_column": "x"}, sv.RequestError, ["second table, and there is none"]),
    ("age,sex\n34,F\n", {"items": "x", "item_columns": "y", "id_column": "id"}, sv.RequestError,
     ["either in several columns"]),
    # values
    ("age,sex,codes\n34,F,a\nold,F,a\nold,M,b\n", {"numeric": "age"}, sv.DataError,
     ["line 3", "'age' contains 'old'", "decimal number", "1 more row like it"]),
    ("age,sex,codes\n34,F,a\n3e1,F,a\n", {"ranges": "age"}, sv.DataError, ["line 3", "contains '3e1'"]),
    ("age,sex,codes\n34,F,a\n36,X,a\n", {"hierarchies": {"sex": sv.Hierarchy({"F": "*", "*": None})}},
     sv.DataError, ["1 value of column 'sex' is not in its hierarchy: 'X'"]),
    ("age,sex,codes\n34,*,a\n", {}, sv.DataError, ["contains the value *"]),
    # sets
    ("age,sex,codes\n34,F,\"a,b\"\n36,F,\"c,d\"\n", {}, sv.DataError,
     ["no field contains ';'", "contain ','", "delimiter=','"]),
    ("age,sex,codes\n34,F,a|b\n36,F,c\n", {}, sv.DataError, ["contain '|'"]),
    ("age,sex,codes\n34,F,\"['a', 'b']\"\n36,F,\"['c']\"\n36,M,\"['a\"\n"
     + "".join(f"36,F,['c{i}']\n" for i in range(20)), {}, sv.DataError,
     ["line 4", "\"['a\"", "expected a list of items in brackets"]),
    ("age,sex,codes\n34,F,\"['a', 'b']\"\n", {"delimiter": "|"}, sv.DataError, ["line 2", "delimiter=','"]),
    ("age,sex,codes\n34,F,\"['a', 2.5]\"\n", {}, sv.DataError, ["line 2", "expected a list of items"]),
    ("age,sex,codes\n34,F,a\n", {"delimiter": '"'}, sv.RequestError, ["The delimiter between items is"]),
    ("age,sex,codes\n34,F,a\n", {"delimiter": ";;"}, sv.RequestError, ["The delimiter between items is"]),
    # --- options about columns
    ("age,sex,codes\n34,F,a\n", {"weights": {"zip": 2}}, sv.RequestError, ["'zip', which is no quasi-ident"]),
    ("age,sex,codes\n34,F,a\n", {"weights": {"age": 0}}, sv.RequestError, ["must be above 0"]),
    ("age,sex,codes\n34,F,a\n", {"weights": {"age": "x"}}, sv.RequestError, ["must be a number"]),
    ("age,sex,codes\n34,F,a\n", {"ranges": {"age": -1}}, sv.RequestError, ["wider than 0"]),
    ("age,sex,codes\n34,F,a\n", {"numeric": "codes"}, sv.RequestError, ["'codes', which is no quasi-ident"]),
    ("age,sex,codes\n34,F,a\n", {"numeric": "age", "categorical": "age"}, sv.RequestError, ["given twice"]),
    ("age,sex,codes\n34,F,a\n", {"ranges": "age", "categorical": "age"}, sv.RequestError, ["only numbers"]),
    ("age,sex,codes\n34,F,a\n", {"qi": {"age": {"kinds": 1}}}, sv.RequestError, ["Did you mean kind?"]),
    ("age,sex,codes\n34,F,a\n", {"qi": {"age": {"kind": "text"}}}, sv.RequestError, ["numeric or categ"]),
    ("age,sex,codes\n34,F,a\n", {"qi": 5}, sv.RequestError, ["qi must be a list of columns"]),
    ("age,sex,codes\n34,F,a\n", {"qi": [5]}, sv.RequestError, ["names of columns"]),
    ("age,sex,codes\n34,F,a\n", {"separator": 5}, sv.RequestError, ["separator must be a text"]),
    ("age,sex,codes\n34,F,a\n", {"format": "basket"}, sv.RequestError, ["format basket is not that"]),
    ("age,sex,codes\n34,F,a\n", {"format": "parquet"}, sv.DataError, ["cannot be read as Parquet"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "kind", "words"), REFUSED)
def test_refused(
    tmp_path: Path, text: str, said: dict[str, Any], kind: type[sv.SetveilError], words: list[str]
) -> None:
    path = written(tmp_path / "ward.csv", text)
    with pytest.raises(sv.SetveilError) as caught:
        ward(path, **said)
    assert isinstance(caught.value, kind), caught.value
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1, 2]", ["line 2", "JSON object"]),
        ('{"age": 1, "sex": "F"}', ["line 2", "no key 'codes'"]),
        ('{"age": [1], "sex": "F", "codes": []}', ["line 2", "'age' contains an array"]),
        ('{"age": NaN, "sex": "F", "codes": []}', ["line 2"]),
        ('{"age": 1, "sex": "F", "codes": "a;b"}', ["line 2", "contains no array"]),
        ('{"age": 1, "sex": "F", "codes": [1.5]}', ["line 2", "a number with a fraction"]),
        ('{"age": 1, "sex": "\\ud800", "codes": []}', ["line 2", "surrogate"]),
    ],
)
def test_refused_json_lines(tmp_path: Path, line: str, words: list[str]) -> None:
    path = written(tmp_path / "ward.jsonl", '{"age": 1, "sex": "F", "codes": ["a"]}\n' + line + "\n")
    with pytest.raises(sv.DataError) as caught:
        ward(path)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    path = written(tmp_path / "ward.json", '[{"age": 1, "sex": "F", "codes": ["a"]},\n' + line + "]")
    with pytest.raises(sv.DataError, match=r"ward.json(, element 2)?:"):
        ward(path)


def test_refused_frames() -> None:
    for cells, words in (
        ({"age": [[1]], "sex": ["F"], "codes": ["a"]}, "has type List"),
        ({"age": [float("inf")], "sex": ["F"], "codes": ["a"]}, "infinite"),
        ({"age": [1], "sex": ["F"], "codes": [[1.5]]}, "lists of Float64"),
        ({"age": [], "sex": [], "codes": []}, "the data frame: there are columns, but no row of data"),
    ):
        with pytest.raises(sv.DataError, match=words):
            ward(pl.DataFrame(cells))
    some = ward(pl.DataFrame({"age": [1], "sex": ["F"], "codes": [["a", None]]}))  # null is no item
    assert some.n_items == 1
    for source in (5, [["a"]], pd.Series([1])):
        with pytest.raises(sv.DataError, match="data frame"):
            ward(source)
    with pytest.raises(sv.RequestError, match="separator does not apply to a data frame"):
        ward(frame(), separator=";")


def test_nothing_said(tmp_path: Path) -> None:
    path = written(tmp_path / "ward.csv", csv_of(delimiter="|"))
    with pytest.raises(sv.TableError) as caught:
        sv.read_table(path)
    assert "nothing says what someone may know of a person (--qi)" in caught.value.message
    assert "'34', '36', '45.5'" in caught.value.message
    assert "qi=['age', 'sex'], set='codes', delimiter='|'" in caught.value.hint
    with pytest.raises(sv.TableError, match="which column contains the items") as caught:
        sv.read_table(path, qi=["age"])
    call = f"setveil.read_table({str(path)!r}, qi=['age'], set='codes', delimiter='|', id_column='patient')"
    assert call in caught.value.hint
    assert caught.value.exit_code == 4


def test_one_row_and_fewer_than_k(tmp_path: Path) -> None:
    table = ward(written(tmp_path / "ward.csv", "age,sex,codes\n34,F,a\n"))
    assert (table.n_rows, table.n_items) == (1, 1)
    with pytest.raises(sv.InfeasibleError, match="1 row"):
        sv.KKmAnonymity(k=5, m=2).require_feasible(table)


def test_tables_and_rows_of_items_are_not_confused() -> None:
    table = ward(frame())
    with pytest.raises(sv.RequestError, match="would be omitted") as caught:
        sv.anonymize(table, sv.KmAnonymity(k=2, m=2))
    assert "kkm" in caught.value.hint
    for source in ("ward.csv", frame()):
        with pytest.raises(sv.RequestError, match="whose columns have roles") as caught:
            sv.anonymize(source, sv.KKmAnonymity(k=2, m=2))
        assert "sv.read_table(data, qi=" in caught.value.hint
    with pytest.raises(sv.RequestError, match="without further columns"):
        sv.anonymize([["a"], ["a"]], sv.KKmAnonymity(k=2, m=2), algorithm="forest")


# --- real data


def test_diabetes() -> None:
    if not (DATA / "diabetes_rt.csv").exists():
        pytest.skip("the data are not here")
    trees = {name: DATA / f"diabetes_rt_{name}.csv" for name in ("age", "gender", "race", "admission")}
    table = sv.read_table(
        DATA / "diabetes_rt.csv",
        qi=["age", "gender", "race", "admission", "days"],
        set="diagnoses",
        keep=["readmitted"],
        hierarchies={**trees, "diagnoses": DATA / "diabetes_rt_diagnoses.csv"},
        id_column="patient",
    )
    assert (table.n_rows, table.n_items, table.n_occurrences) == (71_518, 897, 209_037)
    assert int((table.row_lengths() == 0).sum()) == 1
    race = table.columns[2]
    assert race.missing
    assert int((race.codes == 0).sum()) == 1_948
    assert [column.numeric for column in table.columns] == [False, False, False, False, True]
    assert table.dropped == ("patient",)
    assert table.kept_once() == (0,)
    assert isinstance(table.tree, sv.Hierarchy)
