"""The rest of the parts of facts: how broad each is published, and how often as narrow as it was."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from setveil.releases.published.recoding import AnyBoxes
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.boxes import Space


def parts_kept(original: Transactions, recoding: AnyBoxes) -> dict[str, Any]:
    """Measure each part of facts by itself.

    `kept`: the share of fact occurrences published with the finest value of a part; `whole`: with those of
    all parts; `by_part`: LM, the average share of other values that a value can be mistaken for, 1 if
    suppressed. 0 if empty.
    """
    tree = recoding.tree
    item, label, rows = recoding.tally(original)
    item_column = np.array([tree.column[tree.id(name)] for name in original.vocabulary.labels], np.int64)
    column = item_column[item]
    nodes = recoding.nodes
    kept: dict[str, float] = {}
    by_part: dict[str, float] = {}
    whole = 0
    for number, space in enumerate(tree.spaces):
        mine = column == number
        shown = mine & (label >= 0)
        boxes, times = tree.boxes[nodes][label[shown]], rows[shown]
        occurrences, gone = int(rows[mine].sum()), int(rows[mine & (label < 0)].sum())
        fine = np.ones(len(boxes), bool)
        for at, (part, of) in enumerate(zip(space.names, space.trees, strict=True)):
            name = part_label(part, space)
            finest = boxes[:, at] < of.n_leaves
            fine &= finest
            kept[name] = int(times[finest].sum()) / max(occurrences, 1)
            most = max(of.n_leaves - 1, 1)
            lost = int((times * (of.leaf_counts[boxes[:, at]] - 1)).sum())
            by_part[name] = float(Fraction(lost + gone * most, most * max(occurrences, 1)))
        whole += int(times[fine].sum())
    return {"kept": kept, "whole": whole / max(int(rows.sum()), 1), "by_part": by_part}


def part_label(part: str, space: Space) -> str:
    """Name a part of facts in a record: where there are several columns, an attribute with its column."""
    return part if space.column in ("", part) else f"{part} of {space.column}"
