import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from origins import layout_of
from real_data import DATA
from setveil.base.errors import DataError, OutputError, RequestError
from setveil.rows.data.io import parquet
from setveil.rows.data.io import write as writing
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import FORMATS, Layout, writable_layout
from setveil.rows.data.transactions import Transactions

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

BASKETS = Transactions.from_rows([["milk", "bread"], [], ["bread"]])
NUMBERS = Transactions.from_rows([[10, 9], [], [9]])

nasty = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8),
    st.text(st.sampled_from(' \t\n\r",;|=@#%[]{}\\\ufeff\u2028é0-'), min_size=1, max_size=5),
    st.sampled_from(
        ["007", "7", "-1", "-2", "+5", "id", "item", "x" * 500, " ", "NA", "null", "1.0", "#", '"', '""']
    ),
)
tables = st.lists(st.lists(nasty, max_size=4), min_size=1, max_size=6).filter(any)


def written(data: Transactions, layout: Layout, path: Path) -> bytes:
    save(data, path, layout)
    return path.read_bytes()


def read_back(data: Transactions, layout: Layout, path: Path, **options: Any) -> list[set[str]]:
    save(data, path, layout)
    source = read(path, **options, published=True)  # whatever labels are called
    assert layout_of(source) == layout
    return [set(row) for row in source]


def test_a_very_long_label(tmp_path: Path) -> None:
    rows = [["x" * 100_000, "x" * 100_000 + "y"], ["9" * 5000]]
    for name in ("basket", "long", "spmf", "jsonl", "parquet"):
        path = tmp_path / f"a.{name}"
        assert read_back(Transactions.from_rows(rows), Layout(name), path, format=name) == as_sets(rows)


def as_sets(rows: Any) -> list[set[str]]:
    return [set(row) for row in rows]


@pytest.mark.parametrize(
    ("data", "layout", "expected"),
    [
        (NUMBERS, Layout("fimi"), b"9 10\n\n9\n"),
        (BASKETS, Layout("basket"), b"bread,milk\n\nbread\n"),
        (BASKETS, Layout("basket", "r"), b'"bread"rmilk\n\n"bread"\n'),
        (BASKETS, Layout("long", ";", "a b", "c;d"), b'a b;"c;d"\n0;bread\n0;milk\n2;bread\n'),
        (NUMBERS, Layout("spmf"), b"9 -1 10 -1 -2\n-2\n9 -1 -2\n"),
        (
            BASKETS,
            Layout("spmf"),
            b"@CONVERTED_FROM_TEXT\n@ITEM=1=bread\n@ITEM=2=milk\n1 -1 2 -1 -2\n-2\n1 -1 -2\n",
        ),
        (BASKETS, Layout("jsonl"), b'["bread", "milk"]\n[]\n["bread"]\n'),
        (Transactions.from_rows([["é"], []]), Layout("jsonl", item_column='a"'), '["é"]\n[]\n'.encode()),
        (
            Transactions.from_rows([["é"], []]),
            Layout("jsonl", item_column='a"', objects=True),
            '{"a\\"": ["é"]}\n{"a\\"": []}\n'.encode(),
        ),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 1 << 18])
def test_bytes_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    data: Transactions,
    layout: Layout,
    expected: Any,
    block: int,
) -> None:
    monkeypatch.setattr(writing, "_BLOCK", block)
    assert written(data, layout, tmp_path / "a") == expected


def test_parquet_written(tmp_path: Path) -> None:
    save(BASKETS, tmp_path / "a.parquet", Layout("parquet", item_column="codes"))
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert frame.schema == {"codes": pl.List(pl.String)}
    assert frame["codes"].to_list() == [["bread", "milk"], [], ["bread"]]
    save(BASKETS, tmp_path / "b.parquet", Layout("parquet", nested=False))
    frame = pl.read_parquet(tmp_path / "b.parquet")
    assert frame.schema == {"id": pl.Int64, "item": pl.String}
    assert frame.rows() == [(0, "bread"), (0, "milk"), (2, "bread")]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "fimi"])
def test_no_rows_at_all(tmp_path: Path, name: str) -> None:
    save(Transactions.from_rows([]), tmp_path / "a", Layout(name))
    save(Transactions.from_rows([[], []]), tmp_path / "b", Layout(name))


@pytest.mark.parametrize(
    "layout",
    [
        Layout("basket"),
        Layout("basket", ";"),
        Layout("basket", "\t"),
        Layout("basket", " "),
        Layout("jsonl"),
        Layout("jsonl", item_column="codes", objects=True),
        Layout("parquet"),
    ],
    ids=str,
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, layout: Layout) -> None:
    path = tmp_path_factory.mktemp("io") / f"a{layout.extension}"
    separator = layout.separator if layout.format == "basket" else None

    @given(tables)
    def check(rows: Any) -> None:
        data = Transactions.from_rows(rows)
        assert read_back(data, layout, path, format=layout.format, separator=separator) == as_sets(rows)

    check()


@given(tables)
def test_long_tables_are_read_back_without_their_empty_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: Any
) -> None:
    path = tmp_path_factory.mktemp("io") / "a"
    data = Transactions.from_rows(rows)
    filled = [row for row in as_sets(rows) if row]
    named = {"id_column": "id", "item_column": "item"}  # items that hardly come again may be ids
    assert read_back(data, Layout("long"), path, format="long", **named) == filled
    for separator in ";\t":
        layout = Layout("long", separator, 'my "id', "code, that is")
        columns = {"id_column": 'my "id', "item_column": "code, that is"}
        assert read_back(data, layout, path, separator=separator, **columns) == filled
    assert read_back(data, Layout("parquet", nested=False), path, format="parquet", **named) == filled


@given(tables)
@example([["\x1e:", "\u2028:"]])  # which are no ends of lines
def test_spmf_is_read_back_or_refused(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    path = tmp_path_factory.mktemp("io") / "a.txt"
    data = Transactions.from_rows(rows)
    if any("\n" in label or "\r" in label for label in data.vocabulary.labels):
        with pytest.raises(DataError, match="--format jsonl"):
            save(data, path, Layout("spmf"))
        assert not path.exists()
    else:
        assert read_back(data, Layout("spmf"), path) == as_sets(rows)


@given(st.lists(st.lists(st.sampled_from(["0", "7", "007", "-3", "+5", "9" * 500])), min_size=1).filter(any))
def test_integers_are_read_back(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    path = tmp_path_factory.mktemp("io") / "a"
    for layout in (Layout("fimi"), Layout("spmf"), Layout("basket")):
        assert read_back(Transactions.from_rows(rows), layout, path, format=layout.format) == as_sets(rows)


def test_labels_that_a_format_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(RequestError, match="only integers"):
        save(BASKETS, path, Layout("fimi"))
    zero = Transactions.from_rows([["a\0"]])
    for name in ("basket", "long", "spmf"):
        with pytest.raises(DataError, match="zero byte"):
            save(zero, path, Layout(name))
    for name in ("jsonl", "parquet"):
        assert read_back(zero, Layout(name), tmp_path / f"a.{name}") == [{"a\0"}]
    for name in FORMATS:
        with pytest.raises(DataError, match="surrogate"):
            save(Transactions.from_rows([["\ud800"]]), path, Layout(name))
    assert not path.exists()


def test_writable_layout() -> None:
    assert writable_layout(Layout("fimi"), ["1", "-2", "007"]) == Layout("fimi")
    assert writable_layout(Layout("fimi"), ["1", "(2,3)"]) == Layout("basket")
    assert writable_layout(Layout("spmf"), ["(2,3)"]) == Layout("spmf")
    assert writable_layout(Layout("wide", item_columns=("a", "b")), ["1"], 2).item_columns == ("a", "b")
    assert writable_layout(Layout("wide", item_columns=("a", "b")), ["1"], 3).item_columns == (
        "item1",
        "item2",
        "item3",
    )


def test_extensions() -> None:
    assert [Layout(name).extension for name in FORMATS] == [
        ".dat",
        ".csv",
        ".csv",
        ".csv",
        ".csv",
        ".txt",
        ".parquet",
        ".jsonl",
    ]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    for name in ("basket", "parquet"):
        with pytest.raises(OutputError, match="cannot be written"):
            save(BASKETS, tmp_path / "no" / "a", Layout(name))


@pytest.mark.exhaustive
def test_parquet_bytes_do_not_depend_on_threads(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np; from setveil.rows.data.io.write import save; "
        "from setveil.rows.data.layout import Layout; "
        "from setveil.rows.data.transactions import Transactions; "
        "rng = np.random.default_rng(0); "
        "codes, labels = rng.integers(0, 500, 600000), list(map(str, range(500))); "
        "data = Transactions.from_codes(np.arange(0, 600001, 2), codes, labels); "
        "save(data, sys.argv[1], Layout('parquet')); save(data, sys.argv[2], Layout('parquet', nested=False))"
    )
    seen = set()
    for threads in ("1", "2", "4"):
        paths = [tmp_path / f"{kind}{threads}" for kind in "ab"]
        env = os.environ | {"POLARS_MAX_THREADS": threads, "NUMBA_DISABLE_JIT": "0"}
        subprocess.run([sys.executable, "-c", code, *map(str, paths)], env=env, check=True)
        seen.add(tuple(path.read_bytes() for path in paths))
    assert len(seen) == 1


@pytest.mark.exhaustive
def test_real_data_are_read_back(tmp_path: Path) -> None:
    folder = DATA
    if not (folder / "bms_webview1.dat").exists():
        pytest.skip("the real data are not here; set SETVEIL_DATA")
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("takes minutes uncompiled")
    source = read(folder / "bms_webview1.dat")
    assert written(source, layout_of(source), tmp_path / "a.dat").split() == [
        item for row in source for item in map(str.encode, row)
    ]
    for name in FORMATS:
        layout = Layout(name)
        save(source, tmp_path / "a", layout)
        again = read(tmp_path / "a", format=name, item_columns="item*" if name == "wide" else None)
        assert again.vocabulary == source.vocabulary
        assert np.array_equal(again.indptr, source.indptr)
        assert np.array_equal(again.items, source.items)


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=9), st.integers(1, 4))
def test_parquet_in_groups_of_rows(rows: list[list[str]], group: int) -> None:
    data = Transactions.from_rows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ROW_GROUP", group)
        for nested in (True, False):
            written = io.BytesIO(b"".join(writing.write_blocks(data, Layout("parquet", nested=nested))))
            frame = pl.read_parquet(written)
            if nested:
                assert frame["item"].to_list() == [sorted(row) for row in rows]
                assert pq.ParquetFile(written).num_row_groups == -(-len(rows) // group)
            else:
                pairs = [(number, item) for number, row in enumerate(rows) for item in sorted(row)]
                assert frame.rows() == pairs


@pytest.mark.parametrize("label", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u3000"])
@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_a_file_of_one_label_that_looks_blank(tmp_path: Path, label: str, separator: str) -> None:
    rows, layout = [[label]], Layout("basket", separator)
    data = Transactions.from_rows(rows)
    assert read_back(data, layout, tmp_path / "a.csv", format="basket", separator=separator) == as_sets(rows)
