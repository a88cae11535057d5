"""Rows on Spark: coded, merged and published by Python workers, a batch of Arrow at a time.

Nothing here may depend on which worker does what, or on a stage being run again after a loss: no function
draws numbers of its own, counts partitions or relies on the order of rows. Further inputs of a worker are
inside the function that it runs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (what all users of Spark call it)

from setveil.base.errors import DataError, GuaranteeError, RequestError, shorten
from setveil.base.version import __version__
from setveil.kernels.content import content_order
from setveil.kernels.count import empty_table, fits
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.rows.engine.counting import Piece, Tick, WeightedPiece, numbered
from setveil.rows.engine.numbering import Numbering
from setveil.rows.engine.partial import (
    added,
    blocks,
    count_part,
    put_block,
    rare_bits,
    rare_part,
    supports_part,
)
from setveil.rows.engine.publish import packed, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 2_000  # items of a row: more have 10^9 sets of three
MOST_ITEMS = 1_000_000  # distinct ones, which the driver and each worker know
MOST_OCCURRENCES = 100_000_000  # that the driver takes, of distinct rows
OF_A_TASK = 1_000_000  # occurrences, about: a task costs some tenths of a second, whatever it is given
LEAST_TASKS = 32
MOST_TASKS = 1 << 16
SENT_CELLS = 1 << 33  # of the tables of all tasks, 4 bytes each
COPIES = 1 << 13  # rows that are looked at together, each for itself
_CONTROL_SUMS = -1  # in place of a block: what the counts of a part must add up to
_CODED = "row binary, rows long"
T = TypeVar("T")
FAILURES = (PySparkException, Py4JError)  # what Spark raises where a job fails


def reason_of(error: BaseException) -> str:
    """Find the line of an error of Spark that says most: the innermost cause."""
    lines = [line.strip() for line in str(error).splitlines()]
    causes = [line for line in lines if "Error" in line or line.startswith("Caused by")]
    return shorten((causes or lines)[-1], 200)


@dataclass(frozen=True)
class RowSurvey:
    """The number of rows, and of those of each item, before rows are coded."""

    rows: int
    supports: dict[str, int]

    @property
    def tasks(self) -> int:
        """In how many tasks rows are looked at; it depends on nothing but the rows."""
        return 1 + sum(self.supports.values()) // OF_A_TASK


def require_workers(session: SparkSession) -> None:
    """Refuse a session whose Python workers cannot run what they will be sent."""
    version = __version__

    def probe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        try:
            import numba  # noqa: F401

            from setveil.base.version import __version__ as theirs

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
        answers = session.range(64).mapInArrow(probe, "problem string").collect()
    except FAILURES as error:
        raise RequestError(
            f"The session's Python workers cannot be used: {reason_of(error)}.", hint=hint
        ) from error
    problems = sorted({line["problem"] for line in answers if line["problem"]})
    if problems:
        raise RequestError(
            f"The session's Python workers lack something: {problems[0]}; expected numba, setveil {version}.",
            hint=hint,
        )


def survey(rows: DataFrame) -> RowSurvey:
    """Count rows and the supports of items, and refuse invalid rows: distinct `items`, and their `place`."""
    # A row of n items is n lines, an empty one a line without a position.
    lines = rows.select(F.size("items").alias("length"), F.posexplode_outer("items").alias("at", "item"))
    counted = lines.groupBy("item").agg(
        F.count("at").alias("count"),
        F.sum((F.coalesce("at", F.lit(0)) == 0).cast("long")).alias("rows"),
        F.max("length").alias("longest"),
    )
    counted = counted.coalesce(LEAST_TASKS).persist()
    try:
        kinds = counted.where("item is not null").count()
        if kinds > MOST_ITEMS:
            raise DataError(
                f"There are {kinds:,} distinct items, allowed are {MOST_ITEMS:,}.",
                hint="Is the column of items that of the ids?",
            )
        table = counted.toArrow().to_pydict()
    finally:
        counted.unpersist()
    supports = {item: some for item, some in zip(table["item"], table["count"], strict=True) if some}
    if {None, ""} & supports.keys() or max(table["longest"], default=0) > LONGEST:
        _refuse_invalid(rows)
    return RowSurvey(sum(table["rows"]), supports)


def _refuse_invalid(rows: DataFrame) -> NoReturn:
    """Refuse rows with an item that is missing or empty, or with too many items, and name one of them."""
    length = F.size("items")
    wrong = F.exists("items", lambda x: x.isNull() | (x == ""))
    totals = rows.agg(
        F.sum(wrong.cast("long")).alias("wrong"),
        F.max(F.struct(length.alias("length"), F.col("place"))).alias("longest"),
        F.min(F.when(wrong, F.col("place"))).alias("where"),
    ).collect()[0]
    if totals["wrong"]:
        raise DataError(
            f"{totals['wrong']:,} rows contain an item that is missing or empty, such as {totals['where']}; "
            "expected texts or integers.",
            hint="Leave missing values out of the rows first.",
        )
    longest = totals["longest"]
    raise DataError(
        f"A row contains {longest['length']:,} items ({longest['place']}), allowed are {LONGEST:,}: each "
        "set of its items must be counted.",
        hint="Is each row a person's? Look for an ID that many people share, or omit such rows.",
    )


def coded(rows: DataFrame, labels: Sequence[str], ids: Ids, tasks: int) -> DataFrame:
    """Replace labels by ids and merge equal rows: columns `row`, as `packed` writes it, and `rows`.

    Merged rows are in as many partitions as the session says, put together to `tasks` if that is fewer.
    """
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
                [binary_of(*out), pa.array(np.ones(out[0].size - 1, np.int64))], ["row", "rows"]
            )

    return _merged(rows.select("items").mapInArrow(work, _CODED), tasks)


def recoded(rows: DataFrame, image: Ids, tasks: int) -> DataFrame:
    """Replace ids by their images, drop those whose image is negative, and merge rows that are equal then."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            out = recode_rows(*ids_of(batch.column(0)), image)
            yield pa.RecordBatch.from_arrays([binary_of(*out), batch.column(1)], ["row", "rows"])

    return _merged(rows.mapInArrow(work, _CODED), tasks)


def _merged(rows: DataFrame, tasks: int) -> DataFrame:
    return rows.groupBy("row").agg(F.sum("rows").alias("rows")).coalesce(tasks)


def binary_of(indptr: Ints, items: Ids) -> pa.Array:
    """Write rows of ids as a column of bytes."""
    import pyarrow as pa

    bounds, content = packed(indptr, items)
    buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), indptr.size - 1, buffers)


def ids_of(column: pa.Array) -> tuple[Ints, Ids]:
    """Read rows of ids from a column of bytes."""
    import pyarrow as pa

    wide = column.cast(pa.large_binary())
    _, bounds, content = wide.buffers()
    ends = np.frombuffer(bounds, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return unpacked(ends, memoryview(content) if content else b"")


def size_of(rows: DataFrame) -> tuple[int, int, int]:
    """Count coded rows: all of them, the distinct ones, and the occurrences of ids in distinct ones."""
    totals = rows.agg(
        F.sum("rows").alias("rows"),
        F.count(F.lit(1)).alias("distinct"),
        F.sum(F.length("row")).alias("bytes"),
    ).collect()[0]
    return totals["rows"] or 0, totals["distinct"], (totals["bytes"] or 0) // 4


def collected(rows: DataFrame) -> tuple[Ints, Ids, Ints]:
    """Bring coded rows to the driver, sorted by their ids, each with the number of rows it represents."""
    table = rows.toArrow().combine_chunks()
    if table.num_rows == 0:
        return frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32), frozen(np.zeros(0), np.int64)
    indptr, items = ids_of(table.column("row").chunk(0))
    order = content_order(indptr, items)
    weights = table.column("rows").to_numpy()[order]
    return *take_rows(indptr, items, order), frozen(weights, np.int64)


def require_rows(found: int, expected: int, phase: str) -> None:
    """Refuse to go on where rows were lost or doubled."""
    if found != expected:
        raise GuaranteeError(
            f"{phase.capitalize()} was given {expected:,} rows and found {found:,}: rows were lost or "
            "doubled on the way. Nothing was written.",
            hint="Does the frame give the same rows each time it is computed? One that draws at random, or "
            "takes rows without an order, must be written to a table first.",
        )


# --- counting

_NOTHING = frozen(np.zeros(1), np.int64), frozen(np.zeros(0), np.int32)  # no row


class SparkRows:
    """Rows on Spark, for algorithms that only count, measures and the risk.

    See `setveil.rows.engine.rows.AllRows` and `setveil.rows.engine.rows.Looked`. `rows`: coded by the leaves
    of the hierarchy, equal rows merged. `total`: number of rows. `tasks`: partitions of merged rows.
    """

    def __init__(self, rows: DataFrame, total: int, tasks: int) -> None:
        self.rows, self.total, self.tasks = rows, total, tasks

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.total

    @cached_property
    def lengths(self) -> Ints:
        """How many rows there are of each length: int64 (longest + 1,)."""
        length = (F.length("row") / 4).cast("int")
        counts = self.rows.groupBy(length.alias("length")).agg(F.sum("rows").alias("rows")).collect()
        out = np.zeros(1 + max((line["length"] for line in counts), default=0), np.int64)
        for line in counts:
            out[line["length"]] = line["rows"]
        require_rows(int(out.sum()), self.total, "counting")
        return out

    def supports(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number: int64 (n,); each task also sends totals, as for `count`."""
        n = numbering.nodes.size

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            out = np.zeros(n + 2, np.int64)
            for piece in map(_piece, batches):
                out[:n] += supports_part(piece, numbering)
                out[n] += piece[2].sum()
            out[n + 1] = out[:n].sum()
            some = np.flatnonzero(out)
            yield pa.RecordBatch.from_arrays([pa.array(some), pa.array(out[some])], ["number", "rows"])

        parts = self.rows.mapInArrow(work, "number long, rows long")
        table = parts.groupBy("number").agg(F.sum("rows").alias("rows")).toArrow()
        supports = np.zeros(n + 2, np.int64)
        supports[table.column("number").to_numpy()] = table.column("rows").to_numpy()
        require_rows(int(supports[n]), self.total, "counting")
        require_sets(int(supports[:n].sum()), int(supports[n + 1]), 1)
        return supports[:n]

    def supports_of(self, numbering: Numbering) -> Ints:
        """Count the rows that hold each number, for measures."""
        return self.supports(numbering)

    def added_up(
        self, numbering: Numbering, look: Callable[[Piece], T], add: Callable[[T, T], T], tick: Tick
    ) -> T:
        """Look at all rows, a piece at a time, and add up what is found: each task its part, then all.

        `look` and `add` are sent to the workers with all that they hold. Each task also tells how many rows
        it saw, which must be all together.
        """

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            found, rows = look(_NOTHING), 0
            for batch in batches:
                for piece in copies(*_piece(batch)):
                    found = add(found, look(numbered(piece, numbering)))
                    rows += piece[0].size - 1
            yield pa.RecordBatch.from_arrays(
                [pa.array([pickle.dumps(found)], pa.binary()), pa.array([rows])], ["found", "rows"]
            )

        tasks = self.rows.coalesce(LEAST_TASKS).mapInArrow(work, "found binary, rows long")
        total, rows = look(_NOTHING), 0
        for line in tasks.toArrow().to_pylist():
            total, rows = add(total, pickle.loads(line["found"])), rows + line["rows"]  # noqa: S301  (our own)
        require_rows(rows, self.total, "looking at rows")
        tick(1.0)
        return total

    def count(self, numbering: Numbering, size: int, tick: Tick) -> NDArray[np.int32]:
        """Count, for all sets of `size` numbers, the rows that hold them.

        Each task fills a table of its own, and sends what is not 0. Next to the counts it sends how many rows
        and sets it saw, which the sums must agree with.
        """
        schema = "block int, cells binary, rows long, sets string"

        def counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            part = count_part(map(_piece, batches), numbering, size)
            yield _cells(_CONTROL_SUMS, b"", part.rows, part.sets)
            for block, cells in blocks(part.table):
                yield _cells(block, cells)

        def sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            entries = ((line["block"], line) for batch in batches for line in batch.to_pylist())
            for block, lines in groupby(entries, key=lambda entry: entry[0]):
                if block == _CONTROL_SUMS:
                    for _, line in lines:
                        yield _cells(_CONTROL_SUMS, b"", line["rows"], int(line["sets"]))
                    continue
                yield _cells(block, added(line["cells"] for _, line in lines))

        table = empty_table(numbering.nodes.size, size)
        tasks = max(LEAST_TASKS, min(SENT_CELLS // max(table.size, 1), MOST_TASKS))
        partial = self.rows.coalesce(tasks).mapInArrow(counts, schema)
        merged = partial.repartition("block").sortWithinPartitions("block").mapInArrow(sums, schema)
        rows = sets = 0
        for line in merged.toArrow().to_pylist():
            if line["block"] == _CONTROL_SUMS:
                rows, sets = rows + line["rows"], sets + int(line["sets"])
            else:
                put_block(table, line["block"], line["cells"])
        require_rows(rows, self.total, "counting")
        require_sets(int(table.sum(dtype=np.int64)), sets, size)
        tick(1.0)
        return table

    def rare(
        self, numbering: Numbering, table: NDArray[np.int32], size: int, k: int, tick: Tick
    ) -> tuple[Ints, Ids, Ints]:
        """Cut rows down to the numbers that are in sets of support below k with others of the row."""
        bits = rare_bits(table, k)

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            for batch in batches:
                indptr, numbers, weights = rare_part(_piece(batch), numbering, bits, size, k)
                yield pa.RecordBatch.from_arrays(
                    [binary_of(indptr, numbers), pa.array(weights)], ["row", "rows"]
                )

        found = brought(_merged(self.rows.mapInArrow(work, _CODED), self.tasks), "that contain rare sets")
        tick(1.0)
        return found

    def distinct(self, image: Ids) -> tuple[Ints, Ids, Ints]:
        """Recode all rows by the image of each leaf, and bring the distinct ones to the driver."""
        return brought(recoded(self.rows, image, self.tasks), "under the cut as it is")


def require_sets(found: int, expected: int, size: int) -> None:
    """Refuse counts that do not add up."""
    if found != expected:
        raise GuaranteeError(
            f"The supports of all sets of {size} labels add up to {found:,}, but the rows contain "
            f"{expected:,} such sets: counts were lost or doubled on the way. Nothing was written.",
            hint="Please report it with the version of Spark.",
        )


def brought(rows: DataFrame, which: str) -> tuple[Ints, Ids, Ints]:
    """Bring coded rows to the driver if they are not too many."""
    held = rows.persist()
    try:
        _, distinct, occurrences = size_of(held)
        if occurrences > MOST_OCCURRENCES:
            raise RequestError(
                f"The driver would have to take {distinct:,} distinct rows {which}, with {occurrences:,} "
                f"occurrences of items; it takes {MOST_OCCURRENCES:,}.",
                hint=table_hint(),
            )
        return collected(held)
    finally:
        held.unpersist()


def table_hint() -> str:
    """Say how many labels can be counted in tables."""
    fitting = []
    for m in (2, 3, 4):
        n = m
        while fits(n * 2, m):
            n *= 2
        while fits(n + 1, m):
            n += 1
        fitting.append(f"{n:,} labels for m = {m}")
    return (
        f"Sets are counted in tables, which fit {', '.join(fitting)}: start from a coarser level of the "
        "hierarchy as items, or choose a smaller m."
    )


def copies(indptr: Ints, items: Ids, weights: Ints) -> Iterator[Piece]:
    """Yield each row as often as its weight says, COPIES rows at a time."""
    ends = np.cumsum(weights)
    for first in range(0, int(ends[-1]) if ends.size else 0, COPIES):
        some = np.arange(first, min(first + COPIES, int(ends[-1])))
        yield take_rows(indptr, items, np.searchsorted(ends, some, "right"))


def _piece(batch: pa.RecordBatch) -> WeightedPiece:
    return *ids_of(batch.column(0)), frozen(batch.column(1).to_numpy(), np.int64)


def _cells(block: int, cells: bytes, rows: int = 0, sets: int = 0) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [
            pa.array([block], pa.int32()),
            pa.array([cells], pa.binary()),
            pa.array([rows], pa.int64()),
            pa.array([str(sets)]),
        ],
        ["block", "cells", "rows", "sets"],
    )
