"""Classes by quasi-identifiers, merged while a bound allows it, and their items: the bounding methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PKDD_2013
from setveil.methods.algorithms.rt._bounding_parameters import Bounding

if TYPE_CHECKING:
    from setveil.judges.guarantees.kkm import KKmAnonymity
    from setveil.releases.published.parts import Parts
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.table import Table

__all__ = ["Bounding", "Parameters", "anonymize", "info"]

Parameters = Bounding

info = AlgorithmInfo(
    title="Bounding methods (Rmerger, Tmerger, RTmerger)",
    guarantees=("kkm",),
    needs=("hierarchy",),
    summary="Classes by one method, merged by a second, their items by a third: to reproduce and compare.",
    reference="Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, ECML PKDD 2013, "
    "doi:10.1007/978-3-642-40994-3_23",
    bibtex=PKDD_2013,
    recoding="local",
)


def anonymize(
    data: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity,
    parameters: Bounding = Bounding(),
    progress: Progress = silent,
) -> tuple[Parts, dict[str, Any]]:
    """Make a table (k,k^m)-anonymous in three steps that do not know of each other.

    Classes of at least k rows are made by the quasi-identifiers alone; classes are merged within a bound; the
    items of each class are anonymized by themselves.

    Differences from [1]: an open cluster that no partner fits is closed, and the others go on; the clustering
    of least item loss is kept, of those that were looked at, since a merger can also lose items. The distance
    between the items of clusters compares the shares of rows that hold each. A class in which fewer than k
    rows hold items loses them all.

    Details: `parts_before` and `parts`: how many sets of rows were recoded together (those with the same
    published quasi-identifiers are one class); `mergers`, those that were made, and `mergers_kept`;
    `relational_loss_before`, `relational_loss` (R), `item_loss_before`, `item_loss` (NCP of the items);
    `hidden_classes`, those that lose all items because too few rows hold any; of global methods
    `uniform_relational_loss`, R if all rows were recoded alike, and of incognito the `levels`; with exact
    items `optimality`.

    References
    ----------
    [1] Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos, "Anonymizing Data with Relational and Transaction
    Attributes", ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23; the methods that it joins are those of
    Poulis et al., "SECRETA", Medical Data Privacy Handbook, 2015, doi:10.1007/978-3-319-23633-9_5
    """
    from setveil.methods.algorithms.rt._bounding import bounded

    guarantee.require_feasible(data)
    return bounded(data, hierarchy, guarantee, parameters, progress)
