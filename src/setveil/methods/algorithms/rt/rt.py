"""Classes of quasi-identifiers with the best items for each: as many rows in a class as lose least in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import ICDE_2006, PKDD_2013, SETVEIL, together
from setveil.methods.algorithms.rt._rt_parameters import RT

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.kkm import KKmAnonymity
    from setveil.releases.published.parts import Parts
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.table import Table

__all__ = ["RT", "Parameters", "anonymize", "info"]

Parameters = RT

info = AlgorithmInfo(
    title="Classes by sweep and gain",
    guarantees=("kkm",),
    needs=("hierarchy",),
    minimizes="lm",
    summary="Classes of the size that loses least in all, each with the proven best items.",
    reference="setveil, docs/table_methods.md; the model: ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23; "
    "classes: ICDE 2006, doi:10.1109/ICDE.2006.101",
    bibtex=together(SETVEIL, PKDD_2013, ICDE_2006),
    recoding="local",
)


def anonymize(
    data: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity,
    parameters: RT = RT(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Parts, dict[str, Any]]:
    """Make a table (k,k^m)-anonymous by classes of rows, each recoded separately.

    Details: `frontier`: of each partition that was tried `search`, `least`, `classes`, `smallest`,
    `relational_loss`, `transaction_loss`, `suppressed_share`, `f`, and whether it was `chosen`; `optimality`:
    the loss of the items, and what is proven to be the least of any recoding of the items of these classes;
    `ended_early`, only where the search was ended by its time limit or by the listener.

    Notes
    -----
    The sweep: Mondrian with at least k, 4k, 16k, ... rows in a class, up to half of the rows, then one class
    of all. By gain: beginning with all rows, a part is split by the column that brings f down most, of equals
    the first, while one does. The partition of least f is taken, of equals the one of larger classes.
    The items of each class are recoded at the least LM that any cut with suppressed leaves has there.
    """
    from setveil.methods.algorithms.rt._frontier import chosen

    guarantee.require_feasible(data)
    return chosen(data, hierarchy, guarantee, parameters, progress, trace)
