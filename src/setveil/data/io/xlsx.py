"""Read a sheet of a spreadsheet as a table of text."""

from __future__ import annotations

import datetime
import io
import warnings
from collections import Counter
from typing import Any

import polars as pl

from setveil.data.io.source import Source
from setveil.errors import DataError, RequestError, listed, shorten


def read_sheet(source: Source, sheet: str | None = None) -> pl.DataFrame:
    """Read the one sheet of a spreadsheet that holds anything, or the one named.

    Parameters
    ----------
    source : Source
        An .xlsx file.
    sheet : str, optional
        Its name. Hidden sheets are read only if they are named.

    Returns
    -------
    polars.DataFrame
        Columns of text (null for an empty cell), named by the first row that is not empty: as it stands
        there, or ``column 3`` where that cell is empty. Columns and last rows that are all empty are left
        out; rows and columns that are hidden or filtered away are read like all others.

    Raises
    ------
    DataError
        If the file is damaged or empty, there is no such sheet or more than one that could be meant, or two
        columns have the same name.
    RequestError
        If the package that reads spreadsheets is not installed.

    Notes
    -----
    What a cell holds counts, not how it is shown: numbers in full and without ``.0``, dates and times as in
    ISO 8601, ``true`` and ``false``, errors such as ``#N/A`` as they stand, of a formula the result that the
    file holds. A spreadsheet that took a code such as 250.00 or 007 for a number no longer holds its zeros;
    such a column must be made text before codes are pasted into it.
    """
    try:
        import openpyxl
    except ImportError:
        raise RequestError(
            f"Reading the spreadsheet {source.name} needs the package openpyxl, which is not installed.",
            hint="Install it with: pip install 'setveil[xlsx]'",
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that it does not know
            book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True)
            sheets = {page.title: page for page in book.worksheets}
            if sheet is not None and sheet in sheets:
                tables = {sheet: _cells(sheets[sheet])}
            else:
                shown = {name: page for name, page in sheets.items() if page.sheet_state == "visible"}
                tables = {name: cells for name, page in shown.items() if (cells := _cells(page))}
    except MemoryError:
        raise
    except Exception:  # whatever a damaged file leads to; it may hold a value
        raise DataError(
            f"{source.name} cannot be read as a spreadsheet: it is damaged.",
            hint="Save it again as .xlsx, or its sheet as csv.",
        ) from None
    if sheet is not None and sheet not in sheets:
        raise DataError(f"{source.name} has no sheet {shorten(sheet)}, only {listed(list(sheets))}.")
    if len(tables) > 1:
        raise DataError(
            f"{source.name} has {len(tables)} sheets with content: {listed(list(tables))}, expected one.",
            hint="Save the one to read as csv or in a file of its own.",
        )
    cells = next(iter(tables.values()), [])
    if not cells:
        raise DataError(f"{source.name} is an empty spreadsheet, expected a table.")
    return _table(cells, source.name)


def _cells(page: Any) -> list[list[str | None]]:
    """Return the rows of a sheet from the first that is not empty to the last."""
    page.reset_dimensions()  # some programs write wrong ones
    rows = [[_text(value) for value in row] for row in page.iter_rows(values_only=True)]
    used = [number for number, row in enumerate(rows) if any(cell is not None for cell in row)]
    return rows[used[0] : used[-1] + 1] if used else []


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ") if value.time() != datetime.time() else value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _table(rows: list[list[str | None]], name: str) -> pl.DataFrame:
    width = max(map(len, rows))
    header, *body = [row + [None] * (width - len(row)) for row in rows]
    columns = list(zip(*body, strict=True)) if body else [()] * width
    used = [
        at for at in range(width) if header[at] is not None or any(cell is not None for cell in columns[at])
    ]
    titles = {at: header[at] or f"column {at + 1}" for at in used}
    for title, times in Counter(titles.values()).items():
        if times > 1:
            raise DataError(
                f"{name} has {times} columns named {shorten(title)}, expected different names.",
                hint="Rename them in the first row.",
            )
    return pl.DataFrame({title: pl.Series(columns[at], dtype=pl.String) for at, title in titles.items()})
