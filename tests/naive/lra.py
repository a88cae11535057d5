"""LRA straight from its definition: bit vectors, their ranks in the Gray code, runs, AA in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, pairwise

from naive import anonymize as naive
from naive.anonymize import Tree, leaves, up_from
from naive.km import Rows, item_order

Image = Mapping[str, str | None]


def bits_of(rows: Rows) -> list[str]:
    """List the items that occur by decreasing support, ties in item order."""
    support = Counter(chain.from_iterable(rows))
    return sorted(item_order(support), key=lambda item: -support[item])  # stable


def gray_rank(row: frozenset[str], bits: Sequence[str]) -> int:
    """Read the Gray code of a row as a number: bit i of it is the parity of the row's bits 0..i."""
    rank = parity = 0
    for item in bits:
        parity ^= item in row
        rank = 2 * rank + parity
    return rank


def gray_order(rows: Rows) -> list[int]:
    """List the rows that hold items, similar ones next to each other."""
    bits = bits_of(rows)
    return sorted((i for i, row in enumerate(rows) if row), key=lambda i: (gray_rank(rows[i], bits), i))


def default_parts(n: int, k: int) -> int:
    return max(1, min(n // 5000, n // k))


def runs(order: Sequence[int], parts: int) -> list[list[int]]:
    """Cut an order into runs; the first len % parts runs have a row more."""
    size, longer = divmod(len(order), parts)
    bounds = [0]
    for i in range(parts):
        bounds.append(bounds[-1] + size + (i < longer))
    return [list(order[a:b]) for a, b in pairwise(bounds)]


def lra(rows: Rows, tree: Tree, k: int, m: float, parts: int) -> list[tuple[list[int], Image]]:
    """List the rows of each part, and what AA makes of each item there."""
    out: list[tuple[list[int], Image]] = []
    for run in runs(gray_order(rows), parts):
        cut = naive.aa([rows[i] for i in run], tree, k, m)
        out.append((run, naive.image(tree, cut)))
    return out


def published(rows: Rows, recoded: Sequence[tuple[list[int], Image]]) -> list[frozenset[str]]:
    """Publish each row by the recoding of its part; rows in none are empty."""
    out = [frozenset[str]()] * len(rows)
    for run, image in recoded:
        for i in run:
            out[i] = frozenset(to for item in rows[i] if (to := image[item]) is not None)
    return out


def loss(rows: Rows, tree: Tree, recoded: Sequence[tuple[list[int], Image]], *, lm: bool = False) -> Fraction:
    """Average NCP, or LM, of the original occurrences: each costs what its own label costs."""
    items = leaves(tree)
    under = Counter(node for leaf in items for node in up_from(tree, leaf))
    lost, n = Fraction(0), 0
    for run, image in recoded:
        for item in chain.from_iterable(rows[i] for i in run):
            to, n = image[item], n + 1
            if to is None:
                lost += 1
            elif under[to] > 1:
                lost += Fraction(under[to] - lm, len(items) - lm)
    return lost / n if n else lost
