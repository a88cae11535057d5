"""Make large data sets for benchmarks: real rows over and over, a tenth of the occurrences drawn again.

    python benchmarks/scale_data.py BMS-WebView-2 130 rows.parquet [--data FOLDER]

Each occurrence keeps its item, or with a probability of one tenth gets another one, drawn by the items'
frequency. Rows are written as lists of texts, in groups, so that no set has to fit in memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from runs import DATA, data_folder
from setveil.kernels.rows import recode_rows
from setveil.rows.data.io.rows import read
from setveil.rows.data.transactions import Transactions

REDRAWN = 0.1
AT_ONCE = 10  # copies in one group of rows


def make(name: str, times: int, out: Path, data: Path, seed: int = 0) -> tuple[int, int]:
    """Write a data set `times` over; how many rows and occurrences it has."""
    rows = read(str(data / DATA[name][0]))
    labels = pa.array(rows.vocabulary.labels, pa.string())
    rng = np.random.Generator(np.random.PCG64(seed))
    n_rows = n_occurrences = 0
    schema = pa.schema([("items", pa.list_(pa.string()))])
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for first in range(0, times, AT_ONCE):
            indptr, items = redrawn(rows, min(AT_ONCE, times - first), rng)
            values = labels.take(pa.array(items))
            lists = pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), values)
            writer.write_table(pa.table([lists], schema=schema), row_group_size=1 << 18)
            n_rows, n_occurrences = n_rows + indptr.size - 1, n_occurrences + items.size
    return n_rows, n_occurrences


def redrawn(
    rows: Transactions, times: int, rng: np.random.Generator
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """Repeat rows, and draw a tenth of the items again: indptr and items."""
    lengths = np.tile(rows.row_lengths(), times)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    items = np.tile(rows.items, times)
    anew = rng.random(items.size) < REDRAWN
    items[anew] = rng.choice(rows.items, int(anew.sum()))
    return recode_rows(indptr, items, np.arange(rows.n_items, dtype=np.int32))


def main() -> None:
    """Write one set."""
    options = argparse.ArgumentParser(description="Make a large data set.")
    options.add_argument("name", choices=sorted(DATA))
    options.add_argument("times", type=int)
    options.add_argument("out", type=Path)
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = options.parse_args()
    n_rows, n_occurrences = make(arguments.name, arguments.times, arguments.out, data_folder(arguments.data))
    print(f"{n_rows:,} rows, {n_occurrences:,} occurrences")


if __name__ == "__main__":
    main()
