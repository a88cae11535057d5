"""What the command line asks of Spark: rows are Parquet files, the session that of spark-submit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.km_spark import MANIFEST
from setveil.rows.engine.spark import FAILURES, reason_of
from setveil.spark.check import verify, verify_release
from setveil.spark.release import SparkRelease, anonymize

Columns = tuple[str | None, str | None]  # of ids and of items, as far as they were named


def anonymized(
    paths: list[str], guarantee: KmAnonymity, columns: Columns, progress: Progress, **more: Any
) -> SparkRelease:
    """Anonymize the rows of Parquet files (see `setveil.spark.anonymize`)."""
    frame = _read(_session(), paths)
    return anonymize(frame, guarantee, progress=progress, **_named(frame, columns), **more)


def verdict(file: str, guarantee: KmAnonymity, columns: Columns, show: int, progress: Progress) -> Verdict:
    """Check the release in a folder, or rows in Parquet files (see `setveil.spark.verify`)."""
    session, path = _session(), Path(file)
    if any((place / MANIFEST).is_file() for place in (path, path / "published")):
        return verify_release(session, path, guarantee, show, progress)
    frame = _read(session, [file])
    return verify(frame, guarantee, **_named(frame, columns), show=show, progress=progress)


def _session() -> SparkSession:
    """Find the session that spark-submit has settled, or start one with the settings that there are."""
    return SparkSession.builder.appName("setveil").getOrCreate()


def _read(session: SparkSession, paths: list[str]) -> DataFrame:
    try:
        return session.read.parquet(*paths)
    except FAILURES as error:
        raise DataError(f"{listed(paths)} cannot be read as Parquet: {reason_of(error)}.") from error


def _named(frame: DataFrame, columns: Columns) -> dict[str, Any]:
    """Say which columns hold the rows: those that were named, else the only column of arrays."""
    id_column, item_column = columns
    if id_column is not None:
        return {"id_column": id_column, "item_column": item_column}
    lists = [part.name for part in frame.schema.fields if isinstance(part.dataType, ArrayType)]
    if item_column is None and len(lists) != 1:
        raise RequestError(
            f"Which columns contain the rows? There are {', '.join(frame.columns)}.",
            hint="--id-column and --item-column of a long table, or --item-column of a column of lists.",
        )
    return {"items": item_column or lists[0]}
