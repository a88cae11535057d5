"""What is left of the parts of facts: how broad each is published, and how often as narrow as it was."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from setveil.data.sums import Sums
from setveil.published.recoding import BoxRecoding


def parts_kept(original: Sums, recoding: BoxRecoding) -> dict[str, Any]:
    """Measure each part of facts by itself.

    Returns
    -------
    dict
        `kept`: for each part the share of fact occurrences that are published with its finest value, 0 where
        nothing occurs; `whole`: the share of those that keep all parts; `by_part`: for each part the LM, the
        average share of its other values that a value can be mistaken for, 1 if the fact is left out.
    """
    tree = recoding.tree
    _, label, rows = recoding.tally(original)
    occurrences = int(rows.sum())
    nodes = np.array([tree.id(name) for name in recoding.published.labels], np.int64)
    shown = label >= 0
    boxes = tree.boxes[nodes][label[shown]]
    times, gone = rows[shown], int(rows[~shown].sum())
    fine = np.ones(len(boxes), bool)
    kept: dict[str, float] = {}
    by_part: dict[str, float] = {}
    for at, (name, part) in enumerate(zip(tree.space.names, tree.space.trees, strict=True)):
        finest = boxes[:, at] < part.n_leaves
        fine &= finest
        kept[name] = int(times[finest].sum()) / max(occurrences, 1)
        most = max(part.n_leaves - 1, 1)
        lost = int((times * (part.leaf_counts[boxes[:, at]] - 1)).sum())
        by_part[name] = float(Fraction(lost + gone * most, most * max(occurrences, 1)))
    return {"kept": kept, "whole": int(times[fine].sum()) / max(occurrences, 1), "by_part": by_part}
