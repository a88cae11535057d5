"""Noisy blocks without their noise, word by word from the definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations

Row = frozenset[str]
Cells = dict[Row, int]


def support(rows: Iterable[Row], items: Iterable[str]) -> int:
    wanted = frozenset(items)
    return sum(wanted <= row for row in rows)


def best(counts: Sequence[tuple[str, ...]], rows: Sequence[Row], number: int) -> list[tuple[str, ...]]:
    """The sets in most rows, in their order where several are in as many."""
    return sorted(counts, key=lambda one: -support(rows, one))[:number]


def blocks(
    rows: Sequence[Row], universe: Sequence[str], items: int, pairs: int, size: int
) -> list[list[str]]:
    listed = [x for (x,) in best([(x,) for x in universe], rows, items)]
    together = [[x] for x in listed]
    for x, y in best(list(combinations(listed, 2)), rows, pairs):
        first = next(block for block in together if x in block)
        second = next(block for block in together if y in block)
        if first is not second and len(first) + len(second) <= size:
            together.remove(second)
            first.extend(second)
    alone = [block[0] for block in together if len(block) == 1]
    out = [block for block in together if len(block) > 1]
    out += [alone[i : i + size] for i in range(0, len(alone), size)]
    for block in out:
        block.sort(key=listed.index)
    return sorted(out, key=lambda block: listed.index(block[0]))


def subsets(block: Sequence[str]) -> list[Row]:
    return [
        frozenset(one) for one in chain.from_iterable(combinations(block, n) for n in range(len(block) + 1))
    ]


def cells(rows: Iterable[Row], block: Sequence[str]) -> Cells:
    listed = list(rows)
    return {cell: sum(row & frozenset(block) == cell for row in listed) for cell in subsets(block)}


def estimate(counted: Sequence[Cells], n: int, query: Iterable[str]) -> Fraction:
    left, out = set(query), Fraction(max(n, 0))
    for block in counted:
        inside = left & frozenset().union(*block)
        if inside and n > 0:
            out *= Fraction(max(0, sum(rows for cell, rows in block.items() if inside <= cell)), n)
        left -= inside
    return Fraction(0) if left else out


def dealt(counts: Sequence[int], number: int) -> list[int]:
    """Scale counts to a sum, none below 0; the rest goes one by one to the largest remainders."""
    weights = [max(0, n) for n in counts]
    if not sum(weights):
        weights = [1] * len(counts)
    shares = [Fraction(w * number, sum(weights)) for w in weights]
    out = [int(share) for share in shares]
    rest = [share - n for share, n in zip(shares, out, strict=True)]
    while sum(out) < number:
        at = max(range(len(out)), key=lambda c: (rest[c], -c))
        out[at] += 1
        rest[at] = Fraction(-1)
    return out
