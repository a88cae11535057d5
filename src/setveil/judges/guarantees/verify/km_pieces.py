"""Check k^m-anonymity of rows that do not fit in memory, in one pass for each size of sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify._tables import MOST_CELLS, MOST_ROWS, SIZES, count_sets, rare_sets
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.rows.data.vocabulary import Vocabulary

Piece = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr and ids; in a row in any order, with repeats


@dataclass(frozen=True)
class Counted:
    """The totals of all pieces."""

    vocabulary: Vocabulary  # the label of each id
    label_supports: NDArray[np.int64]  # int64 (n_ids,): the rows that hold each id
    lengths: NDArray[np.int64]  # int64 (longest + 1,): the rows of each length

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return int(self.lengths.sum())

    @property
    def n_items(self) -> int:
        """Number of labels."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (row, label) pairs."""
        return int(self.label_supports.sum())

    @property
    def filled_rows(self) -> int:
        """Number of rows with an item."""
        return int(self.lengths[1:].sum())

    def supports(self) -> NDArray[np.int64]:
        """Count, for each label, the rows that hold it: int64 (n_ids,)."""
        return self.label_supports.copy()


def require_countable(guarantee: KmAnonymity, n_ids: int = 0) -> None:
    """Refuse sizes of sets that are not counted in tables, of any ids or of this many."""
    possible = [size for size in SIZES if comb(n_ids, size) <= MOST_CELLS]
    if guarantee.m > max(possible, default=1):
        raise RequestError(
            f"m = {guarantee.m} cannot be verified in parts: {f'of {n_ids:,} labels, ' * (n_ids > 0)}sets of "
            f"at most {max(possible, default=1)} are counted there.",
            hint="Choose a smaller m, or omit --engine parts.",
        )


def verify_km_pieces(
    pieces: Callable[[], Iterable[Piece]],
    vocabulary: Vocabulary,
    guarantee: KmAnonymity,
    *,
    show: int = 10,
    progress: Progress = silent,
) -> tuple[KmVerdict, Counted]:
    """Check k^m-anonymity for m up to 3 and no greater; each call of `pieces` reads the rows again."""
    labels = vocabulary.labels
    require_countable(guarantee, len(labels))
    counted = _counted(pieces(), vocabulary)
    longest = counted.lengths.size - 1
    if longest < 1:
        return KmVerdict(guarantee, True, 0, (), None, math.inf, True), counted
    if counted.n_rows > MOST_ROWS:
        raise RequestError(f"{counted.n_rows:,} rows cannot be counted, at most {MOST_ROWS:,} can.")
    k = min(guarantee.k, counted.n_rows + 1)
    supports = counted.label_supports
    shown = supports[supports > 0]
    rare = np.flatnonzero((supports > 0) & (supports < k))
    first: list[tuple[tuple[int, ...], int]]
    first = [((i,), int(supports[i])) for i in rare[:show].tolist()]
    violations, smallest, safe = rare.size, int(shown.min()), 0 if rare.size else 1
    for size in range(2, int(min(guarantee.m, longest)) + 1):
        table = np.zeros(comb(len(labels), size), np.int32)
        done = 0
        for piece in pieces():
            count_sets(*ascending(*piece, len(labels)), len(labels), size, table)
            done += piece[0].size - 1
            progress(f"verifying itemsets of size {size}", done / counted.n_rows)
        _require_whole(table, counted.lengths, size)
        found, least, more = rare_sets(table, len(labels), size, k, max(show - len(first), 0))
        first += more
        violations, smallest = violations + found, min(smallest, least)
        if not violations:
            safe = size
    whole = guarantee.m >= longest  # there are no larger sets
    return KmVerdict(
        guarantee,
        not violations,
        violations,
        tuple((tuple(labels[i] for i in ids), support) for ids, support in first),
        smallest,
        math.inf if whole and not violations else safe,
        whole or bool(violations),
    ), counted


def ascending(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_ids: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Sort the ids of each row, and omit repeats."""
    indptr, items = np.ascontiguousarray(indptr, np.int64), np.ascontiguousarray(items, np.int32)
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    in_order = (items[1:] > items[:-1]) | (rows[1:] > rows[:-1])
    if in_order.all():
        return indptr, items
    keys = np.sort(rows * np.int64(max(n_ids, 1)) + items)
    keys = keys[np.concatenate(([True], keys[1:] > keys[:-1]))]
    lengths = np.bincount(keys // n_ids, minlength=indptr.size - 1)
    return np.concatenate(([0], np.cumsum(lengths))), (keys % n_ids).astype(np.int32)


def _counted(pieces: Iterable[Piece], vocabulary: Vocabulary) -> Counted:
    n_ids = len(vocabulary)
    supports, lengths = np.zeros(n_ids, np.int64), np.zeros(1, np.int64)
    for piece in pieces:
        indptr, items = ascending(*piece, n_ids)
        supports += np.bincount(items, minlength=n_ids)
        of_piece = np.bincount(np.diff(indptr), minlength=lengths.size)
        of_piece[: lengths.size] += lengths
        lengths = of_piece
    return Counted(vocabulary, supports, lengths)


def _require_whole(table: NDArray[np.int32], lengths: NDArray[np.int64], size: int) -> None:
    """Make sure that no row was lost or read twice while sets were counted."""
    expected = sum(rows * comb(length, size) for length, rows in enumerate(lengths.tolist()))
    if int(table.sum(dtype=np.int64)) != expected:
        raise DataError(
            f"The sets of {size} labels are not as many as the rows have: the files changed while they were "
            "read.",
            hint="Verify them again, when nobody writes there.",
        )
