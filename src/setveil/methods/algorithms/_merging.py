"""What COAT and PCTA share: their parameters, and what is done before and after items are merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from setveil.base.errors import RequestError, as_option, shorten
from setveil.base.progress import Progress
from setveil.base.values import kinds
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import GroupsOfItems, ItemWeights, LabelWeights, Share
from setveil.base.values.numbers import log2

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.constraints import PrivacyConstraints
    from setveil.methods.algorithms._item_groups import ItemGroups
    from setveil.methods.algorithms._privacy_constraints import Policy
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

Number = int | float | Fraction | Any  # or a text that says one, such as "1/3"


@dataclass(frozen=True)
class Merging(Declared):
    """Which items may be merged, and how many suppressed."""

    # Utility constraints: disjoint groups of items; only items of the same group may be merged. Items in no
    # group form one more together. None: every merge is allowed.
    utility: Sequence[Sequence[str]] | None = parameter(
        GroupsOfItems(),
        "File of groups of items that may be merged; any (the default); siblings, siblings:LEVEL or "
        "groups:SIZE of a hierarchy.",
        default=None,
    )
    # greatest share of the items that occur that may be suppressed, as written (0.3 is 3/10)
    max_suppressed_items: Number = parameter(
        Share(), "Greatest share of items to suppress, such as 15%.", default=0
    )

    # weight of the labels whose lowest common ancestor in the hierarchy a node is, above 0 and at most 1; by
    # default, and of other nodes, the share of the leaves under it
    label_weights: Mapping[str, Number] = parameter(
        LabelWeights(),
        "File of lines label,number: weights of groups of the hierarchy instead of their shares of items.",
        default_factory=dict,
    )
    # penalty of a suppressed item in the utility loss; by default, and of other items, its share of the rows
    penalties: Mapping[str, Number] = parameter(
        ItemWeights(),
        "File of lines item,number: utility loss of suppressed items (default: shares of rows).",
        default_factory=dict,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for label, weight in self.label_weights.items():
            if kinds.Probability().accepts(weight):
                raise RequestError(
                    f"The weight of {shorten(label)} must be above 0 and at most 1, got {weight}."
                )
        for item, penalty in self.penalties.items():
            if kinds.Number().accepts(penalty):
                raise RequestError(f"The penalty of {shorten(item)} must be at least 0, got {penalty}.")
        if self.utility is not None:
            object.__setattr__(self, "utility", _partition(self.utility) or None)


def _partition(groups: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    owner: dict[str, int] = {}
    out = []
    for number, group in enumerate(groups, 1):
        if isinstance(group, str):
            raise RequestError(
                f"Utility constraint {number} is the text {group!r}, expected a collection of items.",
                hint="Split it first, or wrap a single item in a list.",
            )
        items = tuple(dict.fromkeys(group))
        if not items or not all(isinstance(item, str) and item for item in items):
            raise RequestError(
                f"Utility constraint {number} is {items!r}, expected at least one item, each a string."
            )
        for item in items:
            if owner.setdefault(item, number) != number:
                raise RequestError(
                    f"The item {shorten(item)} is in the utility constraints {owner[item]} and {number}; "
                    "they must not overlap."
                )
        out.append(items)
    return tuple(out)


class Broken(NamedTuple):
    """The suppression that first made more items suppressed than allowed."""

    utility: int  # number of the utility constraint whose items were suppressed, from 0
    itemset: Sequence[str]  # the privacy constraint that was being protected, as it was given


class Protect(Protocol):
    """An algorithm that merges and suppresses items until every privacy constraint is satisfied.

    It goes on when more than `allowed` items are suppressed, to learn how many it takes; see `Broken`.
    """

    def __call__(
        self,
        groups: ItemGroups,
        policy: Policy,
        k: int,
        progress: Progress,
        allowed: int,
        trace: Trace | None = None,
    ) -> Broken | None: ...


def merge_items(
    protect: Protect,
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: PrivacyConstraints,
    parameters: Merging,
    progress: Progress,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Satisfy privacy constraints by `protect`; the rest is as in `anonymize` of an algorithm."""
    from setveil.methods.algorithms._item_groups import ItemGroups
    from setveil.methods.algorithms._privacy_constraints import AllItemsets, ListedItemsets
    from setveil.methods.algorithms._utility_constraints import kept_counts, too_many_suppressed
    from setveil.releases.published.recoding import Recoding

    guarantee.require_feasible(data)
    k = min(guarantee.k, data.n_rows + 1)  # no support is greater, and the loops count in 64 bits
    m = min(guarantee.m or 1, int(data.row_lengths().max(initial=1)))  # sets of more items occur nowhere
    weights = {label: Fraction(str(weight)) for label, weight in parameters.label_weights.items()}
    if weights and hierarchy is None:
        raise RequestError(
            "Weights of labels need a hierarchy: a label has the weight of the lowest group above its items.",
            hint=f"Give the hierarchy with {as_option('hierarchy', 'tree.csv')}.",
        )
    groups = ItemGroups(data, hierarchy, parameters.utility, m, weights)
    share = Fraction(parameters.max_suppressed_items)
    allowed = int(share * groups.occurring.size)
    policy: Policy
    if guarantee.itemsets is None:
        policy = AllItemsets(groups, m, k, progress)
    else:
        policy = ListedItemsets(groups, guarantee.itemsets, k, progress)
    broken = protect(groups, policy, k, progress, allowed, trace)
    if broken is not None:
        raise too_many_suppressed(groups, *broken, share, guarantee)
    recoding = Recoding.from_groups(groups.items, groups.state.group)
    details: dict[str, Any] = {
        "generalizations": groups.merges,
        "suppressions": groups.suppressions,
        "suppressed": [groups.items.labels[item] for item in sorted(groups.suppressed)],
        "utility_constraints": kept_counts(groups),
    }
    if weights or parameters.penalties:
        details["utility_loss"] = _loss(groups, data, parameters.penalties)
    return recoding, details


def _loss(groups: ItemGroups, data: Transactions, penalties: Mapping[str, Number]) -> dict[str, float | None]:
    """Sum the utility loss with the user's weights and penalties (Definition 3.16 of COAT)."""
    names = groups.items.labels
    rows = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    shares = {names[i]: Fraction(rows.get(names[i], 0), max(data.n_rows, 1)) for i in groups.suppressed}
    gone = sum((Fraction(str(penalties.get(item, share))) for item, share in shares.items()), Fraction(0))
    labels = groups.loss_of_labels(data.n_rows)
    return {"log2": log2(labels + gone), "log2_labels": log2(labels), "suppressed": float(gone)}
