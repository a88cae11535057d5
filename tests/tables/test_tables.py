"""Long, wide and one-hot tables, several files, and what speaks for a table (see also tests/door)."""

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from origins import origin_of
from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Wanted, columns_at
from setveil.rows.data.ids_in_lines import why_table
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

WIDE = "stay;age;DX1;DX2;DX3\n1;61;I10;E11;\n2;47;I10;NA;I10\n3;52;;;\n"
ONE_HOT = "basket,tea,milk\n7,1,0\n8,1,1\n9,0,0\n"


def rows(path: Path, text: str, **options: Any) -> list[tuple[str, ...]]:
    path.write_text(text, encoding="utf-8", newline="")
    return list(read(path, **options))


# --- columns

NAMES = ["id", "DX1", "DX2", "DX3", "a,b", "DX-old"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("DX1-DX3", [1, 2, 3]),
        ("DX2,DX1", [1, 2]),
        ("DX*", [1, 2, 3, 5]),
        ("*", [1, 2, 3, 4, 5]),
        ("DX-old", [5]),
        ('"a,b",DX1', [1, 4]),
        ("2-3,6", [1, 2, 5]),
        (["a,b", "DX1"], [1, 4]),
    ],
)
def test_item_columns(wanted: Any, expected: list[int]) -> None:
    assert columns_at(NAMES, wanted, 0, "x.csv") == expected


@pytest.mark.parametrize("wanted", ["DX9", "Z*", "DX1-DX9", "", ["DX*"], "7"])
def test_item_columns_that_are_not_there(wanted: Any) -> None:
    with pytest.raises(DataError):
        columns_at(NAMES, wanted, 0, "x.csv")


def test_the_id_column_holds_no_items() -> None:
    with pytest.raises(RequestError, match="both the ids and the items"):
        columns_at(NAMES, "id,DX1", 0, "x.csv")
    assert not Wanted().named
    assert Wanted(item_columns="DX*").named


# --- wide and one-hot


def test_wide_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert rows(path, WIDE, item_columns="DX*") == [("E11", "I10"), ("I10",), ()]
    origin = origin_of(read(path, item_columns="DX1-DX3"))
    assert origin.layout == Layout("wide", ";", item_columns=("DX1", "DX2", "DX3"))
    assert origin.as_dict()["ignored_columns"] == ["stay", "age"]
    assert origin.sentence().startswith("wide table, one row per line, items from DX1, DX2, DX3")
    with pytest.raises(TableError, match="--item-columns DX1-DX3"):
        read(path)
    with pytest.raises(TableError):
        read(path, format="wide")


def test_lines_of_one_id_are_one_row(tmp_path: Path) -> None:
    text = "p,DX1,DX2\n1,a,b\n2,a,\n1,c,\n"
    assert rows(tmp_path / "a.csv", text, id_column="p", item_columns="DX*") == [("a", "b", "c"), ("a",)]
    with pytest.raises(DataError, match="line 2"):
        rows(tmp_path / "a.csv", "p,DX1,DX2\n,a,b\n2,a,\n", id_column="p", item_columns="DX*")


def test_lines_without_their_last_fields(tmp_path: Path) -> None:
    text = "p,age,DX1,DX2,DX3\n1,40,a,b,c\n2,41,a\n3,42\n4,43,b,c\n"
    assert rows(tmp_path / "a.csv", text, item_columns="DX*") == [("a", "b", "c"), ("a",), (), ("b", "c")]
    with pytest.raises(DataError, match="number of fields"):
        rows(tmp_path / "a.csv", text + "5,44,a,b,c,d\n", item_columns="DX*")


@pytest.mark.parametrize("named", ["DX1-DX3", "DX1,DX2,DX3", "3-DX3", ["DX1", "DX2", "DX3"]])
def test_columns_that_no_line_fills(tmp_path: Path, named: Any) -> None:
    text = "p,,DX1,DX2,DX3\n1,40,a\n2,41,b\n3,42,a\n"
    assert rows(tmp_path / "a.csv", text, item_columns=named) == [("a",), ("b",), ("a",)]


def test_one_hot_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert rows(path, ONE_HOT, item_columns="tea,milk") == [("tea",), ("milk", "tea"), ()]
    assert rows(path, ONE_HOT, format="onehot", id_column="basket") == [("tea",), ("milk", "tea"), ()]
    words = ONE_HOT.replace("1", "TRUE").replace("0", "FALSE")
    assert rows(path, words, item_columns="tea,milk") == [("tea",), ("milk", "tea"), ()]
    for yes, no in (
        ("yes", "no"),
        ("Y", "N"),
        ("x", ""),
        ("1", "NA"),
        ("Y", ""),
        ("WAHR", "FALSCH"),
        ("oui", "non"),
    ):
        words = ONE_HOT.replace(",1", f",{yes}").replace(",0", f",{no}")
        assert rows(path, words, item_columns="tea,milk") == [("tea",), ("milk", "tea"), ()]
    for mark in ("z", "²", "-1"):
        with pytest.raises(DataError, match=r"column 'basket' contains .*expected 0 or 1"):
            rows(path, ONE_HOT.replace("7", mark), format="onehot")
    assert rows(path, ONE_HOT.replace("1", "1" * 5000), item_columns="tea,milk", format="onehot")[0] == (
        "tea",
    )


def test_amounts_raise_a_question(tmp_path: Path) -> None:
    text = "b,tea,milk,rum\n1,3,0,0\n2,0,2,0\n3,0,0,5\n"
    with pytest.raises(DataError, match="amounts"):
        rows(tmp_path / "a.csv", text, item_columns="tea-rum")
    assert rows(tmp_path / "a.csv", text, item_columns="tea-rum", format="onehot") == [
        ("tea",),
        ("milk",),
        ("rum",),
    ]


def test_frames_hold_wide_and_one_hot_tables(tmp_path: Path) -> None:
    frame = pl.DataFrame({"p": [1, 2], "DX1": ["a", None], "DX2": ["b", ""]})
    assert list(Transactions.from_frame(frame, item_columns="DX*")) == [("a", "b"), ()]
    marks = pl.DataFrame({"tea": [True, False], "milk": [1.0, None]})
    assert list(Transactions.from_frame(marks, item_columns=["tea", "milk"])) == [("milk", "tea"), ()]
    frame.write_parquet(tmp_path / "a.parquet")
    data = read(tmp_path / "a.parquet", item_columns="DX1,DX2")
    assert (list(data), origin_of(data).layout) == ([("a", "b"), ()], Layout("parquet"))
    with pytest.raises(TableError, match="--item-columns DX1,DX2"):
        read(tmp_path / "a.parquet")


ITEMS = st.text(st.sampled_from('ab1,;"\n é'), min_size=1, max_size=4).map(str.strip).filter(bool)
CELL = st.lists(ITEMS, max_size=3)


def separated(fields: list[str], sign: str) -> str:
    """Write a line as the csv module does, without its end."""
    out = io.StringIO()
    csv.writer(out, delimiter=sign, lineterminator="\n").writerow(fields)
    return out.getvalue()[:-1]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.tuples(CELL, CELL)), min_size=1).filter(
        lambda lines: any(any(cells) for _, cells in lines)
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(",;| "),
)
def test_cells_that_hold_several_items(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[int, tuple[list[str], list[str]]]],
    separator: str,
    delimiter: str,
) -> None:
    """Check that rows equal the lines, one by one or grouped by IDs, in one column of cells or in two."""
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    table = [[str(key), *(separated(cell, delimiter) for cell in cells)] for key, cells in lines]
    text = "".join(separated(line, separator) + "\n" for line in [["id", "main", "other"], *table])
    how: dict[str, Any] = {"separator": separator, "delimiter": delimiter, "not_ids": "main,other"}
    by_line = [tuple(sorted({*main, *other})) for _, (main, other) in lines]
    assert rows(path, text, item_columns="main,other", **how) == by_line
    of_both: dict[int, set[str]] = {key: set() for key, _ in lines}
    of_main: dict[int, set[str]] = {key: set() for key, _ in lines}
    for key, (main, other) in lines:
        of_both[key] |= {*main, *other}
        of_main[key] |= {*main}
    found = rows(path, text, id_column="id", item_columns="main,other", **how)
    assert found == [tuple(sorted(row)) for row in of_both.values()]
    if any(of_main.values()):
        found = rows(path, text, id_column="id", item_column="main", **how)
        assert found == [tuple(sorted(row)) for row in of_main.values()]


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("['tea', 'milk, whole']", {"tea", "milk, whole"}),
        ("{'tea'}", {"tea"}),
        ("[]", set()),
        ("{}", set()),
        ('["tea", 7, null]', {"tea", "7"}),
        ("[tea, whole milk]", {"tea", "whole milk"}),
        ('{tea,"milk, \\"whole\\"",NULL}', {"tea", 'milk, "whole"'}),
        (" ['tea'] ", {"tea"}),
        (r"['C:\data', 'tea']", {r"C:\data", "tea"}),
    ],
)
def test_lists_as_programs_write_them(tmp_path: Path, cell: str, items: set[str]) -> None:
    lines = [["id", "goods"], ["1", cell], ["2", "['tea']"], ["3", ""]]
    text = "\n".join(separated(line, ",") for line in lines)
    found = rows(tmp_path / "a.csv", text, item_columns="goods", delimiter=",")
    assert [set(row) for row in found] == [items, {"tea"}, set()]


@pytest.mark.parametrize("cell", ["[1.5]", "[['tea']]", "[true]", "['tea'", "tea", "{'a': 1}", "[" * 2000])
def test_what_is_no_list_among_lists(tmp_path: Path, cell: str) -> None:
    lists = [[str(at), f"['item {at}']"] for at in range(20)]
    text = "\n".join(separated(line, ",") for line in [["id", "goods"], ["x", cell], *lists])
    with pytest.raises(DataError, match=r"a.csv, line 2, column 'goods': found .*expected a list of items"):
        rows(tmp_path / "a.csv", text, item_columns="goods", delimiter=",")


def test_names_of_several_words_are_no_lists() -> None:
    kinds, goods = ("whole", "skim", "fresh", "dried"), ("milk", "yogurt", "apples", "figs", "ham")
    names = [f"{one}, {kind}" for one in goods for kind in kinds]
    assert evidence.list_sign(names) == ""
    assert evidence.list_sign([name.replace(", ", " ") for name in names]) == ""
    assert evidence.list_sign([*names, "ham, fresh, sliced", "ham, sliced"]) == ""
    assert evidence.list_sign([f"{at},5" for at in range(20)]) == ""
    assert evidence.list_sign([f"2024-01-{at} 10:00" for at in range(10, 30)]) == ""
    lists = [";".join(goods[at % 4 : at % 4 + 2]) for at in range(12)]
    assert evidence.list_sign(lists) == ";"
    assert evidence.list_sign([*lists, *goods * 20]) == ""  # hardly any


@given(st.lists(st.lists(ITEMS, max_size=4), min_size=1).filter(any), st.sampled_from(",;\t|"))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], separator: str
) -> None:
    data = Transactions.from_rows([[f"x{item}" for item in row] for row in table])
    path = tmp_path_factory.mktemp("tables") / "a.csv"
    for form in ("wide", "onehot"):
        save(data, path, Layout(form, separator))
        columns = "item*" if form == "wide" else None
        again = read(path, format=form, separator=separator, item_columns=columns)
        assert list(again) == list(data)


# --- several files


def test_several_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("pat,icd\n1,x\n1,y\n2,x\n")
    (folder / "b.csv").write_text("icd,pat\ny,3\nz,4\n")
    named: dict[str, Any] = {"id_column": "pat", "item_column": "icd"}
    both = read(folder, **named)
    assert list(both) == [("x", "y"), ("x",), ("y",), ("z",)]
    assert [Path(file.path).name for file in origin_of(both).files] == ["a.csv", "b.csv"]
    (folder / "b.csv").write_text("pat,icd\n2,y\n3,z\n")
    with pytest.raises(DataError, match=r"1 id is in several files: '2'"):
        read([folder / "a.csv", folder / "b.csv"], **named)
    assert list(read(folder, **named, same_ids=True)) == [("x", "y"), ("x", "y"), ("z",)]
    (folder / "b.csv").write_text("pat;icd\n7;y\n8;z\n")
    with pytest.raises(DataError, match="not laid out like"):
        read(folder, **named)
    (folder / "b.csv").write_text("x,y\nx\nz,x,y\n")
    (folder / "a.csv").write_text("x\ny,z\n")
    with pytest.raises(RequestError, match="without ids"):
        read(folder, same_ids=True)


# --- evidence


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12", "integer"), ("-3", "integer"), ("1.5", "number"), ("1.234,50", "number"), ("12 %", "word"),
        ("2024-01-31", "date"), ("31.1.2024", "date"), ("2024-01-31 10:00", "date"), ("I10", "code"),
        ("E11.9", "code"), ("tea", "word"), ("2 l milk", "word"), ("", "word"),
    ],
)  # fmt: skip
def test_kinds(value: str, expected: str) -> None:
    assert known_words.kind(value) == expected


def test_baskets_are_no_table() -> None:
    baskets = ["tea,milk", "tea", "rum,tea,milk", "milk,bread", "bread,rum,tea,milk", "rum", "milk,tea"]
    assert why_table([basket.split(",") for basket in baskets]) == ""


@pytest.mark.parametrize(
    "lines",
    [
        ["1,tea", "1,milk", "2,tea"],
        ["P1,75,K21", "P1,75,K21,I10", "P2,61", "P3,40,I10", "P4,41,I10,K21,E11"] * 2
        + ["P5,46,I10", "P6,38"],
        [f"{n},tea" if n % 3 else f"{n},milk,tea" for n in range(30)],
        [f"tea,milk,DE-{n}" if n % 3 else f"milk,DE-{n}," for n in range(30)],
        [str(n) for n in range(7)],
    ],
)
def test_tables_are_seen(lines: list[str]) -> None:
    assert why_table([line.split(",") for line in lines])
