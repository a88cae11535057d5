"""AA: apriori anonymization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDB_2008

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.kernels.limits import Limits
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms._threats import ThreatSearch
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.engine.parts import RowsOnDisk
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Apriori anonymization (AA)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Greedy generalization, one itemset size after another; fast on large data.",
    reference="Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.4, doi:10.14778/1453856.1453874",
    bibtex=VLDB_2008,
)


@dataclass(frozen=True)
class AA(Declared):
    """The algorithm AA (apriori-based anonymization) and its parameters.

    Attributes
    ----------
    count_tree : bool
        Count the nodes of the count-tree that the paper's algorithm would build (`count_tree_nodes` in the
        details).
    refine : bool
        Split nodes of the final cut again while the release stays valid, greatest gain first.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.AA(refine=True)).verdict.holds
    True
    """

    count_tree: bool = parameter(
        Flag(), "Count the nodes of the paper's count-tree, which takes long on large data.", default=False
    )
    refine: bool = parameter(
        Flag(), "Split nodes of the final cut again while it stays valid.", default=False
    )


Parameters = AA


def find_cut(
    cut: Cut,
    guarantee: KmAnonymity,
    progress: Progress = silent,
    trace: Trace | None = None,
    count_tree: bool = False,
) -> tuple[Cut, dict[str, Any]]:
    """Move a cut up until it is k^m-anonymous: Algorithm 4 of [1].

    Differences from [1]: the count-tree is not built. Where it fits, all sets of i nodes of the cut are
    counted in a table (see `setveil.methods.algorithms._threat_tables`). Else the tree is walked: in pass i
    only nodes that lie above some node of a threat of size i between nodes of the current cut can be in a
    threat at all (a threat's finer versions that occur are threats too), so the rows are cut down to those
    first.

    [1] Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.4, doi:10.14778/1453856.1453874
    """
    from setveil.kernels.limits import Limits
    from setveil.methods.algorithms._count_tree import count_tree_nodes

    k = min(guarantee.k, int(cut.held.lengths.sum()) + 1)  # no support is greater
    limits = Limits(cut.tree.labels, guarantee.m)
    steps = 0
    size = 0
    nodes: list[int] = []  # of the count-tree in each pass, if they are counted
    while size < guarantee.m:  # line 2
        size += 1
        phase = f"itemsets of size {size}"
        search = _search(cut, k, size, limits, progress, phase)  # lines 3-6
        if search is None:
            break  # no row is long enough, now or later
        if count_tree:
            nodes.append(count_tree_nodes(cut, size, only_whole=True))
        while (threat := search.next_threat(progress, phase)) is not None:  # line 7
            cut.generalize(search.cheapest_generalization(threat, trace))
            steps += 1
    return cut, {"generalization_steps": steps, **({"count_tree_nodes": nodes} if count_tree else {})}


def _search(
    cut: Cut, k: int, size: int, limits: Limits, progress: Progress, phase: str
) -> ThreatSearch | None:
    """Search for the threats of a size; None if no row holds this many nodes."""
    import numpy as np

    from setveil.methods.algorithms._threat_tables import ThreatTables, table_fits
    from setveil.methods.algorithms._threats import ThreatWalk

    if limits.allows_all(size) and table_fits(cut, size):
        tables = ThreatTables(cut, k, size, progress, phase)
        return tables if tables.any_sets else None
    rows = cut.rows()
    if size > np.diff(rows[0]).max(initial=0):
        return None
    threatened = ThreatWalk(cut, rows, k, size, size, cut.mask(), limits).involved(progress, phase)
    return ThreatWalk(cut, rows, k, size, size, cut.and_above(threatened), limits)


def anonymize(
    data: Transactions | RowsOnDisk,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: AA = AA(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by AA (see `find_cut`).

    Details: how many steps it took (`generalization_steps`); with `count_tree` the nodes of the count-tree in
    each pass (`count_tree_nodes`); with `refine` the labels before and after.
    """
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms._refine import final_recoding

    guarantee.require_feasible(data)
    cut, details = find_cut(  # line 1
        Cut(data, hierarchy), guarantee, progress, trace, parameters.count_tree
    )
    return final_recoding(cut, guarantee, parameters.refine, details, progress)
