"""Strict Mondrian: split a table again and again by the column that loses most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setveil.kernels.rows import Ints
from setveil.methods.algorithms.rt._splits import Splits


def mondrian(splits: Splits, parts: Sequence[Ints] | None = None) -> list[Ints]:
    """Split a table, or parts of one, until no split is allowed any more.

    A part is split by the column of greatest loss (its weight times NCP) that allows it, of equals the first.
    All ties are settled, so that the parts do not depend on the order of the rows. Parts are ascending rows,
    and in the order of their first rows.

    LeFevre, DeWitt, Ramakrishnan, "Mondrian Multidimensional k-Anonymity", ICDE 2006, section 3,
    doi:10.1109/ICDE.2006.101.
    """
    n = splits.table.n_rows
    waiting = [*parts] if parts is not None else [np.arange(n)] * bool(n)
    final = []
    while waiting:
        part = waiting.pop()
        losses = splits.losses(part)
        for a in sorted(range(len(losses)), key=lambda a: (-losses[a], a)):
            smaller = splits.by(a, part)
            if smaller is not None:
                waiting.extend(smaller)
                break
        else:
            final.append(part)
    return sorted(final, key=lambda part: int(part[0]))
