"""CAHD: groups of similar rows around those that hold sensitive items."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms import AlgorithmInfo
from setveil.algorithms.cahd._band_order import band_order, band_profile, content_order
from setveil.algorithms.cahd._exchange import exchange_rows
from setveil.algorithms.cahd._grouping_loops import form_groups
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import RequestError
from setveil.guarantees.privacydegree import PrivacyDegree
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, recode_rows, take_rows
from setveil.progress import Progress, silent
from setveil.published.groups import Grouping
from setveil.published.rows import Release

info = AlgorithmInfo(
    title="Correlation-aware anonymization of high-dimensional data (CAHD)",
    guarantees=("privacy-degree",),
    needs=(),
    summary="Groups similar rows around those with sensitive items; publishes all other items as they are.",
    reference="Ghinita, Tao, Kalnis, ICDE 2008, sections 3 and 4, doi:10.1109/ICDE.2008.4497480",
    minimizes="kl",
)

STEPS_AT_ONCE = 20_000_000  # items of candidates looked at between two signs of life


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
    seed: int = 0,
    progress: Progress = silent,
) -> Release:
    """Publish rows in groups in which no sensitive item is in more than one row of p.

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
    seed : int
        Shuffles the groups and the rows in them; which rows form a group does not depend on it.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    Release
        Its `published` are the quasi-identifiers, its `recoding` is the `Grouping`.

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
    rows, hidden, sensitive = split(data, guarantee)
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
    return publish(data, guarantee, group, seed, details)


def split(
    data: Transactions, guarantee: PrivacyDegree
) -> tuple[tuple[Ints, Ids], tuple[Ints, Ids], Vocabulary]:
    """Take the rows apart.

    Returns
    -------
    rows : (indptr, items)
        The quasi-identifiers of each row, as items of the data.
    hidden : (indptr, items)
        The sensitive items of each row, as positions in `sensitive`.
    sensitive : Vocabulary
        The sensitive items that occur, in item order.
    """
    named = set(guarantee.sensitive)
    is_sensitive = np.array([label in named for label in data.vocabulary.labels], bool)
    each = np.arange(data.n_items, dtype=np.int32)
    rows = recode_rows(data.indptr, data.items, np.where(is_sensitive, np.int32(-1), each))
    place = np.where(is_sensitive, np.cumsum(is_sensitive, dtype=np.int32) - np.int32(1), np.int32(-1))
    hidden = recode_rows(data.indptr, data.items, place)
    return rows, hidden, Vocabulary(label for label in data.vocabulary.labels if label in named)


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
            p, min(alpha * p, n), STEPS_AT_ONCE,
        )  # fmt: skip
    of_row = np.empty(n, np.int64)
    of_row[order] = np.where(group[1:-1] < 0, state[1], group[1:-1])  # line 13
    return of_row


def _between_empty_rows(rows: tuple[Ints, Ids]) -> tuple[Ints, Ids]:
    indptr, items = rows
    return frozen(np.concatenate((indptr[:1], indptr, indptr[-1:])), np.int64), items


def publish(
    data: Transactions,
    guarantee: PrivacyDegree,
    group: NDArray[np.int64],
    seed: int = 0,
    details: dict[str, Any] | None = None,
) -> Release:
    """Publish groups, and the rows in them, in an order that reveals nothing.

    As `Release.make` does it: both are sorted by what is published of them and then shuffled, so that who
    undoes the shuffle finds the sorted order, not that of the input.

    Parameters
    ----------
    data, guarantee
        The rows, and what is sensitive in them.
    group : int64 (n,)
        Group of each row, from 0, no number left out.
    seed, details
        See `Release.make`.
    """
    rows, hidden, sensitive = split(data, guarantee)
    n = data.n_rows
    used = np.bincount(rows[1], minlength=data.n_items) > 0
    image = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    labels = Vocabulary(label for label, u in zip(data.vocabulary.labels, used, strict=True) if u)
    qid = recode_rows(*rows, image)

    # Number the groups by content: their rows, then their counts.
    merged, first, _ = merge_rows(*qid)
    place = np.empty(first.size, np.int64)
    place[content_order(*take_rows(*qid, first))] = np.arange(first.size)
    kind = place[merged]
    n_groups = int(group.max(initial=-1)) + 1
    sizes = np.bincount(group, minlength=n_groups)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    content = kind[np.lexsort((kind, group))].astype(">i8").tobytes()
    s_group = np.repeat(group, np.diff(hidden[0]))
    pairs, count = np.unique(s_group * len(sensitive) + hidden[1], return_counts=True)
    s_ends = np.searchsorted(pairs, np.arange(n_groups + 1) * len(sensitive))
    item = pairs - np.repeat(np.arange(n_groups), np.diff(s_ends)) * len(sensitive)
    counts = np.stack([item, count], axis=1).astype(">i8").tobytes()
    at, s_at = (8 * starts).tolist(), (16 * s_ends).tolist()
    by_content = sorted(
        range(n_groups), key=lambda g: (content[at[g] : at[g + 1]], counts[s_at[g] : s_at[g + 1]])
    )

    # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
    random = np.random.PCG64(seed).random_raw(n_groups + n)
    shuffled = np.array(by_content, np.int64)[np.argsort(random[:n_groups], kind="stable")]
    number = np.empty(n_groups, np.int64)
    number[shuffled] = np.arange(n_groups)
    in_order = np.lexsort((kind, number[group]))
    order = in_order[np.lexsort((random[n_groups:], number[group][in_order]))]

    row_map = np.empty(n, np.int64)
    row_map[order] = np.arange(n)
    wanted = np.repeat(s_ends[shuffled], np.diff(s_ends)[shuffled])
    indptr = np.concatenate(([0], np.cumsum(np.diff(s_ends)[shuffled])))
    wanted += np.arange(pairs.size) - np.repeat(indptr[:-1], np.diff(indptr))
    grouping = Grouping(
        data.vocabulary,
        sensitive,
        frozen(number[group][order], np.int64),
        frozen(indptr, np.int64),
        frozen(item[wanted], np.int32),
        frozen(count[wanted], np.int64),
    )
    published = Transactions(*take_rows(*qid, order), labels)
    return Release(published, grouping, frozen(row_map, np.int64), details or {})
