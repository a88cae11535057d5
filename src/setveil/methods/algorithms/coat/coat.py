"""COAT: constraint-based anonymization of transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._merging import Broken, Merging, merge_items
from setveil.methods.algorithms._papers import KAIS_2011

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.constraints import PrivacyConstraints
    from setveil.methods.algorithms._item_groups import ItemGroups
    from setveil.methods.algorithms._privacy_constraints import Policy
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Constraint-based anonymization (COAT)",
    guarantees=("constraints",),
    needs=(),
    summary="Merges items greedily, given itemsets to protect and groups to keep; needs no hierarchy.",
    reference="Loukides, Gkoulalas-Divanis, Malin, KAIS 2011, section 4, doi:10.1007/s10115-010-0354-4",
    bibtex=KAIS_2011,
    takes=("hierarchy",),
    minimizes="ul",
)


@dataclass(frozen=True)
class COAT(Merging):
    """The algorithm COAT and its parameters.

    Attributes
    ----------
    utility : sequence of sequences of str, or None
        Utility constraints: disjoint groups of items; only items of the same group may be merged. Items in no
        group form one more together. None: every merge is allowed.
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
    >>> drinks = sv.COAT(utility=[["tea", "coffee"]])
    >>> sv.anonymize(data, sv.PrivacyConstraints(2, m=2), algorithm=drinks).verdict.holds
    True
    """


Parameters = COAT


def protect(
    groups: ItemGroups,
    policy: Policy,
    k: int,
    progress: Progress,
    allowed: int,
    trace: Trace | None = None,
) -> Broken | None:
    """Merge and suppress items until every privacy constraint is satisfied: Algorithm 1 of [1].

    Returns the first suppression beyond `allowed`; the run goes on, to learn how many it takes. Differences
    from [1]: a constraint is satisfied iff no subset of its image has support in (0, k). Where its least
    supported item may not be merged but is not rare (steps 4-10 would wait for ever), the next that may be is
    merged, else the least supported is suppressed. An image of a single published item (steps 11-14) is
    treated likewise. Items in no row are left alone. If all m-itemsets are protected, m is at most the
    longest row: the guarantee is the same.

    [1] Loukides, Gkoulalas-Divanis, Malin, KAIS 28(2), 2011, section 4, doi:10.1007/s10115-010-0354-4
    """
    broken: Broken | None = None
    steps = 0
    while (p := policy.next_unsatisfied()) is not None:  # lines 2-3
        while groups.is_threatened(image := groups.image(p), k):  # line 4
            chosen, partner = image[0], groups.partner(image[0])  # lines 5-7
            if partner is None and groups.support(image[0]) >= k:
                for group in image[1:]:
                    if (partner := groups.partner(group)) is not None:
                        chosen = group
                        break
            if trace is not None:
                pairs = [(chosen, other, cost) for other, cost in groups.partners(chosen)]
                merged = None if partner is None else (chosen, partner)
                groups.report(trace, policy.found(), image, pairs, merged=merged, suppressed=image[0])
            if partner is not None:
                policy.merge(chosen, partner)  # line 8
            else:
                policy.suppress(image[0])  # lines 9-14
                if broken is None and len(groups.suppressed) > allowed:  # line 5 of Algorithm 3
                    broken = Broken(int(groups.constraint[image[0]]), policy.found())
            steps += 1
            if steps % 100 == 0:
                progress("protecting itemsets")
    return broken


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: PrivacyConstraints,
    parameters: COAT = COAT(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Satisfy privacy constraints by COAT, within utility constraints (see `protect`).

    Parameters
    ----------
    hierarchy : Hierarchy or None
        Weighs merged items by the leaves under their lowest common ancestor, of all leaves; None: all weights
        are 1.
    guarantee : PrivacyConstraints
        k and the itemsets to protect.
    parameters : Parameters
        What may be merged, and how much suppressed.

    Details: `generalizations` and `suppressions` (numbers of steps), `suppressed` (items), and
    `utility_constraints`: for each the number of its items, whether it is satisfied (none of its items that
    occur is suppressed), and the number of rows with any of its items before and after. Where it is satisfied
    the two are equal (Corollary 3.12). With weights or penalties of the user also `utility_loss`.
    """
    return merge_items(protect, data, hierarchy, guarantee, parameters, progress, trace)
