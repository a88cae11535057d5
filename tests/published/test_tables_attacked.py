"""Tables whose names and labels hold whatever files are made of: what is written is what is read."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from setveil.data.relational import TextColumn
from setveil.data.transactions import Transactions
from setveil.published.table_files import (
    DATA_FILE,
    ITEMS_FILE,
    PublishedTable,
    split_sets,
    write_long,
    write_table,
)
from strategies import seeded
from tables import many, shown_by

NASTY = (
    "a", "b,c", "[1,2]", "*", ";", "a;b", '"', 'q"q', '""', "x\ny", "\r", "\r\n", " ", " a", "a ", "\t", "'",
    "é", "\ufeffz", "(a,b)", "a\\b", "#", "=1+1", "null", "NaN", "0", "00", "-", "a|b", "items", "q0",
)  # fmt: skip


def text_column(name: str, texts: Sequence[str]) -> TextColumn:
    labels = list(dict.fromkeys(texts))
    return TextColumn(name, np.array([labels.index(text) for text in texts], np.int32), tuple(labels))


def random_published(rng: Random, delimiter: str) -> PublishedTable:
    n = rng.randint(0, 8)
    names = rng.sample([name for name in NASTY if name.strip()], 4)
    columns = [text_column(name, [rng.choice((*NASTY, "")) for _ in range(n)]) for name in names[:3]]
    sets = Transactions.from_rows(rng.sample(NASTY, rng.randint(0, 3)) for _ in range(n))
    header = rng.sample(names, 4)
    return PublishedTable(tuple(columns[:2]), sets, (columns[2],), tuple(header), names[3], delimiter)


def as_text(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, strict=True))


@pytest.mark.parametrize("delimiter", [";", "|", " ", ",", "\t"])
def test_what_is_written_is_what_is_read(tmp_path: Path, delimiter: str) -> None:
    rng = seeded(1)
    for _ in range(many(40)):
        table = random_published(rng, delimiter)
        write_table(tmp_path / DATA_FILE, table)
        header, *rows = as_text(tmp_path / DATA_FILE)
        assert tuple(header) == table.header
        assert {len(row) for row in rows} <= {4}
        fields = [row[header.index(table.set_name)] for row in rows]
        texts = list(dict.fromkeys(fields))
        codes = np.array([texts.index(field) for field in fields], np.int64)
        sets = Transactions.from_codes(*split_sets(codes, texts, delimiter))
        found = [
            (
                tuple(row[header.index(column.name)] for column in (*table.columns, *table.kept)),
                frozenset(items),
            )
            for row, items in zip(rows, sets, strict=True)
        ]
        kept = [table.kept[0].labels[code] for code in table.kept[0].codes]
        assert found == [
            ((*labels, more), items) for (labels, items), more in zip(shown_by(table), kept, strict=True)
        ]


def test_long_files_hold_the_same(tmp_path: Path) -> None:
    rng = seeded(2)
    for _ in range(many(40)):
        table = random_published(rng, ";")
        write_long(tmp_path, table, "id")
        header, *rows = as_text(tmp_path / DATA_FILE)
        assert header == ["id", *(name for name in table.header if name != table.set_name)]
        pairs = as_text(tmp_path / ITEMS_FILE)[1:]
        labels = [tuple(row[header.index(column.name)] for column in table.columns) for row in rows]
        found = [
            (theirs, frozenset(item for at, item in pairs if at == row[0]))
            for row, theirs in zip(rows, labels, strict=True)
        ]
        assert found == shown_by(table)
