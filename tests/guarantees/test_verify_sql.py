"""The query that checks k^m-anonymity in a database: against brute force, in SQLite and DuckDB."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import refused, setveil
from strategies import examples, random_rows, seeded

Found = Counter[tuple[Any, ...]]
CLASSES = (("x", None), ("x", "1"), ("y", "1"), (None, None))
Classes = tuple[tuple[str | None, str | None], ...]


def below(rows: list[tuple[Any, frozenset[str]]], k: int, m: int, *, of_table: bool) -> Found:
    """The sets of items in fewer than k rows, within each class if there are any."""
    held: Found = Counter()
    for kind, row in rows:
        first = kind if of_table else ()
        if of_table:
            held[*first, None, None] += 1
        for item in row:
            held[*first, item, None] += 1
        if m == 2:
            for pair in combinations(sorted(row), 2):
                held[*first, *pair] += 1
    return Counter({some: n for some, n in held.items() if n < k})


def lines_of(rows: list[tuple[Any, frozenset[str]]], rng: Random) -> list[tuple[Any, ...]]:
    """A line for each item, some twice, and one with no item for rows without any, and some others."""
    lines: list[tuple[Any, ...]] = []
    for number, (kind, row) in enumerate(rows):
        lines += [(number, item, *kind) for item in row for _ in range(rng.randint(1, 2))]
        if not row or rng.random() < 0.2:
            lines.append((number, rng.choice((None, "")), *kind))
    rng.shuffle(lines)
    return lines


def counted(lines: list[tuple[Any, ...]]) -> Found:
    return Counter({line[:-1]: line[-1] for line in lines})


def cases() -> list[tuple[list[tuple[Any, frozenset[str]]], int, int, bool, Random]]:
    rng, found = seeded(461), []
    for number in range(examples(200, 100)):
        items = [*"abcde", "it's", 'a "b"'][: rng.randint(1, 7)]
        rows = [(rng.choice(CLASSES), row) for row in random_rows(rng, items, rng.randint(1, 14), 4)]
        found.append((rows, rng.randint(2, 4), rng.randint(1, 2), number % 2 == 1, rng))
    return found


def test_in_sqlite_it_returns_the_sets_below_k() -> None:
    held = 0
    for rows, k, m, of_table, rng in cases():
        base = sqlite3.connect(":memory:")
        base.execute('create table "my ""rows" ("row id", "what", "age", "a""b")')
        base.executemany('insert into "my ""rows" values (?, ?, ?, ?)', lines_of(rows, rng))
        query = sv.verify_sql(
            k,
            m,
            table='my "rows',
            id_column="row id",
            item_column="what",
            qi=["age", 'a"b'] if of_table else [],
        )
        found = counted(base.execute(query).fetchall())
        assert found == below(rows, k, m, of_table=of_table)
        held += not found
        if not of_table:
            assert (not found) == sv.verify([sorted(row) for _, row in rows], k=k, m=m).holds
    assert held


def test_in_duckdb_both_layouts_do() -> None:
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    run: Callable[[str], list[tuple[Any, ...]]] = lambda query: base.execute(query).fetchall()  # noqa: E731
    for rows, k, m, of_table, rng in cases()[:40]:
        base.execute("create or replace table published (row_id int, item text, age text, sex text)")
        base.executemany("insert into published values (?, ?, ?, ?)", lines_of(rows, rng))
        columns = ["age", "sex"] if of_table else []
        wanted = below(rows, k, m, of_table=of_table)
        assert counted(run(sv.verify_sql(k, m, qi=columns))) == wanted
        base.execute("create or replace table listed (number int, item text[], age text, sex text)")
        lists = [(at, [*sorted(row), *sorted(row)[:1]], *kind) for at, (kind, row) in enumerate(rows)]
        base.executemany("insert into listed values (?, ?, ?, ?)", lists)
        for id_column in (None, "number"):
            query = sv.verify_sql(k, m, table="listed", layout="list", id_column=id_column, qi=columns)
            assert counted(run(query)) == wanted


def test_items_may_be_numbers_and_tables_have_schemas() -> None:
    base = sqlite3.connect(":memory:")
    base.execute("create table t (row_id integer, item integer)")
    base.executemany("insert into t values (?, ?)", [(1, 5), (2, 5), (2, 7), (3, 7), (1, 7)])
    assert base.execute(sv.verify_sql(2, 2, table="main.t")).fetchall() == []
    assert base.execute(sv.verify_sql(3, 2, table="main.t")).fetchall() == [(5, None, 2), (5, 7, 2)]


def test_the_command_prints_it() -> None:
    done = setveil(
        "verify",
        "--sql",
        "--k",
        5,
        "--m",
        2,
        "--table",
        "t",
        "--id-column",
        "r",
        "--item-column",
        "x",
        "--qi",
        "a,b",
    )
    assert done.out.strip() == sv.verify_sql(5, 2, table="t", id_column="r", item_column="x", qi=["a", "b"])
    done = setveil("verify", "--sql", "--k", 5, "--m", 2, "--layout", "list", "--json")
    assert json.loads(done.out) == {"sql": sv.verify_sql(5, 2, layout="list")}


def test_what_no_query_is_written_for_is_refused() -> None:
    for m in ("3", "inf"):
        refused(setveil("verify", "--sql", "--k", 5, "--m", m), 2, "--m must be 1 or 2")
    refused(setveil("verify", "--sql", "--m", 2), 2, "--k and --m")
    refused(setveil("verify", "rows.csv", "--sql", "--k", 5, "--m", 2), 2, "FILE does not apply")
    refused(setveil("verify", "--sql", "--k", 5, "--m", 2, "--model", "coherence"), 2, "not for coherence")
    refused(setveil("verify", "--k", 5, "--m", 2), 2, "FILE is missing")
    refused(setveil("verify", "rows.csv", "--k", 5, "--m", 2, "--table", "t"), 2, "goes with --sql")
    refused(setveil("verify", "--sql", "--k", 5, "--m", 2, "--separator", ";"), 2, "--separator does not")
    with pytest.raises(sv.RequestError, match="layout"):
        sv.verify_sql(5, 2, layout="wide")
