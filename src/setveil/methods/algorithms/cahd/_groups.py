"""How CAHD forms groups: around each row with sensitive items, of rows that are near in band order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.kernels.rows import Ids, Ints, frozen, take_rows
from setveil.methods.algorithms.cahd._grouping_loops import form_groups
from setveil.methods.algorithms.cahd._watched import Watched

STEPS_AT_ONCE = 20_000_000  # items of candidates looked at between two signs of life


def find_groups(
    rows: tuple[Ints, Ids],
    sensitive: tuple[Ints, Ids],
    n_sensitive: int,
    order: Ints,
    p: int,
    alpha: int,
    progress: Progress = silent,
    watched: Watched | None = None,
) -> NDArray[np.int64]:
    """Form groups around the sensitive rows, in band order: Fig. 7 of [1].

    Candidates are the alpha * p nearest remaining rows before and after that share no sensitive item with the
    row; those with most quasi-identifiers in common are taken first, of equals the nearest in band order,
    then the earlier; one that shares a sensitive item with a row taken before is passed over. Each sensitive
    row is tried once. Groups are numbered in the order in which they were formed; the rows that remain are
    the last one.

    [1] Ghinita, Tao, Kalnis, ICDE 2008, section 4, doi:10.1109/ICDE.2008.4497480
    """
    n = order.size
    indptr, items = _between_empty_rows(take_rows(*rows, order))
    s_indptr, s_items = _between_empty_rows(take_rows(*sensitive, order))
    holder = np.repeat(np.arange(n + 2), np.diff(s_indptr))
    beyond = np.stack([holder - 1, holder + 1])
    links = np.tile(np.arange(n + 2), (2, 1))
    left = np.bincount(s_items, minlength=n_sensitive).astype(np.int64)  # line 1
    tried = frozen(np.unique(holder), np.int64)
    group = np.full(n + 2, -1, np.int64)
    n_items = int(items.max(initial=-1)) + 1
    state = np.array([0, 0, n, n_items], np.int64)  # line 2
    while state[0] < tried.size:  # line 3
        progress("forming groups", state[0] / tried.size)
        now = tried if watched is None else tried[: state[0] + 1]
        before = None if watched is None else group.copy()
        form_groups(
            indptr, items, s_indptr, s_items, now, links, beyond, left, group, state,
            p, min(alpha * p, n), STEPS_AT_ONCE,
        )  # fmt: skip
        if watched is not None and before is not None:
            watched.tried((indptr, items), (s_indptr, s_items), order, int(now[-1]), before, group, alpha * p)
    of_row = np.empty(n, np.int64)
    of_row[order] = np.where(group[1:-1] < 0, state[1], group[1:-1])  # line 13
    return of_row


def _between_empty_rows(rows: tuple[Ints, Ids]) -> tuple[Ints, Ids]:
    indptr, items = rows
    return frozen(np.concatenate((indptr[:1], indptr, indptr[-1:])), np.int64), items
