"""Published rows in the order of a run in memory, each part of them placed on its own.

In memory, rows are sorted by content, and row p is then placed by the p-th number of a random stream. Anyone
who holds some rows and knows where they are in the sorted order can draw their numbers without the others.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen

ROWS_PER_FILE = 1_000_000
ROWS_PER_PART = 250_000  # distinct rows that one worker sorts at a time
SAMPLES_PER_PART = 64
ROW_GROUP = 1 << 17


def draw_keys(seed: int, start: int, number: int) -> NDArray[np.uint64]:
    """Draw numbers `start`, `start` + 1, ... of the stream by which a release is shuffled.

    >>> bool((draw_keys(7, 3, 2) == draw_keys(7, 0, 5)[3:]).all())
    True
    """
    stream = np.random.PCG64(seed)
    stream.advance(start)
    return np.asarray(stream.random_raw(number), np.uint64)


def number_of_files(rows: int) -> int:
    """Say how many files rows are published in: it depends on nothing but how many there are."""
    return max(1, -(-rows // ROWS_PER_FILE))


def file_of(keys: NDArray[np.uint64], files: int) -> NDArray[np.int32]:
    """Find the file of each row by its number of the stream: the files, one after the other, are in order."""
    return ((keys >> np.uint64(32)) * np.uint64(files) >> np.uint64(32)).astype(np.int32)


def number_of_parts(distinct: int) -> int:
    """Say in how many parts distinct rows are sorted."""
    return max(1, -(-distinct // ROWS_PER_PART))


def sampling(distinct: int, parts: int) -> int:
    """Say which share of the distinct rows is looked at to divide them: one in this many."""
    return max(1, distinct // (parts * SAMPLES_PER_PART))


def bounds_of(sample: Sequence[bytes], parts: int) -> list[bytes]:
    """Choose the first row of each part but the first from sorted rows; the parts are about equally large."""
    at = sorted({len(sample) * part // parts for part in range(1, parts)} - {0})
    return [sample[i] for i in at]


def part_of(rows: Sequence[bytes], bounds: Sequence[bytes]) -> NDArray[np.int32]:
    """Find the part of each row."""
    return np.fromiter((bisect_right(bounds, row) for row in rows), np.int32, len(rows))


def packed(indptr: Ints, items: Ids) -> tuple[Ints, bytes]:
    """Write rows of ids as bytes that sort like the rows, with the bounds of each row."""
    return 4 * indptr, items.astype(">i4").tobytes()


def unpacked(bounds: Ints, content: bytes | memoryview) -> tuple[Ints, Ids]:
    """Read rows that `packed` wrote."""
    items = np.frombuffer(content, ">i4")[bounds[0] // 4 : bounds[-1] // 4]
    return frozen((bounds - bounds[0]) // 4, np.int64), frozen(items.astype(np.int32), np.int32)


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
