"""LRA: local recoding of runs of similar rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, Integer
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDBJ_2011

if TYPE_CHECKING:
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.releases.published.recoding import LocalRecoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

ROWS_PER_PART = 5000  # where the number of parts is not given

info = AlgorithmInfo(
    title="Local recoding by parts (LRA)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Cuts the rows into parts of similar ones and anonymizes each by itself: for data too large at "
    "once.",
    reference="Terrovitis, Mamoulis, Kalnis, VLDB J. 20(1), 2011, doi:10.1007/s00778-010-0192-8",
    bibtex=VLDBJ_2011,
    recoding="local",
)


@dataclass(frozen=True)
class LRA(Declared):
    """The algorithm LRA (local recoding anonymization) and its parameters.

    Attributes
    ----------
    parts : int or None
        How many parts; None: one for each 5,000 rows with items. At most one for each k of them.
    inner : {"aa", "exact"}
        What each part is anonymized by: AA, or the proven optimum of LM with suppression.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.LRA(parts=2)).verdict.holds
    True
    """

    parts: int | None = parameter(
        Integer(1), "Parts of similar rows (default: one for each 5,000).", default=None
    )
    inner: Literal["aa", "exact"] = parameter(
        Choice(("aa", "exact")),
        "Algorithm for each part (default aa; exact with suppression).",
        default="aa",
    )


Parameters = LRA


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: LRA = LRA(),
    progress: Progress = silent,
) -> tuple[LocalRecoding, dict[str, Any]]:
    """Make the data k^m-anonymous by LRA.

    The rows that hold items are sorted so that similar ones are neighbours (see `_gray_order.gray_order`),
    cut into runs whose sizes differ by one at most, and each run is anonymized by itself: supports of labels
    add up over runs, and each summand is 0 or at least k.

    Returns
    -------
    recoding : LocalRecoding
        What each occurrence becomes, and the part of each row.
    details : dict
        The number of parts (`parts`), the rows of the smallest and the largest (`smallest`, `largest`), and
        `generalization_steps` of AA or the number of parts that are `proven` optimal. `suppressed`: the items
        that are suppressed in all rows.

    References
    ----------
    [1] Terrovitis, Mamoulis, Kalnis, "Local and global recoding methods for anonymizing set-valued data",
    VLDB Journal 20(1), 2011, doi:10.1007/s00778-010-0192-8
    """
    from setveil.methods.algorithms.lra._gray_order import gray_order
    from setveil.methods.algorithms.lra._parts import anonymize_parts, cut_evenly
    from setveil.releases.published.recoding import LocalRecoding

    guarantee.require_feasible(data)
    progress("sorting rows by similarity")
    order = gray_order(data)
    parts = cut_evenly(order, _number_of_parts(parameters.parts, order.size, guarantee.k))
    nodes, part_of_row, details = anonymize_parts(
        data, hierarchy, guarantee, parts, parameters.inner, progress
    )
    return LocalRecoding.from_nodes(hierarchy, nodes, part_of_row), details


def _number_of_parts(wanted: int | None, n_rows: int, k: int) -> int:
    """Choose the number of parts of this many rows, or refuse the one that is wanted."""
    most = max(n_rows // k, 1)
    if wanted is None:
        return max(1, min(n_rows // ROWS_PER_PART, most))
    if wanted > most:
        raise RequestError(
            f"{wanted:,} parts are too many: {n_rows:,} rows contain items, a part needs k = {k} of them.",
            hint=f"--parts {most} is the most that can be.",
        )
    return wanted
