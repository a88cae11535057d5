"""What a run that merges items left of the utility constraints."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from setveil.base.errors import InfeasibleError, listed
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows
from setveil.methods.algorithms._item_groups import ItemGroups


def kept_counts(groups: ItemGroups) -> list[dict[str, Any]]:
    """Count, for each utility constraint, the rows with any of its items, before and after."""
    constraint = groups.constraint
    rest = len(groups.utility)
    before = _rows_with(groups.rows, constraint, rest + 1)
    kept = groups.state.group[groups.occurring] >= 0
    published = np.where(groups.state.group >= 0, constraint[groups.state.group], -1)
    after = _rows_with(groups.rows, published, rest + 1)
    broken = set(constraint[groups.occurring[~kept]].tolist())
    sizes = np.bincount(constraint, minlength=rest + 1)
    return [
        {
            "constraint": number + 1 if number < rest else "rest",
            "items": int(sizes[number]),
            "satisfied": number not in broken,
            "rows_before": int(before[number]),
            "rows_after": int(after[number]),
        }
        for number in range(rest + 1)
        if number < rest or sizes[rest]
    ]


def _rows_with(rows: tuple[Ints, Ids], image: Ids, n: int) -> Ints:
    """Count the rows that hold any item of each class."""
    return np.bincount(recode_rows(*rows, frozen(image, np.int32))[1], minlength=n)


def too_many_suppressed(
    groups: ItemGroups,
    broken: int,
    itemset: Sequence[str],
    share: Fraction,
    guarantee: PrivacyConstraints,
) -> InfeasibleError:
    """Make the error that names the constraints that suppression was for and broke, and the share needed."""
    needed, n = len(groups.suppressed), groups.occurring.size
    items = [groups.items.labels[i] for i in np.flatnonzero(groups.constraint == broken).tolist()]
    what = f"Utility constraint {broken + 1}"
    if broken == len(groups.utility):
        what = "The group of the items in no constraint" if groups.utility else "The group of all items"
    enough = Fraction(-(-10_000 * needed // n), 10_000)  # rounded up, so that it is enough
    return InfeasibleError(
        f"{guarantee.phrase} needs more suppression than allowed: {needed:,} of the {n:,} items that occur "
        f"would have to go, and at most {_percent(share)} of them may ({int(share * n):,}). {what} broke "
        f"this limit: {listed(items, 3)}. The itemset to protect was then {listed(itemset, 5)}.",
        hint=f"Allow {_percent(enough)}, or allow more items to be merged.",
    )


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.12g}%"
