"""Signs of labels that depend on the rows that show them, and not on the order or the names of labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from setveil.rows.data.draws import scrambled
from setveil.rows.data.transactions import Transactions

_ROUNDS = 3
_A = np.uint64(0xBF58476D1CE4E5B9)


def signatures(rows: Transactions, named: Mapping[int, str]) -> list[tuple[int, int]]:
    """Find for each label its rows, negative, and a sign of the labels that these rows show with it.

    With few exceptions, two labels without a name in `named` have the same pair only if exchanging them gives
    the same rows: either order is then the same file. Names of other labels do not matter.
    """
    supports = rows.supports()
    sign = scrambled(supports.astype(np.uint64))
    for at, name in named.items():
        digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
        sign[at] = np.uint64(int.from_bytes(digest, "little"))
    of_row = np.repeat(np.arange(rows.n_rows), rows.row_lengths())
    for _ in range(_ROUNDS):
        row_sign = np.zeros(rows.n_rows, np.uint64)
        np.add.at(row_sign, of_row, scrambled(sign[rows.items]))
        beside = np.zeros(rows.n_items, np.uint64)
        np.add.at(beside, rows.items, scrambled(row_sign[of_row]))
        sign = scrambled(sign + _A * beside)
    return list(zip((-supports).tolist(), sign.tolist(), strict=True))
