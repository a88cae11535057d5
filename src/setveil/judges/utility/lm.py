"""LM: loss metric."""

from __future__ import annotations

import numpy as np

from setveil.judges.utility import FACTS, ITEMS, Compared, Measure
from setveil.judges.utility.ncp import SCALE, shared
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums


def lm(original: Sums, recoding: AnyRecoding) -> float:
    """Average over item occurrences of (items under its label - 1) / (|I| - 1), 1 if suppressed; 0 if none.

    Liu, Wang, "Anonymizing Transaction Data by Integrating Suppression and Generalization", PAKDD 2010,
    section 2, doi:10.1007/978-3-642-13657-3_20
    """
    _, label, rows = recoding.tally(original)
    occurrences = int(rows.sum())
    if not occurrences:
        return 0.0
    most = np.maximum(recoding.domains - 1, 1)  # a domain of one item loses only what is suppressed
    return float(shared(recoding.member_counts - 1, most, label, rows) / occurrences)


MEANING = "average share of the other items that an item can be mistaken for"
MEASURES = (
    Measure(
        name="lm",
        title="LM",
        meaning=MEANING,
        compute=lambda case: lm(case.original, case.recoding),
        place=2,
        kinds=(*ITEMS, *FACTS),
        reading=SCALE,
        domain=True,
        handed_out=True,
        of_occurrences=True,
        compared=(
            Compared(
                "loss_lm", "loss (LM)", f"Loss (LM): {MEANING}. Less is better.", "lm", section="loss",
                handed_out=True, decides=True, place=1,
            ),
        ),
    ),
)  # fmt: skip
