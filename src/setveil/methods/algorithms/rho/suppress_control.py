"""SuppressControl: rho-uncertainty by leaving whole items out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PVLDB_2010

if TYPE_CHECKING:
    from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions

info = AlgorithmInfo(
    title="Suppression of items by sensitive rules (SuppressControl)",
    guarantees=("rho-uncertainty",),
    needs=(),
    summary="Leaves items out, public or sensitive, first those in the most revealing rules per occurrence "
    "lost.",
    reference="Cao, Karras, Raïssi, Tan, PVLDB 3(1), 2010, doi:10.14778/1920841.1920971",
    bibtex=PVLDB_2010,
)


@dataclass(frozen=True)
class SuppressControl(Declared):
    """The algorithm SuppressControl and its parameters.

    Attributes
    ----------
    refine : bool
        In the end bring back items that can come back, those in the most rows first.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "pills"], ["tea", "milk"], ["tea"], ["milk", "pills"]]
    >>> sure = sv.RhoUncertainty("1/2", ["pills"])
    >>> sv.anonymize(data, sure, algorithm=sv.SuppressControl(refine=True)).verdict.holds
    True
    """

    refine: bool = parameter(
        Flag(), "Restore items that need not be suppressed, the most frequent first.", default=False
    )


Parameters = SuppressControl


def anonymize(
    data: Transactions,
    hierarchy: None,
    guarantee: RhoUncertainty,
    parameters: SuppressControl = SuppressControl(),
    progress: Progress = silent,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data rho-uncertain by suppressing items in all rows (see `_suppression.choose_items`).

    Details: what was `suppressed`; in which `order`, with the number of rules removed per occurrence lost;
    how many items for rules of how many known ones (`by_size`); with `refine` what came `back`; `warnings`.

    Notes
    -----
    Differences from [1]: a confidence of exactly rho is allowed; inference about someone without known items
    counts, too; all revealing rules of a size are counted, not only minimal ones; ties are decided by item
    order; `refine`.

    References
    ----------
    [1] Cao, Karras, Raïssi, Tan, "rho-uncertainty: inference-proof transaction anonymization", PVLDB 3(1),
    2010, doi:10.14778/1920841.1920971
    """
    from collections import Counter

    from setveil.kernels.rows import distinct_rows
    from setveil.methods.algorithms._public_part import sensitive_mask, unseen_warnings
    from setveil.methods.algorithms._suppressed_items import final_recoding, greatest_counts
    from setveil.methods.algorithms.rho._suppression import bring_back, choose_items

    guarantee.require_feasible(data)
    warnings = unseen_warnings(data, guarantee.sensitive)
    rows = distinct_rows(data.indptr, data.items)
    is_secret = sensitive_mask(data, guarantee.sensitive)
    limit = greatest_counts(guarantee.rho, data.n_rows)
    loss = data.supports().tolist()
    order = choose_items(rows, is_secret, limit, loss, progress=progress)
    sizes = Counter(choice.size for choice in order)
    details: dict[str, Any] = {"by_size": {str(size): n for size, n in sorted(sizes.items())}}
    if parameters.refine:
        gone = [choice.item for choice in order]
        back = set(bring_back(rows, is_secret, limit, loss, gone, progress))
        order = [choice for choice in order if choice.item not in back]
        details["back"] = [data.vocabulary.labels[x] for x in sorted(back)]
    details["warnings"] = warnings
    return final_recoding(data, [(choice.item, choice.score) for choice in order], details)
