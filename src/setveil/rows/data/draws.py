"""Draws of rows by their content and a seed, so that the order of the input decides nothing."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions

_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_keys(data: Transactions, seed: int, purpose: str = "") -> NDArray[np.uint64]:
    """Draw a number for each row, from its texts, the seed and the purpose: uint64 (n_rows,).

    Equal rows are counted and get different numbers. The order of the input's lines does not matter.

    >>> from setveil import Transactions
    >>> one = Transactions.from_rows([["tea"], ["milk", "tea"], ["tea"]])
    >>> two = Transactions.from_rows([["tea"], ["tea"], ["milk", "tea"]])
    >>> sorted(row_keys(one, 7)) == sorted(row_keys(two, 7))
    True
    """
    content = _content(data, *_label_numbers(data, seed, purpose))
    order = np.argsort(content, kind="stable")
    begins = np.searchsorted(content[order], content[order])
    content[order] += scrambled((np.arange(order.size) - begins).astype(np.uint64))
    return scrambled(content)


def occurrence_keys(data: Transactions, seed: int, purpose: str = "") -> NDArray[np.uint64]:
    """Draw a number for each occurrence, from the texts of its row alone: equal rows get equal numbers.

    >>> from setveil import Transactions
    >>> data = Transactions.from_rows([["tea"], ["milk", "tea"], ["tea"]])
    >>> keys = occurrence_keys(data, 7).tolist()
    >>> keys[0] == keys[3], keys[0] == keys[2]
    (True, False)
    """
    labels, secret = _label_numbers(data, seed, purpose)
    of_row = scrambled(_content(data, labels, secret))
    return scrambled(np.repeat(of_row, np.diff(data.indptr)) + labels[data.items])


def _label_numbers(data: Transactions, seed: int, purpose: str) -> tuple[NDArray[np.uint64], bytes]:
    """Draw a number for each label, and a key for the numbers of other texts."""
    secret = blake2b(f"{seed}:{purpose}".encode()).digest()
    return _numbers(data.vocabulary.labels, secret, ""), secret


def _content(data: Transactions, labels: NDArray[np.uint64], secret: bytes) -> NDArray[np.uint64]:
    """Draw a number for each row, the same for equal rows."""
    ends = np.concatenate((np.zeros(1, np.uint64), np.cumsum(labels[data.items], dtype=np.uint64)))
    content: NDArray[np.uint64] = ends[data.indptr[1:]] - ends[data.indptr[:-1]] + _numbers([""], secret, "")
    for column in data.value_columns:
        content += _numbers(column.labels, secret, column.name)[column.codes]
    return content


def _numbers(texts: list[str] | tuple[str, ...], secret: bytes, name: str) -> NDArray[np.uint64]:
    start = blake2b(name.encode(errors="surrogatepass"), key=secret, digest_size=8)
    digests = []
    for text in texts:
        one = start.copy()
        one.update(b"\0" + text.encode(errors="surrogatepass"))
        digests.append(one.digest())
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble numbers (the finalizer of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _A
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _B
    return numbers ^ (numbers >> np.uint64(31))
