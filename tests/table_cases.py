"""Small random tables, as published."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from naive.tables_verify import Line, Lines
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.table import TextColumn

COLUMNS, KEPT = ("age", "sex"), ("outcome", "ward")


def column(name: str, values: Sequence[str]) -> TextColumn:
    labels = tuple(dict.fromkeys(values))
    codes = np.array([labels.index(value) for value in values], np.int32)
    return TextColumn(name, codes, labels)


def published(lines: Lines, columns: Sequence[str] = COLUMNS, kept: Sequence[str] = ()) -> PublishedTable:
    """Make the table that rows of labels are."""
    return PublishedTable(
        tuple(column(name, [line.known[i] for line in lines]) for i, name in enumerate(columns)),
        Transactions.from_rows(sorted(line.items) for line in lines),
        tuple(column(name, [line.kept[i] for line in lines]) for i, name in enumerate(kept)),
        (*columns, *kept, "items"),
    )


def random_lines(rng: Random, most_rows: int = 40, items: str = "abcdef", most_items: int = 4) -> list[Line]:
    """Draw rows, many of them alike, some empty."""
    ages, sexes = rng.choice((("1",), ("1", "2"), ("1", "2", ""))), rng.choice((("F",), ("F", "M")))
    lines: list[Line] = []
    for _ in range(rng.randint(0, most_rows)):
        if lines and rng.random() < 0.4:
            lines.append(rng.choice(lines))
            continue
        held = frozenset(rng.choices(items, range(len(items), 0, -1), k=rng.randint(0, most_items)))
        kept = rng.choice(("dead", "alive", "alive", "")), rng.choice("AB")
        lines.append(Line((rng.choice(ages), rng.choice(sexes)), held, kept))
    return lines
