"""Partial suppression: single occurrences are suppressed, so that nothing sensitive can be concluded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import DASFAA_2014, PVLDB_2010, SETVEIL, together

if TYPE_CHECKING:
    from setveil.judges.guarantees.km_rho import KmRho
    from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.releases.published.recoding import LocalRecoding
    from setveil.rows.data.transactions import Transactions

info = AlgorithmInfo(
    title="Partial suppression",
    guarantees=("rho-uncertainty", "km-rho"),
    needs=(),
    summary="Leaves sensitive items out of as many rows as necessary; all others are published as they are.",
    reference="setveil, docs/suppression.md; the idea: Jia et al., DASFAA 2014; the guarantee: PVLDB 3(1), "
    "2010, doi:10.14778/1920841.1920971",
    bibtex=together(SETVEIL, DASFAA_2014, PVLDB_2010),
    recoding="local",
    hides_occurrences=True,
)


@dataclass(frozen=True)
class Partial:
    """Partial suppression, which has no parameters.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "pills"], ["tea", "pills"], ["tea"], ["milk", "pills"], ["milk"]]
    >>> guarantee = sv.KmRho(k=1, m=2, rho="1/2", sensitive=["pills"])
    >>> sorted(sv.anonymize(data, guarantee, algorithm=sv.Partial()).published)
    [('milk',), ('milk', 'pills'), ('pills', 'tea'), ('tea',), ('tea',)]
    """


Parameters = Partial


def anonymize(
    data: Transactions,
    hierarchy: None,
    guarantee: KmRho | RhoUncertainty,
    parameters: Partial = Partial(),
    progress: Progress = silent,
) -> tuple[LocalRecoding, dict[str, Any]]:
    """Suppress occurrences (see `_hidden_occurrences.hide_for_public`, `_hidden_occurrences.hide_for_any`).

    Details: `hidden`, the suppressed occurrences of each item; for rho-uncertainty `steps`, the number of
    rules made safe; `warnings`.

    Notes
    -----
    The first of several rows is the first in item order, so that the order of the input makes no difference.

    Differences from [1]: the choices of rules and occurrences are those said there; rows are not processed
    in batches, and the paper's scores for keeping distributions or mining results are not used.

    References
    ----------
    [1] Jia, Pan, Xu, Zhu, Lo, "rho-uncertainty anonymization by partial suppression", DASFAA 2014
    """
    import numpy as np

    from setveil.judges.guarantees.km_rho import KmRho
    from setveil.kernels.rows import frozen
    from setveil.methods.algorithms._content_order import in_content_order
    from setveil.methods.algorithms._public_part import sensitive_mask, unseen_warnings
    from setveil.methods.algorithms.rho._hidden_occurrences import hide_for_any, hide_for_public
    from setveil.releases.published.recoding import LocalRecoding
    from setveil.rows.data.vocabulary import Vocabulary

    if isinstance(guarantee, KmRho):
        _require_supported(guarantee)
    guarantee.require_feasible(data)
    details: dict[str, Any] = {"warnings": unseen_warnings(data, guarantee.sensitive)}
    is_secret = sensitive_mask(data, guarantee.sensitive)
    rows, places = in_content_order(data)
    hidden = np.zeros(data.n_occurrences, bool)
    if isinstance(guarantee, KmRho):
        hidden[places] = hide_for_public(rows, is_secret, guarantee.rho, guarantee.m, progress)
    else:
        hidden[places], details["steps"] = hide_for_any(rows, is_secret, guarantee.rho, progress)
    labels = data.vocabulary.labels
    times = np.bincount(data.items[hidden], minlength=data.n_items)
    details["hidden"] = {labels[x]: int(times[x]) for x in np.flatnonzero(times).tolist()}

    used = np.flatnonzero(data.supports() - times)
    position = np.full(data.n_items, -1, np.int32)
    position[used] = np.arange(used.size)
    recoding = LocalRecoding(
        data.vocabulary,
        Vocabulary(labels[x] for x in used.tolist()),
        frozen(np.arange(used.size + 1), np.int64),
        frozen(used, np.int32),
        frozen(np.where(hidden, np.int32(-1), position[data.items]), np.int32),
        data.n_items,
    )
    return recoding, details


def _require_supported(guarantee: KmRho) -> None:
    from setveil.base.errors import RequestError
    from setveil.judges.guarantees.km_rho import PUBLIC

    if guarantee.k > 1:
        raise RequestError(
            f"partial leaves items as they are, and so cannot hide rows among k = {guarantee.k}.",
            hint="Choose k = 1, or an algorithm that generalizes: exact or lg.",
        )
    if guarantee.knows != PUBLIC:
        raise RequestError(
            "partial gives (k,rho)^m-anonymity only against those who know public items.",
            hint="Choose exact, or rho-uncertainty for those who know any items.",
        )
