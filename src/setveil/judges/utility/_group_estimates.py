"""Answers to COUNT queries about groups of codes: rows with at least one code of E11, say (docs/query.md).

A label whose items are all in the group is sure, one with some of them is possible: this gives bounds.
Estimates are as in `setveil.judges.utility.estimates`, by inclusion and exclusion over the parts of a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.judges.utility._label_shares import LabelPlaces
from setveil.rows.data.transactions import Transactions

_MOST_PARTS = 8  # 2^8 sums over the rows
_Floats: TypeAlias = NDArray[np.float64]


class Bounded(NamedTuple):
    """An estimate with bounds."""

    estimate: float
    least: int
    greatest: int


def answer_groups(places: LabelPlaces, rows: Transactions, parts: Sequence[Sequence[int]]) -> Bounded:
    """Answer one query whose parts, each the places of its items, are items, labels or groups."""
    if len(parts) > _MOST_PARTS:
        raise RequestError(
            f"A query with groups has {len(parts)} parts, expected at most {_MOST_PARTS}.",
            hint="Ask for fewer items and groups together.",
        )
    estimate = sum(
        (-1) ** size * _rows_without(places, rows, np.unique(np.concatenate([[], *chosen]).astype(np.int64)))
        for size in range(len(parts) + 1)
        for chosen in combinations(parts, size)
    )
    least, greatest = _bounds(places, rows, parts)
    return Bounded(float(np.clip(estimate, least, greatest)), least, greatest)


def _rows_without(places: LabelPlaces, rows: Transactions, absent: NDArray[np.int64]) -> float:
    """Expect how many rows contain no item at some places."""
    none, chance = places.sizes.size - 1, places.chances
    items, named = absent[places.is_item[absent]], absent[~places.is_item[absent]]
    under, share = places.label[items], places.share[items]
    # Items with shares s of a label's rows are independent with probabilities c s, given that one is there
    # (chance c). All are absent with probability 1 - (1 - prod(1 - c s)) / c; 1 - sum(s) if c is 0.
    logs, shares = np.zeros(none + 1), np.zeros(none + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.add.at(logs, under, np.log1p(-np.minimum(share * chance[under], 1)))
        expected = np.where(chance > 0, 1 + np.expm1(logs) / chance, 1.0)
    np.add.at(shares, under, share)
    expected = np.clip(np.where(chance > 0, expected, 1 - shares), 0, 1)
    expected[places.label[named]] = 0
    elsewhere = np.prod(1 - np.minimum(share[under == none], 1))
    return float(elsewhere * _products(rows, expected[:none]).sum())


def _bounds(places: LabelPlaces, rows: Transactions, parts: Sequence[Sequence[int]]) -> tuple[int, int]:
    n_labels = places.sizes.size - 1
    members = np.bincount(places.label[places.is_item], minlength=n_labels + 1)
    surely, perhaps = np.ones(rows.n_rows, bool), np.ones(rows.n_rows, bool)
    elsewhere, least, greatest = 0, 0, rows.n_rows
    for part in parts:
        at = np.array(part, np.int64)
        items = at[places.is_item[at]]
        listed = np.bincount(places.label[items], minlength=n_labels + 1)
        named = np.bincount(places.label[at[~places.is_item[at]]], minlength=n_labels + 1) > 0
        sure = named | ((listed > 0) & (listed == members))
        surely &= _any(rows, sure[:n_labels])
        perhaps &= _any(rows, (named | (listed > 0))[:n_labels])
        elsewhere += int(places.high[at[places.label[at] == n_labels]].sum())
        greatest = min(greatest, int(places.high[at].sum()))
        if len(parts) == 1:
            least = int(places.low[at].max(initial=0))
    least = max(least, int(surely.sum()))
    greatest = min(greatest, int(perhaps.sum()) + elsewhere)
    return least, max(least, greatest)


def _any(rows: Transactions, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the rows that show one of some labels: bool (rows,)."""
    return np.equal(_products(rows, (~chosen).astype(np.float64)), 0.0)


def _products(rows: Transactions, factors: _Floats) -> _Floats:
    """Multiply the factors of the labels of each row: float64 (rows,)."""
    products = np.ones(rows.n_rows)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        products[filled] = np.multiply.reduceat(factors[rows.items], rows.indptr[filled])
    return products
