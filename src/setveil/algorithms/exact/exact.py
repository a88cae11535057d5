"""The proven optimum: the least loss that a cut, with or without suppressed items, can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.algorithms import AlgorithmInfo
from setveil.algorithms.exact._parameters import Exact, Parameters
from setveil.progress import Progress, silent

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.guarantees.km import KmAnonymity
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.recoding import Recoding

__all__ = ["Exact", "Parameters", "anonymize", "bound", "info"]

info = AlgorithmInfo(
    title="Exact optimum",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Least loss of all cuts, by default with suppression, proven by an integer program.",
    reference="setveil, docs/exact.md; the model: VLDB 2008, section 3, doi:10.14778/1453856.1453874",
)


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Exact = Exact(),
    progress: Progress = silent,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous with the least possible loss.

    Returns
    -------
    recoding : Recoding
        From the cut.
    details : dict
        `optimality`: the loss, the proven lower bound, the gap; `suppressed`: the labels that are.

    Raises
    ------
    InfeasibleError
        If there are non-empty rows, but fewer than k; if items to keep cannot be kept; if less than the least
        necessary may be suppressed.
    HierarchyError
        If items are missing from the hierarchy.
    RequestError
        If an item to keep or to weigh does not exist.
    """
    from setveil.algorithms.exact._search import Search
    from setveil.published.recoding import Recoding

    guarantee.require_feasible(data)
    search = Search(data, hierarchy, guarantee, parameters, progress)
    optimality = search.run()
    nodes, suppressed = search.published()
    names = [hierarchy.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(hierarchy, nodes, suppressed)
    return recoding, {"optimality": optimality, "suppressed": names}


def bound(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Exact,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Find the least possible loss without making a release: the `optimality` of `anonymize`."""
    from setveil.algorithms.exact._search import Search

    return Search(data, hierarchy, guarantee, parameters, progress).run()
