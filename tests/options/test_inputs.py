"""Lists of items, names of codes, samples of rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_helpers import write
from setveil.base.errors import DataError
from setveil.cli.files import read_recoding
from setveil.rows.data.transactions import Transactions
from setveil.runs.options.inputs import (
    draw_rows,
    load_items,
    load_labels,
    load_lines,
    load_names,
    load_weights,
)

DATA = Transactions.from_rows([["beef, raw", "beef", "milk"], ["raw", "milk", 'ham "best"'], ["tea"]])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("beef, raw\n", ["beef, raw"]),
        ("beef, raw\nmilk,tea\n", ["beef, raw", "milk", "tea"]),
        ("beef,raw\n", ["beef", "raw"]),
        ('"beef, raw",tea\n', ["beef, raw", "tea"]),
        ('ham "best"\r\n\r\n beef, raw \r\n', ["beef, raw", 'ham "best"']),
        ("milk\nmilk\n", ["milk"]),
    ],
)
def test_a_line_that_is_an_item_is_taken_whole(tmp_path: Path, content: str, expected: list[str]) -> None:
    path = write(tmp_path / "items.txt", content)
    assert load_items(path, DATA, "utf-8") == tuple(expected)
    assert load_labels(str(path), DATA, "utf-8") == tuple(expected)


def test_a_text_that_is_an_item_is_taken_whole() -> None:
    assert load_labels("beef, raw", DATA, "utf-8") == ("beef, raw",)
    assert load_labels("beef,raw", DATA, "utf-8") == ("beef", "raw")
    with pytest.raises(DataError, match="1 item is not in the data: 'cooked'"):
        load_labels("beef, cooked", DATA, "utf-8")


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_lists_without_items(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match="contains no item"):
        load_items(write(tmp_path / "items.txt", content), DATA, "utf-8")


def test_faults_are_reported_with_their_line(tmp_path: Path) -> None:
    path = write(tmp_path / "items.txt", 'beef, raw\nmilk\n"tea\n')
    with pytest.raises(DataError, match=r"items.txt, line 3"):
        load_items(path, DATA, "utf-8")


@pytest.mark.parametrize(
    "content",
    [
        "tea,2\nham;cheese,0.5\n",
        "\ufefftea,2\r\n\r\nham;cheese,0.5",
        'tea;2\n"ham;cheese";0,5\n',  # as spreadsheets write where commas are decimal
        'tea;2,0\n"ham;cheese";0,5\n',
        "tea\t2\nham;cheese\t0.5\n",
        'Artikel;Gewicht\ntea;2\n"ham;cheese";0,5\n',
        "item,weight\ntea,2\nham;cheese,0.5\n",
    ],
)
def test_weights_however_a_spreadsheet_separates_them(tmp_path: Path, content: str) -> None:
    assert load_weights(write(tmp_path / "w.csv", content), "utf-8") == {"tea": 2.0, "ham;cheese": 0.5}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("tea,2\nmilk,much\n", "line 2: found 'milk,much', expected an item, a comma and a number"),
        ("tea;2\nmilk;-1\n", "line 2: found 'milk;-1'"),
        ("tea,2\nmilk;1\n", "line 2: found 'milk;1'"),
        ("tea\t2\nmilk\t1\t3\n", "line 2: found 'milk"),
        ("tea;2,5\ntea;1\n", "'tea' has a weight already"),
        ("tea,nan\n", "line 1"),
        ("tea,nan\nmilk,2\n", "line 1"),
        ("item,weight\n", "line 1"),
        (",2\n", "line 1"),
    ],
)
def test_weights_that_make_no_sense(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_weights(write(tmp_path / "w.csv", content), "utf-8")


def test_all_items_line_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "all.csv", 'tea\n"milk"\r\n"beef, raw"\n\nbeef, cooked\n"ham ""best"""\n5" pan\n')
    expected = {"tea", "milk", "beef, raw", "beef, cooked", 'ham "best"', '5" pan'}
    assert {*load_lines(path, "utf-8")} == expected


def test_names(tmp_path: Path) -> None:
    path = write(
        tmp_path / "names.csv",
        'Code,Name\nE11,"Diabetes, type 2"\n\n I10 , Hypertension \nI10,Hypertension\n',
    )
    assert load_names(path, "utf-8") == {"E11": "Diabetes, type 2", "I10": "Hypertension"}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_names_however_a_spreadsheet_separates_them(tmp_path: Path, separator: str) -> None:
    lines = [("code", "name"), ("E11", '"Diabetes, type 2; old"'), ("I10", "Hypertension")]
    path = write(tmp_path / "names.csv", "".join(f"{separator.join(line)}\n" for line in lines))
    assert load_names(path, "utf-8") == {"E11": "Diabetes, type 2; old", "I10": "Hypertension"}


ODD = "Ham\x85, f\u2028ine\x1c"  # what ends no line of a file, such as dots of Windows read as Latin-1


def test_signs_within_labels_end_no_line(tmp_path: Path) -> None:
    pairs = f'"{ODD}",2\n"two\nlines",0.5\n'
    assert load_weights(write(tmp_path / "w.csv", pairs), "utf-8") == {ODD: 2.0, "two\nlines": 0.5}
    names = f'E11,"{ODD}"\nI10,"two\nlines"\n'
    assert load_names(write(tmp_path / "n.csv", names), "utf-8") == {"E11": ODD, "I10": "two\nlines"}
    with pytest.raises(DataError, match=r"w.csv, line 4: found"):
        load_weights(write(tmp_path / "w.csv", pairs + "tea,x\n"), "utf-8")
    recoding = write(tmp_path / "recoding.csv", f'item,published\n"{ODD}",food\n"two\nlines",\n')
    assert read_recoding(recoding, "utf-8") == {ODD: "food", "two\nlines": None}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("E11,a,b\n", "line 1: found 'E11,a,b'"),
        ("E11,a\nI10\n", "line 2"),
        ("E11,\n", "line 1"),
        ("E11,a\nE11,b\n", "line 2: 'E11' has a name already"),
    ],
)
def test_names_that_make_no_sense(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_names(write(tmp_path / "names.csv", content), "utf-8")


@given(st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=20), st.integers(1, 25), st.integers(0, 3))
def test_a_sample_is_rows_in_their_order(rows: list[frozenset[str]], number: int, seed: int) -> None:
    data = Transactions.from_rows(map(sorted, rows))
    drawn = [frozenset(row) for row in draw_rows(data, number, seed)]
    assert len(drawn) == min(number, len(rows))
    left = iter(rows)
    assert all(row in left for row in drawn)  # a subsequence
    again = draw_rows(data, number, seed)
    assert [frozenset(row) for row in again] == drawn
    assert set(again.vocabulary.labels) == set().union(*drawn)
