"""Entropy: what a reader who has the supports of items still does not know of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from setveil.judges.utility import Measure, StudyColumn
from setveil.releases.published.recoding import AnyRecoding
from setveil.rows.data.sums import Sums


def entropy(original: Sums, recoding: AnyRecoding) -> dict[str, float]:
    """Measure the doubt about occurrences of a reader who has labels and the supports of items under them.

    An occurrence of item i, one of s of i and of S of all items published under its label, is in doubt by
    log2(S / s) bits; a suppressed one by log2(T / s), with T all occurrences. `share` is the average divided
    by that if all are suppressed. See docs/exact.md and, without rows and suppression, Gionis, Tassa,
    "k-Anonymization with Minimal Loss of Information", IEEE TKDE 21(2), 2009, doi:10.1109/TKDE.2008.129
    """
    n_labels = len(recoding.published)
    supports = original.supports()
    item, label, times = recoding.tally(original)
    label = label + 1  # 0: suppressed
    inside = np.bincount(label, times, n_labels + 1)[label]
    left = np.where(label > 0, inside / times, original.n_occurrences / np.maximum(supports[item], 1))
    present = supports[supports > 0]
    lost = math.fsum(times * np.log2(left))
    whole = math.fsum(present * np.log2(original.n_occurrences / present))
    return {
        "share": min(lost / whole, 1.0) if whole else 0.0,
        "bits": lost / max(original.n_occurrences, 1),
    }


def _share(found: Mapping[str, float]) -> float | None:
    return found.get("share")


def _bits(utility: Mapping[str, Mapping[str, float]]) -> float | None:
    return utility.get("entropy", {}).get("bits")


MEASURES = (
    Measure(
        name="entropy",
        title="Entropy",
        meaning="doubt that a published label leaves about the item, to a reader who has the supports of "
        "items; 1: as much as without a label",
        compute=lambda case: entropy(case.original, case.recoding),
        place=5,
        number=_share,
        reading="is the loss if the supports of items are published with the release: an item that is "
        "most of its label loses little, a rare one much. It does not depend on how many items exist.",
        summarized=False,  # a summary is short
        columns=(
            StudyColumn("entropy", lambda utility: _share(utility.get("entropy", {}))),
            StudyColumn("entropy_bits", _bits),
        ),
    ),
)
