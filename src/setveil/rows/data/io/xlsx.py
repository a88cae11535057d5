"""Read a sheet of a spreadsheet as a table of text."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from setveil.base.errors import DataError, RequestError, TableError, closest, listed, shorten
from setveil.base.memory import Unpacked
from setveil.base.version import install
from setveil.base.wording import are, count
from setveil.rows.data import evidence, headers, known_words
from setveil.rows.data.io.lines import as_spec, in_words, skipped_words
from setveil.rows.data.io.source import Source
from setveil.rows.data.skipped import NO_LINES, Lines

ALL = "all"  # sheets
_SHOWN = 4  # ways to read several sheets that are shown
_MOST = 30  # rows above a table
_ROW, _CELL = 64, 24  # bytes of memory that a row and a cell take, besides its text

Cells = list[str | None]


def read_sheet_lines(
    source: Source, sheet: str | None = None, *, lines: Lines = NO_LINES
) -> tuple[pl.DataFrame, list[str]]:
    """Read a sheet of an .xlsx file as columns of text, and say which rows were skipped.

    `sheet`: name, else number from 1, or "all": those with the same columns, one below the other. By default
    it is the only one with content; hidden sheets must be named. The first row that is not empty names the
    columns, or ``column 3`` if a cell is empty. Empty columns and last rows are omitted; hidden and filtered
    rows and columns are read; empty cells are null.

    Content counts, not display: numbers in full without ``.0``, dates and times as in ISO 8601, ``true`` and
    ``false``, errors such as ``#N/A`` unchanged, and the stored results of formulas. A spreadsheet that took
    a code such as 250.00 or 007 for a number has lost its zeros; make such a column text before pasting
    codes.
    """
    try:
        import openpyxl
    except ImportError:
        raise RequestError(
            f"Reading the spreadsheet {source.name} needs the package openpyxl, which is not installed.",
            hint=f"Install it with: {install('xlsx')}",
        ) from None
    room = Unpacked(source.name)
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            room.require(sum(member.file_size for member in archive.infolist()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that it does not know
            book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True)
            sheets = {page.title: page for page in book.worksheets}
            if sheet is not None and (named := _named(sheet, list(sheets))) is not None:
                tables = {named: _cells(sheets[named], room)}
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
    if sheet is not None and sheet != ALL and _named(sheet, list(sheets)) is None:
        likely = closest(sheet, sheets) or sheets
        raise TableError(
            f"{source.name} has no sheet {shorten(sheet)}, only {listed(list(sheets))}",
            [],
            [({"sheet": one}, "this sheet alone") for one in likely][:_SHOWN],
        )
    if len(tables) > 1 and sheet is None:
        raise _which(source.name, tables)
    if len(tables) > 1:
        bodies = {name: _data_rows(cells, lines, name) for name, cells in tables.items()}
        notes = [f"{name}: {note}" for name, (_, found) in bodies.items() for note in found]
        several = {name: _table(body, name, room) for name, (body, _) in bodies.items() if body}
        return _below_each_other(several, source), notes
    body, notes = _data_rows(next(iter(tables.values()), []), lines, source.name)
    if not body:
        raise DataError(f"{source.name} is an empty spreadsheet, expected a table.")
    return _table(body, source.name, room), notes


def _named(sheet: str, names: Sequence[str]) -> str | None:
    """Find a sheet by its name, or else by its number from 1; None if there is none."""
    if sheet in names:
        return sheet
    number = int(sheet) if sheet.isascii() and sheet.isdigit() and len(sheet) < 4 else 0
    return names[number - 1] if 1 <= number <= len(names) else None


def _which(name: str, tables: Mapping[str, Sequence[Sequence[str | None]]]) -> TableError:
    ways = [({"sheet": one}, "this sheet alone") for one in tables]
    if len({tuple(next(filter(None, cells))) for cells in tables.values()}) == 1:
        ways.insert(0, ({"sheet": ALL}, "all sheets, one below the other"))
    return TableError(
        f"{name} has {len(tables)} sheets with content: {listed(list(tables))}, expected one, or its name",
        [],
        ways[:_SHOWN],
    )


def _below_each_other(tables: Mapping[str, pl.DataFrame], source: Source) -> pl.DataFrame:
    first, columns = next((name, table.columns) for name, table in tables.items())
    for name, table in tables.items():
        if set(table.columns) != set(columns):
            raise TableError(
                f"{source.name}: the sheet {shorten(name)} has the columns {listed(table.columns)}, "
                f"and {shorten(first)} has {listed(columns)}: expected the same",
                [],
                [({"sheet": one}, "this sheet alone") for one in tables][:_SHOWN],
            )
    return pl.concat([table.select(columns) for table in tables.values()])


def _cells(page: Any, room: Unpacked) -> list[Cells]:
    """Return the rows of a sheet to the last that is not empty, cut after their last cells."""
    page.reset_dimensions()  # some programs write wrong ones
    rows: list[Cells] = []
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
            missing += 1
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


def _table(rows: list[Cells], name: str, room: Unpacked) -> pl.DataFrame:
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


def _data_rows(cells: Sequence[Cells], lines: Lines, name: str) -> tuple[list[Cells], list[str]]:
    """Take the header and the data of a sheet (all rows in `cells`), and say which rows were skipped."""
    skipped = lines.numbers(len(cells))
    notes = [skipped_words(skipped)] if skipped else []
    rows = [(number, row) for number, row in enumerate(cells, 1) if number not in {*skipped}]
    if lines.comment is not None:
        kept = [
            (number, row) for number, row in rows if not (row and (row[0] or "").startswith(lines.comment))
        ]
        if len(kept) < len(rows):
            notes.append(f"{count(len(rows) - len(kept), 'row')} skipped that begin with {lines.comment}.")
        rows = kept
    while rows and not rows[0][1]:
        rows.pop(0)
    if not lines.settled and (strays := _strays(rows)):
        raise TableError(
            f"{name}: {in_words(strays).replace('line', 'row')} {are(len(strays))} not like the rows of a "
            "table",
            [],
            [({"skip_lines": as_spec(strays)}, "skip them" if len(strays) > 1 else "skip it")],
        )
    above = lines.header_lines or 1
    header, body = _joined([row for _, row in rows[:above]]), [row for _, row in rows[above:]]
    texts = [[cell or "" for cell in row] + [""] * (len(header) - len(row)) for row in (header, *body[:1000])]
    number = headers.header_lines(texts) if lines.header_lines is None and texts[1:] and header else 1
    if number > 1:
        raise TableError(
            f"{name}: the first {number} rows of the table seem to be headers: nearly all rows below "
            "have numbers where these have words",
            [],
            [
                ({"header_lines": str(number)}, f"the data begin below {number} header rows"),
                ({"header_lines": "1"}, "the first row alone is the header"),
            ],
        )
    again = [row for row in body if row != header]
    if len(again) < len(body):
        more = len(body) - len(again)
        notes.append(f"{count(more, 'more row')} {'equals' if more == 1 else 'equal'} the header; skipped.")
    return [header, *again] if header else [], notes


def _joined(rows: Sequence[Cells]) -> Cells:
    width = max(map(len, rows), default=0)
    return [next((row[at] for row in rows if at < len(row) and row[at]), None) for at in range(width)]


def _strays(rows: Sequence[tuple[int, Cells]]) -> list[int]:
    """List the rows above the first that is as long as most, and those below a blank row at the end."""
    filled = [sum(cell is not None for cell in row) for _, row in rows]
    sizes = Counter(size for size in filled if size > 1)
    if len(rows) < evidence.FEW or not sizes or 2 * sizes.total() < len(rows):
        return []
    usual = sizes.most_common(1)[0][0]
    first = next(at for at, size in enumerate(filled) if size >= max(2, usual - (usual > 2)))
    above = list(range(1, rows[first][0])) if 0 < first <= _MOST else []
    blank = max((at for at, size in enumerate(filled) if not size), default=0)
    tail = filled[blank + 1 :]
    below = []
    if first < blank and tail and len(tail) <= _MOST and all(size < usual for size in tail):
        below = [number for number, row in rows[blank + 1 :] if row]
    end = blank - 1 if below else len(rows) - 1
    while end > 0 and not rows[end][1]:
        end -= 1
    if (above or below) and any(known_words.is_total(cell or "") for cell in rows[end][1][:2]):
        below = [rows[end][0], *below]
    return [*above, *below]
