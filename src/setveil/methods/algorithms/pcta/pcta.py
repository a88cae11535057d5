"""PCTA: privacy-constrained clustering-based transaction anonymization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._merging import Broken, Merging, merge_items
from setveil.methods.algorithms._papers import PAIS_2011

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.constraints import PrivacyConstraints
    from setveil.methods.algorithms._item_groups import ItemGroups
    from setveil.methods.algorithms._privacy_constraints import Policy
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Clustering of items by constraints (PCTA)",
    guarantees=("constraints",),
    needs=(),
    summary="Merges the cheapest pair of items that helps, given itemsets to protect; needs no hierarchy.",
    reference="Gkoulalas-Divanis, Loukides, Transactions on Data Privacy 5(1), 2012, "
    "and PAIS 2011, doi:10.1145/1971690.1971695",
    bibtex=PAIS_2011,
    takes=("hierarchy",),
    minimizes="ul",
)


@dataclass(frozen=True)
class PCTA(Merging):
    """The algorithm PCTA and its parameters.

    Attributes
    ----------
    utility : sequence of sequences of str, or None
        Utility constraints: disjoint groups of items; only items of the same group may be merged. Items in no
        group form one more together. None: every merge is allowed. With them the algorithm is also known as
        UPCTA.
    max_suppressed_items : number between 0 and 1
        Greatest share of the items that occur that may be suppressed, as written (0.3 is 3/10).
    label_weights : mapping of str to number
        Weights, above 0 and at most 1, of groups of the hierarchy: of the labels whose lowest common ancestor
        they are. By default, and for other nodes, the share of the leaves under the node.
    penalties : mapping of str to number
        Utility loss of suppressed items, in the details; by default, and for other items, their share of the
        rows. The algorithm chooses no step by it.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.PrivacyConstraints(2, m=2), algorithm=sv.PCTA()).verdict.holds
    True
    """


Parameters = PCTA


def protect(
    groups: ItemGroups,
    policy: Policy,
    k: int,
    progress: Progress,
    allowed: int,
    trace: Trace | None = None,
) -> Broken | None:
    """Merge and suppress items until every privacy constraint is satisfied.

    Returns the first suppression beyond `allowed`; the run goes on, to learn how many it takes. Differences
    from [1] and [2]: the constraint is chosen again after every merge, which can break others; it is
    satisfied iff no subset of its image has support in (0, k). Items are suppressed only where utility
    constraints forbid every merge. Items in no row are left alone. If all m-itemsets are protected, m is at
    most the longest row: the guarantee is the same.

    [1] Gkoulalas-Divanis, Loukides, "PCTA: privacy-constrained clustering-based transaction data
    anonymization", PAIS 2011, doi:10.1145/1971690.1971695

    [2] Gkoulalas-Divanis, Loukides, "Utility-guided clustering-based transaction data anonymization",
    Transactions on Data Privacy 5(1), 2012, pp. 223-251
    """
    import numpy as np

    from setveil.methods.algorithms.pcta._cheapest_pair import NONE, cheapest_pair, no_partners

    broken: Broken | None = None
    partners = no_partners(groups.state)
    steps = 0
    while (p := policy.next_unsatisfied()) is not None:
        image = groups.image(p)
        first, second = cheapest_pair(groups.state, partners, np.array(image, np.int32))
        if trace is not None:
            pairs = [(g, other, cost) for g in image for other, cost in groups.partners(g)]
            pairs.sort(key=lambda pair: (pair[2], min(pair[:2]), max(pair[:2])))
            merged = None if first == NONE else (int(first), int(second))
            groups.report(trace, policy.found(), image, pairs, merged=merged, suppressed=image[0])
        if first != NONE:
            policy.merge(int(first), int(second))
        else:
            constraint = int(groups.constraint[image[0]])
            policy.suppress(image[0])
            if broken is None and len(groups.suppressed) > allowed:
                broken = Broken(constraint, policy.found())
        steps += 1
        if steps % 100 == 0:
            progress("protecting itemsets")
    return broken


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: PrivacyConstraints,
    parameters: PCTA = PCTA(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Satisfy privacy constraints by PCTA, within utility constraints (see `protect`).

    What it takes and returns is as of `setveil.methods.algorithms.coat.coat.anonymize`.
    """
    return merge_items(protect, data, hierarchy, guarantee, parameters, progress, trace)
