"""mHgHs: HgHs in m rounds."""

from __future__ import annotations

import time
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
    title="Multi-round HgHs (mHgHs)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    minimizes="lm",
    summary="Greedy generalization that suppresses outliers, one itemset size after another.",
    reference="Liu, Wang, PAKDD 2010, section 4.2, doi:10.1007/978-3-642-13657-3_20",
    bibtex=PAKDD_2010,
)


@dataclass(frozen=True)
class MHgHs:
    """The algorithm mHgHs, which has no parameters.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.MHgHs()).verdict.holds
    True
    """


Parameters = MHgHs


def anonymize(
    data: Transactions | RowsOnDisk,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: MHgHs = MHgHs(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by mHgHs of [1]: round i is HgHs for k^i-anonymity above round i-1's cut.

    Each round works on the hierarchy without the nodes below the cut of the round before, so it meets far
    fewer threats. What to suppress is found again in each round: an item suppressed in one may be kept in the
    next. There are as many rounds as the longest row has items if that is less than m.

    Differences from [1]: as for `setveil.methods.algorithms.hghs.hghs.anonymize`. A round that works on the
    same hierarchy as the one before, and for which no row is long enough, is not run again.

    Details: `suppressed` (labels of the suppressed nodes of the cut, in item order), `rounds` (for each i the
    number of nodes of its cut, how many of them are suppressed, the number of minimal threats it held, the
    LM) and `timing` (seconds of each round).

    References
    ----------
    [1] Liu, Wang, "Anonymizing Transaction Data by Integrating Suppression and Generalization", PAKDD 2010,
    section 4.2, doi:10.1007/978-3-642-13657-3_20
    """
    from setveil.methods.algorithms.hghs._suppression import CutSpace, final_recoding, in_rounds

    guarantee.require_feasible(data)
    space = CutSpace.of(data, hierarchy, guarantee, progress)
    last = max(int(min(guarantee.rounds, guarantee.size_limit(data))), 1)
    rounds: list[dict[str, Any]] = []
    timing: dict[str, float] = {}
    start = time.perf_counter()
    for i, found in in_rounds(space, guarantee, last, progress, trace):
        rounds.append(
            {
                "i": i,
                "cut": len(found.cut()),
                "suppressed": len(found.suppressed()),
                "threats": found.threats,
                "lm": found.lm(),
            }
        )
        timing[f"round {i}"] = round(time.perf_counter() - start, 4)
        start = time.perf_counter()
    return final_recoding(found, {"rounds": rounds, "timing": timing})
