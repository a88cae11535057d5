"""Published and suppressed facts in each period of time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from setveil.releases.published.recoding import AnyBoxes
from setveil.rows.facts.facts import ANY, MISSING, Attribute, Facts
from setveil.runs.fact_parts import part_label

FINEST, WIDER = "as it was", "wider"  # of bands of days
_FORMS = {
    "day": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "week": re.compile(r"\d{4}-W\d{2}"),
    "month": re.compile(r"\d{4}-\d{2}"),
    "quarter": re.compile(r"\d{4}-Q\d"),
    "year": re.compile(r"\d{4}"),
}


def timelines(data: Facts, recoding: AnyBoxes) -> list[dict[str, Any]]:
    """Count for each column of dates the published facts of each period.

    `levels`: those that something is published as, the finest first, which is always there. `periods`: name
    (months if days are the finest), occurrences `published` at each level, and `left_out`. Facts without a
    date are last, as `?`.
    """
    tree, nodes = recoding.tree, recoding.nodes
    every, labels, times = recoding.tally(data)
    attributes = [
        (number, at, attribute, space)
        for number, (column, space) in enumerate(zip(data.columns, tree.spaces, strict=True))
        for at, attribute in enumerate(column.attributes, 1)
        if attribute.kind == "when"
    ]
    found = []
    for number, at, attribute, space in attributes:
        mine = data.column[every] == number
        item, label, rows = every[mine], labels[mine], times[mine]
        shown, part = label >= 0, attribute.tree
        leaf = data.parts[item, at]
        node = np.where(shown, tree.boxes[nodes[np.maximum(label, 0)], at] if nodes.size else 0, -1)
        pair, inverse = np.unique(leaf.astype(np.int64) * (part.n_nodes + 1) + node + 1, return_inverse=True)
        summed = np.bincount(inverse.reshape(-1), weights=rows).astype(np.int64).tolist()
        counted: dict[str, dict[str, int]] = {}
        for key, sum_of in zip(pair.tolist(), summed, strict=True):
            inside, became = divmod(key, part.n_nodes + 1)
            levels = counted.setdefault(_period(part.labels[inside], attribute), {})
            level = "" if became == 0 else level_of(part.labels[became - 1], attribute, became - 1)
            levels[level] = levels.get(level, 0) + sum_of
        found.append({**_laid_out(attribute, counted), "name": part_label(attribute.name, space)})
    return found


def _laid_out(attribute: Attribute, counted: dict[str, dict[str, int]]) -> dict[str, Any]:
    finest = attribute.level if attribute.level in _FORMS else FINEST
    used = {finest, *(level for one in counted.values() for level in one)}
    levels = [level for level in (*_FORMS, FINEST, WIDER, "any") if level in used]
    periods = sorted(counted, key=lambda name: (name == MISSING, _number(name), name))
    return {
        "name": attribute.name,
        "levels": levels,
        "periods": [
            {
                "period": name,
                "published": [counted[name].get(level, 0) for level in levels],
                "left_out": counted[name].get("", 0),
            }
            for name in periods
        ],
    }


def level_of(label: str, attribute: Attribute, node: int) -> str:
    """Say how fine a published period is: day, week, month, quarter, year, any; or of bands of days."""
    if label == ANY:
        return "any"
    for level, form in _FORMS.items():
        if form.fullmatch(label):
            return level
    finest = node < attribute.tree.n_leaves
    if finest and attribute.level in _FORMS:  # missing, or outside the years that are published
        return attribute.level
    return FINEST if finest else WIDER


def _period(label: str, attribute: Attribute) -> str:
    return label[:7] if attribute.level == "day" and label != MISSING else label


def _number(name: str) -> int:
    """Read where a band begins, so that bands come in order; periods do by their names."""
    found = re.match(r"(?:\[|>=)(\d+)", name)
    return int(found[1]) if found else 0
