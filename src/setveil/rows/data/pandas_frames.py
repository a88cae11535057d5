"""Features of pandas: the index, series, grouped series, cells with any collection."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.errors import DataError, described, listed, shorten
from setveil.rows.data.columns import guess_columns

if TYPE_CHECKING:
    import polars as pl

_INDEX_LEVEL = re.compile(r"__index_level_\d+__")  # so pandas names an index without a name in Parquet
_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


def is_pandas(value: object) -> bool:
    """Return whether a value is pandas' own: a frame, a series, or one of these grouped."""
    return type(value).__module__.partition(".")[0] == "pandas"


def pandas_columns(
    value: Any, id_column: str | None, item_column: str | None
) -> tuple[Any, str | None, str | None]:
    """Make a plain pandas frame of a frame or series, and settle its ID and item column."""
    if not hasattr(value, "columns"):
        if not hasattr(value, "to_frame") or not hasattr(value, "index"):
            raise DataError(
                f"Found {described(value)}, expected a pandas frame, series or grouped series.",
                hint="Of a grouped frame take the column of items: frame.groupby(id)[item].",
            )
        return _of_series(value, id_column, item_column)
    columns = [str(name) for name in value.columns]
    levels = {str(name): place for place, name in enumerate(value.index.names) if name is not None}
    offered = [name for name in levels if name not in columns]
    if item_column in offered:
        value = value.reset_index(level=offered)
    elif id_column in offered:
        ids = value.index.get_level_values(levels[id_column])
        value = _plain(value)
        value.insert(0, id_column, ids)
    elif offered and id_column is None and not _has_lists(value) and guess_columns(columns) is None:
        value = value.reset_index(level=offered)  # the index may have the ids
    return _plain(value), id_column, item_column


def unused_levels(value: Any, columns: Sequence[str]) -> dict[str, list[str]]:
    """List the texts of those levels of an index that are among no columns: they may be IDs all the same."""
    levels: dict[str, list[str]] = {}
    for place, level in enumerate(value.index.names):
        values = value.index.get_level_values(place)
        if str(level) not in columns and (level is not None or values.inferred_type == "string"):
            cells = zip(values, values.isna().tolist(), strict=True)
            name = f"__index_level_{place}__" if level is None else str(level)
            levels[name] = ["" if missing else str(cell) for cell, missing in cells]
    return levels


def without_index_levels(
    schema: Mapping[str, pl.DataType], id_column: str | None, item_column: str | None, where: str
) -> dict[str, pl.DataType]:
    """Omit the columns that an index without a name became, but for one that `id_column` names."""
    import polars as pl

    levels = [name for name in schema if _INDEX_LEVEL.fullmatch(name)]
    if item_column is not None and item_column in levels:
        raise DataError(
            f"{where}: {shorten(item_column)} is the index of a pandas frame, which contains no items.",
            hint="Name another column as that of the items.",
        )
    left = {name: dtype for name, dtype in schema.items() if name not in levels or name == id_column}
    if levels and len(left) == 1 and not isinstance(next(iter(left.values())), pl.List | pl.Array):
        raise DataError(
            f"{where}: next to the index of a pandas frame, {listed(levels)}, there is one column: "
            f"{listed(list(left))}.",
            hint=f"If the index contains the ids, name it: id_column={levels[0]!r}.",
        )
    return left


def _of_series(
    series: Any, id_column: str | None, item_column: str | None
) -> tuple[Any, str | None, str | None]:
    """Make a frame of a series: one column of lists, or index and values."""
    name = "item" if series.name is None else str(series.name)
    if item_column is not None and item_column != name:
        raise DataError(
            f"There is no column {shorten(item_column)}: the values of the series are named {shorten(name)}."
        )
    if _holds_collections(series):
        return _plain(series.rename(name).to_frame()), id_column, name
    if series.index.nlevels > 1:
        raise DataError(
            f"The series has an index of {series.index.nlevels} levels, expected one that contains the ids.",
            hint="Turn it into a frame, series.reset_index(), and name the columns.",
        )
    level = series.index.name
    if level is None and type(series.index).__name__ == "RangeIndex":
        raise DataError(
            "The series has no index of its own: each of its values would be a row with a single item.",
            hint="Use the ids as the index, frame.set_index(id)[item], or make a series of lists.",
        )
    ids = "id" if level is None else str(level)
    if ids == name:
        ids += " (index)"
    if id_column is not None and id_column not in {ids, level}:
        raise DataError(
            f"There is no column {shorten(id_column)}: the index of the series is named {shorten(ids)}."
        )
    frame = series.rename(name).to_frame()
    frame.insert(0, ids, series.index)
    return _plain(frame), ids, name


def _plain(frame: Any) -> Any:
    """Drop the index, name all columns by texts, and turn cells that contain collections into lists."""
    frame = frame.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if list(frame.columns).count(name) == 1 and _holds_collections(column):
            frame[name] = [list(cell) if _is_collection(cell) else cell for cell in column]
    return frame


def _has_lists(frame: Any) -> bool:
    """Return whether rows may be read from a column of lists, which needs no ids."""
    return any(_holds_collections(frame.iloc[:, place]) for place in range(frame.shape[1]))


def _holds_collections(series: Any) -> bool:
    """Return whether cells are collections, as the first one that is there tells."""
    if series.dtype == object:
        for cell in series:
            if _is_collection(cell):
                return True
            if isinstance(cell, str | int):
                return False
    return False


def _is_collection(cell: object) -> bool:
    return isinstance(cell, _COLLECTIONS) or (is_pandas(cell) and hasattr(cell, "__iter__"))
