"""From a data frame of Spark, as people have it, to rows of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (what all users of Spark call it)
from pyspark.sql.types import ArrayType, ByteType, IntegerType, LongType, ShortType, StringType

from setveil.base.errors import DataError, RequestError, described, did_you_mean
from setveil.rows.data.evidence import LINES
from setveil.rows.data.ids import of_cells
from setveil.rows.data.personal import PLAIN, Personal, ids_column, items_of_columns
from setveil.rows.data.personal_places import column_at_place, places_of_ids

_PLAIN = (StringType, ByteType, ShortType, IntegerType, LongType)
_SHOWN = 3  # items by which a row is told
_ID = "id "  # how the place of a row of a long table begins
IDS = "ids"  # what `not_ids` calls the IDs of such a table


def active_session() -> SparkSession:
    """Find the caller's session."""
    session = SparkSession.getActiveSession()
    if session is None:
        raise RequestError(
            "There is no active Spark session.",
            hint="Start one first: SparkSession.builder.getOrCreate(); setveil starts none of its own.",
        )
    return session


def rows_of(
    frame: object, items: str | None = None, id_column: str | None = None, item_column: str | None = None
) -> DataFrame:
    """Make rows, `items` and `place`, of a column of arrays, or of a long table of IDs and items."""
    if not isinstance(frame, DataFrame):
        raise RequestError(
            f"The rows must be a DataFrame of Spark, got {described(frame)}.",
            hint="setveil.anonymize takes files and other frames, in memory.",
        )
    long = id_column is not None and item_column is not None
    if (items is None) != long or (items is not None and (id_column or item_column)):
        raise RequestError(
            "Say which columns contain the rows: items=, a column of arrays, or id_column= and item_column=, "
            "those of a long table.",
            hint=f"The frame has the columns {', '.join(frame.columns)}.",
        )
    if items is not None:
        kind = _type_of(frame, items)
        if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, _PLAIN):
            raise DataError(
                f"The column {items!r} contains {kind.simpleString()}, expected arrays of texts or integers.",
                hint="For a long table give id_column= and item_column=.",
            )
        cells = F.coalesce(_column(items).cast("array<string>"), F.array().cast("array<string>"))
        row = frame.select(F.array_distinct(cells).alias("items"))
        beginning = F.array_join(F.slice("items", 1, _SHOWN), ", ", "null")
        return row.select("items", F.concat(F.lit("the row of "), beginning, F.lit(", ...")).alias("place"))
    kind = _type_of(frame, str(item_column))
    if not isinstance(kind, _PLAIN):
        raise DataError(
            f"The column {item_column!r} contains {kind.simpleString()}, expected texts or integers.",
            hint="For a column of arrays give items=.",
        )
    _type_of(frame, str(id_column))
    lines = frame.select(
        _column(str(id_column)).alias("id"), _column(str(item_column)).cast("string").alias("item")
    )
    lost = lines.where(F.col("id").isNull()).count()
    if lost:
        raise DataError(
            f"{lost:,} lines of the table have no id in {id_column!r}, expected one in every line."
        )
    cell = F.coalesce("item", F.lit(""))  # a missing item, which is refused like an empty one
    rows = lines.groupBy("id").agg(F.array_sort(F.collect_set(cell)).alias("items"))
    return rows.select("items", F.concat(F.lit(_ID), F.col("id").cast("string")).alias("place"))


def personal_of(rows: DataFrame, labels: Sequence[str], *, long: bool) -> Personal:
    """Find positions of IDs by the least rows, their values in all, and IDs of a long table among items."""
    # The least rows, numbers by size: a total order, so that partitions decide nothing.
    order = F.transform("items", lambda item: F.struct(F.length(item).alias("size"), item.alias("item")))
    head = [[str(item) for item in row["items"]] for row in rows.select("items").orderBy(order).take(LINES)]
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(item, len(numbers)) for row in head for item in row], np.int64)
    indptr = np.cumsum([0, *map(len, head)])
    found = []
    for place in places_of_ids(indptr, codes, list(numbers)):
        at = F.lit(place) if place >= 0 else F.size("items") + F.lit(place)
        cells = rows.select(F.get("items", at).alias("item")).where(F.col("item").isNotNull()).distinct()
        found.append(column_at_place(place, [row["item"] for row in cells.collect()]))
    found += [ids_column("the IDs", IDS, _ids_among(rows, labels) if long else [])]
    return Personal((*found, *items_of_columns([of_cells("items", labels)])))


def _ids_among(rows: DataFrame, labels: Sequence[str]) -> list[str]:
    """List the items that are IDs of a long table, however people write them."""

    def plain(text: str) -> Column:
        found = F.lower(F.col(text))
        for pattern, left in (*PLAIN, (r"[\s.]", "")):
            found = F.regexp_replace(found, pattern, left)
        return found

    items = rows.sparkSession.createDataFrame([(label,) for label in labels], "label string")
    ids = rows.where(F.col("place").startswith(_ID)).select(
        F.expr(f"substr(place, {len(_ID) + 1})").alias("id")
    )
    same = ids.join(F.broadcast(items), plain("id") == plain("label"))
    return [row["label"] for row in same.select("label").distinct().collect()]


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")


def _type_of(frame: DataFrame, name: str) -> Any:
    if name not in frame.columns:
        raise DataError(
            f"There is no column {name!r}; there are {', '.join(frame.columns)}.",
            hint=did_you_mean(name, frame.columns, quoted=True),
        )
    return frame.schema[name].dataType
