import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pyarrow
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from setveil.base.errors import DataError, RequestError
from setveil.base.redact import redacted
from setveil.rows.data.io import query
from setveil.rows.data.io.query import read_query

duckdb = pytest.importorskip("duckdb")

ROWS = [(2, "tea", 1.5), (1, "milk", None), (2, None, 7.0)]


def sqlite_file(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE sale (id INTEGER, item TEXT, price REAL)")
        connection.executemany("INSERT INTO sale VALUES (?, ?, ?)", ROWS)
    return f"sqlite:///{path}"


def duckdb_file(path: Path) -> str:
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE sale (id INTEGER, item VARCHAR, price DOUBLE)")
        for row in ROWS:
            connection.execute("INSERT INTO sale VALUES (?, ?, ?)", row)
    return f"duckdb:///{path}"


BOTH = pytest.mark.parametrize("database", [sqlite_file, duckdb_file])
Database = Callable[[Path], str]


@BOTH
@pytest.mark.parametrize("name", ["shop.db", "the shop's #1 50%?.db"])
def test_rows_come_in_the_order_of_the_query(tmp_path: Path, database: Database, name: str) -> None:
    uri = database(tmp_path / name)
    table = read_query("SELECT id, item, price FROM sale ORDER BY price DESC NULLS LAST", uri)
    assert table.columns == ["id", "item", "price"]
    assert table.rows() == [(2, None, 7.0), (2, "tea", 1.5), (1, "milk", None)]
    assert read_query("SELECT item FROM sale WHERE id = 3", uri).shape == (0, 1)


@BOTH
def test_a_path_may_be_relative(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = database(tmp_path / "shop.db")
    monkeypatch.chdir(tmp_path)
    assert read_query("SELECT id FROM sale", uri.partition(":")[0] + ":///shop.db").height == 3
    with pytest.raises(DataError, match="four slashes") as caught:
        read_query("SELECT id FROM sale", uri.replace(":////", ":///"))
    assert uri in str(caught.value)


@BOTH
def test_a_database_is_never_made(tmp_path: Path, database: Database) -> None:
    uri = database(tmp_path / "shop.db")
    for other in (f"{uri}x", f"{uri.partition(':')[0]}:///:memory:", uri.replace("/shop.db", "")):
        with pytest.raises(DataError, match="no database file"):
            read_query("SELECT 1 AS one", other)
    assert os.listdir(tmp_path) == ["shop.db"]  # noqa: PTH208


@BOTH
def test_a_database_is_never_changed(tmp_path: Path, database: Database) -> None:
    path = tmp_path / "shop.db"
    uri = database(path)
    before = path.read_bytes()
    for sql in ("INSERT INTO sale VALUES (3, 'salt', 1)", "DROP TABLE sale", "CREATE TABLE t (a INTEGER)"):
        with pytest.raises(DataError, match="failed"):
            read_query(sql, uri)
    assert path.read_bytes() == before


@BOTH
def test_a_query_reaches_nothing_but_its_database(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes no file, reads no other one, and makes and opens no other database."""
    monkeypatch.chdir(tmp_path)
    uri = database(tmp_path / "shop.db")
    other = database(tmp_path / "other.db").partition(":///")[2]
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for sql in (
        "COPY sale TO 'out.csv'",
        "COPY (SELECT 1 AS a) TO 'out.parquet' (FORMAT parquet)",
        "EXPORT DATABASE 'out'",
        "SELECT content FROM read_text('secret.csv')",
        "SELECT * FROM read_csv('secret.csv')",
        "SELECT * FROM 'secret.csv'",
        "SELECT * FROM glob('*')",
        f"ATTACH '{other}' AS more",
        "ATTACH 'new.db' AS more",
        "ATTACH 'file:new.db?mode=rwc' AS more",
        "/* SELECT */ -- SELECT\n attach 'new.db' as more",
        ";ATTACH 'new.db' AS more",
        "EXPLAIN ATTACH 'new.db' AS more; SELECT 1",
        "SELECT load_extension('out.so')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "VACUUM INTO 'out.db'",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "PRAGMA writable_schema = 1",
    ):
        with pytest.raises(DataError, match="failed: "):
            read_query(sql, uri)
    for sql in ("SELECT 1 AS a; ATTACH 'new.db' AS more", "SELECT 1 AS a; COPY sale TO 'out.csv'"):
        with contextlib.suppress(DataError):  # drivers run the first statement alone, or none
            read_query(sql, uri)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    for sql in (
        "SELECT 1 AS a",
        " -- one\n/* or\n-- two */\tWITH x AS (SELECT 1 AS a) SELECT * FROM x",
        "values(1)",
    ):
        assert read_query(sql, uri).rows() == [(1,)]


def test_what_to_do_with_a_query_over_files(tmp_path: Path) -> None:
    uri = duckdb_file(tmp_path / "shop.db")
    (tmp_path / "sale.csv").write_text("a,b\n1,2\n")
    with contextlib.closing(duckdb.connect(str(tmp_path / "shop.db"))) as connection:
        connection.execute(f"CREATE VIEW files AS FROM read_csv('{tmp_path / 'sale.csv'}')")
    for sql in ("SELECT * FROM files", "SELECT * FROM read_csv('x.csv')", "SET threads = 1"):
        with pytest.raises(
            DataError, match=r"\nHint: .*Read the file itself with setveil, or load it into a table"
        ):
            read_query(sql, uri)
    with pytest.raises(DataError, match=r"it begins with 'ATTACH', expected SELECT, WITH or VALUES.\nHint: "):
        read_query("ATTACH 'x.db' AS x", sqlite_file(tmp_path / "lite.db"))
    with pytest.raises(DataError, match="it begins with 'COPY'"):
        read_query("COPY sale TO PROGRAM 'sh'", "postgresql://host/db")


def test_a_database_of_duckdb_that_was_not_closed(tmp_path: Path) -> None:
    """Check that reading includes the log of the database, a file next to it."""
    path = tmp_path / "shop.db"
    uri = duckdb_file(path)
    code = (
        "import duckdb, os, sys; open_ = duckdb.connect(sys.argv[1]); "
        "open_.execute(\"INSERT INTO sale VALUES (3, 'salt', 1)\"); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.with_name("shop.db.wal").exists()
    assert read_query("SELECT count(*) AS n FROM sale", uri).rows() == [(4,)]


@BOTH
def test_errors_of_queries(tmp_path: Path, database: Database) -> None:
    uri = database(tmp_path / "shop.db")
    for sql, expected in {
        "SELEKT 1": "SELEKT",
        "SELECT * FROM shelf": "shelf",
        "SELECT id, id FROM sale": "'id'",
        "-- nothing": "failed",
    }.items():
        with pytest.raises(DataError, match=expected) as caught:
            read_query(sql, uri)
        assert uri in str(caught.value)
        assert "\n" not in caught.value.message
    with pytest.raises(RequestError, match="empty"):
        read_query(" ", uri)
    (tmp_path / "noise.db").write_bytes(b"no database" * 100)
    with pytest.raises(DataError, match="failed"):
        read_query("SELECT 1 AS one", uri.replace("shop.db", "noise.db"))


def test_columns_of_sqlite_may_change_their_type_late(tmp_path: Path) -> None:
    path = tmp_path / "late.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a, b)")
        rows = ((i, None) if i < 5000 else ("007", "x") for i in range(5001))
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    table = read_query("SELECT a, b FROM t", f"sqlite:///{path}")
    assert table.schema == {"a": pl.String, "b": pl.String}
    assert table.row(-1) == ("007", "x")
    assert table.row(0) == ("0", None)


def test_types_that_only_databases_have(tmp_path: Path) -> None:
    uri = duckdb_file(tmp_path / "shop.db")
    sql = """SELECT '{"a": 1}'::JSON AS a, 7::HUGEINT AS b, 'x'::ENUM('x') AS c,
             '00000000-0000-0000-0000-000000000007'::UUID AS d, ['x'] AS e, DATE '2020-01-02' AS f"""
    table = read_query(sql, uri)
    assert table.schema["e"] == pl.List(pl.String)
    assert [str(cell) for cell in table.drop("e").row(0)] == [
        '{"a": 1}',
        "7",
        "x",
        "00000000-0000-0000-0000-000000000007",
        "2020-01-02",
    ]
    opaque = pyarrow.ExtensionArray.from_storage(
        pyarrow.opaque(pyarrow.string(), "numeric", "PostgreSQL"), pyarrow.array(["1.50", None])
    )
    table = query._stored(pl.DataFrame(pyarrow.table({"price": opaque, "id": [1, 2]})))
    assert table.schema == {"price": pl.String, "id": pl.Int64}
    assert table["price"].to_list() == ["1.50", None]


def test_connectorx_reads_what_adbc_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connectorx = pytest.importorskip("connectorx")
    path = tmp_path / "shop.db"
    sqlite_file(path)
    seen = []

    def instead(uri: str, sql: str, **options: str) -> object:
        seen.append(uri)
        return original(f"sqlite://{path}", sql, **options)

    original = connectorx.read_sql
    monkeypatch.setattr(connectorx, "read_sql", instead)  # there is no server here
    table = read_query("SELECT id FROM sale ORDER BY id", "mysql://ann:secret@localhost/shop")
    assert table.rows() == [(1,), (2,), (2,)]
    assert seen == ["mysql://ann:secret@localhost/shop"]


def test_what_is_no_connection() -> None:
    for uri in ("shop.db", "mongodb://ann:secret@host/db", "sqlite:shop.db", "", "ann:secret@host"):
        with pytest.raises(RequestError, match="sqlite://, duckdb://, postgresql://") as caught:
            read_query("SELECT 1", uri)
        assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="no database file"):
        read_query("SELECT 1", "sqlite://shop.db")


@pytest.mark.parametrize(
    ("uri", "module", "package"),
    [
        ("sqlite:////data/a.db", "adbc_driver_sqlite", "'adbc.*duckdb"),
        ("duckdb:////data/a.db", "adbc_driver_duckdb", "'adbc.*duckdb"),
        ("postgresql://host/db", "adbc_driver_postgresql", "'adbc.*duckdb"),
        ("mysql://host/db", "connectorx", "connectorx pyarrow"),
    ],
)
def test_a_missing_driver_is_named(
    monkeypatch: pytest.MonkeyPatch, uri: str, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RequestError, match=f"(?s){module}.*pip install {package}"):
        read_query("SELECT 1", uri)


# --- passwords


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("postgresql://ann:secret@host:5432/db", "postgresql://ann:***@host:5432/db"),
        ("postgresql://ann:se:c@re/t@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        (
            "postgresql://host/db?user=ann&password=secret&a=b",
            "postgresql://host/db?user=ann&password=***&a=b",
        ),
        ("mssql://host/db;User=ann;PWD=secret;a=b", "mssql://host/db;User=ann;PWD=***;a=b"),
        ("sqlite:////home/ann/shop.db", "sqlite:////home/ann/shop.db"),
        ("ann:secret@host", "ann:***@host"),
        ("host=db password = secret", "host=db password = ***"),
        ("mssql://user@corp:s3c@ret@host/db", "mssql://user@corp:***@host/db"),
        ("Server=db;Uid=ann;Pwd=s3cret;", "Server=db;Uid=ann;Pwd=***;"),
        (
            "snowflake://ann@acc/db?passphrase=a&api_key_x=b&d=e",
            "snowflake://ann@acc/db?passphrase=***&api_key_x=***&d=e",
        ),
    ],
)
def test_passwords_are_hidden(uri: str, expected: str) -> None:
    assert redacted(uri) == expected


@given(st.text(min_size=1), st.sampled_from(["{}ann:{}@host/db", "{}host/db?a=b&password={}", "{}:{}@host"]))
def test_no_password_is_ever_shown(password: str, form: str) -> None:
    password = f"<{password}>"  # not a part of the rest
    assume("?" not in form or not set(password) & set("&;"))
    assert password not in redacted(form.format("postgresql://", password))
    assert password not in redacted(form.format("", password))
    assert redacted(form.format("x://", password)).count("***") == 1


@pytest.mark.parametrize(
    "form", ["postgresql://ann:{}@127.0.0.1:1/db", "postgresql://127.0.0.1:1/db?password={}"]
)
def test_no_driver_tells_the_password(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    uri = form.format(quote("open/sesame"))
    with pytest.raises(DataError, match="failed") as caught:
        read_query("SELECT 1", uri)
    assert "sesame" not in str(caught.value)

    def fails(url: str) -> None:
        raise RuntimeError(f"cannot open {url}, is open/sesame right?\nmore")

    monkeypatch.setattr(dbapi, "connect", fails)
    with pytest.raises(DataError, match=r"cannot open postgresql://.* is \*\*\* right") as caught:
        read_query("SELECT 1", uri)
    assert "sesame" not in str(caught.value)
    assert "more" not in str(caught.value)
