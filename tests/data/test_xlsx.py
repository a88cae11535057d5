import datetime
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.base.errors import DataError, RequestError
from setveil.rows.data.io.source import Source, open_source
from setveil.rows.data.io.xlsx import read_sheet_lines

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in


def workbook(sheets: dict[str, list[list[Any]]], hidden: tuple[str, ...] = ()) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
        if name in hidden:
            page.sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def source(content: bytes) -> Source:
    return Source("a.xlsx", "a.xlsx", content, "", "", "a.xlsx")


def read_sheet(file: Source, name: str | None = None) -> pl.DataFrame:
    return read_sheet_lines(file, name)[0]


def sheet(*rows: list[Any]) -> pl.DataFrame:
    return read_sheet(source(workbook({"Sheet1": list(rows)})))


def test_cells_become_text() -> None:
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5)
    cells = {
        "007": "007",
        7: "7",
        8.0: "8",
        250.83: "250.83",
        1 / 3: repr(1 / 3),
        123456789012345: "123456789012345",
        True: "true",
        False: "false",
        datetime.date(2020, 1, 2): "2020-01-02",
        moment: "2020-01-02 03:04:05",
        datetime.time(3, 4): "03:04:00",
        "#N/A": "#N/A",
        " two\nlines ": " two\nlines ",
        "é": "é",
    }
    table = sheet(["value"], *([cell] for cell in cells))
    assert table.schema == {"value": pl.String}
    assert table["value"].to_list() == list(cells.values())


def test_the_first_row_names_the_columns() -> None:
    table = sheet([None], ["id", None, 7, True], ["a", 1, None, "x"], [None], ["b"], [None, ""])
    assert table.columns == ["id", "column 2", "7", "true"]
    assert table.rows() == [("a", "1", None, "x"), (None,) * 4, ("b", None, None, None)]
    assert sheet(["id", None, "code"], ["a", None, "x"]).columns == ["id", "code"]  # nothing in the second
    assert sheet(["id", "code"]).shape == (0, 2)
    with pytest.raises(DataError, match="2 columns named 'DX'"):
        sheet(["DX", "id", "DX"], ["a", "b", "c"])
    with pytest.raises(DataError, match="2 columns named 'column 2'"):
        sheet(["column 2", None], ["a", "b"])


def test_one_sheet_is_read() -> None:
    table = [["id"], ["a"]]
    content = workbook({"Data": table, "Empty": [], "Secret": [["x"], ["y"]]}, hidden=("Secret",))
    assert read_sheet(source(content)).rows() == [("a",)]
    assert read_sheet(source(content), "Secret").rows() == [("y",)]
    with pytest.raises(DataError, match="no sheet 'Other', only 'Data', 'Empty', 'Secret'"):
        read_sheet(source(content), "Other")
    content = workbook({"One": table, "Two": table})
    with pytest.raises(DataError, match=r"(?s)2 sheets with content: 'One', 'Two'.*--sheet all"):
        read_sheet(source(content))
    for empty in (workbook({"One": []}), workbook({"One": [[None, ""]], "Two": []})):
        with pytest.raises(DataError, match=r"a\.xlsx is an empty spreadsheet"):
            read_sheet(source(empty))


def test_a_damaged_spreadsheet_is_refused() -> None:
    content = workbook({"One": [["id"], ["Mrs Miller"]]})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part[: len(part) // 2] if "sheet1" in name else part)
    with pytest.raises(DataError, match=r"a\.xlsx cannot be read as a spreadsheet") as caught:
        read_sheet(source(out.getvalue()))
    assert "Miller" not in str(caught.value)


@settings(deadline=None, max_examples=30)
@given(cut=st.booleans(), share=st.floats(0, 1), change=st.integers(1, 255))
def test_a_changed_byte_leads_to_no_other_error(
    tmp_path_factory: pytest.TempPathFactory, *, cut: bool, share: float, change: int
) -> None:
    # The file says when it was made, so that its length differs by a byte or two from one run to another.
    content = bytearray(workbook({"One": [["id", "code"], ["a", 1], ["b", 2.5]]}))
    if cut:
        content = content[: max(10, round(share * len(content)))]
    else:
        content[round(share * (len(content) - 1))] ^= change
    path = tmp_path_factory.mktemp("changed") / "a.xlsx"
    path.write_bytes(content)
    try:
        table = read_sheet(open_source(path))
    except DataError:
        return
    assert table.rows() == [("a", "1"), ("b", "2.5")]


def test_the_package_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = source(workbook({"Sheet1": [["id"]]}))  # some versions import themselves once more for that
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(RequestError, match="pip install 'openpyxl>="):
        read_sheet(whole)


def test_what_pandas_writes(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.xlsx"
    frame = pandas.DataFrame(
        {"id": [1, 2], "code": ["007", None], "day": pandas.to_datetime(["2020-01-02"] * 2)}
    )
    frame.to_excel(path)
    table = read_sheet(open_source(path))
    assert table.columns == ["column 1", "id", "code", "day"]
    assert table.rows() == [("0", "1", "007", "2020-01-02"), ("1", "2", None, "2020-01-02")]


# --- small files that unpack to large ones


def placed(cells: dict[str, str]) -> bytes:
    book = openpyxl.Workbook()
    for place, text in cells.items():
        book.worksheets[0][place] = text
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.exhaustive
def test_cells_far_apart_take_no_more_than_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "100")
    alone = read_sheet(source(placed({"XFD1048576": "code"})))
    assert (alone.columns, alone.height) == (["code"], 0)
    apart = read_sheet(source(placed({"B2": "age", "XFD2": "code", "XFD1048576": "I10"})))
    assert (apart.columns, apart.height) == (["age", "code"], 1048574)
    assert apart.row(-1) == (None, "I10")
    assert apart["age"].null_count() == apart.height


@pytest.mark.exhaustive
def test_cells_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "100")
    header = {f"{column}1": column for column in map(openpyxl.utils.get_column_letter, range(1, 60))}
    with pytest.raises(DataError, match=r"(?s)a.xlsx takes more than 100 MB .*--unpacked-limit MB"):
        read_sheet(source(placed({**header, "A1048576": "I10"})))
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "10")
    with pytest.raises(DataError, match="more than 10 MB"):
        read_sheet(source(placed({"A1": "code", "A1048576": "I10"})))


@pytest.mark.parametrize("member", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "more.xml"])
def test_what_a_spreadsheet_unpacks_to_is_bounded(member: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = workbook({"Sheet1": [["code"], ["I10"]]})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {*old.namelist(), member}:
            content = old.read(name) if name in old.namelist() else b""
            new.writestr(name, content + b" " * (1 << 24) if name == member else content)
    assert read_sheet(source(out.getvalue())).rows() == [("I10",)]
    monkeypatch.setenv("SETVEIL_UNPACKED_LIMIT", "16")
    with pytest.raises(DataError, match="more than 16 MB"):
        read_sheet(source(out.getvalue()))
