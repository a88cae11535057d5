"""Rows in the order of the reflected Gray code, in which similar rows are neighbours."""

from __future__ import annotations

import numpy as np

from setveil.kernels.content import content_order
from setveil.kernels.rows import Ints, frozen, ranks_of, recode_rows
from setveil.rows.data.transactions import Transactions


def gray_order(data: Transactions) -> Ints:
    """Sort the rows that hold items by the rank of their bit vectors in the reflected Gray code.

    The bits are the items by decreasing support, ties in item order; the first is the most significant. Bit i
    of the rank is the parity of bits 0..i of the row. Neither is ever built: where p1 < p2 < ... are the bits
    of a row, ranks compare like the sequences (-p1, +p2, -p3, ...), closed by minus infinity if there is an
    even number of bits, by plus infinity if there is an odd number. For at the first bit that only one of two
    rows has, the rank of this row is the greater one if they had an even number of bits before it, and the
    lesser one otherwise. Equal rows are in order of their numbers.
    """
    n = data.n_items
    order = np.argsort(-data.supports(), kind="stable")
    indptr, bits = recode_rows(data.indptr, data.items, ranks_of(order, n))
    lengths = np.diff(indptr)

    # As numbers that are never negative, with one more for the end of each row.
    ends = indptr[1:] + np.arange(lengths.size)
    starts = indptr[:-1] + np.arange(lengths.size)
    signed = np.empty(bits.size + lengths.size, np.int32)
    inside = np.ones(signed.size, bool)
    inside[ends] = False
    odd = ((np.flatnonzero(inside) - np.repeat(starts, lengths)) % 2).astype(bool)
    signed[inside] = np.where(odd, bits + 1, n - bits)
    signed[ends] = np.where(lengths % 2, n + 1, 0)
    keys = frozen(np.append(starts, signed.size), np.int64), frozen(signed, np.int32)
    rows = content_order(*keys)
    return frozen(rows[lengths[rows] > 0], np.int64)
