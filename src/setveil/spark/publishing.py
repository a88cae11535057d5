"""Publish rows that Spark holds: placed and written by its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (what all users of Spark call it)

from setveil.base.errors import OutputError
from setveil.rows.engine.publish import (
    ROW_GROUP,
    bounds_of,
    digest_of,
    draw_keys,
    file_of,
    number_of_files,
    number_of_parts,
    part_of,
    sampling,
)
from setveil.rows.engine.spark import ids_of, require_rows, size_of

if TYPE_CHECKING:
    import pyarrow as pa

COPIES = 1 << 16  # rows that leave a worker at a time
_CODED = "row binary, rows long"


def publish(
    rows: DataFrame, labels: Sequence[str], total: int, seed: int, folder: Path
) -> list[dict[str, Any]]:
    """Write published rows in the order of a run in memory, whatever the partitions.

    `rows`: positions in `labels` (in item order), equal rows merged. `seed`: shuffles them. `folder`: the
    same for driver and workers. Returns `name`, `rows`, `bytes` and `sha256` of each file, in order.
    """
    files = number_of_files(total)
    in_parts, parts, starts = _divided(rows, total)
    placed = (
        in_parts.repartition(parts, "part")
        .sortWithinPartitions("part", "row")
        .mapInArrow(_placing(starts, seed, files), "file int, key long, position long, row binary")
    )
    written = (
        placed.repartition(files, "file")
        .sortWithinPartitions("file", "key", "position")
        .select("file", "row")
        .mapInArrow(
            _writing(tuple(labels), folder), "file int, name string, rows long, bytes long, sha256 string"
        )
    )
    found = {line["file"]: line.asDict() for line in written.collect()}
    for file in set(range(files)).difference(found):
        nothing = write_file(iter(()), tuple(labels), folder, file)
        found[file] = nothing
    unseen = [entry["name"] for entry in found.values() if not (folder / entry["name"]).is_file()]
    if unseen:
        raise OutputError(
            f"The workers wrote {len(unseen):,} files that the driver does not see in {folder}, such as "
            f"{unseen[0]}.",
            hint="The folder must be one that driver and workers share, such as a mounted volume.",
        )
    require_rows(sum(entry["rows"] for entry in found.values()), total, "publishing")
    return [
        {key: entry[key] for key in ("name", "rows", "bytes", "sha256")} for _, entry in sorted(found.items())
    ]


def _divided(rows: DataFrame, total: int) -> tuple[DataFrame, int, dict[int, tuple[int, int]]]:
    """Divide distinct rows into parts that follow one another, and count the rows before and up to each."""
    found, distinct, _ = size_of(rows)
    require_rows(found, total, "publishing")
    parts = number_of_parts(distinct)
    every = sampling(distinct, parts)
    bounds: list[bytes] = []
    if parts > 1:  # chosen by content, so that a stage that is run again divides as before
        chosen = rows.where(F.pmod(F.xxhash64("row"), F.lit(every)) == 0).select("row").orderBy("row")
        bounds = bounds_of([bytes(value) for value in chosen.toArrow().column("row").to_pylist()], parts)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            part = pa.array(part_of(batch.column(0).to_pylist(), bounds))
            yield pa.RecordBatch.from_arrays([part, *batch.columns], ["part", "row", "rows"])

    in_parts = rows.mapInArrow(work, f"part int, {_CODED}")
    if parts == 1:
        return in_parts, parts, {0: (0, total)}
    weights = in_parts.groupBy("part").agg(F.sum("rows").alias("rows")).collect()
    starts, before = {}, 0
    for part, number in sorted((line["part"], line["rows"]) for line in weights):
        starts[part] = (before, before + number)
        before += number
    return in_parts, parts, starts


def _placing(
    starts: dict[int, tuple[int, int]], seed: int, files: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the function that draws the place of each copy of sorted rows."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        at, part = 0, -1
        for batch in batches:
            parts = batch.column(0).to_numpy()
            times = batch.column(2).to_numpy()
            rows = batch.column(1)
            for here in np.unique(parts).tolist():
                if here != part:
                    _require_end(starts, part, at)
                    part, at = here, starts[here][0]
                mine = np.flatnonzero(parts == here)
                ends = np.cumsum(times[mine])
                for low in range(0, int(ends[-1]), COPIES):
                    copies = np.arange(low, min(low + COPIES, int(ends[-1])))
                    keys = draw_keys(seed, at + low, copies.size)
                    source = mine[np.searchsorted(ends, copies, side="right")]
                    yield pa.RecordBatch.from_arrays(
                        [
                            pa.array(file_of(keys, files)),
                            pa.array((keys ^ np.uint64(1 << 63)).view(np.int64)),  # sorted as if unsigned
                            pa.array(at + copies),
                            rows.take(pa.array(source)),
                        ],
                        ["file", "key", "position", "row"],
                    )
                at += int(ends[-1])
        _require_end(starts, part, at)

    return work


def _require_end(starts: dict[int, tuple[int, int]], part: int, at: int) -> None:
    if part >= 0 and at != starts[part][1]:
        raise ValueError(f"part {part} ends at row {at}, expected {starts[part][1]}")


def _writing(
    labels: tuple[str, ...], folder: Path
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the function that writes rows that are sorted by file and place."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        def pieces() -> Iterator[tuple[int, pa.Array]]:
            for batch in batches:
                numbers = batch.column(0).to_numpy()
                for file in np.unique(numbers).tolist():
                    low, high = np.searchsorted(numbers, [file, file + 1])
                    yield file, batch.column(1).slice(low, high - low)

        for file, some in groupby(pieces(), key=lambda piece: piece[0]):
            entry = write_file((rows for _, rows in some), labels, folder, file)
            yield pa.RecordBatch.from_pydict(
                {name: [value] for name, value in entry.items()},
                schema=pa.schema(
                    [("file", pa.int32()), ("name", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64()),
                     ("sha256", pa.string())]
                ),
            )  # fmt: skip

    return work


def write_file(rows: Iterator[pa.Array], labels: tuple[str, ...], folder: Path, file: int) -> dict[str, Any]:
    """Write one file of published rows, a column of lists of texts, and say what it holds.

    It is written under another name first: a task that is run twice writes the same bytes twice.
    """
    import pyarrow as pa
    from pyarrow import parquet
    from pyspark import TaskContext

    words = pa.array(labels, pa.string())
    name = f"part-{file:05d}.parquet"
    task = TaskContext.get()
    hidden = folder / f".{name}.{'driver' if task is None else task.taskAttemptId()}"
    schema = pa.schema([("items", pa.list_(pa.field("element", pa.string())))])
    written = 0
    with parquet.ParquetWriter(hidden, schema, compression="zstd") as out:
        for group in _in_groups(rows):
            indptr, ids = ids_of(group)
            lists = pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), words.take(pa.array(ids)))
            out.write_table(pa.Table.from_arrays([lists.cast(schema.field(0).type)], schema=schema))
            written += len(group)
    place = hidden.replace(folder / name)
    return {
        "file": file, "name": name, "rows": written, "bytes": place.stat().st_size, "sha256": digest_of(place)
    }  # fmt: skip


def _in_groups(rows: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """Put pieces together so that each but the last has as many rows as a row group."""
    import pyarrow as pa

    waiting: list[pa.Array] = []
    held = 0
    for some in rows:
        waiting.append(some)
        held += len(some)
        while held >= ROW_GROUP:
            whole = pa.concat_arrays([piece.cast(pa.large_binary()) for piece in waiting])
            yield whole.slice(0, ROW_GROUP)
            waiting, held = [whole.slice(ROW_GROUP)], held - ROW_GROUP
    if held:
        yield pa.concat_arrays([piece.cast(pa.large_binary()) for piece in waiting])
