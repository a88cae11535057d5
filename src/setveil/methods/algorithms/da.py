"""DA: direct anonymization."""

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
    from setveil.methods.algorithms._cut import Cut
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.engine.parts import RowsOnDisk
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Direct anonymization (DA)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Greedy generalization, itemsets of all sizes in one walk; slower than AA as m grows.",
    reference="Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.3, doi:10.14778/1453856.1453874",
    bibtex=VLDB_2008,
)


@dataclass(frozen=True)
class DA(Declared):
    """The algorithm DA (direct anonymization) and its parameters.

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
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.DA(refine=True)).verdict.holds
    True
    """

    count_tree: bool = parameter(
        Flag(), "Count the nodes of the paper's count-tree, which takes long on large data.", default=False
    )
    refine: bool = parameter(
        Flag(), "Split nodes of the final cut again while it stays valid.", default=False
    )


Parameters = DA


def find_cut(
    data: Transactions | RowsOnDisk,
    tree: Hierarchy,
    guarantee: KmAnonymity,
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Cut, dict[str, int]]:
    """Find a k^m-anonymous cut: Algorithm 3 of [1].

    Differences from [1]: the count-tree is walked, not built, over rows enough to tell what is rare, and
    paths shorter than m are checked too (a row may be shorter than m).

    [1] Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.3, doi:10.14778/1453856.1453874
    """
    import numpy as np

    from setveil.kernels.limits import Limits
    from setveil.kernels.rows import recode_rows
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms._threats import ThreatWalk
    from setveil.methods.algorithms._witness_rows import witness_rows
    from setveil.rows.engine.numbering import Numbering

    cut = Cut(data, tree)  # line 2
    largest = guarantee.size_limit(data)
    if largest == 0:
        return cut, {"generalization_steps": 0}
    supports = None
    fewer = witness_rows(data, guarantee.k, guarantee.m, progress)
    if fewer is not data:
        supports = cut.held.supports(Numbering.of(tree, cut.image, np.arange(tree.n_nodes)))
        cut.look_at(*recode_rows(fewer.indptr, fewer.items, tree.locate(fewer.vocabulary)))
    steps, limits = 0, Limits(tree.labels, guarantee.m)
    walk = ThreatWalk(cut, cut.rows(), guarantee.k, 1, largest, cut.live, limits, supports)  # line 1
    while (threat := walk.next_threat(progress, "walking the itemsets")) is not None:  # lines 3-7, 10
        cut.generalize(walk.cheapest_generalization(threat, trace))  # lines 8-9
        steps += 1
    return cut, {"generalization_steps": steps}


def anonymize(
    data: Transactions | RowsOnDisk,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: DA = DA(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by DA (see `find_cut`).

    Details: how many steps it took (`generalization_steps`); with `count_tree` the nodes of the count-tree
    (`count_tree_nodes`); with `refine` the labels before and after.
    """
    from setveil.methods.algorithms._count_tree import count_tree_nodes
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms._refine import final_recoding

    guarantee.require_feasible(data)
    cut, details = find_cut(data, hierarchy, guarantee, progress, trace)
    if parameters.count_tree:
        nodes = count_tree_nodes(Cut(data, hierarchy), guarantee.size_limit(data))
        details = {**details, "count_tree_nodes": nodes}
    return final_recoding(cut, guarantee, parameters.refine, details, progress)
