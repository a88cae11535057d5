"""The proven optimum: the least loss that a cut, with or without suppressed items, can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import SETVEIL, VLDB_2008, together
from setveil.methods.algorithms.exact._parameters import Exact, Parameters

if TYPE_CHECKING:
    from setveil.judges.guarantees import Guarantee
    from setveil.kernels.rows import Ids
    from setveil.methods.algorithms.exact._mole_search import MoleSearch
    from setveil.methods.algorithms.exact._rho_search import RhoSearch
    from setveil.releases.published.recoding import LocalRecoding, Recoding
    from setveil.releases.recipients import Certificate
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

__all__ = ["Exact", "Parameters", "anonymize", "bound", "info"]

info = AlgorithmInfo(
    title="Exact optimum",
    guarantees=("km-anonymity", "km-rho", "rho-uncertainty", "coherence"),
    needs=("hierarchy",),
    without=("coherence",),
    summary="Least loss of all cuts, by default with suppression, proven by an integer program.",
    reference="setveil, docs/exact.md; the model: VLDB 2008, section 3, doi:10.14778/1453856.1453874",
    lacks=True,
    bibtex=together(SETVEIL, VLDB_2008),
)


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: Guarantee,
    parameters: Exact = Exact(),
    progress: Progress = silent,
) -> tuple[Recoding | LocalRecoding, dict[str, Any]]:
    """Satisfy the guarantee with the least possible loss.

    Returns
    -------
    recoding : Recoding or LocalRecoding
        From the cut; local where sensitive items lose some of their occurrences.
    details : dict
        `optimality`: the loss, the proven lower bound, the gap; `certificate`, if there is to be one;
        `suppressed`: the labels that are. Where
        items are sensitive also `hidden`, the occurrences that each of them lost, `alone`, the least loss
        without regard to them, and `warnings`.
    """
    guarantee.require_feasible(data)
    if parameters.certificate:
        _require_certified(data, guarantee)
    if guarantee.model == "coherence" and hierarchy is None:
        return _coherent(_mole_search(data, guarantee, parameters, progress))
    if guarantee.model != "km-anonymity":
        return _protected(data, *_rho_search(data, hierarchy, guarantee, parameters, progress))
    from setveil.releases.published.recoding import Recoding

    search = _km_search(data, hierarchy, guarantee, parameters, progress)
    optimality = search.run()
    nodes, suppressed = search.published()
    names = [search.hierarchy.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(search.hierarchy, nodes, suppressed)
    details = {"optimality": optimality, "suppressed": names}
    if parameters.certificate:
        details["certificate"] = _certified(search)
    return recoding, details


def certify(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: Guarantee,
    parameters: Exact,
    image: Mapping[str, str | None],
    progress: Progress = silent,
) -> Certificate:
    """Prove how little a release can lose that was made before (see docs/exact.md).

    Parameters
    ----------
    image : mapping of str to (str or None)
        The label of each item of the hierarchy; None: it is suppressed.
    """
    _require_nothing_absent(guarantee)
    search = _km_search(data, hierarchy, guarantee, parameters, progress)
    search.take(image)
    progress.stoppable = True
    try:
        return _certified(search)
    finally:
        progress.stoppable = False


def _certified(search: Any) -> Certificate:
    from setveil.methods.algorithms.exact._certificate import certificate
    from setveil.releases.recipients import Certificate

    return Certificate(certificate(search), search.hierarchy)


def _require_nothing_absent(guarantee: Any) -> None:
    """Refuse a certificate of a guarantee about absent items, whose clauses the program does not know."""
    if guarantee.absent:
        raise RequestError(
            f"Certificates are of k^m-anonymity alone, and this is {guarantee.phrase}.",
            hint="Runs of exact for k^m-anonymity have one, unless it is also about absent items.",
        )


def _require_certified(data: Transactions, guarantee: Guarantee) -> None:
    """Refuse a certificate where there is none."""
    from setveil.rows.data.sums import is_in_memory

    if guarantee.model != "km-anonymity":
        raise RequestError(
            f"Certificates are of k^m-anonymity, and this is {guarantee.phrase}.",
            hint="Omit --certificate: runs of exact for k^m-anonymity have one.",
        )
    _require_nothing_absent(guarantee)
    if not is_in_memory(data):
        raise RequestError("Certificates are of rows in memory.", hint="Omit --engine, or --certificate.")


def bound(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: Guarantee,
    parameters: Exact,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Find the least possible loss without making a release: the `optimality` of `anonymize`."""
    if guarantee.model == "coherence" and hierarchy is None:
        return _mole_search(data, guarantee, parameters, progress).run()
    if guarantee.model != "km-anonymity":
        return _rho_search(data, hierarchy, guarantee, parameters, progress)[0].run()
    found: dict[str, Any] = _km_search(data, hierarchy, guarantee, parameters, progress).run()
    return found


def _km_search(
    data: Transactions, hierarchy: Any, guarantee: Any, parameters: Exact, progress: Progress
) -> Any:
    from setveil.methods.algorithms.exact._search import Search

    if parameters.hide is not None:
        raise RequestError("No item is sensitive, so there is nothing to hide.", hint="Omit --hide.")
    return Search(data, hierarchy, guarantee, parameters, progress)


def _rho_search(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: Any,
    parameters: Exact,
    progress: Progress,
) -> tuple[RhoSearch, Ids]:
    """Begin a search over the rows in the order of their items; also where each occurrence stood before."""
    from setveil.methods.algorithms._content_order import in_content_order
    from setveil.methods.algorithms._public_part import PublicPart
    from setveil.methods.algorithms.exact._promise import flat_hierarchy, promise_of
    from setveil.methods.algorithms.exact._rho_search import RhoSearch

    promise = promise_of(guarantee, parameters)
    tree = flat_hierarchy(data) if hierarchy is None else hierarchy
    rows, places = in_content_order(data)
    part = PublicPart(rows, tree, promise.sensitive)
    return RhoSearch(part, promise, parameters, progress, flat=hierarchy is None), places


def _mole_search(data: Transactions, guarantee: Any, parameters: Exact, progress: Progress) -> MoleSearch:
    from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit
    from setveil.methods.algorithms.exact._mole_search import MoleSearch
    from setveil.methods.algorithms.exact._promise import promise_of

    promise_of(guarantee, parameters)
    return MoleSearch(PublicPrivateSplit(data, guarantee), parameters, progress)


def _coherent(search: MoleSearch) -> tuple[Recoding, dict[str, Any]]:
    """Make the recoding of a search for what to suppress, and its details."""
    from setveil.methods.algorithms._suppressed_items import recoding_without

    optimality = search.run()
    data, gone = search.split.data, search.gone()
    labels = [data.vocabulary.labels[item] for item in gone]
    # Private items are all published, and none is missing.
    details = {"optimality": optimality, "suppressed": labels, "hidden": {}, "warnings": []}
    return recoding_without(data, gone), details


def _protected(
    data: Transactions, search: RhoSearch, places: Ids
) -> tuple[Recoding | LocalRecoding, dict[str, Any]]:
    """Make the recoding of a search under a bound for what is learned, and its details."""
    import numpy as np

    from setveil.methods.algorithms._public_part import PublicPart
    from setveil.rows.data.vocabulary import item_order

    optimality = search.run()
    nodes, gone = search.nodes(), set(search.hidden_items())
    occurrences = np.zeros(data.n_occurrences, bool)
    occurrences[places] = search.hidden_occurrences()
    part = PublicPart(data, search.part.hierarchy, search.promise.sensitive)
    labels, supports = data.vocabulary.labels, data.supports()
    leaves = part.tree.labels[: part.tree.n_leaves]
    suppressed = [label for label, to in zip(leaves, nodes.tolist(), strict=True) if to < 0]
    counts = np.bincount(data.items[occurrences], minlength=data.n_items)
    hidden = {
        labels[s]: int(supports[s] if labels[s] in gone else counts[s]) for s in part.sensitive.tolist()
    }
    details = {
        "optimality": optimality,
        "suppressed": item_order({*suppressed, *gone}),
        "hidden": {label: number for label, number in hidden.items() if number},
        "warnings": part.warnings,
    }
    if search.alone:
        details["alone"] = search.alone
    if occurrences.any():
        return part.local_recoding(nodes[part.leaf[part.rows.items]], occurrences), details
    return part.recoding(nodes, [s for s in part.sensitive.tolist() if labels[s] in gone]), details
