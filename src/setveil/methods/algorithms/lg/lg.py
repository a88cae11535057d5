"""LG: partitioning with local generalization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDB_2009

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
    from setveil.judges.guarantees.km_rho import KmRho
    from setveil.releases.published.recoding import LocalRecoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Partitioning with local generalization (LG)",
    guarantees=("k-anonymity", "km-rho"),
    needs=("hierarchy",),
    summary="Makes whole rows equal, generalizing each as little as it can; an item may be published under "
    "several labels. Enough equal rows differ in sensitive items that none can be inferred.",
    reference="He, Naughton, VLDB 2009, doi:10.14778/1687627.1687733",
    bibtex=VLDB_2009,
    recoding="local",
)


@dataclass(frozen=True)
class LG:
    """The algorithm LG, which has no parameters.

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
    guarantee: TransactionalKAnonymity | KmRho,
    parameters: LG = LG(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[LocalRecoding, dict[str, Any]]:
    """Make every row occur at least k times by LG (see `_partitioning.find_nodes`).

    For (k,rho)^m-anonymity that is done without the sensitive items, and some rows then lose these (see
    `_sensitive_cap.hidden_in_parts`).

    Details: see `find_nodes`; with sensitive items, `hidden` (suppressed occurrences of each) and `warnings`.
    """
    from setveil.judges.guarantees.km_rho import KmRho
    from setveil.methods.algorithms.lg._partitioning import find_nodes
    from setveil.releases.published.recoding import LocalRecoding

    if isinstance(guarantee, KmRho):
        return _with_sensitive(data, hierarchy, guarantee, progress, trace)
    guarantee.require_feasible(data)
    nodes, _, details = find_nodes(data, hierarchy, guarantee.k, progress, trace)
    return LocalRecoding.from_nodes(hierarchy, nodes), details


def _with_sensitive(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmRho,
    progress: Progress,
    trace: Trace | None = None,
) -> tuple[LocalRecoding, dict[str, Any]]:
    import numpy as np

    from setveil.base.errors import RequestError
    from setveil.judges.guarantees.km_rho import PUBLIC
    from setveil.kernels.rows import frozen
    from setveil.methods.algorithms._content_order import in_content_order
    from setveil.methods.algorithms._public_part import PublicPart
    from setveil.methods.algorithms.lg._partitioning import find_nodes
    from setveil.methods.algorithms.lg._sensitive_cap import hidden_in_parts

    if guarantee.knows != PUBLIC:
        raise RequestError(
            "lg gives (k,rho)^m-anonymity only against those who know public items.",
            hint="Choose exact for those who know any items.",
        )
    guarantee.require_feasible(data)
    rows, places = in_content_order(data)
    part = PublicPart(rows, hierarchy, guarantee.sensitive)
    nodes, part_of, details = find_nodes(part.rows, part.tree, guarantee.k, progress, trace)
    hidden = hidden_in_parts(rows, part.is_sensitive, part_of, guarantee.rho)
    labels = rows.vocabulary.labels
    times = np.bincount(rows.items[hidden], minlength=rows.n_items)
    details["hidden"] = {labels[s]: int(times[s]) for s in np.flatnonzero(times).tolist()}
    details["warnings"] = part.warnings
    recoding = part.local_recoding(nodes, hidden)
    image = np.empty_like(recoding.image)
    image[places] = recoding.image
    return replace(recoding, image=frozen(image, np.int32)), details
