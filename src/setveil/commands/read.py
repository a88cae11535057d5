"""Read rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from os import PathLike
from typing import Any

from setveil.base.errors import RequestError, described
from setveil.commands.arguments import rows_of
from setveil.rows.data.pandas_frames import is_pandas
from setveil.rows.data.transactions import Transactions


def read(
    source: str | PathLike[str] | object | None = None,
    *,
    format: str | None = None,  # noqa: A002  (the word that users know)
    encoding: str | None = None,
    separator: str | None = None,
    id_column: str | int | None = None,
    item_column: str | int | None = None,
    item_columns: str | Sequence[str | int] | None = None,
    delimiter: str | None = None,
    not_ids: str | Sequence[str] | None = None,
    rows_are_events: bool = False,
    same_ids: bool = False,
    skip_lines: str | int | None = None,
    skip_last: int | None = None,
    comment: str | None = None,
    header_lines: int | None = None,
    missing: str | Sequence[str] | Mapping[str, Any] | None = None,
    not_missing: str | Sequence[str] | None = None,
    missing_id: str | None = None,
    missing_item: str | None = None,
    fill_id: bool = False,
    also: str | Sequence[str] | Mapping[str, str] | None = None,
    query: str | None = None,
    connection: str | None = None,
    normalize: str | None = None,
    yes: str | Sequence[str] | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Transactions:
    r"""Read rows from files, a database, a data frame, or what else holds them.

    Where a file may be a table and nothing says which columns count, it is an error: no guess publishes ids.

    Parameters
    ----------
    source : path, list of paths, data frame, Arrow stream, list of lists, or Transactions, optional
        A file (``-`` reads standard input), several files or a folder of files with the same layout, also
        compressed (gzip, zstd, xz, bzip2, zip with one member); an object with an Arrow stream (polars,
        pandas, pyarrow, DuckDB, ...), a pandas series or grouped series (see `Transactions.from_frame`); or
        rows of items. None: the answer of `query`.
    format : {"fimi", "basket", "long", "wide", "onehot", "spmf", "parquet", "jsonl"}, optional
        By default detected: from the extension (``.dat`` is FIMI, ``.txt`` SPMF, ``.parquet``, ``.jsonl``,
        ``.xlsx``), and from the content.
    encoding : str, optional
        Of a text file, by default UTF-8, or UTF-16 with a byte order mark. ``FILE=cp1252`` names that of one
        file; several are separated by commas.
    separator : str, optional
        Between fields of separated text, by default detected: one sign, or several such as ``::``.
    id_column, item_column : str or int, optional
        Columns of a long table, by name, or by number from 1; `item_column` also the column of lists, or the
        key of JSON objects. An index of a pandas frame is an id column by its name; columns that pandas
        names by integers are named so. In a wide or one-hot
        table lines of the same id are one row.
    item_columns : str or list of str, optional
        Item columns of a wide or one-hot table: names, or a text with names, ranges (``DX1-DX20``) and
        patterns (``DX*``) between commas.
    delimiter : str, optional
        Between the items of a cell, where the item column or columns hold several, such as ``E11;I10``; one
        ASCII character. A comma is also between the items of lists in brackets (``['E11', 'I10']``). By
        default a cell holds one item.
    not_ids : str or list of str, optional
        Columns that look like person IDs but are not. Items are read from a column that looks
        like ids only if it is named here. For rows without columns, fields by number: ``"1"``, ``"last"``.
    rows_are_events : bool
        Whether rows are events, such as orders or stays, of which a person may have several: then the
        guarantee is about events. Otherwise an unused column of people who have several rows is an error.
    same_ids : bool
        Of several files: the same id in two of them is the same row, not an error.
    skip_lines : int or str, optional
        How many first lines are no data; or which lines, by number: ``"1-3,359"``. 0 says that none is.
        Those of a file of `also` are named with it: ``"drugs.csv=1-3"``, or after ``;``.
    skip_last : int, optional
        How many last lines are no data. 0 says that none is.
    comment : str, optional
        Lines that begin with it are no data, such as ``#``. Without it, only such lines above a table.
    header_lines : int, optional
        How many lines stand above the data; the first that has a name for a column counts.
    missing : str, list of str, or dict, optional
        Words that mean that there is no value, in addition to those of every reading (``NA``, ``NULL``,
        ``-`` and others): ``"unknown,999"``, or of a column: ``"icd=0"`` or ``{"icd": ["0"]}``. ``"* Total"``
        is any ID or item that ends so.
    not_missing : str or list of str, optional
        Words that usually mean that there is none, and are items here.
    missing_id : {"stop", "skip"}, optional
        What becomes of lines without an ID, by default an error.
    missing_item : {"skip", "stop"}, optional
        What becomes of lines without an item: by default they are skipped, and their person stays.
    fill_id : bool
        Whether an ID stands once for a group of lines.
    also : str, list of str, or dict, optional
        Further files about the same people, such as ``"drugs.csv:ATC"`` or ``{"drugs.csv": "ATC"}``: they
        have the same `id_column`, and the items of their column or columns are added. Of a spreadsheet
        ``"book.xlsx:SHEET:COLUMN"``. People in one of the files only are kept.
    query, connection : str, optional
        SQL that gives a table, and the database to ask, such as ``sqlite:///visits.db``.
    normalize : {"codes", "text", "none"}, optional
        Make spellings of an item one item. "codes": capitals without dots and blanks (``E119``); "text":
        small letters, single blanks, composed accents. By default items stay as they are written, but a code
        that a hierarchy has once is one item with it; "none" keeps its spellings apart.
    yes : str or list of str, optional
        Item columns that hold answers, such as 1, 2 and -99: the values that mean that the item of the
        column is there. Other values mean that it is not.
    quote : {"double", "none"}, optional
        Whether double quotes protect what is between them (the default), or are signs like any other, as in
        files of databases and for inches.
    decimal : {",", "."}, optional
        The decimal sign of numbers in tables; by default a comma where all numbers of a column have it.
    sheet : str, optional
        Of a spreadsheet with several sheets: its name, its number from 1, or ``"all"``.

    Returns
    -------
    Transactions
        One row for each line (blank lines are empty rows), for each id of a long table, or for each list.
        The `origin` of rows from a file tells how it is laid out.

    Raises
    ------
    TableError
        If the source may be a table and nothing says which columns count, or a column of items looks like
        ids.
    DataError
        If the source cannot be read, is malformed (the message names the line), contains no item, or nothing
        tells which column holds the ids.
    RequestError
        If an option is not acceptable or does not apply.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("orders.csv").write_text("order,article\n1,tea\n1,milk\n2,tea\n")
    >>> sv.read("orders.csv", id_column="order", item_column="article").rows()
    [('milk', 'tea'), ('tea',)]
    >>> _ = Path("stays.csv").write_text("stay,age,DX1,DX2\n1,40,I10,E11\n2,52,I10,\n")
    >>> sv.read("stays.csv", item_columns="DX*").rows()
    [('E11', 'I10'), ('I10',)]
    >>> _ = Path("wards.csv").write_text("stay,codes\n1,E11;I10\n2,I10\n3,\n")
    >>> sv.read("wards.csv", id_column="stay", item_column="codes", delimiter=";").rows()
    [('E11', 'I10'), ('I10',), ()]
    >>> _ = Path("drugs.csv").write_text("stay,atc\n2,C07\n4,A10\n")
    >>> sv.read("stays.csv", id_column="stay", item_columns="DX*", also="drugs.csv:atc").rows()
    [('E11', 'I10'), ('C07', 'I10'), ('A10',)]
    >>> sv.read([["tea", "milk"], ["tea"]])
    Transactions: 2 rows, 2 items, 3 occurrences
    """
    options: dict[str, Any] = {
        "format": format,
        "encoding": encoding,
        "separator": separator,
        "id_column": id_column,
        "item_column": item_column,
        "delimiter": delimiter,
        "query": query,
        "connection": connection,
        "normalize": normalize,
        "quote": quote,
        "decimal": decimal,
        "sheet": sheet,
    }
    for name, value in options.items():
        number = isinstance(value, Integral) and name.endswith("_column") and is_pandas(source)
        if value is not None and not isinstance(value, str) and not number:
            raise RequestError(f"{name} must be a text, got {described(value)}.")
    if not isinstance(same_ids, bool):
        raise RequestError(f"same_ids must be True or False, got {described(same_ids)}.")
    if not isinstance(rows_are_events, bool):
        raise RequestError(f"rows_are_events must be True or False, got {described(rows_are_events)}.")
    options |= {
        "skip_lines": skip_lines,
        "skip_last": skip_last,
        "comment": comment,
        "header_lines": header_lines,
        "missing": missing,
        "not_missing": not_missing,
        "missing_id": missing_id,
        "missing_item": missing_item,
        "fill_id": fill_id or None,
    }
    options |= {
        "also": also,
        "item_columns": item_columns,
        "not_ids": not_ids,
        "yes": yes,
        "same_ids": same_ids or None,
    }
    options["rows_are_events"] = rows_are_events or None
    return rows_of(source, **{name: value for name, value in options.items() if value is not None})
