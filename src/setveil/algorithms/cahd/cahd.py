"""CAHD: groups of similar rows around those that hold sensitive items."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms import AlgorithmInfo
from setveil.algorithms.cahd._band import band_order, band_profile
from setveil.algorithms.cahd._exchange import exchange_rows
from setveil.algorithms.cahd._grouping_loops import form_groups
from setveil.data.transactions import Transactions
from setveil.errors import RequestError
from setveil.guarantees.privacydegree import PrivacyDegree
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, Ints, frozen, take_rows
from setveil.progress import Progress, silent
from setveil.published.groups import RowGroups, split

info = AlgorithmInfo(
    title="Correlation-aware anonymization of high-dimensional data (CAHD)",
    guarantees=("privacy-degree",),
    needs=(),
    summary="Groups similar rows around those with sensitive items; publishes all other items as they are.",
    reference="Ghinita, Tao, Kalnis, ICDE 2008, sections 3 and 4, doi:10.1109/ICDE.2008.4497480",
    minimizes="kl",
)

_STEPS = 20_000_000  # items of candidates looked at between two signs of life


@dataclass(frozen=True)
class Parameters:
    """Parameters of CAHD.

    Attributes
    ----------
    alpha : int
        The rows of a group are chosen among alpha * p rows before and as many after a sensitive row. At
        least 1.
    rounds : int
        How often to go over all groups to exchange rows for left-over ones where that lowers the
        reconstruction error, at most. 0: the groups as the paper forms them.
    """

    alpha: int = 3
    rounds: int = 3

    def __post_init__(self) -> None:
        for name, least in (("alpha", 1), ("rounds", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise RequestError(f"{name} must be an integer of at least {least}, got {value!r}.")
            object.__setattr__(self, name, int(value))


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: PrivacyDegree,
    parameters: Parameters = Parameters(),
    progress: Progress = silent,
) -> tuple[RowGroups, dict[str, Any]]:
    """Form groups of rows in which no sensitive item is in more than one row of p.

    Parameters
    ----------
    data : Transactions
        The rows.
    hierarchy : None
        Not used: no item is generalized.
    guarantee : PrivacyDegree
        p and the sensitive items.
    parameters : Parameters
        CAHD's own parameters.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    groups : RowGroups
        The group of each row.
    details : dict
        The `bandwidth` and `profile` before and after reordering, the number of `groups`, the
        `remaining_rows` that form no group of p, and how many `exchanges` there were.

    Raises
    ------
    InfeasibleError
        If a sensitive item is in more than one row of p.
    DataError
        If a sensitive item does not occur in the data.
    RequestError
        If no item is sensitive, or all are.
    """
    guarantee.require_feasible(data)
    rows, hidden, sensitive = split(data, guarantee.sensitive)
    order = band_order(*rows, data.n_items, progress)  # step 1
    group = find_groups(
        rows, hidden, len(sensitive), order, guarantee.p, parameters.alpha, progress
    )  # step 2
    group, exchanged = exchange_rows(rows, hidden, order, group, guarantee.p, parameters.rounds, progress)
    sizes = np.bincount(group)
    before, after = (band_profile(*rows, data.n_items, o, 1) for o in (np.arange(data.n_rows), order))
    details: dict[str, Any] = {
        "bandwidth": {"input": before.bandwidth, "band_order": after.bandwidth},
        "profile": {"input": before.profile, "band_order": after.profile},
        "groups": sizes.size,
        "remaining_rows": int(sizes[-1]) if sizes.size and sizes[-1] != guarantee.p else 0,
        "exchanges": exchanged,
    }
    return RowGroups(guarantee.sensitive, group), details


def find_groups(
    rows: tuple[Ints, Ids],
    hidden: tuple[Ints, Ids],
    n_sensitive: int,
    order: Ints,
    p: int,
    alpha: int,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Form groups around the sensitive rows, in band order: Fig. 7 of [1].

    Candidates are the alpha * p nearest remaining rows before and after that share no sensitive item with
    the row; those with most quasi-identifiers in common are taken first, of equals the nearest in band order,
    then the earlier; one that shares a sensitive item with a row taken before is passed over. Each sensitive
    row is tried once.

    Parameters
    ----------
    rows, hidden : (indptr, items)
        Quasi-identifiers and sensitive items of each row (see `split`).
    n_sensitive : int
        Number of sensitive items.
    order : int64 (n,)
        The rows in band order.
    p, alpha : int
        See above.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    int64 (n,)
        Group of each row, by the order in which they were formed; the rows that remain are the last one.

    References
    ----------
    [1] Ghinita, Tao, Kalnis, ICDE 2008, section 4, doi:10.1109/ICDE.2008.4497480
    """
    n = order.size
    indptr, items = _between_empty_rows(take_rows(*rows, order))
    s_indptr, s_items = _between_empty_rows(take_rows(*hidden, order))
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
        form_groups(
            indptr, items, s_indptr, s_items, tried, links, beyond, left, group, state,
            p, min(alpha * p, n), _STEPS,
        )  # fmt: skip
    of_row = np.empty(n, np.int64)
    of_row[order] = np.where(group[1:-1] < 0, state[1], group[1:-1])  # line 13
    return of_row


def _between_empty_rows(rows: tuple[Ints, Ids]) -> tuple[Ints, Ids]:
    indptr, items = rows
    return frozen(np.concatenate((indptr[:1], indptr, indptr[-1:])), np.int64), items
