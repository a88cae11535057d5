"""No file with ids is read as rows by itself, or by what its refusal proposes; rows of items are."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import setveil as sv
from cli_helpers import together
from random_files import Found, random_file, random_rows
from real_data import DATA
from setveil.base.errors import SetveilError, TableError
from setveil.studio.desk.data import preview
from setveil.studio.desk.place import Desk
from strategies import many, seeded

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in


def opened(found: Found, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> sv.Transactions:
    """Read a file, from standard input if it is none."""
    path = folder / found.name
    if found.name == "-":
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(found.content)))
        return sv.read("-", **options)
    path.write_bytes(found.content)
    return sv.read(path, **cast(Any, options))


def holds_ids(found: Found, data: sv.Transactions) -> bool:
    """Return whether the IDs of a file were read as items."""
    origin = data.origin
    assert origin is not None
    if not origin.item_columns:
        return True
    if not found.column:
        return bool(found.ids & {item for row in data for item in row})
    return found.column in {name.removeprefix("column ") for name in origin.item_columns}


@pytest.mark.parametrize(("form", "usual"), [("text", 300), ("jsonl", 60), ("parquet", 50), ("xlsx", 8)])
def test_no_id_is_an_item(form: str, usual: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(28)
    for _ in range(many(usual)):
        found = random_file(rng, form)
        try:
            assert not holds_ids(found, opened(found, tmp_path, monkeypatch)), (
                found.kind,
                found.content[:300],
            )
        except TableError as error:
            for options, _ in error.readings:
                data = opened(found, tmp_path, monkeypatch, **options)
                assert not holds_ids(found, data), (found.kind, options, found.content[:300])
        except sv.DataError:
            continue


def is_read(found: Found, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether rows were read at once; otherwise they are read if the format is named."""
    try:
        data = opened(found, folder, monkeypatch)
    except TableError:
        integers = all(item.isdigit() for row in found.rows or () for item in row)
        text = found.content.decode()
        separator = next((sign for sign in "\t;|, " if sign in text.splitlines()[0]), None)
        form = "fimi" if integers and separator in {" ", None} else "basket"
        named = {"separator": separator} if form == "basket" and separator else {}
        data = opened(found, folder, monkeypatch, format=form, **named)
        assert [frozenset(row) for row in data] == found.rows, found.kind
        return False
    assert [frozenset(row) for row in data] == found.rows, found.kind
    return True


def test_rows_of_items_are_read_at_once_or_with_one_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(29)
    found = [random_rows(rng) for _ in range(many(150))]
    at_once = [is_read(one, tmp_path, monkeypatch) for one in found]
    long = [read for one, read in zip(found, at_once, strict=True) if len(one.rows or ()) >= 100]
    assert sum(long) >= 0.9 * len(long)


SETS = [
    "retail.dat",
    "msnbc.dat",
    "bms_webview1.dat",
    "bms_webview2.dat",
    "diabetes_icd9.dat",
    "groceries.csv",
]


@pytest.mark.parametrize("lines", [3, 10, 50, 400])
@pytest.mark.parametrize("name", SETS)
def test_public_sets_and_their_first_lines(
    name: str, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (DATA / name).exists():
        pytest.skip("real data")
    content = b"".join((DATA / name).read_bytes().splitlines(keepends=True)[:lines])
    separator = "," if name.endswith(".csv") else None
    rows = [frozenset(line.split(separator)) for line in content.decode().splitlines()]
    found = Found(name, name, content, rows=rows)
    assert is_read(found, tmp_path, monkeypatch) or lines in {3, 10}


NUMBERED = ["331788 rice", "331788 rice", "544748 beer", "544748 rice", "917235 tea"]
CODES = ["DE-1642999", "DE-9355610", "DE-1642999", "DE-9355610", "DE-9355610", "DE-7508032", "DE-9355610"]
GOODS = ["beer", "beer", "cheese, old", "bread", "cheese, old", "bread", "beer"]
TABLES = {
    "a table between blanks": ("v3.csv", ["person thing", *NUMBERED], "331788"),
    "a table between blanks, without names": ("v3.csv", NUMBERED, "331788"),
    "a table between several blanks": ("v3.csv", [line.replace(" ", "   ") for line in NUMBERED], "331788"),
    "ids and ages between blanks": ("a.csv", ["331788 57", "544748 61", "917235 57"], "331788"),
    "ids and ages in blanks, no extension": ("a", ["331788 f 57", "544748 m 61", "917235 f 57"], "331788"),
    "quoted fields between blanks": (
        "a.csv",
        ['"331788" "whole milk"', '"544748" "old rye"', '"917235" "tea"'],
        "331788",
    ),
    "addresses between blanks": (
        "a.csv",
        ["ann@example.org rice", "bob@example.org tea", "eve@example.org rice"],
        "ann@example.org",
    ),
    "dates between blanks": ("a.csv", ["1957-03-01 rice", "1961-11-30 tea", "1948-07-07 rice"], "1957-03-01"),
    "goods with commas and dates between blanks": (
        "a",
        ["jam  cheese, old  1940-12-20", "cheese, old  1965-02-16", "beer  1997-08-09", "tea  1955-01-07"],
        "1940-12-20",
    ),
    "goods with commas and telephone numbers between blanks": (
        "a",
        ["cheese, old jam (306) 656-8406", "jam bread (946) 117-9946", "cheese, old (568) 401-5068"],
        "(306) 656-8406",
    ),
    "ids, a blank, and rows": (
        "a.csv",
        ["331788 rice,tea", "544748 beer", "917235 tea,rice,beer", "112358 tea"],
        "331788",
    ),
    "telephone numbers and tabs": (
        "a.dat",
        ["+49 30 7776831\t100", "+49 30 5512377\t120", "+49 40 9918272\t100"],
        "7776831",
    ),
    "telephone numbers and tabs in .txt": (
        "a.txt",
        ["030 7776831\t100", "030 5512377\t120", "040 9918272\t100"],
        "7776831",
    ),
    "ids before ragged rows": ("a.csv", ["331788,rice,tea", "544748,beer", "917235,tea,rice,beer"], "331788"),
    "names before ragged rows": (
        "a.csv",
        ["Ann Beck,rice,tea", "Bob Lang,beer", "Eve Roth,tea,rice,beer"],
        "Ann Beck",
    ),
    "ids after ragged rows": ("a.csv", ["rice,tea,331788", "beer,544748", "tea,rice,beer,917235"], "331788"),
    "integers, the first an id": ("a.dat", ["331788 57 250", "544748 61 401", "917235 57 250"], "331788"),
    "integers, the second an id": (
        "a.dat",
        ["57 331788 250", "61 544748 401", "57 917235 250 401"],
        "331788",
    ),
    "numbers of lines": ("a.dat", ["1 5 7", "2 3 9 4", "3 1 5", "4 2 9"], "4"),
    "integers, an id and an item": ("a.dat", ["1 3", "1 5", "2 3", "2 7", "3 5"], "7"),
    "arrays that begin with ids": (
        "a.jsonl",
        ['["331788", "rice"]', '["544748", "tea", "beer"]', '["917235", "rice"]'],
        "331788",
    ),
    "arrays with ids anywhere": (
        "a.jsonl",
        ['["9", "rice"]', '["rice", "10"]', '["11", "beer", "rice"]', '["tea", "12"]'],
        "12",
    ),
    "names of columns, ids, and goods with commas": (
        "a.csv",
        ["id,code", *(f"{key},{good}" for key, good in zip(CODES, GOODS, strict=True))],
        "DE-1642999",
    ),
    "lists that hold ids": (
        "a.jsonl",
        ['{"x": ["331788", "rice"]}', '{"x": ["544748", "tea", "beer"]}', '{"x": ["917235", "rice"]}'],
        "331788",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_what_may_be_a_table_is_refused_by_sv_read_and_the_studio(case: str, tmp_path: Path) -> None:
    name, lines, key = TABLES[case]
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(TableError) as caught:
        sv.read(path)
    for options, _ in caught.value.readings:
        assert not any(key in item for row in sv.read(path, **cast(Any, options)) for item in row), options
    shown = preview(Desk(tmp_path), str(path), {})
    assert not any(way["sure"] for way in shown["ways"])
    for way in shown["ways"]:
        assert not any(key in item for row in way["rows"] for item in row), way


def test_what_may_be_a_table_is_refused_by_commands(tmp_path: Path) -> None:
    commands = []
    for i, (name, lines, _) in enumerate(TABLES.values()):
        (tmp_path / f"{i}{name}").write_text("\n".join(lines) + "\n")
        commands.append(["anonymize", f"{i}{name}", "--k", "2", "--m", "1", "--out", f"out{i}"])
    for case, done in zip(TABLES, together(commands, tmp_path), strict=True):
        assert done.code == 4, (case, done)
        assert "--format" not in done.err.split("\nHint")[1].replace("--item-columns, --format", ""), (
            case,
            done,
        )
    assert not list(tmp_path.glob("out*"))


def test_lists_are_looked_at_in_parts_too(tmp_path: Path) -> None:
    import polars as pl

    lists = [["331788", "rice"], ["544748", "tea", "beer"], ["917235", "rice"]]
    pl.DataFrame({"x": lists}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, lists)) + "\n")
    (tmp_path / "tree.csv").write_text("rice;food\ntea;drink\nbeer;drink\n".replace("\n", ";ALL\n"))
    promise = ["--k", "2", "--m", "1", "--engine", "parts", "--hierarchy", "tree.csv"]
    for name in ("a.parquet", "a.csv"):
        command = ["anonymize", name, *promise, "--out", "out"]
        done = together([command], tmp_path)[0]
        assert done.code == 4, done
        assert f"setveil {' '.join(command)}" not in done.err, done


def test_a_named_reading_is_a_confirmation(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"x": ["331788", "rice"]}\n{"x": ["544748", "tea", "beer"]}\n{"x": ["917235", "rice"]}\n'
    )
    assert sv.read(path, item_column="x").n_rows == 3
    with pytest.raises(SetveilError):
        sv.read(path)
