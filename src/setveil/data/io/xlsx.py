"""Read a sheet of a spreadsheet as a table of text."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections import Counter
from typing import Any

import polars as pl

from setveil.data.io.source import Source
from setveil.errors import DataError, RequestError, listed, shorten
from setveil.memory import Unpacked

_ROW, _CELL = 64, 24  # bytes of memory that a row and a cell take, besides its text


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
    room = Unpacked(source.name)
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            room.require(sum(member.file_size for member in archive.infolist()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that it does not know
            book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True)
            sheets = {page.title: page for page in book.worksheets}
            if sheet is not None and sheet in sheets:
                tables = {sheet: _cells(sheets[sheet], room)}
            else:
                shown = {name: page for name, page in sheets.items() if page.sheet_state == "visible"}
                tables = {name: cells for name, page in shown.items() if (cells := _cells(page, room))}
    except (DataError, MemoryError):
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
    return _table(cells, source.name, room)


def _cells(page: Any, room: Unpacked) -> list[list[str | None]]:
    """Return the rows of a sheet from the first that is not empty to the last, cut after their last cells."""
    page.reset_dimensions()  # some programs write wrong ones
    rows: list[list[str | None]] = []
    missing, taken = 0, 0
    for values in page.iter_rows(values_only=True):
        row = [_text(value) for value in values]
        while row and row[-1] is None:
            row.pop()
        taken += _ROW + sum(_CELL + len(cell or "") for cell in row)
        room.require(taken)
        if row:
            rows += [[] for _ in range(missing)]
            rows.append(row)
            missing = 0
        else:
            missing += bool(rows)
    return rows


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


def _table(rows: list[list[str | None]], name: str, room: Unpacked) -> pl.DataFrame:
    header, *body = rows
    titles = {at: title for at, title in enumerate(header) if title is not None}
    for row in body:
        for at, cell in enumerate(row):
            if cell is not None and at not in titles:
                titles[at] = f"column {at + 1}"
    room.require(_CELL * len(body) * len(titles))
    titles = dict(sorted(titles.items()))
    for title, times in Counter(titles.values()).items():
        if times > 1:
            raise DataError(
                f"{name} has {times} columns named {shorten(title)}, expected different names.",
                hint="Rename them in the first row.",
            )

    def column(at: int) -> pl.Series:
        return pl.Series([row[at] if at < len(row) else None for row in body], dtype=pl.String)

    return pl.DataFrame({title: column(at) for at, title in titles.items()})
