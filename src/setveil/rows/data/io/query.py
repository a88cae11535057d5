"""Read the result of a database query."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from setveil.base.errors import DataError, RequestError, shorten
from setveil.base.redact import HIDDEN, redacted, secrets_of
from setveil.base.version import install

_STATUS = re.compile(r"^[A-Z_]+: (?:\[\w+\] )?")  # of ADBC, before the driver's own words
_ALL_ROWS = str(2**30)
# What a query begins with after blanks and comments: no more than all databases take for these.
_BEGINNING = re.compile(r"(?:[ \t\n\f\r]|--[^\n]*\n|/\*.*?\*/)*(\w*)", re.DOTALL | re.ASCII)
_QUERIES = ("SELECT", "WITH", "VALUES")
# Of DuckDB: neither files nor other databases, extensions or addresses; and no query can change that.
_CLOSE = ("SET enable_external_access = false", "SET lock_configuration = true")
_CLOSED = re.compile(r"disabled (?:by|through) configuration|configuration has been locked")


def read_query(sql: str, uri: str) -> pl.DataFrame:
    """Run one query and return its rows, in its order; it can read tables of this database and nothing else.

    In SQLite and PostgreSQL it begins with SELECT, WITH or VALUES. Files, and PostgreSQL's transaction, are
    for reading only; in other databases it can do what the account may. `uri`: ``sqlite:///shop.db``,
    ``sqlite:////home/ann/shop.db`` (four slashes if absolute), ``duckdb:///shop.duckdb``,
    ``postgresql://user@host/db``, ``mysql://``, ``mssql://`` or ``oracle://``. Passwords belong in the
    environment or the driver's file, such as PGPASSWORD or .pgpass.
    """
    scheme, _, rest = uri.partition("://")
    connect = _CONNECTIONS.get(scheme.lower()) if rest else None
    if connect is None:
        raise RequestError(
            f"The connection is {shorten(redacted(uri))}, expected one that begins with "
            f"{', '.join(f'{name}://' for name in _CONNECTIONS)}.",
            hint="A file is named like sqlite:///shop.db or duckdb:////home/ann/shop.duckdb.",
        )
    if not sql.strip():
        raise RequestError("The query is empty.", hint="Name columns and a table: SELECT ... FROM ...")
    try:
        table = connect(sql, uri)
    except ImportError as error:
        alone = connect is _through_connectorx
        command = "pip install connectorx pyarrow" if alone else install("query")
        raise RequestError(
            f"A query to {scheme}:// needs the package {error.name}, which is not installed.",
            hint=f"Install it with: {command}",
        ) from None
    except (DataError, MemoryError):
        raise
    except Exception as error:  # each driver has its own
        reason = _reason(error, uri)
        hint = ""
        if _CLOSED.search(str(error)):
            hint = (
                "A query reads tables of the database, and no file, also not through a view. Read the file "
                "itself with setveil, or load it into a table first."
            )
        raise DataError(f"The query to {redacted(uri)} failed: {reason}", hint=hint) from None
    if not table.width:
        raise DataError(f"The query to {redacted(uri)} returns no columns.", hint="Use SELECT.")
    return _stored(table)


def _reason(error: Exception, uri: str) -> str:
    """Shorten what a driver says to one line without passwords."""
    message = next(iter(str(error).strip().splitlines()), type(error).__name__)
    message = _STATUS.sub("", message.replace(uri, redacted(uri)))
    for secret in secrets_of(uri):
        for spelling in {secret, unquote(secret)} - {""}:
            message = message.replace(spelling, HIDDEN)
    return message if len(message) <= 200 else message[:199] + "…"


# --- kinds of databases


def _sqlite(sql: str, uri: str) -> pl.DataFrame:
    from adbc_driver_sqlite import dbapi

    _require_query(sql, uri)  # beside a file that is open for reading only ATTACH opens others, or makes them
    # Types are those of the first batch, and a column may begin with nulls or change its type later.
    options = {"adbc.sqlite.query.batch_rows": _ALL_ROWS}
    place = _file(uri).resolve().as_uri() + "?mode=ro"
    return _fetched(sql, lambda: dbapi.connect(place), options=options)


def _duckdb(sql: str, uri: str) -> pl.DataFrame:
    import adbc_driver_duckdb
    from adbc_driver_manager import dbapi

    place = {"path": str(_file(uri)), "access_mode": "READ_ONLY"}
    driver, entrypoint = adbc_driver_duckdb.driver_path(), "duckdb_adbc_init"
    return _fetched(sql, lambda: dbapi.connect(driver=driver, entrypoint=entrypoint, db_kwargs=place), _CLOSE)


def _postgresql(sql: str, uri: str) -> pl.DataFrame:
    from adbc_driver_postgresql import dbapi

    _require_query(sql, uri)
    return _fetched(sql, lambda: dbapi.connect(uri), ("SET TRANSACTION READ ONLY",))


def _through_connectorx(sql: str, uri: str) -> pl.DataFrame:
    import connectorx

    table: pl.DataFrame = connectorx.read_sql(uri, sql, return_type="polars")
    return table


_CONNECTIONS: dict[str, Callable[[str, str], pl.DataFrame]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "postgres": _postgresql,
    "mysql": _through_connectorx,
    "mssql": _through_connectorx,
    "oracle": _through_connectorx,
}


def _require_query(sql: str, uri: str) -> None:
    """Refuse a statement that is no query; of several, drivers run the first alone or none."""
    found = _BEGINNING.match(sql)
    word = found[1] if found else ""
    if word.upper() not in _QUERIES:
        raise DataError(
            f"The query to {redacted(uri)} failed: it begins with {shorten(word or sql.strip())}, expected "
            f"{', '.join(_QUERIES[:-1])} or {_QUERIES[-1]}.",
            hint="A query only reads, and only from the database that --connection names.",
        )


def _fetched(
    sql: str,
    connect: Callable[[], Any],
    before: Sequence[str] = (),
    options: dict[str, str] | None = None,
) -> pl.DataFrame:
    with connect() as connection, connection.cursor() as cursor:  # closed without a commit
        for statement in before:
            cursor.execute(statement)
        cursor.adbc_statement.set_options(**options or {})
        cursor.execute(sql)
        table: pl.DataFrame = cursor.fetch_polars()
    return table


def _stored(table: pl.DataFrame) -> pl.DataFrame:
    """Turn types that only databases have, such as PostgreSQL's numeric, into what they are stored as."""
    own = getattr(pl, "BaseExtension", ())  # older polars does so by itself
    columns = [name for name, kind in table.schema.items() if isinstance(kind, own)]
    return table.with_columns(pl.col(name).ext.storage() for name in columns)


def _file(uri: str) -> Path:
    """Find the file of a database, which its driver would make where there is none."""
    scheme, _, rest = uri.partition("://")
    path = Path(rest.removeprefix("/"))
    if path.is_file() and rest.startswith("/"):
        return path
    absolute = Path("/", rest)
    if absolute.is_file():
        hint = f"An absolute path has four slashes: {redacted(f'{scheme}:///{absolute}')}."
    else:
        hint = (
            f"Check the path: {scheme}:/// is followed by one relative to this folder, or by an absolute one."
        )
    raise DataError(f"There is no database file {redacted(str(path))}.", hint=hint)
