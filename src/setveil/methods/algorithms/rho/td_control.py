"""TDControl: rho-uncertainty by generalizing public items and leaving whole items out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PVLDB_2010

if TYPE_CHECKING:
    from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Top-down generalization with suppression (TDControl)",
    guarantees=("rho-uncertainty",),
    needs=("hierarchy",),
    summary="Refines one label for all public items step by step, suppressing items that reveal too much.",
    reference="Cao, Karras, Raïssi, Tan, PVLDB 3(1), 2010, doi:10.14778/1920841.1920971",
    bibtex=PVLDB_2010,
)


@dataclass(frozen=True)
class TDControl(Declared):
    """The algorithm TDControl and its parameters.

    Attributes
    ----------
    objective : {"ncp", "lm"}
        Loss to keep low.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "pills"], ["coffee"], ["tea", "milk"], ["milk"]]
    >>> drinks = sv.Hierarchy.from_paths(
    ...     [["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"], ["pills", "*"]]
    ... )
    >>> sure = sv.RhoUncertainty("1/2", ["pills"])
    >>> sv.anonymize(data, sure, hierarchy=drinks, algorithm=sv.TDControl()).verdict.holds
    True
    """

    objective: Literal["ncp", "lm"] = parameter(
        Choice(("ncp", "lm")), "Loss to keep low (default: ncp).", default="ncp"
    )


Parameters = TDControl


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: RhoUncertainty,
    parameters: TDControl = TDControl(),
    progress: Progress = silent,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data rho-uncertain by TDControl (see `_top_down.TopDown`).

    Returns
    -------
    recoding : Recoding
        Public items as the nodes of a cut, sensitive items as themselves, or suppressed.
    details : dict
        Nodes of the `cut`; `steps` from the root; the labels `suppressed`; in which `order`, with the number
        of rules removed per loss; `warnings`.
    """
    from setveil.methods.algorithms._public_part import PublicPart
    from setveil.methods.algorithms.rho._top_down import TopDown

    guarantee.require_feasible(data)
    part = PublicPart(data, hierarchy, guarantee.sensitive)
    search = TopDown(part, hierarchy, guarantee, parameters.objective, progress)
    found = search.run()
    labels = hierarchy.labels
    gone = {choice.item for choice in found.order}
    recoding = part.recoding(*search.published(found))
    return recoding, {
        "cut": len(found.cut),
        "steps": search.steps,
        "suppressed": [labels[v] for v in sorted(gone)],
        "order": [{"item": labels[choice.item], "score": choice.score} for choice in found.order],
        "warnings": part.warnings,
    }
