"""Tables whose names and labels contain the syntax of files: reading gives what was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from setveil.base.errors import DataError
from setveil.releases.published.table_files import (
    DATA_FILE,
    ITEMS_FILE,
    PublishedTable,
    write_long,
    write_table,
)
from setveil.releases.published.tables import read
from setveil.rows.data.io.rows import read as read_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.table import TextColumn
from strategies import many, seeded
from tables import shown_by

NASTY = (
    "a", "b,c", "[1,2]", "*", ";", "a;b", '"', 'q"q', '""', "x\ny", "\r", "\r\n", " ", " a", "a ", "\t", "'",
    "é", "\ufeffz", "(a,b)", "a\\b", "#", "=1+1", "null", "NaN", "0", "00", "-", "a|b", "items", "q0",
)  # fmt: skip


def text_column(name: str, texts: Sequence[str]) -> TextColumn:
    labels = list(dict.fromkeys(texts))
    return TextColumn(name, np.array([labels.index(text) for text in texts], np.int32), tuple(labels))


def random_published(rng: Random, delimiter: str) -> PublishedTable:
    n = rng.randint(1, 8)
    names = rng.sample([name for name in NASTY if name.strip() == name], 4)
    columns = [text_column(name, [rng.choice((*NASTY, "")) for _ in range(n)]) for name in names[:3]]
    usual = [label for label in NASTY if label != "[1,2]"]
    sets = Transactions.from_rows(
        rng.sample(usual, rng.randint(0, 3)) if row else ["a", "[1,2]"] for row in range(n)
    )
    header = rng.sample(names, 4)
    return PublishedTable(tuple(columns[:2]), sets, (columns[2],), tuple(header), names[3], delimiter)


def write_about(folder: Path, table: PublishedTable, **more: Any) -> None:
    roles = {
        "qi": [column.name for column in table.columns],
        "keep": [column.name for column in table.kept],
        "set": table.set_name,
    }
    about = {
        "file": DATA_FILE,
        "format": "table",
        "recoding": "table",
        "roles": roles,
        "delimiter": table.delimiter,
        "rows": table.n_rows,
        "empty_rows": int((table.sets.row_lengths() == 0).sum()),
    }
    (folder / "about.json").write_text(json.dumps(about | more | {"labels": {}}), encoding="utf-8")


def require_same(found: PublishedTable, table: PublishedTable) -> None:
    assert shown_by(found) == shown_by(table)
    (kept,) = found.kept
    assert [kept.labels[code] for code in kept.codes] == [
        table.kept[0].labels[code] for code in table.kept[0].codes
    ]
    assert found.shows(table)
    assert table.shows(found)


@pytest.mark.parametrize("delimiter", [";", "|", " ", ",", "\t"])
def test_what_is_written_is_what_is_read(tmp_path: Path, delimiter: str) -> None:
    rng = seeded(1)
    for _ in range(many(40)):
        table = random_published(rng, delimiter)
        write_table(tmp_path / DATA_FILE, table)
        write_about(tmp_path, table)
        found = read(str(tmp_path / DATA_FILE), read_rows)
        require_same(found, table)
        assert found.header == table.header


def test_long_files_hold_the_same(tmp_path: Path) -> None:
    rng = seeded(2)
    for _ in range(many(40)):
        table = random_published(rng, ";")
        write_long(tmp_path, table, "id")
        write_about(tmp_path, table, items_file=ITEMS_FILE, id_column="id")
        require_same(read(str(tmp_path / DATA_FILE), read_rows), table)


@pytest.mark.parametrize("names", [("1", "2", "3", "4"), ("4", "3", "2", "1"), ("items", "q0", "set", "qi")])
def test_names_that_are_numbers_or_words(tmp_path: Path, names: tuple[str, str, str, str]) -> None:
    columns = [text_column(name, [f"{name}a", f"{name}b", ""]) for name in names[:3]]
    sets = Transactions.from_rows([["1", "2"], [], ["items"]])
    table = PublishedTable((columns[0], columns[1]), sets, (columns[2],), names, names[3])
    write_table(tmp_path / DATA_FILE, table)
    write_about(tmp_path, table)
    require_same(read(str(tmp_path / DATA_FILE), read_rows), table)


def test_labels_that_look_like_lists(tmp_path: Path) -> None:
    """Check that the delimiter in about.json is accepted."""
    columns = (text_column("q", ["a", "a"]),)
    for label, delimiter in product(("[1,2]", "{x}", "[3]", "a|b"), ";,"):
        rows = Transactions.from_rows([[label], [label]])
        table = PublishedTable(columns, rows, (), ("q", "s"), "s", delimiter)
        write_table(tmp_path / DATA_FILE, table)
        write_about(tmp_path, table)
        assert read(str(tmp_path / DATA_FILE), read_rows).shows(table)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tables_without_items(tmp_path: Path, n: int) -> None:
    columns = (text_column("q", ["a"] * n),)
    table = PublishedTable(columns, Transactions.from_rows([[]] * n), (), ("q", "s"), "s")
    write_table(tmp_path / DATA_FILE, table)
    write_about(tmp_path, table)
    assert read(str(tmp_path / DATA_FILE), read_rows).shows(table)


@pytest.mark.parametrize("role", ["qi", "keep"])
def test_columns_that_nothing_speaks_of(tmp_path: Path, role: str) -> None:
    """Check that omitting a role, or adding a column, is detected: such columns may identify people."""
    table = random_published(seeded(3), ";")
    write_table(tmp_path / DATA_FILE, table)
    write_about(tmp_path, table)
    about = json.loads((tmp_path / "about.json").read_text(encoding="utf-8"))
    about["roles"][role].pop()
    (tmp_path / "about.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(DataError):
        read(str(tmp_path / DATA_FILE), read_rows)
