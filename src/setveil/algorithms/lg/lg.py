"""LG: partitioning with local generalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.algorithms import AlgorithmInfo
from setveil.progress import Progress, silent

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.guarantees.kanonymity import TransactionalKAnonymity
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.recoding import LocalRecoding

info = AlgorithmInfo(
    title="Partitioning with local generalization (LG)",
    guarantees=("k-anonymity",),
    needs=("hierarchy",),
    summary="Makes whole rows equal, generalizing each as little as it can; an item may be published under "
    "several labels.",
    reference="He, Naughton, VLDB 2009, doi:10.14778/1687627.1687733",
    recoding="local",
)


@dataclass(frozen=True)
class LG:
    """The algorithm LG, which has no parameters of its own.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.TransactionalKAnonymity(2), algorithm=sv.LG()).verdict.holds
    True
    """


Parameters = LG


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: TransactionalKAnonymity,
    parameters: LG = LG(),
    progress: Progress = silent,
) -> tuple[LocalRecoding, dict[str, Any]]:
    """Make every row occur at least k times by LG (see `_partitioning.find_nodes`).

    Returns
    -------
    recoding : LocalRecoding
        What each occurrence becomes.
    details : dict
        See `find_nodes`.

    Raises
    ------
    InfeasibleError
        If there are rows with items but fewer than k, or rows without items but fewer than k.
    HierarchyError
        If items are missing from the hierarchy.
    """
    from setveil.algorithms.lg._partitioning import find_nodes
    from setveil.published.recoding import LocalRecoding

    guarantee.require_feasible(data)
    nodes, details = find_nodes(data, hierarchy, guarantee.k, progress)
    return LocalRecoding.from_nodes(hierarchy, nodes), details
