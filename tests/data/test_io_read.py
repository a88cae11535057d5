import csv
import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from origins import layout_of, origin_of
from real_data import DATA
from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data.io.decoded import Text, as_text, line_number
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.sniff import detect_format, likely_separator, sniff_content
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in


def load_text(path: Path, content: Any, **options: Any) -> Transactions:
    path.write_text(content, encoding="utf-8", newline="")
    return read(path, **options)


def rows(path: Path, content: Any, **options: Any) -> list[set[str]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [set(row) for row in read(path, **options)]


def refused(
    path: Path, content: Any, *expected: str, error: type[Exception] = DataError, **options: Any
) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(error) as caught:
        read(path, **options)
    for part in expected:
        assert part in str(caught.value)


# --- lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_is_a_row_whatever_ends_it(tmp_path: Path, end: str, last: bool) -> None:
    text = end.join(["1 2", "", "  ", "2 3", ""]) + (end if last else "")
    expected = [{"1", "2"}, set(), set(), {"2", "3"}]
    assert rows(tmp_path / "a.dat", text) == ([*expected, set()] if last else expected)


def test_a_blank_line_at_the_end_is_a_row(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.dat", "1\n\n") == [{"1"}, set()]
    assert rows(tmp_path / "b.dat", "\n1") == [set(), {"1"}]
    assert rows(tmp_path / "c.csv", "a,b\n\n") == [{"a", "b"}, set()]


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.dat", b"\xef\xbb\xbf1 2\n") == [{"1", "2"}]
    assert rows(tmp_path / "a.csv", b'\xef\xbb\xbf"a",b\n') == [{"a", "b"}]
    assert rows(tmp_path / "b.csv", b"\xef\xbb\xbforder_id,item\n1,a\n") == [{"a"}]


@pytest.mark.parametrize("name", ["a.dat", "a.csv", "a.txt", "a.jsonl", "a.parquet", "a"])
def test_a_file_without_an_item_is_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path / name, b"", "empty file")
    if name != "a.parquet":
        refused(tmp_path / name, b"\n \n", "only blank lines")


@given(st.text(alphabet="ab\r\n"), st.integers(0, 40))
def test_line_numbers(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    if text[offset - 1 : offset] == "\r":
        return  # whether the line has ended depends on what follows
    assert line_number(text.encode(), offset) == len(
        io.StringIO(text[:offset] + "x", newline=None).readlines()
    )


# --- FIMI


def test_fimi_separates_by_blanks_and_keeps_text_apart(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.dat", " 7\t007  +7 7 \n-3\n") == [{"7", "007", "+7"}, {"-3"}]


def test_fimi_refuses_what_is_no_integer(tmp_path: Path) -> None:
    refused(tmp_path / "a.dat", "1 2\n3 x4 5\n", "a.dat, line 2", "'x4'", "--format basket")
    refused(tmp_path / "a.dat", "1 ٣\n", "line 1")
    refused(tmp_path / "a.dat", "@ITEM=1=tea\n1 -1 -2\n", "--format spmf")


def test_many_distinct_items_outgrow_the_table(tmp_path: Path) -> None:
    n = 5000
    content = "\n".join(f"{i} {i + 1}" for i in range(n))
    data = load_text(tmp_path / "a.dat", content, format="fimi")
    assert data.n_items == n + 1
    assert list(data) == [(str(i), str(i + 1)) for i in range(n)]


# --- basket


def test_basket_quotes(tmp_path: Path) -> None:
    text = 'a,"b,c", "d ""x"" e" ,"two\nlines",it"s\n" f ",,  ,\n'
    assert rows(tmp_path / "a.csv", text) == [{"a", "b,c", 'd "x" e', "two\nlines", 'it"s'}, {" f "}]


def test_basket_empty_fields_are_no_item(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.csv", 'a,,\n"",b\n,\n') == [{"a"}, {"b"}, set()]


def test_basket_merges_fields_that_mean_the_same(tmp_path: Path) -> None:
    data = load_text(tmp_path / "a.csv", '"a", a ,b\n"b"\n')
    assert list(data) == [("a", "b"), ("b",)]


@pytest.mark.parametrize("separator", [";", "\t", "|", " "])
def test_basket_separators(tmp_path: Path, separator: str) -> None:
    text = f"a{separator}b,c\n{separator}d\n"
    source = load_text(tmp_path / "a.csv", text, separator=separator, format="basket")
    assert list(source) == [("a", "b,c"), ("d",)]
    assert layout_of(source) == Layout("basket", separator)


def test_basket_faults_of_quoting(tmp_path: Path) -> None:
    refused(tmp_path / "a.csv", 'a\n\nb,"c\nd\n', "line 3", "never closed")
    refused(tmp_path / "a.csv", 'a\n"b"c,d\n', "line 2", "closing quote")


@given(
    st.lists(
        st.lists(
            st.text(st.sampled_from('ab",;\n\r \té'), min_size=1, max_size=6).filter(str.strip), min_size=1
        ),
        min_size=1,
    )
)
@example([[";"], ["; ", "a\r"]])  # between blanks, its first line has no words
def test_basket_reads_what_the_csv_module_writes(
    tmp_path_factory: pytest.TempPathFactory, written: Any
) -> None:
    path = tmp_path_factory.mktemp("basket") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(written)
    assert [set(row) for row in read(path, format="basket")] == [set(row) for row in written]


# --- SPMF


def test_spmf_plain_and_sequence_forms(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.txt", "1 2 3\n\n2\n") == [{"1", "2", "3"}, set(), {"2"}]
    assert rows(tmp_path / "b.txt", "1 -1 2 -1 -2\n3 4 -1 -2\n") == [{"1", "2"}, {"3", "4"}]
    assert rows(tmp_path / "c.txt", "1 -1 -2 2 -1 -2\n-2\n\n3 -1 -2") == [{"1"}, {"2"}, set(), set(), {"3"}]
    assert rows(tmp_path / "d.txt", "1 -1 -2 5\n6 -1\n-2 -2") == [{"1"}, {"5"}, {"6"}, set(), set()]


def test_spmf_comments_and_names(tmp_path: Path) -> None:
    text = (
        "@CONVERTED_FROM_TEXT\r\n@ITEM=1=apple = pie \r\n@ITEM=2=-2\r\n# note\r\n% 9\r\n1 2 3\r\n2 -1 -2\r\n"
    )
    assert rows(tmp_path / "a.txt", text) == [{"apple = pie ", "-2", "3"}, {"-2"}]


def test_spmf_faults(tmp_path: Path) -> None:
    refused(tmp_path / "a.txt", "# x\n1 2\n3 tea\n", "line 3", "'tea'")
    refused(tmp_path / "a.txt", "1 -3\n", "line 1", "'-3'")
    refused(tmp_path / "a.txt", "@ITEM=1=a\n@ITEM=1=b\n1\n", "line 2", "second time")
    refused(tmp_path / "a.txt", "@ITEM=1=a\n@ITEM=2=a\n1 2\n", "'a'", "name of its own")
    refused(tmp_path / "a.txt", "@ITEM=x=a\n1 2\n", "line 1", "@ITEM=number=name")
    refused(tmp_path / "a.txt", "# only a comment\n", "contains no item")


# --- long


def test_long_groups_ids_by_first_appearance(tmp_path: Path) -> None:
    text = 'order_id,product_id\n9,b\n 1 , a\n9,a\n"9",b\n\n2,1\n1,9\n'
    source = load_text(tmp_path / "a.csv", text, format="long")
    assert list(source) == [("a", "b"), ("9", "a"), ("1",)]
    assert layout_of(source) == Layout("long", id_column="order_id", item_column="product_id")


def test_long_honours_quotes_and_keeps_text(tmp_path: Path) -> None:
    text = 'id,item\n01,"a, ""b"""\n1," c "\n1,"x\ny"\n'
    assert rows(tmp_path / "a.csv", text) == [{'a, "b"'}, {" c ", "x\ny"}]


def test_long_with_more_columns_and_another_separator(tmp_path: Path) -> None:
    text = "when;article;who\nmon;a;x\ntue;b;y\nmon;c;x\n"
    source = load_text(tmp_path / "a.csv", text, id_column="who", item_column="article")
    assert list(source) == [("a", "c"), ("b",)]
    assert layout_of(source).separator == ";"
    assert rows(tmp_path / "b.csv", "id;item\n1;a,b\n1;c\n") == [{"a,b", "c"}]


def test_long_other_column_follows_from_the_named_one(tmp_path: Path) -> None:
    text = "who,what\n1,a\n1,b\n"
    assert rows(tmp_path / "a.csv", text, id_column="who") == [{"a", "b"}]
    assert rows(tmp_path / "a.csv", text, item_column="who") == [{"1"}, {"1"}]
    refused(tmp_path / "a.csv", text, "who   '1'", "what  'a', 'b'", "--id-column", format="long")


def test_long_faults(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    refused(path, "id,item\n1,a\n", "no column 'order'", "'id', 'item'", id_column="order")
    refused(path, "id,item\n\n1,a\n1,\n,b\n,c\n", "line 5", "'id'", "2 lines lack an ID", "--missing-id skip")
    refused(path, "id,item\n1,a\n1,\n", "line 3", "'item'", "1 line lacks an item", missing_item="stop")
    refused(path, 'id,item\n1,a\n"",b\n', "line 3", "'id'")
    refused(path, "id,item\n", "no line of data", format="long")
    refused(path, "id,item\n1,a\n\n1,a,b\n", "line 4", "fields is 3, expected 2", format="long")
    refused(path, 'id,item\n1,"a\n', "line 2", "never closed")
    refused(path, "id,id\n1,a\n", "2 columns are named 'id'", id_column="id")
    refused(path, "id,item\n1,a\n", "both 'id'", error=RequestError, id_column="id", item_column="id")
    refused(path, "id\n1\n", "id  '1'", "--item-columns", format="long")


# --- which format


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.dat", "x", "fimi"),
        ("A.DAT", "x", "fimi"),
        ("a.txt", "x", "spmf"),
        ("a.parquet", "x", "parquet"),
        ("a.JsonL", "x", "jsonl"),
        ("a.csv", "order_id,product_id\n1,2\n", "basket"),
        ("a.csv", "order_id,product_id,n\n1,2,3\n", "basket"),
        ("a.csv", "order_id,product_id\n1,2\n1,2,3\n", "basket"),
        ("a.csv", "id,name\n1,2\n", "basket"),
        ("a.csv", "cider,milk\ntea,milk\n", "basket"),
        ("-", "1 2\n3\n", "fimi"),
        ("-", "1 -1 2 -1 -2\n", "spmf"),
        ("-", "@ITEM=1=tea\n1 2\n", "spmf"),
        ("-", "tea,milk\n1,2\n", "basket"),
        ("a.data", '\n["a", "b"]\n', "jsonl"),
        ("a.data", '{"items": ["a"]}\n', "jsonl"),
        ("a.data", "[]\n[1]\n", "jsonl"),
    ],
)
def test_detected_format(name: str, content: Any, expected: Any) -> None:
    assert detect_format(name, content.encode()) == expected


def test_the_item_column_is_the_one_that_speaks_of_items(tmp_path: Path) -> None:
    layout = layout_of(load_text(tmp_path / "a.csv", "product_id,order_id\n1,2\n"))
    assert (layout.id_column, layout.item_column) == ("order_id", "product_id")
    layout = layout_of(load_text(tmp_path / "a.csv", "visit_id;icd9\n1;250\n"))
    assert (layout.separator, layout.id_column, layout.item_column) == (";", "visit_id", "icd9")
    refused(tmp_path / "a.csv", "sid,pid\n1,2\n", "nothing says which columns count", error=TableError)


def test_sniffing_a_head_cut_within_a_character() -> None:
    assert sniff_content(("é,ü\n" * 200_000).encode()) == "basket"
    assert sniff_content(("ab é" * 200_000).encode()) == "basket"


def test_options_settle_the_format(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.txt", "a;b\nc\n", separator=";") == [{"a", "b"}, {"c"}]
    assert rows(tmp_path / "b.txt", "who what\n1 a\n", separator=" ", id_column="who") == [{"a"}]
    assert rows(tmp_path / "c.csv", "1 2\n3\n", format="fimi") == [{"1", "2"}, {"3"}]


def test_options_that_do_not_apply_are_refused(tmp_path: Path) -> None:
    refused(
        tmp_path / "a.dat",
        "1\n",
        "separator",
        "basket, long",
        error=RequestError,
        format="fimi",
        separator=",",
    )
    refused(tmp_path / "a.jsonl", "[1]\n", "no column 'x'", "its columns are '1'", id_column="x")
    refused(tmp_path / "a.csv", "1\n", "fimi", "jsonl", error=RequestError, format="xml")
    for separator in ("ab", '"', "\n", "§"):
        refused(tmp_path / "a.csv", "1\n", "one ASCII character", error=RequestError, separator=separator)
    for separator in "05-+":
        refused(tmp_path / "a.csv", "1\n", "numbers may contain", error=RequestError, separator=separator)


# --- Parquet


def parquet(path: Path, columns: Any, **options: Any) -> Transactions:
    pl.DataFrame(columns).write_parquet(path)
    return read(path, **options)


def test_parquet_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    source = parquet(path, {"n": [1, 2, 3, 4], "codes": [["b", "a", "b"], [], None, ["c"]]})
    assert list(source) == [("a", "b"), (), (), ("c",)]
    assert layout_of(source) == Layout("parquet", item_column="codes")
    ints = parquet(path, {"x": [[10, 9], [9]], "y": [["a"], ["b"]]}, item_column="x")
    assert list(ints) == [("9", "10"), ("9",)]


def test_parquet_long(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {
        "visit_id": [5, 3, 5],
        "code": pl.Series(["x", "y", "z"], dtype=pl.Categorical),
        "t": [0.5, 1, 2],
    }
    source = parquet(path, columns, id_column="visit_id", item_column="code")
    assert list(source) == [("x", "z"), ("y",)]
    assert layout_of(source) == Layout("parquet", id_column="visit_id", item_column="code", nested=False)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": [["x", ""]]}, "column 'a' has empty values (1)"),
        ({"a": [[0.5]]}, "'a' has type lists of Float64"),
        ({"a": [[True]]}, "'a' has type lists of Boolean"),
        ({"a": [[["x"]]]}, "'a' has type lists of List(String)"),
        ({"a": [["x"]], "b": [["x"]]}, "2 columns contain lists: 'a', 'b'"),
        ({"a": ["x"]}, "nothing says which columns count"),
        ({"id": [1, None], "item": ["x", "y"]}, "row 1 counted from 0: column 'id' is empty"),
        ({"id": [1, 2], "item": [0.5, 1]}, "'item' has type Float64"),
        ({"a": [1, 2], "b": ["x", "y"]}, "nothing says which columns count"),
        ({"a": [[], None]}, "contains no item"),
    ],
)
def test_parquet_faults(tmp_path: Path, columns: Any, expected: Any) -> None:
    with pytest.raises(DataError) as caught:
        parquet(tmp_path / "a.parquet", columns)
    assert expected in str(caught.value)


def test_parquet_damaged_or_misnamed(tmp_path: Path) -> None:
    refused(tmp_path / "a.parquet", "1 2\n", "not a whole Parquet file")
    refused(tmp_path / "a.parquet", b"PAR1" + bytes(40) + b"PAR1", "cannot be read as Parquet")
    pl.DataFrame({"a": [["x"]]}).write_parquet(tmp_path / "a.csv")
    with pytest.raises(DataError, match="--format parquet"):
        read(tmp_path / "a.csv")
    assert list(read(tmp_path / "a.csv", format="parquet")) == [("x",)]
    (tmp_path / "a.csv").rename(tmp_path / "noname")
    assert list(read(tmp_path / "noname")) == [("x",)]


# --- JSON lines


def test_jsonl_arrays_and_objects(tmp_path: Path) -> None:
    source = load_text(tmp_path / "a.jsonl", '["b", 7, "é\\n"]\r\n\r\n[]\n["7"]')
    assert [set(row) for row in source] == [{"b", "7", "é\n"}, set(), set(), {"7"}]
    assert layout_of(source) == Layout("jsonl")
    source = load_text(tmp_path / "a.jsonl", '{"n": 1, "codes": ["x"]}\n{"codes": null}\n')
    assert list(source) == [("x",), ()]
    assert layout_of(source) == Layout("jsonl", item_column="codes", objects=True)
    assert rows(tmp_path / "a.jsonl", '{"a": ["x"], "b": ["y"]}\n', item_column="b") == [{"y"}]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('["a"', "one JSON array or object"),
        ("[1.5]", "a number with a fraction"),
        ("[true]", "a truth value"),
        ('[""]', "an empty string"),
        ("[[1]]", "an array as an item"),
        ('{"a": ["x"]}', "an object, expected an array"),
        ("5", "a number, expected an array"),
        ('["\\ud800"]', "surrogate"),
        ("[" * 100_000, "one JSON array"),
        ("[" + "1" * 5000 + "]", "one JSON array"),
    ],
)
def test_jsonl_faults_name_the_line(tmp_path: Path, line: str, expected: Any) -> None:
    refused(tmp_path / "a.jsonl", f'["a"]\n{line}\n', "a.jsonl, line 2", expected)


def test_jsonl_objects_need_their_key(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    refused(path, '{"a": [], "b": []}\n', "2 keys contain an array", "--item-column")
    refused(path, '{"a": 1}\n', "no key contains an array")
    refused(path, '{"a": ["x"]}\n{"b": ["x"]}\n', "line 2", "no key 'a'")
    refused(path, '{"a": ["x"]}\n["x"]\n', "line 2", "expected an object")
    refused(path, '["x"]\n', "line 1", "plain arrays", item_column="a")


# --- bytes


def test_not_utf8(tmp_path: Path) -> None:
    refused(tmp_path / "a.csv", b"a\ncaf\xe9,b\n", "byte 0xe9", "offset 5", "line 2", "--encoding cp1252")
    refused(tmp_path / "a.csv", b"a\xc3", "byte 0xc3", "offset 1")
    long = ("é" * (1 << 20)).encode()
    refused(tmp_path / "a.csv", b"x" + long + b"\xff", f"offset {len(long) + 1:,}")
    assert as_text(b"x" + long, "a.csv").content == b"x" + long


def test_other_encodings(tmp_path: Path) -> None:
    assert rows(tmp_path / "a.csv", "café,thé\n".encode("latin-1"), encoding="latin-1") == [{"café", "thé"}]
    assert rows(tmp_path / "a.csv", "café,thé\n".encode("utf-16"), encoding="utf-16") == [{"café", "thé"}]
    assert rows(tmp_path / "a.csv", "café,thé\n".encode("utf-16")) == [{"café", "thé"}]
    refused(tmp_path / "a.csv", "é".encode(), "not ascii", encoding="ascii")
    for encoding in ("klingon", "base64", "\0"):
        refused(tmp_path / "a.csv", b"abc\n", "encoding", error=RequestError, encoding=encoding)


def test_binary_files(tmp_path: Path) -> None:
    refused(tmp_path / "a.csv", b"PK\x03\x04....", "zip", "damaged")
    refused(tmp_path / "a.dat", b"1 2\n3\x00\n", "binary file", "line 2")


# --- where from


def test_source_records_path_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(b"\xef\xbb\xbf1 2\n")
    source = read(str(path))
    assert origin_of(source).path == str(path)
    assert origin_of(source).sha256 == hashlib.sha256(b"\xef\xbb\xbf1 2\n").hexdigest()
    assert layout_of(source) == Layout("fimi")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"tea,milk\nx y\n")))
    source = read("-")
    assert origin_of(source).path == "-"
    assert list(source) == [("milk", "tea"), ("x y",)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="standard input is an empty file"):
        read("-")


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1\n")
    with pytest.raises(DataError, match=r"(?s)no file.*Did you mean .*retail\.dat"):
        read(tmp_path / "retial.dat")
    with pytest.raises(DataError, match="does not exist either"):
        read(tmp_path / "no" / "a.dat")
    (tmp_path / "out" / "published").mkdir(parents=True)
    with pytest.raises(DataError, match="verify and measure"):
        read(tmp_path / "out")


def test_integers_are_read_without_polars(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("1 2\n")
    code = (
        "import sys; from setveil.rows.data.io.rows import read; "
        "read(sys.argv[1]); print('polars' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.dat")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


# --- real data


@pytest.mark.parametrize(
    ("name", "n_rows", "n_items", "longest"),
    [
        ("bms_webview1.dat", 59_601, 497, 267),
        ("bms_webview2.dat", 77_512, 3_340, 161),
        pytest.param("instacart_long.csv", 131_209, 39_123, 80, marks=pytest.mark.exhaustive),
        ("groceries.csv", 9_835, 169, 32),
        ("diabetes_icd9.dat", 101_765, 915, 3),
        ("retail.dat", 88_162, 16_470, 76),
        pytest.param("msnbc.dat", 989_818, 17, 17, marks=pytest.mark.exhaustive),
    ],
)
def test_real_data(name: str, n_rows: int, n_items: int, longest: int) -> None:
    if not (DATA / name).exists():
        pytest.skip("the real data are not here; set SETVEIL_DATA")
    if os.environ.get("NUMBA_DISABLE_JIT") == "1" and name != "groceries.csv":
        pytest.skip("takes minutes uncompiled")
    data = read(DATA / name)
    assert (data.n_rows, data.n_items, int(np.max(data.row_lengths()))) == (n_rows, n_items, longest)


def test_commas_of_decimals_are_no_separators() -> None:
    lines = ["7;ann;22,6;milk", "8;bob;32,2;tea;milk", "9;cy;21,0;tea", "4;dee;1,5;rum"] * 4
    assert likely_separator(Text("a.tsv", "\n".join(lines).encode())) == ";"
    lists = ["1001,5;7;9", "1002,7", "1003,5;9;11;12", "1004,5;8"] * 4  # an ID, and a list of numbers
    assert likely_separator(Text("a.tsv", "\n".join(lists).encode())) == ","


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"[2850996]|1001\n[9492784]|1001|7\n", "basket"), (b"[12],tea\n[13],milk\n", "basket"),
        (b"[12, 3]\n[4]\n", "jsonl"), (b'["a"]\n', "jsonl"),
        (b"[1],\n[2]\n", "jsonl"), (b"[1],[2]\n", "jsonl"),
    ],
)  # fmt: skip
def test_a_field_in_brackets_is_no_json(content: bytes, form: str) -> None:
    assert sniff_content(content) == form
