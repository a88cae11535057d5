"""What publishing values together loses, prepared for compiled loops and exact at any size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import Ids, Ints, frozen
from setveil.methods.algorithms.rt._extent_loops import interval_losses, joined_scores
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
from setveil.rows.tables.table import Table

_HIERARCHY, _RANGES, _RANGES_AND_MISSING = range(3)


class Extents:
    """The columns of a table as the loops of `_extent_loops` take them: `geometry` is their first arguments.

    A loss is a numerator, of `n_digits` digits of `bits` bits: the sum over rows is R * n_rows * unit_total.
    """

    def __init__(self, table: Table) -> None:
        columns = table.columns
        # A digit times the number of rows, and a sum of digits over the columns, stay below 2^62.
        self.bits = 60 - max(table.n_rows.bit_length(), len(columns).bit_length())
        self.n_digits = max(1, -(-table.unit_total.bit_length() // self.bits))
        units = table.units
        each = [_losses(column) for column in columns]
        nodes = [0, *(len(some) for some in each)]
        losses = [unit * loss for unit, some in zip(units, each, strict=True) for loss in some]
        full = [unit * column.full for unit, column in zip(units, columns, strict=True)]
        self._workspace = np.empty(max((column.n_values for column in columns), default=0), np.int64)
        self.geometry = (
            frozen(np.cumsum(nodes), np.int64),
            _joined([_parent(column) for column in columns]),
            _joined([_twice(column, column.low) for column in columns]),
            _joined([_twice(column, column.high) for column in columns]),
            self._all_digits(losses),
            self._all_digits(full),
            frozen([_kind(column) for column in columns], np.int64),
        )

    def digits(self, number: int) -> Ints:
        """Write an integer as digits, with its sign on the last: int64 (n_digits,)."""
        out = []
        for _ in range(self.n_digits - 1):
            out.append(number & ((1 << self.bits) - 1))
            number >>= self.bits
        return np.array([*out, max(-(1 << 62), min(number, 1 << 62))], np.int64)

    def number(self, digits: Iterable[int]) -> int:
        """Read digits as an integer."""
        return sum(int(digit) << (self.bits * j) for j, digit in enumerate(digits))

    def losses(self, least: Ids, greatest: Ids) -> Ints:
        """Compute what one row of each part loses, by its first and last values: int64 (parts, n_digits)."""
        out = np.zeros((least.shape[1], self.n_digits), np.int64)
        interval_losses(*self.geometry, self.bits, least, greatest, out)
        return out

    def scores(self, least: Ids, greatest: Ids, sizes: Ints, own: Ints, c: int, others: Ints) -> Ints:
        """Compute what part c and each other part lose together, less what one row of the other loses now."""
        out = np.zeros((others.size, self.n_digits), np.int64)
        joined_scores(*self.geometry, self.bits, least, greatest, sizes, own, c, others, self._workspace, out)
        return out

    def _all_digits(self, numbers: list[int]) -> Ints:
        if self.n_digits == 1:
            return frozen(np.array(numbers, np.int64).reshape(-1, 1), np.int64)
        digits = [self.digits(number) for number in numbers]
        return frozen(np.array(digits, np.int64).reshape(-1, self.n_digits), np.int64)


def ascending(digits: Ints) -> NDArray[np.int64]:
    """Order losses (n, n_digits), the least first; equal ones stay in order."""
    if digits.shape[1] == 1:
        return np.argsort(digits[:, 0], kind="stable")
    return np.lexsort(digits.T)


def at_most(digits: Ints, limit: Ints) -> NDArray[np.bool_]:
    """Tell which losses (n, n_digits) do not exceed a limit."""
    out = np.ones(len(digits), bool)
    for column, most in zip(digits.T, limit.tolist(), strict=True):
        out = (column < most) | ((column == most) & out)
    return out


def _losses(column: QuasiIdentifier) -> list[int]:
    """List what each node loses; of ranges where each value ends, and then where each begins."""
    if column.parent is not None:
        return list(column.extent.tolist())
    begins, ends = column.positions
    return [*ends.tolist(), *begins.tolist()]


def _twice(column: QuasiIdentifier, nodes: Ids) -> Ids:
    return nodes if column.parent is not None else np.tile(nodes, 2)


def _parent(column: QuasiIdentifier) -> Ids:
    return np.full(2 * column.low.size, -1, np.int32) if column.parent is None else column.parent


def _kind(column: QuasiIdentifier) -> int:
    if column.parent is not None:
        return _HIERARCHY
    return _RANGES_AND_MISSING if column.missing else _RANGES


def _joined(parts: list[Ids]) -> Ids:
    return frozen(np.concatenate([np.zeros(0, np.int32), *parts]), np.int32)
