"""The proven optimum of one recoding for a whole table: a cut of each column, and one of the items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PKDD_2013, SETVEIL, together
from setveil.methods.algorithms.rt._forest_parameters import Forest

if TYPE_CHECKING:
    from setveil.judges.guarantees.kkm import KKmAnonymity
    from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
    from setveil.releases.published.parts import TableCut
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.table import Table

__all__ = ["Forest", "Parameters", "anonymize", "info"]

Parameters = Forest

info = AlgorithmInfo(
    title="Exact optimum on a forest",
    guarantees=("kkm", "mixed-km"),
    needs=("hierarchy",),
    minimizes="lm",
    summary="Least loss of all recodings of a table in which a label means the same in every row, proven.",
    reference="setveil, docs/table_methods.md; the model: ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23",
    bibtex=together(SETVEIL, PKDD_2013),
)


def anonymize(
    data: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity | MixedKmAnonymity,
    parameters: Forest = Forest(),
    progress: Progress = silent,
) -> tuple[TableCut, dict[str, Any]]:
    """Make a table anonymous with the least loss of any cut of each hierarchy, with suppressed items.

    Details: `optimality`: the loss, the proven lower bound, the gap; `relational_loss` and
    `transaction_loss`: R and T (LM, whatever the objective is); `suppressed`: the labels of items that are.
    """
    from setveil.methods.algorithms.rt._forest_table import published

    guarantee.require_feasible(data)
    return published(data, hierarchy, guarantee, parameters, progress)
