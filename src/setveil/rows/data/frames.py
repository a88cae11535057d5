"""Data frames: a column of lists, or a table of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, TableError, described, listed, shorten, superfluous
from setveil.base.wording import count
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Codes, Wanted, column_at, guess_columns
from setveil.rows.data.ids import Values, of_cells
from setveil.rows.data.lacking import PLAIN
from setveil.rows.data.layout import Layout
from setveil.rows.data.named_columns import Column
from setveil.rows.data.names import is_measured_name
from setveil.rows.data.nested_columns import paths, require_columns, which_list, without_nulls
from setveil.rows.data.nested_frames import flat_frame
from setveil.rows.data.pandas_frames import is_pandas, pandas_columns, unused_levels, without_index_levels
from setveil.rows.data.rows_of_columns import read_lists_by_id, read_table, with_unused
from setveil.rows.data.rows_read import RowsRead, require_people
from setveil.rows.data.set_fields import refuse_lists
from setveil.rows.data.skipped import OF_LACKING
from setveil.rows.data.skipped import SAID as OF_LINES

_HEAD = 5000  # rows that are looked at to tell columns apart


def read_frame(
    frame: Any,
    wanted: Wanted,
    name: str = "the data frame",
    form: str | None = None,
    *,
    first_is_id: bool = False,
    skip_last: int | None = None,
) -> RowsRead:
    """Read rows of a frame (see `from_frame`): lists of a column, else as `rows_of_columns.read_table`."""
    levels: dict[str, list[str]] = {}
    grouped = type(frame).__name__ == "SeriesGroupBy"  # the index has what the rows were made by
    if is_pandas(frame):
        indexed = frame = frame.agg(list) if grouped else frame
        if wanted.item_columns is not None and wanted.id_column is None and hasattr(frame, "columns"):
            frame = frame.reset_index(drop=True)
        frame, id_column, item_column = pandas_columns(frame, wanted.id_column, wanted.item_column)
        wanted = replace(wanted, id_column=id_column, item_column=item_column)
        levels = unused_levels(indexed, frame.columns)
    table = as_polars(frame)
    schema = table.collect_schema()
    wanted = paths(wanted, schema)
    offered = without_index_levels(schema, wanted.id_column, wanted.item_column, name)
    first_is_id = first_is_id and len(offered) == len(schema)  # an index may hold the ids, too
    hidden = table.select(pl.col([one for one in schema if one not in offered]).cast(pl.String))
    keys = [of_cells(one, texts) for one, texts in levels.items() if grouped]
    aside = hidden.collect().to_dict()
    aside |= {one: pl.Series(texts) for one, texts in levels.items() if not grouped}
    listing = [at for at, dtype in enumerate(offered.values()) if isinstance(dtype, pl.List | pl.Array)]
    require_columns(FrameTable(table, list(offered), name), wanted, listing)
    if len(listing) > 1 and not wanted.named and not form and all("." in list(offered)[at] for at in listing):
        raise which_list(FrameTable(table, list(offered), name), listing)
    lists = None if form or wanted.item_columns is not None else list_column(offered, wanted, name)
    if lists is None:
        try:
            found = FrameTable(table, list(offered), name, first_is_id=first_is_id, skip_last=skip_last)
            found.aside = aside
            return read_table(found, form, wanted)
        except TableError as question:
            question.keep(lambda options: _works(table, options, name, form, wanted))
            raise
    if wanted.delimiter is not None:
        raise superfluous(
            "delimiter",
            f"{name}: column {shorten(lists)} contains lists: there is no delimiter between their items.",
        )
    frame_table = FrameTable(table, list(offered), name, skip_last=skip_last)
    frame_table.aside, frame_table.keys = aside, keys
    part = read_lists(frame_table.table, lists, name)
    if wanted.id_column is None:
        return with_unused(frame_table, part, {})
    id_at, item_at = (column_at(frame_table.names, one, name) for one in (wanted.id_column, lists))
    lists_read = part.indptr, part.codes, list(part.labels)
    by_id = read_lists_by_id(frame_table, id_at, item_at, lists_read, wanted.lacking or PLAIN)
    return replace(by_id, notes=(*part.notes, *by_id.notes))


def rows_in_frame(
    frame: object, wanted: Wanted, form: str | None = None, *, skip_last: int | None = None
) -> RowsRead:
    """Take the rows out of a data frame that was given, and refuse texts that seem to be lists of items."""
    part = read_frame(frame, wanted, form=form, first_is_id=True, skip_last=skip_last)
    if form is None and wanted.delimiter is None and part.layout.format in {"long", "wide"}:
        refuse_lists("the data frame", part.items, part.layout.format)
    return part


def named_as_texts(frame: object, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Name columns by texts that are named by integers in pandas, as ``read_csv(header=None)`` makes them."""
    numbers = (
        {name for name in getattr(frame, "columns", ()) if _is_integer(name)} if is_pandas(frame) else set()
    )

    def text(name: Any) -> Any:
        if not _is_integer(name):
            return name
        if name not in numbers:
            names = listed([str(one) for one in getattr(frame, "columns", ())], 20)
            raise DataError(f"The data frame has no column {name}; its columns are {names}.")
        return str(name)

    several = wanted.get("item_columns")
    found = {name: text(wanted.get(name)) for name in ("id_column", "item_column")}
    if several is not None and not isinstance(several, str):
        several = [text(name) for name in ([several] if _is_integer(several) else several)]
    return {**wanted, **found, "item_columns": several}


def _is_integer(name: object) -> bool:
    return isinstance(name, Integral) and not isinstance(name, bool)


def _works(
    table: pl.LazyFrame, options: Mapping[str, str], name: str, form: str | None, wanted: Wanted
) -> bool:
    """Return whether a possible reading gives rows; raise if these would be events of people."""
    said: dict[str, Any] = dict(options)
    form = said.pop("format", form)
    skip_last = int(said.pop("skip_last", 0))
    said.pop("skip_lines", None)
    said.pop("header_lines", None)
    events = said.pop("rows_are_events", False)
    lacking = (wanted.lacking or PLAIN).with_ways(said)
    wanted = replace(wanted, **said, lacking=lacking)
    try:
        part = read_frame(table, wanted, name, form, first_is_id=not wanted.named, skip_last=skip_last)
    except TableError as question:
        if question.readings and {*question.readings[0][0]} <= {*OF_LINES} | {*OF_LACKING} - {*options}:
            raise
        return False
    except (DataError, RequestError):
        return False
    if not events:
        require_people(name, part, wanted)
    return bool((part.codes >= 0).any())


def list_column(schema: Mapping[str, pl.DataType], wanted: Wanted, where: str) -> str | None:
    """Find the column of lists whose cells are the rows; None: the table is of another sort."""
    lists = [name for name, dtype in schema.items() if isinstance(dtype, pl.List | pl.Array)]
    if wanted.item_column in lists:
        return wanted.item_column
    if wanted.item_column is not None or not lists:
        return None
    plain = [name for name in lists if "." not in name]
    if len(lists) == 1 or len(plain) == 1:
        return lists[0] if len(lists) == 1 else plain[0]
    raise DataError(
        f"{where}: {len(lists)} columns contain lists: {listed(lists)}.",
        hint="Name the one to read with --item-column.",
    )


def read_lists(table: pl.LazyFrame, column: str, where: str) -> RowsRead:
    """Take the rows out of a column of lists; null is an empty row."""
    items = _cells(table, column)
    lengths = items.list.len().fill_null(0)
    indptr = np.zeros(items.len() + 1, np.int64)
    np.cumsum(lengths.to_numpy(), out=indptr[1:])
    if lengths.min() == 0:
        items = items.filter(lengths > 0)
    items = items.explode()
    _check_items(items, column, where, "lists")
    notes: tuple[str, ...] = ()
    if items.null_count():
        row = np.repeat(np.arange(lengths.len()), lengths.to_numpy())
        missing = items.is_null().to_numpy()
        notes = without_nulls(column, int(missing.sum()), np.unique(row[missing]).size)
        items = items.drop_nulls()
        np.cumsum(np.bincount(row[~missing], minlength=lengths.len()), out=indptr[1:])
    codes, labels = _numbered(items)
    if "" in labels:
        _refuse(pl.Series(codes == labels.index("")), column, "empty", where)
    return RowsRead(
        indptr,
        codes,
        labels,
        Layout("parquet", item_column=column),
        item_columns=(column,),
        ignored_columns=tuple(name for name in table.collect_schema().names() if name != column),
        items=(Values(column, codes, labels),),
        notes=notes,
    )


def _cells(table: pl.LazyFrame, column: str) -> pl.Series:
    """Read a column of lists; texts as categories, so that each is kept once."""
    dtype = table.collect_schema()[column]
    cells = pl.col(column)
    if isinstance(dtype, pl.Array):
        cells = cells.arr.to_list()
    if isinstance(dtype, pl.List | pl.Array) and dtype.inner == pl.String:
        cells = cells.cast(pl.List(pl.Categorical))
    return table.select(cells).collect(engine="streaming").to_series()


class FrameTable:
    """A data frame as a table of texts; two columns without telling names may be ID and item."""

    header = True
    separator = ","
    trimmed = False
    outside: Sequence[Sequence[str]] = ()
    trouble = ""
    notes: Sequence[str] = ()
    aside: Mapping[str, pl.Series] = MappingProxyType({})  # levels of an index that are no columns
    keys: Sequence[Values] = ()  # those by which the rows were made

    def __init__(
        self,
        table: pl.LazyFrame,
        names: list[str],
        name: str,
        *,
        first_is_id: bool = False,
        skip_last: int | None = None,
    ) -> None:
        self.table = table if not skip_last else table.reverse().slice(skip_last).reverse()
        self._without_headers(name, names)
        self.settled = skip_last is not None
        self.name = name
        self.names = names
        self._first_is_id = first_is_id

    def _without_headers(self, name: str, names: Sequence[str]) -> None:
        """Omit rows that equal the names of the columns, as several files below each other have them."""
        schema = self.table.collect_schema()
        if len(names) < 2 or any(schema[one] not in (pl.String, pl.Categorical) for one in names):
            return
        header = pl.all_horizontal(pl.col(one).cast(pl.String).eq_missing(one) for one in names)
        number = int(self.table.select(header.sum()).collect().item())
        if number:
            self.table = self.table.filter(~header)
            equals, were = ("equals", "was") if number == 1 else ("equal", "were")
            self.notes = [f"{name}: {count(number, 'row')} {equals} the names of columns and {were} skipped."]

    @cached_property
    def head(self) -> list[list[str]]:
        """The first rows."""
        head = self.table.select(pl.col(self.names)).head(_HEAD).collect()
        return [["" if cell is None else str(cell) for cell in row] for row in head.rows()]

    def agreed(self, *, said: bool) -> tuple[int, int] | None:
        """Find id and item column by their names, unless the values say otherwise."""
        places = guess_columns(self.names)
        if places is None and self._first_is_id and len(self.names) == 2:
            places = 0, 1
        measured = places is not None and _are_measured(self, places[0])
        if (
            places is None
            or measured
            or (not said and evidence.list_sign([row[places[1]] for row in self.head]))
            or evidence.are_swapped(*([row[at] for row in self.head] for at in places))
        ):
            return None
        return places

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns."""
        table = self.table.select(pl.col([self.names[at] for at in wanted])).collect()
        return [self._column(table[self.names[at]], is_id=at == id_at, marks=marks) for at in wanted]

    def skip(self, rows: Sequence[int], *, last: bool) -> list[dict[str, str]]:
        """Say by which options rows are skipped; `last`: it is one, and the last."""
        return [{"skip_last": "1"}] if last else []

    def texts(self, at: int) -> tuple[Codes, list[str]]:
        """Read a column as texts, whatever it contains."""
        values = whole(self.table.select(pl.col(self.names[at])).collect()[self.names[at]])
        if values.dtype.is_nested() or values.dtype == pl.Object:
            return np.zeros(values.len(), np.int64), [""]
        codes, labels = _numbered(values.cast(pl.String))
        return codes.astype(np.int64), [label or "" for label in labels]

    def _column(self, values: pl.Series, *, is_id: bool, marks: bool) -> Column:
        name = values.name
        if not is_id:
            values = whole(values) if marks or _lacks_some(values) else values
            _check_items(values, name, self.name, "rows", marks=marks)
        elif values.dtype.is_nested() or values.dtype == pl.Object:
            raise DataError(
                f"{self.name}: column {shorten(name)} has type {values.dtype}, expected plain ids."
            )
        elif values.dtype.is_float():
            values = values.fill_nan(None)
        codes, labels = _numbered(values)
        return Column(
            codes.astype(np.int64),
            [label or "" for label in labels],
            lambda row: f"{self.name}, row {row} counted from 0",
        )


def _are_measured(table: FrameTable, at: int) -> bool:
    """Return whether a column is one of dates, amounts or sexes, by its name, type or values."""
    dtype = table.table.collect_schema()[table.names[at]]
    dates = dtype.is_temporal() or dtype == pl.Boolean
    kinds = [known_words.kind(row[at]) for row in table.head if row[at]]
    return is_measured_name(table.names[at]) or dates or 2 * kinds.count("date") > len(kinds)


def whole(values: pl.Series) -> pl.Series:
    """Turn floats that are all integers, as pandas has them next to missing values, back into integers."""
    if values.dtype.is_float():
        filled = values.fill_nan(None)
        if (filled.drop_nulls() % 1 == 0).all():
            return filled.cast(pl.Int64)
    return values


def _lacks_some(values: pl.Series) -> bool:
    """Return whether values are missing, for which pandas turns integers into floats."""
    return bool(values.null_count()) or (values.dtype.is_float() and bool(values.is_nan().any()))


def _check_items(items: pl.Series, column: str, where: str, unit: str, *, marks: bool = False) -> None:
    dtype = items.dtype
    text = (
        dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum) or (marks and dtype == pl.Boolean)
    )
    if not text and not dtype.is_integer() and dtype != pl.Null:
        kind = f"lists of {dtype}" if unit == "lists" else str(dtype)
        raise DataError(
            f"{where}: column {shorten(column)} has type {kind}, expected strings or integers.",
            hint=_whole_hint(items) if dtype.is_float() else "Turn the items into strings first.",
        )


def _whole_hint(items: pl.Series) -> str:
    """Hint at how floats become texts; those that are whole numbers would get a ``.0``."""
    if whole(items).dtype.is_integer():
        return 'They are whole numbers: frame[column].astype("Int64") in pandas, .cast(pl.Int64) in polars.'
    return "Turn the items into strings first."


def _refuse(bad: pl.Series, column: str, what: str, where: str) -> None:
    number = int(bad.sum())
    if number:
        raise DataError(
            f"{where}: column {shorten(column)} has {what} values ({number:,}), expected none.",
            hint="Remove them first; a row without items is an empty list.",
        )


def _numbered(values: pl.Series) -> tuple[NDArray[np.int32], list[str]]:
    """Return a code for each value and the distinct values as text, by first appearance."""
    if values.dtype in (pl.Null, pl.String):
        values = values.cast(pl.Categorical)
    distinct = values.unique(maintain_order=True)
    labels = distinct.cast(pl.String).to_list()
    numbers, found = values.to_physical(), distinct.to_physical()
    if not _are_places(found, values.len()):
        codes = numbers.replace_strict(found, range(found.len()), return_dtype=pl.Int32)
        return codes.to_numpy(), labels
    at = found.to_numpy()
    places = np.zeros(int(at.max()) + 1, np.int32)
    places[at] = np.arange(at.size)
    return places[numbers.to_numpy()], labels


def _are_places(found: pl.Series, length: int) -> bool:
    """Return whether values can be looked up in a table that is not much longer than their number."""
    if not found.dtype.is_integer() or found.null_count() or not found.len():
        return False
    values = found.to_numpy()
    return bool(values.min() >= 0 and values.max() < 4 * length + (1 << 20))


def as_polars(frame: Any) -> pl.LazyFrame:
    """Take a data frame; the fields of structs are columns."""
    return flat_frame(_as_polars(frame))


def _as_polars(frame: Any) -> pl.LazyFrame:
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame.lazy()
    pandas = is_pandas(frame)
    if not pandas and not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"Found {described(frame)}, expected a data frame (pandas, or with an Arrow stream).",
            hint="Rows of Python objects are read by Transactions.from_rows.",
        )
    try:
        if not pandas:
            return pl.DataFrame(frame).lazy()
        if _has_pyarrow():
            return pl.DataFrame(frame).lazy()
        return pl.DataFrame([_column(str(name), frame[name]) for name in frame.columns]).lazy()
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The data frame cannot be read: {shorten(str(error), 200)}.",
            hint="A column must contain values of one type: strings, integers, or lists of them.",
        ) from None


def _column(name: str, values: Any) -> pl.Series:
    cells = zip(values.tolist(), values.isna().tolist(), strict=True)
    return pl.Series(name, [None if missing else value for value, missing in cells], strict=True)


def _has_pyarrow() -> bool:
    """Return whether polars can read a pandas frame in one go."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True
