"""Check the account of noisy counts from published files, which cannot prove how the noise was drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.values.numbers import as_json
from setveil.judges.guarantees.differential_privacy import DifferentialPrivacy
from setveil.judges.guarantees.verify import Verdict
from setveil.releases.published.block_files import PublishedBlocks

Entry = dict[str, Any]


@dataclass(frozen=True, repr=False)
class DifferentialPrivacyVerdict(Verdict):
    """The verdict on noisy counts: `holds` if the account adds up and the rows follow from the counts."""

    guarantee: DifferentialPrivacy
    holds: bool
    violations: int
    first: tuple[Entry, ...]
    spent: Fraction  # the cost of all lines together

    def found(self) -> dict[str, Any]:
        """Return what is spent."""
        return {"spent": as_json(self.spent)}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return list(self.first)


def verify_differential_privacy(
    published: PublishedBlocks,
    guarantee: DifferentialPrivacy,
    *,
    show: int = 10,
    progress: Progress = silent,
) -> DifferentialPrivacyVerdict:
    """Check the account of noisy blocks, and that their rows follow from the noisy counts.

    Each noisy line must have noise for what one row can change there: the number of rows by 1, each count by
    which items and pairs were chosen by 1 (a choice of n costs n times as much), and one cell of every block.
    Together they must cost no more than epsilon.
    """
    if not isinstance(published, PublishedBlocks):
        raise RequestError("Differential privacy is checked for noisy counts only.")
    progress("checking the account")
    spent = sum((epsilon for _, epsilon, _, _ in published.spent), Fraction(0))
    found: list[Entry] = []
    if spent > guarantee.epsilon:
        found.append({"kind": "epsilon", "found": as_json(spent), "need": as_json(guarantee.epsilon)})
    changes = {"rows": 1, "items": 1, "pairs": 1, "cells": len(published.blocks)}
    items = [item for block in published.blocks for item in block]
    times = {"items": len(items)}
    for what, epsilon, distance, scale in published.spent:
        change = changes.get(what, distance)
        if distance != change:
            found.append({"kind": "distance", "where": what, "found": distance, "need": change})
        # A little below is rounding: both are floating-point numbers as they are written.
        least = times.get(what, 1) * change / epsilon
        if Fraction(repr(scale)) < least * (1 - Fraction(1, 10**12)):
            found.append({"kind": "scale", "where": what, "found": scale, "need": float(least)})
    found += [
        {"kind": "distance", "where": what, "found": 0, "need": changes[what]}
        for what in sorted({"rows", "items", "cells"} - {line[0] for line in published.spent})
    ]
    found += [{"kind": "item", "where": x} for x, n in Counter(items).items() if n > 1]
    progress("checking rows")
    found += _rows(published)
    return DifferentialPrivacyVerdict(guarantee, not found, len(found), tuple(islice(found, show)), spent)


def _rows(published: PublishedBlocks) -> list[Entry]:
    """Compare the rows with what follows from the noisy counts."""
    number = max(published.noisy_rows, 0)
    rows = [frozenset(row) for row in published.rows.rows()]
    if len(rows) != number:
        return [{"kind": "rows", "where": "the file", "found": len(rows), "need": number}]
    found: list[Entry] = []
    published_items = {item for block in published.blocks for item in block}
    foreign = sum(not row <= published_items for row in rows)
    if foreign:
        found.append(
            {"kind": "rows", "where": "other items than those of the blocks", "found": foreign, "need": 0}
        )
    for block, cells in published.cells_of():
        inside = frozenset(block)
        counts = Counter(row & inside for row in rows)
        for c, need in enumerate(_expected(cells, number)):
            cell = frozenset(x for i, x in enumerate(block) if c >> i & 1)
            if counts[cell] != need:
                where = f"the cell {', '.join(sorted(cell)) or 'of none'} of {', '.join(block)}"
                found.append({"kind": "rows", "where": where, "found": counts[cell], "need": need})
    return found


def _expected(cells: tuple[int, ...], number: int) -> list[int]:
    """Scale noisy counts to this many rows: those below 0 are 0; the largest remainders are rounded up."""
    weights = [max(n, 0) for n in cells]
    if sum(weights) == 0:
        weights = [1 for _ in cells]
    shares = [Fraction(weight * number, sum(weights)) for weight in weights]
    out = [int(share) for share in shares]
    lacking = number - sum(out)
    order = sorted(range(len(cells)), key=lambda c: (out[c] - shares[c], c))
    return [n + (c in order[:lacking]) for c, n in enumerate(out)]
