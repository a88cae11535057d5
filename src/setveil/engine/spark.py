"""Rows that Spark holds: coded, merged and published by Python workers, a batch of Arrow at a time.

Nothing here may depend on which worker does what, or on a stage being run again after a loss: no function
draws numbers of its own, counts partitions or takes rows in the order in which they come. What a worker gets
besides its rows, it gets inside the function that it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (what all users of Spark call it)

from setveil.engine.publish import (
    ROW_GROUP,
    bounds_of,
    digest_of,
    draw_keys,
    file_of,
    number_of_files,
    number_of_parts,
    packed,
    part_of,
    sampling,
    unpacked,
)
from setveil.errors import DataError, GuaranteeError, OutputError, RequestError, shorten
from setveil.kernels.rows import Ids, Ints, content_order, frozen, recode_rows, take_rows
from setveil.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 2_000  # items of a row: more have 10^9 sets of three
MOST_ITEMS = 1_000_000  # distinct ones, which the driver and each worker know
COPIES = 1 << 16  # rows that leave a worker at a time
_CODED = "row binary, rows long"


@dataclass(frozen=True)
class Survey:
    """What is known of rows before they are coded.

    Attributes
    ----------
    rows : int
        How many there are.
    empty : int
        How many of them hold no item.
    supports : dict of str to int
        The rows of each item.
    """

    rows: int
    empty: int
    supports: dict[str, int]

    @property
    def occurrences(self) -> int:
        """Pairs of a row and an item of it."""
        return sum(self.supports.values())


def require_workers(session: SparkSession) -> None:
    """Refuse a session whose Python workers cannot run what they will be sent.

    Raises
    ------
    RequestError
        With what they lack.
    """
    version = __version__

    def probe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        try:
            import numba  # noqa: F401

            from setveil.version import __version__ as theirs

            problem = "" if theirs == version else f"setveil {theirs}"
        except ImportError as error:
            problem = str(error)
        for batch in batches:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([problem] * batch.num_rows)], ["problem"])

    hint = (
        "Install setveil on every worker as on the driver (spark.archives, or the platform's libraries), and "
        "let PYSPARK_PYTHON name its interpreter."
    )
    try:
        told = session.range(64).mapInArrow(probe, "problem string").distinct().collect()
    except PySparkException as error:
        lines = [line for line in str(error).splitlines() if "Error" in line]
        raise RequestError(
            f"The session's Python workers cannot be used: {shorten((lines or [str(error)])[-1], 200)}.",
            hint=hint,
        ) from error
    problems = sorted(line["problem"] for line in told if line["problem"])
    if problems:
        raise RequestError(
            f"The session's Python workers lack something: {problems[0]}; expected numba, setveil {version}.",
            hint=hint,
        )


def survey(rows: DataFrame) -> Survey:
    """Count rows and the supports of items, and refuse rows that cannot be taken.

    Parameters
    ----------
    rows : DataFrame
        Columns `items`, distinct texts, and `place`, a text that says which row it is.

    Raises
    ------
    DataError
        If an item is missing, a row is too long, or there are too many items.
    """
    length = F.size("items")
    wrong = F.exists("items", lambda x: x.isNull() | (x == ""))
    told = rows.agg(
        F.count(F.lit(1)).alias("rows"),
        F.sum((length == 0).cast("long")).alias("empty"),
        F.sum(wrong.cast("long")).alias("wrong"),
        F.max(F.struct(length.alias("length"), F.col("place"))).alias("longest"),
        F.min(F.when(wrong, F.col("place"))).alias("where"),
    ).collect()[0]
    if told["wrong"]:
        raise DataError(
            f"{told['wrong']:,} rows hold an item that is missing or empty, such as {told['where']}; "
            "expected texts or integers.",
            hint="Leave missing values out of the rows first.",
        )
    longest = told["longest"]
    if longest is not None and longest["length"] > LONGEST:
        raise DataError(
            f"A row holds {longest['length']:,} items ({longest['place']}), allowed are {LONGEST:,}: every "
            "set of its items would have to be counted.",
            hint="Is each row a person's? Look for an id that stands for many, or leave such rows out.",
        )
    counted = rows.select(F.explode("items").alias("item")).groupBy("item").count().persist()
    try:
        kinds = counted.count()
        if kinds > MOST_ITEMS:
            raise DataError(
                f"There are {kinds:,} distinct items, allowed are {MOST_ITEMS:,}.",
                hint="Is the column of items that of the ids?",
            )
        table = counted.toArrow().to_pydict()
    finally:
        counted.unpersist()
    supports = dict(zip(table["item"], table["count"], strict=True))
    return Survey(told["rows"], told["empty"] or 0, supports)


def coded(rows: DataFrame, labels: Sequence[str], ids: Ids) -> DataFrame:
    """Replace labels by ids and merge equal rows: columns `row`, as `packed` writes it, and `rows`."""
    known = dict(zip(labels, ids.tolist(), strict=True))

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            lists = batch.column(0)
            lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            words = lists.flatten().dictionary_encode()
            image = np.array([known[label] for label in words.dictionary.to_pylist()], np.int32)
            indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))
            codes = frozen(words.indices.to_numpy(zero_copy_only=False), np.int32)
            out = recode_rows(frozen(indptr, np.int64), codes, image)
            yield pa.RecordBatch.from_arrays(
                [_binary(*out), pa.array(np.ones(out[0].size - 1, np.int64))], ["row", "rows"]
            )

    return _merged(rows.select("items").mapInArrow(work, _CODED))


def recoded(rows: DataFrame, image: Ids) -> DataFrame:
    """Replace ids by their images, drop those whose image is negative, and merge rows that are equal then."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            out = recode_rows(*_ids(batch.column(0)), image)
            yield pa.RecordBatch.from_arrays([_binary(*out), batch.column(1)], ["row", "rows"])

    return _merged(rows.mapInArrow(work, _CODED))


def _merged(rows: DataFrame) -> DataFrame:
    return rows.groupBy("row").agg(F.sum("rows").alias("rows"))


def _binary(indptr: Ints, items: Ids) -> pa.Array:
    import pyarrow as pa

    bounds, content = packed(indptr, items)
    buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), indptr.size - 1, buffers)


def _ids(column: pa.Array) -> tuple[Ints, Ids]:
    import pyarrow as pa

    wide = column.cast(pa.large_binary())
    _, bounds, content = wide.buffers()
    ends = np.frombuffer(bounds, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return unpacked(ends, memoryview(content) if content else b"")


def size_of(rows: DataFrame) -> tuple[int, int, int]:
    """Count coded rows: all of them, the distinct ones, and the occurrences of ids in distinct ones."""
    told = rows.agg(
        F.sum("rows").alias("rows"),
        F.count(F.lit(1)).alias("distinct"),
        F.sum(F.length("row") / 4).cast("long").alias("occurrences"),
    ).collect()[0]
    return told["rows"] or 0, told["distinct"], told["occurrences"] or 0


def collected(rows: DataFrame) -> tuple[Ints, Ids, Ints]:
    """Bring coded rows to the driver, sorted by their ids, each with the number of rows it stands for."""
    table = rows.toArrow().combine_chunks()
    if table.num_rows == 0:
        return frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32), frozen(np.zeros(0), np.int64)
    indptr, items = _ids(table.column("row").chunk(0))
    order = content_order(indptr, items)
    weights = table.column("rows").to_numpy()[order]
    return *take_rows(indptr, items, order), frozen(weights, np.int64)


# --- publishing


def publish(
    rows: DataFrame, labels: Sequence[str], total: int, seed: int, folder: Path
) -> list[dict[str, Any]]:
    """Write published rows in the order of a run in memory, whatever the partitions.

    Parameters
    ----------
    rows : DataFrame
        Coded rows of positions in `labels`, equal ones merged.
    labels : sequence of str
        The published labels, in item order.
    total : int
        How many rows there are.
    seed : int
        Shuffles them.
    folder : Path
        Where the files are written; driver and workers must see the same one.

    Returns
    -------
    list of dict
        Of each file, in order, `name`, `rows`, `bytes` and `sha256`.

    Raises
    ------
    GuaranteeError
        If there are more or fewer rows than `total`.
    OutputError
        If the driver does not see what the workers wrote.
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


def require_rows(found: int, expected: int, phase: str) -> None:
    """Refuse to go on where rows were lost or doubled.

    Raises
    ------
    GuaranteeError
        If the numbers differ.
    """
    if found != expected:
        raise GuaranteeError(
            f"{phase.capitalize()} was given {expected:,} rows and found {found:,}: rows were lost or "
            "doubled on the way. Nothing was written.",
            hint="Does the frame give the same rows each time it is computed? One that draws at random, or "
            "takes rows without an order, must be written to a table first.",
        )


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
            told = write_file((rows for _, rows in some), labels, folder, file)
            yield pa.RecordBatch.from_pydict(
                {name: [value] for name, value in told.items()},
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
            indptr, ids = _ids(group)
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
