"""NCP: normalized certainty penalty."""

from __future__ import annotations

from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from setveil.judges.utility import FACTS, ITEMS, Compared, Measure
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums

SCALE = (  # that of LM too
    "run from 0 (every item published as it was) to 1 (nothing is left). Compare them only between releases "
    "made with the same hierarchy."
)


def ncp(original: Sums, recoding: AnyRecoding, only: NDArray[np.bool_] | None = None) -> float:
    """Average the share of the domain that an item occurrence cannot be distinguished from.

    0 for an item published alone, |items under its label| / |I| if generalized, 1 if suppressed; 0 if nothing
    occurs. `only` (bool per item) restricts it to some items. Terrovitis, Mamoulis, Kalnis, VLDB 2008,
    section 3.3, doi:10.14778/1453856.1453874
    """
    item, label, rows = recoding.tally(original)
    if only is not None:
        label, rows = label[only[item]], rows[only[item]]
    occurrences = int(rows.sum())
    if not occurrences:
        return 0.0
    cost = np.where(recoding.member_counts > 1, recoding.member_counts, 0)
    return float(shared(cost, recoding.domains, label, rows) / occurrences)


def shared(
    cost: NDArray[np.int64], of: NDArray[np.int64], label: NDArray[np.int64], rows: NDArray[np.int64]
) -> Fraction:
    """Sum up a share for each occurrence: the cost of its label, of the maximum `of` its column.

    `label`, `rows`: int64 by item of the data, -1 if suppressed, and its occurrences.
    """
    shown = label >= 0
    total = Fraction(int(rows[~shown].sum()))
    label, rows = label[shown], rows[shown]
    for most in sorted(set(of[label].tolist())):
        some = of[label] == most
        # Sums of large data may outgrow 64 bits.
        lost = sum(map(mul, cost[label[some]].tolist(), rows[some].tolist()))
        total += Fraction(lost, most)
    return total


MEANING = "average share of all items that a published label represents"
MEASURES = (
    Measure(
        name="ncp",
        title="NCP",
        meaning=MEANING,
        compute=lambda case: ncp(case.original, case.recoding),
        place=1,
        kinds=(*ITEMS, *FACTS),
        reading=SCALE,
        domain=True,
        handed_out=True,
        of_occurrences=True,
        compared=(
            Compared(
                "loss_ncp",
                "loss (NCP)",
                f"Loss (NCP): {MEANING}. Less is better.",
                "ncp",
                place=2,
                handed_out=True,
            ),
        ),
    ),
)
