"""HgHs: heuristic generalization with heuristic suppression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PAKDD_2010

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.engine.parts import RowsOnDisk
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Heuristic generalization with heuristic suppression (HgHs)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    minimizes="lm",
    summary="Greedy generalization that suppresses outliers, for the threats of all cuts; for small m.",
    reference="Liu, Wang, PAKDD 2010, section 3, doi:10.1007/978-3-642-13657-3_20",
    bibtex=PAKDD_2010,
)


@dataclass(frozen=True)
class HgHs:
    """The algorithm HgHs, which has no parameters.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.HgHs()).verdict.holds
    True
    """


Parameters = HgHs


def anonymize(
    data: Transactions | RowsOnDisk,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: HgHs = HgHs(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by HgHs of [1]: a cut found from the top down, and suppressed items.

    From the cut that holds only the root, the search moves to the child cut (one node replaced by its
    children) of least cost, as long as one costs less. The items to suppress are chosen again for every cut:
    by decreasing cost of suppression, an item is kept if no threat lies wholly among the kept ones.

    Differences from [1]: an inner node with a single child represents the same items as its child and is
    never published; a search that stopped there would stop for nothing. What to suppress is not computed
    from the start for every child cut: replacing a node changes only decisions that hang together with it by
    threats.

    Details: `suppressed` (labels of the suppressed nodes of the cut, in item order), `cut` (number of its
    nodes), `threats` (number of minimal threats over all cuts), `steps` (of the search).

    References
    ----------
    [1] Liu, Wang, "Anonymizing Transaction Data by Integrating Suppression and Generalization", PAKDD 2010,
    section 3, doi:10.1007/978-3-642-13657-3_20
    """
    from setveil.methods.algorithms.hghs._suppression import CutSpace, final_recoding, search

    guarantee.require_feasible(data)
    space = CutSpace.of(data, hierarchy, guarantee, progress)
    hint = (
        "Use mhghs, which looks for large threats only where small ones leave room for them, or a smaller m."
    )
    found = search(space, space.leaves(), guarantee, progress, "", hint, trace)
    details = {"cut": len(found.cut()), "threats": found.threats, "steps": found.steps}
    return final_recoding(found, details)
