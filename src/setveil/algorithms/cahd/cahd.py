"""CAHD: groups of similar rows around those that hold sensitive items."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from setveil.algorithms import AlgorithmInfo
from setveil.errors import RequestError
from setveil.fields import Integer, parameter
from setveil.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.data.transactions import Transactions
    from setveil.guarantees.privacydegree import PrivacyDegree
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.rows import Release

info = AlgorithmInfo(
    title="Correlation-aware anonymization of high-dimensional data (CAHD)",
    guarantees=("privacy-degree",),
    needs=(),
    summary="Groups similar rows around those with sensitive items; publishes all other items as they are.",
    reference="Ghinita, Tao, Kalnis, ICDE 2008, sections 3 and 4, doi:10.1109/ICDE.2008.4497480",
    minimizes="kl",
)


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

    alpha: int = parameter(
        Integer(1), "How far to look for similar rows, in multiples of p (default 3).", default=3
    )
    rounds: int = parameter(Integer(0), "Rounds of exchanges (default 3; 0: the paper's groups).", default=3)

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
    import numpy as np

    from setveil.algorithms.cahd._band import band_order, band_profile
    from setveil.algorithms.cahd._exchange import exchange_rows
    from setveil.algorithms.cahd._groups import find_groups, split

    guarantee.require_feasible(data)
    rows, sensitive, names = split(data, guarantee)
    order = band_order(*rows, data.n_items, progress)  # step 1
    group = find_groups(rows, sensitive, len(names), order, guarantee.p, parameters.alpha, progress)  # step 2
    group, exchanged = exchange_rows(rows, sensitive, order, group, guarantee.p, parameters.rounds, progress)
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
    import numpy as np

    from setveil.algorithms.cahd._band import content_order
    from setveil.algorithms.cahd._groups import split
    from setveil.data.transactions import Transactions
    from setveil.data.vocabulary import Vocabulary
    from setveil.kernels.rows import frozen, merge_rows, recode_rows, take_rows
    from setveil.published.groups import Grouping
    from setveil.published.rows import Release

    rows, sensitive, names = split(data, guarantee)
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
    s_group = np.repeat(group, np.diff(sensitive[0]))
    pairs, count = np.unique(s_group * len(names) + sensitive[1], return_counts=True)
    s_ends = np.searchsorted(pairs, np.arange(n_groups + 1) * len(names))
    item = pairs - np.repeat(np.arange(n_groups), np.diff(s_ends)) * len(names)
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
        names,
        frozen(number[group][order], np.int64),
        frozen(indptr, np.int64),
        frozen(item[wanted], np.int32),
        frozen(count[wanted], np.int64),
    )
    published = Transactions(*take_rows(*qid, order), labels)
    return Release(published, grouping, frozen(row_map, np.int64), details or {})
