"""No value of a column that looks like ids becomes an item, whatever the table, unless it was named."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import Done, files_under, together
from random_files import IDS, OTHERS
from strategies import examples, seeded

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

NAMES = [
    "id", "item", "item_no", "code", "order_id", "product", "patient_id", "patient", "icd10", "x", "V1", "",
    "Fall", "date", "items", "product_id", "DX1", "DX2", "Alter", "customer", "page", "case no", "E11.9",
]  # fmt: skip
ID_NAMES = {"id", "order_id", "patient_id"}
TITLES = ["Klinikum Musterstadt", "Export of 2024-02-01", "confidential,draft", "# made by hand", "sep=;", ""]


@dataclass(frozen=True)
class Table:
    """A file, its IDs, and the options that read it (none if it has no header or is damaged)."""

    ending: str
    content: bytes
    ids: frozenset[str]
    options: dict[str, str]


def random_table(rng: Random) -> Table:
    """Make a table with one column of IDs, at any place and with any name, or without a name."""
    column = _column(rng)
    few = len(column) < 8  # too few to distinguish them from rows of items, if these differ in length
    lines, options = _long(rng, column) if few else rng.choice((_long, _long, _wide, _ragged))(rng, column)
    if len(lines) > 10 and rng.random() < 0.3:
        _damage(rng, lines)
        options = {}
    separator, ending = (
        rng.choice(",,;;\t|"),
        rng.choice((".csv", ".csv", ".tsv", ".txt", ".dat", ".data", "")),
    )
    if all(field.isdigit() for line in lines for field in line) and rng.random() < 0.5:
        separator, ending = " ", rng.choice((".dat", ".txt", ""))
        options = {}
    text, whole = _text(rng, lines, separator)
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"))
    return Table(ending, text.encode(encoding), frozenset(column), options if whole else {})


def _column(rng: Random) -> list[str]:
    """Draw ids, each on one line or on some, in order or not."""
    make = IDS[rng.choice(list(IDS))]
    repeats = rng.choice((1, 1, 1, 2, 4))
    distinct = rng.choice((3, 5, 8, 20, 60)) if repeats == 1 else rng.choice((8, 20, 60))
    start = rng.choice((1_000_000, 4_711_000))
    numbers = rng.sample(range(start, start + 80_000, 3), distinct)
    if rng.random() < 0.3:
        numbers = list(range(start + 1, start + 1 + distinct))
    column = [make(number) for number in numbers for _ in range(rng.randint(1, repeats))]
    if rng.random() < 0.3:
        rng.shuffle(column)
    return column


Made = tuple[list[list[str]], dict[str, str]]


def _long(rng: Random, column: list[str]) -> Made:
    """Put the ids among other columns, or leave them alone, below names or none."""
    alone = len(set(column)) == len(column) >= 5
    width = rng.choice((1, 2, 2, 3, 4, 6) if alone else (2, 2, 3, 4, 6))
    at = rng.randrange(width)
    kinds = [OTHERS[rng.choice(list(OTHERS))] for _ in range(width - 1)]
    lines = [[kind(rng) for kind in kinds] for _ in column]
    for line, key in zip(lines, column, strict=True):
        line.insert(at, key)
    names = rng.sample(NAMES, width)
    if rng.random() < 0.4:
        return lines, {}
    few = len(column) < 8
    if width == 2 and (few or names[1 - at] in ID_NAMES):
        others = {line[1 - at] for line in lines}
        if few or len(set(column)) < 2 * len(others):
            return lines, {}  # a column called item, whose values repeat, is read as one
    named = [i for i in range(width) if i != at and names[i] and any(line[i] for line in lines)]
    options = {"id_column": names[at], "item_column": names[named[0]]} if names[at] and named else {}
    return [names, *lines], options


def _wide(rng: Random, column: list[str]) -> Made:
    """Put ids and an age before columns of codes, mostly empty, and perhaps cut off."""
    codes = OTHERS["codes"]
    width = rng.randint(3, 9)
    names = [*rng.sample(NAMES, 2), *(f"DX{i}" for i in range(3, width + 3))]
    lines = []
    for key in column:
        filled = dict.fromkeys(codes(rng) for _ in range(rng.randint(1, width)))
        lines.append([key, str(rng.randint(18, 90)), *filled, *[""] * (width - len(filled))])
    lines = [names, *lines] if rng.random() < 0.8 else lines
    if rng.random() < 0.3:
        lines = [_trimmed(line) for line in lines]
    return lines, {"item_columns": f"DX3-{names[-1]}"} if lines[0] == names else {}


def _trimmed(line: list[str]) -> list[str]:
    return line[: max((i + 1 for i, field in enumerate(line) if field), default=0)]


def _ragged(rng: Random, column: list[str]) -> Made:
    """Put each id before or after items of its own, as many as there are."""
    kind = OTHERS[rng.choice(("codes", "words", "numbers"))]
    last = rng.random() < 0.4
    lines = []
    for key in dict.fromkeys(column):
        items = list(dict.fromkeys(kind(rng) for _ in range(rng.randint(1, 5))))
        lines.append([*items, key] if last else [key, *items])
    return [["patient", "diagnoses"], *lines] if rng.random() < 0.2 else lines, {}


def _damage(rng: Random, lines: list[list[str]]) -> None:
    """Lengthen or shorten a few lines."""
    for i in rng.sample(range(1, len(lines)), rng.choice((1, len(lines) // 12 + 1))):
        longer = [*lines[i], rng.choice(["999", "5", "77"])]
        lines[i] = longer if rng.random() < 0.6 else lines[i][:-1] or longer


def _text(rng: Random, lines: list[list[str]], separator: str) -> tuple[str, bool]:
    """Write lines as text, perhaps among other lines; return whether there are none."""
    end = rng.choice(("\n", "\n", "\r\n", "\r"))
    out = io.StringIO()
    quoted = rng.random() < 0.2 and separator != " "
    csv.writer(
        out, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    ).writerows(lines)
    text, whole = out.getvalue(), True
    if rng.random() < 0.2:
        text, whole = text.replace(end, separator + end), False
    if len(lines) > 20 and rng.random() < 0.15:
        text, whole = "".join(rng.choice(TITLES) + end for _ in range(rng.randint(1, 3))) + text, False
    if len(lines) > 10 and rng.random() < 0.1:
        text, whole = text + separator.join(["Total", str(len(lines))]) + end, False
    return text.removesuffix(end) if rng.random() < 0.1 else text, whole


def tables() -> st.SearchStrategy[Table]:
    return st.randoms(use_true_random=False).map(random_table)


def leaked(table: Table, data: sv.Transactions) -> list[tuple[str, str]]:
    items = {item for row in data for item in row}
    return [(key, item) for item in items for key in table.ids if key in item]


@settings(max_examples=examples(400, 100))
@given(tables())
def test_no_id_is_read_as_an_item(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    path = tmp_path_factory.mktemp("ids") / f"table{table.ending}"
    path.write_bytes(table.content)
    try:
        data = sv.read(path)
    except sv.DataError:
        return
    assert not leaked(table, data), table.content[:300]


@settings(max_examples=examples(100, 50))
@given(tables())
def test_no_id_is_read_where_columns_are_named(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    path = tmp_path_factory.mktemp("named") / f"table{table.ending}"
    path.write_bytes(table.content)
    if not table.options:
        return
    try:
        options: dict[str, Any] = dict(table.options)
        data = sv.read(path, **options, not_ids=NAMES, rows_are_events=True)  # items may have any name
    except sv.DataError as error:
        assert "is empty" in str(error)  # noqa: PT017  (an item is missing, which a long table cannot have)
        return
    assert not leaked(table, data)
    if "id_column" in table.options:
        assert data.n_rows == len(table.ids)


def random_baskets(rng: Random) -> tuple[str, str, list[frozenset[str]]]:
    """Make rows of items of different lengths, in which items come back, and a name and text for them."""
    words = rng.random() < 0.6
    goods = [f"item {i}" if words else str(i) for i in range(1, rng.randint(6, 30))]
    weights = [1 / (i + 1) ** rng.choice((0.3, 1)) for i in range(len(goods))]
    longest = rng.choice((4, 6, 12))
    rows = [
        list(dict.fromkeys(rng.choices(goods, weights, k=rng.randint(1, longest))))
        for _ in range(rng.randint(60, 200))
    ]
    if rng.random() < 0.5:
        rows = [sorted(row, key=goods.index) for row in rows]
    sep, ending = rng.choice([(",", ".csv"), (";", ".csv"), ("\t", ".tsv"), ("|", ".csv"), (",", "")])
    if not words and rng.random() < 0.5:
        sep, ending = " ", rng.choice((".dat", ".txt", ""))
    text = "".join(sep.join(row) + "\n" for row in rows)
    return f"baskets{ending}", text, [frozenset(row) for row in rows]


@settings(max_examples=examples(200, 50))
@given(st.randoms(use_true_random=False).map(random_baskets))
def test_rows_of_items_are_read(
    tmp_path_factory: pytest.TempPathFactory, baskets: tuple[str, str, list[frozenset[str]]]
) -> None:
    name, text, rows = baskets
    path = tmp_path_factory.mktemp("baskets") / name
    path.write_text(text)
    assert [frozenset(row) for row in sv.read(path)] == rows


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[Table, Done, Path]]]:
    """Anonymize tables as they are and, where their columns can be named, by these."""
    home = tmp_path_factory.mktemp("releases")
    rng = seeded(13)
    runs: list[tuple[Table, list[str], Path]] = []
    for i in range(examples(40, 10)):
        table = random_table(rng)
        name = f"{i}{table.ending}"
        (home / name).write_bytes(table.content)
        named = [
            word
            for option, value in table.options.items()
            for word in (f"--{option.replace('_', '-')}", value)
        ]
        for j, options in enumerate([[], named] if named else [[]]):
            runs.append((table, [name, *options], home / f"out-{i}-{j}"))
    promise = ["--k", "2", "--m", "1", "--algorithm", "aa", "--external"]
    done = together([["anonymize", *words, *promise, "--out", out.name] for _, words, out in runs], home)
    return home, [(table, one, out) for (table, _, out), one in zip(runs, done, strict=True)]


def test_no_id_is_published(releases: tuple[Path, list[tuple[Table, Done, Path]]]) -> None:
    published = 0
    for table, done, out in releases[1]:
        assert done.code in {0, 3, 4}, done
        assert "Traceback" not in done.err, done
        assert (done.code == 0) == out.exists()
        for file in files_under(out / "published") if out.exists() else ():
            content = (out / "published" / file).read_bytes()
            assert not [key for key in table.ids if key.encode() in content], (file, table.content[:300])
            published += 1
    assert published
