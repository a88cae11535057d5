"""CAHD: groups of similar rows around those that hold sensitive items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Integer
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import ICDE_2008

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.privacydegree import PrivacyDegree
    from setveil.releases.published.groups import RowGroups
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Correlation-aware anonymization of high-dimensional data (CAHD)",
    guarantees=("privacy-degree",),
    needs=(),
    summary="Groups similar rows around those with sensitive items; publishes all other items as they are.",
    reference="Ghinita, Tao, Kalnis, ICDE 2008, sections 3 and 4, doi:10.1109/ICDE.2008.4497480",
    bibtex=ICDE_2008,
    minimizes="kl",
    recoding="local",
)


@dataclass(frozen=True)
class CAHD(Declared):
    """The algorithm CAHD and its parameters.

    Attributes
    ----------
    alpha : int
        The rows of a group are chosen among alpha * p rows before and as many after a sensitive row. At
        least 1.
    rounds : int
        How often to go over all groups to exchange rows for left-over ones where that lowers the
        reconstruction error, at most. 0: the groups as the paper forms them.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.PrivacyDegree(2, ["tea"]), algorithm=sv.CAHD(alpha=2)).verdict.holds
    True
    """

    alpha: int = parameter(
        Integer(1), "How far to look for similar rows, in multiples of p (default 3).", default=3
    )
    rounds: int = parameter(
        Integer(0), "Rounds of exchanges (default 3; 0: the paper's groups).", default=3, published=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "rounds"):
            object.__setattr__(self, name, int(getattr(self, name)))


Parameters = CAHD


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: PrivacyDegree,
    parameters: CAHD = CAHD(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[RowGroups, dict[str, Any]]:
    """Form groups of rows in which no sensitive item is in more than one row of p.

    Details: the `bandwidth`, `total_bandwidth` (U + L + 1) and `profile` before and after reordering, the
    number of `groups`, the `remaining_rows` that form no group of p, and how many `exchanges` there were.
    """
    import numpy as np

    from setveil.kernels.content import content_order
    from setveil.kernels.rows import take_rows
    from setveil.methods.algorithms.cahd._band_order import band_order, band_profile
    from setveil.methods.algorithms.cahd._exchange import exchange_rows
    from setveil.methods.algorithms.cahd._groups import find_groups
    from setveil.methods.algorithms.cahd._watched import Watched
    from setveil.releases.published.groups import RowGroups, split

    guarantee.require_feasible(data)
    in_input, s_in_input, names = split(data, guarantee.sensitive)
    # What follows breaks ties by the rows' numbers, so these go by content, not by the order of the input.
    by_content = content_order(data.indptr, data.items)
    rows, sensitive = take_rows(*in_input, by_content), take_rows(*s_in_input, by_content)
    order = band_order(*rows, data.n_items, progress)  # step 1
    watched = None if trace is None else Watched(trace, by_content, data.vocabulary.labels)
    group = find_groups(  # step 2
        rows, sensitive, len(names), order, guarantee.p, parameters.alpha, progress, watched
    )
    formed = group
    group, exchanged = exchange_rows(rows, sensitive, order, group, guarantee.p, parameters.rounds, progress)
    if watched is not None:
        watched.exchanged(formed, group)
    sizes = np.bincount(group)
    before = band_profile(*in_input, data.n_items, np.arange(data.n_rows), 1)
    after = band_profile(*rows, data.n_items, order, 1)
    of_row = np.empty(data.n_rows, np.int64)
    of_row[by_content] = group
    details: dict[str, Any] = {
        "bandwidth": {"input": before.bandwidth, "band_order": after.bandwidth},
        "total_bandwidth": {"input": before.total, "band_order": after.total},
        "profile": {"input": before.profile, "band_order": after.profile},
        "groups": sizes.size,
        "remaining_rows": int(sizes[-1]) if sizes.size and sizes[-1] != guarantee.p else 0,
        "exchanges": exchanged,
    }
    return RowGroups(guarantee.secrets, of_row), details
