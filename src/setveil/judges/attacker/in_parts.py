"""Rows that fit one or two known items, for rows whose sets are in tables (see `attacker.attack`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.attacker._revealing_pairs import revealed_by_table
from setveil.judges.attacker._table_supports import look_up_sets
from setveil.judges.attacker.revealing import revealing_entries
from setveil.kernels.count import cell_offsets
from setveil.kernels.rows import Ints, frozen
from setveil.rows.engine.counting import Piece
from setveil.rows.engine.tabled import TabledRows

SIZES = (1, 2)
THRESHOLDS = (2, 5, 10)
_MOST = 1 << 62
_BITS, _HALF = 53, 27  # of the mantissa of a number, and of the half that is added up by itself


@dataclass
class _Sums:
    """The contribution of some rows to the numbers of one size m."""

    rows: Ints  # int64 (t,), per threshold: rows with some set of at most m items in fewer rows
    whole: Ints  # int64 (t,): of these, rows with fewer than m items
    inverse: Fraction  # the exact sum of 1 / the least support of each row's sets
    whole_inverse: Fraction  # the same for rows with fewer than m items
    fewest: int  # the least support of any set
    below: Ints  # int64 (t, longest + 1): see `_least_supports`
    # Fraction (longest + 1,): `inverse` there; exact, so that the order of rows does not matter
    drawn: NDArray[np.object_]

    def __add__(self, other: _Sums) -> _Sums:
        """Add what other rows add."""
        return _Sums(
            self.rows + other.rows,
            self.whole + other.whole,
            self.inverse + other.inverse,
            self.whole_inverse + other.whole_inverse,
            min(self.fewest, other.fewest),
            self.below + other.below,
            self.drawn + other.drawn,
        )


@dataclass
class _Found:
    """The contribution of some rows to the numbers of all sizes, and rows that each item singles out."""

    sums: dict[int, _Sums]
    revealed: Ints

    def __add__(self, other: _Found) -> _Found:
        """Add what other rows add."""
        sums = {m: mine + other.sums[m] for m, mine in self.sums.items()}
        return _Found(sums, self.revealed + other.revealed)


def risk_in_parts(
    rows: TabledRows,
    sizes: Sequence[int] = SIZES,
    thresholds: Sequence[int] = THRESHOLDS,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Count the rows that 1 or 2 known items single out, by tables, exactly (see `attack_risk`)."""
    lengths, supports = rows.lengths, rows.supports()
    empty, longest = int(lengths[0]), lengths.size - 1
    counted = range(1, min(max(sizes), max(longest, 1)) + 1)  # at most m items are known: all sizes up to m
    phase = "rows that known items single out"
    tables = {}
    for m in counted:
        tables[m] = cell_offsets(rows.n_items, m), rows.table(m, lambda done: progress(phase, done / 2))
    limits, below = frozen(np.array(thresholds), np.int64), thresholds[len(thresholds) // 2]
    n_items = rows.n_items

    def look(piece: Piece) -> _Found:
        indptr, items = piece
        found = _Found({}, np.zeros(n_items, np.int64))
        least = np.full(indptr.size - 1, _MOST)
        for m in counted:
            found.sums[m] = _sums(piece, *tables[m], limits, least, longest)
        revealed_by_table(indptr, items, supports, below, *tables[counted[-1]], found.revealed)
        return found

    total = rows.added_up(look, add, lambda done: progress(phase, (1 + done) / 2))
    by_size = {m: _entries(total.sums[m], m, thresholds, rows.n_rows, empty) for m in counted}
    return {
        "rows": rows.n_rows,
        "empty_rows": empty,
        "thresholds": list(thresholds),
        "risk": [{"m": m, **entry} for m in sizes for entry in by_size[min(m, counted[-1])]],
        "revealing": revealing_entries(rows.vocabulary.labels, max(sizes), below, supports, total.revealed),
    }


def _sums(
    piece: Piece, offsets: Ints, table: NDArray[np.int32], limits: Ints, least: Ints, longest: int
) -> _Sums:
    """Look up the sets of one size of some rows; `least`, of smaller sets, is lowered to that of these."""
    indptr, items = piece
    lengths, size = frozen(np.diff(indptr), np.int64), offsets.shape[0]
    each_below = np.zeros((limits.size, lengths.size), np.int64)
    each_drawn = np.zeros(lengths.size)
    ones, places = np.ones(lengths.size, np.int64), frozen(np.arange(lengths.size), np.int64)
    look_up_sets(
        indptr, items, ones, places, 0, lengths.size, offsets, table, limits, least, each_below, each_drawn
    )
    below = np.zeros((limits.size, longest + 1), np.int64)
    for limit in range(limits.size):
        np.add.at(below[limit], lengths, each_below[limit])
    filled, short = least[lengths > 0], least[(lengths > 0) & (lengths < size)]
    return _Sums(
        (filled < limits[:, None]).sum(axis=1),
        (short < limits[:, None]).sum(axis=1),
        exact_sum(1 / filled),
        exact_sum(1 / short),
        int(filled.min(initial=_MOST)),
        below,
        np.array([exact_sum(each_drawn[lengths == n]) for n in range(longest + 1)], object),
    )


def exact_sum(numbers: NDArray[np.float64]) -> Fraction:
    """Add up numbers without rounding: whatever their order, the sum is the same."""
    mantissas, exponents = np.frexp(numbers)
    whole = np.ldexp(mantissas, _BITS).astype(np.int64)
    total = Fraction(0)
    for exponent in np.unique(exponents).tolist():
        high, low = np.divmod(whole[exponents == exponent], 1 << _HALF)
        total += ((int(high.sum()) << _HALF) + int(low.sum())) * Fraction(2) ** (exponent - _BITS)
    return total


def _entries(
    sums: _Sums, m: int, thresholds: Sequence[int], n_rows: int, empty: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell what was counted for one size: the best choice of known items, and a random one."""
    ways = [comb(length, m) for length in range(sums.drawn.size)]
    drawn = (x / way for x, way in zip(sums.drawn.tolist(), ways, strict=True) if way)
    chance = sums.whole_inverse + sum(drawn, Fraction(0))
    expected = [
        whole
        + sum((Fraction(count, way) for count, way in zip(counts, ways, strict=True) if count), Fraction(0))
        for whole, counts in zip(sums.whole.tolist(), sums.below.tolist(), strict=True)
    ]

    def entry(choice: str, rows: Sequence[Any], total: Fraction) -> dict[str, Any]:
        return {
            "choice": choice,
            "rows_below": {str(t): number for t, number in zip(thresholds, rows, strict=True)},
            "probability": float((total + Fraction(empty, n_rows)) / n_rows) if n_rows else 0.0,
            "exact": True,
        }

    best = entry("best", sums.rows.tolist(), sums.inverse)
    best["fewest"] = None if sums.fewest == _MOST else sums.fewest
    return best, entry("random", [float(number) for number in expected], chance)
