"""UL: utility loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from setveil.base.errors import MissingItemsError, listed
from setveil.base.values.numbers import log2
from setveil.judges.utility import Case, Compared, Measure
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums
from setveil.rows.hierarchy.tree import Hierarchy


def ul(
    original: Sums,
    published: Sums,
    recoding: AnyRecoding,
    weights: Mapping[str, Fraction] | None = None,
) -> dict[str, float | None]:
    """Sum the utility loss of the published labels and the penalty of suppressed items [1].

    A published label g of s items that sup(g) of the n published rows show costs (2^s - 1) / (2^|I| - 1) *
    w(g) * sup(g) / n, a label of a single item too; a suppressed item costs the share of the original rows
    that contain it or, if a recoding is local, 1/n for each suppressed occurrence, unlike in [1]. w(g) is 1
    by default (see `hierarchy_weights`). Sums are exact; the logarithm is rounded, None for 0, and necessary
    as the first sum, `log2_labels`, can be below the least double. The second, `suppressed`, may be above 1.

    [1] Loukides, Gkoulalas-Divanis, Malin, "COAT: Constraint-based anonymization of transactions", Knowledge
    and Information Systems 28, 2011, doi:10.1007/s10115-010-0354-4 (Definitions 3.14 and 3.16 of its
    preprint)
    """
    labels = ul_of_labels(published, recoding, weights)
    _, label, rows = recoding.tally(original)
    gone = int(rows[label < 0].sum())
    suppressed = Fraction(gone, max(original.n_rows, 1))
    return {
        "log2": log2(labels + suppressed),
        "log2_labels": log2(labels),
        "suppressed": float(suppressed),
    }


def ul_of_labels(
    published: Sums, recoding: AnyRecoding, weights: Mapping[str, Fraction] | None = None
) -> Fraction:
    """Sum the utility loss of the published labels, exactly (see `ul`)."""
    members = dict(zip(recoding.published.labels, recoding.member_counts.tolist(), strict=True))
    supports = zip(published.vocabulary.labels, published.supports().tolist(), strict=True)
    # By size and weight first: few terms are left to be multiplied by a power of 2.
    support_of: dict[tuple[int, Fraction], int] = {}
    for label, support in supports:
        weight = weights[label] if weights is not None and label in members else Fraction(1)
        key = members.get(label, 1), weight
        support_of[key] = support_of.get(key, 0) + support
    parts = math.lcm(*(weight.denominator for _, weight in support_of))
    total = sum(
        ((1 << size) - 1) * support * weight.numerator * (parts // weight.denominator)
        for (size, weight), support in support_of.items()
    )
    return Fraction(total, max((1 << recoding.domain) - 1, 1) * parts * max(published.n_rows, 1))


def hierarchy_weights(recoding: AnyRecoding, tree: Hierarchy) -> dict[str, Fraction]:
    """Weigh labels by the share of leaves under the lowest common ancestor of their items (none: 0)."""
    leaf = {label: place for place, label in enumerate(tree.labels[: tree.n_leaves])}
    inside = recoding.members()
    missing = [item for items in inside.values() for item in items if item not in leaf]
    if missing:
        raise MissingItemsError(
            f"{len(missing):,} items of the release are not leaves of the hierarchy: {listed(missing)}.",
            hint="Weights need the hierarchy of the original data.",
        )
    out: dict[str, Fraction] = {}
    for label, items in inside.items():
        places = tree.low[[leaf[item] for item in items]].tolist()
        leaves = 0
        if items:
            first = leaf[items[0]]
            low, high = min(places), max(places)
            above = (v for v in (first, *tree.ancestors(first)) if tree.low[v] <= low and high < tree.high[v])
            node = next(above)
            leaves = int(tree.high[node]) - int(tree.low[node])
        out[label] = Fraction(leaves, tree.n_leaves)
    return out


def _weighted(case: Case) -> dict[str, float | None]:
    weights = hierarchy_weights(case.recoding, case.hierarchy)
    return ul(case.original, case.published, case.recoding, weights)


def _exponent(found: Mapping[str, float | None]) -> float | None:
    return found.get("log2")


MEANING = "sets of items that the published labels may represent, by how often, of all sets; plus suppression"
MEASURES = (
    Measure(
        name="ul",
        title="UL",
        meaning=MEANING,
        compute=lambda case: ul(case.original, case.published, case.recoding),
        place=3,
        unit="base 2 logarithm",
        low=None,
        high=None,
        number=_exponent,
        form="power of 2",
        reading="adds up, over the published labels, the share of all sets of items that each may represent, "
        "and the share of the rows in which each item was suppressed. It is mostly tiny, hence a power of 2: "
        "one less in the exponent is half the loss. Compare it only between releases made with the same "
        "hierarchy.",
        domain=True,
        summarized=False,  # a summary is short, and others are easier to read
        compared=(
            Compared(
                "loss_ul",
                "loss (log2 of UL)",
                f"Loss (UL), as its base 2 logarithm: {MEANING}. One less is half the loss.",
                "ul",
                scale="exponent",
                head="log2 UL",
                place=3,
                write=lambda value: f"{value:.5g}",
            ),
        ),
    ),
    Measure(
        name="ul_weighted",
        title="UL, weighted",
        compute=_weighted,
        place=4,
        needs="hierarchy",
        unit="base 2 logarithm",
        low=None,
        high=None,
        number=_exponent,
        form="power of 2",
        domain=True,
        reported=False,
        columns=(),
        compared=(),
    ),
)
